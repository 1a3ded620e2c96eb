// Nearest sites in those windows of images that the words (search.cuh) leave unresolved: squares of 32 rows by 32
// columns between two pivot rows, as for distances (pivot_squares.cuh), with ties.
//
// Remaining rows become words: the value of a row relative to the first one (15 bits), above the offset of its site to
// the right of the cell (16, biased), above a bit that is 1 unless the row lies before the square (1). This order is
// the tie rule, because of two sites in one column equally far from a cell one lies before it and one behind. The
// distance in rows is the root of the rest of the square after the columns. If more rows remain, all warps of a block
// find the least values in words of 32 bits first, then the rows that have them.
#pragma once

#include "exact/gpu/sites/search.cuh"
#include "exact/gpu/tiles/pivot_squares.cuh"

namespace nearfield::exact {
namespace {

/// The candidate of a row: R, as in pivot_squares.cuh, and the lower 17 bits of its words.
struct site_candidate {
    std::uint32_t r, tie;

    static constexpr int tie_bits = 17;
    static constexpr std::int32_t bias = 1 << 15;
    static constexpr std::uint32_t zero = 15900;
    static constexpr std::uint32_t most = (1u << (32 - tie_bits)) - 1 - zero;  // largest R: greater values never win
    static_assert(zero > 62 * most_warp_rows && most > 64 * most_warp_rows);

    /// Returns the word of the square's first row, `s` rows behind the first remaining one.
    __device__ std::uint32_t word() const { return (min(r, most) + zero) << tie_bits | tie; }
    /// Returns the decrease of the word from each row to the next.
    static __device__ std::uint32_t step(std::uint32_t s) { return s << (tie_bits + 1); }

    static __device__ std::int32_t columns(std::uint32_t word) {
        return static_cast<std::int32_t>(word >> 1 & 0xffff) - bias;
    }
    static __device__ bool behind(std::uint32_t word) { return (word & 1) != 0; }
    /// Returns the value in row i of the square.
    static __device__ std::int32_t value(std::uint32_t word, std::int32_t i, const relative_rows& of) {
        return static_cast<std::int32_t>(word >> tie_bits) + 2 * i * of.rows +
               (of.value + i * i - static_cast<std::int32_t>(zero));
    }
};

__device__ inline site_candidate candidate_of(const line_word& word, const relative_rows& of, int k) {
    // Exceeds every real distance, and the sum with its square is below 2^32.
    constexpr std::int32_t farther_than_all = 46340;
    std::int32_t left, right;
    // Most words here contain no sites.
    if (__any_sync(cuda::every_lane, word.sites != 0)) left = word.to_left(of.lane), right = word.to_right(of.lane);
    else left = word.before() + of.lane, right = word.after() + 31 - of.lane;
    const std::int32_t apart = min(min(left, right), farther_than_all), e = k - of.rows,
                       columns = left <= right ? -left : right;
    return {static_cast<std::uint32_t>(apart * apart + e * e) - static_cast<std::uint32_t>(of.value),
            static_cast<std::uint32_t>(columns + site_candidate::bias) << 1 | (e >= 0 ? 1u : 0u)};
}

/// Rows of a square: 32 rows of a lane's line.
class site_square {
public:
    __device__ explicit site_square(const relative_rows& of) {
        const std::uint32_t first = site_candidate{0, candidate_of(of.load(0), of, 0).tie}.word();
#pragma unroll
        for (auto& one : best) one = first;
    }
    __device__ void relax_one(const relative_rows& of, const line_word& word, std::uint32_t r, std::uint32_t s) {
        const site_candidate one{r, candidate_of(word, of, static_cast<int>(s)).tie};
        const std::uint32_t first = one.word(), step = site_candidate::step(s);
#pragma unroll
        for (std::uint32_t i = 0; i < square_rows; ++i) best[i] = min(best[i], first - i * step);
    }
    /// Relaxes with rows k and k + 1.
    __device__ void relax(const relative_rows& of, const line_word& a, const line_word& b, int k) {
        const auto s = static_cast<std::uint32_t>(k);
        const std::uint32_t first = candidate_of(a, of, k).word(), second = candidate_of(b, of, k + 1).word(),
                            step = site_candidate::step(s), next = site_candidate::step(s + 1);
#pragma unroll
        for (std::uint32_t i = 0; i < square_rows; ++i)
            best[i] = __vimin3_u32(best[i], first - i * step, second - i * next);
    }

    std::uint32_t best[square_rows];
};

/// Returns the root of a square, accurate enough that rounding to integers is exact.
__device__ inline float near_root(float square) {
    std::uint32_t root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=r"(root) : "r"(__float_as_uint(square)));
    return __uint_as_float(root);
}
/// Returns the root of a square below 2^30.
__device__ inline std::int32_t whole_root(std::int32_t square) {
    return static_cast<std::int32_t>(near_root(static_cast<float>(square)) + 0.5f);
}
/// Returns the root of a square below float_bound; sums with 2^23 and 2^23 * 1.5 convert.
__device__ inline std::int32_t small_root(std::int32_t square) {
    const float whole = __uint_as_float(static_cast<std::uint32_t>(square) | 0x4b000000u) - 8388608.0f;
    return __float_as_int(near_root(whole) + 12582912.0f) - 0x4b400000;
}

/// A square of an unresolved window with the output of its sites.
template <ending End>
struct sites_between : unresolved_square {
    using lines = site_words;
    using sink = site_sink;
    using best_values = site_square;
    static constexpr int cell_words = 2;  ///< of shared memory, for each cell of a square

    site_target<End, 1> target;
    int width;

    __device__ sites_between(const site_words& from, const windows& cut, const unresolved_tiles& unresolved,
                             const pivot_lines& pivots, std::int64_t nth, const site_sink& to)
        : unresolved_square(from, cut, unresolved, pivots, nth),
          target(from.template target<End>(nullptr, to, within ? group : line_group{},
                                           static_cast<int>(threadIdx.x) % cuda::warp)),
          width(within ? from.width(group) : 0) {}

    /// Finishes the square with all warps of a block.
    __device__ void finish_together(std::int32_t* best) const {
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        if (is_wide()) return finish_wide(warp, between_warps);
        const relative_rows of(s, left);
        relax_together(*this, of, best);
        auto* const ties = reinterpret_cast<std::uint32_t*>(best + square_rows * cuda::warp) + s.lane;
        best += s.lane;
        const auto tie_of = [&](const line_word& word, int row) {
            return static_cast<std::uint32_t>(word.to_site(s.lane) + site_candidate::bias) << 16 |
                   static_cast<std::uint32_t>(row);
        };
        const std::uint32_t first = tie_of(of.load(0), left.from);
        for (int i = warp; i < square_rows; i += between_warps)
            ties[i * cuda::warp] = best[i * cuda::warp] == 0 ? first : 0xffffffffu;
        whole_square mine;
#pragma unroll
        for (int i = 0; i < square_rows; ++i) mine.best[i] = best[i * cuda::warp];
        __syncthreads();
        relax_below(s, left, of, warp, between_warps, [&](const line_word& word, std::uint32_t r, std::uint32_t rows) {
            if (!__any_sync(cuda::every_lane, mine.has(r, rows))) return;
            const std::uint32_t tie = tie_of(word, left.from + static_cast<int>(rows));
#pragma unroll
            for (int i = 0; i < square_rows; ++i)
                if (mine.has(i, r, rows)) atomicMin(ties + i * cuda::warp, tie);
        });
        __syncthreads();
        if (s.lane < width)
            for (int i = warp; i <= s.bottom - s.top; i += between_warps) {
                const std::uint32_t tie = ties[i * cuda::warp];
                target.put(s.top + i, of.value + best[i * cuda::warp] + 2 * i * of.rows + i * i,
                           {static_cast<std::int32_t>(tie >> 16) - site_candidate::bias, 0},
                           static_cast<std::int32_t>(tie & 0xffff) - (s.top + i));
            }
        __syncthreads();
    }

    __device__ void finish_wide(int part, int parts) const {
        if (s.lane < width)
            each_wide(part, parts, [&](int row, std::int64_t value, std::int32_t columns, int winner) {
                target.put(row, value, {columns, 0}, winner - row);
            });
    }
    __device__ void put(const relative_rows& of, const site_square& found) const {
        const auto& best = found.best;
        // Rows of the square itself may win; a word does not tell whether such a row lies before or after a cell.
        const bool own = __any_sync(cuda::every_lane, left.from <= s.bottom && left.end >= s.top);
        if (s.lane >= width) return;
        const int rows = s.bottom - s.top + 1;
        if constexpr (End == ending::index32 || End == ending::index64) {
            if (!own && rows == square_rows && left.bound < float_bound && !target.to.limited) {
                if constexpr (End == ending::index32) return put_indices(of, best, target.to.out.index32);
                else return put_indices(of, best, target.to.out.index);
            }
        }
        // The words go to local memory, so that the code that stores a site exists only once.
        std::uint32_t words[square_rows];
#pragma unroll
        for (int i = 0; i < square_rows; ++i) words[i] = best[i];
#pragma unroll 1
        for (int i = 0; i < rows; ++i) {
            const std::int32_t value = site_candidate::value(words[i], i, of);
            target.put(s.top + i, value, {site_candidate::columns(words[i]), 0}, along(words[i], value, i));
        }
    }

private:
    /// Returns the rows from row i of the square back to the site of its word. A site behind the square's first row
    /// lies before row i if one is equally far there: of two the first wins.
    __device__ std::int32_t along(std::uint32_t word, std::int32_t value, int i) const {
        const std::int32_t columns = site_candidate::columns(word), rows = whole_root(value - columns * columns);
        if (!site_candidate::behind(word)) return -rows;
        if (rows == 0 || rows > i) return rows;
        const line_word before = s.words[s.top + i - rows];
        const bool has = columns <= 0 ? before.to_left(s.lane) == -columns : before.to_right(s.lane) == columns;
        return has ? -rows : rows;
    }
    template <class Index>
    __device__ void put_indices(const relative_rows& of, const std::uint32_t (&best)[square_rows], Index* out) const {
        Index here = target.here + static_cast<Index>(target.row_at(s.top));
        Index* cell = out + target.first + target.row_at(s.top);
#pragma unroll
        for (int i = 0; i < square_rows; ++i, cell += target.inner, here += target.inner) {
            const std::int32_t columns = site_candidate::columns(best[i]),
                               rows = small_root(site_candidate::value(best[i], i, of) - columns * columns);
            *cell = here + columns + (site_candidate::behind(best[i]) ? rows : -rows) * target.inner;
        }
    }
};

}  // namespace
}  // namespace nearfield::exact
