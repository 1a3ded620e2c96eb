// Labels of plain sites: the search finds linear indices faster than any other field, so one more kernel computes all
// fields from them. Reads 4 or 8 bytes a cell, and writes the wanted fields. The nearest objects of a smooth mask of
// 8192^2 take 1.04 ms, where lines take 2.36 (H200, 2026-11-30). Within a limit lines take less: 0.88 instead of 1.06.
// Large images, whose values need 64 bits, get coordinates and several fields from it too: a smooth mask of 32768^2
// takes 19 ps a cell, where lines take 30.

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/items.cuh"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/route/calls.hpp"

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
    using number = std::conditional_t<sizeof(Index) == 4, std::uint32_t, std::int64_t>;
    auto rest = static_cast<number>(cell);
#pragma unroll
    for (int i = 0; i < 3; ++i) {
        number above = 0;
        if (i + 1 < by.axes) {
            if constexpr (sizeof(Index) == 4) above = rest / by.size[i];
            else above = quotient(rest, by.size[i]);
        }
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

/// False if the call has values of 32 bits and wants no labels or has a limit, or if fields are not contiguous or of
/// rare types.
bool indices_serve(const option_call& call) {
    const plan& p = call.p;
    const fields<device>& out = call.out;
    const bool several = out.distance.wanted() || out.squared.wanted() || out.coordinates.wanted();
    if (!out.label.wanted() && !(several && p.sites_wanted && p.numbers == tier::int64)) return false;
    if (std::isfinite(p.limit) && p.numbers == tier::int32) return false;
    if (p.weighted || out.trusted.wanted() || p.by != classes::none || p.rank - p.first_axis > 3) return false;
    const item& to = call.list[0];
    const auto is = [](const any_output<device>& field, std::initializer_list<dtype> types) {
        return !field.wanted() || std::find(types.begin(), types.end(), field.type) != types.end();
    };
    return has_contiguous_fields(p, to) && is(out.distance, {dtype::float32, dtype::float64}) &&
           is(out.squared, {dtype::uint32, dtype::uint64, dtype::float64}) &&
           (!out.label.wanted() || is_contiguous(p.size.data(), to.label.step, p.rank)) &&
           is_contiguous(p.size.data(), p.image_stride.data(), p.rank);
}

/// Returns the field of the indices: the call's own, or one of the image's shape whose memory is still to be given.
any_output<device> index_field(const option_call& call, bool narrow) {
    const fields<device>& out = call.out;
    if (out.index.wanted()) return out.index;
    any_output<device> index;
    for (const any_output<device>* shape : {&out.distance, &out.squared, &out.label})
        if (shape->wanted()) index = *shape;
    if (!index.wanted()) {
        const auto axes = static_cast<std::size_t>(call.image.rank);
        index = any_output<device>::contiguous(nullptr, dtype::int32, std::span(call.image.shape.data(), axes));
    }
    index.type = narrow ? dtype::int32 : dtype::int64;
    index.data = nullptr;
    // A field of four bytes a cell can hold the indices: a thread reads its indices before it writes.
    for (const any_output<device>* field : {&out.coordinates, &out.distance, &out.label})
        if (narrow && field->wanted() && size_of(field->type) == 4) index.data = field->data;
    return index;
}

/// Launches the kernel that makes the fields. `many`: see line_pass::many.
void write_fields(const option_call& call, const any_output<device>& found, const std::int32_t* many) {
    const plan& p = call.p;
    const fields<device>& out = call.out;
    index_rule by;
    by.axes = p.rank - p.first_axis;
    for (int i = 0; i < by.axes; ++i)
        by.size[i] = static_cast<std::uint32_t>(p.size[static_cast<std::size_t>(p.rank - 1 - i)]);
    by.cells = p.cells, by.cells_of_image = cells_between(p.size.data(), p.first_axis, p.rank);
    by.out = contiguous_fields(p, call.list[0], out);
    if (found.data != out.index.data) by.out.index = nullptr, by.out.index32 = nullptr;
    by.sites = out.distance.wanted() || out.squared.wanted() || out.coordinates.wanted();
    for (int plane = 0; plane < by.out.image_rank; ++plane)
        if (by.out.problem_axis[plane] >= 0) by.out.problem_axis[plane] = p.rank - 1 - by.out.problem_axis[plane];
    by.image = static_cast<const std::byte*>(call.image.data);
    by.image_bytes = static_cast<int>(size_of(call.image.type));
    by.label = out.label.data, by.many = many;
    const auto launch = [&]<class V, class Index>(V, const Index* index) {
        const bool wide = p.size[static_cast<std::size_t>(p.rank - 1)] % together == 0 && is_aligned(index) &&
                          is_aligned(by.out.coordinates) && p.cells % together == 0;
        const int count = wide ? together : 1;
        cuda::launch(call.on, wide ? write_fields_of_index<V, Index, together> : write_fields_of_index<V, Index, 1>,
                     blocks_for(p.cells, std::int64_t{index_threads} * count), dim3(index_threads), 0, by, index);
    };
    if (found.type == dtype::int64) return launch(std::int64_t{}, static_cast<const std::int64_t*>(found.data));
    const auto* const narrow = static_cast<const std::int32_t*>(found.data);
    if (p.numbers == tier::int32) launch(std::int32_t{}, narrow);
    else launch(std::int64_t{}, narrow);
}

}  // namespace
}  // namespace nearfield::exact::gpu

namespace nearfield::exact {

std::optional<std::int64_t> call_by_index(const option_call& call) {
    if (!gpu::indices_serve(call)) return {};
    const plan& p = call.p;
    plan sites = p;
    sites.plain_outputs = true;
    if (!serves_plainly(sites)) return {};
    fields<device> found;
    found.index = gpu::index_field(call, cells_between(p.size.data(), p.first_axis, p.rank) <= INT32_MAX);
    cuda::workspace memory(call.on);
    const bool own = found.index.data == nullptr;
    const std::int64_t place = memory.reserve<std::byte>(own ? p.cells * size_of(found.index.type) : 0);
    const bool few = !is_small(sites, call.image.type) && gpu::tries_few_plainly(sites);
    const std::int64_t few_at = memory.reserve<std::int32_t>(few ? gpu::few_counters(sites) : 0);
    std::int32_t described = 0, *counters = few ? &described : nullptr;
    if ((own || few) && call.described == nullptr) {
        memory.allocate();
        if (own) found.index.data = memory.get<std::byte>(place);
        if (few) counters = memory.get<std::int32_t>(few_at);
    }
    const std::int64_t bytes = search_plainly(call, sites, found, counters);
    describe_last(call, "fields of the indices");
    if (call.described == nullptr) gpu::write_fields(call, found.index, few ? counters + 1 : nullptr);
    return memory.bytes() + bytes;
}

}  // namespace nearfield::exact
