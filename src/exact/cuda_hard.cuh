// Tiles of lines of up to 1024 rows that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, between winners at
// posts in shared memory. How many tiles they are is known on the device only: a fixed number of blocks shares the
// list.
#pragma once

#include "exact/cuda_between.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

/// Where the calling lane of a block writes, of `group` of the lines. Lanes beyond the last line repeat it; they write
/// the same values to the same cells.
template <bool Last, class Lines, class Group>
__device__ tile_target<std::int32_t, Last> target_of(const Lines& lines, const Group& group,
                                                     const metric<std::int32_t>& m,
                                                     const value_sink<std::int32_t, Last>& to) {
    const int width = lines.width(group), lane = min(static_cast<int>(threadIdx.x), width - 1);
    return {m, to, lines.first_cell(group, lane), static_cast<std::int32_t>(lines.inner()), width};
}

/// Bands of a warp. Two where three blocks of such lines fit a multiprocessor: 512^3 0.66 + 0.70 ms of balls, with one
/// 0.70 + 0.73, but 256^3 0.057 + 0.085 and 0.053 + 0.083 (H200, 2026-11-23).
constexpr int bands_of(std::int64_t rows) { return rows > 256 && rows <= 544 ? 2 : 1; }
template <int Bands>
inline constexpr int hard_threads = Bands == 1 ? short_threads : 9 * cuda::warp;
template <int Bands>
inline constexpr int hard_blocks = Bands == 1 ? 1 : 3;

/// A block one hard tile after another.
template <bool Last, int Bands>
__global__ void __launch_bounds__(hard_threads<Bands>, hard_blocks<Bands>)
    search_hard_words(const word_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                      const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ row_word rows[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const word_group group = lines.group_of(hard.list[nth]);
        // Lanes beyond the last line repeat it.
        const posted_lines of(rows, lines.rows(), min(static_cast<int>(threadIdx.x), lines.width(group) - 1));
        for (int row = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x); row < of.rows;
             row += static_cast<int>(blockDim.y) * cuda::warp)
            fill_row(rows, lines.words(group)[row], row);
        search_between<Bands>(of, target_of<Last>(lines, group, m, to));
        __syncthreads();
    }
}

/// The same for a pass that reads a state.
template <bool Last, int Bands>
__global__ void __launch_bounds__(hard_threads<Bands>, hard_blocks<Bands>)
    search_hard(const value_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ row_word rows[];
    const int count = *hard.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const value_group group = lines.group_of(hard.list[nth]);
        const value_lines::reader line(lines, group, min(static_cast<int>(threadIdx.x), lines.width(group) - 1));
        const posted_lines of(rows, lines.rows(), static_cast<int>(threadIdx.x));
        for (int from = static_cast<int>(threadIdx.y) * band_rows; from < of.rows;
             from += static_cast<int>(blockDim.y) * band_rows)
            fill_rows(of, from, min(from + band_rows, of.rows), [&](int row) { return line.load(row); });
        search_between<Bands>(of, target_of<Last>(lines, group, m, to));
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
