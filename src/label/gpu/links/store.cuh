// Storage of each word's links in device memory: a record for each word, and slanted links only where there are any.
#pragma once

#include "label/core.hpp"
#include "label/gpu/tiles/tile.cuh"

namespace nearfield::labelling {

/// The rows that links of a word connect: its own (here), the row above, the row in front, and the row in front of the
/// row above.
enum class link_row { here, above, front, front_above };

/// A slanted link: from cells of one row to those of another, `by` cells on. Links between the row above and the one in
/// front stand for links to the row below in front, because only then all four rows are available.
struct link_kind {
    link_row from, to;
    int by;
};
/// Images with 8 neighbours use the first 2, volumes with 18 the first 6, with 26 all 10.
constexpr int image_kinds = 2, square_kinds = 6, link_kinds = 10;
NF_HD constexpr link_kind kind_of(int i) {
    return i < 2    ? link_kind{link_row::here, link_row::above, 2 * i - 1}
           : i < 4  ? link_kind{link_row::here, link_row::front, 2 * i - 5}
           : i == 4 ? link_kind{link_row::here, link_row::front_above, 0}
           : i == 5 ? link_kind{link_row::above, link_row::front, 0}
           : i < 8  ? link_kind{link_row::here, link_row::front_above, 2 * i - 13}
                    : link_kind{link_row::above, link_row::front, 2 * i - 17};
}

/// Number of kinds of slanted links that a tiling can have.
template <class Tiling>
NF_HD constexpr int kinds_of() {
    using touching = typename Tiling::touching;
    if (touching::count == 1) return touching::get(0).slanted ? image_kinds : 0;
    if (touching::count == 2) return 0;
    return touching::get(2).slanted ? link_kinds : square_kinds;
}

/// Bits of a word: its cells, those connected to the cell before in the word, and those with a link straight up and to
/// the front.
struct alignas(16) kept_record {
    word cells, on, up, front;
};

/// Links in the order of tiles, and of their threads within. Only links that others do not imply are stored.
struct link_store {
    kept_record* records;
    std::uint16_t* flags;  ///< a bit for each kind that the word has, and `joined`
    word* slanted;         ///< for each kind the words of all tiles; words without such a link are not written
    std::uint32_t words;   ///< number of words of all tiles

    static constexpr unsigned joined = 1U << link_kinds;  ///< the first cell is connected with the word before
    [[nodiscard]] __device__ word* of(int kind, std::uint32_t at) const {
        return slanted + std::uint64_t{static_cast<std::uint32_t>(kind)} * words + at;
    }
};

/// Position of a word among those of all tiles, whose sizes are powers of two.
struct tile_order {
    int words, rows, planes;  ///< size of a tile, as logarithms
    int across, down, deep;   ///< tiles of an image
    template <class Tiling>
    static tile_order make(const narrow_lattice& g) {
        const auto log2 = [](int n) {
            int l = 0;
            for (; 1 << l < n; ++l) {
            }
            return l;
        };
        static_assert(Tiling::bundle::count == 1);
        using place = tile_place<Tiling>;
        return {log2(Tiling::words), log2(Tiling::rows),  log2(Tiling::planes),
                place::across(g, 2), place::across(g, 1), place::across(g, 0)};
    }
    [[nodiscard]] __device__ std::uint32_t at(int image, int z, int y, int w) const {
        const int tile = ((image * deep + (z >> planes)) * down + (y >> rows)) * across + (w >> words);
        const int thread = ((in_tile(z, planes) << rows | in_tile(y, rows)) << words) | in_tile(w, words);
        return (static_cast<std::uint32_t>(tile) << (words + rows + planes)) + static_cast<std::uint32_t>(thread);
    }
    [[nodiscard]] __device__ static int in_tile(int at, int log) { return at & ((1 << log) - 1); }
};

/// Returns the coordinate of the neighbour `by` cells on along an axis; negative if there is none.
__device__ inline int neighbour(const narrow_lattice& g, int axis, int at, int by) {
    const int n = g.size[axis], to = at + by;
    if (to >= 0 && to < n) return to;
    return g.wraps[axis] ? to + (to < 0 ? n : -n) : -1;
}

}  // namespace nearfield::labelling
