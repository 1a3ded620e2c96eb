// Runs that touch become one tree. Compiled once per instruction set, since it counts and finds bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "label/host/bits.hpp"
#include "label/host/front.hpp"

namespace nearfield::labelling {

/// Trees of runs: each points to one with a smaller number, a root to itself.
struct run_trees {
    std::uint32_t* parent = nullptr;
    /// The runs are of two bands whose trees are complete: they are merged at their roots. Between bands there are few
    /// links, and the next ones shall find short ways.
    bool at_roots = false;
};

inline std::uint32_t root_of(std::uint32_t* parent, std::uint32_t run) {
    while (parent[run] != run) run = parent[run] = parent[parent[run]];
    return run;
}

/// The runs themselves keep their parents, which lie in their own bands: only what is no root any more is to cross.
inline void merge_roots(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
    a = root_of(parent, parent[a]), b = root_of(parent, parent[b]);
    parent[std::max(a, b)] = std::min(a, b);
}

/// Links the runs of a row with those of the neighbouring rows before it that lie in [from, to): N the row before in
/// its plane, U the one in the plane before, UN and US its neighbours. A link is left out when links that lead through
/// other cells say the same. For plain rows.
void merge_plain(const bit_rows& bits, int changes, std::int64_t row, std::int64_t from, std::int64_t to,
                 const run_trees& trees);

/// A row to be linked with, and its cells where corners count.
struct neighbour_row {
    bool there = false;
    cell_row cells{};
};
/// A row and its neighbours before it, as merge_plain names them.
struct cell_rows {
    cell_row here;
    neighbour_row n, u, un, us;
};
/// Does so for rows whose cells are linked by a criterion. `words`: scratch of two words for each word of a row.
void merge_linked(const bit_rows& bits, const problem& p, std::int64_t row, const cell_rows& cells,
                  std::uint64_t* words, const run_trees& trees);

/// Where one row lies from another, round the ends of periodic axes.
struct row_step {
    int dz = 0, dy = 0;
};

/// Links the runs of any two rows at their roots, cell x with x and, if `slanted`, with x - 1 and x + 1: where the
/// ends of a periodic axis meet. `words`: the same scratch.
void merge_ends(const bit_rows& bits, const problem& p, std::int64_t row, const cell_row& here, std::int64_t other,
                const cell_row& there, row_step by, bool slanted, std::uint64_t* words, std::uint32_t* parent);

}  // namespace nearfield::labelling
