// Copies of arrays between host and device, and sums over a block.
#pragma once

#include <vector>

#include "base/cuda.cuh"
#include "metrics/core.hpp"

namespace nearfield::metrics {

inline constexpr int threads_of_block = 256;
using word = unsigned long long;

template <class T>
void copy_to(const device& on, T* to, const std::vector<T>& from) {
    cuda::send(on, to, from.data(), static_cast<std::int64_t>(from.size() * sizeof(T)));
}
/// Copies an array to the host and waits for it.
template <class T>
void copy_from(const device& on, std::vector<T>& to, const T* from) {
    cuda::fetch(on, to.data(), from, static_cast<std::int64_t>(to.size() * sizeof(T)));
}
using cuda::clear;

__device__ inline std::int64_t thread_of_grid() {
    return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
}
__device__ inline int lane_of_thread() { return static_cast<int>(threadIdx.x) % cuda::warp; }

/// Adds the sum over a block's threads to *to, with one atomic a warp.
__device__ inline void add_all(word* to, std::uint64_t mine) {
    for (int by = cuda::warp / 2; by > 0; by /= 2) mine += __shfl_down_sync(cuda::every_lane, mine, by);
    if (lane_of_thread() == 0 && mine != 0) atomicAdd(to, static_cast<word>(mine));
}

/// Index of the last of `count` ascending numbers that is at most `x`; requires that the first one is.
template <class First>
__device__ int last_upto(int count, std::int64_t x, const First& first) {
    int low = 0;
    for (int high = count; high - low > 1;) {
        const int middle = (low + high) / 2;
        (first(middle) <= x ? low : high) = middle;
    }
    return low;
}

}  // namespace nearfield::metrics
