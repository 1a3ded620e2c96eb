// Nearest sites in words of 32 bits (site_words.cuh), pass by pass: launches the kernels in order. Windows of images
// that words (search.cuh) leave unresolved are solved in squares of 32 rows by 32 columns between two pivot rows, as
// for distances (pivot_squares.cuh), with ties.
//
// Remaining rows become words: the value of a row relative to the first one (15 bits), above the offset of its site to
// the right of the cell (16, biased), above a bit that is 1 unless the row lies before the square (1). This order is
// the tie rule, because of two sites in one column equally far from a cell one lies before it and one behind. The
// distance in rows is the root of the rest of the square after the columns. If more rows remain, all warps of a block
// find the least values in words of 32 bits first, then the rows that have them.
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/rows/pack.cuh"
#include "exact/gpu/sites/search.cuh"
#include "exact/gpu/sites/unresolved.cuh"
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

/// Returns the root of a square below 2^30. It is near enough to a whole number.
__device__ inline std::int32_t whole_root(std::int32_t square) {
    return static_cast<std::int32_t>(gpu::near_root(static_cast<float>(square)) + 0.5f);
}
/// Returns the root of a square below float_bound; sums with 2^23 and 2^23 * 1.5 convert.
__device__ inline std::int32_t small_root(std::int32_t square) {
    const float whole = __uint_as_float(static_cast<std::uint32_t>(square) | 0x4b000000u) - 8388608.0f;
    return __float_as_int(gpu::near_root(whole) + 12582912.0f) - 0x4b400000;
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

// ---- launches -------------------------------------------------------------------------------------------------------

/// Partition of a pass's lines: into strips of `rows` rows, one per warp, and into windows, one per block.
struct strip_cut {
    int rows;
    int warps;
    windows into;
};
/// Partitions lines. Long lines: windows as equal in size as whole squares allow, with a margin of at least `margin`
/// rows on either side. Small problems: also windows, so that every multiprocessor has some, and strips of 16 rows,
/// because 64 would leave schedulers of a large GPU idle.
inline strip_cut cut_strips(std::int64_t rows, std::int64_t groups, int margin = least_margin) {
    const bool small = groups * blocks_for(rows, long_strip) <= 4 * multiprocessors;
    const int strip = small ? small_strip : long_strip,
              span = small ? small_strip * strip_warps<small_strip> : long_strip * strip_warps<long_strip>;
    std::int64_t count = rows <= span ? 1 : blocks_for(rows, (span - 2 * margin) / square_rows * square_rows);
    if (small) count = std::max(count, std::min(multiprocessors / groups, rows / (2 * square_rows)));
    if (count == 1) return {strip, static_cast<int>(blocks_for(rows, strip)), {1, static_cast<int>(rows)}};
    const std::int64_t each = blocks_for(rows, count * square_rows) * square_rows;
    return {strip,
            static_cast<int>(blocks_for(each + 2 * margin, strip)),
            {static_cast<int>(blocks_for(rows, each)), static_cast<int>(each)}};
}

// Keys above this value cannot be settled by 64 steps; after the first steps they stop the search early if a sweep is
// the fallback. 512^3 of balls 3.16 ms, of a border 2.26, of blobs 2.30 (80^2: 3.23, 2.29, 2.31; 127^2: 3.18, 2.56,
// 2.30; H200, 2026-11-23).
constexpr std::uint32_t beyond_most_steps = 66 * 66 * one_value;
static_assert(beyond_most_steps > (most_steps + 1) * (most_steps + 1) * one_value && beyond_most_steps < near_cap);

/// The search for nearest sites of one or many images or volumes.
class site_search {
public:
    /// `many`: see line_pass::many.
    site_search(const device& on, const plan& p, const word_workspace& words, const cuda::workspace& memory,
                const std::int32_t* many)
        : on_(on), p_(p), words_(words), memory_(memory), many_(many) {}

    /// Returns the most windows of a pass.
    [[nodiscard]] std::int64_t most_windows() const {
        std::int64_t most = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis)
            most = std::max(most, groups_of(axis) * cut_strips(rows_of(axis), groups_of(axis)).into.count);
        return most;
    }
    /// Returns the most groups of 32 lines of a pass over a volume.
    [[nodiscard]] std::int64_t most_groups() const {
        return volumes() ? std::max(groups_of(p_.first_axis), groups_of(p_.first_axis + 1)) : 0;
    }
    /// Searches all axes, from packed lines. `state` holds 4 bytes a cell of volumes.
    template <ending End>
    void solve(const site_sink& to, std::uint32_t* state) const {
        const int axis = p_.rank - 2;
        if (!volumes()) return search_rows<End>(to, axis, nullptr);
        search_rows<ending::state>(to, axis, state);
        search_planes<End>(to, axis - 1, state);
    }

private:
    [[nodiscard]] bool volumes() const { return p_.rank - p_.first_axis == 3; }
    [[nodiscard]] std::int64_t rows_of(int axis) const { return p_.size[static_cast<std::size_t>(axis)]; }
    /// Returns the number of groups of 32 lines; along the second axis a group lies in one word column.
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        const std::int64_t columns = p_.cells / rows_of(axis), length = rows_of(p_.rank - 1);
        return axis == p_.rank - 2 ? columns / length * blocks_for(length, cuda::warp)
                                   : blocks_for(state_columns(p_, axis), cuda::warp);
    }
    /// True if hulls have no room for the lines along an axis.
    [[nodiscard]] bool only_sweeps(int axis) const { return !rows_fit_shared(p_, axis); }
    /// True if a sweep solves what the steps leave unresolved, if that is a lot.
    [[nodiscard]] bool sweeps(int axis) const { return groups_of(axis) >= groups_for_sweeps; }

    template <ending End>
    void search_rows(const site_sink& to, int axis, std::uint32_t* state) const {
        const std::int64_t pitch = End == ending::state ? state_pitch(p_) : rows_of(p_.rank - 1);
        const site_words from{{words_.lines(memory_), pitch}};
        const windows cut = search_strips<End>(from, axis, near_cap, state, to);
        const unresolved_tiles unresolved = words_.unresolved(memory_, axis);
        if constexpr (End == ending::state) finish<End>(from, axis, cut, unresolved, state, to);
        else finish_between_pivots<sites_between<End>>(on_, from, cut, unresolved, words_.pivots(memory_), to);
    }

    template <ending End>
    void search_planes(const site_sink& to, int axis, const std::uint32_t* state) const {
        const site_states from{lines_of_state(p_, axis), state};
        const windows cut = search_strips<End>(from, axis, sweeps(axis) ? beyond_most_steps : near_cap, nullptr, to);
        finish<End>(from, axis, cut, words_.unresolved(memory_, axis), nullptr, to);
    }

    /// Searches by steps; returns the windows of the lines.
    template <ending End, class Lines>
    windows search_strips(const Lines& from, int axis, std::uint32_t beyond_steps, std::uint32_t* state,
                          const site_sink& to) const {
        const strip_cut cut = cut_strips(rows_of(axis), groups_of(axis));
        const auto launch = [&]<int Rows>() {
            cuda::launch_overlapped(on_, search_sites<Rows, End, Lines>, groups_of(axis) * cut.into.count,
                                    dim3(cut.warps * cuda::warp),
                                    cut.warps * sizeof(typename Lines::template memory<Rows>), from, cut.into,
                                    words_.unresolved(memory_, axis), many_, beyond_steps, state, to);
        };
        if (cut.rows == small_strip) launch.template operator()<small_strip>();
        else launch.template operator()<long_strip>();
        return cut.into;
    }

    /// Solves the unresolved windows of lines that fit shared memory. Only the device knows their number, so as many
    /// blocks as a GPU holds share them.
    template <ending End, class Lines>
    void finish(const Lines& from, int axis, const windows& cut, const unresolved_tiles& unresolved,
                std::uint32_t* state, const site_sink& to) const {
        const std::int64_t rows = rows_of(axis), groups = groups_of(axis), bands = blocks_for(rows, band_rows);
        if (!only_sweeps(axis))
            cuda::launch_overlapped(on_, search_unresolved_sites<End, Lines>,
                                    std::min(groups, 2 * multiprocessors * blocks_for(short_rows, rows)),
                                    dim3(cuda::warp, static_cast<unsigned>(bands)), line_hull::bytes(rows), from, cut,
                                    unresolved, sweeps(axis), state, to);
        if (sweeps(axis))
            cuda::launch_overlapped(on_, sweep_unresolved_sites<End, Lines>,
                                    std::min(blocks_for(groups, sweep_warps), sweep_blocks * multiprocessors),
                                    dim3(cuda::warp, sweep_warps), line_winners::bytes(rows), from, cut, unresolved,
                                    only_sweeps(axis) ? 1 : least_swept, state, to);
    }

    const device& on_;
    const plan& p_;
    const word_workspace& words_;
    const cuda::workspace& memory_;
    const std::int32_t* many_;
};

}  // namespace nearfield::exact
