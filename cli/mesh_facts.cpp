#include "cli/mesh_facts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <filesystem>
#include <vector>

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

mesh read_solid(const arguments& args) {
    mesh m = read_mesh(args.input);
    if (args.winding) return m;
    std::vector<std::array<std::array<double, 3>, 3>> all;  // corners by place, the least one first
    all.reserve(m.faces.size());
    for (const auto& face : m.faces) {
        auto& corners = all.emplace_back();
        for (std::size_t k = 0; k < 3; ++k) corners[k] = m.vertices[static_cast<std::size_t>(face[k])];
        std::rotate(corners.begin(), std::min_element(corners.begin(), corners.end()), corners.end());
    }
    std::sort(all.begin(), all.end());
    std::int64_t repeated = 0;
    for (std::size_t k = 1; k < all.size(); ++k) repeated += all[k] == all[k - 1] ? 1 : 0;
    if (repeated > 0)
        note(args, fmt::format("{} of {} faces repeat another one, so that the space inside both counts as outside; "
                               "--winding counts it as inside",
                               repeated, m.faces.size()));
    return m;
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
