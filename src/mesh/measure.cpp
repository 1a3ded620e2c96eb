// Measurements of meshes.
#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/call.hpp"
#include "base/check.hpp"
#include "mesh/core.hpp"

namespace nearfield {
namespace meshes {

void check_mesh(const char* name, vertex_span vertices, face_span faces) {
    const auto count = static_cast<std::int64_t>(vertices.size());
    if (count >= std::int64_t{1} << 31 || faces.size() >= std::size_t{1} << 31)
        fail(fmt::format("{} has {} vertices and {} faces; give fewer than 2^31 of each", name, count, faces.size()));
    for (std::size_t i = 0; i < vertices.size(); ++i)
        for (const double x : vertices[i])
            if (!std::isfinite(x)) fail(fmt::format("{}: vertex {} has a coordinate that is not finite", name, i));
    for (std::size_t i = 0; i < faces.size(); ++i)
        for (const std::int32_t v : faces[i])
            if (v < 0 || v >= count)
                fail(fmt::format("{}: face {} names vertex {}; there are {}, from 0", name, i, v, count));
}

mesh joined(mesh m) {
    const std::size_t slots = std::bit_ceil(2 * m.vertices.size() + 1);
    std::vector<std::int32_t> table(slots, -1), first(m.vertices.size());  // table: the first vertex at a place
    const auto at = [&](std::int32_t v) -> const auto& { return m.vertices[static_cast<std::size_t>(v)]; };
    for (std::size_t v = 0; v < first.size(); ++v) {
        std::uint64_t hash = 0;
        for (const double x : m.vertices[v])  // a sum of 0 and -0 is 0
            hash = (hash ^ std::bit_cast<std::uint64_t>(x + 0.0)) * 0x9e3779b97f4a7c15, hash ^= hash >> 32;
        std::size_t slot = hash % slots;
        while (table[slot] >= 0 && at(table[slot]) != m.vertices[v]) slot = (slot + 1) % slots;
        if (table[slot] < 0) table[slot] = static_cast<std::int32_t>(v);
        first[v] = table[slot];
    }
    for (auto& face : m.faces)
        for (std::int32_t& v : face) v = first[static_cast<std::size_t>(v)];
    std::erase_if(m.faces, [](const auto& f) { return f[0] == f[1] || f[1] == f[2] || f[2] == f[0]; });
    return m;
}

std::vector<open_edge> open_edges_of_joined(const mesh& m) {
    std::vector<open_edge> found;
    for_each_edge(m, [&](std::int32_t low, std::int32_t high, std::int64_t forward, std::int64_t backward) {
        if (forward != backward) found.push_back({low, high, forward - backward});
    });
    return found;
}
std::vector<open_edge> open_edges_of(const mesh& m) {
    // A mesh that is closed as its faces name vertices needs no joining.
    std::vector<open_edge> found = open_edges_of_joined(m);
    return found.empty() ? found : open_edges_of_joined(joined(m));
}

}  // namespace meshes

mesh_measures measure_mesh(const mesh& of) {
    return in_call([&] {
        meshes::check_mesh("mesh", of);
        mesh_measures m;
        m.closed = !of.faces.empty();
        std::vector<char> used(of.vertices.size());
        const std::array<double, 3> from = of.vertices.empty() ? std::array<double, 3>{} : of.vertices[0];
        for (const auto& face : of.faces) {
            double at[3][3];
            for (std::size_t k = 0; k < 3; ++k) {
                const auto v = static_cast<std::size_t>(face[k]);
                used[v] = 1;
                for (std::size_t axis = 0; axis < 3; ++axis) at[k][axis] = of.vertices[v][axis] - from[axis];
            }
            double u[3], w[3];
            for (int axis = 0; axis < 3; ++axis)
                u[axis] = at[1][axis] - at[0][axis], w[axis] = at[2][axis] - at[0][axis];
            const double n[] = {u[1] * w[2] - u[2] * w[1], u[2] * w[0] - u[0] * w[2], u[0] * w[1] - u[1] * w[0]};
            m.volume += (n[0] * at[0][0] + n[1] * at[0][1]) + n[2] * at[0][2];
            m.area += std::sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
            if (face[0] == face[1] || face[1] == face[2] || face[2] == face[0]) m.closed = false;
        }
        m.volume /= 6, m.area /= 2;
        m.euler = std::count(used.begin(), used.end(), 1) + static_cast<std::int64_t>(of.faces.size());
        meshes::for_each_edge(of, [&](std::int32_t, std::int32_t, std::int64_t forward, std::int64_t backward) {
            --m.euler;
            if (forward != backward) ++m.open_edges;
            if (forward != 1 || backward != 1) m.closed = false;
        });
        return m;
    });
}

void append_mesh(mesh& to, const mesh& more, bool reversed) {
    const auto first = static_cast<std::int32_t>(to.vertices.size());
    to.vertices.insert(to.vertices.end(), more.vertices.begin(), more.vertices.end());
    to.faces.reserve(to.faces.size() + more.faces.size());
    for (auto face : more.faces) {
        if (reversed) std::swap(face[1], face[2]);
        to.faces.push_back({face[0] + first, face[1] + first, face[2] + first});
    }
}

}  // namespace nearfield
