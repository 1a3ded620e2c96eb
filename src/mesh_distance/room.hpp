// What other rooms may use.
#pragma once

#include <span>
#include <vector>

#include "nearfield/mesh_distance.hpp"

namespace nearfield::nearest_faces {

/// The distance of each point from the nearest one of a mesh: that of mesh_distance() at a cell, in float64.
///
///   of  checked; at least one face
[[nodiscard]] std::vector<double> distances_from(const host& on, const mesh& of,
                                                 std::span<const std::array<double, 3>> points);

}  // namespace nearfield::nearest_faces
