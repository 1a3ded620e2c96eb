// Reductions over a warp for compute capability 7.5, where CUDA has none, under CUDA's names.
#pragma once

#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800

namespace nearfield::cuda {

/// Combines the values of all 32 lanes by shuffles, where later GPUs have one instruction.
template <class T, class Join>
__device__ T reduce(unsigned lanes, T value, Join join) {
    for (int step = 16; step > 0; step /= 2) value = join(value, __shfl_xor_sync(lanes, value, step));
    return value;
}

}  // namespace nearfield::cuda

__device__ inline unsigned __reduce_add_sync(unsigned lanes, unsigned value) {
    return nearfield::cuda::reduce(lanes, value, [](unsigned a, unsigned b) { return a + b; });
}
__device__ inline unsigned __reduce_or_sync(unsigned lanes, unsigned value) {
    return nearfield::cuda::reduce(lanes, value, [](unsigned a, unsigned b) { return a | b; });
}
__device__ inline unsigned __reduce_min_sync(unsigned lanes, unsigned value) {
    return nearfield::cuda::reduce(lanes, value, [](unsigned a, unsigned b) { return min(a, b); });
}
__device__ inline unsigned __reduce_max_sync(unsigned lanes, unsigned value) {
    return nearfield::cuda::reduce(lanes, value, [](unsigned a, unsigned b) { return max(a, b); });
}
__device__ inline int __reduce_add_sync(unsigned lanes, int value) {
    return nearfield::cuda::reduce(lanes, value, [](int a, int b) { return a + b; });
}
__device__ inline int __reduce_min_sync(unsigned lanes, int value) {
    return nearfield::cuda::reduce(lanes, value, [](int a, int b) { return min(a, b); });
}
__device__ inline int __reduce_max_sync(unsigned lanes, int value) {
    return nearfield::cuda::reduce(lanes, value, [](int a, int b) { return max(a, b); });
}

#endif
