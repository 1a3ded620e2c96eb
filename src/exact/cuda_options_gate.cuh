// Work that is done only where a flag on the device says so, without a word from the host: a kernel behind a gate
// starts few blocks, which look at the flag and then share the work. (Started in full, the blocks of one call at
// 512^3 would be 300 thousand.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda.cuh"

namespace nearfield::exact {

struct gate {
    const std::int32_t* open = nullptr;  ///< zero: nothing is to be done; null: everything is
    std::int64_t blocks = 0;             ///< of work

    __device__ bool shut() const { return open != nullptr && *open == 0; }
};

/// Calls `body(block)` for the calling block's share of the work; all its threads take part.
template <class Body>
__device__ void each_block(const gate& when, const Body& body) {
    cuda::wait_for_kernel_before();
    if (when.shut()) return;
    for (std::int64_t block = blockIdx.x; block < when.blocks; block += gridDim.x) {
        body(block);
        if (when.blocks > gridDim.x) __syncthreads();
    }
}

// Eight for each multiprocessor of the largest GPUs.
inline constexpr std::int64_t gated_blocks = 8 * 132;

/// Launches `blocks` blocks of a kernel that begins with a gate, or behind a flag a few of them.
template <class Kernel, class... Arguments>
void launch_gated(const device& on, const std::int32_t* open, Kernel kernel, std::int64_t blocks, dim3 threads,
                  std::size_t shared_bytes, Arguments&&... arguments) {
    if (open == nullptr)
        return cuda::launch(on, kernel, blocks, threads, shared_bytes, gate{open, blocks}, arguments...);
    cuda::launch<cuda::order::overlapped>(on, kernel, std::min(blocks, gated_blocks), threads, shared_bytes,
                                          gate{open, blocks}, arguments...);
}

}  // namespace nearfield::exact
