// Lines of any length in any numbers, searched in device memory.
//
// First every cell looks outward a few rows (search_near), which settles dense images. Groups of 32 columns in which some
// cell did not settle are searched again by halving: the middle row of every column first, then the middles of the halves,
// each row within the winners of its two known neighbours. A warp looks at the rows that any of its columns needs, so that
// its loads stay coalesced.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int long_warps = 8;
// Rows that search_near looks at to either side. Random sites of 1 % density in 2D settle within 30 or so.
constexpr int near_reach = 40;

template <class V, class K>
struct found {
    V value;
    K key;
    std::int64_t row;

    __device__ void offer(V v, K k, std::int64_t r) {
        if (nearer(v, k, value, key)) value = v, key = k, row = r;
    }
};

__device__ inline std::int32_t least_of_warp(std::int32_t x) {
#if __CUDA_ARCH__ >= 800
    return __reduce_min_sync(cuda::every_lane, x);
#else
    for (int o = cuda::warp / 2; o > 0; o /= 2) x = min(x, __shfl_xor_sync(cuda::every_lane, x, o));
    return x;
#endif
}

/// A thread a cell; a warp 32 neighbouring columns of one row, so that each row it looks at is one or two cache lines.
template <class V, class K, bool Keyed, int Done, bool Last>
__global__ void __launch_bounds__(cuda::warp * long_warps)
    search_near(const pass g, const metric<V> m, const state_of<V, K, Keyed>* cells, const sink<V, K, Keyed, Last> to,
                std::uint8_t* hard) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    const std::int64_t column = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const std::int64_t q = static_cast<std::int64_t>(blockIdx.x / groups) * long_warps + threadIdx.y;
    if (column >= g.columns || q >= g.rows) return;
    const line_reader<V, K, Keyed, Done> line(m, g, cells, column);
    const V weight = m.weight[g.axis];
    const auto own = line.load(q);
    found<V, K> best{line.value(own), line.key(own, q), q};
    steps<V> apart = 1;
    for (; apart <= near_reach; ++apart) {
        const V extra = along(weight, apart);
        // Equal values are still open: the tie may be won by a smaller key.
        if (Keyed ? best.value < extra : best.value <= extra) break;
        if (q - apart >= 0) {
            const auto s = line.load(q - apart);
            best.offer(line.value(s) + extra, line.key(s, q - apart), q - apart);
        }
        if (q + apart < g.rows) {
            const auto s = line.load(q + apart);
            best.offer(line.value(s) + extra, line.key(s, q + apart), q + apart);
        }
    }
    if (apart > near_reach && (q - near_reach > 0 || q + near_reach < g.rows - 1)) hard[group] = 1;
    to.put(m, g.first_cell(column) + q * g.inner, best.value, best.key);
}

/// Rows step - 1, 3 * step - 1, ... of the hard groups. `Together` warps share a row: many while rows are few.
template <class V, class K, bool Keyed, int Done, bool Last, int Together>
__global__ void __launch_bounds__(cuda::warp * long_warps)
    search_by_halving(const pass g, const metric<V> m, const state_of<V, K, Keyed>* cells, const sink<V, K, Keyed, Last> to,
                      const std::uint8_t* hard, std::int64_t step, std::int32_t* winners) {
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t group = blockIdx.x % groups;
    if (!hard[group]) return;
    const int share = threadIdx.y % Together;
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x / groups) * (long_warps / Together) + threadIdx.y / Together;
    const std::int64_t q = step - 1 + 2 * step * nth;
    const std::int64_t mine = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    // Lanes beyond the last column repeat it and write nothing.
    const std::int64_t column = mine < g.columns ? mine : g.columns - 1;
    const std::int64_t first_cell = g.first_cell(column);
    const line_reader<V, K, Keyed, Done> line(m, g, cells, column);
    const V weight = m.weight[g.axis];
    found<V, K> best{no_site<V>(), no_key<K>, 0};
    if (q < g.rows) {
        std::int64_t first = 0, last = g.rows - 1;
        if (g.rows_ordered && q >= step)
            first = least_of_warp(winners[first_cell + (q - step) * g.inner]);
        if (g.rows_ordered && q + step < g.rows)
            last = -least_of_warp(-winners[first_cell + (q + step) * g.inner]);
        const std::int64_t start = q < first ? first : q > last ? last : q;
        {
            const auto s = line.load(start);
            best = {line.value(s) + along(weight, static_cast<steps<V>>(q - start)), line.key(s, start), start};
        }
        for (std::int64_t apart = share == 0 ? Together : share;; apart += Together) {
            const std::int64_t up = start - apart, down = start + apart;
            if (up < first && down > last) break;
            const V extra_up = along(weight, static_cast<steps<V>>(q - up));
            const V extra_down = along(weight, static_cast<steps<V>>(down - q));
            const V least = up < first ? extra_down : down > last ? extra_up : min(extra_up, extra_down);
            if (__all_sync(cuda::every_lane, Keyed ? best.value < least : best.value <= least)) break;
            if (up >= first) {
                const auto s = line.load(up);
                best.offer(line.value(s) + extra_up, line.key(s, up), up);
            }
            if (down <= last) {
                const auto s = line.load(down);
                best.offer(line.value(s) + extra_down, line.key(s, down), down);
            }
        }
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
    if (q >= g.rows || mine >= g.columns) return;
    const std::int64_t cell = first_cell + q * g.inner;
    winners[cell] = static_cast<std::int32_t>(best.row);
    to.put(m, cell, best.value, best.key);
}

}  // namespace
}  // namespace nearfield::exact
