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

// ---- codes of one byte, four to a lane ------------------------------------------------------------------------------

inline constexpr int lane_codes = 4, warp_codes = lane_codes * cuda::warp;

/// Reads the codes x to x + 3 of a line of n; they are 0 beyond its end, and without a line. The codes of a call fill
/// whole words.
__device__ inline std::uint32_t four_codes(const std::uint8_t* line, std::int64_t x, std::int64_t n) {
    if (line == nullptr || x >= n) return 0;
    const auto at = reinterpret_cast<std::uintptr_t>(line + x);
    const auto* const words = reinterpret_cast<const std::uint32_t*>(at & ~std::uintptr_t{3});
    const int past = static_cast<int>(at & 3);
    const std::uint32_t next = past != 0 && x + lane_codes - past < n ? words[1] : 0;
    const auto four = static_cast<std::uint32_t>((std::uint64_t{next} << 32 | words[0]) >> 8 * past);
    return x + lane_codes <= n ? four : four & ((1U << 8 * static_cast<int>(n - x)) - 1);
}
/// Returns the top bit of each byte that is not 0.
__device__ inline std::uint32_t bytes_not_zero(std::uint32_t four) {
    return (((four & 0x7f7f7f7fU) + 0x7f7f7f7fU) | four) & 0x80808080U;
}
/// Returns the byte of the code that lies at the calling lane of the warp's group of 32.
__device__ inline std::uint32_t byte_of_group(std::uint32_t four, int group) {
    const std::uint32_t its = __shfl_sync(cuda::every_lane, four, 8 * group + lane_of_thread() / lane_codes);
    return its >> 8 * (lane_of_thread() % lane_codes) & 255;
}
/// Returns the codes one place before those of each lane; `before` is the last one before the warp's.
__device__ inline std::uint32_t codes_before(std::uint32_t four, std::uint32_t before) {
    const std::uint32_t its = __shfl_up_sync(cuda::every_lane, four, 1);
    return four << 8 | (lane_of_thread() == 0 ? before : its >> 24);
}

}  // namespace nearfield::metrics
