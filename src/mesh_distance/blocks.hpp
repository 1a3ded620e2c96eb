// Blocks of cells or of points, each with the triangles that can be nearest to a cell or point in it.
#pragma once

#include <span>
#include <vector>

#include "base/parallel.hpp"
#include "mesh_distance/core.hpp"

namespace nearfield::nearest_faces {

/// A scaled point and its result.
struct cloud_point {
    double at[3];
    std::int64_t number;  ///< index in the caller's list
    double squared;       ///< squared distance
};

struct problem {
    space in;
    std::span<const triangle> triangles;
    any_output<host> distance, face;
    std::int32_t first_number = 0;  ///< number of face 0; a cell without a face gets one less
    cloud_point* points = nullptr;  ///< used instead of cells: a block of points has eight equally large parts
};

/// A block of 2^level cells along each axis from `first` on, or at most 8^level points from first[0] up to first[1]. It
/// lists the triangles that can be nearest to one of them, in ascending order.
struct block {
    std::int64_t first[3] = {0, 0, 0};
    int level = 0;
    std::vector<std::int32_t> faces;
};

/// Returns where eighth `k` of points from `first` to `last` begins.
[[nodiscard]] inline std::int64_t eighth(std::int64_t first, std::int64_t last, int k) {
    return first + (last - first) * k / 8;
}

/// Returns the power of two that brings coordinates up to `largest` into (-1, 1). Throws invalid_argument.
double scale_for(double largest);
std::vector<triangle> triangles_of(const mesh& of, double scale);
/// Returns the numbers of the triangles that are not equal to an earlier one.
std::vector<std::int32_t> distinct(std::span<const triangle> of);

/// Halves blocks until there are enough for all threads, then solves them.
void solve(workers& team, const problem& p, block root);
/// Fills the cells of a block that has no triangle within max_distance.
void fill_far(const problem& p, const std::int64_t* first, int level);
void write_cell(const problem& p, const std::int64_t* at, double squared, std::int32_t face);

}  // namespace nearfield::nearest_faces
