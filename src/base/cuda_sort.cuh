// Stable radix sort of items by row, which yields item numbers: digits of 8 bits, the lowest first. The number of items
// may be known only to the device.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "base/cuda_scan.cuh"

namespace nearfield::cuda {

inline constexpr int digit_bits = 8, digits = 1 << digit_bits;
inline constexpr int sort_threads = 256, most_sort_blocks = 512;  // a block has consecutive items
inline constexpr int sort_rounds = 8;                             // items of a thread in a tile
inline constexpr int sort_tile = sort_threads * sort_rounds;
static_assert(digits == sort_threads, "a thread owns a digit");

/// The number of items: `most`, or what the device counted.
struct item_count {
    const word* counted;
    std::int64_t most;
    [[nodiscard]] __device__ std::int64_t get() const {
        return counted == nullptr ? most : static_cast<std::int64_t>(*counted);
    }
};

/// A block's items.
struct share {
    std::int64_t first, last;
    __device__ explicit share(std::int64_t items) {
        const std::int64_t row = static_cast<std::int64_t>(gridDim.x) * sort_tile;
        const std::int64_t each = (items + row - 1) / row * sort_tile;
        first = min(items, static_cast<std::int64_t>(blockIdx.x) * each), last = min(items, first + each);
    }
};

/// Counts the digits in each block's share: counts[digit * blocks + block].
static __global__ void __launch_bounds__(sort_threads)
    count_digits(const std::uint32_t* rows, const item_count items, int shift, word* counts) {
    __shared__ std::uint32_t of_digit[digits];
    of_digit[threadIdx.x] = 0;
    __syncthreads();
    const share mine(items.get());
    for (std::int64_t i = mine.first + threadIdx.x; i < mine.last; i += sort_threads)
        atomicAdd(of_digit + (rows[i] >> shift & (digits - 1)), 1u);
    __syncthreads();
    counts[threadIdx.x * gridDim.x + blockIdx.x] = of_digit[threadIdx.x];
}

/// Turns the counts of a digit into the sums before each block, and of_digit into the total. A warp owns a digit.
static __global__ void __launch_bounds__(warp) scan_digits(word* counts, int blocks, word* of_digit) {
    word before = 0, all = 0;
    word* const mine = counts + static_cast<std::int64_t>(blockIdx.x) * blocks;
    for (int i = 0; i < blocks; i += warp, before += all) {
        const int at = i + lane_of_thread();
        const word place = before + warp_scan(at < blocks ? mine[at] : 0, all);
        if (at < blocks) mine[at] = place;
    }
    if (threadIdx.x == 0) of_digit[blockIdx.x] = before;
}

/// Lanes whose digit equals the calling lane's, among the lanes that have an item.
__device__ inline unsigned lanes_of_digit(unsigned digit, bool has) {
    unsigned same = __ballot_sync(every_lane, has ? 1 : 0);
    for (int bit = 0; bit < digit_bits; ++bit) {
        const unsigned set = __ballot_sync(every_lane, (digit >> bit & 1) != 0 ? 1 : 0);
        same &= (digit >> bit & 1) != 0 ? set : ~set;
    }
    return same;
}

/// The place of a block's next item of each digit: after all lower digits, then after the blocks before.
__device__ inline word place_of_digit(const word* counts, const word* of_digit, word* of_warp) {
    word all = 0, before = warp_scan(of_digit[threadIdx.x], all);
    if (lane_of_thread() == 0) of_warp[threadIdx.x / warp] = all;
    __syncthreads();
    for (int w = 0; w < static_cast<int>(threadIdx.x) / warp; ++w) before += of_warp[w];
    return before + counts[threadIdx.x * gridDim.x + blockIdx.x];
}

/// Moves items to their places by one digit. A warp takes 256 consecutive items of each tile, 32 at a time, so their
/// order within a digit stays. If `numbers` is null, an item is its own number.
template <class Number>
__global__ void __launch_bounds__(sort_threads)
    move_items(const std::uint32_t* rows, const Number* numbers, const item_count items, int shift, const word* counts,
               const word* of_digit, std::uint32_t* rows_to, Number* numbers_to) {
    constexpr int warps = sort_threads / warp;
    __shared__ word of_warp[warps], place[digits], from[warps][digits];
    place[threadIdx.x] = place_of_digit(counts, of_digit, of_warp);
    const share mine(items.get());
    const int warp_number = static_cast<int>(threadIdx.x) / warp;
    for (std::int64_t tile = mine.first; tile < mine.last; tile += sort_tile) {
        for (int w = 0; w < warps; ++w) from[w][threadIdx.x] = 0;
        __syncthreads();
        std::uint32_t row[sort_rounds], rank[sort_rounds];
        const std::int64_t first = tile + warp_number * warp * sort_rounds + lane_of_thread();
#pragma unroll
        for (int r = 0; r < sort_rounds; ++r) {
            const bool has = first + r * warp < mine.last;
            row[r] = has ? rows[first + r * warp] : 0;
            const unsigned digit = row[r] >> shift & (digits - 1), same = lanes_of_digit(digit, has);
            const auto before = static_cast<std::uint32_t>(from[warp_number][digit]);
            rank[r] = before + __popc(same & lanes_before());
            __syncwarp();
            if (has && (same & lanes_before()) == 0) from[warp_number][digit] = before + __popc(same);
            __syncwarp();
        }
        __syncthreads();
        word next = place[threadIdx.x];
        for (int w = 0; w < warps; ++w) {
            const word here = from[w][threadIdx.x];
            from[w][threadIdx.x] = next, next += here;
        }
        place[threadIdx.x] = next;
        __syncthreads();
#pragma unroll
        for (int r = 0; r < sort_rounds; ++r) {
            const std::int64_t at = first + r * warp;
            if (at >= mine.last) continue;
            const auto to = static_cast<std::int64_t>(from[warp_number][row[r] >> shift & (digits - 1)] + rank[r]);
            rows_to[to] = row[r], numbers_to[to] = numbers == nullptr ? static_cast<Number>(at) : numbers[at];
        }
        __syncthreads();
    }
}

/// Sorts items by rows below 2^bits; the number of digits decides which of the two arrays holds the result.
template <class Number>
struct sorting {
    std::uint32_t *rows, *other_rows;
    Number *numbers, *other_numbers;
    word *counts, *of_digit;
    item_count items;

    /// Returns the numbers of items in their new order. `from` has the order in which they come; null: their own.
    const Number* run(const device& on, int bits, const Number* from = nullptr) {
        const auto blocks = static_cast<int>(std::clamp<std::int64_t>(items.most / sort_tile, 1, most_sort_blocks));
        // At least one digit is sorted, because that step numbers the items.
        for (int shift = 0; shift == 0 || shift < bits; shift += digit_bits) {
            launch(on, count_digits, blocks, dim3(sort_threads), 0, rows, items, shift, counts);
            launch(on, scan_digits, digits, dim3(warp), 0, counts, blocks, of_digit);
            launch(on, move_items<Number>, blocks, dim3(sort_threads), 0, rows, from, items, shift, counts, of_digit,
                   other_rows, other_numbers);
            std::swap(rows, other_rows), std::swap(numbers, other_numbers);
            from = numbers;
        }
        return from;
    }
};

}  // namespace nearfield::cuda
