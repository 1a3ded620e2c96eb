// Nearest sites in words of 32 bits: a cell's squared distance above the offset of its site, so that one unsigned
// minimum compares distances and decides ties.
//
// Offsets lead from the cell to its site: dx along the last axis, dy and dz along the ones before it. At one cell,
// ordering sites by dx, then dy, then dz is the tie rule: each differs from the site's coordinate by a constant of the
// cell. A search along a line of the second axis keeps
//     d^2 (15 bits) | dx + 128 (8) | rows moved (8) | 1 if they were moved back, the site being after the cell (1)
// and one along the third d^2 | dx + 128 | dy + 128 | the same bit; |dz| is the root of the rest of d^2.
//
// The search steps: f_k(q) = min(f_k-1(q), f_k-1(q - 1) + 2k - 1, f_k-1(q + 1) + 2k - 1), as in tile.cuh, on whole
// words. A site d rows away whose candidate is d^2 has moved in each of the steps 1 to d, in one direction: fewer moves
// do not reach, others cost more, because m moves of increasing cost take at least m^2 and exactly that only as steps 1
// to m. Any such word loses to the site's own straight one. So only the first step sets the last bit, moves are counted
// if the layout has room, and after k steps every value below (k + 1)^2 is final, including ties.
#pragma once

#include "exact/gpu/tiles/windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int offset_reach = 127;  // largest offset in 8 bits; values from its square on are indistinguishable
constexpr std::uint32_t one_value = 1u << 17, one_x = 1u << 9, one_y = 1u << 1, moved_back = 1;
constexpr std::uint32_t no_offset = 128;  // the 8 bits of an offset of 0
constexpr std::uint32_t near_cap = offset_reach * offset_reach * one_value;
constexpr int most_steps = 64;  // hulls cost less than more steps
static_assert((offset_reach * offset_reach + 2 * offset_reach) * (one_value >> 16) < 1u << 16, "no sum wraps");

/// Offsets of a site that is nearest in its plane.
struct offset {
    std::int32_t dx, dy;
};
__device__ inline std::int32_t square_of(offset to) { return to.dx * to.dx + to.dy * to.dy; }

/// State between the second and the third pass: a word of the third if all fits, which leaves its highest bit clear;
/// else that bit, dx in 15 bits and dy in 16. All ones is no site, which would be an offset of (-1, -1).
constexpr std::uint32_t far_state = 1u << 31, empty_state = 0xffffffffu;
static_assert(far_offsets == 1 << 14, "dx has a sign");

template <class V>
__device__ std::uint32_t state_word(offset to, V value) {
    if (value < offset_reach * offset_reach)
        return static_cast<std::uint32_t>(value) * one_value + (static_cast<std::uint32_t>(to.dx) + no_offset) * one_x +
               (static_cast<std::uint32_t>(to.dy) + no_offset) * one_y;
    return far_state | (static_cast<std::uint32_t>(to.dx) & 0x7fff) << 16 |
           (static_cast<std::uint32_t>(to.dy) & 0xffff);
}
__device__ inline offset offset_of_state(std::uint32_t state) {
    if (state & far_state)
        return {static_cast<std::int32_t>(state << 1) >> 17, static_cast<std::int16_t>(state & 0xffff)};
    return {static_cast<std::int32_t>((state / one_x) & 255) - 128,
            static_cast<std::int32_t>((state / one_y) & 255) - 128};
}

/// Prepares a word of 32 cells for the lanes of a warp: the sites, the same in reverse order, and the cells from the
/// word to the sites before and after it, with 128 for any number from there on.
__device__ inline uint4 ready_for_lanes(const line_word& word) {
    constexpr std::int32_t clipped = offset_reach + 1;
    return {word.sites, __brev(word.sites), static_cast<std::uint32_t>(min(word.before(), clipped)),
            static_cast<std::uint32_t>(min(word.after(), clipped))};
}

/// Returns the zeros above the highest one; the largest number if there is none.
__device__ inline std::uint32_t zeros_above(std::uint32_t bits) {
    std::uint32_t zeros;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(zeros) : "r"(bits));
    return zeros;
}

/// Makes the word of the search for the site of a row that is nearest to the calling lane's cell, the left one of two.
/// Offsets of more than 127 spill into the value, which is then beyond the cap anyway.
struct nearest_in_rows {
    // The lane's shifts as products, which use another unit.
    std::uint32_t lane, up, down;

    __device__ explicit nearest_in_rows(std::uint32_t lane) : lane(lane), up(1u << lane), down(1u << (31 - lane)) {}
    /// Cells to the nearest site on either side; a large number if there is none.
    struct sides {
        std::uint32_t left, right;
    };
    __device__ sides apart(const uint4& row) const {
        return {__viaddmin_u32(lane, row.z, zeros_above(row.x * down)),
                __viaddmin_u32(31 - lane, row.w, zeros_above(row.y * up))};
    }
    __device__ std::uint32_t operator()(const uint4& row) const {
        const auto [left, right] = apart(row);
        return min(left * (left * one_value - one_x) + no_offset * one_x,
                   right * (right * one_value + one_x) + no_offset * one_x);
    }
};
static_assert((159 * 159 + 2 * offset_reach + 1) < 1 << 15, "the farthest that a word says: 128 and 31 more");

// Outputs of the searches for nearest sites in words (site_words.cuh): the state of the third pass, or the caller's
// indices, for which a cell takes a sum and a store.

enum class ending : std::uint8_t { state, index32, index64 };

/// The caller's indices, in one of two types.
struct site_sink {
    outputs out;
    std::int64_t limit = last_value<std::int64_t>();  ///< larger values mean no site
    bool limited = false;
};

/// The lines of a block, with the calling lane's. `Done` axes are searched before this pass.
template <ending End, int Done>
struct site_target {
    static constexpr int done = Done;

    const site_sink& to;
    std::uint32_t* next;      ///< state of the third pass
    std::int64_t first;       ///< cell of the line's first row
    std::int32_t here;        ///< its index in its image
    std::int32_t inner;       ///< cells from row to row
    std::int32_t x, y;        ///< coordinates of the line
    std::int32_t width;       ///< cells of a row
    std::uint32_t too_large;  ///< words from here on have no site within the limit

    __device__ std::int64_t row_at(int row) const { return static_cast<std::int64_t>(row) * inner; }

    __device__ void put_none(int row) const {
        const std::int64_t at = row_at(row);
        if constexpr (End == ending::state) next[first + at] = empty_state;
        else if constexpr (End == ending::index32) to.out.index32[first + at] = -1;
        else to.out.index[first + at] = -1;
    }
    /// Writes a site `along` rows further on.
    template <class V>
    __device__ void put(int row, V value, offset site, std::int32_t along) const {
        const std::int64_t at = row_at(row);
        if constexpr (End == ending::state) {
            next[first + at] = state_word({site.dx, along}, value);
        } else if (value > to.limit) {
            put_none(row);
        } else {
            put_index(first + at, site, row + along);
        }
    }
    /// Writes the index of a site in row `row`.
    __device__ void put_index(std::int64_t cell, offset site, std::int32_t row) const {
        const std::int64_t index = here + site.dx + (Done == 2 ? site.dy * width : 0) + row_at(row);
        if constexpr (End == ending::index32) to.out.index32[cell] = static_cast<std::int32_t>(index);
        else to.out.index[cell] = index;
    }
    /// Writes `Count` rows from row `from` on, of which `count` exist: their sites are in rows `winner` with offsets
    /// site_of(i); unless `sited` they have none.
    template <int Count, class SiteOf>
    __device__ void put_winners(int from, int count, bool sited, const int (&winner)[Count],
                                const SiteOf& site_of) const {
        constexpr bool one_word = End == ending::state || End == ending::index32;
        if (!one_word || to.limited) {
            // Unrolled, because the winners are in registers.
#pragma unroll
            for (int i = 0; i < Count; ++i) {
                if (i >= count) break;
                const offset site = site_of(i);
                const std::int32_t along = winner[i] - from - i;
                if (sited) put(from + i, site.dx * site.dx + site.dy * site.dy + along * along, site, along);
                else put_none(from + i);
            }
            return;
        }
        const std::uint32_t none = sited ? 0 : 0xffffffffu;
        static_assert(empty_state == 0xffffffffu);
        auto* cell =
            (End == ending::state ? next : reinterpret_cast<std::uint32_t*>(to.out.index32)) + first + row_at(from);
#pragma unroll
        for (int i = 0; i < Count; ++i, cell += inner) {
            const offset site = site_of(i);
            const std::int32_t along = winner[i] - from - i;
            const std::uint32_t word =
                End == ending::state ? state_word({site.dx, along}, site.dx * site.dx + along * along)
                                     : static_cast<std::uint32_t>(here + site.dx + site.dy * width + winner[i] * inner);
            if (i < count) *cell = word | none;
        }
    }
    /// Returns the output of a finished word, for a cell with the index `index` in its image plus the bias of the
    /// offsets; `Limited` if some words are too large.
    template <bool Limited, class Index>
    __device__ Index cell_of(std::uint32_t word, Index index) const {
        if constexpr (End == ending::state) {
            // Computes dy + 128 from the rows moved and the last bit, in few instructions.
            const std::uint32_t fits = ((word & ~(one_x - 1)) | no_offset * one_y) +
                                       static_cast<std::uint32_t>(sign_of(word)) * (word & (one_x - 2));
            return static_cast<Index>(Limited && word >= near_cap ? empty_state : fits);
        } else {
            const found_site site = site_of(word);
            const Index there =
                index + (site.biased.dx + site.along * inner + (Done == 2 ? site.biased.dy * width : 0));
            return Limited && word >= too_large ? -1 : there;
        }
    }
    /// Writes those of `Count` rows from row `row` on that lie in [from, to).
    template <int Count>
    __device__ void put_words(int row, const std::uint32_t* words, int from, int to) const {
        const auto put_all = [&]<bool Whole, bool Limited>(auto* cell) {
            using number = std::conditional_t<End == ending::index64, std::int64_t, std::int32_t>;
            auto index = static_cast<number>(row_at(row)) + (here - 128 - (Done == 2 ? 128 * width : 0));
#pragma unroll
            for (int i = 0; i < Count; ++i, cell += inner, index += inner) {
                const number mine = cell_of<Limited>(words[i], index);
                if (Whole || (i < to && (!Limited || i >= from))) *cell = mine;
            }
        };
        const std::int64_t at = first + row_at(row);
        const auto put_in = [&](auto* cells) {
            if (from > 0 || this->to.limited) put_all.template operator()<false, true>(cells + at);
            else if (to < Count) put_all.template operator()<false, false>(cells + at);
            else put_all.template operator()<true, false>(cells + at);
        };
        if constexpr (End == ending::state) put_in(next);
        else if constexpr (End == ending::index32) put_in(this->to.out.index32);
        else put_in(this->to.out.index);
    }

private:
    struct found_site {
        offset biased;  ///< biased by 128
        std::int32_t along;
    };
    static __device__ found_site site_of(std::uint32_t word) {
        const auto at_x = static_cast<std::int32_t>((word / one_x) & 255),
                   low = static_cast<std::int32_t>((word / one_y) & 255);
        if constexpr (Done == 1) {
            return {{at_x, 0}, low * sign_of(word)};
        } else {
            // Both offsets as signed bytes; one dot product squares and adds them.
            const auto bytes = static_cast<std::int32_t>(((word / one_y) & 0xffff) ^ 0x8080);
            const std::uint32_t rest = word / one_value - static_cast<std::uint32_t>(__dp4a(bytes, bytes, 0));
            // The root of a square is near enough to a whole number; sums with 2^23 and 2^23 * 1.5 convert.
            std::uint32_t root;
            asm("sqrt.approx.ftz.f32 %0, %1;"
                : "=r"(root)
                : "r"(__float_as_uint(__uint_as_float(rest | 0x4b000000u) - 8388608.0f)));
            const float signed_root = __uint_as_float(root ^ (word << 31) ^ 0x80000000u);  // negative for a site before
            return {{at_x, low}, __float_as_int(signed_root + 12582912.0f) - 0x4b400000};
        }
    }
    /// Returns 1 for a site after the cell, -1 for one before it: a product is cheaper than a selection.
    static __device__ std::int32_t sign_of(std::uint32_t word) {
        return 2 * static_cast<std::int32_t>(word & moved_back) - 1;
    }
};

/// Returns the smallest word of the search without a site within the limit.
__device__ inline std::uint32_t words_beyond(std::int64_t limit) {
    return limit + 1 < offset_reach * offset_reach ? static_cast<std::uint32_t>(limit + 1) * one_value : near_cap;
}

}  // namespace
}  // namespace nearfield::exact
