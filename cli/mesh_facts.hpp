// Describes a mesh: vertices, faces, whether it is closed, volume and area.
#pragma once

#include <string>

#include "cli/report.hpp"
#include "nearfield/mesh.hpp"

namespace nearfield::cli {

/// Whether the suffix is that of a mesh's file.
[[nodiscard]] bool is_mesh(const std::string& path);

[[nodiscard]] json_report describe(const mesh& m, const mesh_measures& is);

/// Reads the input. Unless `winding` is chosen, notes that faces repeat others: parity takes the space inside both as
/// outside.
[[nodiscard]] mesh read_solid(const arguments& args);

/// Returns "12 faces, closed, volume 8, area 24".
[[nodiscard]] std::string text_of_mesh(const mesh& m, const mesh_measures& is);

}  // namespace nearfield::cli
