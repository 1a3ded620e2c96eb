// Triangle meshes: vertices and faces, their measures, and their files.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "nearfield/error.hpp"
#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Triangles in space. A face names three vertices, counter-clockwise as seen from outside. Coordinate k of a vertex
/// runs along axis k of a grid.
struct mesh {
    std::vector<std::array<double, 3>> vertices;
    std::vector<std::array<std::int32_t, 3>> faces;

    friend bool operator==(const mesh&, const mesh&) = default;
};

struct mesh_measures {
    bool closed = false;          ///< every edge belongs to two faces, which run along it in opposite directions
    std::int64_t open_edges = 0;  ///< edges that faces do not run along equally often in both directions
    std::int64_t euler = 0;       ///< vertices that faces use - edges + faces: 2 for a sphere, 0 for a torus
    double volume = 0;            ///< enclosed volume, negative if faces point inwards; without meaning for open meshes
    double area = 0;
};

/// Time O(vertices + faces). Throws nearfield::error: a face names no vertex, a coordinate is not finite.
[[nodiscard]] mesh_measures measure_mesh(const mesh& of);

/// Appends `more` to the vertices and faces of `to`; `reversed` flips its faces.
void append_mesh(mesh& to, const mesh& more, bool reversed = false);

/// A mesh in the memory of a GPU, checked, for any number of device calls. Cells and signs need its open edges, which
/// are found too unless `edges` is false.
class device_mesh {
public:
    /// Copies the mesh and waits until that is done: the stream may not be captured. Workspace: 48 to 96 bytes a face.
    /// Throws as measure_mesh() does.
    device_mesh(const device& on, const mesh& of, bool edges = true) : device_mesh(on, of.vertices, of.faces, edges) {}
    device_mesh(const device& on, std::span<const std::array<double, 3>> vertices,
                std::span<const std::array<std::int32_t, 3>> faces, bool edges = true);
    device_mesh(device_mesh&&) noexcept;
    device_mesh& operator=(device_mesh&&) noexcept;
    /// Frees the memory on the stream of `on` after the work that is on it. The caller must finish work on other
    /// streams, and graphs, before.
    ~device_mesh();

    struct parts;
    [[nodiscard]] const parts& inside() const { return *parts_; }

private:
    std::unique_ptr<const parts> parts_;
};

enum class mesh_format : std::uint8_t { stl, obj, ply, off };

/// Finds the format by suffix, in any case: .stl .obj .ply .off. Throws error(io), which lists these, for others.
[[nodiscard]] mesh_format mesh_format_of(const std::filesystem::path& path);

/// Reads the mesh from a file's bytes: binary or ASCII STL, OBJ, ASCII or binary PLY of either byte order, OFF.
///
/// Corners of STL with the same coordinates become one vertex, in the order in which they come; 0 and -0 are the same.
/// Polygons become fans of triangles round their first corner; those with fewer than three corners are left out, as is
/// all else: normals, colours, texture coordinates, lines, groups. All solids of an STL file and all objects of an OBJ
/// file make one mesh.
///
///   name  name of the file, for messages
///
/// Throws error(io) for bytes that are truncated or malformed, after allocating no more than a small multiple of their
/// number; error(out_of_memory).
[[nodiscard]] mesh read_mesh(std::span<const std::byte> bytes, mesh_format as, const std::string& name = "mesh");
/// Reads a mesh from a regular file.
[[nodiscard]] mesh read_mesh(const std::filesystem::path& path);

/// A number for each vertex, which PLY files keep as a property of this name and show as a colour: blue up to `low`,
/// pale half way, red from `high` on.
struct vertex_values {
    std::string name;
    std::span<const double> values;
    double low = 0, high = 1;
};

/// Makes the bytes of a file. STL holds float32 coordinates, PLY float64; both are binary, little endian, unless
/// `text`. Texts have the shortest decimals that read back as the same float64, in STL too. Only PLY holds `also`.
/// Throws if float32 joins corners of more than a hundredth of the faces.
[[nodiscard]] std::string mesh_bytes(const mesh& of, mesh_format as, bool text = false,
                                     const vertex_values* also = nullptr);
/// Writes a mesh to a file, in the format of its suffix. Throws error(io) if the file cannot be written.
void write_mesh(const std::filesystem::path& path, const mesh& of, bool text = false,
                const vertex_values* also = nullptr);

}  // namespace nearfield
