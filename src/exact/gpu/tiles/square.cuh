// Squares of 32 rows of 32 neighbouring lines, one per warp, if sites are few: every row that could win somewhere in
// the square relaxes it, one row with sites after another.
//
// Each row with sites has `near`, the distance of the 32 lines from the nearest of its sites, and `reach`, an upper
// bound of their distances. Then reach^2 + (most rows apart)^2 bounds every value of the square from above, near^2 +
// (fewest rows apart)^2 the row's from below. Rows whose lower bound exceeds the least upper bound are dropped.
#pragma once

#include "exact/gpu/tiles/tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int square_rows = 32;
// Limits of the rows that could win in a square, at most and on average over a warp's; with more, hulls cost less.
constexpr int most_candidates = 96, many_candidates = 64;
constexpr int most_looked =
    512;  // limit of rows with sites beside a square; with more it would have too many candidates
constexpr int pairs_a_bound = 3;  // candidates, in pairs, between two updates of the largest value

// Larger distances are replaced by this one, so that the sum of two squares is below 2^31. Such a sum bounds nothing:
// squares end at `largest_bound`, and rows that far apart may still relax it without exceeding 2^31.
constexpr std::int32_t far_apart = 32767;
constexpr std::int32_t largest_bound = (1 << 30) - (1 << 22);
static_assert((32703 + 31) * (32703 + 31) + far_apart * far_apart > 0 && 32703LL * 32703 <= largest_bound);
constexpr std::int32_t float_bound = 1 << 23;  // whole numbers below convert to floats in one operation

/// A row with sites: its number, and near and reach, as uint16, for a column of words.
struct sited_row {
    std::int32_t row;
    std::uint32_t bits;

    __device__ std::int32_t near() const { return static_cast<std::int32_t>(bits & 0xffff); }
    __device__ std::int32_t reach() const { return static_cast<std::int32_t>(bits >> 16); }
};

/// Returns the cells from the word to the line's nearest site, at most far_apart.
__device__ inline std::int32_t near_word(const line_word& word) {
    return word.sites != 0 ? 0 : min(min(word.before(), word.after()), far_apart);
}

/// Makes the entry of a row that has sites.
__device__ inline sited_row sited(const line_word& word, int row) {
    const std::int32_t near = near_word(word);
    std::int32_t reach = 0;
    if (word.sites != 0) {
        const std::int32_t first = __ffs(static_cast<int>(word.sites)) - 1,
                           behind = __clz(static_cast<int>(word.sites));
        reach = max(max(first, behind), (32 - behind - first) / 2);
    } else {
        reach = min(min(near + 31, (word.after() + word.before() + 32) / 2), far_apart);
    }
    return {row, static_cast<std::uint32_t>(near | reach << 16)};
}

/// Candidate of a row for a lane's line: its value there, and the rows from it to the first row of the square.
/// Candidates are taken in pairs, so that one minimum of three serves both.
struct candidate {
    std::int32_t value, e;
};

/// 32 rows of a lane's line, two per word: value - i^2 + bias of rows i and i + 16. A row's candidate is then linear in
/// i: f + (e + i)^2 - i^2 with e the rows from it to the first. This holds while no relevant value exceeds `bound`:
/// rows that far are up to 130 + 31 away, and far_value + 161^2 + bias is below 2^16.
class narrow_square {
public:
    static constexpr std::int32_t bound = 130 * 130;

    __device__ narrow_square() {
#pragma unroll
        for (auto& both : best_) both = 0xffffffffu;
    }
    __device__ void relax(const candidate& one, const candidate& other) {
        const std::uint32_t first = start(one), second = start(other);
#pragma unroll
        for (std::uint32_t i = 0; i < 16; ++i)
            best_[i] = __vimin3_u16x2(best_[i], first + i * step(one), second + i * step(other));
    }
    __device__ std::int32_t largest() const {
        std::uint32_t most = 0;
#pragma unroll
        for (int i = 0; i < 16; ++i)
            most = __viaddmax_u16x2(best_[i], static_cast<std::uint32_t>(i * i | (i + 16) * (i + 16) << 16), most);
        return static_cast<std::int32_t>(max(most & 0xffff, most >> 16)) - bias;
    }
    template <int I>
    __device__ float value() const {
        return whole_half<(I >= 16), bias - I * I>(best_[I % 16]);
    }
    template <int I>
    __device__ std::int32_t whole() const {
        return static_cast<std::int32_t>(I >= 16 ? best_[I % 16] >> 16 : best_[I % 16] & 0xffff) + I * I - bias;
    }

private:
    static __device__ std::uint32_t start(const candidate& row) {
        const auto low = static_cast<std::uint32_t>(min(row.value, far_value) + row.e * row.e + bias);
        return ((low + 32 * static_cast<std::uint32_t>(row.e)) << 16) + low;
    }
    static __device__ std::uint32_t step(const candidate& row) { return 2 * static_cast<std::uint32_t>(row.e) * 65537; }

    static constexpr std::int32_t far_value = 38000, bias = 1024;
    static_assert(far_value + 161 * 161 + bias < 1 << 16 && bias > 31 * 31);
    std::uint32_t best_[16];
};

/// 32 rows of a lane's line for any values, a row per word.
class wide_square {
public:
    __device__ wide_square() {
#pragma unroll
        for (auto& one : best_) one = no_site<std::int32_t>();
    }
    __device__ void relax(const candidate& one, const candidate& other) {
        const std::int32_t first = one.value + one.e * one.e, second = other.value + other.e * other.e;
#pragma unroll
        for (int i = 0; i < square_rows; ++i)
            best_[i] = __vimin3_s32(best_[i], first + 2 * i * one.e, second + 2 * i * other.e);
    }
    __device__ std::int32_t largest() const {
        std::int32_t most = 0;
#pragma unroll
        for (int i = 0; i < square_rows; ++i) most = __viaddmax_s32(best_[i], i * i, most);
        return most;
    }
    /// Returns a value below float_bound.
    template <int I>
    __device__ float value() const {
        return __uint_as_float(static_cast<std::uint32_t>(best_[I] + I * I) | 0x4b000000u) - 8388608.0f;
    }
    template <int I>
    __device__ std::int32_t whole() const {
        return best_[I] + I * I;
    }

private:
    std::int32_t best_[square_rows];
};

/// The rows of a list that can win, and a bound of all values.
struct window {
    std::int32_t bound;
    int left, right;
};

/// A warp's square, and the rows with sites of its tile in order.
struct square {
    const line_word* words;
    const sited_row* list;
    int count;        ///< length of the list
    int middle;       ///< position in the list of the first row from `top` on
    int top, bottom;  ///< first and last row
    int lane;
    int half = 0;  ///< see packed_lines

    /// Returns rows whose square bounds what the way from `row` costs from below.
    __device__ std::int32_t rows_to(std::int32_t row) const {
        return min(max(max(top - row, row - bottom - half), 0), far_apart);
    }
    __device__ std::int32_t least(sited_row s) const {
        const std::int32_t apart = rows_to(s.row);
        return s.near() * s.near() + apart * apart;
    }
    __device__ std::int32_t most(sited_row s) const {
        const std::int32_t apart = min(max(abs(s.row - top), abs(s.row - bottom)), far_apart) + half,
                           reach = s.reach() + half;
        return reach * reach + apart * apart;
    }
    /// Searches outward, 32 rows at a time, until farther rows cannot win. Returns no bound if that takes too many.
    __device__ window look() const {
        window w{no_site<std::int32_t>(), middle, middle};
        for (bool more = true; more;) {
            more = false;
            std::int32_t here = no_site<std::int32_t>();
            const auto wanted = [&](sited_row nearest) {
                const std::int32_t apart = rows_to(nearest.row);
                return apart * apart <= w.bound;
            };
            if (w.right < count && wanted(list[w.right])) {
                if (w.right + lane < count) here = most(list[w.right + lane]);
                w.right = min(w.right + cuda::warp, count), more = true;
            }
            if (w.left > 0 && wanted(list[w.left - 1])) {
                if (w.left - 1 - lane >= 0) here = min(here, most(list[w.left - 1 - lane]));
                w.left = max(w.left - cuda::warp, 0), more = true;
            }
            if (more) w.bound = min(w.bound, __reduce_min_sync(cuda::every_lane, here));
            if (w.right - w.left > most_looked) return {no_site<std::int32_t>(), w.left, w.right};
        }
        return w;
    }
    /// Returns the number of rows that could win, as far as it is known in advance.
    __device__ int count_candidates(const window& w) const {
        int found = 0;
        for (int at = w.left; at < w.right; at += cuda::warp)
            found += __popc(__ballot_sync(cuda::every_lane, at + lane < w.right && least(list[at + lane]) <= w.bound));
        return found;
    }
};

/// Candidates taken by a square. They come in pairs, so that one minimum of three serves both.
template <class Values>
struct candidates {
    Values best;
    std::int32_t bound;  ///< bound of all values of the square
    std::int32_t mine;   ///< the lane ignores values from here on
    candidate waiting{};
    bool waits = false;
    int since = 0;

    __device__ explicit candidates(std::int32_t bound) : bound(bound), mine(bound + 1) {}

    /// Takes a candidate; returns true if the bounds have fallen. Values are at most `more` above those of `best`.
    __device__ bool take(const candidate& here, std::int32_t more) {
        waits = !waits;
        if (waits) waiting = here;
        else best.relax(waiting, here);
        if (waits || ++since < pairs_a_bound) return false;
        since = 0;
        mine = min(mine, best.largest() + more);
        bound = min(bound, __reduce_max_sync(cuda::every_lane, mine));
        return true;
    }
    __device__ void finish() {
        if (waits) best.relax(waiting, waiting);
    }
    /// Takes 32 rows with sites, one per lane, whose values are at least `least`; from the last on if `backwards`.
    __device__ void rows(const square& s, const line_word& word, int row, std::int32_t least, bool backwards) {
        std::uint32_t wanted = __ballot_sync(cuda::every_lane, least <= bound);
        while (wanted != 0) {
            const int nth = backwards ? 31 - __clz(static_cast<int>(wanted)) : __ffs(static_cast<int>(wanted)) - 1;
            const line_word theirs{__shfl_sync(cuda::every_lane, word.sites, nth),
                                   __shfl_sync(cuda::every_lane, word.beside, nth)};
            const std::int32_t apart = min(theirs.distance(s.lane), far_apart), value = apart * (apart + s.half);
            const int from = __shfl_sync(cuda::every_lane, row, nth), between = s.rows_to(from);
            wanted &= ~(1u << nth);
            if (!__any_sync(cuda::every_lane, value + between * between < mine)) continue;
            const int e = s.top - from;
            if (take({value + s.half * e, e}, s.half * (square_rows - 1)))
                wanted &= __ballot_sync(cuda::every_lane, least <= bound);
        }
    }
};

/// Relaxes the square with the rows that could win, nearest groups of rows first.
template <class Values>
__device__ void gather(const square& s, const window& w, candidates<Values>& to) {
    for (int up = s.middle - cuda::warp, down = s.middle; down < w.right || up + cuda::warp > w.left;
         up -= cuda::warp, down += cuda::warp) {
#pragma unroll 1
        for (const bool before : {false, true}) {
            const int at = (before ? up : down) + s.lane;
            std::int32_t least = no_site<std::int32_t>(), row = 0;
            line_word word{};
            if (at >= w.left && at < w.right) {
                row = s.list[at].row, least = s.least(s.list[at]);
                if (least <= to.bound) word = s.words[row];
            }
            to.rows(s, word, row, least, before);
        }
    }
    to.finish();
}

template <bool Last, class Values, int... I>
__device__ void write_square(const square& s, std::int32_t bound, const tile_target<Last>& target, const Values& best,
                             std::integer_sequence<int, I...>) {
    if (s.lane >= target.lines) return;
    const int rows = s.bottom - s.top + 1;
    if constexpr (Last) {
        if (target.to.out.only_distance32 && !target.to.limited && rows == square_rows && bound < float_bound) {
            float* out = target.to.out.distance32 + target.first + target.row_at(s.top);
            if (target.to.out.in_units())
                ((*out = root_in(target.to.out.unit2, best.template value<I>()), out += target.inner), ...);
            else ((*out = root_of_whole(best.template value<I>()), out += target.inner), ...);
            return;
        }
    }
    // The values go to local memory, so that the code for all combinations of fields exists once, not 32 times.
    const std::int32_t values[] = {(best.template whole<I>() + s.half * I)...};
#pragma unroll 1
    for (int i = 0; i < rows; ++i) target.put(s.top + i, values[i]);
}

template <class Values, bool Last>
__device__ void finish_square_in(const square& s, const window& w, const tile_target<Last>& target) {
    candidates<Values> to(w.bound);
    gather(s, w, to);
    write_square(s, w.bound, target, to.best, std::make_integer_sequence<int, square_rows>{});
}

template <bool Last>
__device__ void finish_square(const square& s, const window& w, const tile_target<Last>& target) {
    if (s.count == 0) {
        if (s.lane < target.lines)
            for (int row = s.top; row <= s.bottom; ++row) target.put(row, no_site<std::int32_t>());
    } else if (w.bound <= narrow_square::bound) {
        finish_square_in<narrow_square>(s, w, target);
    } else {
        finish_square_in<wide_square>(s, w, target);
    }
}

}  // namespace
}  // namespace nearfield::exact
