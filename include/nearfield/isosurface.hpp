// The surface on which a field has a value, as a mesh.
#pragma once

#include <array>

#include "nearfield/grid.hpp"
#include "nearfield/mesh.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// marching_cubes: vertices on the edges of the grid. dual_contouring: a vertex in each cell that the surface passes,
/// at the point that fits the tangent planes at its edges best, which keeps sharp edges and corners.
enum class isosurface_method : std::uint8_t { marching_cubes, dual_contouring };

struct isosurface_options {
    std::array<double, 3> origin{};                ///< position of the first value of the field
    std::array<double, 3> spacing{1.0, 1.0, 1.0};  ///< distance between values along each axis; positive, finite
    bool inside_below = false;  ///< values below the level are inside, as in signed distances; else those above it
    bool closed = false;        ///< the space beyond the grid is outside: caps lie half a cell beyond its ends
    isosurface_method method = isosurface_method::marching_cubes;
};

/// Faces look outwards, counter-clockwise. Coordinate k runs along axis k.
///
/// A vertex lies where the straight line between two neighbouring values has the level, but no nearer to either than
/// 2^-10 of their distance, so that no two vertices coincide; if a value is not finite, it lies in the middle. Values
/// equal to the level, and NaN, are outside. Vertices are numbered in C order of the lower ends of their edges, along
/// axis 0, 1, 2; faces in C order of their cells. If the inside corners of a face of a cell lie on a diagonal, they are
/// separated, in the same way on both sides of it. Every edge belongs to two faces, which run along it in opposite
/// directions. The exception are edges at the ends of the grid, where the inside touches them, unless `closed`. The
/// surface goes through no vertex or edge twice.
///
/// Dual contouring numbers vertices by cells and faces by edges of the grid. It takes tangent planes from central
/// differences; a vertex stays within its cell.
///
///   on     returns when done, on a device too
///   field  3 axes, any element type but float16, any strides; not changed
///
/// Time O(cells). Workspace: 32 bytes per thread for each cell of two planes, 16 bytes a line of cells; with dual
/// contouring 13 bytes a cell; on a device 1/4 byte a cell, 16 bytes a line of cells, and the mesh; with dual
/// contouring 24 bytes a line, and 8 more bytes for each vertex and face. Host and device make the same mesh, for any
/// number of threads. Throws nearfield::error before any work is started, except if the mesh has 2^31 vertices or more.
///
/// Lorensen, Cline, "Marching cubes", SIGGRAPH 1987; Montani, Scateni, Scopigno, "A modified look-up table for implicit
/// disambiguation of marching cubes", The Visual Computer 10, 1994, for the separation; Ju, Losasso, Schaefer, Warren,
/// "Dual contouring of Hermite data", SIGGRAPH 2002; Nielson, "Dual marching cubes", IEEE Visualization 2004.
[[nodiscard]] mesh isosurface(const host& on, const any_input<host>& field, double level,
                              const isosurface_options& options = {});
[[nodiscard]] mesh isosurface(const device& on, const any_input<device>& field, double level,
                              const isosurface_options& options = {});

}  // namespace nearfield
