// Work that is done only where a flag on the device says so, without a word from the host: a kernel behind a gate
// starts few blocks, which look at the flag and then share the work. (Started in full, the blocks of one call at
// 512^3 would be 300 thousand.)
//
// Before the first of them stands a kernel that waits for all before it. None begins until the one before has let its
// blocks go, and so none before the flag is set for good: where the gate is shut they all leave without waiting.
#pragma once

#include <algorithm>
#include <cstdint>

#include "base/cuda.cuh"

namespace nearfield::exact {

struct gate {
    const std::int32_t* open = nullptr;  ///< zero: nothing is to be done; null: everything is
    std::int64_t blocks = 0;             ///< of work

    /// For all threads of a block, of which one looks: a word that all look at holds them up.
    __device__ bool shut() const {
        if (open == nullptr) return false;
        const bool looks = threadIdx.x == 0 && threadIdx.y == 0;
        return __syncthreads_or(looks ? *static_cast<const volatile std::int32_t*>(open) : 0) == 0;
    }
};

/// Calls `body(block)` for the calling block's share of the work; all its threads take part.
template <class Body>
__device__ void each_block(const gate& when, const Body& body) {
    if (when.shut()) return;
    cuda::wait_for_kernel_before();
    for (std::int64_t block = blockIdx.x; block < when.blocks; block += gridDim.x) {
        body(block);
        if (when.blocks > gridDim.x) __syncthreads();
    }
}

namespace {
__global__ void __launch_bounds__(cuda::warp) reach_gate() { cuda::wait_for_kernel_before(); }
}  // namespace

/// To be called before launch_gated() where the flag may have been set by a kernel just before.
inline void close_in_on_gate(const device& on) {
    cuda::launch<cuda::order::overlapped>(on, reach_gate, 1, dim3(cuda::warp), 0);
}

// Eight for each multiprocessor of the largest GPUs.
inline constexpr std::int64_t gated_blocks = 8 * 132;

/// Launches `blocks` blocks of a kernel that begins with a gate, or behind a flag `few` of them.
template <class Kernel, class... Arguments>
void launch_gated_few(const device& on, const std::int32_t* open, std::int64_t few, Kernel kernel, std::int64_t blocks,
                      dim3 threads, std::size_t shared_bytes, Arguments&&... arguments) {
    if (open == nullptr)
        return cuda::launch(on, kernel, blocks, threads, shared_bytes, gate{open, blocks}, arguments...);
    cuda::launch<cuda::order::overlapped>(on, kernel, std::min(blocks, few), threads, shared_bytes, gate{open, blocks},
                                          arguments...);
}
template <class Kernel, class... Arguments>
void launch_gated(const device& on, const std::int32_t* open, Kernel kernel, std::int64_t blocks, dim3 threads,
                  std::size_t shared_bytes, Arguments&&... arguments) {
    launch_gated_few(on, open, gated_blocks, kernel, blocks, threads, shared_bytes, arguments...);
}

}  // namespace nearfield::exact
