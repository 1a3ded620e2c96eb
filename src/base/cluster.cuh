// Clusters: blocks that run at the same time and can read each other's shared memory, of compute capability 9.0 or
// later. For kernels only: what a compiler for the host alone sees has none of it.
#pragma once

#include <cuda_runtime.h>

namespace nearfield::cuda {

/// Number of the block in its cluster.
__device__ inline unsigned rank_in_cluster() {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return __clusterRelativeBlockRank();
#else
    return 0;
#endif
}

/// What `mine` is in the shared memory of another block of the cluster.
template <class T>
__device__ T* shared_of(T* mine, unsigned rank) {
#if !defined(__CUDA_ARCH__) || __CUDA_ARCH__ >= 900
    return static_cast<T*>(__cluster_map_shared_rank(mine, rank));
#else
    return mine;
#endif
}

/// All threads of the cluster arrive; who waits then can read what all wrote before they arrived.
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
