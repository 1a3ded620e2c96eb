// Offset surfaces of meshes: everything within a distance of a part, or what is left of it, and hollow parts.
#pragma once

#include "nearfield/mesh.hpp"
#include "nearfield/voxelize.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// exact: from the distances of grid points to the triangles. voxels: from those of cells to the faces of the cells
/// that lie on the other side of the surface, which is faster for meshes of very many triangles and loses what is
/// thinner than a cell.
enum class offset_method : std::uint8_t { exact, voxels };

struct offset_options {
    double pitch = 0;  ///< of the grid; 0: 1/256 of the longest side of the answer's box
    offset_method method = offset_method::exact;
    bool sharp = false;    ///< by dual contouring, which keeps edges and corners
    bool hollow = false;   ///< the wall between the surface and its offset, instead of what the offset encloses
    bool winding = false;  ///< inside by the winding number, which takes open and overlapping shells: voxelize_options
};

struct offset_result {
    mesh surface;
    mesh_measures measures;
    mesh_grid grid;  ///< on which it was computed
    /// Every point of the offset surface lies so near to where the distance from the mesh is the one asked for: 1.5
    /// pitches and the 2^-10 that vertices keep from grid points; sqrt(3) + 0.5 if `sharp`; with voxels, 0.87 more.
    double error_bound = 0;
    /// The wall's thickness at each vertex of `surface`, if `hollow`: the distance to the nearest point of the wall's
    /// other side, exact as mesh_distance() is. Empty where nothing is left inside, so that there is no other side.
    ///
    /// It is |distance| along the offset surface, within the bound of the error. On the surface of the mesh it is as
    /// much or more: more at edges that the offset rounds, and where the part is too narrow to be hollow.
    std::vector<double> thickness;
};

/// The surface at a signed distance from a mesh, outside where it is positive: the isosurface of the signed distance on
/// a grid. Faces look outwards. Where fronts from different sides meet, what lies beyond them is gone: no part of the
/// answer cuts another one.
///
///   on        returns when done, on a device too, where `sharp` is not taken. Host and device make the same mesh
///   of        without open edges, unless `winding`; at least one face
///   distance  finite; not 0 if `hollow`, and then at least 2 pitches in size
///
/// The answer is closed: every edge belongs to two faces, which run along it in opposite directions. It has no faces
/// where nothing is left inside. If `hollow` one of its shells is the mesh itself, or, where that is not closed, the
/// isosurface at 0.
///
/// Time and workspace of mesh_distance() within the distance, or of voxelize() and distance_transform(), of
/// isosurface(), and 4 bytes a cell. Thicknesses are computed on the host, in some microseconds a vertex, with 48 bytes
/// a vertex and 144 a face. Throws nearfield::error before any work is started.
[[nodiscard]] offset_result offset(const host& on, const mesh& of, double distance, const offset_options& options = {});
[[nodiscard]] offset_result offset(const device& on, const mesh& of, double distance,
                                   const offset_options& options = {});

}  // namespace nearfield
