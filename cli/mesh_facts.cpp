#include "cli/mesh_facts.hpp"

#include <fmt/format.h>

#include <cctype>
#include <filesystem>

namespace nearfield::cli {

bool is_mesh(const std::string& path) {
    std::string suffix = std::filesystem::path(path).extension().string();
    for (char& c : suffix) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    return suffix == ".stl" || suffix == ".obj" || suffix == ".ply" || suffix == ".off";
}

json_report describe(const mesh& m, const mesh_measures& is) {
    json_report said;
    said["vertices"] = m.vertices.size(), said["faces"] = m.faces.size();
    said["closed"] = is.closed, said["open_edges"] = is.open_edges, said["euler"] = is.euler;
    said["volume"] = is.volume, said["area"] = is.area;
    return said;
}

std::string text_of_mesh(const mesh& m, const mesh_measures& is) {
    return fmt::format("{} faces, {}, volume {:.6g}, area {:.6g}", m.faces.size(),
                       is.closed            ? "closed"
                       : m.faces.empty()    ? "empty"
                       : is.open_edges == 0 ? "closed but not manifold"
                                            : fmt::format("{} open edges", is.open_edges),
                       is.volume, is.area);
}

}  // namespace nearfield::cli
