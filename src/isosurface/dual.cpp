// Dual contouring: makes a vertex for each polygon of a cell, and a face for each edge that crosses the level.
#include <algorithm>

#include "base/scratch.hpp"
#include "isosurface/dual_core.hpp"
#include "isosurface/planes.hpp"

namespace nearfield::isosurfaces {
namespace {

struct host_nodes {
    const problem<host>& p;
    host_scratch<std::uint8_t> inside;
    host_scratch<double> values;

    explicit host_nodes(const problem<host>& of)
        : p(of), inside(of.nodes[0] * of.plane_nodes()), values(of.nodes[0] * of.plane_nodes()) {}
    [[nodiscard]] double value(std::int64_t node) const { return values.get()[node]; }
    [[nodiscard]] bool is_inside(std::int64_t node) const { return inside.get()[node] != 0; }
    [[nodiscard]] static const polygons& polygons_at(int cell) { return table[static_cast<std::size_t>(cell)]; }
};

class dual {
public:
    dual(const host& on, const problem<host>& p)
        : p_(p),
          nodes_(p),
          geometry_(nodes_),
          team_(on, 4 * p.nodes[0]),
          step_{p.plane_nodes(), p.nodes[2], 1},
          first_(p.nodes[0] * step_[0]),
          vertices_(static_cast<std::size_t>(p.nodes[0] * p.nodes[1])),
          faces_(vertices_.size()) {}

    mesh solve() {
        for_planes([&](std::int64_t i) {
            plane one(p_);
            load(p_, i, one);
            std::copy(one.inside.begin(), one.inside.end(), nodes_.inside.get() + i * step_[0]);
            std::copy(one.value.begin(), one.value.end(), nodes_.values.get() + i * step_[0]);
        });
        std::vector<std::int64_t> keys;
        for (std::int64_t i = 0; i + 1 < p_.nodes[0]; ++i)
            for_cells(i, [&](const cell_at& at, std::int64_t node, int cell) {
                if (host_nodes::polygons_at(cell).doubled != 0)
                    geometry_.for_each_doubled(at, node, [&](std::int64_t key) { keys.push_back(key); });
            });
        for_planes([&](std::int64_t i) {
            for_cells(i, [&](const cell_at&, std::int64_t node, int cell) {
                vertices_[line_of(node)] += host_nodes::polygons_at(cell).count;
            });
            for_edges(i, [&](std::int64_t node, std::size_t axis) {
                faces_[line_of(node)] += ring_of(node, axis, nullptr) - 2;
            });
        });
        const std::int64_t plain = sum_up(vertices_), faces = sum_up(faces_);
        doubled_ = {keys.data(), static_cast<std::int64_t>(keys.size()), plain};
        const std::int64_t all = plain + doubled_.count;
        check_counts(all, faces);
        mesh made;
        made.vertices.resize(static_cast<std::size_t>(all)), made.faces.resize(static_cast<std::size_t>(faces));
        for_planes([&](std::int64_t i) { write_vertices(i, made); });
        for (std::size_t k = 0; k < keys.size(); ++k)
            made.vertices[static_cast<std::size_t>(plain) + k] = geometry_.middle_of(keys[k]);
        for_planes([&](std::int64_t i) { write_faces(i, made); });
        return made;
    }

private:
    template <class Body>
    void for_planes(const Body& body) {
        team_.for_each(p_.nodes[0], 1, 1, [&](std::int64_t first, std::int64_t last, int) {
            for (std::int64_t i = first; i < last; ++i) body(i);
        });
    }
    [[nodiscard]] std::size_t line_of(std::int64_t node) const { return static_cast<std::size_t>(node / step_[1]); }

    template <class Body>
    void for_cells(std::int64_t i, const Body& body) const {
        if (i + 1 >= p_.nodes[0]) return;
        for (std::int64_t j = 0; j + 1 < p_.nodes[1]; ++j)
            for (std::int64_t k = 0; k + 1 < p_.nodes[2]; ++k) {
                const std::int64_t node = i * step_[0] + j * step_[1] + k;
                const int cell = geometry_.corners_at(node);
                if (cell != 0 && cell != 255) body({i, j, k}, node, cell);
            }
    }
    /// Calls body for the edges that cross the level and have four cells.
    template <class Body>
    void for_edges(std::int64_t i, const Body& body) const {
        for (std::int64_t j = 0; j < p_.nodes[1]; ++j)
            for (std::int64_t k = 0; k < p_.nodes[2]; ++k) {
                const cell_at at{i, j, k};
                const std::int64_t node = i * step_[0] + j * step_[1] + k;
                for (std::size_t axis = 0; axis < 3; ++axis) {
                    bool has = at[axis] + 1 < p_.nodes[axis];
                    for (std::size_t other = 0; other < 3; ++other)
                        has = has && (other == axis || (at[other] > 0 && at[other] + 1 < p_.nodes[other]));
                    if (has && nodes_.is_inside(node) != nodes_.is_inside(node + step_[axis])) body(node, axis);
                }
            }
    }
    int ring_of(std::int64_t node, std::size_t axis, std::int32_t* to) const {
        return geometry_.ring_of(node, axis, [&](std::int64_t cell) { return first_.get()[cell]; }, doubled_, to);
    }

    void write_vertices(std::int64_t i, mesh& to) {
        std::int64_t line = -1;
        std::size_t next = 0;
        for_cells(i, [&](const cell_at&, std::int64_t node, int cell) {
            if (node / step_[1] != line)
                line = node / step_[1], next = static_cast<std::size_t>(vertices_[line_of(node)]);
            first_.get()[node] = static_cast<std::int32_t>(next);
            for (int n = 0; n < host_nodes::polygons_at(cell).count; ++n)
                to.vertices[next++] = geometry_.vertex_of(node, n);
        });
    }
    void write_faces(std::int64_t i, mesh& to) const {
        std::int64_t line = -1;
        std::size_t next = 0;
        for_edges(i, [&](std::int64_t node, std::size_t axis) {
            if (node / step_[1] != line) line = node / step_[1], next = static_cast<std::size_t>(faces_[line_of(node)]);
            std::int32_t ring[8];
            const int count = ring_of(node, axis, ring);
            for (int k = 1; k + 1 < count; ++k) to.faces[next++] = {ring[0], ring[k], ring[k + 1]};
        });
    }

    const problem<host>& p_;
    host_nodes nodes_;
    dual_geometry<host_nodes> geometry_;
    workers team_;
    std::array<std::int64_t, 3> step_;
    host_scratch<std::int32_t> first_;  ///< number of the vertex of a cell's first polygon
    std::vector<std::int64_t> vertices_, faces_;
    doubled_segments doubled_{};
};

}  // namespace

mesh dual_contouring(const host& on, const problem<host>& p) { return dual(on, p).solve(); }

}  // namespace nearfield::isosurfaces
