// The general device path: a warp takes 32 cells and paints the balls of those whose crescent is not empty.
#pragma once

#include "base/cuda.cuh"
#include "thickness/walk.hpp"

namespace nearfield::thickness {

inline constexpr int cell_threads = 128;

__device__ inline void raise(std::int32_t* cell, std::int32_t r2) { atomicMax(cell, r2); }
__device__ inline void raise(std::int64_t* cell, std::int64_t r2) {
    atomicMax(reinterpret_cast<unsigned long long*>(cell), static_cast<unsigned long long>(r2));  // neither is negative
}
/// Non-negative doubles have the order of their bits.
__device__ inline void raise(double* cell, double r2) {
    atomicMax(reinterpret_cast<unsigned long long*>(cell), __builtin_bit_cast(unsigned long long, r2));
}

/// Shared memory for the covers of the warp's centre.
template <class N>
struct centre_memory {
    N cover[27];
};

/// Paints a range of cells of a row.
template <class N>
__device__ void paint_cells(N* painted, const centre<N>& c, const grid3& g, int axis, std::int64_t start,
                            std::int64_t first, std::int64_t last) {
    const int along = row_axis(axis);
    const stretch cells = stretch_of(first, last, c.at[along], g.size[along], g.wraps[along]);
    std::int64_t place = wrapped(c.at[along] + cells.first, g.size[along]);
    for (std::int64_t k = 0; k < cells.count; ++k) {
        raise(painted + start + place * g.step(along), c.r2);
        if (++place == g.size[along]) place = 0;
    }
}

/// Paints the crescent of one centre; the lanes divide its rows.
template <class N>
__device__ void paint_centre(N* painted, const centre<N>& c, const grid3& g, const metric<N>& m, const frame& f,
                             const N* cover) {
    const auto w = turned_to<false>(m, f.axis);
    const std::int64_t rows = static_cast<std::int64_t>(f.below) + f.above + 1,
                       all = rows * (static_cast<std::int64_t>(f.first) + f.last + 1);
    for (std::int64_t k = threadIdx.x % cuda::warp; k < all; k += cuda::warp) {
        const auto s = static_cast<std::int32_t>(k / rows - f.first), b = static_cast<std::int32_t>(k % rows - f.below);
        slice<N> t = slice_at(cover, c.r2, w, f.axis, s);
        if (!narrow(t, w, f.below, f.above) || b < 0 - t.below || b > t.above) continue;
        const std::int32_t half = half_of_row(t, w, m, c.r2, f.axis, s, b);
        if (half < 0) continue;
        const leftover row = row_of(t, w, b, half);
        const std::int64_t start = row_start(c, g, f.axis, s, b);
        paint_cells(painted, c, g, f.axis, start, std::int64_t{0} - row.half, std::int64_t{0} - row.left);
        paint_cells(painted, c, g, f.axis, start, row.right, row.half);
    }
}

/// Writes the radii of centres that are not surrounded. One thread handles one cell.
template <class N>
__global__ void __launch_bounds__(cell_threads) keep_others(const N* field, N* others, const grid3 g) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x;
    if (cell >= g.cells()) return;
    const std::int64_t line = cuda::quotient(cell, g.size[2]), plane = cuda::quotient(line, g.size[1]),
                       image = cuda::quotient(plane, g.size[0]);
    const centre<N> c{
        field + image * g.image_cells(),
        {static_cast<std::int32_t>(plane - image * g.size[0]), static_cast<std::int32_t>(line - plane * g.size[1]),
         static_cast<std::int32_t>(cell - line * g.size[2])},
        cell - image * g.image_cells(),
        field[cell]};
    others[cell] = is_surrounded(c, g) ? N{0} : c.r2;
}
/// Exchanges both arrays where they differ.
template <class N>
__global__ void __launch_bounds__(cell_threads) exchange(N* field, N* others, std::int64_t cells) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x;
    if (cell >= cells) return;
    const N own = field[cell], other = others[cell];
    if (own != other) field[cell] = other, others[cell] = own;
}

/// Each lane computes the frame of one of 32 cells; then the warp paints one crescent after another.
template <class N>
__global__ void __launch_bounds__(cell_threads)
    paint_cells_of(const N* field, N* painted, const grid3 g, const metric<N> m) {
    __shared__ centre_memory<N> memory[cell_threads / cuda::warp];
    N* const cover = memory[threadIdx.x / cuda::warp].cover;
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t image_cells = g.image_cells();
    frame f;
    if (cell < g.cells()) {
        const N r2 = field[cell];
        if (r2 > 0 && !is_endless(r2)) {
            const std::int64_t image = cuda::quotient(cell, image_cells) * image_cells;
            const centre<N> c = centre_of(field + image, g, cell - image);
            if (!is_contained(c, g, m))
                f = frame_of<3>(box_of<3>(r2, m, [&](int z, int y, int x) { return cover_at(c, g, m, z, y, x); }), c.at,
                                g);
        }
    }
    for (unsigned left = __ballot_sync(cuda::every_lane, f.first + f.last >= 0 ? 1 : 0); left != 0; left &= left - 1) {
        const int source = __ffs(static_cast<int>(left)) - 1;
        const auto from = [&](std::int32_t mine) { return __shfl_sync(cuda::every_lane, mine, source); };
        const frame its{from(f.axis), from(f.first), from(f.last), from(f.below), from(f.above)};
        const std::int64_t whole = cell - lane + source, image = cuda::quotient(whole, image_cells) * image_cells;
        const centre<N> c = centre_of(field + image, g, whole - image);
        if (lane < 27)
            cover[lane] = lane == 13 ? never<N>() : cover_at(c, g, m, lane / 9 - 1, lane / 3 % 3 - 1, lane % 3 - 1);
        __syncwarp();
        paint_centre(painted + image, c, g, m, its, cover);
        __syncwarp();
    }
}

}  // namespace nearfield::thickness
