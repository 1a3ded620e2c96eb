// Rows of up to 2048 cells on a device, as words of 32 marks with the steps to the nearest mark on either side.
#pragma once

#include "chessboard/cuda_rows.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int most_small = 2 * stretch;       ///< cells of an axis
constexpr std::uint32_t small_none = 0x7fff;  ///< the distance without a site

/// Returns the steps beside word `at` of a row: from its first cell back to a mark before the word in the lower half,
/// and from its last cell on. `full` tells which words of the row have marks, and word_at(w) gives one to all lanes.
template <class Word>
__device__ std::uint32_t steps_beside(const problem& p, unsigned long long full, int at, const Word& word_at) {
    const border ends = p.ends[p.rank - 1];
    const auto cells = static_cast<int>(p.size[p.rank - 1]), none = static_cast<int>(small_none);
    const int first = at * mark_bits, last = first + mark_bits - 1;
    const unsigned long long lower = full & ((1ULL << at) - 1), upper = full & ~((2ULL << at) - 1);
    const bool turns = ends == border::periodic && full != 0;
    const unsigned long long before = turns && lower == 0 ? full : lower, behind = turns && upper == 0 ? full : upper;
    const int w = before != 0 ? 63 - __clzll(static_cast<long long>(before)) : 0,
              v = behind != 0 ? __ffsll(static_cast<long long>(behind)) - 1 : 0;
    const int mark = w * mark_bits + 31 - __clz(word_at(w)), next = v * mark_bits + __ffs(word_at(v)) - 1;
    const int back = before != 0              ? first - mark + (lower == 0 ? cells : 0)
                     : ends == border::closed ? first + 1
                                              : none,
              on = behind != 0              ? next - last + (upper == 0 ? cells : 0)
                   : ends == border::closed ? cells - last
                                            : none;
    return (static_cast<std::uint32_t>(back) & 0xffff) | static_cast<std::uint32_t>(on) << 16;
}

/// Returns the sites of word `nth` of a row of an image with `read_at_once`, whose first cell is `first`.
__device__ std::uint32_t row_word(const problem& p, std::int64_t first, int nth) {
    const std::int64_t cells = p.size[p.rank - 1] - nth * mark_bits;
    if (cells <= 0) return 0;
    const auto* const from = static_cast<const std::uint8_t*>(p.image) + offset_in(p, p.image_step, first);
    return sites_of(p, nonzero_bytes(p, from + nth * mark_bits, cells), cells);
}
/// Lanes of a row of up to 1024 cells: one for each word, if rows can be read by words, else a warp.
NF_HD inline int lanes_of_row(const problem& p) {
    int lanes = cuda::warp;
    while (p.read_at_once > 0 && lanes / 2 * mark_bits >= p.size[p.rank - 1]) lanes /= 2;
    return lanes;
}
/// Writes the words of all rows, those of adjacent rows next to each other: x has the marks, y the steps beside them.
__global__ void __launch_bounds__(threads_of_block) mark_small(const __grid_constant__ problem p, uint2* to) {
    cuda::wait_for_kernel_before();
    const int lanes = lanes_of_row(p), lane = own_lane() % lanes;
    const std::int64_t row = own_item() / lanes, n = p.size[p.rank - 1], rows = cuda::quotient(p.cells, n);
    const int cells = static_cast<int>(n), words = (cells + mark_bits - 1) / mark_bits;
    std::uint32_t mine[2] = {};
    if (lanes == cuda::warp)
        for (int k = 0; k * stretch < cells; ++k)
            mine[k] = row < rows ? read_marks(p, row, k * stretch, min(cells - k * stretch, stretch)) : 0;
    else if (row < rows) mine[0] = row_word(p, row * n, lane);
    const auto all_of_row = static_cast<unsigned>((std::uint64_t{1} << lanes) - 1);
    const auto full_of = [&](int k) {
        return __ballot_sync(cuda::every_lane, mine[k] != 0 ? 1 : 0) >> (own_lane() - lane) & all_of_row;
    };
    const unsigned long long low = full_of(0), full = low | static_cast<unsigned long long>(full_of(1)) << 32;
    for (int k = 0; k * stretch < cells; ++k) {
        const int at = k * cuda::warp + lane;
        const std::uint32_t steps = steps_beside(p, full, at, [&](int w) {
            const std::uint32_t first = __shfl_sync(cuda::every_lane, mine[0], w % cuda::warp, lanes),
                                second = __shfl_sync(cuda::every_lane, mine[1], w % cuda::warp, lanes);
            return static_cast<int>(w < cuda::warp ? first : second);
        });
        if (at < words && row < rows) to[at * rows + row] = {mine[k], steps};
    }
}

/// Returns the steps along the row from a cell of a word to the nearest mark.
__device__ std::uint32_t along_word(const uint2& word, int bit) {
    const std::uint32_t left = word.x << (31 - bit), right = word.x >> bit;
    const std::uint32_t a = left != 0 ? __clz(static_cast<int>(left)) : (word.y & 0xffff) + bit,
                        b = right != 0 ? __ffs(static_cast<int>(right)) - 1 : ((word.y >> 16) + 31 - bit) & 0xffff;
    return min(min(a, b), small_none);
}

/// Words apart from their steps, which may also exceed `small_none`.
struct mark_steps {
    std::uint16_t *before, *behind;  ///< from a word's first cell back, and from its last one on

    __device__ uint2 word(const std::uint32_t* marks, std::int64_t at) const {
        return {marks[at], before[at] | std::uint32_t{behind[at]} << 16};
    }
};

}  // namespace
}  // namespace nearfield::chessboard
