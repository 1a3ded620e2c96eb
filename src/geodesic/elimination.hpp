// When the device solver eliminates cells, and what became of it.
#pragma once

#include <cstdint>

namespace nearfield::geodesics {

/// Which of the two solvers of a device works on what. `left` is the share of the free cells that elimination inside of
/// tiles leaves, in thousandths, by a sample. Measured on one H200.
struct solver_rules {
    std::int64_t least_cells = std::int64_t{1} << 20;  ///< fewer are left to the queue of tiles
    std::int32_t first_depth = 24;  ///< how many tiles one after another the queue visits before a sample is taken
    std::int32_t second_depth = 4;  ///< the same, in multiples of the image's sides in tiles, where `left` is middling
    std::int32_t thin = 52;         ///< up to here cells are eliminated at once
    std::int32_t middling = 110;    ///< up to here after `second_depth`; above it never
    std::int32_t samples = 64;      ///< tiles
    std::int32_t most_degree = 11;  ///< of a cell in a tile
    std::int32_t node_share = 8;    ///< one node for so many cells can be left after the tiles
    std::int32_t most_core = 1 << 14;  ///< nodes that elimination may leave; beyond it the queue goes on
};

/// Counts of one call, written by the device.
struct solver_counts {
    std::uint32_t head, tail, pending, crossings;  ///< of the queue
    std::uint32_t parked[2];                       ///< whether tiles were too deep, at the first and the second depth
    std::uint32_t sampled, left;                   ///< free cells of the sample, and those left
    std::uint32_t nodes, overflow;                 ///< left after the tiles; whether there were too many
    std::uint32_t gone, alive[2], front[3];        ///< of the graph: eliminated, alive, of the core to go on from
    std::uint32_t turns, core;                     ///< rounds on the graph, and the nodes that they leave
    std::uint32_t solved;                          ///< whether elimination did
};

/// For tests: other rules for the calls of this thread while it lives, and the counts of the last one, for which the
/// call waits.
class watched_solver {
public:
    explicit watched_solver(const solver_rules& rules) : rules_(rules), outer_(innermost) { innermost = this; }
    ~watched_solver() { innermost = outer_; }
    watched_solver(const watched_solver&) = delete;
    watched_solver& operator=(const watched_solver&) = delete;

    [[nodiscard]] const solver_counts& counts() const { return counts_; }
    [[nodiscard]] static solver_rules rules() { return innermost == nullptr ? solver_rules{} : innermost->rules_; }
    /// Null where nobody watches.
    static solver_counts* seen() { return innermost == nullptr ? nullptr : &innermost->counts_; }

private:
    static inline thread_local watched_solver* innermost = nullptr;
    solver_rules rules_;
    solver_counts counts_{};
    watched_solver* outer_;
};

}  // namespace nearfield::geodesics
