// Blocks of cells, and for each the triangles that can be nearest to one of its cells.
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "mesh_distance/core.hpp"

namespace nearfield::nearest_faces {

struct problem {
    space in;
    std::span<const triangle> triangles;
    any_output<host> distance, face;
    std::int32_t first_number = 0;  ///< number of face 0; a cell without a face gets one less
};

/// 2^level cells along each axis from `first` on, and the triangles that can be nearest to one of them, in order.
struct block {
    std::int64_t first[3] = {0, 0, 0};
    int level = 0;
    std::vector<std::int32_t> faces;
};

/// Halves blocks until there are enough for all threads, then solves them.
void solve(workers& team, const problem& p, block root);
/// Fills the cells of a block that has no triangle within max_distance.
void fill_far(const problem& p, const std::int64_t* first, int level);
void write_cell(const problem& p, const std::int64_t* at, double squared, std::int32_t face);

}  // namespace nearfield::nearest_faces
