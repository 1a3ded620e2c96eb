// Marching cubes: counts the vertices and faces of every line of cells, then writes them at their places.
#include <bit>
#include <utility>

#include "base/rehearsal.hpp"
#include "isosurface/core.hpp"
#include "isosurface/planes.hpp"

namespace nearfield::isosurfaces {
namespace {

/// Counts of each line (i, j), then their sums over the lines before it.
struct totals {
    std::vector<std::int64_t> vertices, faces;
};

class layers {
public:
    layers(const problem<host>& p, totals& of) : p_(p), of_(of), here_(p), above_(p), next_(p) {}

    void count(std::int64_t first, std::int64_t last) {
        load(p_, first, here_);
        for (std::int64_t i = first; i < last; ++i, std::swap(here_, above_)) {
            const bool more = i + 1 < p_.nodes[0];
            if (more) load(p_, i + 1, above_);
            cross(p_, here_, more ? &above_ : nullptr);
            for (std::int64_t j = 0; j < p_.nodes[1]; ++j) {
                std::int64_t vertices = 0, faces = 0;
                const std::uint8_t* const crossed = here_.crossed.data() + j * p_.nodes[2];
                for (std::int64_t k = 0; k < p_.nodes[2]; ++k) vertices += std::popcount(crossed[k]);
                if (more)
                    for_each_cell(
                        j, [&](std::int64_t, int cell) { faces += table[static_cast<std::size_t>(cell)].triangles; });
                const auto line = static_cast<std::size_t>(i * p_.nodes[1] + j);
                of_.vertices[line] = vertices, of_.faces[line] = faces;
            }
        }
    }

    void write(std::int64_t first, std::int64_t last, mesh& to) {
        load(p_, first, here_);
        const bool some = first + 1 < p_.nodes[0];
        if (some) load(p_, first + 1, above_);
        number(first, here_, some ? &above_ : nullptr);
        for (std::int64_t i = first; i < last; ++i) {
            const bool more = i + 1 < p_.nodes[0], after = i + 2 < p_.nodes[0];
            if (after) load(p_, i + 2, next_);
            if (more) number(i + 1, above_, after ? &next_ : nullptr);
            for (std::int64_t j = 0; j < p_.nodes[1]; ++j) {
                write_vertices(i, j, to);
                if (more) write_faces(i, j, to);
            }
            std::swap(here_, above_), std::swap(above_, next_);
        }
    }

private:
    /// Calls body(k, inside corners) for the cells of line j between here_ and above_ that the surface crosses.
    template <class Body>
    void for_each_cell(std::int64_t j, const Body& body) const {
        const std::int64_t n = p_.nodes[2], at = j * n;
        if (j + 1 == p_.nodes[1]) return;
        const std::uint8_t *a = here_.inside.data() + at, *b = a + n, *c = above_.inside.data() + at, *d = c + n;
        const auto corners = [&](std::int64_t k) { return a[k] | b[k] << 2 | c[k] << 4 | d[k] << 6; };
        int before = n > 0 ? corners(0) : 0;
        for (std::int64_t k = 0; k + 1 < n; ++k) {
            const int after = corners(k + 1), cell = before | after << 1;
            before = after;
            if (cell != 0 && cell != 255) body(k, cell);
        }
    }

    void number(std::int64_t i, plane& of, const plane* above) const {
        cross(p_, of, above);
        for (std::int64_t j = 0; j < p_.nodes[1]; ++j) {
            auto next = static_cast<std::int32_t>(of_.vertices[static_cast<std::size_t>(i * p_.nodes[1] + j)]);
            for (std::int64_t c = j * p_.nodes[2]; c < (j + 1) * p_.nodes[2]; ++c) {
                of.first[static_cast<std::size_t>(c)] = next;
                next += std::popcount(of.crossed[static_cast<std::size_t>(c)]);
            }
        }
    }

    void write_vertices(std::int64_t i, std::int64_t j, mesh& to) const {
        const std::int64_t n = p_.nodes[2], step[] = {0, n, 1};
        auto vertex = static_cast<std::size_t>(of_.vertices[static_cast<std::size_t>(i * p_.nodes[1] + j)]);
        for (std::int64_t k = 0; k < n; ++k) {
            const std::int64_t c = j * n + k;
            const int crossed = here_.crossed[static_cast<std::size_t>(c)];
            for (std::size_t axis = 0; crossed != 0 && axis < 3; ++axis) {
                if ((crossed >> axis & 1) == 0) continue;
                const std::vector<double>& there = axis == 0 ? above_.value : here_.value;
                const double t = place_between(here_.value[static_cast<std::size_t>(c)],
                                               there[static_cast<std::size_t>(c + step[axis])], p_.level);
                double at[] = {static_cast<double>(i), static_cast<double>(j), static_cast<double>(k)};
                at[axis] += t;
                to.vertices[vertex++] = {p_.coordinate(0, at[0]), p_.coordinate(1, at[1]), p_.coordinate(2, at[2])};
            }
        }
    }

    void write_faces(std::int64_t i, std::int64_t j, mesh& to) const {
        auto face = static_cast<std::size_t>(of_.faces[static_cast<std::size_t>(i * p_.nodes[1] + j)]);
        for_each_cell(j, [&](std::int64_t k, int cell) {
            const polygons& p = table[static_cast<std::size_t>(cell)];
            for (int t = 0; t < p.triangles; ++t, ++face)
                for (std::size_t corner = 0; corner < 3; ++corner)
                    to.faces[face][corner] = vertex_of(j, k, p.corners[static_cast<std::size_t>(3 * t) + corner]);
        });
    }
    [[nodiscard]] std::int32_t vertex_of(std::int64_t j, std::int64_t k, int edge) const {
        const int axis = edge / 8, corner = edge % 8;
        const plane& of = (corner & 4) != 0 ? above_ : here_;
        const auto c = static_cast<std::size_t>((j + (corner >> 1 & 1)) * p_.nodes[2] + k + (corner & 1));
        return of.first[c] + std::popcount(static_cast<unsigned>(of.crossed[c] & ((1 << axis) - 1)));
    }

    const problem<host>& p_;
    totals& of_;
    plane here_, above_, next_;
};

}  // namespace

mesh marching_cubes(const host& on, const problem<host>& p) {
    const std::int64_t planes = p.nodes[0], lines = planes * p.nodes[1];
    rehearse_step("cells counted, then written; 24 bytes a vertex and 12 a face");
    workers team(on, 2 * planes);
    // A block reads the first two planes of the next block too.
    const std::int64_t block = std::max<std::int64_t>(8, planes / (4 * team.threads()) + 1);
    totals of{std::vector<std::int64_t>(static_cast<std::size_t>(lines)),
              std::vector<std::int64_t>(static_cast<std::size_t>(lines))};
    team.for_each(planes, block, 1,
                  [&](std::int64_t first, std::int64_t last, int) { layers(p, of).count(first, last); });
    const std::int64_t vertices = sum_up(of.vertices), faces = sum_up(of.faces);
    check_counts(vertices, faces);
    mesh made;
    made.vertices.resize(static_cast<std::size_t>(vertices)), made.faces.resize(static_cast<std::size_t>(faces));
    team.for_each(planes, block, 1,
                  [&](std::int64_t first, std::int64_t last, int) { layers(p, of).write(first, last, made); });
    return made;
}

}  // namespace nearfield::isosurfaces
