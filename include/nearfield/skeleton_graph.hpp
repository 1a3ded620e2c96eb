// The graph of a skeleton: tips, junctions and the branches between them, measured.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// The cells of a skeleton in C order. Arrays of three have one entry for each of `axes`, in array order.
struct skeleton_cells {
    int axes = 1;
    std::array<std::int64_t, 3> shape{1, 1, 1};
    std::array<double, 3> spacing{1, 1, 1};
    std::array<bool, 3> wraps{};   ///< axes whose other end follows
    std::vector<std::int64_t> at;  ///< linear indices, ascending
    bool measured = false;         ///< whether there are values
    std::vector<double> values;    ///< one a cell, such as radii; or none
};

enum class node_kind : std::int64_t { tip, junction, cycle, alone };

struct skeleton_node {
    node_kind kind = node_kind::tip;
    std::array<std::int64_t, 3> cell{};  ///< its first one in C order
};

enum class branch_kind : std::int64_t { tip_tip, tip_junction, junction_junction, cycle };

struct skeleton_branch {
    std::int64_t skeleton = 0;  ///< component, from 1, in C order of first cells
    std::int64_t node_src = 0;  ///< numbers of the nodes at its ends, the smaller first
    std::int64_t node_dst = 0;
    branch_kind kind = branch_kind::tip_tip;
    std::array<std::int64_t, 3> steps{};  ///< how many go along one axis, along two and along three at once
    std::array<std::int64_t, 3> src{};    ///< cells of the ends; of a junction the one from which the branch leaves
    std::array<std::int64_t, 3> dst{};
    double length = 0;                        ///< along the steps, in units of the spacing
    double straight = 0;                      ///< between the ends; along axes that wrap as the branch goes
    double mean = 0, least = 0, largest = 0;  ///< of values at its cells, both ends included; 0 without values
};

/// Nodes are in C order of their first cells, branches in the order of their component, their nodes, their own cells.
///
/// Neighbours share a face, an edge or a corner. A node is a tip (a cell with one neighbour), a junction (all cells
/// with three or more neighbours that touch each other), a cell alone, or the first cell of a cycle without either. A
/// branch is a run of cells with two neighbours, and its ends. Steps within a junction are of no branch.
struct skeleton_graph {
    skeleton_cells cells;
    std::vector<skeleton_node> nodes;
    std::vector<skeleton_branch> branches;
    std::vector<std::int64_t> branch_of;  ///< of each cell; -1 in junctions and of cells alone
};

/// The cells of `skeleton` that are not zero (NaN is not zero), and their values.
///
///   skeleton  1 to 3 axes, any element type, any strides
///   values    of the same shape; distances to the outside of the shape give radii. Left out: none
///   cell, ends  as in skeleton_options; graphs go on at the other end of periodic axes
///
/// Throws nearfield::error: wrong rank, shapes, spacing; no memory.
[[nodiscard]] skeleton_cells cells_of_skeleton(const any_input<host>& skeleton, const any_input<host>& values = {},
                                               const spacing& cell = {}, const borders& ends = {});

/// Time O(cells of the skeleton). Throws nearfield::error where cells.at is not ascending, or out of memory.
[[nodiscard]] skeleton_graph graph_of(skeleton_cells cells);

/// Which branches from a tip to a junction are cut off.
enum class branch_rule : std::uint8_t {
    length,  ///< shorter than the bound, in units of the spacing
    ratio,   ///< shorter than the bound times the value at their junction
    /// Values are radii: both sides of the shape are seen from the branch under less than the bound in degrees, so that
    /// its radius falls from junction to tip by more than cos(bound / 2) times its length. At 0 only those go whose
    /// last ball lies within that of the junction.
    angle,
};

/// The graph without them and the bulges where they left, the rest joined, until none is left. Components and cycles
/// stay. Throws nearfield::error for a bound that is no number or negative, and for `ratio` and `angle` without values.
[[nodiscard]] skeleton_graph pruned(const skeleton_graph& graph, branch_rule rule, double bound);

/// Branches as CSV, a row each, by the names that skan has for them.
[[nodiscard]] std::string csv_of(const skeleton_graph& graph);

/// SWC as neuron tracing uses it: a sample for each cell, x is the last axis, radii are the values, else 1. A tree for
/// each component, from its first cell, breadth first: cycles lack a step, and go on beyond the end of axes that wrap.
[[nodiscard]] std::string swc_of(const skeleton_graph& graph);

}  // namespace nearfield
