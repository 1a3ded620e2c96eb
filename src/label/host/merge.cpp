#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "label/host/merge.cpp"
#include "hwy/foreach_target.h"  // IWYU pragma: keep
#include "hwy/highway.h"

#include <bit>

#include "label/host/merge.hpp"
#include "label/host/predicates.hpp"

HWY_BEFORE_NAMESPACE();
namespace nearfield::labelling::HWY_NAMESPACE {

using word = std::uint64_t;

/// Bit x of the result is bit x - 1 (x + 1) of the row; the words on both sides must exist.
HWY_INLINE word from_west(const word* row, std::int64_t w) { return row[w] << 1 | row[w - 1] >> 63; }
HWY_INLINE word from_east(const word* row, std::int64_t w) { return row[w] >> 1 | row[w + 1] << 63; }

// ---- trees --------------------------------------------------------------------------------------------------------

/// Unites two trees: both nodes climb in turn, the one with the larger parent first, and take the other's parent (Rem:
/// Patwary, Blair, Manne, "Experiments on union-find algorithms for the disjoint-set data structure", SEA 2010).
HWY_NOINLINE void splice(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
    while (parent[a] != parent[b]) {
        if (parent[a] < parent[b]) std::swap(a, b);
        const std::uint32_t next = parent[a];
        parent[a] = parent[b];
        if (next == a) return;
        a = next;
    }
}

/// Unites `other`, which comes first, and `run`. If `run` is a root it points to `other`'s parent, without a branch.
template <bool AtRoots>
HWY_INLINE void unite(const run_trees& trees, std::uint32_t other, std::uint32_t run) {
    if constexpr (AtRoots) return merge_roots(trees.parent, other, run);
    std::uint32_t* const parent = trees.parent;
    const std::uint32_t there = parent[other], here = parent[run];
    const bool is_root = here == run;
    parent[run] = is_root ? there : here;
    if (!is_root && here != there) splice(parent, other, run);
}

/// Starts of runs, and the number of the last run before a word, of two rows at one word.
struct seat {
    word starts, other_starts;
    std::uint32_t run, other;
};

/// Adds a link for each bit: to the other row's run that holds cell x or, with `Next`, to the one that starts after x.
template <bool AtRoots, bool Next>
HWY_INLINE void unite_all(word links, const seat& at, const run_trees& trees) {
    for (; links != 0; links &= links - 1) {
        const word up_to = links ^ (links - 1);
        unite<AtRoots>(trees,
                       at.other + static_cast<std::uint32_t>(std::popcount(at.other_starts & up_to)) + (Next ? 1 : 0),
                       at.run + static_cast<std::uint32_t>(std::popcount(at.starts & up_to)));
    }
}

HWY_INLINE std::uint32_t last_before(const bit_rows& bits, std::int64_t row, std::int64_t w) {
    return static_cast<std::uint32_t>(bits.first_run()[row]) + bits.before(row)[w] - 1;
}

// ---- plain rows ---------------------------------------------------------------------------------------------------

/// Rows whose foreground makes a link redundant: `both` of them (`Both`) or one of the two.
struct cover {
    const word *one, *other;
};
template <bool Both>
HWY_INLINE word covered(const cover& by, std::int64_t w) {
    return Both ? by.one[w] & by.other[w] : by.one[w] | by.other[w];
}

enum class covering { none, both, either };

/// Merges a row with another. Cell x touches x of the other one and, with `Wide`, x - 1 and x + 1. Of a run of cells
/// that touch the same run only the first is linked; corners count where no face does.
template <bool Wide, covering Covering, bool AtRoots>
void merge_rows(const bit_rows& bits, std::int64_t row, std::int64_t other, const cover& by, const run_trees& trees) {
    const word *const here = bits.foreground(row), *const there = bits.foreground(other);
    for (std::int64_t w = 0; w < bits.words; ++w) {
        const word c = here[w], a = there[w];
        const word c_west = from_west(here, w), a_west = from_west(there, w);
        word same = c & a & ~(c_west & a_west), west = 0, east = 0;
        if constexpr (Wide) {
            west = c & ~a & ~c_west & a_west;
            east = c & ~a & ~from_east(here, w) & from_east(there, w);
        }
        if ((same | west | east) == 0) continue;
        if constexpr (Covering != covering::none) {
            constexpr bool both = Covering == covering::both;
            const word v = covered<both>(by, w);
            same &= ~v;
            if constexpr (Wide) {
                west &= ~(v | v << 1 | covered<both>(by, w - 1) >> 63);
                east &= ~(v | v >> 1 | covered<both>(by, w + 1) << 63);
            }
        }
        const seat at{c & ~c_west, a & ~a_west, last_before(bits, row, w), last_before(bits, other, w)};
        unite_all<AtRoots, false>(same | west, at, trees);
        if constexpr (Wide) unite_all<AtRoots, true>(east, at, trees);
    }
}

/// Sets the parents of `count` consecutive runs, which are roots so far, to those of as many consecutive other runs.
HWY_INLINE void take_over(std::uint32_t* parent, std::uint32_t run, std::uint32_t other, int count) {
    for (int i = 0; i < count; ++i) parent[run + i] = parent[other + i];
}

/// Merges N's links, before all others of the row. Words that repeat the one above, or repeat it shifted by one cell
/// (checkerboards), are merged at once. Of a cell that touches two runs by its corners one link is enough if `second`,
/// the row before N (or null), has a cell between them.
template <bool Wide>
void merge_n(const bit_rows& bits, std::int64_t row, const word* second, const run_trees& trees) {
    const word *const here = bits.foreground(row), *const there = bits.foreground(row - 1);
    for (std::int64_t w = 0; w < bits.words; ++w) {
        const word c = here[w], a = there[w];
        if (c == 0) continue;
        const word c_west = from_west(here, w), a_west = from_west(there, w);
        const word starts = c & ~c_west, other_starts = a & ~a_west;
        const auto seats = [&] {
            return seat{starts, other_starts, last_before(bits, row, w), last_before(bits, row - 1, w)};
        };
        if (c == a && starts == other_starts) {
            take_over(trees.parent, seats().run + 1, seats().other + 1, std::popcount(starts));
            continue;
        }
        const word same = c & a & ~(c_west & a_west);
        word west = 0, east = 0;
        if constexpr (Wide) {
            west = c & ~a & ~c_west & a_west;
            east = c & ~a & ~from_east(here, w) & from_east(there, w);
            if (second != nullptr) east &= ~(west & second[w]);
        }
        if ((same | west | east) == 0) continue;
        const seat at = seats();
        const word moved_in = (there[w - 1] & ~(there[w - 1] << 1)) >> 63;
        if ((same | east) == 0 && west == starts && west == (other_starts << 1 | moved_in)) {
            take_over(trees.parent, at.run + 1, at.other + 1 - static_cast<std::uint32_t>(moved_in),
                      std::popcount(west));
            continue;
        }
        unite_all<false, false>(same | west, at, trees);
        if constexpr (Wide) unite_all<false, true>(east, at, trees);
    }
}

/// Reasons why links may be dropped: a link of U is implied by N's link of the row before if N and
/// UN are foreground; one of UN or US by a link of N or U and one between those rows. Links of N
/// depend on no others, those of U only on N's and on U's of rows before, so no two imply each
/// other.
template <bool AtRoots>
void merge_row(const bit_rows& bits, int changes, std::int64_t row, std::int64_t from, std::int64_t to,
               const run_trees& trees) {
    const std::int64_t y = row % bits.side, z = row / bits.side % bits.planes;
    const std::int64_t* const first_run = bits.first_run();
    const auto inside = [&](std::int64_t other) {
        return other >= from && other < to && first_run[other + 1] > first_run[other];
    };
    const std::int64_t n = row - 1, u = row - bits.side;
    const bool wide = changes >= 2;
    if (y > 0 && inside(n)) {
        if (!AtRoots && wide) merge_n<true>(bits, row, y > 1 ? bits.foreground(row - 2) : nullptr, trees);
        else if (!AtRoots) merge_n<false>(bits, row, nullptr, trees);
        else if (wide) merge_rows<true, covering::none, AtRoots>(bits, row, n, {}, trees);
        else merge_rows<false, covering::none, AtRoots>(bits, row, n, {}, trees);
    }
    if (z == 0) return;
    if (inside(u)) {
        if (y == 0 && wide) merge_rows<true, covering::none, AtRoots>(bits, row, u, {}, trees);
        else if (y == 0) merge_rows<false, covering::none, AtRoots>(bits, row, u, {}, trees);
        else {
            const cover by{bits.foreground(n), bits.foreground(u - 1)};
            if (wide) merge_rows<true, covering::both, AtRoots>(bits, row, u, by, trees);
            else merge_rows<false, covering::both, AtRoots>(bits, row, u, by, trees);
        }
    }
    if (!wide) return;
    for (const std::int64_t beside : {std::int64_t{-1}, std::int64_t{1}}) {
        if (y + beside < 0 || y + beside >= bits.side || !inside(u + beside)) continue;
        const cover by{bits.foreground(row + beside), bits.foreground(u)};
        if (changes == 3) merge_rows<true, covering::either, AtRoots>(bits, row, u + beside, by, trees);
        else merge_rows<false, covering::either, AtRoots>(bits, row, u + beside, by, trees);
    }
}

void plain(const bit_rows& bits, int changes, std::int64_t row, std::int64_t from, std::int64_t to,
           const run_trees& trees) {
    if (trees.at_roots) merge_row<true>(bits, changes, row, from, to, trees);
    else merge_row<false>(bits, changes, row, from, to, trees);
}

// ---- rows with links ----------------------------------------------------------------------------------------------

/// Linked cells of two rows, a word at a time, computed on demand.
class row_links {
public:
    virtual ~row_links() = default;
    /// Bit x: cell x of word w here and the cell `shift` beside it there are linked. None beyond the ends of the rows.
    [[nodiscard]] virtual word at(std::int64_t w, int shift) const = 0;
};

template <class T>
class typed_links final : public row_links {
public:
    typed_links(const problem& p, row_step by, const cell_row& here, const cell_row& there, std::int64_t cells)
        : rule_{make_rule<T>(p, by.dz, by.dy, -1), make_rule<T>(p, by.dz, by.dy, 0), make_rule<T>(p, by.dz, by.dy, 1)},
          here_(static_cast<const T*>(here.data)),
          there_(static_cast<const T*>(there.data)),
          channels_(here.channels),
          cells_(cells),
          by_vectors_(links_by_vectors(rule_[0], channels_, cells)) {}
    [[nodiscard]] word at(std::int64_t w, int shift) const override {
        const std::int64_t begin = w * word_bits;
        const rule<T>& r = rule_[shift + 1];
        if (by_vectors_) return linked_word(r, here_, there_, cells_, begin, shift);
        const std::int64_t first = std::max<std::int64_t>(begin, -shift);
        const std::int64_t last = std::min(begin + word_bits, cells_ - std::max(shift, 0));
        HWY_ALIGN std::uint8_t bytes[word_bits];
        const T *a = here_ + first * channels_, *b = there_ + (first + shift) * channels_;
        if (last - first == word_bits) {
            linked_bytes(r, a, b, channels_, word_bits, bytes);
        } else {
            std::memset(bytes, 0, sizeof bytes);
            linked_bytes(r, a, b, channels_, last - first, bytes + (first - begin));
        }
        return word_of(bytes);
    }

private:
    rule<T> rule_[3];  ///< rules by shift
    const T *here_, *there_;
    int channels_;
    std::int64_t cells_;
    bool by_vectors_;
};

/// Words that are known before the search for links between two rows.
struct known_links {
    const word* columns = nullptr;  ///< cells connected with the one in the same column of the other row
    const word* covered = nullptr;  ///< cells for which no search is needed
    /// True: covered cells are connected in their column. False: other rows imply links to the cells that they touch.
    bool straight = false;
    /// Links connect equal values: a cell that equals one of two differing neighbours does not equal the other.
    bool equal = false;
};

/// Merges rows by links. It drops links that the link of the same direction one cell to the west implies, and slanted
/// links that straight links imply. This is right for every criterion, since it relies on existing connections only.
/// `slanted` is evaluated if rows are `Wide`, for links that are not dropped anyway.
template <bool AtRoots, bool Wide>
void merge_by_links(const bit_rows& bits, std::int64_t row, std::int64_t other, const known_links& known,
                    const row_links* slanted, const run_trees& trees) {
    const word *const here = bits.foreground(row), *const there = bits.foreground(other);
    const word *const here_starts = bits.starts(row), *const there_starts = bits.starts(other);
    word l_before = 0;  // links of the word to the west
    for (std::int64_t w = 0; w < bits.words; ++w) {
        const word l = known.columns[w], l_west = l << 1 | l_before >> 63, covered = known.covered[w];
        l_before = l;
        const word c = known.straight ? here[w] : here[w] & ~covered;
        if (c == 0) continue;
        const word joined = here[w] & ~here_starts[w], there_joined = there[w] & ~there_starts[w];
        const word same = l & ~covered & ~(l_west & joined & there_joined);
        word west = 0, east = 0;
        if constexpr (Wide) {
            const word joined_east = from_east(here, w) & ~from_east(here_starts, w);
            const word there_joined_east = from_east(there, w) & ~from_east(there_starts, w);
            const word l_east = l >> 1 | (w + 1 < bits.words ? known.columns[w + 1] << 63 : 0);
            west = c & from_west(there, w) & ~(known.equal ? l | l_west : (joined & l_west) | (l & there_joined));
            east = c & from_east(there, w) &
                   ~(known.equal ? l | l_east : (joined_east & l_east) | (l & there_joined_east));
            if (west != 0) west &= slanted->at(w, -1);
            if (east != 0) east &= slanted->at(w, 1);
        }
        if ((same | west | east) == 0) continue;
        seat at{here_starts[w], there_starts[w], last_before(bits, row, w), last_before(bits, other, w)};
        unite_all<AtRoots, false>(same, at, trees);
        if constexpr (!Wide) continue;
        // The run of the cell to the east is one further if that cell starts one.
        const word starts_east = from_east(there_starts, w);
        unite_all<AtRoots, true>(east & starts_east, at, trees);
        unite_all<AtRoots, false>(east & ~starts_east, at, trees);
        // Starts are shifted by one cell, so that counting up to x counts up to x - 1.
        at.other_starts = at.other_starts << 1;
        unite_all<AtRoots, false>(west, at, trees);
    }
}

/// The links of a row with N, U, US and UN; null if corners do not count or the row does not exist.
struct links_before {
    const row_links *n = nullptr, *u = nullptr, *us = nullptr, *un = nullptr;
};

/// A cell is connected with U's if it is with N's, that one with UN's and that one with U's; with UN's by way of N or
/// U, with US's by way of U. Equality is transitive, so that a cell equal to N's or U's needs no link of its own to UN
/// or US: N or U has it.
template <bool AtRoots>
void merge_cells(const bit_rows& bits, const problem& p, std::int64_t row, const cell_rows& cells,
                 const links_before& links, word* words, const run_trees& trees) {
    const bool equal = p.options.criterion == criterion::equal;
    word *const columns = words, *const covered = words + bits.words;
    const std::int64_t above = row - bits.side;
    const column_links n = bits.links_to_n(row), u = bits.links_to_u(row);
    // `found(w)` are the links in the same column that `cover(w)` does not cover.
    const auto merge = [&](bool wide, std::int64_t other, bool straight, const row_links* to, auto found, auto cover) {
        for (std::int64_t w = 0; w < bits.words; ++w) {
            covered[w] = cover(w);
            columns[w] = found(w, covered[w]) | (straight ? covered[w] : 0);
        }
        const known_links known{columns, covered, straight, equal};
        if (wide) merge_by_links<AtRoots, true>(bits, row, other, known, to, trees);
        else merge_by_links<AtRoots, false>(bits, row, other, known, to, trees);
    };
    const auto in = [](const column_links& column) { return [&column](std::int64_t w, word) { return column[w]; }; };
    if (cells.n.there) merge(p.changes >= 2, row - 1, true, links.n, in(n), [](std::int64_t) { return word{0}; });
    if (!cells.u.there && !cells.us.there && !cells.un.there) return;
    const column_links u_to_un = bits.links_to_n(above);
    const column_links n_to_un = row % bits.side == 0 ? column_links{} : bits.links_to_u(row - 1);
    if (cells.u.there)
        merge(p.changes >= 2, above, true, links.u, in(u),
              [&](std::int64_t w) { return n[w] & n_to_un[w] & u_to_un[w]; });
    const auto asked = [&](std::int64_t other, const row_links* to) {
        return [a = bits.foreground(row), b = bits.foreground(other), to](std::int64_t w, word known) {
            const word both = a[w] & b[w] & ~known;
            return both != 0 ? both & to->at(w, 0) : 0;
        };
    };
    if (cells.us.there) {
        const column_links us_to_u = bits.links_to_n(above + 1);
        merge(p.changes == 3, above + 1, !equal, links.us, asked(above + 1, links.us),
              [&](std::int64_t w) { return equal ? u[w] : u[w] & us_to_u[w]; });
    }
    if (cells.un.there)
        merge(p.changes == 3, above - 1, !equal, links.un, asked(above - 1, links.un),
              [&](std::int64_t w) { return equal ? n[w] | u[w] : (n[w] & n_to_un[w]) | (u[w] & u_to_un[w]); });
}

void linked(const bit_rows& bits, const problem& p, std::int64_t row, const cell_rows& cells, word* words,
            const run_trees& trees) {
    const auto merge = [&](const links_before& links) {
        if (trees.at_roots) merge_cells<true>(bits, p, row, cells, links, words, trees);
        else merge_cells<false>(bits, p, row, cells, links, words, trees);
    };
    if (p.changes == 1) return merge({});
    with_elements(cells.here, [&]<class T>(const T*) {
        const typed_links<T> n(p, {0, -1}, cells.here, cells.n.cells, bits.cells);
        if (!cells.u.there && !cells.us.there && !cells.un.there) return merge({&n});
        const typed_links<T> u(p, {-1, 0}, cells.here, cells.u.cells, bits.cells);
        const typed_links<T> us(p, {-1, 1}, cells.here, cells.us.cells, bits.cells);
        const typed_links<T> un(p, {-1, -1}, cells.here, cells.un.cells, bits.cells);
        merge({&n, &u, &us, &un});
    });
}

void ends(const bit_rows& bits, const problem& p, std::int64_t row, const cell_row& here, std::int64_t other,
          const cell_row& there, row_step by, bool slanted, word* words, std::uint32_t* parent) {
    const run_trees trees{parent, true};
    if (!bits.plain)
        with_elements(here, [&]<class T>(const T*) {
            const typed_links<T> links(p, by, here, there, bits.cells);
            word* const covered = words + bits.words;
            for (std::int64_t w = 0; w < bits.words; ++w) {
                const word both = bits.foreground(row)[w] & bits.foreground(other)[w];
                words[w] = both != 0 ? both & links.at(w, 0) : 0, covered[w] = 0;
            }
            const known_links known{words, covered, false, p.options.criterion == criterion::equal};
            if (slanted) merge_by_links<true, true>(bits, row, other, known, &links, trees);
            else merge_by_links<true, false>(bits, row, other, known, &links, trees);
        });
    else if (slanted) merge_rows<true, covering::none, true>(bits, row, other, {}, trees);
    else merge_rows<false, covering::none, true>(bits, row, other, {}, trees);
}

}  // namespace nearfield::labelling::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace nearfield::labelling {
HWY_EXPORT(plain);
HWY_EXPORT(linked);
HWY_EXPORT(ends);

void merge_plain(const bit_rows& bits, int changes, std::int64_t row, std::int64_t from, std::int64_t to,
                 const run_trees& trees) {
    HWY_DYNAMIC_DISPATCH(plain)(bits, changes, row, from, to, trees);
}
void merge_linked(const bit_rows& bits, const problem& p, std::int64_t row, const cell_rows& cells,
                  std::uint64_t* words, const run_trees& trees) {
    HWY_DYNAMIC_DISPATCH(linked)(bits, p, row, cells, words, trees);
}
void merge_ends(const bit_rows& bits, const problem& p, std::int64_t row, const cell_row& here, std::int64_t other,
                const cell_row& there, row_step by, bool slanted, std::uint64_t* words, std::uint32_t* parent) {
    HWY_DYNAMIC_DISPATCH(ends)(bits, p, row, here, other, there, by, slanted, words, parent);
}

}  // namespace nearfield::labelling
#endif
