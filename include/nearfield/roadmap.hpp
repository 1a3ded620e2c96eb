// Roadmaps: the skeleton of free space as a graph, on which paths are found in microseconds.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "nearfield/path.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct roadmap_options {
    double radius = 0;  ///< of the robot, in units of `spacing`: a cell is free where its clearance exceeds it
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
};

/// A branch of the skeleton between two nodes.
struct road {
    std::int64_t from = 0, to = 0;      ///< numbers of the nodes
    double length = 0;                  ///< of the lines between its cells, in units of `spacing`
    double clearance = 0;               ///< the least of its cells
    std::vector<std::int64_t> cells{};  ///< coordinates, axes() numbers for each cell, those of both nodes included
};

/// The homotopic skeleton of the free cells, its branches measured: of the ways round obstacles one of each kind, far
/// from these. Made once for a map; then each path takes A* on a graph of some hundred nodes.
///
/// Free is what plan_path() calls free. The skeleton is that of skeletonize() with neighbours that share a face, so
/// that no branch cuts a corner; where a straight step past a corner of a branch is clear, the branch takes it. Nodes
/// are cells of the skeleton that do not have two neighbours in it, in C order, and then a cell of each ring.
///
///   on         host only: returns when done
///   obstacles  1 to 3 axes, any element type, any strides; what is not zero is an obstacle; not needed afterwards
///
/// Time of a distance_transform, a skeletonize and a geodesic. The object keeps 18 bytes a cell. Throws
/// nearfield::error before any work is started.
class roadmap {
public:
    roadmap(const host& on, const any_input<host>& obstacles, const roadmap_options& options = {});
    ~roadmap();
    roadmap(roadmap&&) noexcept;
    roadmap& operator=(roadmap&&) noexcept;

    /// Coordinates of the nodes, one after the other.
    [[nodiscard]] std::span<const std::int64_t> nodes() const;
    /// Clearance of each node.
    [[nodiscard]] std::span<const double> radii() const;
    [[nodiscard]] std::span<const road> roads() const;

    /// The shortest path by roads: from the start down to the nearest road, along roads, and up to the goal. It is as
    /// a rule longer than that of plan_path() and farther from obstacles. Many threads may ask at once.
    ///
    /// `smooth` replaces parts of it by clear straight lines, as in plan_path(). Throws nearfield::error where a cell
    /// is not one of the grid.
    [[nodiscard]] path find(std::span<const std::int64_t> start, std::span<const std::int64_t> goal,
                            bool smooth = false) const;

private:
    struct parts;
    std::unique_ptr<parts> parts_;
};

}  // namespace nearfield
