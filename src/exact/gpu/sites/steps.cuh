// Searches in words by steps (site_words.cuh), in registers: a lane owns a line, a warp a strip of rows of 32 lines. A
// strip holds a few rows of its neighbours on either side, as many as steps are done before they are fetched again: at
// first each warp reads them from memory, later from the neighbouring warps. Images with many sites finish before
// that.
//
// Lines longer than a block's strips are searched in windows. Blocks overlap by a margin, which is searched but not
// written and which limits the steps that are exact.
#pragma once

#include "exact/gpu/sites/site_words.cuh"

namespace nearfield::exact {
namespace {

// Rows of a strip. With 32 rows the share of the halo doubles: 512^3 at 10 % takes 0.91 ms, with 64 rows 0.82.
// Small problems have too few warps for 64.
constexpr int long_strip = 64, small_strip = 16;
// 2, 3 and 4 rows: 512^3 took 0.747, 0.701 and 0.733 ms at 10 %, 0.638, 0.653 and 0.670 at 50 %, 0.932, 0.884 and 0.884
// at 1 % (H200, 2026-11-22): fewer rows repeat less work, but are fetched more often.
constexpr int strip_halo = 3;
template <int Rows>
using strip = std::uint32_t[Rows + 2 * strip_halo];
template <int Rows>
inline constexpr int strip_warps = Rows > small_strip ? 16 : 32;  // largest number of warps of a block
template <int Rows>
inline constexpr int strip_threads = strip_warps<Rows> * cuda::warp;
constexpr int least_margin = 28;  // fewest rows beside a window: with the strip's own, 31 steps
using strip_edges = std::uint32_t[2 * strip_halo * cuda::warp];  ///< rows of one warp, in shared memory
// Rounds of steps, 9 steps, after which a warp with at least this many lanes of capped values gives up.
constexpr int stop_after_rounds = 3, least_capped_columns = 12;

/// A block's rows of its lines: as many strips as it has warps; a window of them is written.
struct block_rows {
    int rows;              ///< rows of a line
    int start;             ///< first row of the first strip
    int own_from, own_to;  ///< rows that are written
    int steps;             ///< steps that are exact
    int strip_rows;

    __device__ block_rows(const windows& cut, int nth, int line_rows, int strip_rows)
        : rows(line_rows),
          own_from(nth * cut.rows),
          own_to(min(own_from + cut.rows, line_rows)),
          strip_rows(strip_rows) {
        const int span = static_cast<int>(blockDim.x) / cuda::warp * strip_rows;
        start = max(own_from - (span - cut.rows) / 2, 0);
        steps = most_steps;
        if (start > 0) steps = min(steps, own_from - start + strip_halo);
        if (start + span < rows) steps = min(steps, start + span - own_to + strip_halo);
    }
    /// Returns the first row of the calling warp's strip.
    __device__ int strip_start() const { return start + static_cast<int>(threadIdx.x) / cuda::warp * strip_rows; }
};

template <bool First, int Words>
__device__ void step(std::uint32_t (&v)[Words], std::uint32_t weight) {
    std::uint32_t above = near_cap, here = v[0] + weight;
#pragma unroll
    for (int i = 0; i < Words; ++i) {
        const std::uint32_t next = i + 1 < Words ? v[(i + 1) % Words] + weight : near_cap;
        v[i] = __vimin3_u32(v[i], above, First ? next + moved_back : next);
        above = here, here = next;
    }
}

/// Returns the same number, but prevents the compiler from precomputing sums with it outside the loop.
__device__ inline int here_and_now(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

/// Returns the largest word of the first `count` rows of a strip, the same in all lanes. A strip at a line's end is
/// read four rows at a time: row by row, 100x100x10000 took 0.84 instead of 0.67 ms, because the other strips wait for
/// it (H200, 2026-11-22).
template <int Rows>
__device__ std::uint32_t largest_word(const strip<Rows>& v, int count) {
    std::uint32_t most = 0;
    if (count >= Rows) {
#pragma unroll
        for (int i = 0; i < Rows; ++i) most = max(most, v[strip_halo + i]);
        return most;
    }
#pragma unroll
    for (int i = 0; i < Rows; i += 4) {
        const int four = min(4, Rows - i);
        if (i + four <= count) {
#pragma unroll
            for (int k = 0; k < four; ++k) most = max(most, v[strip_halo + i + k]);
        } else if (i < count) {
#pragma unroll
            for (int k = 0; k < four; ++k)
                if (i + k < count) most = max(most, v[strip_halo + i + k]);
        }
    }
    return most;
}
/// Returns the largest word of rows [from, to).
template <int Rows>
__device__ std::uint32_t largest_word(const strip<Rows>& v, int from, int to) {
    std::uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < Rows; ++i)
        if (i >= from && i < to) most = max(most, v[strip_halo + i]);
    return most;
}

/// Fetches the rows beside the strip from the warps that own them. `edges`: 2 * strip_halo rows per warp.
template <int Rows>
__device__ void exchange_edges(strip<Rows>& v, std::uint32_t* edges, int pitch) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp;
    std::uint32_t* const mine = edges + nth * pitch + lane;
#pragma unroll
    for (int i = 0; i < strip_halo; ++i) {
        mine[i * cuda::warp] = v[strip_halo + i];
        mine[(strip_halo + i) * cuda::warp] = v[Rows + i];
    }
    __syncthreads();
    const bool first = nth == 0, last = nth == static_cast<int>(blockDim.x) / cuda::warp - 1;
#pragma unroll
    for (int i = 0; i < strip_halo; ++i) {
        if (!first) v[i] = mine[(strip_halo + i) * cuda::warp - pitch];
        if (!last) v[strip_halo + Rows + i] = mine[i * cuda::warp + pitch];
    }
}

/// Turns filled strips into finished cells of the lanes that write; returns false, in all threads of the block, if
/// steps do not suffice. Values above `limit` are ignored. It is over 40 lines because the strip stays in registers.
///
/// A strip whose words are all final takes no further steps, and its neighbours may use its rows as those of any later
/// step. A strip with open rows in the margin only goes on as long as others do.
template <int Rows, class Target>
__device__ bool finish_strips(strip<Rows>& v, const block_rows& b, const Target& target, bool writes,
                              std::uint32_t* edges, int pitch, std::uint32_t beyond_steps = near_cap) {
    const int first_row = b.strip_start();
    const int from = max(b.own_from - first_row, 0), to = min(b.own_to - first_row, Rows);
    bool settled = false, written = from >= to;
    std::uint32_t weight = one_value + (Target::done == 1 ? one_y : 0);
    for (int k = 1, round = 0;; ++round) {
        // A strip that is not settled has done k - 1 steps: sites farther away cost k^2 or more.
        int steps = 1;
        if (!settled) {
            const std::uint32_t final = static_cast<std::uint32_t>(k * k) * one_value;
            const std::uint32_t mine = writes ? largest_word<Rows>(v, here_and_now(b.rows - first_row)) : 0;
            const std::uint32_t most = __reduce_max_sync(cuda::every_lane, mine);
            settled = most < final || k * k > target.to.limit;
            bool open = !settled && !written;
            if (open && (from > 0 || to < min(Rows, b.rows - first_row)))
                open = __any_sync(cuda::every_lane,
                                  writes && largest_word<Rows>(v, here_and_now(from), here_and_now(to)) >= final);
            if (!written && !open) {
                if (writes)
                    target.template put_words<Rows>(here_and_now(first_row), v + strip_halo, here_and_now(from), to);
                written = true;
            }
#pragma unroll
            for (int i = 1; i < strip_halo; ++i)
                steps += static_cast<std::uint32_t>((k + i) * (k + i)) * one_value <= most ? 1 : 0;
            if (round == stop_after_rounds && target.to.limit >= offset_reach * offset_reach) {
                const unsigned capped = __ballot_sync(cuda::every_lane, open && mine >= beyond_steps);
                steps = __popc(capped) >= least_capped_columns ? 0 : steps;
            }
        }
        if (round > 0) {
            if (!__syncthreads_or(!written)) return true;
            if (round == stop_after_rounds && __syncthreads_or(steps == 0)) return false;
            if ((round + 1) * strip_halo > b.steps) return false;
            exchange_edges<Rows>(v, edges, pitch);
        }
        if (settled) continue;
        if (k == 1) {
            step<true>(v, weight);
            ++k, --steps, weight += 2 * one_value;
        }
#pragma unroll 1
        for (; steps > 0; --steps, ++k, weight += 2 * one_value) step<false>(v, weight);
    }
}

}  // namespace
}  // namespace nearfield::exact
