// Thresholds for elimination in the device solver, and counts of its work.
#pragma once

#include <cstdint>

namespace nearfield::geodesics {

/// Thresholds that choose between the two solvers of a device. `left` is the share of free cells that remain after
/// elimination inside tiles, in thousandths, estimated by a sample. Measured on one H200.
struct solver_rules {
    std::int64_t least_cells = std::int64_t{1} << 20;  ///< smaller grids use the queue of tiles alone
    std::int32_t first_depth = 24;                     ///< depth of a chain of tiles at which a sample is taken
    /// Depth for a middling `left`, in multiples of the image's sides in tiles; twice as deep if sweeps relax tiles.
    std::int32_t second_depth = 4;
    /// If at most this number of tiles wait for sweeps, the second depth is the first, and leaps may take tiles.
    std::int32_t waiting = 4;
    /// `waiting` where cells are to be eliminated: 12 to 23 wait in perfect mazes, more where short ways lead around.
    std::int32_t waiting_for_elimination = 24;
    /// Depth at which leaps over the pieces of corridors begin, in multiples of the image's sides in tiles, if at most
    /// `waiting` tiles wait; if more do, they begin at the second depth.
    std::int32_t leap_depth = 1;
    std::int32_t thin = 52;  ///< up to this `left`, cells are eliminated at once; see is_thin()
    /// `thin` where sweeps relax tiles: none, since they solve mazes with short ways sooner than lists eliminate cells.
    std::int32_t thin_for_sweeps = -1;
    /// Leaps take the place of elimination for a middling `left`, except among scattered obstacles.
    bool leaps_first = true;
    /// Obstacles are scattered if more steps are missing, in thousandths: corridors of three cells lack 230, of two 340
    /// to 380. Sweeps serve steps to eight neighbours, of which corridors of one cell lack 640.
    std::int32_t scattered = 300, scattered_for_sweeps = 700;
    std::int32_t middling = 110;  ///< up to this `left`, after `second_depth`; above it, never
    /// A sample is taken if obstacles and borders close at least this share of the steps of free cells, in thousandths:
    /// corridors of width 6 lack 83, caves and blobs less than 70.
    std::int32_t missing = 75;
    std::int32_t peeled = 16;          ///< turns in which redundant cells are taken out before tables of parts are made
    std::int32_t samples = 64;         ///< number of sampled parts
    std::int32_t most_degree = 11;     ///< edges of a cell in a tile
    std::int32_t node_share = 8;       ///< there is memory for one node per so many cells
    std::int32_t most_core = 1 << 14;  ///< nodes that may remain; if more do, the queue goes on
    std::int32_t rough = 0;            ///< an image's tiles are flooded if solver_counts::rough is above this
};

/// Counts of one call, which the device writes.
struct solver_counts {
    std::uint32_t head, tail, pending;       ///< of the queue
    std::uint32_t parked[2];                 ///< tiles that were parked by the first and by the second stage
    std::uint32_t squares;                   ///< parts that contract_squares() contracted
    std::uint32_t nodes, overflow;           ///< remaining nodes; 1 if there were too many
    std::uint32_t gone, alive[2], front[3];  ///< of the graph: nodes eliminated, remaining, to relax
    std::uint32_t turns, core;               ///< rounds on the graph, and the nodes that remain
    std::uint32_t solved;                    ///< 1 if elimination solved the call
    std::uint32_t gates, pieces, words;      ///< of leaps: gates and pieces, and words of tables
    std::uint32_t cells, remaining;          ///< open cells, and those that remain without redundant ones
    std::uint32_t parts, absorbed;           ///< parts that have been listed; pieces absorbed by their only neighbour
    std::uint32_t too_dear;                  ///< 1 if paths inside tiles cost too much, or do not fit the memory
    std::int32_t rough;                      ///< 3 for each sampled word among scattered obstacles, -1 for others
    std::uint32_t crossings;                 ///< entries of the list of crossings
    std::uint32_t exceeded;                  ///< 1 if keys of 32 bits, which were tried first, did not suffice
    std::uint32_t listed;                    ///< seeds that get ranks; no more are counted once they are too many
    std::uint32_t steps, missing;            ///< of the sample's free cells: steps that are open and closed
    std::uint32_t sampled, reached, left;    ///< free cells of the sample, those with a cost, those that remain
    /// 1 or 2 if the search with keys of 32 bits took the sample for wider ones: few tiles waited there, or more.
    std::uint32_t sampled_before;
};

/// Serves tests: while it lives, this thread's calls use other rules. It keeps the counts of the last call, which waits
/// for the device.
class watched_solver {
public:
    explicit watched_solver(const solver_rules& rules) : rules_(rules), outer_(innermost) { innermost = this; }
    ~watched_solver() { innermost = outer_; }
    watched_solver(const watched_solver&) = delete;
    watched_solver& operator=(const watched_solver&) = delete;

    [[nodiscard]] const solver_counts& counts() const { return counts_; }
    [[nodiscard]] static solver_rules rules() { return innermost == nullptr ? solver_rules{} : innermost->rules_; }
    /// Null unless a test watches.
    static solver_counts* seen() { return innermost == nullptr ? nullptr : &innermost->counts_; }

private:
    static inline thread_local watched_solver* innermost = nullptr;
    solver_rules rules_;
    solver_counts counts_{};
    watched_solver* outer_;
};

}  // namespace nearfield::geodesics
