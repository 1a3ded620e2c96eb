// The search along a line under any rules: half cells, periodic axes, weights, a limit.
//
// First every cell looks outward up to 32 rows (search_window), from nearest to farthest over those rows only that have a
// value, found in a bit mask: sparse and dense lines are cheap alike. With a limit of so few rows that is all. Else groups of 32
// columns in which some cell has not settled are searched again by halving, as in cuda_long.cuh. Terms are strictly convex in
// the distance, so winners of later rows never lie before those of earlier ones; along a periodic axis that holds on the
// line that repeats without end, where the winner of row q is within half a period of q. Winners are kept relative to q.
#pragma once

#include "exact/cuda_long.cuh"
#include "exact/cuda_options_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int window_reach = 32;
// Values of a block's rows and of the window on either side stay in shared memory: 41 KB with 8 bands of 32 rows of int32,
// 49 KB with 4 of 64 bits.
template <class V>
constexpr int window_bands = sizeof(V) == 4 ? 8 : 4;
template <class V>
constexpr int window_threads = window_bands<V>* cuda::warp;

struct window {
    int radius = window_reach;  ///< at most window_reach, and not farther than a row can be
    bool final = false;         ///< rows beyond the radius do not matter

    template <class V>
    [[nodiscard]] static std::size_t shared_bytes(int radius) {
        const int rows = window_bands<V> * mark_bits + 2 * radius;
        return static_cast<std::size_t>(cuda::warp) *
               (static_cast<std::size_t>(rows) * sizeof(V) + (window_bands<V> + 2) * sizeof(std::uint32_t));
    }
};

/// The rows around a block of rows: their values, and a bit for each that has one. A lane keeps to its own column.
template <class V>
struct window_memory {
    V* value;             ///< from `radius` rows before the block on
    std::uint32_t* mask;  ///< of 32 rows each, from 32 before the block on

    __device__ window_memory(std::byte* shared, int radius)
        : value(reinterpret_cast<V*>(shared) + threadIdx.x),
          mask(reinterpret_cast<std::uint32_t*>(reinterpret_cast<V*>(shared) +
                                                (window_bands<V> * mark_bits + 2 * radius) * cuda::warp) +
               threadIdx.x) {}

    template <class Line>
    __device__ void fill(const Line& line, std::int64_t first, int radius) {
        for (int word = threadIdx.y; word < window_bands<V> + 2; word += window_bands<V>) {
            std::uint32_t mine = 0;
#pragma unroll 8
            for (int b = 0; b < mark_bits; ++b) {
                const int from_first = (word - 1) * mark_bits + b;
                if (from_first < -radius || from_first >= window_bands<V> * mark_bits + radius) continue;
                const std::int64_t row = first + from_first;
                if (!line.has(row)) continue;
                const V v = line.value(line.load(row), row);
                value[(from_first + radius) * cuda::warp] = v;
                mine |= static_cast<std::uint32_t>(v < no_site<V>()) << b;
            }
            mask[word * cuda::warp] = mine;
        }
    }
};

/// Best row of the window for row `i` of band `band`, nearest first. `apart` is then the distance up to which it is known.
template <bool Keyed, class V, class K, class Line>
__device__ found<V, K> search_masks(const window_memory<V>& memory, const Line& line, std::int64_t first, int i,
                                    int radius, V least) {
    const int band = threadIdx.y;
    const std::uint64_t before = memory.mask[band * cuda::warp], here = memory.mask[(band + 1) * cuda::warp],
                        after = memory.mask[(band + 2) * cuda::warp];
    // Bit 63 is the row itself, lower ones are rows before it; bit 0 is the row after it.
    std::uint64_t up = (here << mark_bits | before) << (31 - i) & ~std::uint64_t{0} << (63 - radius);
    std::uint64_t down = ((after << mark_bits | here) >> i >> 1) & ((std::uint64_t{1} << radius) - 1);
    const int at = band * mark_bits + i;
    found<V, K> best{no_site<V>(), no_key<K>, 0};
    bool keyed = false;
    const auto offer = [&](int from_first, V extra) {
        const V value = memory.value[(from_first + radius) * cuda::warp] + extra;
        const std::int64_t row = first + from_first;
        if (value < best.value) {
            best.value = value, best.row = static_cast<steps<V>>(row), keyed = false;
        } else if (Keyed && value == best.value && value < no_site<V>()) {
            if (!keyed) best.key = line.key(line.load(best.row), best.row), keyed = true;
            const K key = line.key(line.load(row), row);
            if (key < best.key) best.key = key, best.row = static_cast<steps<V>>(row);
        }
    };
    while ((up | down) != 0) {
        const int to_up = up != 0 ? __clzll(static_cast<long long>(up)) : 64;
        const int to_down = down != 0 ? __ffsll(static_cast<long long>(down)) : 64;
        const int apart = min(to_up, to_down);
        const V extra = line.term(apart);
        if (settled<Keyed>(best.value, static_cast<V>(extra + least))) break;
        if (to_up == apart) offer(at - apart, extra), up &= ~(std::uint64_t{1} << (63 - apart));
        if (to_down == apart) offer(at + apart, extra), down &= down - 1;
    }
    if (Keyed && !keyed && best.value < no_site<V>()) best.key = line.key(line.load(best.row), best.row);
    return best;
}

/// A block 32 columns of some bands of 32 rows, a warp a band.
template <class V, class K, bool Keyed>
__global__ void __launch_bounds__(window_threads<V>)
    search_window(const pass g, const rules<V> by, const window how, const state_of<V, K, Keyed>* from,
                  state_of<V, K, Keyed>* to, std::uint8_t* hard) {
    extern __shared__ std::byte shared_window[];
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    // Searched again as a whole, so that nothing is lost. All threads must agree, since a neighbour may be setting it now.
    if (!how.final && __syncthreads_or(hard[group])) return;
    const std::int64_t mine = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    // Lanes beyond the last column repeat it and write nothing.
    const any_line<V, K, Keyed> line(by, g, from, mine < g.columns ? mine : g.columns - 1);
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x / groups) * (window_bands<V> * mark_bits);
    window_memory<V> memory(shared_window, how.radius);
    memory.fill(line, first, how.radius);
    __syncthreads();
    const V least = by.least();
    for (int i = 0; i < mark_bits; ++i) {
        const std::int64_t q = first + threadIdx.y * mark_bits + i;
        if (q >= g.rows) return;
        const found<V, K> best = search_masks<Keyed, V, K>(memory, line, first, i, how.radius, least);
        if (!how.final) {
            const std::int64_t beyond = how.radius + 1;
            const bool more = q - line.lowest(q) >= beyond || line.highest(q) - q >= beyond;
            const bool open = more && !settled<Keyed>(best.value, static_cast<V>(line.term(beyond) + least));
            if (__any_sync(cuda::every_lane, open)) {
                if (threadIdx.x == 0) hard[group] = 1;
                return;
            }
        }
        if (mine < g.columns) to[line.cell(q)] = state_for<V, K, Keyed>(by, best.value, best.key);
    }
}

/// Nearest row within [first, last], the closest looked at first. The calling warp takes every `Together`-th, from `share` on.
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

/// Rows that can win for `row`, by what is known of its neighbours. The same for all lanes, so that loads stay coalesced.
template <class V, class Line>
__device__ void bounds_for(const pass& g, const rules<V>& by, const Line& line, const queries& wanted,
                           const std::int32_t* winners, std::int64_t row, std::int64_t& first, std::int64_t& last) {
    first = line.lowest(row), last = line.highest(row);
    if (wanted.step == 0 || !by.winners_ordered(g)) return;
    const std::int64_t above = max(row - wanted.step, std::int64_t{0}), below = min(row + wanted.step, g.rows - 1);
    const std::int32_t first_at = least_of_warp(winners[line.cell(above)]);
    const std::int32_t last_at = -least_of_warp(-winners[line.cell(below)]);
    first = max(first, above + first_at);
    last = min(last, below + last_at);
}

/// The queried rows of the hard groups. `Together` warps share a row: many while rows are few. One function, because what
/// the warps of a row have in common (its bounds, the barrier, the line) spans all of it.
template <class V, class K, bool Keyed, int Together>
__global__ void __launch_bounds__(long_threads)
    search_halves(const pass g, const rules<V> by, const state_of<V, K, Keyed>* from, state_of<V, K, Keyed>* to,
                  const std::uint8_t* hard, const queries wanted, std::int32_t* winners) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    if (!hard[group]) return;
    const int share = threadIdx.y % Together;
    const std::int64_t nth =
        static_cast<std::int64_t>(blockIdx.x / groups) * (long_warps / Together) + threadIdx.y / Together;
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
}

}  // namespace
}  // namespace nearfield::exact
