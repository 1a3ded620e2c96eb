// Isosurfaces on a device.
#pragma once

#include "isosurface/core.hpp"

namespace nearfield::isosurfaces {

/// Throws if a mesh cannot number so many vertices or faces.
void check_counts(std::int64_t vertices, std::int64_t faces);

[[nodiscard]] mesh marching_cubes(const device& on, const problem<device>& p);
[[nodiscard]] mesh dual_contouring(const device& on, const problem<device>& p);

}  // namespace nearfield::isosurfaces
