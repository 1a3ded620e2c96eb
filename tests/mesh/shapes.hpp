// Meshes by formula for the tests of surfaces.
#pragma once

#include "exact/fills.hpp"
#include "nearfield/mesh.hpp"

namespace nearfield::test {

using point = std::array<double, 3>;

mesh box_mesh(point low, point high);
/// A sphere of parallels and meridians, with poles on axis 2.
mesh sphere_mesh(point centre, double radius, int parallels, int meridians);
/// A torus around axis 2.
mesh torus_mesh(double large, double small, int around, int across);
/// Triangles with random corners in [0, size)^3, some of them degenerate.
mesh random_triangles(std::uint64_t seed, int count, double size);
/// The same triangles with three corners of their own each, as STL files list them.
mesh scattered(const mesh& of);
/// A random number in [0, 1).
double uniform(std::uint64_t seed);

}  // namespace nearfield::test
