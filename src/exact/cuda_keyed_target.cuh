// Where the searches for nearest sites in words (cuda_keyed.cuh) leave their cells: the state of the third pass, or the
// caller's fields. A field of indices alone has an ending of its own, in which a cell takes a sum and a store.
#pragma once

#include "exact/cuda_keyed.cuh"

namespace nearfield::exact {
namespace {

enum class ending : std::uint8_t { state, index32, index64, fields };

using site_sink = sink<std::int32_t, std::int32_t, true, true>;

/// The lines of a block, the calling lane's among them. `Done` axes are searched before this pass.
template <ending End, int Done>
struct site_target {
    static constexpr ending ends = End;
    static constexpr int done = Done;

    const metric<std::int32_t>& m;
    const site_sink& to;
    std::uint32_t* next;      ///< state of the third pass
    std::int64_t first;       ///< cell of the line's first row
    std::int32_t here;        ///< its index in its image
    std::int32_t inner;       ///< cells from row to row
    std::int32_t x, y;        ///< of the line
    std::int32_t width;       ///< cells of a row
    std::uint32_t too_large;  ///< words from here on are of no site within the limit

    __device__ std::int64_t row_at(int row) const { return static_cast<std::int64_t>(row) * inner; }

    __device__ void put_none(int row) const {
        const std::int64_t at = row_at(row);
        if constexpr (End == ending::state) next[first + at] = empty_state;
        else if constexpr (End == ending::index32) to.out.index32[first + at] = -1;
        else if constexpr (End == ending::index64) to.out.index[first + at] = -1;
        else to.put(m, first + at, no_site<std::int32_t>(), no_key<std::int32_t>);
    }
    /// A site `along` rows further on.
    __device__ void put(int row, std::int32_t value, offset site, std::int32_t along) const {
        const std::int64_t at = row_at(row);
        if constexpr (End == ending::state) {
            next[first + at] = state_word({site.dx, along}, value);
        } else if constexpr (End == ending::fields) {
            to.put(m, first + at, value, key(site, row + along));
        } else if (value > to.limit) {
            put_none(row);
        } else {
            put_index(row, here + site.dx + (Done == 2 ? site.dy * width : 0) + (row + along) * inner);
        }
    }
    __device__ void put_index(int row, std::int32_t index) const {
        if constexpr (End == ending::index32) to.out.index32[first + row_at(row)] = index;
        else to.out.index[first + row_at(row)] = index;
    }
    /// The packed site of what a row of the line holds.
    __device__ std::int32_t key(offset site, std::int32_t row) const {
        std::int32_t key = m.keys.field<std::int32_t>(m.rank - 1, x + site.dx);
        if constexpr (Done == 2) key = m.keys.with(key, m.rank - 2, y + site.dy);
        return m.keys.with(key, m.rank - 1 - Done, row);
    }
    /// What a search by hulls found.
    __device__ void put_key(int row, std::int32_t value, std::int32_t key) const {
        if (key == no_key<std::int32_t>) return put_none(row);
        offset site{m.keys.coordinate(key, m.rank - 1) - x, 0};
        if constexpr (Done == 2) site.dy = m.keys.coordinate(key, m.rank - 2) - y;
        put(row, value, site, m.keys.coordinate(key, m.rank - 1 - Done) - row);
    }
    /// A finished word of the search, of a cell whose index in its image is `index` and what offsets are biased by;
    /// `Limited` where some are too large.
    template <bool Limited>
    __device__ std::int32_t cell_of(std::uint32_t word, std::int32_t index) const {
        if constexpr (End == ending::state) {
            // dy + 128 from the rows moved and the last bit, in few instructions.
            const std::uint32_t fits = ((word & ~(one_x - 1)) | no_offset * one_y) +
                                       static_cast<std::uint32_t>(sign_of(word)) * (word & (one_x - 2));
            return static_cast<std::int32_t>(Limited && word >= near_cap ? empty_state : fits);
        } else {
            const found_site site = site_of(word);
            const std::int32_t there = index + site.biased.dx + site.along * inner;
            return Limited && word >= too_large ? -1 : there + (Done == 2 ? site.biased.dy * width : 0);
        }
    }
    __device__ void put_word(int row, std::uint32_t word) const {
        const found_site site = site_of(word);
        if (word >= too_large) put_none(row);
        else
            put(row, static_cast<std::int32_t>(word / one_value),
                {site.biased.dx - 128, Done == 2 ? site.biased.dy - 128 : 0}, site.along);
    }
    /// Of `Count` rows from row `row` on the ones in [from, to).
    template <int Count>
    __device__ void put_words(int row, const std::uint32_t* words, int from, int to) const {
        const auto put_all = [&]<bool Plain>(auto* cell) {
            std::int32_t index = here + row * inner - 128 - (Done == 2 ? 128 * width : 0);
#pragma unroll
            for (int i = 0; i < Count; ++i, cell += inner, index += inner) {
                const std::int32_t mine = cell_of<!Plain>(words[i], index);
                if (Plain || (i >= from && i < to)) *cell = mine;
            }
        };
        const std::int64_t at = first + row_at(row);
        const auto put_in = [&](auto* cells) {
            if (from == 0 && to == Count && !this->to.limited) put_all.template operator()<true>(cells + at);
            else put_all.template operator()<false>(cells + at);
        };
        if constexpr (End == ending::state) put_in(next);
        else if constexpr (End == ending::index32) put_in(this->to.out.index32);
        else put_in(this->to.out.index);
    }

private:
    struct found_site {
        offset biased;  ///< by 128
        std::int32_t along;
    };
    static __device__ found_site site_of(std::uint32_t word) {
        const auto at_x = static_cast<std::int32_t>((word / one_x) & 255),
                   low = static_cast<std::int32_t>((word / one_y) & 255);
        if constexpr (Done == 1) {
            return {{at_x, 0}, low * sign_of(word)};
        } else {
            // Both offsets as signed bytes; their product with themselves squares and adds them.
            const auto bytes = static_cast<std::int32_t>(((word / one_y) & 0xffff) ^ 0x8080);
            const std::uint32_t rest = word / one_value - static_cast<std::uint32_t>(__dp4a(bytes, bytes, 0));
            // The root of a square is near enough to a whole number; sums with 2^23 and 2^23 * 1.5 convert.
            std::uint32_t root;
            asm("sqrt.approx.ftz.f32 %0, %1;"
                : "=r"(root)
                : "r"(__float_as_uint(__uint_as_float(rest | 0x4b000000u) - 8388608.0f)));
            const float signed_root = __uint_as_float(root ^ (word << 31) ^ 0x80000000u);  // of a site before: negative
            return {{at_x, low}, __float_as_int(signed_root + 12582912.0f) - 0x4b400000};
        }
    }
    /// 1 of a site after the cell, -1 of one before it: a product is cheaper than a choice.
    static __device__ std::int32_t sign_of(std::uint32_t word) {
        return 2 * static_cast<std::int32_t>(word & moved_back) - 1;
    }
};

/// Words of the search from which on no site lies within the limit.
__device__ inline std::uint32_t words_beyond(std::int32_t limit) {
    return limit + 1 < offset_reach * offset_reach ? static_cast<std::uint32_t>(limit + 1) * one_value : near_cap;
}

}  // namespace
}  // namespace nearfield::exact
