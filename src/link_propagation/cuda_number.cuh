// Numbers in raster order on a device: a master is its component's first cell, so its number is how many masters there
// are up to it. One bit a cell says who is one.
#pragma once

#include "base/lines.hpp"
#include "link_propagation/cuda_rounds.cuh"

namespace nearfield::link_propagation {

constexpr int number_threads = 256, number_warps = number_threads / cuda::warp;
constexpr int block_words = number_threads;            // a word a thread
constexpr int block_cells = block_words * cuda::warp;  // that a block looks at
constexpr int scan_threads = 1024, written_at_once = 4;

struct masters {
    std::uint32_t* bits = nullptr;      ///< of 32 cells each
    std::uint32_t* before = nullptr;    ///< masters before each word, within its block
    std::uint32_t* of_block = nullptr;  ///< masters of each block; after the scan, of those before it

    /// The number of the component whose master this is.
    __device__ std::uint32_t number(address master) const {
        const std::uint32_t word = static_cast<std::uint32_t>(master) / 32,
                            bit = static_cast<std::uint32_t>(master) % 32;
        const std::uint32_t upto = bits[word] & (~std::uint32_t{0} >> (31 - bit));
        return of_block[word / block_words] + before[word] + static_cast<std::uint32_t>(__popc(upto));
    }
};

/// The sum over the lanes before this one.
__device__ inline std::uint32_t sum_before(std::uint32_t mine) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    std::uint32_t sum = mine;
    for (int by = 1; by < cuda::warp; by *= 2) {
        const std::uint32_t other = __shfl_up_sync(cuda::every_lane, sum, by);
        if (lane >= by) sum += other;
    }
    return sum - mine;
}

/// The same over the block; every thread gets the block's sum in `all`. Shared memory is free again after the next
/// barrier.
template <int Threads>
__device__ std::uint32_t sum_before_in_block(std::uint32_t mine, std::uint32_t& all) {
    __shared__ std::uint32_t of_warp[Threads / cuda::warp];
    const unsigned lane = threadIdx.x % cuda::warp, warp = threadIdx.x / cuda::warp;
    const std::uint32_t before = sum_before(mine);
    __syncthreads();
    if (lane == cuda::warp - 1) of_warp[warp] = before + mine;
    __syncthreads();
    std::uint32_t sum = 0;
    all = 0;
    for (unsigned other = 0; other < Threads / cuda::warp; ++other) {
        if (other < warp) sum += of_warp[other];
        all += of_warp[other];
    }
    return sum + before;
}

/// A warp, 32 words in turn; its lanes load side by side.
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
    std::uint32_t all = 0;
    const std::uint32_t before = sum_before_in_block<number_threads>(static_cast<std::uint32_t>(__popc(mine)), all);
    if ((first_word + lane) * 32 < cells) to.bits[first_word + lane] = mine, to.before[first_word + lane] = before;
    if (threadIdx.x == 0) to.of_block[blockIdx.x] = all;
}

/// One block.
__global__ void __launch_bounds__(scan_threads) sum_blocks(masters of, std::int64_t blocks, verdict* says) {
    std::uint32_t done = 0;
    for (std::int64_t first = 0; first < blocks; first += scan_threads) {
        const std::int64_t block = first + threadIdx.x;
        std::uint32_t all = 0;
        const std::uint32_t before = sum_before_in_block<scan_threads>(block < blocks ? of.of_block[block] : 0, all);
        if (block < blocks) of.of_block[block] = done + before;
        done += all;
        __syncthreads();
    }
    if (threadIdx.x == 0) says->components = done;
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
