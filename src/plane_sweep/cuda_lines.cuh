// The kernels of sweeps: line by line, in bands in shared memory, and in bands in registers. See cuda.cu.
#pragma once

#include <cooperative_groups.h>

#include "base/cuda.cuh"
#include "plane_sweep/core.hpp"

namespace nearfield::sweeps {
namespace {

using cuda::warp;

inline constexpr int most_sweeps = 6, line_threads = 512, cell_threads = 256;

/// A sweep from one array into another. In the cooperative form they may be the same array.
template <class Key>
struct job {
    sweep s;
    const Key* from;
    Key* to;
};

/// Sweeps that run side by side. Units of work, which are cells or pieces of a line, are numbered across all sweeps.
template <class Key>
struct jobs {
    job<Key> each[most_sweeps];
    std::int64_t before[most_sweeps + 1];  ///< units of work of the sweeps before
    int count;

    [[nodiscard]] __device__ int find(std::int64_t unit) const {
        int number = 0;
        while (number + 1 < count && unit >= before[number + 1]) ++number;
        return number;
    }
};

/// Lines [first, first + count) of every sweep; a sweep with fewer lines is idle.
struct stretch_of_lines {
    std::int32_t first, count;
};

/// Sweeps line by line. A thread owns cells of the line; if there are several blocks they sync after each line.
template <class V, class Key, bool Planes>
__global__ void __launch_bounds__(line_threads)
    sweep_lines(metric<V> m, const __grid_constant__ jobs<Key> all, stretch_of_lines lines) {
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * line_threads;
    for (std::int32_t line = lines.first; line < lines.first + lines.count; ++line) {
        for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * line_threads + threadIdx.x;
             i < all.before[all.count]; i += step) {
            const int number = all.find(i);
            const job<Key>& mine = all.each[number];
            const sweep& s = mine.s;
            if (line >= s.positions) continue;
            const auto cell = static_cast<std::uint32_t>(i - all.before[number]);
            const auto row = static_cast<std::int32_t>(Planes ? cell / static_cast<std::uint32_t>(s.columns) : 0);
            const auto column = static_cast<std::int32_t>(cell) - row * s.columns;
            const std::int32_t position = s.position(line);
            const std::int64_t own = s.cell(position, row, column);
            nearest<V, Key, Planes> best(m, s.at(position, row, column), mine.from[own]);
            if (line > 0) {
                const std::int32_t before = s.position(line - 1);
                const std::int32_t low = Planes ? max(row - 1, 0) : row, high = Planes ? min(row + 1, s.rows - 1) : row;
                for (std::int32_t r = low; r <= high; ++r)
                    for (std::int32_t c = max(column - 1, 0); c <= min(column + 1, s.columns - 1); ++c)
                        best.ask(mine.to[s.cell(before, r, c)]);
            }
            mine.to[own] = best.site();
        }
        if (line + 1 < lines.first + lines.count) cooperative_groups::this_grid().sync();
    }
}

/// Lines whose own sites are being loaded: a line takes less time than a load.
template <bool Planes>
inline constexpr int ahead = Planes ? 4 : 8;

/// A thread's cell in every line of a band: in its block's piece of a line, or in a volume in its tile.
template <bool Planes>
struct cell_of_band {
    std::int32_t row, column;
    bool inside, writes;  ///< inside the grid; and still correct at the end of the band
    __device__ cell_of_band(const sweep& s, std::int32_t tile, int halo) {
        const auto width = static_cast<std::int32_t>(blockDim.x), height = static_cast<std::int32_t>(blockDim.y);
        const std::int32_t own_width = width - 2 * halo, own_height = height - 2 * halo;
        const std::int32_t across = (s.columns + own_width - 1) / own_width;
        const auto x = static_cast<std::int32_t>(threadIdx.x), y = static_cast<std::int32_t>(threadIdx.y);
        column = tile % across * own_width - halo + x;
        row = Planes ? tile / across * own_height - halo + y : 0;
        inside = column >= 0 && column < s.columns && row >= 0 && row < s.rows;
        writes = inside && x >= halo && x < halo + own_width && (!Planes || (y >= halo && y < halo + own_height));
    }
};

/// Sweeps a band of lines in shared memory. A thread owns a cell. The outermost `halo` cells on every side of the block
/// are wrong at the end and are not written. The launch before wrote the line before the band, or for a sweep's first
/// band the array `from`.
/// Over 40 lines because lines are loaded ahead while others are swept.
template <class V, class Key, bool Planes>
__global__ void __launch_bounds__(1024)
    sweep_band(metric<V> m, const __grid_constant__ jobs<Key> all, stretch_of_lines lines, int halo) {
    extern __shared__ std::int64_t memory[];
    const int width = static_cast<int>(blockDim.x) + 2, height = static_cast<int>(blockDim.y) + (Planes ? 2 : 0);
    Key* const tiles = reinterpret_cast<Key*>(memory);  // two tiles, one to read and one to write
    const int number = all.find(blockIdx.x);
    const sweep s = all.each[number].s;
    const Key* const from = all.each[number].from;
    Key* const to = all.each[number].to;
    if (lines.first >= s.positions) return cuda::wait_for_kernel_before();  // other sweeps go on
    const cell_of_band<Planes> mine(s, static_cast<std::int32_t>(blockIdx.x - all.before[number]), halo);
    const std::int32_t last = min(lines.first + lines.count, s.positions);
    Key next[ahead<Planes>];
    const auto load = [&](std::int32_t line) {
#pragma unroll
        for (int i = 0; i < ahead<Planes>; ++i)
            next[i] =
                mine.inside && line + i < last ? from[s.cell(s.position(line + i), mine.row, mine.column)] : none<Key>;
    };
    if (lines.first > 0) load(lines.first);
    for (int i = static_cast<int>(threadIdx.y * blockDim.x + threadIdx.x); i < 2 * width * height;
         i += blockDim.x * blockDim.y)
        tiles[i] = none<Key>;
    __syncthreads();
    cuda::wait_for_kernel_before();
    const int here = (Planes ? static_cast<int>(threadIdx.y) + 1 : 0) * width + static_cast<int>(threadIdx.x) + 1;
    if (lines.first == 0) load(0);
    else if (mine.inside) tiles[here] = to[s.cell(s.position(lines.first - 1), mine.row, mine.column)];
    for (std::int32_t group = lines.first; group < last; group += ahead<Planes>) {
        Key own[ahead<Planes>];
#pragma unroll
        for (int i = 0; i < ahead<Planes>; ++i) own[i] = next[i];
        load(group + ahead<Planes>);
#pragma unroll
        for (int i = 0; i < ahead<Planes>; ++i) {
            if (group + i >= last) break;
            __syncthreads();
            const Key* const before = tiles + i % 2 * width * height;
            const std::int32_t position = s.position(group + i);
            nearest<V, Key, Planes> best(m, s.at(position, mine.row, mine.column), own[i]);
            for (int r = Planes ? -1 : 0; r <= (Planes ? 1 : 0); ++r)
                for (int c = -1; c <= 1; ++c) best.ask(before[here + r * width + c]);
            if (mine.inside) tiles[(1 - i % 2) * width * height + here] = best.site();
            if (mine.writes) to[s.cell(position, mine.row, mine.column)] = best.site();
        }
    }
}

/// Sweeps a band of an image with a warp's piece in registers, a cell for each lane. 2 or 4 cells a lane are slower: a
/// band's lines take more work, and there are fewer warps.
/// Over 40 lines because lines are loaded ahead while others are swept.
template <class V, class Key>
__global__ void __launch_bounds__(cell_threads)
    sweep_shuffled(metric<V> m, const __grid_constant__ jobs<Key> all, stretch_of_lines lines, int halo) {
    constexpr int together = ahead<false>;
    const std::int64_t stretch = static_cast<std::int64_t>(blockIdx.x) * blockDim.y + threadIdx.y;
    if (stretch >= all.before[all.count]) return cuda::wait_for_kernel_before();
    const int number = all.find(stretch);
    const sweep s = all.each[number].s;
    const Key* const from = all.each[number].from;
    Key* const to = all.each[number].to;
    if (lines.first >= s.positions) return cuda::wait_for_kernel_before();
    const auto lane = static_cast<std::int32_t>(threadIdx.x);
    const std::int32_t own_width = warp - 2 * halo;
    const std::int32_t column = static_cast<std::int32_t>(stretch - all.before[number]) * own_width - halo + lane;
    const bool inside = column >= 0 && column < s.columns, writes = inside && lane >= halo && lane < halo + own_width;
    const std::int32_t last = min(lines.first + lines.count, s.positions);
    Key next[together];
    const auto load = [&](std::int32_t line) {
#pragma unroll
        for (int i = 0; i < together; ++i)
            next[i] = inside && line + i < last ? from[s.cell(s.position(line + i), 0, column)] : none<Key>;
    };
    if (lines.first > 0) load(lines.first);
    cuda::wait_for_kernel_before();
    Key before = none<Key>;
    if (lines.first == 0) load(0);
    else if (inside) before = to[s.cell(s.position(lines.first - 1), 0, column)];
    for (std::int32_t group = lines.first; group < last; group += together) {
        Key own[together];
#pragma unroll
        for (int i = 0; i < together; ++i) own[i] = next[i];
        load(group + together);
#pragma unroll
        for (int i = 0; i < together; ++i) {
            if (group + i >= last) break;
            const std::int32_t position = s.position(group + i);
            nearest<V, Key, false> best(m, s.at(position, 0, column), own[i]);
            best.ask(before);
            // The outermost lanes receive their own site, which changes nothing.
            best.ask(__shfl_up_sync(cuda::every_lane, before, 1));
            best.ask(__shfl_down_sync(cuda::every_lane, before, 1));
            before = inside ? best.site() : none<Key>;
            if (writes) to[s.cell(position, 0, column)] = before;
        }
    }
}

}  // namespace
}  // namespace nearfield::sweeps
