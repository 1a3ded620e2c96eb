// Lines of any length in any numbers, searched in device memory.
//
// First every cell looks outward a few rows (search_near), which settles dense images. Groups of 32 columns in which
// some cell did not settle are searched again by halving: the first and the last row of every column, then the middle
// row, then the middles of the halves, each within the winners of its two known neighbours. A warp looks at the rows
// that any of its columns needs, so that its loads stay coalesced.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int long_warps = 8;
constexpr int long_threads = long_warps * cuda::warp;
// Rows that search_near looks at to either side, and how often it asks whether that can still succeed. Where hulls
// follow, they cost as much as looking about 12 rows far (4096^2, 1 % sites, H200, 2026-11-21: 0.48 ms with 40 rows
// and no hulls needed); random sites of 5 % and more settle within that. Halving costs more.
template <class V>
constexpr int near_reach = std::is_same_v<V, std::int32_t> ? 12 : 40;
constexpr int near_check = 8;
// Rows to either side that the halving loads before it asks whether it is done: enough loads in flight to hide latency.
constexpr int batch_rows = 4;

template <class V, class K>
struct found {
    V value;
    K key;
    steps<V> row;

    __device__ void offer(V v, K k, steps<V> r) {
        if (nearer(v, k, value, key)) value = v, key = k, row = r;
    }
};

__device__ inline std::int32_t least_of_warp(std::int32_t x) { return __reduce_min_sync(cuda::every_lane, x); }
__device__ inline std::int32_t greatest_of_warp(std::int32_t x) { return __reduce_max_sync(cuda::every_lane, x); }

/// No row whose distance adds `extra` or more can change the winner. Equal values are still open when keys decide them.
template <bool Keyed, class V>
__device__ bool settled(V value, V extra) {
    return Keyed ? value < extra : value <= extra;
}

/// A thread a cell; a warp 32 neighbouring columns of one row, so that each row it looks at is one or two cache lines.
template <class V, class K, bool Keyed, int Done, bool Last>
__global__ void __launch_bounds__(long_threads)
    search_near(const pass g, const metric<V> m, const state_of<V, K, Keyed>* cells, const sink<V, K, Keyed, Last> to,
                std::uint8_t* hard) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    const std::int64_t column = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x / groups) * long_warps + threadIdx.y;
    // A group that is hard already will be searched again as a whole. A stale 0 only costs time.
    if (column >= g.columns || nth >= g.rows || hard[group]) return;
    const auto q = static_cast<steps<V>>(nth), rows = static_cast<steps<V>>(g.rows);
    const line_reader<V, K, Keyed, Done> line(m, g, cells, column);
    // Farther than the line is long, squares may exceed the numbers.
    const steps<V> limit = min(steps<V>{near_reach<V>}, static_cast<steps<V>>(rows - 1));
    const V weight = m.weight[g.axis], reach = along(weight, limit);
    const auto own = line.load(q);
    found<V, K> best{line.value(own), line.key(own, q), q};
    steps<V> apart = 1;
    for (; apart <= limit; ++apart) {
        const V extra = along(weight, apart);
        if (settled<Keyed>(best.value, extra)) break;
        if (apart % near_check == 0 && best.value > reach) break;
        if (q >= apart) {
            const auto s = line.load(q - apart);
            best.offer(line.value(s) + extra, line.key(s, q - apart), q - apart);
        }
        if (apart < rows - q) {
            const auto s = line.load(q + apart);
            best.offer(line.value(s) + extra, line.key(s, q + apart), q + apart);
        }
    }
    // One lane writes: stores of millions of threads to a few bytes took longer than the search.
    const bool open = (q >= apart || apart < rows - q) && !settled<Keyed>(best.value, along(weight, apart));
    const unsigned lanes = __activemask(), open_lanes = __ballot_sync(lanes, open);
    if (open_lanes != 0 && static_cast<int>(threadIdx.x) == __ffs(static_cast<int>(open_lanes)) - 1) hard[group] = 1;
    to.put(m, g.first_cell(column) + q * g.inner, best.value, best.key);
}

/// Which rows a launch of the halving looks for: `first`, then every `every`-th; their known neighbours are `step`
/// away, or the ends of the line. With no step nothing is known yet.
struct queries {
    std::int64_t first = 0, every = 1, step = 0;
};

/// Nearest row within [first, last], the closest looked at first. The calling warp takes every `Together`-th, from
/// `share` on.
template <int Together, bool Keyed, class V, class K, class Line>
__device__ found<V, K> search_between(const Line& line, V weight, steps<V> q, steps<V> first, steps<V> last,
                                      int share) {
    const steps<V> start = q < first ? first : q > last ? last : q;
    const auto s = line.load(start);
    found<V, K> best{static_cast<V>(line.value(s) + along(weight, static_cast<steps<V>>(q - start))),
                     line.key(s, start), start};
    for (steps<V> apart = share == 0 ? Together : share;; apart += batch_rows * Together) {
        const bool above = apart <= start - first, below = apart <= last - start;
        if (!above && !below) return best;
        const V extra_up = along(weight, static_cast<steps<V>>(q - start + apart));
        const V extra_down = along(weight, static_cast<steps<V>>(start - q + apart));
        const V least = !above ? extra_down : !below ? extra_up : min(extra_up, extra_down);
        if (__all_sync(cuda::every_lane, settled<Keyed>(best.value, least))) return best;
        decltype(line.load(0)) states[2 * batch_rows];
        steps<V> rows[2 * batch_rows];
#pragma unroll
        for (int i = 0; i < batch_rows; ++i) {
            // Beyond an end the end is looked at again, which changes nothing.
            const steps<V> a = apart + i * Together;
            rows[2 * i] = a <= start - first ? start - a : first;
            rows[2 * i + 1] = a <= last - start ? start + a : last;
            states[2 * i] = line.load(rows[2 * i]);
            states[2 * i + 1] = line.load(rows[2 * i + 1]);
        }
#pragma unroll
        for (int i = 0; i < 2 * batch_rows; ++i)
            best.offer(line.value(states[i]) + along(weight, static_cast<steps<V>>(q - rows[i])),
                       line.key(states[i], rows[i]), rows[i]);
    }
}

/// The queried rows of the hard groups. `Together` warps share a row: many while rows are few. One function, because
/// what the warps of a row have in common (its bounds, the barrier, the reader) spans all of it.
template <class V, class K, bool Keyed, int Done, bool Last, int Together>
__global__ void __launch_bounds__(long_threads)
    search_by_halving(const pass g, const metric<V> m, const state_of<V, K, Keyed>* cells,
                      const sink<V, K, Keyed, Last> to, const std::uint8_t* hard, const queries wanted,
                      std::int32_t* winners) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    if (!hard[group]) return;
    const int share = threadIdx.y % Together;
    const std::int64_t nth =
        static_cast<std::int64_t>(blockIdx.x / groups) * (long_warps / Together) + threadIdx.y / Together;
    const std::int64_t row = wanted.first + wanted.every * nth;
    const bool within = row < g.rows;
    const std::int64_t mine = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    // Lanes beyond the last column repeat it and write nothing.
    const std::int64_t column = mine < g.columns ? mine : g.columns - 1;
    const std::int64_t first_cell = g.first_cell(column);
    found<V, K> best{no_site<V>(), no_key<K>, 0};
    if (within) {
        std::int64_t first = 0, last = g.rows - 1;
        if (g.rows_ordered && wanted.step > 0) {
            const std::int64_t above = max(row - wanted.step, std::int64_t{0}),
                               below = min(row + wanted.step, g.rows - 1);
            first = least_of_warp(winners[first_cell + above * g.inner]);
            last = greatest_of_warp(winners[first_cell + below * g.inner]);
        }
        const line_reader<V, K, Keyed, Done> line(m, g, cells, column);
        best = search_between<Together, Keyed, V, K>(line, m.weight[g.axis], static_cast<steps<V>>(row),
                                                     static_cast<steps<V>>(first), static_cast<steps<V>>(last), share);
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
    const std::int64_t cell = first_cell + row * g.inner;
    winners[cell] = static_cast<std::int32_t>(best.row);
    to.put(m, cell, best.value, best.key);
}

}  // namespace
}  // namespace nearfield::exact
