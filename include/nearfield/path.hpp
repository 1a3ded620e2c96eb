// Paths with clearance: for a robot among obstacles, the shortest, a safe or the widest way to a goal.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "nearfield/esdf.hpp"

namespace [[gnu::visibility("default")]] nearfield {

enum class path_objective : std::uint8_t {
    shortest,  ///< least length
    safe,      ///< least length times a price that grows near obstacles
    widest,    ///< largest minimum of clearance; of those the shortest
};

/// An entry of a table: the cost of a unit of length in cells whose clearance is at most `clearance`.
struct clearance_cost {
    double clearance = 0;  ///< in units of `spacing`, decided as that of `radius`
    double cost = 1;       ///< 1/16 to 1024, rounded to a multiple of 1/16
};

struct path_options {
    double radius = 0;  ///< radius of the robot, in units of `spacing`: a cell is free if its clearance exceeds it
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    path_objective objective = path_objective::shortest;
    borders border{};             ///< open or periodic, one per axis
    int connectivity = max_rank;  ///< number of coordinates that a step may change; larger numbers mean all of them
    /// safe: a unit of length costs 1 + weight * exp(-(clearance - radius) / decay), in multiples of 1/16.
    double clearance_weight = 4;
    double clearance_decay = 0;  ///< in units of `spacing`; 0: 8 times the shortest side of a cell
    /// safe: the costs of a unit of length instead of that formula, by rising clearance; up to 65536 entries. A cell
    /// takes the first entry that it fits, and 1 beyond the last. Costs need not fall: less than 1 attracts paths.
    std::span<const clearance_cost> clearance_costs{};
    bool smooth = false;  ///< replace parts of the path by straight lines
};

enum class path_reason : std::uint8_t { found, start_blocked, goals_blocked, not_connected };

struct path {
    /// Coordinates, axes() numbers for each cell; if smooth, ends of straight lines. Along periodic axes they continue
    /// beyond the ends, so that their differences are steps; modulo the shape they are cells.
    std::vector<std::int64_t> cells{};
    double length = std::numeric_limits<double>::infinity();  ///< of the lines between centres, in units of `spacing`
    double clearance = 0;                                     ///< least clearance of the cells that the path touches
    std::uint64_t cost = 0;  ///< cost of steps before smoothing: length (safe: times 32) in 1/4096 of the shortest side
    path_reason reason = path_reason::found;
    std::int64_t goal = -1;            ///< number of the goal at its end
    std::int64_t start_component = 0;  ///< not_connected: component of free cells joined by faces, from 1; else 0
    std::vector<std::int64_t> goal_components{};  ///< not_connected: the same of each goal; 0 if that is blocked
    double start_clearance = 0;

    /// Returns a text for people: "found", or why there is no path.
    [[nodiscard]] std::string text() const;
};

/// Plans a path from each start to the goal that is best by the objective.
///
/// The clearance of a cell is the exact distance from its centre to that of the nearest obstacle. Steps lead to
/// neighbours and cost their Euclidean length, rounded to 1/4096 of the shortest side of a cell. A diagonal step is
/// allowed only if all cells between its ends that share a face, an edge or a corner with the line are free: no path
/// cuts the corner of an obstacle. Of equally good steps, the one to the cell with the smallest coordinates, last axis
/// first, is taken: equal paths from any number of threads.
///
/// `smooth` replaces parts of the path by straight lines whose cells (all that the line touches, in exact integers) are
/// free; with `safe` and `widest` they have at least the least clearance of the part that is replaced.
///
/// Periodic axes continue at their other end, for distances and for steps.
///
///   on         returns when done. A device computes distances and costs; the host fetches the tiles that it reads
///   obstacles  1 to 8 axes, any element type, any strides; cells that are not zero are obstacles
///   starts     coordinates, one number for each axis, start after start
///   goals      as starts; at least one
///
/// Time: a distance_transform and a geodesic from the goals; widest: basins, and a geodesic for each width.
/// Workspace 20 bytes a cell and that of these calls; on a device the same, for `widest` 40 bytes of it at first.
///
/// Throws nearfield::error before any work is started, also for a cell outside the grid.
///
/// Macenski, Martin, White, Clavero, "The Marathon 2: a navigation system", IROS 2020 (exponential costs of clearance);
/// Amanatides, Woo, "A fast voxel traversal algorithm for ray tracing", Eurographics 1987.
[[nodiscard]] std::vector<path> plan_path(const host& on, const any_input<host>& obstacles,
                                          std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
                                          const path_options& options = {});
[[nodiscard]] std::vector<path> plan_path(const device& on, const any_input<device>& obstacles,
                                          std::span<const std::int64_t> starts, std::span<const std::int64_t> goals,
                                          const path_options& options = {});

/// Returns the table by which nav2's planners weigh an inflated costmap: 1 + weight * byte / 252, where `byte` is what
/// inflate_costmap() writes at that clearance (252 within the inscribed radius, 0 beyond the inflation radius). The
/// default weight is about that of NavFn; that of the Smac 2-D planner is its cost_travel_multiplier.
[[nodiscard]] std::vector<clearance_cost> nav2_clearance_costs(const inflation_options& inflation, double weight = 4);

}  // namespace nearfield
