// Masks whose cells touch all around them, in any number of axes. Of n axes, a cell has (3^n - 1) / 2 neighbours before
// it, but its blocks of two cells a side need n unions: the cells of a block touch each other.
#include <algorithm>

#include "label/host/stream.hpp"

namespace nearfield::labelling {

/// True if links may be found along one axis after the other.
bool stream::links_blocks() const {
    int axes = 0;
    for (int a = 0; a < p_.rank; ++a) axes += axes_[a].size > 1 ? 1 : 0;
    const bool open = std::find(p_.periodic.begin(), p_.periodic.end(), true) == p_.periodic.end();
    return plain_ && open && p_.changes >= std::max(axes, 1) && cells_ < std::int64_t{1} << 32;
}

/// The block of cell x has the cells x and one step before x along each axis so far. One that has foreground is a tree.
struct stream::blocks {
    host_scratch<word> in_line;           ///< bit x: cell x, or the one before it in its line, is foreground
    host_scratch<word> columns, next;     ///< bit x: the block without the last axis has foreground; after another axis
    host_scratch<std::uint32_t> another;  ///< a node in the block, if it has one, for cells that are not `in_line`
};

/// Along each axis the tree of a block and that of the block one step before become one.
void stream::link_blocks() {
    const std::int64_t size = words() + 3;
    blocks b{host_scratch<word>(words()), host_scratch<word>(size), host_scratch<word>(size),
             host_scratch<std::uint32_t>(cells_)};
    for (word* const at : {b.columns.get(), b.next.get()}) at[0] = at[size - 2] = at[size - 1] = 0;
    const ends line = ends{1} << 2 * last_;
    for_tasks(words(), task_words, word_bits, [&](std::int64_t first, std::int64_t last, int) {
        end_masks at(*this, first, line);
        for (std::int64_t w = first; w < last; ++w, at.next()) {
            b.columns.get()[1 + w] = foreground()[w];
            b.in_line.get()[w] = foreground()[w] | (shifted(foreground(), w, 1) & ~at.any_of(line));
        }
    });
    for (int a = p_.rank - 1; a >= 0; --a) {
        if (a == last_ || axes_[a].size == 1) continue;
        link_blocks_along(a, b);
        std::swap(b.columns, b.next);
    }
}

void stream::link_blocks_along(int along, const blocks& b) const {
    const ends line = ends{1} << 2 * last_, first_cells = ends{1} << 2 * along;
    const std::int64_t step = axes_[along].step;
    const word* const columns = b.columns.get() + 1;
    const auto node_in = [&](std::int64_t cell) {
        if (place_.get()[cell] != 0) return node_of(cell);
        const bool known = (b.in_line.get()[cell / word_bits] >> cell % word_bits & 1) != 0;
        return known ? node_of(cell - 1) : std::int64_t{b.another.get()[cell]};
    };
    for_tasks(words(), task_words, 0, [&](std::int64_t first, std::int64_t last, int) {
        end_masks at(*this, first, line | first_cells);
        for (std::int64_t w = first; w < last; ++w, at.next()) {
            const word in_line = ~at.any_of(line), has_before = ~at.any_of(first_cells);
            const word here = columns[w], west = shifted(columns, w, 1) & in_line;
            const word before = shifted(columns, w, step) & has_before;
            const word before_west = shifted(columns, w, step + 1) & has_before & in_line;
            b.next.get()[1 + w] = here | before;
            // If both columns to the west have foreground, the blocks to the west share it with these.
            word both = (here | west) & (before | before_west) & ~(west & before_west);
            for (; both != 0; both &= both - 1) {
                const std::int64_t cell = w * word_bits + std::countr_zero(both);
                unite(node_in(cell), node_in(cell - step));
            }
            for (word fresh = (before | before_west) & ~(here | west); fresh != 0; fresh &= fresh - 1) {
                const std::int64_t cell = w * word_bits + std::countr_zero(fresh);
                b.another.get()[cell] = static_cast<std::uint32_t>(node_in(cell - step));
            }
        }
    });
}

}  // namespace nearfield::labelling
