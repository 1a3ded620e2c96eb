// The graph of basins on the host: the basin of every cell, and the lowest passes between basins.
#pragma once

#include <atomic>
#include <limits>

#include "base/parallel.hpp"
#include "watershed/host_room.hpp"
#include "watershed/host_rows.hpp"
#include "watershed/host_tree.hpp"

namespace nearfield::watersheds {

inline constexpr std::int64_t block_places = std::int64_t{1} << 15;

/// Calls body(place of the first cell, its coordinates, thread) for every row of cells.
template <class Body>
void for_rows(workers& team, const frame& f, const Body& body) {
    const std::int64_t block = std::max<std::int64_t>(1, block_places / f.row_pitch);
    team.for_each(f.rows, block, f.row_pitch, [&](std::int64_t first, std::int64_t last, int thread) {
        std::int64_t at[max_rank]{};
        for (std::int64_t row = first; row < last; ++row)
            if (f.locate_row(row, at)) body(f.base + row * f.row_pitch, at, thread);
    });
}

/// Sets all places that hold no cell to a value.
template <class T>
void fill_frame(workers& team, const frame& f, T* a, T value) {
    std::fill(a, a + f.base, value);
    std::fill(a + f.base + f.rows * f.row_pitch, a + f.places, value);
    const std::int64_t block = std::max<std::int64_t>(1, block_places / f.row_pitch);
    team.for_each(f.rows, block, 0, [&](std::int64_t first, std::int64_t last, int) {
        std::int64_t at[max_rank]{};
        for (std::int64_t row = first; row < last; ++row) {
            T* const here = a + f.base + row * f.row_pitch;
            std::fill(f.locate_row(row, at) ? here + f.row_size() : here, here + f.row_pitch, value);
        }
    });
}

/// A cell's pointer to a neighbour: the step's number from 1, or 0 for none. A bit marks steps across a periodic end.
using way = std::uint16_t;
inline constexpr way over_end = 0x8000;

/// Enumerates the neighbours of cells: at the ends of periodic axes by coordinates, elsewhere by offsets.
struct neighbours {
    const frame& where;
    const std::vector<step>& steps;
    std::vector<std::int32_t> offsets;  ///< one for each step

    neighbours(const frame& f, const std::vector<step>& all) : where(f), steps(all) {
        for (const step& s : all) offsets.push_back(s.offset);
    }
    /// Offsets of the cells between a cell and its neighbour: by steps that change one coordinate, or all but one.
    [[nodiscard]] std::vector<std::int32_t> between(const step& s) const;

    /// Calls use(place, way to it) for all neighbours of a cell, in the order of ties unless it lies at a periodic end.
    template <class Use>
    void ways_of(std::int64_t place, const Use& use) const {
        std::int64_t at[max_rank]{};
        const bool end = where.any_wraps && (where.locate(place, at), where.at_end(at, where.axes));
        for (std::size_t k = 0; k < steps.size(); ++k)
            if (!end) use(place + steps[k].offset, static_cast<way>(k + 1));
            else if (const std::int64_t there = where.neighbour(at, steps[k].by); there >= 0)
                use(there, static_cast<way>((k + 1) | over_end));
    }
    template <class Use>
    void of(std::int64_t place, const Use& use) const {
        ways_of(place, [&](std::int64_t there, way) { use(there); });
    }
    /// Returns the place that a way leads to; the way must not be 0.
    [[nodiscard]] std::int64_t next(std::int64_t place, way by) const {
        if ((by & over_end) == 0) return place + offsets[by - std::size_t{1}];
        std::int64_t at[max_rank]{};
        where.locate(place, at);
        return where.neighbour(at, steps[(by ^ over_end) - std::size_t{1}].by);
    }
    /// Splits a row: calls inner(first, count) for cells whose neighbours are at offsets, single(place) for all others.
    template <class Inner, class Single>
    void split(std::int64_t row, const std::int64_t* at, const Inner& inner, const Single& single) const {
        const std::int64_t count = where.row_size();
        const std::int64_t ends = where.at_end(at, where.axes - 1) ? count : where.wraps[where.axes - 1] ? 1 : 0;
        for (std::int64_t i = 0; i < std::min(ends, count); ++i) single(row + i);
        for (std::int64_t i = ends; i < count - ends; i += chunk) inner(row + i, std::min(chunk, count - ends - i));
        for (std::int64_t i = std::max(ends, count - ends); i < count; ++i) single(row + i);
    }
};

// ---- forests of places: pointers are at least 0; the end of a chain holds a negative code ---------------------------

inline constexpr std::int32_t nowhere = -1;
constexpr std::int32_t code_of(std::int64_t number) { return static_cast<std::int32_t>(-2 - number); }
constexpr std::int64_t number_of(std::int32_t code) { return -2 - std::int64_t{code}; }

template <class T>
T read(T& from) {
    return std::atomic_ref(from).load(std::memory_order_relaxed);
}
template <class T>
void write(T& to, T value) {
    std::atomic_ref(to).store(value, std::memory_order_relaxed);
}

/// Replaces the pointers on the chain from a place by the code at its end, and returns this code. Several threads may
/// call it at once.
inline std::int32_t follow(std::int32_t* up, std::int64_t place) {
    std::int32_t end = read(up[place]);
    while (end >= 0) end = read(up[end]);
    for (std::int32_t next = 0; (next = read(up[place])) >= 0; place = next) write(up[place], end);
    return end;
}

/// States of a cell in the search of minima: not yet visited; visited by this search, or an earlier one; in the answer.
enum : std::uint8_t { untouched, visiting, visited, minimal };

/// A cell that has a marker.
struct marker {
    std::int32_t place;
    std::int64_t label;
};

template <class Key>
class host_graph final : public whole_graph {
public:
    host_graph(const host& on, const problem& p, asked how);
    /// Returns false if nothing was built: a cell has the key that stands for no cell, which keys of 32 bits and single
    /// minima do not allow, or single minima would take too long.
    [[nodiscard]] bool complete() const { return complete_; }

    [[nodiscard]] std::vector<extremum> extrema(const height& least) const override;
    [[nodiscard]] std::vector<peak> peaks(const height& least) const override;
    void mark(const host& on, const height& least, const target& out) const override;
    void flood(const host& on, const problem& p) override;
    void reconstruct(const host& on, const problem& p) const override;
    [[nodiscard]] std::vector<extinction> extinctions(attribute by, bool roots) const override;
    void cut(const host& on, const cut_options& cut, const height& least, const target& out) override;
    [[nodiscard]] std::vector<double> passes(const std::vector<std::int64_t>& a,
                                             const std::vector<std::int64_t>& b) const override;

private:
    struct edge_cache;

    void read_keys(workers& team);
    void read_parts(workers& team);
    void descend(workers& team);
    void number_ends(workers& team, list<std::int32_t>& ends);
    /// Finds only the minima, which do not merge, instead of basins.
    void find_minima(workers& team);
    /// Marks the ends of descents in some rows that have no equal neighbour, and returns those that have one.
    [[nodiscard]] list<std::int32_t> mark_single(workers& team, std::int64_t from, std::int64_t upto);
    [[nodiscard]] bool mark_plateaus(const list<std::int32_t>& ends, std::int64_t& left);
    /// Points cells whose key stands for no cell to an equal neighbour that comes first; counts ends in rows anew.
    void join_highest(workers& team, list<std::int32_t>& ends);
    [[nodiscard]] auto test_of_passes() const -> bool (*)(const height&, Key, Key);
    list<edge<Key>> find_edges(workers& team);

    [[nodiscard]] bool alike(std::int64_t a, std::int64_t b) const {
        return part_.get() == nullptr || part_.get()[a] == part_.get()[b];
    }
    template <class Value>
    void fill_lakes(workers& team, const list<Key>& end, double factor, lakes_of_tree& lakes) const;
    template <class Value>
    [[nodiscard]] double factor_of(workers& team) const;
    [[nodiscard]] std::shared_ptr<const region_tree> regions_by(const host& on, attribute by, bool roots) const;
    [[nodiscard]] list<marker> markers_of(workers& team, const problem& p) const;
    void write_passes(workers& team, const problem& p, const list<Key>& level, const list<std::uint8_t>& reached) const;

    problem asked_;
    asked how_;
    neighbours near_;
    bool distinct_ = true;  ///< no cell has the key that stands for no cell
    bool complete_ = false;
    /// A key that no cell has. Above it the keys of single minima are 1 less, if one of them would stand for no cell.
    Key gap_ = outside<Key>;
    host_scratch<Key> key_;
    host_scratch<std::int32_t> basin_;   ///< of every place: a code, or nowhere
    host_scratch<std::int32_t> part_;    ///< of every cell: its label; cells of other labels are no neighbours
    host_scratch<std::uint8_t> lowest_;  ///< of minima without basins: all their cells, or the first of each
    merge_tree<Key> tree_;
    mutable kept_regions regions_;
};

extern template class host_graph<std::int32_t>;
extern template class host_graph<std::int64_t>;

}  // namespace nearfield::watersheds
