// Rows of up to 4096 cells on a device, as words of 32 marks with the steps to the nearest mark on either side.
#pragma once

#include "chessboard/cuda_rows.cuh"

namespace nearfield::chessboard {
namespace {

constexpr int most_small = 4 * stretch;       ///< cells of an axis
constexpr std::uint32_t small_none = 0x7fff;  ///< the distance without a site

/// Which words of a row have marks, a bit for each.
template <int Parts>
struct words_marked {
    unsigned long long part[Parts];

    [[nodiscard]] __device__ bool any() const { return (part[0] | part[Parts - 1]) != 0; }
    /// The last of the words before `end`, -1 if there is none.
    [[nodiscard]] __device__ int last_before(int end) const {
#pragma unroll
        for (int k = Parts - 1; k >= 0; --k) {
            const int bits = min(end - k * 64, 64);
            const unsigned long long own = bits > 0 ? part[k] & ~0ULL >> (64 - bits) : 0;
            if (own != 0) return k * 64 + 63 - __clzll(static_cast<long long>(own));
        }
        return -1;
    }
    /// The first of the words from `begin` on, -1 if there is none.
    [[nodiscard]] __device__ int first_from(int begin) const {
#pragma unroll
        for (int k = 0; k < Parts; ++k) {
            const int skipped = max(begin - k * 64, 0);
            const unsigned long long own = skipped < 64 ? part[k] >> skipped << skipped : 0;
            if (own != 0) return k * 64 + __ffsll(static_cast<long long>(own)) - 1;
        }
        return -1;
    }
};
/// Returns the steps beside word `at` of a row: from its first cell back to a mark before the word in the lower half,
/// and from its last cell on. `full` tells which words of the row have marks, and word_at(w) gives one to all lanes.
template <int Parts, class Word>
__device__ std::uint32_t steps_beside(const problem& p, const words_marked<Parts>& full, int at, const Word& word_at) {
    constexpr int all = Parts * 64, none = static_cast<int>(small_none);
    const border ends = p.ends[p.rank - 1];
    const auto cells = static_cast<int>(p.size[p.rank - 1]);
    const int first = at * mark_bits, last = first + mark_bits - 1;
    int w = full.last_before(at), v = full.first_from(at + 1), turned_back = 0, turned_on = 0;
    if (ends == border::periodic && full.any()) {
        if (w < 0) w = full.last_before(all), turned_back = cells;
        if (v < 0) v = full.first_from(0), turned_on = cells;
    }
    const int mark = max(w, 0) * mark_bits + 31 - __clz(word_at(max(w, 0))),
              next = max(v, 0) * mark_bits + __ffs(word_at(max(v, 0))) - 1;
    const int back = w >= 0                   ? first - mark + turned_back
                     : ends == border::closed ? first + 1
                                              : none,
              on = v >= 0                   ? next - last + turned_on
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
    constexpr int parts = most_small / stretch;
    std::uint32_t mine[parts] = {};
    if (lanes == cuda::warp)
#pragma unroll
        for (int k = 0; k < parts; ++k)
            mine[k] = k * stretch < cells && row < rows
                          ? read_marks(p, row, k * stretch, min(cells - k * stretch, stretch))
                          : 0;
    else if (row < rows) mine[0] = row_word(p, row * n, lane);
    const auto all_of_row = static_cast<unsigned>((std::uint64_t{1} << lanes) - 1);
    words_marked<parts / 2> full{};
#pragma unroll
    for (int k = 0; k < parts; ++k)
        full.part[k / 2] |=
            static_cast<unsigned long long>(
                __ballot_sync(cuda::every_lane, mine[k] != 0 ? 1 : 0) >> (own_lane() - lane) & all_of_row)
            << 32 * (k % 2);
    for (int k = 0; k * stretch < cells; ++k) {
        const int at = k * cuda::warp + lane;
        const std::uint32_t steps = steps_beside(p, full, at, [&](int w) {
            std::uint32_t found = 0;
#pragma unroll
            for (int i = 0; i < parts; ++i)
                if (i * stretch < cells) {
                    const std::uint32_t one = __shfl_sync(cuda::every_lane, mine[i], w % cuda::warp, lanes);
                    if (w / cuda::warp == i) found = one;
                }
            return static_cast<int>(found);
        });
        std::uint32_t own = 0;
#pragma unroll
        for (int i = 0; i < parts; ++i)
            if (i == k) own = mine[i];
        if (at < words && row < rows) to[at * rows + row] = {own, steps};
    }
}

/// Returns the steps along the row from a cell of a word to the nearest mark.
__device__ std::uint32_t along_word(const uint2& word, int bit) {
    const std::uint32_t left = word.x << (31 - bit), right = word.x >> bit;
    const std::uint32_t a = left != 0 ? __clz(static_cast<int>(left)) : (word.y & 0xffff) + bit,
                        b = right != 0 ? __ffs(static_cast<int>(right)) - 1 : ((word.y >> 16) + 31 - bit) & 0xffff;
    return min(min(a, b), small_none);
}

}  // namespace
}  // namespace nearfield::chessboard
