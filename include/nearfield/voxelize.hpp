// Meshes as cells: the grid round a mesh, the cells inside it and the cells that it passes through.
#pragma once

#include <array>
#include <cstdint>

#include "nearfield/grid.hpp"
#include "nearfield/mesh.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// A grid in the space of a mesh. The centre of cell (i, j, k) lies at origin + pitch * (i, j, k), so axis k of an
/// array runs along coordinate k.
struct mesh_grid {
    std::array<std::int64_t, 3> shape{};
    std::array<double, 3> origin{};              ///< centre of the first cell
    std::array<double, 3> pitch{1.0, 1.0, 1.0};  ///< length of a cell along each axis; positive, finite

    friend bool operator==(const mesh_grid&, const mesh_grid&) = default;
};

/// Makes the smallest grid of cubes of side `pitch` that has all faces and `margin` cells on every side, centred. If
/// there are no faces it has all vertices.
/// Throws nearfield::error: a pitch that is not positive, a mesh without vertices, 2^31 cells or more along an axis.
[[nodiscard]] mesh_grid grid_around(const mesh& of, double pitch, std::int64_t margin = 1);
/// Makes the grid of that shape with the smallest cubes.
[[nodiscard]] mesh_grid grid_around(const mesh& of, const std::array<std::int64_t, 3>& shape, std::int64_t margin = 1);

struct voxelize_options {
    bool solid = true;     ///< mark cells whose centre lies inside
    bool surface = false;  ///< mark cells that a triangle touches, also at their boundary
    /// Decides inside by a generalised winding number above 1/2 or below -1/2, instead of the parity of crossings:
    /// cells that several shells cover stay inside, and open meshes are accepted.
    bool winding = false;
};

/// Marks the cells of a mesh.
///
/// Vertices move to a lattice of at least 2^8 points a cell, the finest one that keeps products in 64 bits (2^19 points
/// for 512 cells); after that all tests are exact in integers. A centre on a surface counts as if it were moved by an
/// infinitesimal step along axis 2, and by far smaller ones along axes 0 and 1: closed meshes have no leaks. The
/// winding number of open meshes is the number of crossings below the centre, an integer, and the solid angles of the
/// open edges in double. Host and device have the same bits.
///
///   on    a device call copies the mesh there once, and returns before the work is done
///   of    must have no open edges with `solid` and without `winding`; vertices at the same place count as one
///   grid  any; the mesh may reach beyond it, up to 2^20 cells
///   out   bool or uint8, shape of the grid, any strides: 1 in marked cells, else 0
///
/// Time O(cells + columns below triangles). With `winding` and open edges a bound of the winding number's gradient
/// decides most cells in blocks; O(open edges) for each other cell, near open edges or the surface across a hole; on a
/// device also for each 32 cells of a column. Workspace 1 byte a cell, 4 with
/// `winding`; on a device 1/8 byte a cell, 4 1/8 with `winding`, and 24 bytes a vertex. Equal bits for any number of
/// threads. Throws nearfield::error before any work is started.
///
/// Akenine-Moeller, "Fast 3D triangle-box overlap testing", Journal of Graphics Tools 6(1), 2001, for the tests of
/// cells; Martens, Bessmeltsev, "One-shot method for computing generalized winding numbers", Computer Graphics Forum
/// 44(5), 2025, for those of open meshes.
void voxelize(const host& on, const mesh& of, const mesh_grid& grid, const any_output<host>& out,
              const voxelize_options& options = {});
void voxelize(const device& on, const device_mesh& of, const mesh_grid& grid, const any_output<device>& out,
              const voxelize_options& options = {});

}  // namespace nearfield
