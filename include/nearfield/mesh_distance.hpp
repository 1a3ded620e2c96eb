// Exact distances from the cells of a grid to a mesh, and the nearest triangle.
#pragma once

#include <limits>

#include "nearfield/voxelize.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct mesh_distance_options {
    bool is_signed = false;  ///< negative inside, which is where voxelize() with `solid` sets cells
    bool winding = false;    ///< inside is decided by the winding number; without it the mesh must have no open edges
    /// Cells farther away have no triangle; a small value saves time.
    double max_distance = std::numeric_limits<double>::infinity();
    /// Faster: only cells within two cell diagonals of the mesh, which lies within the grid, are exact. Every other
    /// cell gets the distance to a triangle that is nearest to one of those: never too small, and too large by at most
    /// one cell diagonal.
    bool samples = false;
};

/// The fields one call fills, at least one: 3 axes, the grid's shape, any strides, no overlap.
template <class Place>
struct mesh_fields {
    any_output<Place> distance{};  ///< float32 or float64; +inf (inside: -inf) without a triangle
    any_output<Place> triangle{};  ///< int32: the number of the nearest face, -1 without one
};

/// Computes the distance from the centre of every cell to the nearest point of a mesh, and the triangle with it.
///
/// The squared distance to a triangle is the least of those to its three sides and, if the foot of the perpendicular
/// falls inside, that to the foot. Each comes from its nearest point in double by one formula
/// (src/mesh_distance/core.hpp), off by a few roundings of the coordinates for any triangle. Coordinates are first
/// rounded to 2^-50 of the largest one, so that triangles with a corner in common have equal distances from it. The
/// answer is the smallest value of all triangles, and the first triangle that has it, as in a loop over all triangles,
/// bit for bit, on host and device, for any number of threads. The distance is the root in double, rounded once to the
/// output's type.
///
///   on    on a device, whose mesh is copied there once, the call returns before the work is done
///   of    at least one face
///   grid  any whose coordinates and those of the mesh are below 2^40 cells; see voxelize() for signed distances
///
/// The call halves blocks of cells down to one cell. A block keeps the triangles that can be nearest to one of its
/// cells, by bounds at its centre: from there a distance grows no faster than the distance to the plane through the
/// nearest point, and no slower than that to the nearest point itself. Of equal triangles, and of those that share the
/// corner that is nearest to all of a block, it keeps the first. Typically 5 to 40 triangles a cell are examined.
/// Time O(cells log(faces)) unless the shape lies round one point. Workspace: 8 bytes a triangle and thread, 144 bytes
/// a triangle, and that of voxelize() for signed distances; on a device 220 to 228 bytes a triangle, 1/12 byte a cell,
/// 0.8 MB a multiprocessor, and lists of 5 bytes a triangle and cell of the longest side, but at most 1 GB.
///
/// With `samples` a distant cell p takes the triangle of s, the nearest cell to it that is exact. The result exceeds
/// the distance d of p by at most a cell diagonal c: the straight way from p to its nearest point of the mesh passes a
/// point x at 3/2 c from the mesh. The centre of the cell of x is c/2 away or less, so it is exact, and s is no farther
/// from p than it is: d - c at most. The triangle of s is 2 c from s at most, hence d + c from p. Ties between cells
/// are those of voronoi(). Workspace: 4 bytes a cell more, 8 without `triangle`, and expand_labels() for int32.
///
/// Throws nearfield::error before any work is started.
void mesh_distance(const host& on, const mesh& of, const mesh_grid& grid, const mesh_fields<host>& out,
                   const mesh_distance_options& options = {});
void mesh_distance(const device& on, const device_mesh& of, const mesh_grid& grid, const mesh_fields<device>& out,
                   const mesh_distance_options& options = {});

}  // namespace nearfield
