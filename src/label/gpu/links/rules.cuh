// Selects the links of a word that are kept: those that no other links imply. Slanted pairs are compared only if the
// known links leave them undecided, which in images of any structure happens at corners only.
//
// No two dropped links imply each other. A slanted link is implied by straight ones or by slanted ones of an
// earlier kind, one to a corner of a cube by others of the cube. Straight links between two rows are implied
// by those one cell before in the word. A link to the front is implied by way of the row above: in the tile
// or, if it leaves the tile, in any. A link up that leaves the tile is implied by way of the row in front in
// the tile. A link to the word before that leaves the tile is implied by way of the row above or in front in
// the tile.
#pragma once

#include "label/gpu/links/store.cuh"

namespace nearfield::labelling {

/// A row's word as bits: its cells, and the cells before and after each; cells connected to the one before, and to the
/// one after; cells whose value equals that of the one before, and of the one after. Cells beside the word count for
/// its first and its last cell.
struct row_links {
    word set = 0, west_set = 0, east_set = 0, on = 0, next = 0, same = 0, same_next = 0;
};

/// Straight links of the word, and of the same columns in the rows around it.
struct link_facts {
    row_links here, above, front, front_above;
    word up = 0, to_front = 0;              ///< links of the word
    word above_to_front = 0, front_up = 0;  ///< of the row above to the one in front of it; of the row in front upwards
    word sides_up = 0, sides_front = 0;     ///< links of the cell before the word in bit 0, of the one after in bit 31
    word same_up = 0, same_front = 0, same_above_front = 0,
         same_front_up = 0;  ///< a subset of these between equal values
    int last = 31;           ///< bit of the last cell
    [[nodiscard]] __device__ word west(word links, word sides) const { return links << 1 | (sides & 1U); }
    [[nodiscard]] __device__ word east(word links, word sides) const { return links >> 1 | sides >> 31 << last; }
};

/// Position of a word: whether its row, plane and column are the first of its tile, and its row that of the image.
struct word_place {
    bool first_row, first_plane, first_word, top;
};

__device__ inline kept_record kept_links(const link_facts& f, const word_place& at, unsigned& flags) {
    const word round = f.up & f.to_front, corner = f.above_to_front & f.front_up;
    word up = f.up & ~(f.up << 1 & f.here.on & f.above.on);
    if (at.first_row && !at.first_plane) up &= ~(f.to_front & corner);
    word front = f.to_front & ~(f.to_front << 1 & f.here.on & f.front.on);
    if ((!at.first_row || at.first_plane) && !at.top) front &= ~(round & corner);
    word joined = f.here.on & 1U;
    if (at.first_word && !at.first_row) joined &= ~(f.up & f.above.on & f.sides_up);
    if (at.first_word && !at.first_plane) joined &= ~(f.to_front & f.front.on & f.sides_front);
    flags = joined != 0 ? link_store::joined : 0;
    return {f.here.set, f.here.on & ~1U, up, front};
}

template <int Kind>
using kind_number = std::integral_constant<int, Kind>;

/// Cells that are connected with those of the row above, one column before and one after, by any links: for the word's
/// row, and for the one in front.
struct slanted_facts {
    word west = 0, east = 0, front_west = 0, front_east = 0;
};

/// Finds slanted links. ask(kind, candidates) returns the connected ones among the candidates and stores them. If two
/// cells between the ends have equal values, their links to a third cell are equal, so nothing is undecided there. Two
/// cells that both equal those in front of them are connected as those are, which `by_front` allows: not in a tile's
/// first plane, and not across the border of a periodic image.
/// Over 40 lines because each kind of link builds on those before it.
template <bool Deep, class Ask>
__device__ void find_slanted(const link_facts& f, int kinds, bool by_front, slanted_facts& known, const Ask& ask) {
    if (kinds == 0) return;
    const row_links &me = f.here, &up = f.above, &front = f.front, &far = f.front_above;
    const word up_west = f.west(f.up, f.sides_up), up_east = f.east(f.up, f.sides_up);
    const word by_up_west = (me.on & up_west) | (f.up & up.on), by_up_east = (me.next & up_east) | (f.up & up.next);
    const word unlike_up_west = me.same | up.same | f.same_up | f.same_up << 1,
               unlike_up_east = me.same_next | up.same_next | f.same_up >> 1 | f.same_up;
    const word as_front = by_front ? f.same_front : 0, west_as_front = as_front & f.same_above_front << 1,
               east_as_front = as_front & f.same_above_front >> 1;
    const word west = by_up_west | (known.front_west & west_as_front) |
                      ask(kind_number<0>{}, me.set & up.west_set & ~(by_up_west | unlike_up_west | west_as_front));
    const word east = by_up_east | (known.front_east & east_as_front) |
                      ask(kind_number<1>{}, me.set & up.east_set & ~(by_up_east | unlike_up_east | east_as_front));
    known.west = west, known.east = east;
    if constexpr (Deep) {
        const word to = f.to_front, to_west = f.west(to, f.sides_front), to_east = f.east(to, f.sides_front);
        const word by_west = (me.on & to_west) | (to & front.on), by_east = (me.next & to_east) | (to & front.next);
        const word unlike_west = me.same | front.same | f.same_front | f.same_front << 1,
                   unlike_east = me.same_next | front.same_next | f.same_front >> 1 | f.same_front;
        const word front_west = by_west | ask(kind_number<2>{}, me.set & front.west_set & ~(by_west | unlike_west));
        // Implied through a rhombus: by the cell in the middle above and the one behind that.
        const word by_square = east & (west & front_west) >> 2;
        const word front_east =
            by_east | by_square | ask(kind_number<3>{}, me.set & front.east_set & ~(by_east | by_square | unlike_east));
        const word up_front = f.above_to_front, front_up = f.front_up;
        const word unlike = f.same_up | f.same_front | f.same_above_front | f.same_front_up;
        // Implied by straight links, or by two slanted ones to a cell in front or above.
        const word by_far = (f.up & up_front) | (to & front_up) | (front_west & known.front_east << 1) |
                            (front_east & known.front_west >> 1),
                   by_cross = (f.up & to) | (up_front & front_up) | (west & front_west) >> 1 | (east & front_east) << 1;
        const word there = by_far | ask(kind_number<4>{}, me.set & far.set & ~(by_far | unlike));
        const word cross = by_cross | ask(kind_number<5>{}, up.set & front.set & ~(by_cross | unlike));
        if (kinds < link_kinds) return;
        const word here_same = f.same_up | f.same_front, far_same = f.same_above_front | f.same_front_up;
        const word up_same = f.same_up | f.same_above_front, front_same = f.same_front | f.same_front_up;
        const word far_west =
            (there & far.on) | (me.on & there << 1) | (west & up_front << 1) | (front_west & front_up << 1);
        ask(kind_number<6>{}, me.set & far.west_set & ~(far_west | me.same | far.same | here_same | far_same << 1));
        const word far_east =
            (there & far.next) | (me.next & there >> 1) | (east & up_front >> 1) | (front_east & front_up >> 1);
        ask(kind_number<7>{},
            me.set & far.east_set & ~(far_east | me.same_next | far.same_next | far_same >> 1 | here_same));
        const word cross_west = (cross & front.on) | (up.on & cross << 1) | (f.up & front_west) | (east & to) << 1;
        ask(kind_number<8>{},
            up.set & front.west_set & ~(cross_west | up.same | front.same | up_same | front_same << 1));
        const word cross_east = (cross & front.next) | (up.next & cross >> 1) | (f.up & front_east) | (west & to) >> 1;
        ask(kind_number<9>{},
            up.set & front.east_set & ~(cross_east | up.same_next | front.same_next | front_same >> 1 | up_same));
    }
}

}  // namespace nearfield::labelling
