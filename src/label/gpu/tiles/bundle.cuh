// Bundles of rows that share nodes, and operations on whole words that find their touching nodes.
//
// If cells one step apart along any axes are connected, two rows of an image, or 2x2 rows of a volume, are treated
// as one: the OR of their bits. Bits without a gap there are connected, so nodes are several times fewer than
// runs.
#pragma once

#include "label/gpu/forest.cuh"

namespace nearfield::labelling {

/// Planes by rows that share nodes: 1 by 1, 1 by 2 or 2 by 2.
template <int Planes, int Rows>
struct bundle {
    static constexpr int planes = Planes, rows = Rows, count = Planes * Rows;
    static_assert(count == 1 || Rows == 2);
};

/// A bundle that touches: rows `there` of the bundle (dz, dy) away touch rows `here` of this one (a bit each).
struct touch {
    int dz, dy;
    unsigned here, there;
    bool slanted;  ///< cells of neighbouring columns are connected too
};

/// The touching bundles that come before in raster order, by how many coordinates a step in a volume may change. A
/// function, since device code cannot see a constant array of a class; loops over it are unrolled.
template <class Bundle, int Changes>
struct touching;
/// These serve images, whose planes do not touch: 4 or 8 neighbours.
template <>
struct touching<bundle<1, 1>, 4> {
    static constexpr int count = 1;
    NF_HD static constexpr touch get(int) { return {0, -1, 1, 1, false}; }
};
template <>
struct touching<bundle<1, 1>, 8> {
    static constexpr int count = 1;
    NF_HD static constexpr touch get(int) { return {0, -1, 1, 1, true}; }
};
template <>
struct touching<bundle<1, 1>, 1> {
    static constexpr int count = 2;
    NF_HD static constexpr touch get(int i) { return i == 0 ? touch{0, -1, 1, 1, false} : touch{-1, 0, 1, 1, false}; }
};
template <>
struct touching<bundle<1, 1>, 2> {  // for a volume; images use bundle<1, 2>
    static constexpr int count = 4;
    NF_HD static constexpr touch get(int i) {
        return i == 0   ? touch{0, -1, 1, 1, true}
               : i == 1 ? touch{-1, 0, 1, 1, true}
                        : touch{-1, i == 2 ? -1 : 1, 1, 1, false};
    }
};
template <>
struct touching<bundle<1, 1>, 3> {
    static constexpr int count = 4;
    NF_HD static constexpr touch get(int i) {
        return i == 0 ? touch{0, -1, 1, 1, true} : touch{-1, i == 1 ? 0 : i == 2 ? -1 : 1, 1, 1, true};
    }
};
template <>
struct touching<bundle<1, 2>, 2> {
    static constexpr int count = 1;
    NF_HD static constexpr touch get(int) { return {0, -1, 0b01, 0b10, true}; }
};
template <>
struct touching<bundle<2, 2>, 3> {
    static constexpr int count = 4;
    NF_HD static constexpr touch get(int i) {
        return i == 0   ? touch{0, -1, 0b0101, 0b1010, true}
               : i == 1 ? touch{-1, 0, 0b0011, 0b1100, true}
               : i == 2 ? touch{-1, -1, 0b0001, 0b1000, true}
                        : touch{-1, 1, 0b0010, 0b0100, true};
    }
};

/// A word of cells and its two neighbours along the row.
struct three_words {
    word west, here, east;
    /// Shifts the cell before, or the cell after, to every cell's place.
    [[nodiscard]] __device__ word before() const { return __funnelshift_l(west, here, 1); }
    [[nodiscard]] __device__ word after() const { return __funnelshift_r(here, east, 1); }
    [[nodiscard]] __device__ word near() const { return before() | here | after(); }
};

/// Returns the bits of the runs in `on` that follow a seed; `on` marks cells that continue the cell before.
__device__ inline word after_seeds(word seeds, word on) {
    const word next = seeds << 1 & on;
    return on & (~(on + next) | next);
}
/// Returns the whole runs that contain a seed.
__device__ inline word stretches_of(word seeds, word on) {
    return seeds | after_seeds(seeds, on) | __brev(after_seeds(__brev(seeds), __brev(on >> 1)));
}
/// Returns the first bit of `c` in each run.
__device__ inline word first_of_each(word c, word on) { return c & ~after_seeds(c, on); }

/// Places where two bundles touch, by column. In `same` the cells here and there of column x touch (or neighbours of
/// the same nodes); in `west` and `east` the cell here at x touches the one there at x - 1 and x + 1. `on`: both
/// bundles continue from the column before.
struct touches {
    word same, west, east, on;
};

/// `a` are the cells here that touch, `all_a` all cells of the bundle here; `b` and `all_b` are those there. Returns at
/// most one bit of `west` and `east` for every two nodes that touch, and none if they have a bit of `same`.
__device__ inline touches find_touches(const three_words& a, const three_words& all_a, const three_words& b, word all_b,
                                       bool slanted) {
    const word on = (all_a.here & all_a.here << 1) & (all_b & all_b << 1);
    if (!slanted) return {a.here & b.here, 0, 0, on};
    // Touching cells of different columns are moved to a column in which both bundles have cells, if there is one.
    const word both = (a.here & all_b & b.near()) | (b.here & all_a.here & a.near());
    const word unmatched = a.here & ~all_b;
    return {both, unmatched & b.before() & ~all_a.before(), unmatched & b.after() & ~all_a.after(), on};
}

/// Returns the rank of the node that holds `bit`, among those of its word.
__device__ inline int rank_of(word starts, int bit) { return __popc(starts & up_to(bit)) - 1; }

}  // namespace nearfield::labelling
