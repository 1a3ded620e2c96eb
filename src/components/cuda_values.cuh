// Ranges and sums of an intensity image's values on a device.
#pragma once

#include "components/cuda_walk.cuh"
#include "label/statistics_rows.hpp"

namespace nearfield::components {

using statistics::fixed_scale;
using statistics::value_range;
using statistics::value_sums;

/// Indices of a row's words in device memory.
enum value_word { lowest_at, highest_at, sum_at, square_at = sum_at + 2, value_words = square_at + 3 };

/// Selects what one pass over the image computes.
struct value_look {
    bool ranges = false, sums = false, squares = false;
};

/// Range and sums of a row's values that one thread has seen.
struct tile_values {
    value_range range;
    value_sums sums;

    __device__ void reduce() {
        for (int by = cuda::warp / 2; by > 0; by /= 2) {
            value_range other;
            other.lowest = __shfl_xor_sync(cuda::every_lane, range.lowest, by);
            other.highest = __shfl_xor_sync(cuda::every_lane, range.highest, by);
            range.add(other);
            value_sums more;
            for (int i = 0; i < 2; ++i) more.sum[i] = __shfl_xor_sync(cuda::every_lane, sums.sum[i], by);
            for (int i = 0; i < 3; ++i) more.square[i] = __shfl_xor_sync(cuda::every_lane, sums.square[i], by);
            sums.add(more);
        }
    }
};

/// Sums of 1-byte or 2-byte values in 32 bits, which suffice for the cells that a lane sees in one tile.
struct narrow_values {
    std::uint32_t lowest = ~0u, highest = 0, sum = 0;
    word square = 0;
    static_assert(walk_rows <= 65536, "then the sum of naturals below 2^16 fits 32 bits");

    __device__ void add(std::uint32_t natural) {
        lowest = min(lowest, natural), highest = max(highest, natural);
        sum += natural, square += natural * natural;
    }
    __device__ tile_values whole() const {
        tile_values v;
        if (lowest <= highest) v.range = {lowest, highest};
        v.sums.add(sum, square);
        return v;
    }
};

/// Adds range and sums to a row's words, in shared or device memory, atomically.
__device__ inline void add_values(word* to, const tile_values& v, const value_look& look) {
    if (look.ranges) lower(to + lowest_at, v.range.lowest), raise(to + highest_at, v.range.highest);
    if (look.sums) add_wide(to + sum_at, v.sums.sum);
    if (look.squares) add_wide(to + square_at, v.sums.square);
}

__device__ inline void clear_values(word* to) {
    for (int i = 0; i < value_words; ++i) to[i] = i == lowest_at ? ~word{0} : 0;
}

struct block_values {
    block_rows rows;
    word of[block_rows::places][value_words];
};

/// Adds up the values of each row's cells; a lane walks down a column. Integers come as unsigned bits; `flip` toggles
/// the sign bit, so that naturals keep the order. Floating-point values take two passes; the second, for sums, needs
/// the complete ranges in `words`. Integers take one pass.
/// Over 40 lines because its steps share what a thread has in registers.
template <class Value, bool Ranges, bool Sums>
__global__ void __launch_bounds__(threads_of_block)
    add_up_values(const walk by, const walk in_values, const labels32 labels, const Value* values, std::uint64_t flip,
                  bool squares, word* words) {
    __shared__ block_values block;
    block.rows.clear();
    clear_values(block.of[threadIdx.x]);
    __syncthreads();
    const stand at(by);
    const value_look look{Ranges, Sums, Sums && squares};
    const auto put = [&](std::uint32_t which, const tile_values& v) {
        const int place = block.rows.place_of(which);
        add_values(place >= 0 ? block.of[place] : words + static_cast<std::int64_t>(which) * value_words, v, look);
    };
    constexpr bool narrow = sizeof(Value) <= 2;
    const auto whole = [](const auto& seen) {
        if constexpr (narrow) return seen.whole();
        else return seen;
    };
    std::uint32_t row = no_row;
    std::conditional_t<narrow, narrow_values, tile_values> mine;
    fixed_scale scale;
    const Value* const column = values + in_values.offset(at.x0 + at.x, at.w0 + at.w, at.p);
    walk_down(by, labels, at, [&](std::uint32_t found, int i) {
        if (found == no_row) return;
        if (found != row) {
            if (row != no_row) put(row, whole(mine));
            row = found, mine = {};
            if constexpr (Sums && std::is_floating_point_v<Value>) {
                const word* const range = words + static_cast<std::int64_t>(row) * value_words;
                scale = fixed_scale::of(statistics::exponent_of<Value>({range[lowest_at], range[highest_at]}));
            }
        }
        Value value = column[i * in_values.step_w];
        if constexpr (!std::is_floating_point_v<Value>) value = static_cast<Value>(value ^ flip);
        if constexpr (narrow) mine.add(value);
        else if constexpr (Ranges) mine.range.add_value(value);
        if constexpr (Sums && !narrow) {
            const std::uint64_t natural = statistics::natural_of(value, scale);
            if (squares) mine.sums.add_natural(natural);
            else mine.sums.add(natural, 0);
        }
    });
    put_by_warp(row, whole(mine), put);
    __syncthreads();
    const std::uint32_t own = block.rows.row[threadIdx.x];
    if (own == no_row) return;
    tile_values all;
    const word* const from = block.of[threadIdx.x];
    all.range = {from[lowest_at], from[highest_at]};
    all.sums = {{from[sum_at], from[sum_at + 1]}, {from[square_at], from[square_at + 1], from[square_at + 2]}};
    add_values(words + static_cast<std::int64_t>(own) * value_words, all, look);
}

static __global__ void __launch_bounds__(threads_of_block) clear_value_rows(word* words, std::int64_t rows) {
    const std::int64_t row = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (row < rows) clear_values(words + row * value_words);
}

}  // namespace nearfield::components
