// Numbers the components in raster order: a root is the first cell of its component, so the running count of roots, in
// the order of their ids, is the label. One pass: every block adds the counts of the blocks before it (decoupled
// look-back; Merrill, Garland, "Single-pass parallel prefix scan with decoupled look-back", NVIDIA 2016).
#pragma once

#include "base/cuda_scan.cuh"
#include "label/gpu/forest.cuh"

namespace nearfield::labelling {

constexpr int number_threads = 256, number_words = 4;  // words a thread: one load of 16 bytes
constexpr int number_block = number_threads * number_words;

/// The message of a block to later blocks: two bits of state above a count.
namespace look_back {
constexpr int state_bit = 62;
constexpr state own = state{1} << state_bit, all = state{2} << state_bit, count = own - 1;
}  // namespace look_back

/// Returns the count of all blocks before `block`, whose own count is `total`. Called by one warp of the block.
__device__ inline state count_before(state* states, std::int64_t block, state total) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    if (lane == 0) atomicExch(states + block, (block == 0 ? look_back::all : look_back::own) | total);
    state sum = 0;
    for (std::int64_t last = block - 1; last >= 0; last -= cuda::warp) {
        const std::int64_t from = last - lane;
        state seen = look_back::all;
        if (from >= 0) do
                seen = *reinterpret_cast<volatile state*>(states + from);
            while (seen >> look_back::state_bit == 0);
        const unsigned done = __ballot_sync(cuda::every_lane, (seen & look_back::all) != 0);
        // Lanes behind the first one that knows the full sum add nothing.
        const int stop = done == 0 ? cuda::warp : __ffs(static_cast<int>(done)) - 1;
        state part = lane <= stop ? seen & look_back::count : 0;
        for (int by = cuda::warp / 2; by > 0; by /= 2) part += __shfl_xor_sync(cuda::every_lane, part, by);
        sum += part;
        if (done != 0) break;
    }
    if (lane == 0 && block > 0) atomicExch(states + block, look_back::all | (sum + total));
    return sum;
}

/// Labels roots and links all other nodes to their root. A thread owns neighbouring words of `candidates`, whose bits
/// are nodes that may be roots. image_base[i] becomes the number of components of the images before image i.
/// Over 40 lines because its steps share what a thread has in registers.
template <class Id>
__global__ void __launch_bounds__(number_threads)
    number_roots(std::int64_t words, const word* candidates, forest<Id> trees, state* states,
                 std::int64_t words_per_image, std::int64_t images, std::int64_t* image_base) {
    __shared__ std::uint32_t held[number_threads / cuda::warp];
    __shared__ std::int64_t block_here;
    __shared__ state base;
    cuda::wait_for_kernel_before();
    // Blocks take numbers as they start, so that all blocks before one have started.
    if (threadIdx.x == 0) block_here = static_cast<std::int64_t>(atomicAdd(states, 1ULL));
    __syncthreads();
    const std::int64_t block = block_here;
    const std::int64_t first = block * number_block + static_cast<std::int64_t>(threadIdx.x) * number_words;
    word roots[number_words];
    std::uint32_t mine = 0;
#pragma unroll
    for (int i = 0; i < number_words; ++i) {
        roots[i] = 0;
        for (word left = first + i < words ? candidates[first + i] : 0; left != 0; left &= left - 1) {
            const Id a = static_cast<Id>((first + i) * word_cells + __ffs(static_cast<int>(left)) - 1);
            const Id up = *trees.slot(a);
            if (up == a) roots[i] |= left & -left;
            else *trees.slot(a) = trees.root(up);
        }
        mine += static_cast<std::uint32_t>(__popc(roots[i]));
    }
    std::uint32_t total = 0;
    const std::uint32_t before = cuda::sum_before(mine, held, total);
    if (threadIdx.x < cuda::warp) {
        const state sum = count_before(states + 1, block, total);
        if (threadIdx.x == 0) base = sum;
    }
    __syncthreads();
    state label = base + before;
#pragma unroll
    for (int i = 0; i < number_words; ++i) {
        const std::int64_t w = first + i;
        if (w == 0 || (images > 1 && w < words && w % words_per_image == 0))
            image_base[w / words_per_image] = static_cast<std::int64_t>(label);
        for (word left = roots[i]; left != 0; left &= left - 1) {
            const Id a = static_cast<Id>(w * word_cells + __ffs(static_cast<int>(left)) - 1);
            *trees.slot(a) = static_cast<Id>(++label) | forest<Id>::numbered;
        }
        if (w == words - 1) image_base[images] = static_cast<std::int64_t>(label);
    }
}

}  // namespace nearfield::labelling
