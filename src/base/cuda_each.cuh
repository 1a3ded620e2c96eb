// A kernel for all work that a thread does for one number at a time.
#pragma once

#include "base/cuda.cuh"

namespace nearfield::cuda {

inline constexpr int each_threads = 256;

template <class Body>
__global__ void __launch_bounds__(each_threads) call_for_each(const __grid_constant__ Body body, std::int64_t count) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * each_threads + threadIdx.x;
    if (i < count) body(i);
}

/// Calls body(i) for each i below `count`, a thread each. All warps are whole if the count is a multiple of 32.
template <class Body>
void for_each(const device& on, std::int64_t count, const Body& body) {
    launch(on, call_for_each<Body>, blocks_for(count, each_threads), dim3(each_threads), 0, body, count);
}

}  // namespace nearfield::cuda
