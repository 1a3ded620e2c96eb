// Meshes and grids for the tests of distances, and their results by a loop over all triangles.
#pragma once

#include "mesh/shapes.hpp"
#include "nearfield/mesh_distance.hpp"

namespace nearfield::test {

struct fields_of_mesh {
    std::vector<double> distance;
    std::vector<std::int32_t> triangle;
    friend bool operator==(const fields_of_mesh&, const fields_of_mesh&) = default;
};

struct mesh_case {
    mesh of;
    mesh_grid grid;
    mesh_distance_options options;
};
/// Draws balls, tori, boxes with ties at all edges, slivers, and triangles without area; in some cases all twice.
mesh_case mesh_case_of(std::uint64_t seed);

/// Fans from 3 to 300 faces around a tip, whose corners come in any order, alone and with a base; a fan around a point
/// in a plane; copies of meshes, also with other vertices; one triangle many times; vertices that are all equal.
std::vector<mesh_case> crowded_cases();

/// A case with `samples`: the grid contains the whole mesh, and cells have equal or very different sides.
mesh_case sampled_case_of(std::uint64_t seed);

/// Results by a loop over all triangles with the library's formula, scaled as the library does; without signs.
fields_of_mesh expected(const mesh& m, const mesh_grid& g, double most);

}  // namespace nearfield::test
