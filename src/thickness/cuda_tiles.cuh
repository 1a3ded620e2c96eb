// The fast device path for unit grids without periodic axes: each block handles one tile.
#pragma once

#include "base/cuda.cuh"
#include "thickness/contained.hpp"

namespace nearfield::thickness {

using cuda::every_lane;
using cuda::warp;
using word = unsigned long long;  // operand type of CUDA's 64-bit atomics

inline constexpr int tile_threads = 256;
inline constexpr int lanes_a_slice = 8;
/// Slices with at least this many rows go to the queue, where each gets a warp.
inline constexpr int rows_of_long_slice = 64;

struct tiles_call {
    grid3 g;
    const std::int32_t* field = nullptr;
    std::int32_t* painted = nullptr;
    const std::uint32_t* table = nullptr;  ///< entries of packed_needs()
    word* queue = nullptr;                 ///< long slices; if it is full, the block paints the slice itself
    unsigned* queued = nullptr;            ///< number of entries, and number of entries taken
    unsigned capacity = 0;
};

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
/// An entry of the queue: the slice of a ball whose centre is given by its cell in the whole array.
__device__ inline word queued_slice(std::int64_t cell, int axis, int s) {
    return static_cast<word>(cell) << 19 | static_cast<word>(axis) << 17 | static_cast<word>(s + slice_record::shift);
}

template <int Axes>
struct tile_memory {
    static constexpr int width = 32, height = Axes == 3 ? 8 : 64, depth = Axes == 3 ? 8 : 1;
    static constexpr int row = width + 2, plane = row * (height + 2), planes = Axes == 3 ? depth + 2 : 1;
    static constexpr int cells = width * height * depth, most_records = 3072;
    std::int32_t value[planes * plane];  ///< with a rim of one cell
    word record[most_records];
    std::uint16_t kept[cells];  ///< centres whose balls lie in no neighbour's ball
    int kept_count, records;
};

/// Returns the array's step along an axis; it avoids a table, which the compiler would keep in local memory.
__device__ inline std::int64_t step_along(const grid3& g, int axis) {
    const std::int64_t line = g.size[2];
    return axis == 2 ? 1 : axis == 1 ? line : line * g.size[1];
}
__device__ inline int pick(int axis, int z, int y, int x) { return axis == 0 ? z : axis == 1 ? y : x; }
__device__ inline int side(const grid3& g, int axis) { return pick(axis, g.size[0], g.size[1], g.size[2]); }

/// Paints cells from .. to of a lane's row, counted along `step`. A lane paints a short range by itself; all lanes
/// share long ones. All lanes must call it.
__device__ inline void paint_stretch(std::int32_t* line, int from, int to, std::int64_t step, std::int32_t r2) {
    constexpr int enough = 8;
    const int length = to - from + 1;
    std::int32_t* const start = line + from * step;
    if (length <= enough)
        for (int k = 0; k < length; ++k) atomicMax(start + k * step, r2);
    for (unsigned left = __ballot_sync(every_lane, length > enough ? 1 : 0); left != 0; left &= left - 1) {
        const int source = __ffs(static_cast<int>(left)) - 1;
        const int count = __shfl_sync(every_lane, length, source);
        const std::int32_t value = __shfl_sync(every_lane, r2, source);
        const auto there = reinterpret_cast<std::int32_t*>(
            __shfl_sync(every_lane, reinterpret_cast<unsigned long long>(start), source));
        const auto apart = static_cast<std::int64_t>(__shfl_sync(every_lane, static_cast<long long>(step), source));
        for (int k = static_cast<int>(threadIdx.x) % warp; k < count; k += warp) atomicMax(there + k * apart, value);
    }
}

/// Position of a slice in the array.
struct slice_place {
    std::int32_t* middle;          ///< the slice's middle row
    std::int64_t row_apart, step;  ///< distance from row to row, and from cell to cell in a row
    std::int32_t before, behind;   ///< number of the grid's cells on both sides of the middle
};

/// Paints the uncovered cells of narrowed slices; `Lanes` lanes share a slice, lane by row. All lanes must call it.
template <int Lanes>
__device__ void paint_rows(const slice<std::int32_t>& t, const slice_place& at, std::int32_t r2) {
    const turned<std::int32_t, true> unit{1, 1, 1};
    for (int b = static_cast<int>(threadIdx.x) % Lanes - t.below; __any_sync(every_lane, b <= t.above ? 1 : 0) != 0;
         b += Lanes) {
        leftover left;
        if (b <= t.above) left = row_of(t, unit, b, half_of(t, unit, b));
        std::int32_t* const line = at.middle + b * at.row_apart;
        paint_stretch(line, left.left, least(left.half, at.before), 0 - at.step, r2);
        paint_stretch(line, left.right, least(left.half, at.behind), at.step, r2);
    }
}

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

    /// Reads the tile and its rim; returns false if the tile has no centre. Lanes read neighbouring cells of a row.
    __device__ bool load() {
        if (threadIdx.x == 0) m_.kept_count = m_.records = 0;
        int some = 0;
        for (int i = static_cast<int>(threadIdx.x); i < memory::planes * plane; i += tile_threads) {
            const int x = x0_ + i % row - 1, y = y0_ + i / row % (memory::height + 2) - 1,
                      z = Axes == 3 ? z0_ + i / plane - 1 : 0;
            std::int32_t value = 0;
            if (x >= 0 && x < c_.g.size[2] && y >= 0 && y < c_.g.size[1] && z >= 0 && z < c_.g.size[0])
                value = c_.field[cell_at(z, y, x)];
            m_.value[i] = value;
            some |= value;
        }
        return __syncthreads_or(some) != 0;
    }

    /// Lists the centres whose ball lies in no neighbour's ball. Threads walk along z, so that each plane is read once.
    __device__ void keep() {
        if constexpr (Axes == 3) {
            const int x = static_cast<int>(threadIdx.x) % warp, y = static_cast<int>(threadIdx.x) / warp;
            int value[3], faces[3], corners[3];
            around(y, x, 0, value[0], faces[0], corners[0]), around(y, x, 1, value[1], faces[1], corners[1]);
#pragma unroll
            for (int z = 0; z < memory::depth; ++z) {
                around(y, x, z + 2, value[2], faces[2], corners[2]);
                list(z, y, x, value[1], most(faces[1], value[0], value[2]), most(corners[1], faces[0], faces[2]),
                     most(corners[0], corners[2]));
                value[0] = value[1], faces[0] = faces[1], corners[0] = corners[1];
                value[1] = value[2], faces[1] = faces[2], corners[1] = corners[2];
            }
        } else {
            for (int i = static_cast<int>(threadIdx.x); i < memory::cells; i += tile_threads) {
                int value, faces, corners;
                around(i / memory::width, i % memory::width, 0, value, faces, corners);
                list(0, i / memory::width, i % memory::width, value, faces, corners, 0);
            }
        }
        __syncthreads();
    }

    /// Cuts the kept balls into slices and paints them, in rounds of as many slices as the list holds.
    __device__ void paint() {
        int next = static_cast<int>(threadIdx.x), s = 0, last = -1, cell = 0;
        frame f;
        do {
            while (true) {
                if (s > last) {
                    if (next >= m_.kept_count) break;
                    cell = m_.kept[next], next += tile_threads;
                    f = frame_at(cell);
                    s = 0 - f.first, last = f.last;
                    continue;
                }
                s = note(cell, f, s, last);
                if (s <= last) break;  // the list is full
            }
            __syncthreads();
            const int count = least(m_.records, memory::most_records);
            constexpr int of_warp = warp / lanes_a_slice;
            for (int i = static_cast<int>(threadIdx.x) / warp * of_warp; i < count; i += tile_threads / lanes_a_slice)
                paint_records(i, count);
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

    /// Reads a cell of plane z of shared memory, and the largest of its faces and of its corners within the plane.
    __device__ void around(int y, int x, int z, int& value, int& faces, int& corners) const {
        const std::int32_t* at = m_.value + z * plane + (y + 1) * row + x + 1;
        value = at[0];
        faces = most(most(at[-1], at[1]), most(at[-row], at[row]));
        corners = most(most(at[-row - 1], at[-row + 1]), most(at[row - 1], at[row + 1]));
    }

    /// Adds a cell to the list of kept centres unless its ball is contained. All lanes must call it.
    __device__ void list(int z, int y, int x, std::int32_t r2, int beside, int edge, int corner) {
        bool kept = false;
        if (r2 > 0) {
            kept = !is_contained(c_.table, r2, beside, edge, corner);
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
        if (kept) m_.kept[to] = static_cast<std::uint16_t>((z * memory::height + y) * memory::width + x);
    }

    __device__ frame frame_at(int cell) const {
        const std::int32_t* at = value_of(cell);
        const std::int32_t r2 = *at;
        int z, y, x;
        place_of(cell, z, y, x);
        const std::int32_t place[3] = {z0_ + z, y0_ + y, x0_ + x};
        const box b = box_of<Axes>(r2, unit_metric{}, [&](int vz, int vy, int vx) {
            const int apart = vz * plane + vy * row + vx;
            const std::int32_t other2 = at[apart];
            if (other2 < r2 || (other2 == r2 && apart > 0)) return never<std::int32_t>();
            return other2 - r2 - ((vz != 0 ? 1 : 0) + (vy != 0 ? 1 : 0) + (vx != 0 ? 1 : 0));
        });
        return frame_of<Axes>(b, place, c_.g);
    }

    /// Records slices s .. last of a ball, and returns the first slice that did not fit.
    __device__ int note(int cell, const frame& f, int s, int last) {
        if (f.below + f.above >= rows_of_long_slice) {
            int z, y, x;
            place_of(cell, z, y, x);
            const std::int64_t centre = cell_at(z0_ + z, y0_ + y, x0_ + x);
            for (; s <= last; ++s) {
                if (*static_cast<volatile unsigned*>(c_.queued) >= c_.capacity) break;
                const unsigned to = atomicAdd(c_.queued, 1U);
                if (to >= c_.capacity) break;
                c_.queue[to] = queued_slice(centre, f.axis, s);
            }
            if (s > last) return s;
        }
        int to = atomicAdd(&m_.records, last - s + 1);
        for (; s <= last && to < memory::most_records; ++s, ++to)
            m_.record[to] = slice_record::of(cell, f.axis, s, f.below, f.above).bits;
        return s;
    }

    /// Paints four slices from `first` on, with eight lanes for each: a lane merges the covers of one of nine
    /// directions, then paints rows.
    __device__ void paint_records(int first, int count) {
        const int lane = static_cast<int>(threadIdx.x) % lanes_a_slice,
                  mine = first + static_cast<int>(threadIdx.x) % warp / lanes_a_slice;
        const slice_record q{m_.record[least(mine, count - 1)]};
        const int axis = q.axis(), s = q.slice();
        const std::int32_t* at = value_of(q.cell());
        const std::int32_t r2 = *at;
        slice<std::int32_t> t;
        const std::int32_t cover = merged(at, r2, axis, s, lane);
#pragma unroll
        for (int k = 0; k < 8; ++k) t.cover[k] = __shfl_sync(every_lane, cover, k, lanes_a_slice);
        t.cover[8] = merged(at, r2, axis, s, 8);
        t.rest = r2 - 1 - s * s;
        if (mine >= count || !narrow(t, turned<std::int32_t, true>{1, 1, 1}, q.below(), q.above()))
            t.below = 0, t.above = -1;
        int z, y, x;
        place_of(q.cell(), z, y, x);
        z += z0_, y += y0_, x += x0_;
        const int along = row_axis(axis), before = pick(along, z, y, x);
        const slice_place place{c_.painted + cell_at(z, y, x) + s * step_along(c_.g, axis),
                                step_along(c_.g, middle_axis(axis)), step_along(c_.g, along), before,
                                side(c_.g, along) - 1 - before};
        paint_rows<lanes_a_slice>(t, place, r2);
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
};

/// A block handles one tile: threads first test cells, then cut kept balls; then eight threads share a slice.
template <int Axes>
__global__ void __launch_bounds__(tile_threads, 4) paint_tiles(const tiles_call call) {
    __shared__ tile_memory<Axes> memory;
    tile<Axes> mine(call, memory);
    if (!mine.load()) return;
    mine.keep();
    mine.paint();
}

/// A warp takes a long slice from the queue; its lanes paint the rows.
template <int Axes>
__global__ void __launch_bounds__(tile_threads) paint_queue(const tiles_call call) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    const unsigned count = least(call.queued[0], call.capacity);
    while (true) {
        unsigned k = 0;
        if (lane == 0) k = atomicAdd(call.queued + 1, 1U);
        k = __shfl_sync(every_lane, k, 0);
        if (k >= count) return;
        const word q = call.queue[k];
        const auto cell = static_cast<std::int64_t>(q >> 19);
        const int axis = static_cast<int>(q >> 17 & 3), s = static_cast<int>(q & 0x1ffff) - slice_record::shift;
        const std::int32_t r2 = call.field[cell];
        const std::int64_t line = cuda::quotient(cell, call.g.size[2]), planes = cuda::quotient(line, call.g.size[1]);
        const int x = static_cast<int>(cell - line * call.g.size[2]),
                  y = static_cast<int>(line - planes * call.g.size[1]),
                  z = static_cast<int>(planes - cuda::quotient(planes, call.g.size[0]) * call.g.size[0]);
        const int along = row_axis(axis), middle = middle_axis(axis);
        std::int32_t cover = never<std::int32_t>();
        if (lane < 27 && lane != 13) {
            const int a = lane % 3 - 1, b = lane / 3 % 3 - 1, c = lane / 9 - 1;
            const int vz = axis == 0 ? c : b, vy = axis == 0 ? b : axis == 1 ? c : a, vx = axis == 2 ? c : a;
            if (z + vz >= 0 && z + vz < call.g.size[0] && y + vy >= 0 && y + vy < call.g.size[1] && x + vx >= 0 &&
                x + vx < call.g.size[2]) {
                const std::int64_t apart = (static_cast<std::int64_t>(vz) * call.g.size[1] + vy) * call.g.size[2] + vx;
                const std::int32_t other2 = call.field[cell + apart];
                if (other2 > r2 || (other2 == r2 && apart < 0)) cover = other2 - r2 - (a * a + b * b + c * c);
            }
        }
        const std::int32_t next = __shfl_sync(every_lane, cover, (lane + 9) % warp),
                           after = __shfl_sync(every_lane, cover, (lane + 18) % warp);
        const std::int32_t merged = most(cover - 2 * s, next, after + 2 * s);
        slice<std::int32_t> t;
#pragma unroll
        for (int n = 0; n < 9; ++n) t.cover[n] = __shfl_sync(every_lane, merged, n);
        t.rest = r2 - 1 - s * s;
        const int row = pick(middle, z, y, x), before = pick(along, z, y, x);
        if (!narrow(t, turned<std::int32_t, true>{1, 1, 1}, row, side(call.g, middle) - 1 - row)) continue;
        const slice_place place{call.painted + cell + s * step_along(call.g, axis), step_along(call.g, middle),
                                step_along(call.g, along), before, side(call.g, along) - 1 - before};
        paint_rows<warp>(t, place, r2);
    }
}

/// A warp computes one entry; its lanes handle planes of the entry's ball.
__global__ void __launch_bounds__(tile_threads) fill_table(std::uint32_t* table, int axes) {
    const int r2 = static_cast<int>((blockIdx.x * tile_threads + threadIdx.x) / warp),
              lane = static_cast<int>(threadIdx.x) % warp;
    std::int32_t far[3] = {0, 0, 0};
    for (int x = lane; x * x < r2; x += warp) raise_needs(far, r2, x, axes);
    for (std::int32_t& each : far)
        for (int by = warp / 2; by > 0; by /= 2) each = most(each, __shfl_xor_sync(every_lane, each, by));
    if (lane == 0) table[r2] = packed_needs(far, r2);
}

}  // namespace nearfield::thickness
