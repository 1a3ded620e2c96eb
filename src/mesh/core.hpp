// Edges of a mesh, and the checks that every call makes on a mesh.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "nearfield/mesh.hpp"

namespace nearfield::meshes {

using vertex_span = std::span<const std::array<double, 3>>;
using face_span = std::span<const std::array<std::int32_t, 3>>;

/// Throws invalid_argument, naming the argument, for a face without valid vertices or a coordinate that is not finite.
void check_mesh(const char* name, vertex_span vertices, face_span faces);
inline void check_mesh(const char* name, const mesh& m) { check_mesh(name, m.vertices, m.faces); }

/// Calls body(low, high, forward, backward) for every edge {low < high} in ascending order, with the number of faces
/// that run along it from low to high, and back. It leaves out edges from a vertex to itself.
template <class Body>
void for_each_edge(const mesh& m, const Body& body) {
    std::vector<std::int64_t> first(m.vertices.size() + 1);
    const auto sides = [&](const auto& take) {
        for (const auto& face : m.faces)
            for (std::size_t k = 0; k < 3; ++k)
                if (face[k] != face[(k + 1) % 3]) take(face[k], face[(k + 1) % 3]);
    };
    sides([&](std::int32_t a, std::int32_t b) { ++first[static_cast<std::size_t>(std::min(a, b)) + 1]; });
    for (std::size_t v = 1; v < first.size(); ++v) first[v] += first[v - 1];
    std::vector<std::int64_t> next(first.begin(), first.end() - 1);
    std::vector<std::uint32_t> side(static_cast<std::size_t>(first.back()));  // the other vertex, and the direction
    sides([&](std::int32_t a, std::int32_t b) {
        const std::int64_t place = next[static_cast<std::size_t>(std::min(a, b))]++;
        side[static_cast<std::size_t>(place)] = static_cast<std::uint32_t>(std::max(a, b)) * 2 + (a < b ? 0 : 1);
    });
    for (std::size_t v = 0; v + 1 < first.size(); ++v) {
        const auto begin = side.begin() + first[v], end = side.begin() + first[v + 1];
        std::sort(begin, end);
        for (auto at = begin; at != end;) {
            std::int64_t ways[2] = {0, 0};
            const std::uint32_t high = *at / 2;
            for (; at != end && *at / 2 == high; ++at) ++ways[*at % 2];
            body(static_cast<std::int32_t>(v), static_cast<std::int32_t>(high), ways[0], ways[1]);
        }
    }
}

/// An edge along which faces run `net` times more often from `from` to `to` than back.
struct open_edge {
    std::int32_t from, to;
    std::int64_t net;
};
/// Returns the edges that do not cancel if vertices at the same place count as one, as those of triangles with three
/// corners of their own each.
[[nodiscard]] std::vector<open_edge> open_edges_of(const mesh& m);
/// As open_edges_of(), of what joined() returns.
[[nodiscard]] std::vector<open_edge> open_edges_of_joined(const mesh& m);
/// Makes all faces name the first vertex at a place, and drops faces that then name a vertex twice. Vertices stay.
[[nodiscard]] mesh joined(mesh m);

/// The smallest box that contains all vertices.
struct box {
    std::array<double, 3> low{}, high{};
    bool empty = true;  ///< there are no vertices
};
[[nodiscard]] inline box box_of(vertex_span vertices) {
    if (vertices.empty()) return {};
    box made{vertices[0], vertices[0], false};
    for (const auto& at : vertices)
        for (std::size_t k = 0; k < 3; ++k)
            made.low[k] = std::min(made.low[k], at[k]), made.high[k] = std::max(made.high[k], at[k]);
    return made;
}
[[nodiscard]] inline box box_of(const mesh& m) { return box_of(m.vertices); }

}  // namespace nearfield::meshes
