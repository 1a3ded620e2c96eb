// Labels of plain sites: if seeds are few, the search finds linear indices faster than any other field, so one more
// kernel computes all fields from them. Reads 4 or 8 bytes a cell, and writes the wanted fields. Large images, whose
// values need 64 bits, get coordinates and several fields from it too: a smooth mask of 32768^2 takes 24 ps a cell
// (H200, 2026-11-29), where lines took 178 for indices alone.

#include <algorithm>
#include <limits>
#include <span>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/lines/few.hpp"
#include "exact/gpu/route/calls.hpp"
#include "exact/gpu/route/detour.hpp"

namespace nearfield::exact::gpu {
namespace {

constexpr int index_threads = 256;
constexpr int together = 4;  // neighbouring cells of a thread, if they lie in one line

/// Parameters of the kernel. Axes are those that are searched, the last one first.
struct index_rule {
    int axes = 0;
    std::uint32_t size[max_rank]{};
    std::int64_t cells = 0, cells_of_image = 0;
    outputs out;
    bool sites = false;  ///< coordinates or values are wanted, not only the site's label
    const std::byte* image = nullptr;
    void* label = nullptr;
    int image_bytes = 1;
    const std::int32_t* many = nullptr;  ///< see line_pass::many
};

/// Splits a cell into coordinates, the last axis first; 32-bit cells if an image allows it, else 64-bit ones.
template <class Index>
__device__ void split_cell(const index_rule& by, Index cell, std::int32_t (&at)[3]) {
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        if (i + 1 >= by.axes) {
            at[i] = i < by.axes ? static_cast<std::int32_t>(cell) : 0;
            cell = 0;
            continue;
        }
        const auto above = static_cast<Index>(quotient(cell, by.size[i]));
        at[i] = static_cast<std::int32_t>(cell - above * static_cast<Index>(by.size[i]));
        cell = above;
    }
}
template <>
__device__ void split_cell<std::int32_t>(const index_rule& by, std::int32_t cell, std::int32_t (&at)[3]) {
    auto rest = static_cast<std::uint32_t>(cell);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        const std::uint32_t above = i + 1 < by.axes ? rest / by.size[i] : 0;
        at[i] = static_cast<std::int32_t>(rest - above * by.size[i]);
        rest = above;
    }
}

/// A thread owns `Count` neighbouring cells. `V` holds squared distances.
template <class V, class Index, int Count>
__global__ void __launch_bounds__(index_threads)
    write_fields_of_index(const __grid_constant__ index_rule by, const Index* index) {
    const std::int64_t first = (static_cast<std::int64_t>(blockIdx.x) * index_threads + threadIdx.x) * Count;
    if (first >= by.cells || are_few(by.many)) return;
    const std::int64_t image = by.cells_of_image == by.cells ? 0 : quotient(first, by.cells_of_image);
    const std::int64_t start = image * by.cells_of_image;
    std::int32_t own[3]{};
    if (by.sites) split_cell(by, static_cast<Index>(first - start), own);
    struct alignas(sizeof(Index) * Count < 16 ? sizeof(Index) * Count : 16) several {
        Index at[Count];
    };
    const several found = *reinterpret_cast<const several*>(index + first);
    struct alignas(4 * Count) packed {
        std::int32_t at[Count];
    };
    packed coordinates[3];
#pragma unroll
    for (int k = 0; k < Count; ++k) {
        std::int32_t site[3]{};
        if (by.sites) split_cell(by, found.at[k], site);
        const bool none = found.at[k] < 0;
        V value = no_site<V>();
        if (!none) {
            value = 0;
#pragma unroll
            for (int i = 0; i < 3; ++i) {
                const V apart = site[i] - own[i] - (i == 0 ? k : 0);
                value += apart * apart;
            }
        }
        if (by.sites) by.out.put_value(first + k, value, last_value<V>());
        if (by.out.index) by.out.index[first + k] = found.at[k];
        if (by.out.index32) by.out.index32[first + k] = static_cast<std::int32_t>(found.at[k]);
        if (by.label)
            store_bits(static_cast<std::byte*>(by.label), by.image_bytes, first + k,
                       none ? 0 : load_bits(by.image, by.image_bytes, start + found.at[k]));
#pragma unroll
        for (int i = 0; i < 3; ++i) coordinates[i].at[k] = none ? -1 : site[i];
    }
    if (by.out.coordinates == nullptr) return;
    for (int plane = 0; plane < by.out.image_rank; ++plane) {
        const int axis = by.out.problem_axis[plane];
        packed to;
#pragma unroll
        for (int k = 0; k < Count; ++k)
            to.at[k] = axis == 0   ? coordinates[0].at[k]
                       : axis == 1 ? coordinates[1].at[k]
                       : axis == 2 ? coordinates[2].at[k]
                                   : min(coordinates[0].at[k], 0);
        *reinterpret_cast<packed*>(by.out.coordinates + plane * by.out.cells + first) = to;
    }
}

bool is_aligned(const void* data) { return reinterpret_cast<std::uintptr_t>(data) % 16 == 0; }

/// False if the call wants no labels and has values of 32 bits, or if fields are not contiguous or of rare types.
bool indices_serve(const plan& p, const arrays<device>& a) {
    const fields<device>& out = a.out;
    const bool several = out.distance.wanted() || out.squared.wanted() || out.coordinates.wanted();
    if (!out.label.wanted() && !(several && p.sites_wanted && p.numbers == tier::int64)) return false;
    if (p.weighted || out.trusted.wanted() || p.by != classes::none || p.rank - p.first_axis > 3) return false;
    const item to = item_for(p, a.image, out);
    const auto is = [](const any_output<device>& field, std::initializer_list<dtype> types) {
        return !field.wanted() || std::find(types.begin(), types.end(), field.type) != types.end();
    };
    return has_contiguous_fields(p, to) && is(out.distance, {dtype::float32, dtype::float64}) &&
           is(out.squared, {dtype::uint32, dtype::uint64, dtype::float64}) &&
           (!out.label.wanted() || is_contiguous(p.size.data(), to.label.step, p.rank)) &&
           is_contiguous(p.size.data(), p.image_stride.data(), p.rank);
}

class index_search final : public detour {
public:
    index_search(const device& on, const plan& p, const arrays<device>& a, const plan& sites) : detour(on, p, a) {
        searches_.push_back({sites, {}});
        if (!is_small(sites, a.image.type) && tries_few_plainly(sites)) try_few(few_counters(sites));
        any_output<device>& index = searches_[0].out.index;
        index = a.out.index;
        if (index.wanted()) return;
        // The views have the shape of the image; their address is known once memory is allocated.
        const bool narrow = cells_between(p.size.data(), p.first_axis, p.rank) <= INT32_MAX;
        for (const any_output<device>* shape : {&a.out.distance, &a.out.squared, &a.out.label})
            if (shape->wanted()) index = *shape;
        if (!index.wanted()) {
            const auto axes = static_cast<std::size_t>(a.image.rank);
            index = any_output<device>::contiguous(nullptr, dtype::int32, std::span(a.image.shape.data(), axes));
        }
        index.type = narrow ? dtype::int32 : dtype::int64;
        index.data = nullptr;
        // A field of four bytes a cell can hold the indices: a thread reads its indices before it writes.
        for (const any_output<device>* field : {&a.out.coordinates, &a.out.distance, &a.out.label})
            if (narrow && field->wanted() && size_of(field->type) == 4) index.data = field->data;
        if (index.data == nullptr) keep(index);
    }
    void put() const override {
        const plan& p = p_;
        const any_output<device>& found = searches_[0].out.index;
        index_rule by;
        by.axes = p.rank - p.first_axis;
        for (int i = 0; i < by.axes; ++i)
            by.size[i] = static_cast<std::uint32_t>(p.size[static_cast<std::size_t>(p.rank - 1 - i)]);
        by.cells = p.cells, by.cells_of_image = cells_between(p.size.data(), p.first_axis, p.rank);
        const item to = item_for(p, a_.image, a_.out);
        by.out = contiguous_fields(p, to, a_.out);
        if (found.data != a_.out.index.data) by.out.index = nullptr, by.out.index32 = nullptr;
        by.sites = a_.out.distance.wanted() || a_.out.squared.wanted() || a_.out.coordinates.wanted();
        for (int plane = 0; plane < by.out.image_rank; ++plane)
            if (by.out.problem_axis[plane] >= 0) by.out.problem_axis[plane] = p.rank - 1 - by.out.problem_axis[plane];
        by.image = static_cast<const std::byte*>(a_.image.data),
        by.image_bytes = static_cast<int>(size_of(a_.image.type));
        by.label = a_.out.label.data;
        if (few_out() != nullptr) by.many = counters() + 1;
        const auto launch = [&]<class V, class Index>(V, const Index* index) {
            const bool wide = p.size[static_cast<std::size_t>(p.rank - 1)] % together == 0 && is_aligned(index) &&
                              is_aligned(by.out.coordinates) && p.cells % together == 0;
            const auto blocks = [&](int count) { return blocks_for(p.cells, std::int64_t{index_threads} * count); };
            if (wide)
                cuda::launch(on_, write_fields_of_index<V, Index, together>, blocks(together), dim3(index_threads), 0,
                             by, index);
            else cuda::launch(on_, write_fields_of_index<V, Index, 1>, blocks(1), dim3(index_threads), 0, by, index);
        };
        const bool small = p.numbers == tier::int32;
        if (found.type == dtype::int64) return launch(std::int64_t{}, static_cast<const std::int64_t*>(found.data));
        if (small) launch(std::int32_t{}, static_cast<const std::int32_t*>(found.data));
        else launch(std::int64_t{}, static_cast<const std::int32_t*>(found.data));
    }
    [[nodiscard]] const char* method() const override { return "fields of the indices"; }
};

}  // namespace

std::unique_ptr<detour> fields_by_index(const device& on, const plan& p, const arrays<device>& a) {
    if (!indices_serve(p, a)) return nullptr;
    plan sites = p;
    sites.plain_outputs = true;
    return serves_plainly(sites) ? std::make_unique<index_search>(on, p, a, sites) : nullptr;
}

}  // namespace nearfield::exact::gpu
