// The mathematics of label propagation: directions, the growth of links, and the labels that a cell takes from others.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"
#include "label/core.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield::link_propagation {

/// Addresses, which also serve as labels. Background has none.
using address = std::int32_t;
inline constexpr address background = -1;
inline constexpr std::int64_t most_cells = std::numeric_limits<address>::max() - 1;

inline constexpr int most_directions = 26;
inline constexpr int pack = 4;  ///< directions whose links share a word

/// An image in three axes; missing axes are put in front and have length 1.
struct grid3 {
    std::int64_t size[3]{1, 1, 1};
    [[nodiscard]] NF_HD constexpr std::int64_t cells() const { return size[0] * size[1] * size[2]; }
};

/// Sides of the image on which a cell lies: bit `axis` for an axis's first cell, bit 3 + axis for its last cell.
NF_HD constexpr unsigned sides_of(const grid3& grid, std::int64_t z, std::int64_t y, std::int64_t x) {
    return unsigned{z == 0} | unsigned{y == 0} << 1 | unsigned{x == 0} << 2 | unsigned{z == grid.size[0] - 1} << 3 |
           unsigned{y == grid.size[1] - 1} << 4 | unsigned{x == grid.size[2] - 1} << 5;
}

/// The directions to all of a cell's neighbours, in C order of the steps. Direction i is the opposite of direction
/// count - 1 - i.
struct directions {
    int count = 0;
    std::int8_t step[most_directions][3]{};
    std::uint8_t leaves[most_directions]{};                        ///< the sides at which the step leaves the image
    address offset[(most_directions + pack - 1) / pack * pack]{};  ///< to the neighbour's address

    [[nodiscard]] constexpr int packs() const { return (count + pack - 1) / pack; }
};

constexpr directions directions_of(const grid3& grid, int rank, int changes) {
    directions d;
    for (std::int64_t number = 0; number < labelling::three_to(rank); ++number) {
        const int changed = labelling::changes_in(number, rank);
        if (changed == 0 || changed > changes) continue;
        std::int64_t offset = 0;
        for (int axis = 0; axis < rank; ++axis) {
            const int by = labelling::along(number, axis, rank);
            d.step[d.count][3 - rank + axis] = static_cast<std::int8_t>(by);
            if (by != 0) d.leaves[d.count] |= static_cast<std::uint8_t>(1 << (3 - rank + axis + (by < 0 ? 0 : 3)));
            offset = offset * grid.size[3 - rank + axis] + by;
        }
        d.offset[d.count++] = static_cast<address>(offset);
    }
    return d;
}

// ---- links ----------------------------------------------------------------------------------------------------------

/// Number of doublings after which links of one cell have grown to `length` cells, if nothing ends them.
constexpr int link_steps(int length) {
    int steps = 0;
    while ((std::int64_t{1} << steps) < length) ++steps;
    return steps;
}

/// True if a link may still grow in step number `done`; shorter links have reached their end. In each step a link adds
/// the link at its far end. That one may have grown already: the cells are still connected, and after all steps each
/// link is as long as possible up to `length`, whatever the order. So links need no second copy.
NF_HD constexpr bool can_grow(int link, int done, int length) { return link >= (1 << done) && link < length; }
NF_HD constexpr int grown(int link, int at_far_end, int length) {
    return link + at_far_end < length ? link + at_far_end : length;
}

// ---- rounds ---------------------------------------------------------------------------------------------------------

/// The labels that a cell gathers. Links longer than these are followed, to the neighbour and to the far end. If the
/// neighbour is the far end it is read once.
struct gathers {
    static constexpr int never = 1 << 30;
    int near_above = 0, far_above = 1;
    bool masters = true;
};

constexpr gathers gathers_of(const propagation_options& o) {
    return {o.neighbours ? 0 : gathers::never, o.links ? (o.neighbours ? 1 : 0) : gathers::never, o.masters};
}

/// Labels are final once no round changes anything, if cells gather from all neighbours: by the 1-gather, or by links
/// of one cell, which are the same. Longer links alone skip cells: of three cells in a row the ends read each other,
/// and never learn what the middle one learns from across the row.
constexpr bool always_finishes(const propagation_options& o, int length) { return o.neighbours || length == 1; }

// ---- the call -------------------------------------------------------------------------------------------------------

/// The checked problem that the public call hands to a backend.
struct problem {
    grid3 grid;
    int rank = 1;      ///< of the image without channels
    int channels = 1;  ///< channels of a cell
    directions ways;
    int length = 1;  ///< limit of a link, in cells
    label_options look;
    propagation_options how;
};

namespace self_check {
static_assert(link_steps(1) == 0 && link_steps(2) == 1 && link_steps(3) == 2 && link_steps(64) == 6);
static_assert(link_steps(65) == 7 && link_steps(65535) == 16);
constexpr grid3 some{{5, 6, 7}};
static_assert(directions_of(some, 3, 1).count == 6 && directions_of(some, 3, 2).count == 18);
static_assert(directions_of(some, 3, 3).count == 26 && directions_of(some, 3, 3).packs() == 7);
static_assert(directions_of({{1, 6, 7}}, 2, 2).count == 8 && directions_of({{1, 1, 7}}, 1, 1).count == 2);
static_assert(directions_of(some, 3, 1).offset[0] == -42 && directions_of(some, 3, 1).offset[5] == 42);
static_assert(directions_of(some, 3, 3).offset[0] == -50 && directions_of(some, 3, 3).step[0][2] == -1);
static_assert(directions_of(some, 3, 3).leaves[0] == 7 && directions_of(some, 3, 3).leaves[25] == 56);
static_assert(sides_of(some, 0, 2, 6) == (1 | 32) && sides_of(some, 4, 0, 3) == (8 | 2));
static_assert(directions_of({{1, 6, 7}}, 2, 1).step[0][1] == -1 && directions_of({{1, 6, 7}}, 2, 1).offset[0] == -7);
}  // namespace self_check

}  // namespace nearfield::link_propagation
