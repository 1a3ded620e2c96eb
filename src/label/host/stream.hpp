// A batch of images as one stream of bits. Linked cells of one word of bits are a node, and nodes become trees.
#pragma once

#include <atomic>
#include <bit>
#include <span>
#include <vector>

#include "base/lines.hpp"
#include "base/parallel.hpp"
#include "base/scratch.hpp"
#include "label/host/front.hpp"

namespace nearfield::labelling {

/// A bit for each end of each axis: 2 * axis for its first cells, 2 * axis + 1 for its last ones.
using ends = std::uint32_t;

/// Steps to neighbours that agree in all but the last axis: `back` cells in raster order, one more (`west`) and one
/// fewer (`east`). They leave the image from the cells at an end in `leaves`. A step that wraps round a periodic axis
/// starts only from the cells that are at all ends in `wraps`.
struct step_group {
    std::int64_t back = 0;
    ends leaves = 0, wraps = 0;
    bool straight = false, west = false, east = false;
    bool along_axis = false;                        ///< the straight step changes one coordinate
    link_pair by_straight{}, by_west{}, by_east{};  ///< for criterion::links
};

class stream {
public:
    static constexpr std::int64_t task_cells = 1 << 14;

    /// Reads the image.
    stream(workers& crew, const problem& p, const any_input<host>& image);

    /// Joins nodes whose cells are linked.
    void link();
    /// Numbers the components of all images from 0 in raster order; base[i] is the number of those before image i.
    void number(std::vector<std::int64_t>& base);

    /// Calls body(component, cells, at_border) for every node, from many threads at once.
    template <class Body>
    void for_pieces(const Body& body) const;

    /// Writes label_of(component) for cells [first, last), 0 for the background.
    template <class Label, class LabelOf>
    void expand(std::int64_t first, std::int64_t last, Label* to, const LabelOf& label_of) const;

private:
    static constexpr std::int64_t word_bits = 64, task_words = task_cells / word_bits;
    using word = std::uint64_t;
    struct axis {
        std::int64_t step, size;  ///< step in cells, and size of the axis
    };
    class end_masks;
    struct blocks;

    [[nodiscard]] std::int64_t words() const { return (cells_ + word_bits - 1) / word_bits; }
    [[nodiscard]] const word* foreground() const { return foreground_.get() + 1; }
    [[nodiscard]] const word* starts() const { return starts_.get() + 1; }
    /// Returns the node that holds a cell of the foreground.
    [[nodiscard]] std::int64_t node_of(std::int64_t cell) const {
        return before_.get()[cell / word_bits] + place_.get()[cell] - 1;
    }
    /// Returns the cells of each node of a word.
    [[nodiscard]] std::span<const word> nodes_in(std::int64_t w) const {
        const auto task = static_cast<std::size_t>(w / task_words);
        const std::int64_t first = before_.get()[w];
        return {node_cells_[task].get() + (first - task_nodes_[task]),
                static_cast<std::size_t>(before_.get()[w + 1] - first)};
    }
    [[nodiscard]] std::int64_t component_of(std::int64_t node) const {
        while (parent_.get()[node] >= 0) node = parent_.get()[node];
        return -1 - parent_.get()[node];
    }

    /// Calls body(first, last, thread) over [0, count): a task is `items` items that begin at a multiple of `items`.
    template <class Body>
    void for_tasks(std::int64_t count, std::int64_t items, std::int64_t weight, const Body& body) const {
        crew_.for_each((count + items - 1) / items, 1, weight * items, [&](std::int64_t k, std::int64_t, int thread) {
            body(k * items, std::min(count, (k + 1) * items), thread);
        });
    }
    void find_groups();
    void add_group(std::int64_t step);
    void read();
    void copy_cells(std::int64_t first, std::int64_t last, std::uint8_t* to) const;
    void find_starts();
    void find_nodes();
    void find_nodes_in(std::int64_t w, const end_masks& at, std::vector<word>& found);
    [[nodiscard]] word linked(std::int64_t w, std::int64_t back, word wanted, link_pair by) const;
    /// Returns the bits of the cells `by` cells before those of word w.
    [[nodiscard]] word shifted(const word* bits, std::int64_t w, std::int64_t by) const {
        const std::int64_t from = w * word_bits - by;
        if (from <= -word_bits || from >= cells_) return 0;
        const std::int64_t i = (from + word_bits) / word_bits - 1, shift = from - i * word_bits;
        return shift == 0 ? bits[i] : bits[i] >> shift | bits[i + 1] << (word_bits - shift);
    }
    /// Bits of a word whose cells have the cell `back` before them in the same word.
    [[nodiscard]] static word within_word(std::int64_t back) {
        if (back <= -word_bits || back >= word_bits) return 0;
        return back > 0 ? ~word{0} << back : ~word{0} >> -back;
    }
    [[nodiscard]] word straight_links(const step_group& g, std::int64_t w, const end_masks& at, word from) const;
    void link_word(std::int64_t w, const end_masks& at) const;
    void link_lines() const;
    [[nodiscard]] bool links_blocks() const;
    void link_blocks();
    void link_blocks_along(int along, const blocks& so_far) const;
    void unite(std::int64_t here, std::int64_t there) const {
        // With many steps most links are between nodes that already point to the same one.
        if (parent_of(here) != parent_of(there)) unite_roots(root(here), root(there));
    }
    void unite_roots(std::int64_t a, std::int64_t b) const;
    void unite_words(word links, std::int64_t w, std::int64_t other, int moved) const;
    void unite_all(word links, std::int64_t w, std::int64_t back) const;
    [[nodiscard]] std::int64_t parent_of(std::int64_t node) const {
        return std::atomic_ref(parent_.get()[node]).load(std::memory_order_relaxed);
    }
    [[nodiscard]] std::int64_t root(std::int64_t node) const;

    workers& crew_;
    const problem& p_;
    const any_input<host>& image_;
    std::int64_t cells_, cell_bytes_;
    bool plain_, contiguous_;
    axis axes_[max_rank]{};
    int last_ = 0;         ///< the last axis that has more than one cell
    bool joined_ = false;  ///< adjacent cells along it may be linked
    link_pair by_joined_{};
    std::vector<step_group> groups_;
    host_scratch<std::uint8_t> copy_;             ///< copy of the image, if cells are compared and not contiguous
    host_scratch<word> foreground_, starts_;      ///< a word of zeros in front, two behind
    host_scratch<std::uint8_t> place_;            ///< 1 plus a cell's node among those of its word, 0 for background
    host_scratch<std::int64_t> before_;           ///< nodes before each word, and all of them
    std::vector<host_scratch<word>> node_cells_;  ///< cells of each node, by task
    std::vector<std::int64_t> task_nodes_;        ///< nodes before each task
    std::int64_t nodes_ = 0;
    /// Parent of each node, an earlier one, or itself for a root; later -1 minus a root's component.
    host_scratch<std::int64_t> parent_;
};

/// Masks of the cells of a word that lie at the ends `wanted`, for consecutive words.
class stream::end_masks {
public:
    end_masks(const stream& s, std::int64_t w, ends wanted) : s_(s), wanted_(wanted) {
        for (int a = 0; a < s.p_.rank; ++a) {
            const auto& [step, size] = s.axes_[a];
            if ((wanted >> 2 * a & 3) == 0) continue;
            phase_[a] = w * word_bits % (step * size);
            find(a);
        }
    }
    void next() {
        for (int a = 0; a < s_.p_.rank; ++a) {
            const auto& [step, size] = s_.axes_[a];
            if ((wanted_ >> 2 * a & 3) == 0) continue;
            phase_[a] += word_bits;
            if (phase_[a] >= step * size) phase_[a] %= step * size;
            find(a);
        }
    }
    [[nodiscard]] word any_of(ends which) const {
        word all = 0;
        for (; which != 0; which &= which - 1) all |= mask_[std::countr_zero(which)];
        return all;
    }
    [[nodiscard]] word all_of(ends which) const {
        word all = ~word{0};
        for (; which != 0; which &= which - 1) all &= mask_[std::countr_zero(which)];
        return all;
    }

private:
    void find(int a) {
        const auto& [step, size] = s_.axes_[a];
        for (const bool last : {false, true}) {
            if ((wanted_ >> (2 * a + (last ? 1 : 0)) & 1) == 0) continue;
            word mask = 0;
            for (std::int64_t at = (last ? (size - 1) * step : 0) - phase_[a]; at < word_bits; at += step * size) {
                if (at + step <= 0) continue;
                const std::int64_t from = std::max<std::int64_t>(at, 0), to = std::min(at + step, word_bits);
                mask |= ~word{0} >> (word_bits - (to - from)) << from;
            }
            mask_[2 * a + (last ? 1 : 0)] = mask;
        }
    }
    const stream& s_;
    ends wanted_;
    std::int64_t phase_[max_rank];
    word mask_[2 * max_rank];
};

template <class Body>
void stream::for_pieces(const Body& body) const {
    ends open = 0;
    for (int a = 0; a < p_.rank; ++a) open |= p_.periodic[static_cast<std::size_t>(a)] ? 0u : 3u << 2 * a;
    crew_.for_each(words(), task_words, 0, [&](std::int64_t w, std::int64_t end, int) {
        for (end_masks at(*this, w, open); w < end; ++w, at.next()) {
            const word border = at.any_of(open);
            std::int64_t node = before_.get()[w];
            for (const word cells : nodes_in(w))
                body(component_of(node++), std::popcount(cells), (cells & border) != 0);
        }
    });
}

template <class Label, class LabelOf>
void stream::expand(std::int64_t first, std::int64_t last, Label* to, const LabelOf& label_of) const {
    for (std::int64_t w = first / word_bits; w * word_bits < last; ++w) {
        const std::int64_t base = w * word_bits, from = std::max(first, base), end = std::min(last, base + word_bits);
        Label label[word_bits + 1];  // of each node of the word, behind that of background
        label[0] = 0;
        const std::int64_t node = before_.get()[w], nodes = before_.get()[w + 1] - node;
        for (std::int64_t k = 0; k < nodes; ++k) label[k + 1] = label_of(component_of(node + k));
        for (std::int64_t c = from; c < end; ++c) *to++ = label[place_.get()[c]];
    }
}

}  // namespace nearfield::labelling
