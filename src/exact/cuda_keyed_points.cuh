// Nearest sites where they are few: a warp takes 32 rows of 32 lines, lists the sites that could be nearest to some cell
// of that square, numbers them in the order of the tie rule, and offers each to all cells. A cell's word is its squared
// distance above the number of its site, so that here too one unsigned minimum decides ties.
//
// A row's sites that count are those in the square's 32 columns and the ones beside them. One that has the least largest
// distance to the square bounds all values from above; sites whose least distance exceeds that bound are left out.
#pragma once

#include "exact/cuda_keyed_steps.cuh"

namespace nearfield::exact {
namespace {

constexpr int number_bits = 7, most_points = 1 << number_bits;
constexpr int square_side = 32;
// Bounds end here, so that squared distances from it on, by at most a square's diagonal, fit above the number.
constexpr std::int32_t largest_bound = 1 << 24;
static_assert((4096 + 46) * (4096 + 46) + square_side * square_side < 1 << (32 - number_bits));

/// x from the square's first column + 2^15, and row: in the order of the tie rule as one number.
struct site_point {
    std::uint32_t bits;

    site_point() = default;
    __device__ site_point(std::int32_t x, int row)
        : bits((static_cast<std::uint32_t>(x) + 32768) << 16 | static_cast<std::uint32_t>(row)) {}
    __device__ std::int32_t x() const { return static_cast<std::int32_t>(bits >> 16) - 32768; }
    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & 0xffff); }
};

/// Shared memory of a warp.
struct point_lists {
    std::uint32_t found[most_points], ordered[most_points];
};

struct rows_between {
    int from, to;
};

/// A warp's square: 32 columns from x on, rows [top, bottom].
struct point_square {
    const line_word* words;  ///< of the square's columns
    int rows;                ///< of them
    std::int32_t x;
    int top, bottom;
    int lane;

    __device__ std::int32_t rows_to(int row) const { return max(max(top - row, row - bottom), 0); }
    /// No cell of the square is farther from the row's nearest site of the square's columns, or beside them.
    __device__ std::int32_t farthest(const line_word& word, int row) const {
        std::int32_t across = min(gap_before(word, x), gap_after(word, x)) + square_side - 1;
        if (word.sites != 0) {
            const int first = __ffs(static_cast<int>(word.sites)) - 1, last = 31 - __clz(static_cast<int>(word.sites));
            across = min(max(first, square_side - 1 - first), max(last, square_side - 1 - last));
        }
        const std::int32_t apart = max(abs(row - top), abs(row - bottom));
        return across >= too_far ? no_site<std::int32_t>() : across * across + apart * apart;
    }
    /// Looks outward, 32 rows at a time, until what is farther cannot win.
    __device__ std::int32_t look(rows_between& seen) const {
        std::int32_t bound = no_site<std::int32_t>();
        seen = {top, top};
        for (bool more = true; more;) {
            more = false;
            std::int32_t here = no_site<std::int32_t>();
            const auto look_at = [&](int row) {
                if (row >= 0 && row < rows) here = min(here, farthest(words[row], row));
                more = true;
            };
            if (seen.to < rows && rows_to(seen.to) * rows_to(seen.to) <= bound) {
                look_at(seen.to + lane);
                seen.to = min(seen.to + square_side, rows);
            }
            if (seen.from > 0 && rows_to(seen.from - 1) * rows_to(seen.from - 1) <= bound) {
                look_at(seen.from - 1 - lane);
                seen.from = max(seen.from - square_side, 0);
            }
            if (more) bound = min(bound, __reduce_min_sync(cuda::every_lane, here));
        }
        return bound;
    }
    /// Lists what could win; false when that is too much.
    __device__ bool collect(const rows_between& seen, std::int32_t bound, std::uint32_t* found, int& count) const {
        count = 0;
        const auto add = [&](bool wanted, std::int32_t at, int row) {
            const unsigned all = __ballot_sync(cuda::every_lane, wanted);
            const int before = count;
            count += __popc(all);
            if (count <= most_points && wanted)
                found[before + __popc(all & ((1u << lane) - 1))] = site_point(at, row).bits;
        };
        for (int first = seen.from; first < seen.to && count <= most_points; first += square_side) {
            const int row = first + lane;
            const line_word word = row < seen.to ? words[row] : word_without_sites();
            const std::int32_t apart = rows_to(row) * rows_to(row), before = gap_before(word, x),
                               after = gap_after(word, x);
            add(before < too_far && before * before + apart <= bound, -before, row);
            add(after < too_far && after * after + apart <= bound, square_side - 1 + after, row);
            std::uint32_t left = apart <= bound ? word.sites : 0;
            while (__any_sync(cuda::every_lane, left != 0)) {
                add(left != 0, __ffs(static_cast<int>(left)) - 1, row);
                left &= left - 1;
            }
        }
        return count <= most_points;
    }
};

/// In the order of the tie rule: a site's place is the number of smaller ones.
__device__ inline void order_points(const point_lists& lists, int count, int lane, std::uint32_t* ordered) {
    for (int first = 0; first < count; first += cuda::warp) {
        const bool is_one = first + lane < count;
        const std::uint32_t mine = is_one ? lists.found[first + lane] : 0;
        int place = 0;
#pragma unroll 4
        for (int i = 0; i < count; ++i) place += lists.found[i] < mine ? 1 : 0;
        if (is_one) ordered[place] = mine;
    }
}

/// Value - i^2 + bias of the square's rows i, above the number of the site: linear in i for each site.
using offers = std::uint32_t[square_side];
constexpr std::int32_t offer_bias = square_side * square_side;

__device__ inline void offer_points(const point_square& s, const point_lists& lists, int count, offers& best) {
#pragma unroll
    for (auto& one : best) one = 0xffffffffu;
    const auto start = [&](site_point site, int number, std::uint32_t& step) {
        const std::int32_t across = site.x() - s.lane, e = s.top - site.row();
        step = static_cast<std::uint32_t>(e) << (number_bits + 1);
        return static_cast<std::uint32_t>(across * across + e * e + offer_bias) << number_bits |
               static_cast<std::uint32_t>(number);
    };
    for (int i = 0; i < count; i += 2) {
        const int other = min(i + 1, count - 1);
        site_point a, b;
        a.bits = lists.ordered[i], b.bits = lists.ordered[other];
        std::uint32_t step_a, step_b;
        const std::uint32_t start_a = start(a, i, step_a), start_b = start(b, other, step_b);
#pragma unroll
        for (std::uint32_t row = 0; row < square_side; ++row)
            best[row] = __vimin3_u32(best[row], start_a + row * step_a, start_b + row * step_b);
    }
}

template <class Target>
__device__ void put_offer(const point_square& s, const point_lists& lists, const Target& target, int i,
                          std::uint32_t word) {
    site_point site;
    site.bits = lists.ordered[word % most_points];
    const int row = s.top + i;
    target.put(row, static_cast<std::int32_t>(word >> number_bits) - offer_bias + i * i, {site.x() - s.lane, 0},
               site.row() - row);
}

/// False, and nothing is written, when the square has too many sites to choose from.
template <class Target>
__device__ bool finish_points(const point_square& s, point_lists& lists, const Target& target, bool writes) {
    rows_between seen;
    const std::int32_t bound = s.look(seen);
    if (bound == no_site<std::int32_t>()) {
        for (int row = s.top; row <= s.bottom && writes; ++row) target.put_none(row);
        return true;
    }
    int count;
    if (bound > largest_bound || !s.collect(seen, bound, lists.found, count)) return false;
    __syncwarp();
    order_points(lists, count, s.lane, lists.ordered);
    __syncwarp();
    offers best;
    offer_points(s, lists, count, best);
    if (writes) {
        // In memory of the thread's own, so that what puts a site stands here once.
        std::uint32_t words[square_side];
#pragma unroll
        for (int i = 0; i < square_side; ++i) words[i] = best[i];
        const int rows = s.bottom - s.top + 1;
        if (Target::ends == ending::fields || rows < square_side) {
#pragma unroll 1
            for (int i = 0; i < rows; ++i) put_offer(s, lists, target, i, words[i]);
        } else {
#pragma unroll
            for (int i = 0; i < square_side; ++i) put_offer(s, lists, target, i, best[i]);
        }
    }
    __syncwarp();
    return true;
}

}  // namespace
}  // namespace nearfield::exact
