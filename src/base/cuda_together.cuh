// Launches of kernels whose blocks all run at once, so that they may wait for each other.
#pragma once

#include "base/cuda.cuh"

namespace nearfield::cuda {

/// Returns whether the current device can launch such kernels.
inline bool blocks_may_wait() { return limits().blocks_may_wait; }

/// Returns how many blocks of a kernel the current device runs at once, which is the limit of launch_together().
template <class... Parameters>
std::int64_t blocks_at_once(void (*kernel)(Parameters...), int threads, std::size_t shared_bytes = 0) {
    int of_one = 0;
    if (rehearsing() != nullptr) return limits().multiprocessors;
    allow_shared(reinterpret_cast<const void*>(kernel), shared_bytes);
    check(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&of_one, reinterpret_cast<const void*>(kernel), threads,
                                                        shared_bytes),
          "asking how many blocks fit");
    return limits().multiprocessors * of_one;
}

template <class... Parameters, class... Arguments>
void launch_together(const device& on, void (*kernel)(Parameters...), const grid& of, Arguments&&... arguments) {
    if (rehearsing() != nullptr) return;
    allow_shared(reinterpret_cast<const void*>(kernel), of.shared_bytes);
    cudaLaunchAttribute together{};
    together.id = cudaLaunchAttributeCooperative;
    together.val.cooperative = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = dim3(checked_blocks(of.blocks));
    config.blockDim = of.threads;
    config.dynamicSmemBytes = of.shared_bytes;
    config.stream = stream_of(on);
    config.attrs = &together;
    config.numAttrs = 1;
    check(cudaLaunchKernelEx(&config, kernel, static_cast<Parameters>(arguments)...), "launching a kernel");
}

template <class... Parameters, class... Arguments>
void launch_together(const device& on, void (*kernel)(Parameters...), std::int64_t blocks, dim3 threads,
                     Arguments&&... arguments) {
    launch_together(on, kernel, grid{blocks, threads}, std::forward<Arguments>(arguments)...);
}

}  // namespace nearfield::cuda
