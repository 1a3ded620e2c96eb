// Meshes and grids for the tests of distances, and their answers by a loop over all triangles.
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
/// Balls, tori, boxes with ties at all edges, slivers, triangles without area; all of them twice in some cases.
mesh_case mesh_case_of(std::uint64_t seed);

/// One with `samples`: the grid has the whole mesh, and cells of equal or very different sides.
mesh_case sampled_case_of(std::uint64_t seed);

/// A loop over all triangles with the library's formula for one of them, scaled as the library says; without signs.
fields_of_mesh expected(const mesh& m, const mesh_grid& g, double most);

}  // namespace nearfield::test
