// Tiles of lines of up to 1024 rows that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, between winners at posts
// in shared memory; of very short lines by offering all rows to all. How many tiles they are is known on the device only: a
// fixed number of blocks shares the list.
#pragma once

#include "exact/cuda_between.cuh"
#include "exact/cuda_square.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

/// Where the calling lane of a block writes, of `group` of the lines. Lanes beyond the last line repeat it; they write the
/// same values to the same cells.
template <bool Last, class Lines, class Group>
__device__ tile_target<std::int32_t, Last> target_of(const Lines& lines, const Group& group,
                                                     const metric<std::int32_t>& m,
                                                     const value_sink<std::int32_t, Last>& to) {
    const int width = lines.width(group), lane = min(static_cast<int>(threadIdx.x), width - 1);
    return {m, to, lines.first_cell(group, lane), static_cast<std::int32_t>(lines.inner()), width};
}

/// A block one hard tile after another.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard_words(const word_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                      const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ row_word rows[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const word_group group = lines.group_of(hard.list[nth]);
        const word_lines::reader line(lines, group, min(static_cast<int>(threadIdx.x), lines.width(group) - 1));
        const auto load = [&](int row) {
            const std::int32_t apart = line.load(row);
            return word_lines::reader::is_site(apart) ? apart * apart : packed_none;
        };
        search_between(rows, lines.rows(), load, target_of<Last>(lines, group, m, to));
        __syncthreads();
    }
}

// Lines of up to so many rows: the threads of a hull wait for each other longer than all rows take. At 0.01 %, in ms:
// 64^3 0.029 against 0.037 by hulls, 128^3 0.065 against 0.053.
constexpr int few_rows = 128;

template <bool Last, int... I>
__device__ void put_square(const wide_square& best, int rows, const metric<std::int32_t>& m, std::int64_t cell,
                           std::int64_t inner, const sink<std::int32_t, std::int32_t, false, Last>& to,
                           std::integer_sequence<int, I...>) {
    // In memory of the thread's own, so that what puts any combination of fields stands here once and not 32 times.
    const std::int32_t values[] = {best.template whole<I>()...};
#pragma unroll 1
    for (int i = 0; i < rows; ++i) to.put(m, cell + i * inner, values[i], 0);
}

/// A warp 32 rows of the tile, to which every row is offered. `values` holds the tile.
template <bool Last>
__device__ void search_all_rows(std::int32_t* values, std::int64_t number, const value_lines& lines,
                                const metric<std::int32_t>& m,
                                const sink<std::int32_t, std::int32_t, false, Last>& to) {
    const value_group group = lines.group_of(number);
    // Lanes beyond the last column repeat it; they write the same values to the same cells.
    const int lane = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
    const value_lines::reader line(lines, group, lane);
    const int rows = lines.rows(), top = static_cast<int>(threadIdx.y) * square_rows,
              mine = min(square_rows, rows - top);
    std::int32_t* const column = values + threadIdx.x;
#pragma unroll 8
    for (int r = top; r < top + mine; ++r) column[r * cuda::warp] = line.load(r);
    __syncthreads();
    wide_square best;
    for (int r = 0; r < rows; r += 2) {
        const int s = min(r + 1, rows - 1);  // of an odd number the last one twice
        best.offer({column[r * cuda::warp], top - r}, {column[s * cuda::warp], top - s});
    }
    const std::int64_t inner = lines.inner();
    put_square(best, mine, m, lines.first_cell(group, lane) + top * inner, inner, to,
               std::make_integer_sequence<int, square_rows>{});
}

/// The same for a pass that reads a state.
template <bool Last>
__global__ void __launch_bounds__(short_threads)
    search_hard(const value_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ row_word rows[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const std::int64_t number = hard.list[nth];
        const value_group group = lines.group_of(number);
        if (lines.rows() <= few_rows) {
            search_all_rows(reinterpret_cast<std::int32_t*>(rows), number, lines, m, to);
        } else {
            const value_lines::reader line(lines, group, min(static_cast<int>(threadIdx.x), lines.width(group) - 1));
            search_between(
                rows, lines.rows(), [&](int row) { return line.load(row); }, target_of<Last>(lines, group, m, to));
        }
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
