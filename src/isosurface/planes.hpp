// Planes of a field, with their inside nodes and the edges that cross the level.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "isosurface/device_room.hpp"

namespace nearfield::isosurfaces {

/// The nodes of a plane across axis 0: values, inside flags and crossing edges.
struct plane {
    std::vector<double> value;
    std::vector<std::uint8_t> inside;
    std::vector<std::uint8_t> crossed;  ///< bit `axis`: the node's edge along that axis crosses the level
    std::vector<std::int32_t> first;    ///< number of the node's first vertex

    explicit plane(const problem<host>& p)
        : value(static_cast<std::size_t>(p.plane_nodes())),
          inside(value.size()),
          crossed(value.size()),
          first(value.size()) {}
};

/// Reads plane i. Nodes outside of the field get NaN, which is outside.
void load(const problem<host>& p, std::int64_t i, plane& to);
/// Sets `crossed` of plane i, given plane i + 1 (or null behind the last one).
void cross(const problem<host>& p, plane& of, const plane* above);
/// Replaces each entry by the sum of those before it; returns the sum of all.
std::int64_t sum_up(std::vector<std::int64_t>& counts);

[[nodiscard]] mesh marching_cubes(const host& on, const problem<host>& p);
[[nodiscard]] mesh dual_contouring(const host& on, const problem<host>& p);

}  // namespace nearfield::isosurfaces
