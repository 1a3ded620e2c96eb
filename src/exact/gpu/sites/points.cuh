// Nearest sites if they are few: a warp takes 32 rows of 32 lines, lists the sites that could be nearest to some cell
// of that square, numbers them in the order of the tie rule, and relaxes all cells with each. A cell's word is its
// squared distance above the number of its site, so that one unsigned minimum decides ties.
//
// The sites of a row in the square's 32 columns and the nearest ones beside them count. The site with the smallest
// largest distance to the square bounds all values from above; sites whose least distance exceeds that bound are
// dropped.
#pragma once

#include "exact/gpu/sites/steps.cuh"

namespace nearfield::exact {
namespace {

constexpr int most_points = 128;
constexpr int square_side = 32;
constexpr std::int32_t unbounded = 0x7fffffff;
// Sites more rows or columns away are not listed; the hulls handle them.
constexpr std::int32_t listed_reach = 32767 - square_side;
constexpr std::int32_t largest_listed = listed_reach * listed_reach;

/// Returns the square of up to 65535 rows or columns.
__device__ inline std::uint32_t squared(std::int32_t apart) {
    return static_cast<std::uint32_t>(apart) * static_cast<std::uint32_t>(apart);
}

/// x from the square's first column + 2^15, and row: as one number in the order of the tie rule.
struct site_point {
    std::uint32_t bits;

    __device__ std::int32_t x() const { return static_cast<std::int32_t>(bits >> 16) - 32768; }
    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & 0xffff); }
};
__device__ inline site_point point_at(std::int32_t x, int row) {
    return {(static_cast<std::uint32_t>(x) + 32768) << 16 | static_cast<std::uint32_t>(row)};
}

/// Shared memory of a warp.
struct site_lists {
    site_point found[most_points], ordered[most_points];
};

/// Groups of 32 rows, [from, to).
struct row_groups {
    int from, to;
};

/// A warp's square of a tile: rows [top, bottom], from a multiple of 32 on.
struct point_square {
    const line_word* words;      ///< words of the square's columns
    const std::uint32_t* sited;  ///< bit i of word g: row 32 * g + i has sites
    int rows;                    ///< rows of the image
    int top, bottom;
    int lane;

    __device__ int groups() const { return (rows + square_side - 1) / square_side; }
    __device__ std::int32_t rows_to(int row) const { return max(max(top - row, row - bottom), 0); }
    /// True if a group's nearest row is within `bound`, a square; always if there is no bound.
    __device__ bool matters(int group, std::int32_t bound) const {
        const std::int32_t apart =
            max(max(top - (group * square_side + square_side - 1), group * square_side - bottom), 0);
        return bound == unbounded || squared(apart) <= static_cast<std::uint32_t>(bound);
    }
    /// Returns the first group from `group` on whose rows have sites; if the next 32 have none, the one after them.
    __device__ int next_sited(int group) const {
        const bool has = group + lane < groups() && sited[group + lane] != 0;
        const unsigned all = __ballot_sync(cuda::every_lane, has);
        return min(group + (all != 0 ? __ffs(static_cast<int>(all)) - 1 : cuda::warp), groups());
    }
    /// Does the same backwards: returns the end of the last group before `group` whose rows have sites.
    __device__ int last_sited(int group) const {
        const bool has = group - 1 - lane >= 0 && sited[group - 1 - lane] != 0;
        const unsigned all = __ballot_sync(cuda::every_lane, has);
        return max(group - (all != 0 ? __ffs(static_cast<int>(all)) - 1 : cuda::warp), 0);
    }
    /// Returns an upper bound of the distance of every cell of the square from the sites of the lane's row of the
    /// group, in or beside its columns.
    __device__ std::int32_t farthest(int group) const {
        const int row = group * square_side + lane;
        const line_word word = row < rows ? words[row] : word_without_sites();
        if (!word.any()) return unbounded;
        std::int32_t across = min(word.before(), word.after()) + square_side - 1;
        if (word.sites != 0) {
            const int first = __ffs(static_cast<int>(word.sites)) - 1, last = 31 - __clz(static_cast<int>(word.sites));
            across = min(max(first, square_side - 1 - first), max(last, square_side - 1 - last));
        }
        const std::int32_t apart = max(abs(row - top), abs(row - bottom));
        // A site, but too far away to be listed.
        if (max(across, apart) > listed_reach) return unbounded - 1;
        return across * across + apart * apart;
    }
    /// Searches outward until farther sites cannot win. Returns the bound of all values, the largest number without
    /// sites. After a group without sites it skips all further empty ones at once.
    __device__ std::int32_t look(row_groups& seen) const {
        const int first = top / square_side;
        std::int32_t bound = __reduce_min_sync(cuda::every_lane, farthest(first));
        seen = {first, first + 1};
        bool none_below = bound == unbounded, none_above = none_below;
        for (bool more = true; more;) {
            more = false;
            if (none_below) seen.to = next_sited(seen.to);
            if (none_above) seen.from = last_sited(seen.from);
            std::int32_t below = unbounded, above = unbounded;
            if (seen.to < groups() && matters(seen.to, bound)) below = farthest(seen.to++), more = true;
            if (seen.from > 0 && matters(seen.from - 1, bound)) above = farthest(--seen.from), more = true;
            if (!more) break;
            none_below = !__any_sync(cuda::every_lane, below != unbounded);
            none_above = !__any_sync(cuda::every_lane, above != unbounded);
            bound = min(bound, __reduce_min_sync(cuda::every_lane, min(below, above)));
        }
        return bound;
    }
    /// Lists the sites that could win; returns false if there are too many.
    __device__ bool collect(const row_groups& seen, std::int32_t bound, site_point* found, int& count) const {
        count = 0;
        const auto add = [&](bool wanted, std::int32_t at, int row) {
            const unsigned all = __ballot_sync(cuda::every_lane, wanted);
            const int place = count + __popc(all & ((1u << lane) - 1));
            count += __popc(all);
            if (wanted && place < most_points) found[place] = point_at(at, row);
        };
        const auto add_row = [&](int row, const line_word& word) {
            const std::uint32_t apart2 = squared(rows_to(row)), most = static_cast<std::uint32_t>(bound);
            const bool near = apart2 <= most;
            const std::int32_t before = word.before(), after = word.after();
            add(near && before != nowhere_beside && squared(before) <= most - apart2, -before, row);
            add(near && after != nowhere_beside && squared(after) <= most - apart2, square_side - 1 + after, row);
            std::uint32_t sites = near ? word.sites : 0;
            while (__any_sync(cuda::every_lane, sites != 0)) {
                add(sites != 0, __ffs(static_cast<int>(sites)) - 1, row);
                sites &= sites - 1;
            }
        };
        const auto load = [&](int row) { return row < rows ? words[row] : word_without_sites(); };
        const int middle = top / square_side;
        add_row(top + lane, load(top + lane));
        line_word nearer = word_without_sites();
        for (int group = middle + 1; group < seen.to && count <= most_points; ++group) {
            const int row = group * square_side + lane;
            const line_word word = load(row);
            if (__any_sync(cuda::every_lane, word.any())) add_row(row, not_hidden(word, nearer));
            else group = next_sited(group + 1) - 1;
        }
        nearer = word_without_sites();
        for (int group = middle - 1; group >= seen.from && count <= most_points; --group) {
            const int row = group * square_side + square_side - 1 - lane;
            const line_word word = load(row);
            if (__any_sync(cuda::every_lane, word.any())) add_row(row, not_hidden(word, nearer));
            else group = last_sited(group);
        }
        return count <= most_points;
    }

private:
    /// Filters rows beyond the square, lane by lane outward: it keeps a site beside the columns that is nearer to
    /// them than all in rows before, and sites in columns that had none. All others are farther from every cell
    /// of the square than one of those. `nearer` holds the sites of the rows before the warp's; the warp's are
    /// added.
    __device__ line_word not_hidden(const line_word& word, line_word& nearer) const {
        line_word upto = word;
#pragma unroll
        for (int o = 1; o < cuda::warp; o *= 2) {
            const std::uint32_t sites = __shfl_up_sync(cuda::every_lane, upto.sites, o),
                                beside = __shfl_up_sync(cuda::every_lane, upto.beside, o);
            if (lane >= o) upto.sites |= sites, upto.beside = __vminu2(upto.beside, beside);
        }
        upto.sites |= nearer.sites, upto.beside = __vminu2(upto.beside, nearer.beside);
        line_word before{__shfl_up_sync(cuda::every_lane, upto.sites, 1),
                         __shfl_up_sync(cuda::every_lane, upto.beside, 1)};
        if (lane == 0) before = nearer;
        nearer = {__shfl_sync(cuda::every_lane, upto.sites, cuda::warp - 1),
                  __shfl_sync(cuda::every_lane, upto.beside, cuda::warp - 1)};
        const std::uint32_t same = __vcmpgeu2(word.beside, before.beside);  // all ones in a half that is no less
        return {word.sites & ~before.sites, word.beside | same};
    }
};

/// Sorts by the tie rule: a site's place is the number of smaller ones.
__device__ inline void order_points(site_lists& lists, int count, int lane) {
    for (int first = 0; first < count; first += cuda::warp) {
        const bool is_one = first + lane < count;
        const site_point mine = lists.found[is_one ? first + lane : 0];
        int place = 0;
#pragma unroll 4
        for (int i = 0; i < count; ++i) place += lists.found[i].bits < mine.bits ? 1 : 0;
        if (is_one) lists.ordered[place] = mine;
    }
}

/// Candidates for 32 rows i of a lane's line: value - i^2 + bias, linear in i for each site, above the site's number.
struct site_candidates {
    static constexpr std::int32_t bias = square_side * square_side;
    int number_bits;
    std::uint32_t best[square_side];

    /// Starts with `count` sites. The bits of a word above their numbers must hold every value, which is slightly above
    /// twice the bound at most.
    __device__ void begin(int count) {
        number_bits = 32 - __clz(count - 1);
#pragma unroll
        for (auto& one : best) one = 0xffffffffu;
    }
    __device__ bool fit(std::int32_t bound) const {
        return static_cast<std::uint32_t>(bound) + 16384 < 1u << min(31 - number_bits, 30);
    }
    __device__ int number_in(std::uint32_t word) const { return static_cast<int>(word & ((1u << number_bits) - 1)); }
    __device__ std::int32_t value(std::uint32_t word, int i) const {
        return static_cast<std::int32_t>(word >> number_bits) - bias + i * i;
    }

    /// Candidates of a site `e` rows before the first one, from the square of its distance along the other axes.
    struct line {
        std::uint32_t start, step;
    };
    __device__ line line_of(int number, std::int32_t apart2, std::int32_t e) const {
        return {static_cast<std::uint32_t>(apart2 + e * e + bias) << number_bits | static_cast<std::uint32_t>(number),
                static_cast<std::uint32_t>(e) << (number_bits + 1)};
    }
    /// Takes two sites at once, so that one minimum of three serves both.
    __device__ void take(const line& a, const line& b) {
#pragma unroll
        for (std::uint32_t i = 0; i < square_side; ++i)
            best[i] = __vimin3_u32(best[i], a.start + i * a.step, b.start + i * b.step);
    }
};

template <class Target>
__device__ void put_winner(const point_square& s, const site_lists& lists, const site_candidates& o,
                           const Target& target, int i, std::uint32_t word) {
    const site_point site = lists.ordered[o.number_in(word)];
    target.put(s.top + i, o.value(word, i), {site.x() - s.lane, 0}, site.row() - (s.top + i));
}

template <class Target>
__device__ void put_winners(const point_square& s, const site_lists& lists, const site_candidates& o,
                            const Target& target) {
    const int rows = s.bottom - s.top + 1;
    if (rows == square_side) {
#pragma unroll
        for (int i = 0; i < square_side; ++i) put_winner(s, lists, o, target, i, o.best[i]);
        return;
    }
    // The words go to local memory, so that the code that stores a site exists only once.
    std::uint32_t words[square_side];
#pragma unroll
    for (int i = 0; i < square_side; ++i) words[i] = o.best[i];
#pragma unroll 1
    for (int i = 0; i < rows; ++i) put_winner(s, lists, o, target, i, words[i]);
}

/// Finishes the square; returns false, and writes nothing, if it has too many candidate sites.
template <class Target>
__device__ bool finish_points(const point_square& s, site_lists& lists, const Target& target, bool writes) {
    row_groups seen;
    const std::int32_t bound = s.look(seen);
    if (bound == unbounded) {
        for (int row = s.top; row <= s.bottom && writes; ++row) target.put_none(row);
        return true;
    }
    if (bound > largest_listed) return false;
    int count;
    if (!s.collect(seen, bound, lists.found, count)) return false;
    site_candidates o;
    o.begin(count);
    if (!o.fit(bound)) return false;
    __syncwarp();
    order_points(lists, count, s.lane);
    __syncwarp();
    const auto line_of = [&](int number) {
        const site_point site = lists.ordered[number];
        const std::int32_t across = site.x() - s.lane;
        return o.line_of(number, across * across, s.top - site.row());
    };
    for (int i = 0; i < count; i += 2) o.take(line_of(i), line_of(min(i + 1, count - 1)));
    if (writes) put_winners(s, lists, o, target);
    __syncwarp();
    return true;
}

}  // namespace
}  // namespace nearfield::exact
