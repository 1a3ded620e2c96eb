// Large balls on the fast device path: a warp takes a few slices of one from the queue.
//
// A centre with few earlier neighbours would paint much of its ball. The proof in core.hpp holds for any earlier
// centre, so the ball also leaves out what earlier centres up to five cells away cover.
#pragma once

#include "thickness/cuda_rows.cuh"

namespace nearfield::thickness {

/// The ball of an earlier centre that lies up to five cells away.
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

/// An entry of the queue. All lanes of a warp have the same one.
template <int Axes>
class slices_in_queue {
public:
    __device__ slices_in_queue(const tiles_call& call, word entry, queue_memory& memory)
        : c_(call),
          m_(memory),
          cell_(static_cast<std::int64_t>(entry >> 24)),
          axis_(static_cast<int>(entry >> 17 & 3)),
          first_(static_cast<int>(entry & 0x1ffff) - slice_record::shift),
          count_(static_cast<int>(entry >> 19 & 31) + 1),
          r2_(call.field[cell_]) {
        const std::int64_t line = cuda::quotient(cell_, c_.g.size[2]), plane = cuda::quotient(line, c_.g.size[1]);
        x_ = static_cast<int>(cell_ - line * c_.g.size[2]), y_ = static_cast<int>(line - plane * c_.g.size[1]);
        z_ = static_cast<int>(plane - cuda::quotient(plane, c_.g.size[0]) * c_.g.size[0]);
    }

    __device__ void paint() const {
        constexpr float worth = 256;  // fewer rows take less time than the search for far balls
        const int lane = static_cast<int>(threadIdx.x) % warp;
        if (lane < 27) m_.cover[lane] = cover_of_lane(lane / 9 - 1, lane / 3 % 3 - 1, lane % 3 - 1);
        if (lane == 0) m_.far_count = 0;
        __syncwarp();
        if (static_cast<float>(count_) * root_near(static_cast<float>(r2_)) >= worth) find();
        const turned<std::int32_t, true> unit{1, 1, 1};
        placed_slice mine;
        const int s = first_ + lane, row = pick(middle_axis(axis_), z_, y_, x_);
        int rows = 0;
        if (lane < count_) {
            mine.t = slice_at(m_.cover, r2_, unit, axis_, s);
            if (narrow(mine.t, unit, row, side(c_.g, middle_axis(axis_)) - 1 - row))
                rows = mine.t.below + mine.t.above + 1;
            mine.t.above = s, mine.r2 = r2_, mine.middle = cell_ + s * step_along(c_.g, axis_);
            mine.axis_and_before = axis_ + 4 * pick(row_axis(axis_), z_, y_, x_);
        }
        paint_slices(c_, m_.slices, mine, rows, [&](const placed_slice& p, int b) {
            const leftover left = row_of(p.t, unit, b, half_of(p.t, unit, b));
            return beside_far(left, p.t.above, b);
        });
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

    /// Finds in each octant the earlier centre whose ball leaves least of this one: that with the nearest cap. Lanes
    /// read one cell of each octant at a time.
    __device__ void find() const {
        constexpr int reach = 5, cells = Axes == 3 ? reach * reach * reach : reach * reach, octants = Axes == 3 ? 8 : 4;
        constexpr unsigned none = ~0U;
        const auto at = [](int octant, int i, int& z, int& y, int& x) {
            x = i % reach, y = i / reach % reach, z = i / (reach * reach);
            x = (octant & 1) != 0 ? ~x : x, y = (octant & 2) != 0 ? ~y : y, z = (octant & 4) != 0 ? ~z : z;
        };
        unsigned best[octants];
        for (unsigned& each : best) each = none;
        int z, y, x;
        for (int i = static_cast<int>(threadIdx.x) % warp; i < cells; i += warp)
#pragma unroll
            for (int octant = 0; octant < octants; ++octant) {
                at(octant, i, z, y, x);
                const int other2 = earlier(z, y, x), v2 = z * z + y * y + x * x;
                const float cap = static_cast<float>(v2 + r2_ - other2) / root_near(static_cast<float>(most(v2, 1)));
                const int key = least(most(static_cast<int>(64 * cap) + (1 << 23), 0), (1 << 24) - 1);
                const unsigned word = static_cast<unsigned>(key) << 7 | static_cast<unsigned>(i);
                best[octant] = other2 == 0 ? best[octant] : least(best[octant], word);
            }
        int count = 0;
#pragma unroll
        for (int octant = 0; octant < octants; ++octant) {
            for (int by = warp / 2; by > 0; by /= 2)
                best[octant] = least(best[octant], __shfl_xor_sync(every_lane, best[octant], by));
            if (best[octant] == none) continue;
            at(octant, static_cast<int>(best[octant] & 127), z, y, x);
            if (threadIdx.x % warp == 0) m_.far[count] = {{z, y, x}, earlier(z, y, x)};
            ++count;
        }
        if (threadIdx.x % warp == 0) m_.far_count = count;
        __syncwarp();
    }

    /// Leaves out what far balls cover of row b of slice s. As in row_of() balls that do not cover the row's middle are
    /// ignored.
    __device__ leftover beside_far(leftover left, int s, int b) const {
        if (left.left > left.half && left.right > left.half) return left;
        int before = left.left - 1, behind = left.right - 1;
        for (int n = 0; n < m_.far_count; ++n) {
            const std::int32_t(&at)[3] = m_.far[n].place;
            const int apart = s - pick(axis_, at[0], at[1], at[2]),
                      over = b - pick(middle_axis(axis_), at[0], at[1], at[2]),
                      along = pick(row_axis(axis_), at[0], at[1], at[2]);
            const int rest = m_.far[n].r2 - 1 - apart * apart - over * over, g = rest < 0 ? -1 : floor_root(rest);
            if (g >= abs(along)) before = most(before, g - along), behind = most(behind, g + along);
        }
        return {left.half, least(before, left.half) + 1, least(behind, left.half) + 1};
    }

    const tiles_call& c_;
    queue_memory& m_;
    std::int64_t cell_;
    int axis_, first_, count_;
    std::int32_t r2_;
    int z_, y_, x_;
};

/// A warp takes slices of a ball from the queue; its lanes paint their rows.
template <int Axes>
__global__ void __launch_bounds__(tile_threads) paint_queue(const tiles_call call) {
    __shared__ queue_memory memory[tile_warps];
    const unsigned count = least(call.queued[0], call.capacity);
    while (true) {
        unsigned k = 0;
        if (threadIdx.x % warp == 0) k = atomicAdd(call.queued + 1, 1U);
        k = __shfl_sync(every_lane, k, 0);
        if (k >= count) return;
        slices_in_queue<Axes>(call, call.queue[k], memory[threadIdx.x / warp]).paint();
        __syncwarp();
    }
}

}  // namespace nearfield::thickness
