// Slices with many rows on the fast device path: a warp takes one from the queue.
//
// A centre without an earlier neighbour would paint its whole ball. The proof in core.hpp holds for any earlier centre,
// so the ball leaves out what earlier centres up to five cells away cover.
#pragma once

#include "thickness/cuda_rows.cuh"

namespace nearfield::thickness {

/// The ball of an earlier centre that lies up to five cells away, cut by a slice. It covers the cells along - g ..
/// along + g of row b, where g is the root of rest - (b - middle)^2.
struct far_ball {
    int along, middle, rest;
};
/// Those that one slice leaves out: one for each octant.
struct far_balls {
    far_ball ball[8];
    int count;
};

/// Finds the uncovered cells of row b, which has `half` cells on both sides of its middle. As in row_of() balls that do
/// not cover the middle are ignored.
__device__ inline leftover row_beside(const far_balls& far, int b, int half) {
    int left = -1, right = -1;
    for (int n = 0; n < far.count; ++n) {
        const far_ball f = far.ball[n];
        const int rest = f.rest - (b - f.middle) * (b - f.middle), g = rest < 0 ? -1 : floor_root(rest);
        if (g >= abs(f.along)) left = most(left, g - f.along), right = most(right, g + f.along);
    }
    return {half, least(left + 1, half + 1), left < 0 ? 1 : least(right + 1, half + 1)};
}

/// An entry of the queue. All lanes of a warp have the same one.
template <int Axes>
class slice_in_queue {
public:
    __device__ slice_in_queue(const tiles_call& call, word entry)
        : c_(call),
          cell_(static_cast<std::int64_t>(entry >> 19)),
          axis_(static_cast<int>(entry >> 17 & 3)),
          s_(static_cast<int>(entry & 0x1ffff) - slice_record::shift),
          r2_(call.field[cell_]) {
        const std::int64_t line = cuda::quotient(cell_, c_.g.size[2]), plane = cuda::quotient(line, c_.g.size[1]);
        x_ = static_cast<int>(cell_ - line * c_.g.size[2]), y_ = static_cast<int>(line - plane * c_.g.size[1]);
        z_ = static_cast<int>(plane - cuda::quotient(plane, c_.g.size[0]) * c_.g.size[0]);
    }

    /// Paints the slice; `far` is the warp's.
    __device__ void paint(far_balls& far) const {
        const turned<std::int32_t, true> unit{1, 1, 1};
        placed_slice p{.middle = cell_ + s_ * step_along(c_.g, axis_), .r2 = r2_};
        const bool lone = !merge(p.t);
        p.axis_and_before = axis_ + 4 * pick(row_axis(axis_), z_, y_, x_);
        const int row = pick(middle_axis(axis_), z_, y_, x_);
        if (!narrow(p.t, unit, row, side(c_.g, middle_axis(axis_)) - 1 - row)) return;
        if (lone) find(far);
        const int lane = static_cast<int>(threadIdx.x) % warp;
        for (int base = 0 - p.t.below; base <= p.t.above; base += warp) {
            const int b = base + lane;
            leftover left;
            if (b <= p.t.above) {
                const int half = half_of(p.t, unit, b);
                left = lone ? row_beside(far, b, half) : row_of(p.t, unit, b, half);
            }
            paint_row_of(c_, p, b, left);
        }
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

    /// Merges the covers of the neighbours, a lane each; returns whether any comes earlier.
    __device__ bool merge(slice<std::int32_t>& t) const {
        const int lane = static_cast<int>(threadIdx.x) % warp;
        std::int32_t cover = never<std::int32_t>();
        if (lane < 27 && lane != 13) {
            const int a = lane % 3 - 1, b = lane / 3 % 3 - 1, c = lane / 9 - 1;
            const int other2 = axis_ == 0 ? earlier(c, b, a) : axis_ == 1 ? earlier(b, c, a) : earlier(b, a, c);
            if (other2 > 0) cover = other2 - r2_ - (a * a + b * b + c * c);
        }
        const std::int32_t next = __shfl_sync(every_lane, cover, (lane + 9) % warp),
                           after = __shfl_sync(every_lane, cover, (lane + 18) % warp);
        const std::int32_t merged = most(cover - 2 * s_, next, after + 2 * s_);
#pragma unroll
        for (int n = 0; n < 9; ++n) t.cover[n] = __shfl_sync(every_lane, merged, n);
        t.rest = r2_ - 1 - s_ * s_;
        return __any_sync(every_lane, cover > never<std::int32_t>() ? 1 : 0) != 0;
    }

    /// Finds in each octant the earlier centre whose ball leaves least of this one: that with the nearest cap.
    __device__ void find(far_balls& far) const {
        constexpr int reach = 5, cells = Axes == 3 ? reach * reach * reach : reach * reach;
        constexpr unsigned none = ~0U;
        int count = 0;
        for (int octant = 0; octant < (Axes == 3 ? 8 : 4); ++octant) {
            const auto at = [&](int i, int& z, int& y, int& x) {
                x = i % reach, y = i / reach % reach, z = i / (reach * reach);
                x = (octant & 1) != 0 ? ~x : x, y = (octant & 2) != 0 ? ~y : y, z = (octant & 4) != 0 ? ~z : z;
            };
            unsigned best = none;
            int z, y, x;
            for (int i = static_cast<int>(threadIdx.x) % warp; i < cells; i += warp) {
                at(i, z, y, x);
                const int other2 = earlier(z, y, x), v2 = z * z + y * y + x * x;
                if (other2 == 0) continue;
                const float cap = static_cast<float>(v2 + r2_ - other2) / root_near(static_cast<float>(v2));
                const int key = least(most(static_cast<int>(64 * cap) + (1 << 23), 0), (1 << 24) - 1);
                best = least(best, static_cast<unsigned>(key) << 7 | static_cast<unsigned>(i));
            }
            for (int by = warp / 2; by > 0; by /= 2) best = least(best, __shfl_xor_sync(every_lane, best, by));
            if (best == none) continue;
            at(static_cast<int>(best & 127), z, y, x);
            const int off = s_ - pick(axis_, z, y, x);
            const far_ball found{pick(row_axis(axis_), z, y, x), pick(middle_axis(axis_), z, y, x),
                                 earlier(z, y, x) - 1 - off * off};
            if (threadIdx.x % warp == 0) far.ball[count] = found;
            ++count;
        }
        if (threadIdx.x % warp == 0) far.count = count;
        __syncwarp();
    }

    const tiles_call& c_;
    std::int64_t cell_;
    int axis_, s_;
    std::int32_t r2_;
    int z_, y_, x_;
};

/// A warp takes a slice from the queue; its lanes paint the rows.
template <int Axes>
__global__ void __launch_bounds__(tile_threads) paint_queue(const tiles_call call) {
    __shared__ far_balls far[tile_warps];
    const unsigned count = least(call.queued[0], call.capacity);
    while (true) {
        unsigned k = 0;
        if (threadIdx.x % warp == 0) k = atomicAdd(call.queued + 1, 1U);
        k = __shfl_sync(every_lane, k, 0);
        if (k >= count) return;
        slice_in_queue<Axes>(call, call.queue[k]).paint(far[threadIdx.x / warp]);
        __syncwarp();
    }
}

}  // namespace nearfield::thickness
