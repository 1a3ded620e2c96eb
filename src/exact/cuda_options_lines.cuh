// Lines of a filled tile (cuda_options_tile.cuh), step by step, in a warp's registers.
#pragma once

#include "exact/cuda_options_tile.cuh"

namespace nearfield::exact {
namespace {

/// Rows of the calling lane that its tile owes its lines: bits 0 and 16 of the first word and on.
struct counted_rows {
    std::uint32_t rows = 0, halves = 0;  ///< bit by bit; and all bits of the halves that have any
    bool whole;                          ///< in no lane a half has some of its rows only
    bool flagged;                        ///< see step_place

    __device__ counted_rows(const step_place& place, int lane_rows) : flagged(place.flagged) {
        const int first = static_cast<int>(threadIdx.x) % cuda::warp * lane_rows;
        bool all = true;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const int row = first + half * cuda::warp * lane_rows;
            const int a = min(max(place.from - row, 0), lane_rows), b = min(max(place.end - row, 0), lane_rows);
            rows |= (~0u << a & ~(~0u << b)) << 16 * half;
            if (b > a) halves |= 0xffffu << 16 * half;
            all = all && (b <= a || b - a == lane_rows);
        }
        whole = __all_sync(cuda::every_lane, all);
    }
};

/// A line in a warp's registers: lane l holds rows [l * n, l * n + n) in the low halves of n words, the rows `half`
/// further on in the high ones.
template <int LaneRows, bool Quick>
class line_in_lanes {
public:
    __device__ line_in_lanes(const step_tile<LaneRows>& t, int column, const step_pass& g)
        : lane_(static_cast<int>(threadIdx.x) % cuda::warp),
          select_up_(lane_ != 0 ? 0x3210
                     : g.cyclic ? 0x1032
                                : 0x1054),
          select_down_(lane_ != cuda::warp - 1 ? 0x3210
                       : g.cyclic              ? 0x1032
                                               : 0x5432),
          none_(twice(static_cast<std::uint32_t>(g.end<Quick>()))) {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) v_[i] = t.of_lane(lane_, column)[i * t.pitch];
    }

    /// The first step, where words may have flags, which go: flagged rows get at most `added`.
    __device__ void first_step(std::uint32_t added) {
        const std::uint32_t up = __shfl_sync(cuda::every_lane, v_[LaneRows - 1], (lane_ + 31) % cuda::warp);
        const std::uint32_t down = __shfl_sync(cuda::every_lane, v_[0], (lane_ + 1) % cuda::warp);
        const std::uint32_t below = sum(__byte_perm(down, none_, select_down_) & no_flags, added);
        std::uint32_t above = sum(__byte_perm(up, none_, select_up_) & no_flags, added);
        std::uint32_t own = v_[0] & no_flags, here = sum(own, added);
        const std::uint32_t lowered = 0x7fff - (added & 0xffff);
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) {
            const std::uint32_t after = v_[(i + 1) % LaneRows] & no_flags;
            const std::uint32_t next = i + 1 < LaneRows ? sum(after, added) : below;
            const std::uint32_t limit = no_flags - (v_[i] >> 15 & twice(1)) * lowered;
            v_[i] = __vminu2(__vimin3_u16x2(own, above, next), limit);
            above = here, here = next, own = after;
        }
    }

    /// `added` to either neighbour's value, in both halves; sums stay below 2^16. In half precision, sums of 2048 and
    /// more may be rounded, but stay that large.
    __device__ void step(std::uint32_t added) {
        const std::uint32_t up = __shfl_sync(cuda::every_lane, v_[LaneRows - 1], (lane_ + 31) % cuda::warp);
        const std::uint32_t down = __shfl_sync(cuda::every_lane, v_[0], (lane_ + 1) % cuda::warp);
        const std::uint32_t below = sum(__byte_perm(down, none_, select_down_), added);
        std::uint32_t above = sum(__byte_perm(up, none_, select_up_), added);
        std::uint32_t here = sum(v_[0], added);
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) {
            const std::uint32_t next = i + 1 < LaneRows ? sum(v_[(i + 1) % LaneRows], added) : below;
            v_[i] = __vimin3_u16x2(v_[i], above, next);
            above = here, here = next;
        }
    }

    /// Without flags, where there is no first step.
    __device__ void drop_flags() {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) v_[i] &= no_flags;
    }

    /// Largest value of the lane's rows of `counted`.
    [[nodiscard]] __device__ int largest(const counted_rows& counted) const {
        std::uint32_t most = 0;
        if (counted.whole) {
#pragma unroll
            for (int i = 0; i < LaneRows; ++i) most = __vmaxu2(most, v_[i]);
            most &= counted.halves;
        } else {
#pragma unroll
            for (int i = 0; i < LaneRows; ++i) most = __vmaxu2(most, v_[i] & (counted.rows >> i & twice(1)) * 0xffff);
        }
        return static_cast<int>(max(most & 0xffff, most >> 16));
    }

    /// Values only fall: as long as their sum stays, nothing has changed.
    [[nodiscard]] __device__ std::uint32_t total() const {
        std::uint32_t total = 0;
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) total = __dp2a_lo(v_[i], 0x0101u, total);
        return total;
    }

    __device__ void put(const step_tile<LaneRows>& t, int column) const {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) t.of_lane(lane_, column)[i * t.pitch] = __vminu2(v_[i], none_);
    }

private:
    __device__ static std::uint32_t sum(std::uint32_t a, std::uint32_t b) {
        return Quick ? sum_of_halves(a, b) : a + b;
    }

    int lane_, select_up_, select_down_;
    static constexpr std::uint32_t no_flags = twice(0x7fff);
    std::uint32_t none_;
    std::uint32_t v_[LaneRows];
};

constexpr int first_looks = 3, steps_a_look = 4;

/// One line by one warp; the largest value of the rows of `counted`. The quick way gives a line up that has too many
/// large ones.
template <int LaneRows, bool Quick>
__device__ int step_line(const step_tile<LaneRows>& t, int column, const step_pass& g, const counted_rows& counted) {
    line_in_lanes<LaneRows, Quick> line(t, column, g);
    const auto weight = static_cast<std::uint32_t>(g.weight);
    const int end = g.end<Quick>(), most_steps = Quick ? g.quick_steps : g.most_steps;
    std::uint32_t added = twice(weight);
    const std::uint32_t more = twice((g.half_cell ? 8 : 2) * weight);
    int k = 0, most = end, cost = 0;  // `cost` of k cells
    if (most_steps > 0) {
        if (counted.flagged) line.first_step(added);
        else line.step(added);
        added = twice((g.half_cell ? 8 : 3) * weight), k = 1, cost = g.weight;
    } else if (counted.flagged) {
        line.drop_flags();
    }
    std::uint32_t total = ~0u;
    for (int steps = min(first_looks, most_steps) - k;;) {
        k += max(steps, 0);
#pragma unroll 2
        for (; steps > 0; --steps, added += more) {
            line.step(added);
            cost += static_cast<int>(added & 0xffff);
        }
        const int mine = line.largest(counted);
        most = static_cast<int>(__reduce_max_sync(cuda::every_lane, static_cast<unsigned>(mine)));
        // What is farther than k cells costs `next` or more.
        int by = static_cast<int>(added & 0xffff), next = k == 0 ? g.weight : cost + by;
        if (k == most_steps || most <= next) break;
        if (Quick && g.quick_may_fail()) {
            if (k > patient_steps && __popc(__ballot_sync(cuda::every_lane, mine >= end)) >= patient_lanes) break;
        } else if (most >= end) {
            // What is saturated may stay so: a step that changes nothing is followed by such steps only, since they
            // cost more.
            const std::uint32_t now = line.total();
            if (!__any_sync(cuda::every_lane, now != total)) break;
            total = now;
        }
        steps = 1;
#pragma unroll
        for (int i = 1; i < steps_a_look; ++i) {
            by += static_cast<int>(more & 0xffff), next += by;
            steps += k + i < most_steps && next < most ? 1 : 0;
        }
    }
    line.put(t, column);
    return most;
}

/// All lines of a filled tile; the largest value that is owed of those that the calling warp had.
template <bool Quick, int LaneRows>
__device__ int step_lines(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place) {
    const counted_rows counted(place, LaneRows);
    int most = 0;
    for (int column = static_cast<int>(threadIdx.x) / cuda::warp; column < place.columns(g);
         column += step_warps<LaneRows>)
        most = max(most, step_line<LaneRows, Quick>(t, column, g, counted));
    return most;
}

}  // namespace
}  // namespace nearfield::exact
