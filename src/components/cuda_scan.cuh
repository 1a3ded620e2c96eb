// Counts items and finds the place of each. Work is cut into as many consecutive chunks as there are warps. Each
// warp goes through its chunk in order, so the order of items is kept, and warps exchange only one sum for each
// chunk.
#pragma once

#include <algorithm>

#include "base/cuda_scan.cuh"
#include "components/cuda_common.cuh"

namespace nearfield::components {

inline constexpr int most_chunk_blocks = 1024, chunks_of_block = threads_of_block / cuda::warp;
inline constexpr int chunks = most_chunk_blocks * chunks_of_block;  // at most

/// Number of blocks for so many items: at least 4 items a thread, so that few items take few blocks.
inline int chunk_blocks(std::int64_t items) {
    constexpr std::int64_t of_thread = 4;
    return static_cast<int>(std::clamp<std::int64_t>(items / (threads_of_block * of_thread), 1, most_chunk_blocks));
}

/// A warp's share of `items`: a multiple of 32, except for the last chunk.
struct chunk {
    std::int64_t first, last;
    __device__ explicit chunk(std::int64_t items) {
        const std::int64_t row = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
        const std::int64_t each = (items + row - 1) / row * cuda::warp;
        first = min(items, number() * each), last = min(items, first + each);
    }
    __device__ static int number() {
        return static_cast<int>((blockIdx.x * threads_of_block + threadIdx.x) / cuda::warp);
    }
};

using cuda::lane_of_thread;
using cuda::lanes_before;
using cuda::warp_scan;

template <class... Parameters, class... Arguments>
void launch_chunks(const device& on, std::int64_t items, void (*kernel)(Parameters...), const Arguments&... arguments) {
    cuda::launch(on, kernel, chunk_blocks(items), dim3(threads_of_block), 0, arguments...);
}
/// Turns the chunks' sums into the sums before each. sums[chunks] becomes the total, or `most` if that is less.
inline void launch_scan(const device& on, std::int64_t items, word* sums, word most = ~word{0}) {
    cuda::launch_sums(on, sums, std::int64_t{chunk_blocks(items)} * chunks_of_block, sums + chunks, most);
}

template <class T>
__global__ void __launch_bounds__(threads_of_block) fill_words(T* words, std::int64_t count, T with) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < count) words[i] = with;
}
template <class T>
void launch_fill(const device& on, T* words, std::int64_t count, T with) {
    cuda::launch(on, fill_words<T>, blocks_for(count, threads_of_block), dim3(threads_of_block), 0, words, count, with);
}

}  // namespace nearfield::components
