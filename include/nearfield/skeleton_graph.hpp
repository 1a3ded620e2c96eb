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
    std::array<bool, 3> wraps{};   ///< axes whose ends are joined
    std::vector<std::int64_t> at;  ///< linear indices, ascending
    bool measured = false;         ///< true if there are values
    std::vector<double> values;    ///< one value per cell, such as its radius; or none
};

enum class node_kind : std::int64_t { tip, junction, cycle, alone };

struct skeleton_node {
    node_kind kind = node_kind::tip;
    std::array<std::int64_t, 3> cell{};  ///< its first cell in C order
};

enum class branch_kind : std::int64_t { tip_tip, tip_junction, junction_junction, cycle };

struct skeleton_branch {
    std::int64_t skeleton = 0;  ///< component, from 1, in C order of first cells
    std::int64_t node_src = 0;  ///< numbers of the nodes at its ends, the smaller first
    std::int64_t node_dst = 0;
    branch_kind kind = branch_kind::tip_tip;
    std::array<std::int64_t, 3> steps{};  ///< number of steps along one axis, along two and along three at once
    std::array<std::int64_t, 3> src{};    ///< cells of the ends; of a junction the one where the branch begins
    std::array<std::int64_t, 3> dst{};
    double length = 0;                        ///< length along the steps, in units of the spacing
    double straight = 0;                      ///< distance of the ends; along joined axes by the way of the branch
    double mean = 0, least = 0, largest = 0;  ///< of values at its cells, both ends included; 0 without values
};

/// Nodes are in C order of their first cells, branches in the order of component, nodes and own cells.
///
/// Neighbours share a face, an edge or a corner. A node is a tip (a cell with one neighbour), a junction (all cells
/// with three or more neighbours that touch each other), an isolated cell, or the first cell of a cycle without either.
/// A branch is a run of cells with two neighbours, and its ends. Steps within a junction belong to no branch.
struct skeleton_graph {
    skeleton_cells cells;
    std::vector<skeleton_node> nodes;
    std::vector<skeleton_branch> branches;
    std::vector<std::int64_t> branch_of;  ///< branch of each cell; -1 in junctions and for isolated cells
};

/// Collects the cells of `skeleton` that are not zero (NaN is not zero), and their values.
///
///   skeleton  1 to 3 axes, any element type, any strides
///   values    of the same shape; distances to the outside of the shape give radii. Left out: none
///   cell, ends  as in skeleton_options; graphs continue at the other end of periodic axes
///
/// Throws nearfield::error: wrong rank, shapes, spacing; no memory.
[[nodiscard]] skeleton_cells cells_of_skeleton(const any_input<host>& skeleton, const any_input<host>& values = {},
                                               const spacing& cell = {}, const borders& ends = {});

/// Builds the graph in O(cells of the skeleton). Throws nearfield::error if cells.at is not ascending; out of memory.
[[nodiscard]] skeleton_graph graph_of(skeleton_cells cells);

/// Rule that selects the branches from a tip to a junction that are cut off.
enum class branch_rule : std::uint8_t {
    length,  ///< branches shorter than the bound, in units of the spacing
    ratio,   ///< branches shorter than the bound times the value at their junction
    /// Values are radii. Branches from which both sides of the shape appear under an angle of less than the bound, in
    /// degrees: the radius falls from junction to tip by more than cos(bound / 2) times their length. At 0 only those
    /// are cut whose last ball lies within that of the junction.
    angle,
};

/// Removes the selected branches and the bulges that they leave, and joins the rest, until none is selected. Components
/// and cycles stay. Throws nearfield::error if `bound` is negative or NaN, or if `ratio` or `angle` lack values.
[[nodiscard]] skeleton_graph pruned(const skeleton_graph& graph, branch_rule rule, double bound);

/// Formats branches as CSV, one row each, with the column names of skan.
[[nodiscard]] std::string csv_of(const skeleton_graph& graph);

/// Formats the graph as SWC for neuron tracing: a sample for each cell, x is the last axis, radii are the values, else
/// 1. Each component is a tree from its first cell, breadth first: cycles lack a step, and continue beyond joined ends.
[[nodiscard]] std::string swc_of(const skeleton_graph& graph);

}  // namespace nearfield
