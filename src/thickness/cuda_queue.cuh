// Large balls on the fast device path: a warp takes one from the queue.
//
// A centre with few earlier neighbours would paint much of its ball. The proof in core.hpp holds for any earlier
// centre, so the ball also leaves out what earlier centres up to five cells away cover, and the largest balls of the
// tiles around: in thick plates with rough faces these are the ones that cover nearly all of it.
#pragma once

#include "thickness/cuda_tiles.cuh"

namespace nearfield::thickness {

/// The ball of an earlier centre, by its place relative to the ball's own.
struct far_ball {
    std::int32_t place[3], r2;
};
/// Shared memory of a warp: covers of the neighbours, far balls, at most one for each octant, and slices.
struct queue_memory {
    std::int32_t cover[27];
    far_ball far[8];
    int far_count;
    placed_slice slices[warp];
};

/// A ball from the queue. All lanes of a warp have the same one.
template <int Axes>
class large_ball {
    using tile = tile_memory<Axes>;

public:
    __device__ large_ball(const tiles_call& call, std::int64_t cell, queue_memory& memory)
        : c_(call), m_(memory), cell_(cell), r2_(call.field[cell]) {
        const std::int64_t line = cuda::quotient(cell_, c_.g.size[2]), plane = cuda::quotient(line, c_.g.size[1]);
        image_ = cuda::quotient(plane, c_.g.size[0]);
        x_ = static_cast<int>(cell_ - line * c_.g.size[2]), y_ = static_cast<int>(line - plane * c_.g.size[1]);
        z_ = static_cast<int>(plane - image_ * c_.g.size[0]);
        const int lane = static_cast<int>(threadIdx.x) % warp;
        if (lane < 27) m_.cover[lane] = cover_of_lane(lane / 9 - 1, lane / 3 % 3 - 1, lane % 3 - 1);
        __syncwarp();
        find();
    }

    /// Paints all slices, except those with too many rows for one warp, which go to the queue of slices.
    __device__ void paint() const {
        constexpr int enough = 2048;
        const box b = box_of<Axes>(r2_, unit_metric{},
                                   [&](int z, int y, int x) { return m_.cover[(z + 1) * 9 + (y + 1) * 3 + x + 1]; });
        const std::int32_t at[3] = {z_, y_, x_};
        const frame f = frame_of<Axes>(b, at, c_.g);
        for (int s = 0 - f.first; s <= f.last; s += warp) {
            const int count = least(f.last - s + 1, warp);
            placed_slice mine;
            const int rows = place(f.axis, s, count, mine);
            const int all = __reduce_add_sync(every_lane, rows);
            if (all > enough && queue(f.axis, s, count, most(warp * enough / all, 1))) continue;
            if (all > 0) paint_rows(mine, rows);
        }
    }
    /// Paints slices s .. s + count - 1.
    __device__ void paint(int axis, int s, int count) const {
        placed_slice mine;
        const int rows = place(axis, s, count, mine);
        paint_rows(mine, rows);
    }

private:
    /// Returns the squared radius of the centre at (z, y, x) from this one if it comes earlier, or 0.
    __device__ int earlier(int z, int y, int x) const {
        if (z_ + z < 0 || z_ + z >= c_.g.size[0] || y_ + y < 0 || y_ + y >= c_.g.size[1] || x_ + x < 0 ||
            x_ + x >= c_.g.size[2])
            return 0;
        const std::int64_t apart = (static_cast<std::int64_t>(z) * c_.g.size[1] + y) * c_.g.size[2] + x;
        const std::int32_t other2 = c_.field[cell_ + apart];
        return other2 > r2_ || (other2 == r2_ && apart < 0) ? other2 : 0;
    }
    __device__ std::int32_t cover_of_lane(int z, int y, int x) const {
        const int other2 = earlier(z, y, x);
        return other2 > 0 ? other2 - r2_ - (z * z + y * y + x * x) : never<std::int32_t>();
    }

    /// Prepares the lane's slice of s .. s + count - 1; returns its number of rows that can hold uncovered cells.
    __device__ int place(int axis, int s, int count, placed_slice& mine) const {
        const int lane = static_cast<int>(threadIdx.x) % warp, middle = pick(middle_axis(axis), z_, y_, x_);
        const turned<std::int32_t, true> unit{1, 1, 1};
        s += lane;
        if (lane >= count) return 0;
        mine.t = slice_at(m_.cover, r2_, unit, axis, s);
        if (!narrow(mine.t, unit, middle, side(c_.g, middle_axis(axis)) - 1 - middle)) return 0;
        for (int i = 0; i < m_.far_count; ++i)
            for (int k = i; k < m_.far_count; ++k) narrow_by(m_.far[i], m_.far[k], axis, s, mine.t);
        const int rows = mine.t.below + mine.t.above + 1;
        mine.t.above = s, mine.r2 = r2_, mine.middle = cell_ + s * step_along(c_.g, axis);
        mine.axis_and_before = axis + 4 * pick(row_axis(axis), z_, y_, x_);
        return most(rows, 0);
    }
    /// Narrows the rows of a slice by two far balls, or by one given twice. A far ball leaves only p.v <= k. The sum of
    /// two such conditions limits rows if its part along the row vanishes. Floats: the bound is larger by their error.
    __device__ void narrow_by(const far_ball& a, const far_ball& b, int axis, int s, slice<std::int32_t>& t) const {
        const auto along = [&](const far_ball& f, int of) { return pick(of, f.place[0], f.place[1], f.place[2]); };
        const auto limit = [&](const far_ball& f) {
            const int v2 = f.place[0] * f.place[0] + f.place[1] * f.place[1] + f.place[2] * f.place[2];
            return static_cast<float>(bound_of(f.r2 - r2_ - v2) - s * along(f, axis));
        };
        const int va = along(a, row_axis(axis)), vb = along(b, row_axis(axis)), over = middle_axis(axis);
        if (va * vb > 0) return;
        const int wa = va == 0 && vb == 0 ? 1 : abs(vb), wb = abs(va);
        const float from_a = static_cast<float>(wa) * limit(a), from_b = static_cast<float>(wb) * limit(b);
        const int rise = wa * along(a, over) + wb * along(b, over);
        const float sum = from_a + from_b + 1e-6F * (fabsf(from_a) + fabsf(from_b));
        if (rise == 0) {
            if (sum < -0.5F) t.above = -1 - t.below;
            return;
        }
        constexpr float largest = 1e9F;  // exceeds every number of rows
        const float bound = least(most(sum / static_cast<float>(abs(rise)) + 0.01F, 0 - largest), largest);
        const int rows = static_cast<int>(floorf(bound));
        if (rise > 0) t.above = least(t.above, rows);
        else t.below = least(t.below, rows);
    }
    __device__ void paint_rows(placed_slice& mine, int rows) const {
        const turned<std::int32_t, true> unit{1, 1, 1};
        paint_slices(c_, m_.slices, mine, rows, [&](const placed_slice& p, int b) {
            const leftover left = row_of(p.t, unit, b, half_of(p.t, unit, b));
            return beside_far(left, p.axis_and_before & 3, p.t.above, b);
        });
    }
    /// Queues slices s .. s + count - 1, `each` an entry; returns false if they do not fit.
    __device__ bool queue(int axis, int s, int count, int each) const {
        const int lane = static_cast<int>(threadIdx.x) % warp, entries = (count + each - 1) / each;
        unsigned to = 0;
        if (lane == 0) to = atomicAdd(c_.queued + 2, static_cast<unsigned>(entries));
        to = __shfl_sync(every_lane, to, 0) + static_cast<unsigned>(lane);
        const int first = s + lane * each, more = least(s + count - first, each) - 1;
        const bool fits = lane >= entries || to < c_.capacity;
        if (lane < entries && fits) c_.slices[to] = queued_slices(cell_, axis, first, more);
        return __all_sync(every_lane, fits ? 1 : 0) != 0;
    }

    /// Finds in each octant the earlier centre whose ball leaves least of this one: that with the nearest cap. Lanes
    /// read the largest balls of the tiles around, and one cell of each octant at a time.
    __device__ void find() const {
        constexpr int reach = 5, cells = Axes == 3 ? reach * reach * reach : reach * reach, octants = Axes == 3 ? 8 : 4;
        const int lane = static_cast<int>(threadIdx.x) % warp;
        unsigned best[octants];
        for (unsigned& each : best) each = ~0U;
        int z, y, x;
        for (int i = lane; i < tiles_around; i += warp) {
            const int other2 = of_tile(i, z, y, x), key = key_of(other2, z, y, x, cells + i);
            const int mine = (x < 0 ? 1 : 0) | (y < 0 ? 2 : 0) | (z < 0 ? 4 : 0);
#pragma unroll
            for (int octant = 0; octant < octants; ++octant)
                best[octant] = octant == mine ? least(best[octant], static_cast<unsigned>(key)) : best[octant];
        }
        for (int i = lane; i < cells; i += warp)
#pragma unroll
            for (int octant = 0; octant < octants; ++octant) {
                of_cell(octant, i, z, y, x);
                best[octant] = least(best[octant], static_cast<unsigned>(key_of(earlier(z, y, x), z, y, x, i)));
            }
        int count = 0;
#pragma unroll
        for (int octant = 0; octant < octants; ++octant) {
            for (int by = warp / 2; by > 0; by /= 2)
                best[octant] = least(best[octant], __shfl_xor_sync(every_lane, best[octant], by));
            if (best[octant] == ~0U) continue;
            const int i = static_cast<int>(best[octant] & 511);
            if (lane == 0) {
                int other2 = 0;
                if (i < cells) of_cell(octant, i, z, y, x), other2 = earlier(z, y, x);
                else other2 = of_tile(i - cells, z, y, x);
                m_.far[count] = {{z, y, x}, other2};
            }
            ++count;
        }
        if (lane == 0) m_.far_count = count;
        __syncwarp();
    }
    static constexpr int tiles_aside = 1, tiles_over = Axes == 3 ? 3 : 1, tiles_apart = Axes == 3 ? 3 : 0;
    static constexpr int tiles_around = (2 * tiles_aside + 1) * (2 * tiles_over + 1) * (2 * tiles_apart + 1);

    /// Returns a number that is smaller for a nearer cap, with i in its last nine bits; -1 if other2 is 0.
    __device__ int key_of(int other2, int z, int y, int x, int i) const {
        const int v2 = z * z + y * y + x * x;
        const float cap = static_cast<float>(v2 + r2_ - other2) / root_near(static_cast<float>(most(v2, 1)));
        const float near = least(most(64 * cap + 0x1p21F, 0.0F), 0x1p22F - 1);
        return other2 == 0 ? -1 : static_cast<int>(near) << 9 | i;
    }
    __device__ static void of_cell(int octant, int i, int& z, int& y, int& x) {
        constexpr int reach = 5;
        x = i % reach, y = i / reach % reach, z = i / (reach * reach);
        x = (octant & 1) != 0 ? ~x : x, y = (octant & 2) != 0 ? ~y : y, z = (octant & 4) != 0 ? ~z : z;
    }
    /// Returns the squared radius of the largest ball of a tile around this one, and its place, if it comes earlier.
    __device__ int of_tile(int i, int& z, int& y, int& x) const {
        constexpr int aside = 2 * tiles_aside + 1, over = 2 * tiles_over + 1;
        const int across = (c_.g.size[2] + tile::width - 1) / tile::width,
                  down = (c_.g.size[1] + tile::height - 1) / tile::height,
                  deep = (c_.g.size[0] + tile::depth - 1) / tile::depth;
        const int column = x_ / tile::width + i % aside - tiles_aside,
                  line = y_ / tile::height + i / aside % over - tiles_over,
                  plane = z_ / tile::depth + i / (aside * over) - tiles_apart;
        z = y = x = 0;
        if (column < 0 || column >= across || line < 0 || line >= down || plane < 0 || plane >= deep) return 0;
        const word ball = c_.largest[((image_ * deep + plane) * down + line) * across + column];
        const int cell = static_cast<int>(ball & 2047), other2 = static_cast<int>(ball >> 11);
        x = column * tile::width + cell % tile::width - x_;
        y = line * tile::height + cell / tile::width % tile::height - y_;
        z = plane * tile::depth + cell / (tile::width * tile::height) - z_;
        const std::int64_t apart = (static_cast<std::int64_t>(z) * c_.g.size[1] + y) * c_.g.size[2] + x;
        return other2 > r2_ || (other2 == r2_ && apart < 0) ? other2 : 0;
    }

    /// Leaves out what far balls cover of row b of slice s. As in row_of() balls that do not cover the row's middle are
    /// ignored.
    __device__ leftover beside_far(leftover left, int axis, int s, int b) const {
        if (left.left > left.half && left.right > left.half) return left;
        int before = left.left - 1, behind = left.right - 1;
        for (int n = 0; n < m_.far_count; ++n) {
            const std::int32_t(&at)[3] = m_.far[n].place;
            const int apart = s - pick(axis, at[0], at[1], at[2]),
                      over = b - pick(middle_axis(axis), at[0], at[1], at[2]),
                      along = pick(row_axis(axis), at[0], at[1], at[2]);
            const int rest = m_.far[n].r2 - 1 - apart * apart - over * over, g = rest < 0 ? -1 : floor_root(rest);
            if (g >= abs(along)) before = most(before, g - along), behind = most(behind, g + along);
        }
        return {left.half, least(before, left.half) + 1, least(behind, left.half) + 1};
    }

    const tiles_call& c_;
    queue_memory& m_;
    std::int64_t cell_, image_;
    std::int32_t r2_;
    int z_, y_, x_;
};

/// Calls body(k) for the entries of a queue, each in one warp. `queued` holds their number and the number taken.
template <class Body>
__device__ void take_each(unsigned* queued, unsigned capacity, const Body& body) {
    const unsigned count = least(queued[0], capacity);
    while (true) {
        unsigned k = 0;
        if (threadIdx.x % warp == 0) k = atomicAdd(queued + 1, 1U);
        k = __shfl_sync(every_lane, k, 0);
        if (k >= count) return;
        body(k);
        __syncwarp();
    }
}

/// A warp takes a ball from the queue; its lanes paint its rows.
template <int Axes>
__global__ void __launch_bounds__(tile_threads) paint_balls(const tiles_call call) {
    __shared__ queue_memory memory[tile_warps];
    take_each(call.queued, call.capacity, [&](unsigned k) {
        large_ball<Axes>(call, static_cast<std::int64_t>(call.balls[k]), memory[threadIdx.x / warp]).paint();
    });
}
/// A warp takes a few slices of a very large ball from the queue.
template <int Axes>
__global__ void __launch_bounds__(tile_threads) paint_slices_of_balls(const tiles_call call) {
    __shared__ queue_memory memory[tile_warps];
    take_each(call.queued + 2, call.capacity, [&](unsigned k) {
        const word entry = call.slices[k];
        large_ball<Axes>(call, static_cast<std::int64_t>(entry >> 24), memory[threadIdx.x / warp])
            .paint(static_cast<int>(entry >> 17 & 3), static_cast<int>(entry & 0x1ffff) - slice_record::shift,
                   static_cast<int>(entry >> 19 & 31) + 1);
    });
}

}  // namespace nearfield::thickness
