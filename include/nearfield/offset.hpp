// Offset surfaces of meshes: parts grown or shrunk by a distance, and hollow parts.
#pragma once

#include "nearfield/mesh.hpp"
#include "nearfield/voxelize.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// exact: from the distances of grid points to the triangles. voxels: from the distances of cells to the faces of cells
/// on the other side of the surface, which is faster for meshes of very many triangles and loses details thinner than a
/// cell.
enum class offset_method : std::uint8_t { exact, voxels };

struct offset_options {
    double pitch = 0;  ///< pitch of the grid; 0: 1/256 of the longest side of the answer's box
    offset_method method = offset_method::exact;
    bool sharp = false;    ///< use dual contouring, which keeps edges and corners
    bool hollow = false;   ///< make the wall between the surface and its offset, instead of the solid inside the offset
    bool winding = false;  ///< decide inside by the winding number, for open and overlapping shells: voxelize_options
};

struct offset_result {
    mesh surface;
    mesh_grid grid;  ///< the grid of the computation
    /// Bound of how far a point of the offset surface is from where the mesh's distance is the requested one: 1.5
    /// pitches and the 2^-10 that vertices keep from grid points; sqrt(3) + 0.5 if `sharp`; with voxels 0.87 more.
    double error_bound = 0;
    /// The wall's thickness at each vertex of `surface`, if `hollow`: the distance to the nearest point of the wall's
    /// other side, exact as mesh_distance() is. Empty where nothing is left inside, so that there is no other side.
    ///
    /// It is |distance| along the offset surface, within the bound of the error. On the surface of the mesh it is as
    /// much or more: more at edges that the offset rounds, and where the part is too narrow to be hollow.
    std::vector<double> thickness;
};

/// Computes the surface at a signed distance from a mesh, positive outside: the isosurface of the signed distance on a
/// grid. Faces look outwards. Where fronts from different sides meet, the parts beyond are removed: no part of the
/// answer cuts another one.
///
///   on        returns when done, also on a device. Host and device make the same mesh
///   of        without open edges, unless `winding`; at least one face
///   distance  finite; not 0 if `hollow`, and then at least 2 pitches in size
///
/// The answer is closed: every edge belongs to two faces, which run along it in opposite directions. This follows from
/// the table of isosurface(), so the call does not check it; measure_mesh() does. The answer has no faces if nothing
/// is left inside. If `hollow`, one of its shells is the mesh itself, with its faces turned if its volume is negative,
/// or, if it is not closed, the isosurface at 0.
///
/// Time and workspace: mesh_distance() within the distance, or voxelize() and distance_transform(); furthermore
/// isosurface(), and 4 bytes a cell. The host computes thicknesses, in some microseconds a vertex, with 48 bytes for
/// each vertex and 144 for each face. Throws nearfield::error before any work is started, and after the
/// distances if a part to be hollowed has no inside.
[[nodiscard]] offset_result offset(const host& on, const mesh& of, double distance, const offset_options& options = {});
[[nodiscard]] offset_result offset(const device& on, const mesh& of, double distance,
                                   const offset_options& options = {});

}  // namespace nearfield
