// A running sum over a block.
#pragma once

#include "base/cuda.cuh"

namespace nearfield::labelling {

/// Sum over the block's threads before the calling one; `total` is that over all. `held` has room for a number of each
/// warp. Threads meet.
template <class Count>
__device__ Count sum_before(Count mine, Count* held, Count& total) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, w = static_cast<int>(threadIdx.x) / cuda::warp;
    Count upto = mine;
    for (int by = 1; by < cuda::warp; by *= 2) {
        const Count before = __shfl_up_sync(cuda::every_lane, upto, by);
        if (lane >= by) upto += before;
    }
    if (lane == cuda::warp - 1) held[w] = upto;
    __syncthreads();
    const int warps = static_cast<int>(blockDim.x) / cuda::warp;
    Count before = 0;
    total = 0;
    for (int i = 0; i < warps; ++i) {
        if (i == w) before = total;
        total += held[i];
    }
    __syncthreads();
    return before + upto - mine;
}

}  // namespace nearfield::labelling
