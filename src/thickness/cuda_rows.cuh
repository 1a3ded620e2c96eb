// Slices of balls on the fast device path, and the painting of their rows.
#pragma once

#include "base/cuda_scan.cuh"
#include "thickness/core.hpp"

namespace nearfield::thickness {

using cuda::every_lane;
using cuda::warp;
using word = unsigned long long;  // operand type of CUDA's 64-bit atomics

inline constexpr int tile_threads = 256;
inline constexpr int tile_warps = tile_threads / warp;
/// Balls whose slices have at least this many rows go to the queue, where a warp takes one. Those whose centre has no
/// earlier neighbour go there sooner, because the warps there look for earlier centres farther away.
inline constexpr int rows_of_long_slice = 64, rows_of_lone_slice = 24;

struct tiles_call {
    grid3 g;
    const std::int32_t* field = nullptr;
    std::int32_t* painted = nullptr;
    word* largest = nullptr;     ///< for each tile, the largest ball that is kept, see largest_ball; 0: none
    word* balls = nullptr;       ///< cells of large balls; if it is full, the block paints the slices itself
    word* slices = nullptr;      ///< slices of very large balls; if it is full, the ball's warp paints them
    unsigned* queued = nullptr;  ///< number of balls, of balls taken, of slices, and of slices taken
    unsigned capacity = 0;       ///< of each queue
};

/// A tile's largest ball in 64 bits: squared radius, and its cell within the tile.
__device__ inline word largest_ball(std::int32_t r2, int cell) {
    return static_cast<word>(r2) << 11 | static_cast<word>(cell);
}

/// A slice of a ball in 64 bits. Coordinates stay below 2^15 in both directions, since squared radii stay below 2^29.
struct slice_record {
    static constexpr int shift = 1 << 16;
    word bits;
    static __device__ slice_record of(int cell, int axis, int s, int below, int above) {
        return {static_cast<word>(cell) | static_cast<word>(axis) << 11 | static_cast<word>(s + shift) << 13 |
                static_cast<word>(below + shift) << 30 | static_cast<word>(above + shift) << 47};
    }
    __device__ int cell() const { return static_cast<int>(bits & 2047); }
    __device__ int axis() const { return static_cast<int>(bits >> 11 & 3); }
    __device__ int slice() const { return static_cast<int>(bits >> 13 & 0x1ffff) - shift; }
    __device__ int below() const { return static_cast<int>(bits >> 30 & 0x1ffff) - shift; }
    __device__ int above() const { return static_cast<int>(bits >> 47 & 0x1ffff) - shift; }
};
/// An entry of the queue of slices: slices s .. s + more of a ball whose centre is given by its cell in the whole
/// array; `more` is below 32.
__device__ inline word queued_slices(std::int64_t cell, int axis, int s, int more) {
    return static_cast<word>(cell) << 24 | static_cast<word>(more) << 19 | static_cast<word>(axis) << 17 |
           static_cast<word>(s + slice_record::shift);
}

/// A slice of which any lane may paint a row; in shared memory.
struct alignas(16) placed_slice {
    slice<std::int32_t> t;  ///< row b of the slice has number t.below + b; t.above is the slice's number
    std::int64_t middle;    ///< the cell of the array in the middle of row 0
    std::int32_t r2;
    std::int32_t axis_and_before;  ///< 4 times the number of the grid's cells before the middle, plus the axis
};

/// Returns the array's step along an axis; it avoids a table, which the compiler would keep in local memory.
__device__ inline std::int64_t step_along(const grid3& g, int axis) {
    const std::int64_t line = g.size[2];
    return axis == 2 ? 1 : axis == 1 ? line : line * g.size[1];
}
__device__ inline int pick(int axis, int z, int y, int x) { return axis == 0 ? z : axis == 1 ? y : x; }
__device__ inline int side(const grid3& g, int axis) { return pick(axis, g.size[0], g.size[1], g.size[2]); }

/// Paints what is left of a lane's row, whose middle is `line`; `before` and `behind` count the grid's cells on both
/// sides of it. A lane paints a few cells by itself; all lanes share more. All lanes must call it.
__device__ inline void paint_row(std::int32_t* line, int step, const leftover& left, int before, int behind,
                                 std::int32_t r2) {
    constexpr int enough = 8;
    const int lower = most(least(left.half, before) - left.left + 1, 0),
              both = lower + most(least(left.half, behind) - left.right + 1, 0);
    const auto paint = [](std::int32_t* middle, int k, int below, int from, int to, int apart, std::int32_t value) {
        atomicMax(middle + static_cast<std::int64_t>(k < below ? 0 - from - k : to + k - below) * apart, value);
    };
    if (both <= enough)
        for (int k = 0; k < both; ++k) paint(line, k, lower, left.left, left.right, step, r2);
    for (unsigned many = __ballot_sync(every_lane, both > enough ? 1 : 0); many != 0; many &= many - 1) {
        const int source = __ffs(static_cast<int>(many)) - 1;
        const auto from = [&](int mine) { return __shfl_sync(every_lane, mine, source); };
        const auto middle = reinterpret_cast<std::int32_t*>(
            __shfl_sync(every_lane, reinterpret_cast<unsigned long long>(line), source));
        const int count = from(both), below = from(lower), low = from(left.left), high = from(left.right),
                  apart = from(step), value = from(r2);
        for (int k = static_cast<int>(threadIdx.x) % warp; k < count; k += warp)
            paint(middle, k, below, low, high, apart, value);
    }
}

/// Paints what is left of row b. All lanes must call it.
__device__ inline void paint_row_of(const tiles_call& call, const placed_slice& p, int b, const leftover& left) {
    const int axis = p.axis_and_before & 3, before = p.axis_and_before >> 2;
    paint_row(call.painted + p.middle + b * step_along(call.g, middle_axis(axis)), axis == 2 ? call.g.size[2] : 1, left,
              before, side(call.g, row_axis(axis)) - 1 - before, p.r2);
}

/// Paints slices of which each lane has prepared one with `rows` rows, or none. The lanes of the warp share all rows.
/// `left_of(slice, b)` finds what is left of row b. `held` is the warp's, with a place for each lane.
template <class LeftOf>
__device__ void paint_slices(const tiles_call& call, placed_slice* held, placed_slice& mine, int rows,
                             const LeftOf& left_of) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const int end = cuda::sum_before_in_warp(rows) + rows;
    mine.t.below += end - rows;
    if (rows > 0) held[lane] = mine;
    __syncwarp();
    const int all = __shfl_sync(every_lane, end, warp - 1);
    for (int base = 0; base < all; base += warp) {
        const int k = least(base + lane, all - 1);
        int owner = 0;  // the first lane whose rows end after k
        for (int by = warp / 2; by > 0; by /= 2) owner += __shfl_sync(every_lane, end, owner + by - 1) <= k ? by : 0;
        const placed_slice& p = held[owner];
        const int b = k - p.t.below;
        leftover left;
        if (base + lane < all) left = left_of(p, b);
        paint_row_of(call, p, b, left);
    }
    __syncwarp();
}

}  // namespace nearfield::thickness
