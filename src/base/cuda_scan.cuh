// Prefix sums over a warp, over a block, and over a list of counts.
//
// CUB has these, too. But its headers take nvcc 13.0 six seconds of processor time in every file that includes them,
// which is more than most of these files take. So this file holds the few lines that are needed.
#pragma once

#include <limits>

#include "base/cuda.cuh"

namespace nearfield::cuda {

using word = unsigned long long;  // the type that CUDA's 64-bit atomics take

__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x) % warp; }
__device__ inline unsigned lanes_before() { return (1u << lane_of_thread()) - 1; }

/// Returns the sum over the warp's lanes before the calling one. All lanes must call it.
template <class Count>
__device__ Count sum_before_in_warp(Count mine) {
    const int lane = static_cast<int>(threadIdx.x) % warp;
    Count upto = mine;
    for (int by = 1; by < warp; by *= 2) {
        const Count before = __shfl_up_sync(every_lane, upto, by);
        if (lane >= by) upto += before;
    }
    return upto - mine;
}
/// Does the same; `all` becomes the sum over all lanes.
__device__ inline word warp_scan(word mine, word& all) {
    const word before = sum_before_in_warp(mine);
    all = __shfl_sync(every_lane, before + mine, warp - 1);
    return before;
}

/// Returns the sum over the block's threads before the calling one; `total` becomes the sum over all. `held` has room
/// for one number per warp. All threads must call it, since it synchronizes the block.
template <class Count>
__device__ Count sum_before(Count mine, Count* held, Count& total) {
    const int lane = static_cast<int>(threadIdx.x) % warp, w = static_cast<int>(threadIdx.x) / warp;
    const Count in_warp = sum_before_in_warp(mine);
    if (lane == warp - 1) held[w] = in_warp + mine;
    __syncthreads();
    const int warps = static_cast<int>(blockDim.x) / warp;
    Count before = 0;
    total = 0;
    for (int i = 0; i < warps; ++i) {
        if (i == w) before = total;
        total += held[i];
    }
    __syncthreads();
    return before + in_warp;
}

inline constexpr int sum_threads = 1024;

/// Replaces each of `count` counts by the sum of those before it; *total becomes the sum of all, at most `most`.
/// Runs in one block.
template <class Count, class Total>
__global__ void __launch_bounds__(sum_threads) sum_counts(Count* counts, std::int64_t count, Total* total, Count most) {
    __shared__ Count held[sum_threads / warp];
    Count done = 0;
    for (std::int64_t first = 0; first < count; first += sum_threads) {
        const std::int64_t i = first + threadIdx.x;
        Count here = 0;
        const Count before = sum_before(i < count ? counts[i] : Count{0}, held, here);
        if (i < count) counts[i] = done + before;
        done += here;
    }
    if (threadIdx.x == 0) *total = static_cast<Total>(done < most ? done : most);
}

/// Launches sum_counts() for some thousand counts: a single block sums them, so time grows with their number.
template <class Count, class Total>
void launch_sums(const device& on, Count* counts, std::int64_t count, Total* total,
                 Count most = std::numeric_limits<Count>::max()) {
    launch(on, sum_counts<Count, Total>, 1, dim3(sum_threads), 0, counts, count, total, most);
}

}  // namespace nearfield::cuda
