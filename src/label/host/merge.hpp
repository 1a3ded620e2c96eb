// Merges touching runs into trees. Compiled once per instruction set, since it counts and finds bits.
#pragma once

#include <algorithm>
#include <cstdint>

#include "label/host/bits.hpp"
#include "label/host/front.hpp"

namespace nearfield::labelling {

/// Trees of runs: each run points to one with a smaller number, a root to itself.
struct run_trees {
    std::uint32_t* parent = nullptr;
    /// The runs belong to two bands whose trees are complete: they are merged at their roots. There are few links
    /// between bands, and later ones then have short paths.
    bool at_roots = false;
};

inline std::uint32_t root_of(std::uint32_t* parent, std::uint32_t run) {
    while (parent[run] != run) run = parent[run] = parent[parent[run]];
    return run;
}

/// Unites the roots of two runs. Runs keep their parents in their own bands: only former roots point to other bands.
inline void merge_roots(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
    a = root_of(parent, parent[a]), b = root_of(parent, parent[b]);
    parent[std::max(a, b)] = std::min(a, b);
}

/// Links the runs of a row with those of the neighbouring rows before it that lie in [from, to): N is the row before in
/// its plane, U the one in the plane before, UN and US its neighbours. Links that other links imply are dropped. For
/// plain rows.
void merge_plain(const bit_rows& bits, int changes, std::int64_t row, std::int64_t from, std::int64_t to,
                 const run_trees& trees);

/// A row to link with, and its cells if corners count.
struct neighbour_row {
    bool there = false;
    cell_row cells{};
};
/// A row and its neighbours before it, as merge_plain names them.
struct cell_rows {
    cell_row here;
    neighbour_row n, u, un, us;
};
/// Does the same for rows whose cells are linked by a criterion. `words`: scratch of two words for each word of a row.
void merge_linked(const bit_rows& bits, const problem& p, std::int64_t row, const cell_rows& cells,
                  std::uint64_t* words, const run_trees& trees);

/// Position of a row relative to another, round the ends of periodic axes.
struct row_step {
    int dz = 0, dy = 0;
};

/// Links the runs of any two rows at their roots, cell x with x and, if `slanted`, with x - 1 and x + 1: used where the
/// ends of a periodic axis meet. `words`: the same scratch.
void merge_ends(const bit_rows& bits, const problem& p, std::int64_t row, const cell_row& here, std::int64_t other,
                const cell_row& there, row_step by, bool slanted, std::uint64_t* words, std::uint32_t* parent);

}  // namespace nearfield::labelling
