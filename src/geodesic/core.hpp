// The mathematics of geodesic distances: keys, cells in tiles, and the cells that a step touches.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/annotate.hpp"
#include "base/wide.hpp"
#include "nearfield/geodesic.hpp"

namespace nearfield::geodesics {

/// A cell's key: the cost of its cheapest path above the number of its seed, so that the smaller of two keys is the
/// answer, ties included. A price only adds to the cost.
template <class Word, int SeedBits>
struct key {
    using word = Word;
    static constexpr int seed_bits = SeedBits;
    static constexpr Word unreached = static_cast<Word>(~Word{0});
    /// Largest cost of this key; a wider key serves dearer paths. One more step still fits.
    static constexpr std::uint64_t most_cost = 8 * sizeof(Word) - SeedBits == 32
                                                   ? std::uint64_t{std::numeric_limits<std::int32_t>::max()}
                                                   : std::uint64_t{std::numeric_limits<std::int64_t>::max()};

    static constexpr Word of(std::uint64_t cost) { return static_cast<Word>(static_cast<Word>(cost) << SeedBits); }
    static constexpr std::uint64_t cost(Word k) { return static_cast<std::uint64_t>(k >> SeedBits); }
    static constexpr std::uint64_t seed(Word k) {
        if constexpr (SeedBits == 0) return 0;
        else return static_cast<std::uint64_t>(k & ((Word{1} << SeedBits) - 1));
    }
};

/// Cells in tiles whose sides are powers of two; the cells of a tile are adjacent in memory. The first `batch` axes
/// number the images and have tiles of side 1; steps go along the others.
struct tiling {
    int axes = 0, batch = 0;
    std::int64_t size[max_rank]{};  ///< in cells
    int bits[max_rank]{};           ///< log2 of a tile's side
    int shift[max_rank]{};          ///< of a coordinate in a cell's number within its tile
    std::int64_t tiles_along[max_rank]{};
    bool wraps[max_rank]{};
    int tile_bits = 0;
    std::int64_t tiles = 1;

    [[nodiscard]] std::int64_t side(int axis) const { return std::int64_t{1} << bits[axis]; }
    [[nodiscard]] NF_HD std::int64_t cells_a_tile() const { return std::int64_t{1} << tile_bits; }
    /// Computes the coordinates of the tile's first cell.
    void origin(std::int64_t tile, std::int64_t* at) const {
        for (int axis = axes - 1; axis >= 0; --axis) {
            at[axis] = tile % tiles_along[axis] << bits[axis];
            tile /= tiles_along[axis];
        }
    }
    [[nodiscard]] NF_HD std::int64_t within(std::int32_t local, int axis) const {
        return local >> shift[axis] & ((std::int32_t{1} << bits[axis]) - 1);
    }
    [[nodiscard]] std::int64_t tile_of(const std::int64_t* at) const {
        std::int64_t tile = 0;
        for (int axis = 0; axis < axes; ++axis) tile = tile * tiles_along[axis] + (at[axis] >> bits[axis]);
        return tile;
    }
    [[nodiscard]] std::int32_t local_of(const std::int64_t* at) const {
        std::int64_t local = 0;
        for (int axis = 0; axis < axes; ++axis) local += (at[axis] & (side(axis) - 1)) << shift[axis];
        return static_cast<std::int32_t>(local);
    }
    [[nodiscard]] std::int64_t place_of(const std::int64_t* at) const {
        return (tile_of(at) << tile_bits) + local_of(at);
    }
    /// Number of a cell within its image, the last axis most significant. Ties go to the smaller number.
    [[nodiscard]] std::uint64_t number_of(const std::int64_t* at) const {
        std::uint64_t number = 0;
        for (int axis = axes - 1; axis >= batch; --axis)
            number = number * static_cast<std::uint64_t>(size[axis]) + static_cast<std::uint64_t>(at[axis]);
        return number;
    }
};

/// Sets the sides: `cells_bits` bits in all, at most `side_bits` each, as equal as sizes allow, the last axis longest.
inline void set_sides(tiling& t, int cells_bits, int side_bits = 31) {
    for (int left = cells_bits; left > 0;) {
        int shortest = -1;
        for (int axis = t.axes - 1; axis >= t.batch; --axis)
            if (t.side(axis) < t.size[axis] && t.bits[axis] < side_bits &&
                (shortest < 0 || t.bits[axis] < t.bits[shortest]))
                shortest = axis;
        if (shortest < 0) break;
        ++t.bits[shortest], --left;
    }
    for (int axis = t.axes - 1; axis >= 0; --axis) {
        t.shift[axis] = t.tile_bits, t.tile_bits += t.bits[axis];
        t.tiles_along[axis] = (t.size[axis] + t.side(axis) - 1) >> t.bits[axis];
        t.tiles *= t.tiles_along[axis];
    }
}

using vector_of_step = std::array<std::int8_t, max_rank>;

/// True if the line from the centre of cell 0 to that of cell v meets cell c: its inside, or with `touching` also its
/// faces, edges and corners.
constexpr bool meets(const vector_of_step& v, const vector_of_step& c, int axes, bool touching) {
    // The part of the line with t in [from, to] lies within the cell along all axes so far; both are ratios.
    int from = 0, from_of = 1, to = 1, to_of = 1;
    for (int axis = 0; axis < axes; ++axis) {
        const auto k = static_cast<std::size_t>(axis);
        if (v[k] == 0) {
            if (c[k] != 0) return false;
            continue;
        }
        const int sign = v[k] < 0 ? -1 : 1, of = 2 * sign * v[k];
        const int enter = 2 * sign * c[k] - 1, leave = 2 * sign * c[k] + 1;
        if (enter * from_of > from * of) from = enter, from_of = of;
        if (leave * to_of < to * of) to = leave, to_of = of;
    }
    return touching ? from * to_of <= to * from_of : from * to_of < to * from_of;
}

/// The cells that a step meets, except its ends.
inline std::vector<vector_of_step> cells_between(const vector_of_step& v, int axes, bool touching) {
    std::vector<vector_of_step> found;
    vector_of_step c{};
    const auto go = [&](const auto& self, int axis) -> void {
        if (axis == axes) {
            if (c != vector_of_step{} && c != v && meets(v, c, axes, touching)) found.push_back(c);
            return;
        }
        const auto k = static_cast<std::size_t>(axis);
        for (int x = std::min<int>(0, v[k]); x <= std::max<int>(0, v[k]); ++x)
            c[k] = static_cast<std::int8_t>(x), self(self, axis + 1);
        c[k] = 0;
    };
    go(go, 0);
    return found;
}

namespace self_check {
constexpr vector_of_step knight{1, 2}, diagonal{1, 1};
static_assert(meets(knight, {0, 1}, 2, false) && meets(knight, {1, 1}, 2, false) && !meets(knight, {1, 0}, 2, true));
static_assert(!meets(diagonal, {0, 1}, 2, false) && meets(diagonal, {0, 1}, 2, true));
static_assert(key<std::uint64_t, 32>::cost(key<std::uint64_t, 32>::of(7) | 9) == 7);
static_assert(key<std::uint64_t, 32>::seed(key<std::uint64_t, 32>::of(7) | 9) == 9);
}  // namespace self_check

/// Finds the cells of a word without which paths between their neighbours cost no more. `beside` has bits of these
/// neighbours, from the one above on, clockwise. Diagonal steps cost as much as others at least, and as two at most. So
/// four neighbours in a row may be there, unless two of them lack the one through which they would reach each other.
NF_HD constexpr unsigned redundant(const unsigned (&beside)[8]) {
    unsigned closed[8]{}, all = 0;
    for (int i = 0; i < 8; ++i) closed[i] = ~(beside[i] | beside[(i + 1) % 8]);
    for (int i = 0; i < 8; ++i) {
        const unsigned a = beside[i], b = beside[(i + 1) % 8], c = beside[(i + 2) % 8], d = beside[(i + 3) % 8];
        const unsigned reach = i % 2 == 0 ? c | ~(d & (a | b)) : b | ~(a & (c | d));
        all |= reach & closed[(i + 4) % 8] & closed[(i + 6) % 8];
    }
    return all;
}

}  // namespace nearfield::geodesics
