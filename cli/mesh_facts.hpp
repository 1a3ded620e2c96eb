// Describes a mesh: vertices, faces, whether it is closed, volume and area.
#pragma once

#include <string>

#include "cli/report.hpp"
#include "nearfield/mesh.hpp"

namespace nearfield::cli {

/// Whether the suffix is that of a mesh's file.
[[nodiscard]] bool is_mesh(const std::string& path);

[[nodiscard]] json_report describe(const mesh& m, const mesh_measures& is);

/// Notes, unless `winding` is chosen, that faces repeat others: parity takes the space between them as outside.
void note_repeated_faces(const arguments& args, const mesh& m);

/// Returns "12 faces, closed, volume 8, area 24".
[[nodiscard]] std::string text_of_mesh(const mesh& m, const mesh_measures& is);

}  // namespace nearfield::cli
