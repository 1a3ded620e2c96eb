// Roadmaps: the skeleton of free space as a graph, which finds paths in microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nearfield/path.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct roadmap_options {
    double radius = 0;  ///< radius of the robot, in units of `spacing`: a cell is free if its clearance exceeds it
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
};

/// A branch of the skeleton between two nodes.
struct road {
    std::int64_t from = 0, to = 0;      ///< numbers of the nodes at its ends
    double length = 0;                  ///< length of the lines between its cells, in units of `spacing`
    double clearance = 0;               ///< least clearance of its cells
    std::vector<std::int64_t> cells{};  ///< coordinates, axes() numbers for each cell, those of both nodes included
};

/// The homotopic skeleton of the free cells with measured branches: one way of each kind round obstacles, far from
/// them. It is made once for a map; each path then takes A* on the graph, with the lengths of ways from eight nodes.
///
/// Cells are free as in plan_path(). The skeleton is that of skeletonize() with neighbours that share a face, so that
/// no branch cuts a corner; a branch takes a straight step past a corner if that step is clear. Nodes are the cells of
/// the skeleton that do not have two neighbours in it, in C order, and then a cell of each ring.
///
///   on         host or device: returns when done; the object is in memory of the host, and paths are found there
///   obstacles  1 to 3 axes, any element type, any strides; cells that are not zero are obstacles; not kept
///
/// Time: a distance_transform, a skeletonize and a geodesic, and on a device a copy of 17 bytes a cell to the host. The
/// object keeps 18 bytes a cell on the host, and about 100 bytes a road; a device holds 16 a cell and the workspace of
/// one of these calls until it is made. Throws nearfield::error before any work is started.
class roadmap {
public:
    roadmap(const host& on, const any_input<host>& obstacles, const roadmap_options& options = {});
    roadmap(const device& on, const any_input<device>& obstacles, const roadmap_options& options = {});
    ~roadmap();
    roadmap(roadmap&&) noexcept;
    roadmap& operator=(roadmap&&) noexcept;

    /// Returns the coordinates of the nodes, one after the other.
    [[nodiscard]] std::span<const std::int64_t> nodes() const;
    /// Returns the clearance of each node.
    [[nodiscard]] std::span<const double> radii() const;
    [[nodiscard]] std::span<const road> roads() const;

    /// Finds the shortest path by roads: from the start down to the nearest road, along roads, and up to the goal. It
    /// is usually longer than that of plan_path() and farther from obstacles. Many threads may call it at once.
    ///
    /// `smooth` replaces parts of it by clear straight lines, as in plan_path(). Throws nearfield::error for a cell
    /// outside of the grid.
    [[nodiscard]] path find(std::span<const std::int64_t> start, std::span<const std::int64_t> goal,
                            bool smooth = false) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace nearfield
