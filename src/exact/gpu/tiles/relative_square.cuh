// Values of a square of 32 rows by 32 columns, two cells a word, relative to those of the first row that can win in
// it: a warp has a square, a lane a column. pivot_squares.cuh says which rows relax it.
#pragma once

#include "exact/gpu/tiles/tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int square_rows = 32;
// Larger distances are replaced by this one, so that the sum of two squares is below 2^31. Such a sum bounds nothing:
// squares end at `largest_bound`, and rows that far apart may still relax it without exceeding 2^31.
constexpr std::int32_t far_apart = 32767;
constexpr std::int32_t largest_bound = (1 << 30) - (1 << 22);
static_assert((32703 + 31) * (32703 + 31) + far_apart * far_apart > 0 && 32703LL * 32703 <= largest_bound);
constexpr std::int32_t float_bound = 1 << 23;  // whole numbers below convert to floats in one operation

/// Returns the cells from the word to the line's nearest site, at most far_apart.
__device__ inline std::int32_t near_word(const line_word& word) {
    return word.sites != 0 ? 0 : min(min(word.before(), word.after()), far_apart);
}

/// A warp's square.
struct square {
    const line_word* words;
    int top, bottom;  ///< first and last row
    int lane;
    int half = 0;  ///< see packed_lines
};

constexpr int between_warps = 8;
constexpr int between_blocks = 4;  // blocks on a multiprocessor
constexpr int between_threads = between_warps * cuda::warp;
// Rows between the first and the last remaining row of a lane: up to most_own_rows are taken without a test; more
// than most_warp_rows are shared by all warps of a block.
constexpr int most_own_rows = 96, most_warp_rows = 256;
constexpr int most_relative = 511;  // limit of the offset s in words
static_assert(most_own_rows <= most_warp_rows && most_warp_rows <= most_relative);
constexpr int looked_squares = 16;  // squares that a warp examines before its block finishes the shared ones

/// Rows of a lane's line that can win in its square, and a bound of the values of the square's 32 rows.
struct left_rows {
    int from, end;  ///< both included
    std::int32_t bound;
};

/// A row's values relative to those of the first remaining row, for rows i and i + 16 in one word: R - 2 * i * s
/// + zero.
struct relative_candidate {
    std::uint32_t first, step;

    static constexpr std::uint32_t zero = 32000;
    static constexpr std::uint32_t most = 0xffff - zero;  // largest R: greater values never win
    static_assert(zero > 62 * most_relative && most > 64 * most_relative);

    /// `s` is equal in all lanes.
    __device__ relative_candidate(std::uint32_t r, std::uint32_t s)
        : first((min(r, most) + zero) * 65537 - (s << 21)), step(2 * 65537 * s) {}
    __device__ std::uint32_t at(std::uint32_t i) const { return first - i * step; }
};

/// The remaining rows of the calling lane, one after another.
struct relative_rows {
    const line_word* words;  ///< words from the first row on
    int lane, last;          ///< last row, relative to the first
    int rows;                ///< from the first row to the square
    std::int32_t value;      ///< value of the first row in the square's first row
    int half = 0;            ///< see packed_lines

    __device__ relative_rows(const square& s, const left_rows& mine)
        : words(s.words + mine.from), lane(s.lane), last(mine.end - mine.from), rows(s.top - mine.from), value(0) {
        half = s.half, value = static_cast<std::int32_t>(value_of(load(0), 0));
    }
    __device__ line_word load(int k) const { return k <= last ? words[k] : word_without_sites(); }
    __device__ std::uint32_t value_of(const line_word& word, int k) const {
        // Most words here contain no sites.
        const std::int32_t apart =
            min(__any_sync(cuda::every_lane, word.sites != 0) ? word.distance(lane)
                                                              : min(word.before() + lane, word.after() + 31 - lane),
                far_apart);
        const int e = k - rows;
        return static_cast<std::uint32_t>(apart * (apart + half)) + static_cast<std::uint32_t>(e * (e - half));
    }
    __device__ std::uint32_t relative(const line_word& word, int k) const {
        return value_of(word, k) - static_cast<std::uint32_t>(value);
    }
};

class relative_square {
public:
    __device__ explicit relative_square(const relative_rows&) {
#pragma unroll
        for (auto& both : best_) both = relative_candidate::zero * 65537;
    }
    /// Relaxes with a row of value `r` in the square's first row.
    __device__ void relax_one(const relative_rows&, const line_word&, std::uint32_t r, std::uint32_t row) {
        const relative_candidate one(r, row);
#pragma unroll
        for (std::uint32_t i = 0; i < 16; ++i) best_[i] = __vminu2(best_[i], one.at(i));
    }
    /// Relaxes with rows k and k + 1.
    __device__ void relax(const relative_rows& of, const line_word& a, const line_word& b, int k) {
        const relative_candidate one(of.relative(a, k), static_cast<std::uint32_t>(k)),
            other(of.relative(b, k + 1), static_cast<std::uint32_t>(k + 1));
#pragma unroll
        for (std::uint32_t i = 0; i < 16; ++i) best_[i] = __vimin3_u16x2(best_[i], one.at(i), other.at(i));
    }
    /// Returns the value of row I; the first remaining row is `rows` before the square, with `value` in its first row.
    template <int I>
    __device__ std::int32_t whole(std::int32_t value, std::int32_t rows) const {
        const auto more = static_cast<std::int32_t>(I >= 16 ? best_[I % 16] >> 16 : best_[I % 16] & 0xffff);
        return more + 2 * I * rows + (value + I * I - static_cast<std::int32_t>(relative_candidate::zero));
    }

private:
    std::uint32_t best_[16];
};

}  // namespace
}  // namespace nearfield::exact
