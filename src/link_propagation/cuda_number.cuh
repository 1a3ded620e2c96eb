// Numbers components in raster order on a device. A master is the first cell of its component, so its number is the
// count of masters up to it. One bit for each cell marks the masters.
#pragma once

#include "base/cuda_scan.cuh"
#include "base/lines.hpp"
#include "link_propagation/cuda_rounds.cuh"

namespace nearfield::link_propagation {

constexpr int number_threads = 256, number_warps = number_threads / cuda::warp;
constexpr int block_words = number_threads;            // one word for each thread
constexpr int block_cells = block_words * cuda::warp;  // cells that a block counts
constexpr int written_at_once = 4;

struct masters {
    std::uint32_t* bits = nullptr;      ///< words of 32 cells each
    std::uint32_t* before = nullptr;    ///< for each word, the masters before it within its block
    std::uint32_t* of_block = nullptr;  ///< masters of each block; after the scan, masters before it

    /// The number of a component, given its master.
    __device__ std::uint32_t number(address master) const {
        const std::uint32_t word = static_cast<std::uint32_t>(master) / 32,
                            bit = static_cast<std::uint32_t>(master) % 32;
        const std::uint32_t upto = bits[word] & (~std::uint32_t{0} >> (31 - bit));
        return of_block[word / block_words] + before[word] + static_cast<std::uint32_t>(__popc(upto));
    }
};

/// A warp owns 32 words and takes them in turn; its lanes load neighbouring cells.
__global__ void __launch_bounds__(number_threads) find_masters(const address* label, std::int64_t cells, masters to) {
    const unsigned lane = threadIdx.x % cuda::warp;
    const std::int64_t first_word = static_cast<std::int64_t>(blockIdx.x) * block_words + (threadIdx.x - lane);
    std::uint32_t mine = 0;
#pragma unroll 8
    for (unsigned word = 0; word < cuda::warp; ++word) {
        const std::int64_t cell = (first_word + word) * 32 + lane;
        const unsigned found = __ballot_sync(cuda::every_lane, cell < cells && label[cell] == cell);
        if (lane == word) mine = found;
    }
    __shared__ std::uint32_t held[number_warps];
    std::uint32_t all = 0;
    const std::uint32_t before = cuda::sum_before(static_cast<std::uint32_t>(__popc(mine)), held, all);
    if ((first_word + lane) * 32 < cells) to.bits[first_word + lane] = mine, to.before[first_word + lane] = before;
    if (threadIdx.x == 0) to.of_block[blockIdx.x] = all;
}

struct written {
    void* data = nullptr;
    std::int64_t size[3]{}, stride[3]{};
    int rank = 1;
    bool contiguous = true;
};

template <class Label>
__global__ void __launch_bounds__(number_threads)
    write_numbers(const address* label, std::int64_t cells, masters of, written to) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * number_threads * written_at_once + threadIdx.x;
#pragma unroll
    for (int i = 0; i < written_at_once; ++i) {
        const std::int64_t cell = first + i * number_threads;
        if (cell >= cells) continue;
        const address master = label[cell];
        const std::int64_t at = to.contiguous ? cell : offset_of(cell, to.size, to.stride, to.rank);
        static_cast<Label*>(to.data)[at] = master == background ? Label{0} : static_cast<Label>(of.number(master));
    }
}

}  // namespace nearfield::link_propagation
