// Clusters: blocks that run at the same time and can read each other's shared memory, from compute capability 9.0 on.
// For kernels only: a compiler that sees only host code finds none of these functions.
#pragma once

#include <cuda_runtime.h>

namespace nearfield::cuda {

/// Returns the block's number in its cluster.
__device__ inline unsigned rank_in_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return __clusterRelativeBlockRank();
#else
    return 0;
#endif
}

/// Maps an address in the own shared memory to the same place in another block of the cluster.
template <class T>
__device__ T* shared_of(T* mine, unsigned rank) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return static_cast<T*>(__cluster_map_shared_rank(mine, rank));
#else
    return mine;
#endif
}

/// Arrives at the cluster's barrier. Threads that wait for it then can read what all threads wrote before they arrived.
__device__ inline void arrive_in_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __cluster_barrier_arrive();
#endif
}
__device__ inline void wait_for_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    __cluster_barrier_wait();
#endif
}

}  // namespace nearfield::cuda
