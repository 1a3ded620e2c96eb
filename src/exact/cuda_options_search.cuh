// The search along a line of any length under any rules: half cells, periodic axes, weights, a limit.
//
// First every cell looks outward (cuda_options_window.cuh). Groups of 32 columns in which some cell has not settled are
// searched again by halving, as in cuda_long.cuh. Terms are strictly convex in the distance, so winners of later rows
// never lie before those of earlier ones; along a periodic axis that holds on the line that repeats without end, where
// the winner of row q is within half a period of q. Winners are kept relative to q.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "base/cuda_together.cuh"
#include "exact/cuda_options_window.cuh"

namespace nearfield::exact {
namespace {

/// Nearest row within [first, last], the closest looked at first. The calling warp takes every `Together`-th, from
/// `share` on.
template <int Together, bool Keyed, class V, class K, class Line>
__device__ found<V, K> search_rows(const Line& line, V least, std::int64_t q, std::int64_t first, std::int64_t last,
                                   int share) {
    const std::int64_t start = q < first ? first : q > last ? last : q;
    const auto cost = [&](std::int64_t row) { return line.term(row < q ? q - row : row - q); };
    found<V, K> best{no_site<V>(), no_key<K>, static_cast<steps<V>>(start)};
    const auto offer = [&](auto state, std::int64_t row) {
        const V value = line.value(state, row);
        if (value < no_site<V>())
            best.offer(static_cast<V>(value + cost(row)), line.key(state, row), static_cast<steps<V>>(row));
    };
    offer(line.load(start), start);
    for (std::int64_t apart = share == 0 ? Together : share;; apart += batch_rows * Together) {
        const bool above = apart <= start - first, below = apart <= last - start;
        if (!above && !below) return best;
        const V extra_up = above ? cost(start - apart) : V{0}, extra_down = below ? cost(start + apart) : V{0};
        const V nearest = !above ? extra_down : !below ? extra_up : min(extra_up, extra_down);
        if (__all_sync(cuda::every_lane, settled<Keyed>(best.value, static_cast<V>(nearest + least)))) return best;
        decltype(line.load(0)) states[2 * batch_rows];
        std::int64_t rows[2 * batch_rows];
#pragma unroll
        for (int i = 0; i < batch_rows; ++i) {
            // Beyond an end the end is looked at again, which changes nothing.
            const std::int64_t a = apart + i * Together;
            rows[2 * i] = a <= start - first ? start - a : first;
            rows[2 * i + 1] = a <= last - start ? start + a : last;
            states[2 * i] = line.load(rows[2 * i]);
            states[2 * i + 1] = line.load(rows[2 * i + 1]);
        }
#pragma unroll
        for (int i = 0; i < 2 * batch_rows; ++i) offer(states[i], rows[i]);
    }
}

/// Rows that can win for `row`, by what is known of its neighbours. The same for all lanes, so that loads stay
/// coalesced.
template <class V, class Line>
__device__ void bounds_for(const pass& g, const rules<V>& by, const Line& line, const queries& wanted,
                           const std::int32_t* winners, std::int64_t row, std::int64_t& first, std::int64_t& last) {
    first = line.lowest(row), last = line.highest(row);
    if (wanted.step == 0 || !by.winners_ordered(g)) return;
    const std::int64_t above = max(row - wanted.step, std::int64_t{0}), below = min(row + wanted.step, g.rows - 1);
    const std::int32_t first_at = least_of_warp(winners[line.cell(above)]);
    const std::int32_t last_at = greatest_of_warp(winners[line.cell(below)]);
    first = max(first, above + first_at);
    last = min(last, below + last_at);
}

/// The queried rows of the hard groups. `Together` warps share a row: many while rows are few. One function, because
/// what the warps of a row have in common (its bounds, the barrier, the line) spans all of it.
template <class V, class K, bool Keyed, int Together>
__device__ void halve_rows(std::int64_t block, const pass& g, const rules<V>& by, const state_of<V, K, Keyed>* from,
                           state_of<V, K, Keyed>* to, const std::uint8_t* hard, const queries& wanted,
                           std::int32_t* winners) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = block % groups;
    if (!hard[group]) return;
    const int share = threadIdx.y % Together;
    const std::int64_t nth =
        static_cast<std::int64_t>(block / groups) * (long_warps / Together) + threadIdx.y / Together;
    const std::int64_t row = wanted.first + wanted.every * nth;
    const bool within = row < g.rows;
    const std::int64_t mine = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const any_line<V, K, Keyed> line(by, g, from, mine < g.columns ? mine : g.columns - 1);
    found<V, K> best{no_site<V>(), no_key<K>, 0};
    if (within) {
        std::int64_t first = 0, last = 0;
        bounds_for(g, by, line, wanted, winners, row, first, last);
        best = search_rows<Together, Keyed, V, K>(line, by.least(), row, first, last, share);
    }
    if constexpr (Together > 1) {
        __shared__ found<V, K> shares[long_warps][cuda::warp];
        shares[threadIdx.y][threadIdx.x] = best;
        __syncthreads();
        if (share != 0) return;
        for (int other = 1; other < Together; ++other) {
            const auto& theirs = shares[threadIdx.y + other][threadIdx.x];
            best.offer(theirs.value, theirs.key, theirs.row);
        }
    }
    if (!within || mine >= g.columns) return;
    winners[line.cell(row)] = static_cast<std::int32_t>(best.row - row);
    to[line.cell(row)] = state_for<V, K, Keyed>(by, best.value, best.key);
    if (by.next_values != nullptr) by.next_values[line.cell(row)] = best.value;
}

template <class V, class K, bool Keyed, int Together>
__global__ void __launch_bounds__(long_threads)
    search_halves(const gate when, const __grid_constant__ pass g, const __grid_constant__ rules<V> by,
                  const state_of<V, K, Keyed>* from, state_of<V, K, Keyed>* to, const std::uint8_t* hard,
                  const queries wanted, std::int32_t* winners) {
    each_block(when, [&](std::int64_t block) {
        halve_rows<V, K, Keyed, Together>(block, g, by, from, to, hard, wanted, winners);
    });
}

// While a level of the halving has no more rows than this, eight warps share each.
constexpr std::int64_t shared_rows = 16;

/// The levels of a line's halving: first its ends, which bound the first and last query of every level.
struct halving {
    std::int64_t rows, top = 1;

    NF_HD explicit halving(std::int64_t rows) : rows(rows) {
        while (2 * top < rows - 1) top *= 2;
    }
    /// Step of a level; 0 of the ends.
    [[nodiscard]] NF_HD std::int64_t step(int level) const { return level == 0 ? 0 : top >> (level - 1); }
    [[nodiscard]] NF_HD bool has(int level) const { return level == 0 || step(level) > 0; }
    [[nodiscard]] NF_HD std::int64_t count(int level) const {
        return level == 0 ? 2 : (rows - 1 + step(level) - 1) / (2 * step(level));
    }
    [[nodiscard]] NF_HD queries of(int level) const {
        return level == 0 ? queries{0, rows - 1, 0} : queries{step(level), 2 * step(level), step(level)};
    }
};

/// All levels, by blocks that run at once and wait for each other.
template <class V, class K, bool Keyed>
__global__ void __launch_bounds__(long_threads)
    halve_together(const gate when, const __grid_constant__ pass g, const __grid_constant__ rules<V> by,
                   const state_of<V, K, Keyed>* from, state_of<V, K, Keyed>* to, const std::uint8_t* hard,
                   std::int32_t* winners) {
    if (when.shut()) return;
    const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp;
    const halving levels(g.rows);
    for (int level = 0; levels.has(level); ++level) {
        const std::int64_t count = levels.count(level);
        const queries wanted = levels.of(level);
        const bool shared = count <= shared_rows;
        const std::int64_t blocks = groups * (shared ? count : (count + long_warps - 1) / long_warps);
        for (std::int64_t block = blockIdx.x; block < blocks; block += gridDim.x) {
            if (shared) halve_rows<V, K, Keyed, long_warps>(block, g, by, from, to, hard, wanted, winners);
            else halve_rows<V, K, Keyed, 1>(block, g, by, from, to, hard, wanted, winners);
            __syncthreads();
        }
        cooperative_groups::this_grid().sync();
    }
}

/// All rows of the hard groups.
template <class V, class K, bool Keyed>
void halve_all(const device& on, const pass& g, const rules<V>& by, const state_of<V, K, Keyed>* from,
               state_of<V, K, Keyed>* to, const std::uint8_t* hard, std::int32_t* winners, const std::int32_t* open) {
    const dim3 threads(cuda::warp, long_warps);
    const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp;
    // Behind a gate one launch that finds nothing to do instead of one a level, 14 at 8192^2.
    if (open != nullptr && cuda::blocks_may_wait()) {
        const auto kernel = halve_together<V, K, Keyed>;
        return cuda::launch_together(on, kernel, std::min(gated_blocks, cuda::blocks_at_once(kernel, long_threads)),
                                     threads, gate{open, 0}, g, by, from, to, hard, winners);
    }
    const halving levels(g.rows);
    for (int level = 0; levels.has(level); ++level) {
        const std::int64_t count = levels.count(level);
        const queries wanted = levels.of(level);
        if (count <= shared_rows)
            launch_gated(on, open, search_halves<V, K, Keyed, long_warps>, groups * count, threads, 0, g, by, from, to,
                         hard, wanted, winners);
        else
            launch_gated(on, open, search_halves<V, K, Keyed, 1>, groups * ((count + long_warps - 1) / long_warps),
                         threads, 0, g, by, from, to, hard, wanted, winners);
    }
}

}  // namespace
}  // namespace nearfield::exact
