#include "exact/cuda_labels.hpp"

#include <algorithm>
#include <initializer_list>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int label_threads = 256;
constexpr int loads_a_thread = 4;  // so that as many are under way at once
constexpr int wide = 4;            // neighbouring cells that are read and written as one, where they lie so

/// Neighbouring elements.
template <class T, int Count>
struct alignas(sizeof(T) * Count < 16 ? sizeof(T) * Count : 16) several {
    T at[Count];
};

/// Calls `body(nth)` for the calling thread's share of so many groups of cells.
template <class Body>
__device__ void each_group(std::int64_t groups, const Body& body) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * label_threads * loads_a_thread + threadIdx.x;
#pragma unroll
    for (int i = 0; i < loads_a_thread; ++i)
        if (first + i * label_threads < groups) body(first + i * label_threads);
}

/// Values of the image at `index`, which counts within images of `cells_of_image`; 0 where that is negative.
template <class Bits, class Index, int Count>
__global__ void __launch_bounds__(label_threads)
    look_up_labels(const Bits* image, const Index* index, std::int64_t cells, std::int64_t cells_of_image,
                   Bits* label) {
    each_group(cells / Count, [&](std::int64_t group) {
        const auto at = reinterpret_cast<const several<Index, Count>*>(index)[group];
        const std::int64_t cell = group * Count,
                           start = cells_of_image == cells ? 0 : quotient(cell, cells_of_image) * cells_of_image;
        several<Bits, Count> found;
#pragma unroll
        for (int i = 0; i < Count; ++i) found.at[i] = at.at[i] < 0 ? Bits{0} : image[start + at.at[i]];
        reinterpret_cast<several<Bits, Count>*>(label)[group] = found;
    });
}

/// A byte for each cell: 1 where the image is not zero. `keep` takes the sign off floats.
template <class Bits, int Count>
__global__ void __launch_bounds__(label_threads)
    mark_nonzero(const Bits* image, Bits keep, std::int64_t cells, std::uint8_t* to) {
    each_group(cells / Count, [&](std::int64_t group) {
        const auto from = reinterpret_cast<const several<Bits, Count>*>(image)[group];
        several<std::uint8_t, Count> bytes;
#pragma unroll
        for (int i = 0; i < Count; ++i) bytes.at[i] = (from.at[i] & keep) != 0;
        reinterpret_cast<several<std::uint8_t, Count>*>(to)[group] = bytes;
    });
}

/// Whether neighbouring cells can be read and written as one in all of these, and lie in one image.
bool is_wide(std::int64_t cells_of_image, std::initializer_list<const void*> arrays) {
    return cells_of_image % wide == 0 && std::all_of(arrays.begin(), arrays.end(), [](const void* data) {
               return reinterpret_cast<std::uintptr_t>(data) % 16 == 0;
           });
}

std::int64_t label_blocks(std::int64_t cells, int count) {
    return blocks_for(cells / count, label_threads * loads_a_thread);
}

template <class Body>
void with_bits(std::int64_t bytes, const Body& body) {
    switch (bytes) {
        case 1: return body(std::uint8_t{});
        case 2: return body(std::uint16_t{});
        case 4: return body(std::uint32_t{});
        default: return body(std::uint64_t{});
    }
}

bool is_contiguous(const plan& p, const any_output<device>& field) {
    strides s;
    for (int axis = 0; axis < p.rank; ++axis)
        s.of[axis] = field.stride[static_cast<std::size_t>(p.source_axis[static_cast<std::size_t>(axis)])];
    return nearfield::is_contiguous(p.size.data(), s.of, p.rank);
}

std::int64_t cells_of_image(const plan& p) { return cells_between(p.size.data(), p.first_axis, p.rank); }

}  // namespace

labels_by_index::labels_by_index(const device& on, const plan& p, const arrays<device>& a)
    : on_(on), a_(a), image_(a.image), sites_(p), out_(a.out), memory_(on) {
    if (!a.out.label.wanted() || p.weighted || !is_contiguous(p, a.out.label) ||
        !nearfield::is_contiguous(p.size.data(), p.image_stride.data(), p.rank))
        return;
    out_.label = {};
    own_index_ = !out_.index.wanted();
    if (own_index_) {
        out_.index = a.out.label;
        // Its views have the shape of the label's; where it lies is known once there is memory.
        out_.index.type = cells_of_image(p) <= INT32_MAX ? dtype::int32 : dtype::int64;
        index_ = memory_.reserve<std::byte>(p.cells * size_of(out_.index.type));
    } else if (!is_contiguous(p, out_.index)) {
        return;
    }
    // What packs lines reads cells of any width.
    if (size_of(a.image.type) > 1 && !site_words_fit(p)) {
        image_.type = dtype::uint8;
        bytes_ = memory_.reserve<std::uint8_t>(p.cells);
    }
    sites_.plain_outputs = has_plain_types(out_);
    serve_ = true;
}

void labels_by_index::begin() {
    memory_.allocate();
    if (own_index_) out_.index.data = memory_.get<std::byte>(index_);
    if (size_of(image_.type) == size_of(a_.image.type)) return;
    auto* const bytes = memory_.get<std::uint8_t>(bytes_);
    image_.data = bytes;
    with_bits(size_of(a_.image.type), [&]<class Bits>(Bits) {
        const bool floating = a_.image.type >= dtype::float16;
        const Bits keep = static_cast<Bits>(floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
        const bool several = is_wide(sites_.cells, {a_.image.data});
        cuda::launch(on_, several ? mark_nonzero<Bits, wide> : mark_nonzero<Bits, 1>,
                     label_blocks(sites_.cells, several ? wide : 1), dim3(label_threads), 0,
                     static_cast<const Bits*>(a_.image.data), keep, sites_.cells, bytes);
    });
}

void labels_by_index::put() const {
    const auto with_index = [&]<class Bits, class Index>(Bits, const Index* index) {
        const bool several = is_wide(cells_of_image(sites_), {index, a_.out.label.data});
        cuda::launch(on_, several ? look_up_labels<Bits, Index, wide> : look_up_labels<Bits, Index, 1>,
                     label_blocks(sites_.cells, several ? wide : 1), dim3(label_threads), 0,
                     static_cast<const Bits*>(a_.image.data), index, sites_.cells, cells_of_image(sites_),
                     static_cast<Bits*>(a_.out.label.data));
    };
    with_bits(size_of(a_.image.type), [&]<class Bits>(Bits bits) {
        if (out_.index.type == dtype::int32) with_index(bits, static_cast<const std::int32_t*>(out_.index.data));
        else with_index(bits, static_cast<const std::int64_t*>(out_.index.data));
    });
}

}  // namespace nearfield::exact
