// Functions for other rooms.
#pragma once

#include <span>
#include <vector>

#include "nearfield/mesh_distance.hpp"

namespace nearfield::nearest_faces {

/// Returns the distance of each point from a mesh: what mesh_distance() computes for a cell, in float64.
///
///   of  must be checked already and have at least one face
[[nodiscard]] std::vector<double> distances_from(const host& on, const mesh& of,
                                                 std::span<const std::array<double, 3>> points);

}  // namespace nearfield::nearest_faces
