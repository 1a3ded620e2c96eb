// Windows of packed lines that steps (tile.cuh) leave unresolved, for any number of rows and sites.
//
// Every 32nd row of an image is a pivot row, and so is the last one. The winning row never moves back along a line
// (core.hpp), so between two pivots only the rows from the winner of one to the winner of the other can win: 33 on
// average, whatever the image (post_squares.cuh). The winners of pivot rows are found with the axes exchanged, on an
// image 32 times smaller: first the distance of each column's nearest site from each pivot row, then a search along
// each pivot row by bisection (post_winners.cuh).
#pragma once

#include "exact/gpu/tiles/windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int pivot_step = 32;
constexpr int chunk_pivots = 8;  // pivot rows whose sites a warp keeps in registers
constexpr int chunk_rows = chunk_pivots * pivot_step;
constexpr int column_warps = 32;
constexpr int column_threads = column_warps * cuda::warp;

/// Results at the pivot rows of all images.
struct pivot_lines {
    std::int32_t* nearest = nullptr;   ///< row of the nearest site in a column, or -1: by pivot row, then column
    std::uint16_t* winners = nullptr;  ///< row that wins, by pivot row, then column; row 0 if there is no site
    std::int32_t* taken = nullptr;     ///< number of squares between pivot rows that warps have taken; initially 0
    std::int64_t images = 1;
    std::int64_t length = 1;
    int pivots = 1;
    int rows = 1;
    bool wide = false;  ///< squares in 64 bits, which are not kept in shared memory
    int half = 0;       ///< see packed_lines

    NF_HD int row_of(int pivot) const { return pivot < pivots - 1 ? pivot * pivot_step : rows - 1; }
    __device__ std::int64_t first_cell(std::int64_t image, int pivot) const {
        return (image * pivots + pivot) * length;
    }
};

/// Transposes a matrix of 32 x 32 bits, a row per lane: bit i of lane l becomes bit l of lane i.
__device__ inline std::uint32_t turn_bits(std::uint32_t row) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    std::uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int o = 16; o > 0; o /= 2, mask ^= mask << o) {
        const std::uint32_t other = __shfl_xor_sync(cuda::every_lane, row, o);
        row = (lane & o) == 0 ? (row & mask) | (other & mask) << o : (row & ~mask) | (other & ~mask) >> o;
    }
    return row;
}

/// Sites of a chunk of 256 rows of 32 columns, a column per lane: bits of the 32 rows from each pivot row on.
struct chunk_bits {
    std::uint32_t at[chunk_pivots];

    __device__ void load(const line_word* words, int first_row, int rows) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll
        for (int i = 0; i < chunk_pivots; ++i) {
            const int row = first_row + i * pivot_step + lane;
            at[i] = row < rows ? words[row].sites : 0;
        }
#pragma unroll
        for (auto& one : at) one = turn_bits(one);
    }
    /// Return the first and last row with a site among the 32 from pivot i on; only if there is one.
    __device__ int first(int i) const { return i * pivot_step + __ffs(static_cast<int>(at[i])) - 1; }
    __device__ int last(int i) const { return i * pivot_step + 31 - __clz(static_cast<int>(at[i])); }
};
constexpr std::int32_t beyond = 1 << 24;

/// Finds the rows nearest to pivot rows. A block owns 32 columns of an image, a warp takes one chunk of rows after
/// another: first their first and last sites, then, with those of all chunks, the rows nearest to their pivots. The
/// last pivot lies behind all rows, or on the last one.
__global__ void __launch_bounds__(column_threads)
    nearest_to_pivots(const word_lines lines, const unresolved_tiles unresolved, const pivot_lines to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::int32_t ends[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int last_pivot = to.pivots - 1, chunks = (last_pivot + chunk_pivots - 1) / chunk_pivots;
    std::int32_t* const firsts = ends + lane;
    std::int32_t* const lasts = firsts + chunks * cuda::warp;
    const std::int64_t columns = lines.lines.columns, count = *unresolved.owner_count * columns;
    chunk_bits bits;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, columns);
        const word_group g = lines.group_of(unresolved.owners[image] * columns + nth - image * columns);
        const line_word* const words = lines.words(g);
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            const int first_row = chunk * chunk_rows;
            bits.load(words, first_row, lines.rows());
            std::int32_t first = beyond, last = -1;
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i)
                if (bits.at[i] != 0) last = first_row + bits.last(i), first = min(first, first_row + bits.first(i));
            firsts[chunk * cuda::warp] = first, lasts[chunk * cuda::warp] = last;
        }
        __syncthreads();
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            const int first_row = chunk * chunk_rows;
            if (chunks > column_warps) bits.load(words, first_row, lines.rows());
            std::int32_t before = -1, after = beyond;
            for (int c = 0; c < chunk; ++c) before = max(before, lasts[c * cuda::warp]);
            for (int c = chunk + 1; c < chunks; ++c) after = min(after, firsts[c * cuda::warp]);
            std::int32_t rows[chunk_pivots];
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i) {
                rows[i] = before;
                if (bits.at[i] != 0) before = first_row + bits.last(i);
            }
#pragma unroll
            for (int i = chunk_pivots - 1; i >= 0; --i) {
                const int row = first_row + i * pivot_step;
                if (bits.at[i] != 0) after = first_row + bits.first(i);
                if (rows[i] < 0 || after - to.half - row < row - rows[i]) rows[i] = after < beyond ? after : -1;
            }
            if (lane >= lines.width(g)) continue;
            std::int32_t* cell = to.nearest + to.first_cell(g.outer, chunk * chunk_pivots) + g.x + lane;
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i, cell += to.length)
                if (chunk * chunk_pivots + i < last_pivot) *cell = rows[i];
            if (chunk == chunks - 1) to.nearest[to.first_cell(g.outer, last_pivot) + g.x + lane] = before;
        }
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
