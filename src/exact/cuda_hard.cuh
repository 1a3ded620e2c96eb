// Tiles that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, by hulls in shared memory. How many they are is
// known on the device only: a fixed number of blocks shares the list.
#pragma once

#include "exact/cuda_short.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

/// The first pass's values along one line of the second, for the hulls.
class word_reader {
public:
    __device__ word_reader(const line_word* words, int bit, std::int32_t x) : words_(words), bit_(bit), x_(x) {}
    __device__ std::int32_t load(std::int64_t row) const {
        const std::int32_t apart = words_[row].distance(bit_, x_);
        return apart >= too_far ? no_site<std::int32_t>() : apart * apart;
    }
    __device__ std::int32_t value(std::int32_t loaded) const { return loaded; }
    __device__ std::int32_t key(std::int32_t, std::int64_t) const { return 0; }

private:
    const line_word* words_;
    int bit_;
    std::int32_t x_;
};

/// A block one hard tile after another, as search_in_shared.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard_words(const packed_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                      const sink<std::int32_t, std::int32_t, false, Last> to) {
    extern __shared__ packed_point points[];
    const int rows = static_cast<int>(lines.rows), count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const std::int64_t at = hard.list[nth], outer = quotient(at, lines.columns);
        const auto word = static_cast<std::int32_t>(at - outer * lines.columns);
        // Lanes beyond the last column repeat it; they write the same values to the same cells.
        const int bit = min(static_cast<int>(threadIdx.x), static_cast<int>(lines.length) - word * cuda::warp - 1);
        const std::int32_t x = word * cuda::warp + bit;
        const word_reader line(lines.words + at * lines.rows, bit, x);
        const std::int64_t first = outer * lines.rows * lines.length + x;
        search_lines<false>(points, rows, m.weight[m.rank - 2], line, [&](int q, std::int32_t value, std::int32_t) {
            to.put(m, first + q * lines.length, value, 0);
        });
        __syncthreads();
    }
}

/// The same for a pass that reads a state.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard(const pass g, const metric<std::int32_t> m, const std::int32_t* cells, const hard_tiles hard,
                const sink<std::int32_t, std::int32_t, false, Last> to) {
    extern __shared__ packed_point points[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        search_columns<false, 1>(points, static_cast<std::int64_t>(hard.list[nth]), g, m, cells, to);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
