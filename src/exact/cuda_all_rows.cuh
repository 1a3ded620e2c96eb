// What steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave of very short lines: every row is offered to all, by
// the block that has the tile. A kernel of its own for the few that need it would be a launch for all. 64^3 within a
// CUDA graph, H100, 2026-11-21: at 0.01 % 24.5 to 14.2 us, at 10 % 12.2 to 10.4.
#pragma once

#include "exact/cuda_common.cuh"

namespace nearfield::exact {
namespace {

constexpr int all_rows = 2 * cuda::warp;  // of a line, at most

/// Whether tiles finish all that they begin.
template <int Pairs, class V>
inline constexpr bool offers_all_rows = Pairs == cuda::warp && std::is_same_v<V, std::int32_t>;

/// A warp some rows of 32 lines. `load(row)` is a value of the lane's line; `values` has room for all of them.
template <int Warps, class Target, class Load>
__device__ void offer_all_rows(std::uint32_t* values, int rows, const Target& target, const Load& load) {
    constexpr int share = all_rows / Warps;
    constexpr std::uint32_t bias = share * share;  // i^2 comes last, and what is without it may be negative
    constexpr auto none = static_cast<std::uint32_t>(no_site<std::int32_t>());
    static_assert(none + all_rows * all_rows + bias > none, "no site and the farthest row fit 32 bits");
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int row = warp; row < rows; row += Warps) values[row * cuda::warp + lane] = load(row);
    __syncthreads();
    const int top = warp * share;
    if (lane >= target.lines || top >= rows) return;
    std::uint32_t best[share];
    for (std::uint32_t& one : best) one = 0xffffffffu;
#pragma unroll 4
    for (int row = 0; row < rows; ++row) {
        // value + (e + i)^2 of row i, without the i^2 that is alike for all that it is offered.
        const int e = top - row;
        const std::uint32_t first = values[row * cuda::warp + lane] + static_cast<std::uint32_t>(e * e) + bias;
#pragma unroll
        for (int i = 0; i < share; ++i) best[i] = min(best[i], first + static_cast<std::uint32_t>(2 * e * i));
    }
#pragma unroll
    for (int i = 0; i < share; ++i)
        if (top + i < rows) target.put(top + i, static_cast<std::int32_t>(min(best[i] + i * i - bias, none)));
}

}  // namespace
}  // namespace nearfield::exact
