// The fast device path for unit grids without periodic axes: each block handles one tile.
#pragma once

#include "thickness/contained.hpp"
#include "thickness/cuda_rows.cuh"

namespace nearfield::thickness {

template <int Axes>
struct tile_memory {
    static constexpr int width = 32, height = Axes == 3 ? 8 : 64, depth = Axes == 3 ? 8 : 1;
    static constexpr int row = width + 2, plane = row * (height + 2), planes = Axes == 3 ? depth + 2 : 1;
    static constexpr int cells = width * height * depth, most_records = 1280;
    std::int32_t value[planes * plane];  ///< with a rim of one cell
    placed_slice slices[tile_warps][warp];
    word record[most_records];
    word largest;               ///< largest_ball() of the kept centres
    std::uint16_t kept[cells];  ///< centres whose balls are not contained
    int kept_count, records;
};

/// A block's tile and its position in the grid.
template <int Axes>
class tile {
    using memory = tile_memory<Axes>;
    static constexpr int row = memory::row, plane = memory::plane;

public:
    __device__ tile(const tiles_call& call, memory& m) : c_(call), m_(m) {
        const int across = (c_.g.size[2] + memory::width - 1) / memory::width,
                  down = (c_.g.size[1] + memory::height - 1) / memory::height;
        std::int64_t k = blockIdx.x, rest = cuda::quotient(k, across);
        x0_ = static_cast<int>(k - rest * across) * memory::width;
        k = rest, rest = cuda::quotient(k, down);
        y0_ = static_cast<int>(k - rest * down) * memory::height;
        const int deep = (c_.g.size[0] + memory::depth - 1) / memory::depth;
        k = rest, rest = cuda::quotient(k, deep);
        z0_ = static_cast<int>(k - rest * deep) * memory::depth;
        image_ = rest * c_.g.image_cells();
    }

    /// Reads the tile and its rim; returns false if the tile has no centre. A warp reads all but two cells of a line at
    /// once; the threads share the others.
    __device__ bool load() {
        constexpr int lines = memory::planes * (memory::height + 2);
        const int thread = static_cast<int>(threadIdx.x);
        if (thread == 0) m_.kept_count = m_.records = 0, m_.largest = 0;
        int some = 0;
        const auto read = [&](int line, int column) {
            const int x = x0_ + column - 1, y = y0_ + line % (memory::height + 2) - 1,
                      z = Axes == 3 ? z0_ + line / (memory::height + 2) - 1 : 0;
            std::int32_t value = 0;
            if (x >= 0 && x < c_.g.size[2] && y >= 0 && y < c_.g.size[1] && z >= 0 && z < c_.g.size[0])
                value = c_.field[cell_at(z, y, x)];
            m_.value[line * row + column] = value;
            some |= value;
        };
        for (int line = thread / warp; line < lines; line += tile_warps) read(line, thread % warp);
        for (int i = thread; i < 2 * lines; i += tile_threads) read(i / 2, warp + i % 2);
        const bool any = __syncthreads_or(some) != 0;
        if (!any && thread == 0) c_.largest[blockIdx.x] = 0;
        return any;
    }

    /// Lists the centres whose ball is not contained. Threads walk along z, so that each plane is read once.
    __device__ void keep() {
        if constexpr (Axes == 3) {
            const int x = static_cast<int>(threadIdx.x) % warp, y = static_cast<int>(threadIdx.x) / warp;
            std::int32_t before = value_at(0, y, x)[0], own = value_at(1, y, x)[0];
#pragma unroll
            for (int z = 0; z < memory::depth; ++z) {
                const std::int32_t behind = value_at(z + 2, y, x)[0];
                list(z, y, x, own, most(before, behind));
                before = own, own = behind;
            }
        } else {
            for (int i = static_cast<int>(threadIdx.x); i < memory::cells; i += tile_threads)
                list(0, i / memory::width, i % memory::width, value_at(0, i / memory::width, i % memory::width)[0], 0);
        }
        for (int by = warp / 2; by > 0; by /= 2) largest_ = most(largest_, __shfl_xor_sync(every_lane, largest_, by));
        if (threadIdx.x % warp == 0 && largest_ > 0) atomicMax(&m_.largest, largest_);
        __syncthreads();
        if (threadIdx.x == 0) c_.largest[blockIdx.x] = m_.largest;
    }

    /// Cuts the kept balls into slices and paints them, in rounds of as many slices as the list holds.
    __device__ void paint() {
        int next = static_cast<int>(threadIdx.x), s = 0, last = -1, cell = 0;
        bool lone = false;
        frame f;
        do {
            while (true) {
                if (s > last) {
                    if (next >= m_.kept_count) break;
                    cell = m_.kept[next], next += tile_threads;
                    f = frame_at(cell, lone);
                    s = 0 - f.first, last = f.last;
                    continue;
                }
                s = note(cell, f, lone, s, last);
                if (s <= last) break;  // the list is full
            }
            __syncthreads();
            const int count = least(m_.records, memory::most_records);
            // Every warp gets as many slices as the others, and at most one a lane at a time.
            const int rounds = (count + tile_threads - 1) / tile_threads, parts = most(rounds, 1) * tile_warps;
            for (int part = static_cast<int>(threadIdx.x) / warp; part < parts; part += tile_warps)
                paint_records(count * part / parts, count * (part + 1) / parts);
            __syncthreads();
            if (threadIdx.x == 0) m_.records = 0;
        } while (__syncthreads_or(s <= last || next < m_.kept_count ? 1 : 0) != 0);
    }

private:
    __device__ std::int64_t cell_at(int z, int y, int x) const {
        return image_ + (static_cast<std::int64_t>(z) * c_.g.size[1] + y) * c_.g.size[2] + x;
    }
    __device__ void place_of(int cell, int& z, int& y, int& x) const {
        x = cell % memory::width, y = cell / memory::width % memory::height;
        z = cell / (memory::width * memory::height);
    }
    /// Returns a tile cell's value in shared memory.
    __device__ const std::int32_t* value_of(int cell) const {
        int z, y, x;
        place_of(cell, z, y, x);
        return m_.value + (Axes == 3 ? (z + 1) * plane : 0) + (y + 1) * row + x + 1;
    }

    /// Returns a cell of plane z of shared memory, where plane 0 of a volume is the rim.
    __device__ const std::int32_t* value_at(int z, int y, int x) const {
        return m_.value + z * plane + (y + 1) * row + x + 1;
    }

    /// Adds a cell to the list of kept centres unless its ball is contained; `along_z` is the largest of the neighbours
    /// along that axis. All lanes must call it.
    __device__ void list(int z, int y, int x, std::int32_t r2, std::int32_t along_z) {
        bool kept = false;
        if (r2 > 0) {
            const std::int32_t* at = value_at(Axes == 3 ? z + 1 : 0, y, x);
            kept = !is_contained(r2, along_z, most(at[-row], at[row]), most(at[-1], at[1]));
            if (kept && r2 == 1) atomicMax(c_.painted + cell_at(z0_ + z, y0_ + y, x0_ + x), 1), kept = false;
        } else if (r2 < 0 && z0_ + z < c_.g.size[0] && y0_ + y < c_.g.size[1] && x0_ + x < c_.g.size[2]) {
            c_.painted[cell_at(z0_ + z, y0_ + y, x0_ + x)] = r2;  // no site exists
        }
        const unsigned votes = __ballot_sync(every_lane, kept ? 1 : 0);
        if (votes == 0) return;
        const int lane = static_cast<int>(threadIdx.x) % warp;
        int to = 0;
        if (lane == 0) to = atomicAdd(&m_.kept_count, __popc(votes));
        to = __shfl_sync(every_lane, to, 0) + __popc(votes & ((1U << lane) - 1));
        if (!kept) return;
        const int cell = (z * memory::height + y) * memory::width + x;
        m_.kept[to] = static_cast<std::uint16_t>(cell), largest_ = most(largest_, largest_ball(r2, cell));
    }

    /// Returns a ball's frame; `lone` becomes whether no neighbour comes earlier.
    __device__ frame frame_at(int cell, bool& lone) const {
        const std::int32_t* at = value_of(cell);
        const std::int32_t r2 = *at;
        int z, y, x;
        place_of(cell, z, y, x);
        const std::int32_t place[3] = {z0_ + z, y0_ + y, x0_ + x};
        lone = true;
        const box b = box_of<Axes>(r2, unit_metric{}, [&](int vz, int vy, int vx) {
            const int apart = vz * plane + vy * row + vx;
            const std::int32_t other2 = at[apart];
            if (other2 < r2 || (other2 == r2 && apart > 0)) return never<std::int32_t>();
            lone = false;
            return other2 - r2 - ((vz != 0 ? 1 : 0) + (vy != 0 ? 1 : 0) + (vx != 0 ? 1 : 0));
        });
        return frame_of<Axes>(b, place, c_.g);
    }

    /// Queues a large ball, or records slices s .. last of a ball; returns the first slice that did not fit.
    __device__ int note(int cell, const frame& f, bool lone, int s, int last) {
        const bool many = f.below + f.above >= (lone ? rows_of_lone_slice : rows_of_long_slice);
        if (many && *static_cast<volatile unsigned*>(c_.queued) < c_.capacity) {
            int z, y, x;
            place_of(cell, z, y, x);
            const unsigned to = atomicAdd(c_.queued, 1U);
            if (to < c_.capacity) {
                c_.balls[to] = static_cast<word>(cell_at(z0_ + z, y0_ + y, x0_ + x));
                return last + 1;
            }
        }
        int to = atomicAdd(&m_.records, last - s + 1);
        for (; s <= last && to < memory::most_records; ++s, ++to)
            m_.record[to] = slice_record::of(cell, f.axis, s, f.below, f.above).bits;
        return s;
    }

    /// Paints slices `first` .. `last` - 1. A lane merges the covers of a slice; then the lanes share all rows.
    __device__ void paint_records(int first, int last) {
        const int lane = static_cast<int>(threadIdx.x) % warp;
        placed_slice mine;
        const int rows = first + lane < last ? place(slice_record{m_.record[first + lane]}, mine) : 0;
        paint_slices(c_, m_.slices[threadIdx.x / warp], mine, rows, [](const placed_slice& p, int b) {
            const turned<std::int32_t, true> unit{1, 1, 1};
            return row_of(p.t, unit, b, half_of(p.t, unit, b));
        });
    }
    /// Prepares a slice; returns its number of rows that can hold uncovered cells.
    __device__ int place(const slice_record& q, placed_slice& p) const {
        const int axis = q.axis(), s = q.slice();
        const std::int32_t* at = value_of(q.cell());
        p.r2 = *at;
#pragma unroll
        for (int k = 0; k < 9; ++k) p.t.cover[k] = merged(at, p.r2, axis, s, k);
        p.t.rest = p.r2 - 1 - s * s;
        if (!narrow(p.t, turned<std::int32_t, true>{1, 1, 1}, q.below(), q.above())) return 0;
        int z, y, x;
        place_of(q.cell(), z, y, x);
        z += z0_, y += y0_, x += x0_;
        p.middle = cell_at(z, y, x) + s * step_along(c_.g, axis);
        p.axis_and_before = axis + 4 * pick(row_axis(axis), z, y, x);
        return p.t.below + p.t.above + 1;
    }
    /// Returns the largest cover among the neighbours at (k % 3 - 1, k / 3 - 1) along the row and across it.
    __device__ std::int32_t merged(const std::int32_t* at, std::int32_t r2, int axis, int s, int k) const {
        const int along = axis == 2 ? row : 1, over = axis == 0 ? row : plane,
                  apart = axis == 0   ? plane
                          : axis == 1 ? row
                                      : 1;
        const int a = k % 3 - 1, b = k / 3 - 1, o = a * along + b * over;
        const std::int32_t v2 = (a != 0 ? 1 : 0) + (b != 0 ? 1 : 0);
        const auto cover = [&](int to, std::int32_t less) {
            const std::int32_t other2 = at[to];
            return other2 > r2 || (other2 == r2 && to < 0) ? other2 - r2 - less : never<std::int32_t>();
        };
        std::int32_t best = k == 4 ? never<std::int32_t>() : cover(o, v2);
        if (Axes == 3) {
            best = most(best, cover(o - apart, v2 + 1 + 2 * s));
            best = most(best, cover(o + apart, v2 + 1 - 2 * s));
        }
        return best;
    }

    const tiles_call& c_;
    memory& m_;
    int x0_, y0_, z0_;
    std::int64_t image_;
    word largest_ = 0;  ///< of the thread's kept centres
};

/// A block handles one tile: threads first test cells, then cut kept balls; then they paint rows of slices.
///
/// Five blocks share a multiprocessor: 512^3 blobs take 7.70, 5.22 and 10.26 ms, with four 7.92, 5.39 and 10.60 (H200,
/// 2026-11-30; blur 8 at 70 and 50 %, blur 14 at 70 %).
template <int Axes>
__global__ void __launch_bounds__(tile_threads, 5) paint_tiles(const tiles_call call) {
    __shared__ tile_memory<Axes> memory;
    tile<Axes> mine(call, memory);
    if (!mine.load()) return;
    mine.keep();
    mine.paint();
}

}  // namespace nearfield::thickness
