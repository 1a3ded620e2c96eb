// Distance fields for robots on a device. A thread owns a cell.
#include <cstring>

#include "base/cuda.cuh"
#include "geodesic/esdf_core.hpp"

namespace nearfield::geodesics {
namespace {

constexpr int threads_of_block = 256;

template <int Axes, class Number>
__global__ void __launch_bounds__(threads_of_block) write_cells(const __grid_constant__ field_writing w) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < w.cells) w.write<Axes>(static_cast<Number>(i));
}

/// Writes four values; `to` is aligned.
template <class T>
__device__ void put_four(T* to, const T (&value)[4]) {
    uint4 packed;
    std::memcpy(&packed, value, sizeof packed);
    *reinterpret_cast<uint4*>(to) = packed;
}

constexpr int axes = field_writing::few_axes;

/// Computes what field_writing::fields_of() does, for cells of length 1 of a grid whose squared distances are below
/// 2^23. A step of Newton's method rounds their roots correctly (checked for all of them).
__device__ field_writing::cell_fields<axes> small_fields(const field_writing& w, std::int32_t i,
                                                         const std::int32_t (&at)[axes], std::int32_t number) {
    field_writing::cell_fields<axes> c;
    const bool none = number < 0;
    std::int32_t by[axes], square = 0;
    w.locate<axes>(none ? 0 : number, by);
#pragma unroll
    for (int axis = 0; axis < axes; ++axis) {
        c.site[axis] = none ? -1 : by[axis];
        by[axis] = none ? 0 : at[axis] - by[axis], square += by[axis] * by[axis];
    }
    const auto real = static_cast<float>(square);
    const float guess = rsqrtf(real + 1e-30F), near = real * guess;  // the root of 0 must not become 0 * inf
    c.distance =
        none ? std::numeric_limits<float>::infinity() : std::fma(std::fma(-near, near, real), 0.5F * guess, near);
    if (w.gradient.data == nullptr) return c;
    const small_root root(real, guess);
    const bool inside = w.negative_inside && !w.occupancy.is_zero(i);
#pragma unroll
    for (int axis = 0; axis < axes; ++axis) {
        const float part = root.component(static_cast<float>(by[axis]));
        c.gradient[axis] = inside && square > 0 ? -part : part;
    }
    return c;
}

/// Does the same for whole grids that serves_fours() admits. A thread owns four consecutive cells, for which it finds
/// coordinates and addresses once.
template <bool Small>
__global__ void __launch_bounds__(threads_of_block, 4) write_fours(const __grid_constant__ field_writing w) {
    const std::int64_t from = 4 * (static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x);
    if (from >= w.cells) return;
    const auto first = static_cast<std::int32_t>(from);
    const int4 found = *reinterpret_cast<const int4*>(static_cast<const std::int32_t*>(w.index) + first);
    const std::int32_t number[] = {found.x, found.y, found.z, found.w};
    std::int32_t at[axes], site[axes][4];
    float distance[4], gradient[axes][4];
    w.locate<axes>(first, at);
#pragma unroll
    for (int k = 0; k < 4; ++k) {
        const auto c = [&] {
            if constexpr (Small) return small_fields(w, first + k, at, number[k]);
            else return w.fields_of<axes>(first + k, at, number[k]);
        }();
        distance[k] = static_cast<float>(c.distance);
#pragma unroll
        for (int axis = 0; axis < axes; ++axis) site[axis][k] = c.site[axis], gradient[axis][k] = c.gradient[axis];
        for (int axis = axes - 1; axis >= 0 && ++at[axis] == w.size[axis]; --axis) at[axis] = 0;
    }
    if (w.measures) put_four(static_cast<float*>(w.distance.data) + first, distance);
#pragma unroll
    for (int axis = 0; axis < axes; ++axis) {
        const int part = axis + w.rank - axes;
        if (part < 0) continue;
        if (w.site.data != nullptr)
            put_four(static_cast<std::int32_t*>(w.site.data) + part * w.site.component + first, site[axis]);
        if (w.gradient.data != nullptr)
            put_four(static_cast<float*>(w.gradient.data) + part * w.gradient.component + first, gradient[axis]);
    }
}
bool serves_fours(const field_writing& w) {
    const void* const all[] = {w.index, w.measures ? w.distance.data : nullptr, w.site.data, w.gradient.data};
    bool aligned = (w.cells | w.site.component | w.gradient.component) % 4 == 0 && w.index != nullptr;
    for (const void* each : all) aligned = aligned && reinterpret_cast<std::uintptr_t>(each) % sizeof(uint4) == 0;
    return aligned && w.flat && !w.wide && w.solved == nullptr && w.axes() == field_writing::few_axes &&
           (!w.measures || w.distance.type == dtype::float32);
}

// ---- costmaps -------------------------------------------------------------------------------------------------------

constexpr int fours_of_thread = 4;  ///< each of four consecutive cells; neighbouring lanes own neighbouring fours

/// The first cell of a thread's four number k.
__device__ inline std::int64_t four(int k) {
    return ((static_cast<std::int64_t>(blockIdx.x) * fours_of_thread + k) * threads_of_block + threadIdx.x) * 4;
}
__device__ inline std::uint8_t byte_of(std::uint32_t word, int k) { return static_cast<std::uint8_t>(word >> 8 * k); }

/// Calls use(offset in `array`, number) for up to four cells from number `i` on.
template <class Use>
__device__ void for_four(const inflating& w, const cell_array& array, std::int64_t i, const Use& use) {
    std::int64_t y = quotient(i, w.columns), x = i - y * w.columns;
    for (int k = 0; k < 4 && i + k < w.cells(); ++k) {
        use(y * array.step[0] + x * array.step[1], k);
        if (++x == w.columns) x = 0, ++y;
    }
}

/// Reads a thread's old costs, four in a word. `Aligned`: the caller's arrays are contiguous and begin at multiples of
/// 4 bytes.
template <bool Aligned>
__device__ void read_costs(const inflating& w, std::uint32_t (&old)[fours_of_thread]) {
    const auto* const from = static_cast<const std::uint8_t*>(w.from.data);
#pragma unroll
    for (int k = 0; k < fours_of_thread; ++k) {
        const std::int64_t i = four(k);
        old[k] = 0;
        if (Aligned && i + 4 <= w.cells()) old[k] = *reinterpret_cast<const std::uint32_t*>(from + i);
        else for_four(w, w.from, i, [&](std::int64_t at, int cell) { old[k] |= std::uint32_t{from[at]} << 8 * cell; });
    }
}

/// A thread owns 16 cells, and loads them all before it stores.
template <bool Aligned>
__global__ void __launch_bounds__(threads_of_block) mark_cells(const __grid_constant__ inflating w) {
    std::uint32_t old[fours_of_thread];
    read_costs<Aligned>(w, old);
#pragma unroll
    for (int k = 0; k < fours_of_thread; ++k) {
        std::uint32_t made = 0;
        for (int cell = 0; cell < 4; ++cell) made |= std::uint32_t{w.is_lethal(byte_of(old[k], cell))} << 8 * cell;
        // The memory has room for whole fours.
        if (four(k) < w.cells()) *reinterpret_cast<std::uint32_t*>(w.lethal + four(k)) = made;
    }
}

/// Fills the table of costs. A thread owns an entry.
__global__ void __launch_bounds__(threads_of_block) fill_table(const __grid_constant__ inflating w) {
    const std::int64_t squared = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (squared < w.costs()) w.lethal[squared] = cost_at(w.farthest, static_cast<std::uint32_t>(squared));
}

/// A thread owns 16 cells, and loads them all before it stores. The table stays in the cache, because costs end at
/// small distances.
template <bool Aligned>
__global__ void __launch_bounds__(threads_of_block) put_costs(const __grid_constant__ inflating w) {
    const bool table = w.has_table();
    const auto cost = [&](std::uint32_t squared) -> std::uint8_t {
        if (squared >= w.costs()) return costmap_free;
        return table ? w.lethal[squared] : cost_at(w.farthest, squared);
    };
    auto* const to = static_cast<std::uint8_t*>(w.to.data);
    std::uint32_t old[fours_of_thread];
    uint4 squared[fours_of_thread];
    read_costs<Aligned>(w, old);
#pragma unroll
    for (int k = 0; k < fours_of_thread; ++k)
        squared[k] = four(k) < w.cells() ? *reinterpret_cast<const uint4*>(w.squared + four(k)) : uint4{};
#pragma unroll
    for (int k = 0; k < fours_of_thread; ++k) {
        const std::uint32_t each[] = {squared[k].x, squared[k].y, squared[k].z, squared[k].w};
        std::uint32_t made = 0;
#pragma unroll
        for (int cell = 0; cell < 4; ++cell)
            made |= std::uint32_t{w.raised(byte_of(old[k], cell), cost(each[cell]))} << 8 * cell;
        if (Aligned && four(k) + 4 <= w.cells()) *reinterpret_cast<std::uint32_t*>(to + four(k)) = made;
        else for_four(w, w.to, four(k), [&](std::int64_t at, int cell) { to[at] = byte_of(made, cell); });
    }
}

bool is_aligned(const inflating& w, const cell_array& a) {
    return a.step[1] == 1 && a.step[0] == w.columns && reinterpret_cast<std::uintptr_t>(a.data) % 4 == 0;
}

/// Starts a kernel for the cells; it has two forms.
void start(const device& on, void (*aligned)(inflating), void (*other)(inflating), const inflating& w) {
    auto* const kernel = is_aligned(w, w.from) && is_aligned(w, w.to) ? aligned : other;
    cuda::launch(on, kernel, cuda::blocks_for(w.cells(), threads_of_block * fours_of_thread * 4),
                 dim3(threads_of_block), 0, w);
}

}  // namespace

void write_fields(const device& on, const field_writing& w) {
    const cuda::device_guard current(on);
    constexpr int few = field_writing::few_axes;
    if (serves_fours(w))
        return cuda::launch(on, w.is_small() ? write_fours<true> : write_fours<false>,
                            cuda::blocks_for(w.cells, 4 * threads_of_block), dim3(threads_of_block), 0, w);
    const auto kernel = w.wide            ? write_cells<max_rank, std::int64_t>
                        : w.axes() == few ? write_cells<few, std::int32_t>
                                          : write_cells<max_rank, std::int32_t>;
    cuda::launch(on, kernel, cuda::blocks_for(w.cells, threads_of_block), dim3(threads_of_block), 0, w);
}
void mark_lethal(const device& on, const inflating& w) {
    const cuda::device_guard current(on);
    start(on, mark_cells<true>, mark_cells<false>, w);
}
void write_costs(const device& on, const inflating& w) {
    const cuda::device_guard current(on);
    if (w.has_table())
        cuda::launch(on, fill_table, cuda::blocks_for(w.costs(), threads_of_block), dim3(threads_of_block), 0, w);
    start(on, put_costs<true>, put_costs<false>, w);
}

}  // namespace nearfield::geodesics
