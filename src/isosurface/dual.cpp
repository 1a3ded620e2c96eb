// Dual contouring: makes a vertex for each polygon of a cell, and a face for each edge that crosses the level.
//
// If a face between two cells has two segments, and each cell joins both segments in one polygon, the vertices of the
// two cells would share two edges. Then each of these edges gets a vertex of its own in the middle of its segment.
#include <algorithm>

#include "base/scratch.hpp"
#include "isosurface/core.hpp"
#include "isosurface/planes.hpp"

namespace nearfield::isosurfaces {
namespace {

using vec = std::array<double, 3>;
using cell_at = std::array<std::int64_t, 3>;

/// Finds the point x in [0, side) that fits all planes n (x - p) = 0 best, near the mean of the points p.
class planes_fit {
public:
    void add(const vec& p, const vec& n) {
        for (std::size_t k = 0; k < 3; ++k) mean_[k] += p[k];
        points_.push_back(p), normals_.push_back(n);
    }
    [[nodiscard]] vec solve(const vec& side) {
        double a[3][3] = {}, b[3] = {};
        constexpr double rigid = 0.01;  // weight of the mean, which keeps flat and round pieces near their middle
        for (double& m : mean_) m /= static_cast<double>(points_.size());
        for (std::size_t i = 0; i < points_.size(); ++i) {
            const vec &p = points_[i], &n = normals_[i];
            const double height = (n[0] * (p[0] - mean_[0]) + n[1] * (p[1] - mean_[1])) + n[2] * (p[2] - mean_[2]);
            for (std::size_t k = 0; k < 3; ++k) {
                b[k] += n[k] * height;
                for (std::size_t l = 0; l < 3; ++l) a[k][l] += n[k] * n[l];
            }
        }
        for (std::size_t k = 0; k < 3; ++k) a[k][k] += rigid * static_cast<double>(points_.size());
        vec x{};
        for (std::size_t k = 0; k < 3; ++k) {
            const std::size_t l = (k + 1) % 3, m = (k + 2) % 3;
            // Cramer's rule on a symmetric positive matrix: cofactors of row k.
            const double c[] = {a[l][l] * a[m][m] - a[l][m] * a[m][l], a[l][m] * a[m][k] - a[l][k] * a[m][m],
                                a[l][k] * a[m][l] - a[l][l] * a[m][k]};
            const double det = (a[k][k] * c[0] + a[k][l] * c[1]) + a[k][m] * c[2];
            x[k] = mean_[k] + ((c[0] * b[k] + c[1] * b[l]) + c[2] * b[m]) / det;
            const double rim = side[k] * 0x1p-10;
            if (!(x[k] >= rim)) x[k] = rim;
            if (!(x[k] <= side[k] - rim)) x[k] = side[k] - rim;
        }
        return x;
    }

private:
    vec mean_{};
    std::vector<vec> points_, normals_;
};

class dual {
public:
    dual(const host& on, const problem<host>& p)
        : p_(p),
          team_(on, 4 * p.nodes[0]),
          step_{p.plane_nodes(), p.nodes[2], 1},
          inside_(p.nodes[0] * step_[0]),
          value_(p.nodes[0] * step_[0]),
          first_(p.nodes[0] * step_[0]),
          vertices_(static_cast<std::size_t>(p.nodes[0] * p.nodes[1])),
          faces_(vertices_.size()) {}

    mesh solve() {
        for_planes([&](std::int64_t i) {
            plane one(p_);
            load(p_, i, one);
            std::copy(one.inside.begin(), one.inside.end(), inside_.get() + i * step_[0]);
            std::copy(one.value.begin(), one.value.end(), value_.get() + i * step_[0]);
        });
        find_doubled();
        for_planes([&](std::int64_t i) {
            for_cells(i, [&](const cell_at&, std::int64_t node, int cell) {
                vertices_[line_of(node)] += polygons_at(cell).count;
            });
            for_edges(i, [&](const cell_at&, std::int64_t node, std::size_t axis) {
                faces_[line_of(node)] += ring_of(node, axis, nullptr) - 2;
            });
        });
        const std::int64_t plain = sum_up(vertices_), faces = sum_up(faces_);
        middles_ = plain;
        const std::int64_t all = plain + static_cast<std::int64_t>(doubled_.size());
        check_counts(all, faces);
        mesh made;
        made.vertices.resize(static_cast<std::size_t>(all)), made.faces.resize(static_cast<std::size_t>(faces));
        for_planes([&](std::int64_t i) { write_vertices(i, made); });
        for (std::size_t k = 0; k < doubled_.size(); ++k)
            made.vertices[static_cast<std::size_t>(plain) + k] = middle_of(doubled_[k]);
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
    [[nodiscard]] static const polygons& polygons_at(int cell) { return table[static_cast<std::size_t>(cell)]; }

    /// Inside corners of the cell whose first node is `node`.
    [[nodiscard]] int corners_at(std::int64_t node) const {
        int cell = 0;
        for (int c = 0; c < 8; ++c)
            cell |= inside_.get()[node + (c >> 2) * step_[0] + (c >> 1 & 1) * step_[1] + (c & 1)] << c;
        return cell;
    }
    template <class Body>
    void for_cells(std::int64_t i, const Body& body) const {
        if (i + 1 >= p_.nodes[0]) return;
        for (std::int64_t j = 0; j + 1 < p_.nodes[1]; ++j)
            for (std::int64_t k = 0; k + 1 < p_.nodes[2]; ++k) {
                const std::int64_t node = i * step_[0] + j * step_[1] + k;
                const int cell = corners_at(node);
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
                    if (has && inside_.get()[node] != inside_.get()[node + step_[axis]]) body(at, node, axis);
                }
            }
    }

    /// True if the vertices of a cell and of the next one along an axis would share two edges.
    [[nodiscard]] bool is_doubled(std::int64_t node, std::size_t axis) const {
        return (polygons_at(corners_at(node)).doubled >> (2 * axis + 1) & 1) != 0 &&
               (polygons_at(corners_at(node + step_[axis])).doubled >> (2 * axis) & 1) != 0;
    }
    /// The first or the other inside corner of the face above a cell along an axis.
    [[nodiscard]] std::int64_t inside_corner(std::int64_t node, std::size_t axis, bool other) const {
        const std::int64_t p = step_[(axis + 1) % 3], q = step_[(axis + 2) % 3], base = node + step_[axis];
        std::int64_t found[2];
        if (inside_.get()[base] != 0) found[0] = base, found[1] = base + p + q;
        else found[0] = base + std::min(p, q), found[1] = base + std::max(p, q);
        return found[other ? 1 : 0];
    }
    /// Lists two keys for each face that both cells pass twice: from node, axis and inside corner.
    void find_doubled() {
        for (std::int64_t i = 0; i + 1 < p_.nodes[0]; ++i)
            for_cells(i, [&](const cell_at& at, std::int64_t node, int cell) {
                if (polygons_at(cell).doubled == 0) return;
                for (std::size_t axis = 0; axis < 3; ++axis)
                    if (at[axis] + 2 < p_.nodes[axis] && is_doubled(node, axis))
                        for (const std::int64_t which : {0, 1})
                            doubled_.push_back((3 * node + static_cast<std::int64_t>(axis)) * 2 + which);
            });
    }

    /// Writes the vertices around an edge in order, unless `to` is null; returns how many there are, at most 8.
    int ring_of(std::int64_t node, std::size_t axis, std::int32_t* to) const {
        const std::size_t p = (axis + 1) % 3, q = (axis + 2) % 3;
        const std::int64_t cells[] = {node - step_[p] - step_[q], node - step_[q], node, node - step_[p]};
        const int bits[] = {bit_of(static_cast<int>(p)) | bit_of(static_cast<int>(q)), bit_of(static_cast<int>(q)), 0,
                            bit_of(static_cast<int>(p))};
        const std::size_t across[] = {p, q, p, q};  // axis of the face between a cell and the next one
        const std::int64_t inner = inside_.get()[node] != 0 ? node : node + step_[axis];
        int count = 0;
        for (std::size_t n = 0; n < 4; ++n) {
            if (to != nullptr) {
                const polygons& of = polygons_at(corners_at(cells[n]));
                const auto edge = 8 * axis + static_cast<std::size_t>(bits[n]);
                to[count] = first_.get()[cells[n]] + of.of_edge[edge];
            }
            ++count;
            const std::int64_t lower = std::min(cells[n], cells[(n + 1) % 4]);
            if (!is_doubled(lower, across[n])) continue;
            const std::int64_t key = (3 * lower + static_cast<std::int64_t>(across[n])) * 2 +
                                     (inside_corner(lower, across[n], false) == inner ? 0 : 1);
            const auto place = std::lower_bound(doubled_.begin(), doubled_.end(), key) - doubled_.begin();
            if (to != nullptr) to[count] = static_cast<std::int32_t>(middles_ + place);
            ++count;
        }
        return count;
    }

    [[nodiscard]] cell_at place_of(std::int64_t node) const {
        return {node / step_[0], node / step_[1] % p_.nodes[1], node % p_.nodes[2]};
    }
    /// Position at which an edge crosses the level. If the field has a crease on the edge, which the lines through the
    /// two values on either side reveal, the line that equals the field at the level gives the position.
    [[nodiscard]] double between(std::int64_t node, std::size_t axis) const {
        constexpr double is_crease = 0.1, none = std::numeric_limits<double>::quiet_NaN();
        const std::int64_t at = place_of(node)[axis], step = step_[axis];
        const double* const v = value_.get() + node;
        const double way = v[step] > v[0] ? 1 : -1, low = way * (v[0] - p_.level), high = way * (v[step] - p_.level);
        const double before = at > 0 ? way * (v[0] - v[-step]) : none,
                     behind = at + 2 < p_.nodes[axis] ? way * (v[2 * step] - v[step]) : none;
        const double plain = place_between(v[0], v[step], p_.level), from_low = -low / before,
                     from_high = 1 - high / behind;
        double t = none;
        if (low >= high - behind && high >= low + before)  // the field is the maximum of both lines
            t = before > 0 && !(from_low > from_high && behind > 0) ? from_low : from_high;
        else if (low <= high - behind && high <= low + before) t = from_low > from_high ? from_low : from_high;
        if (!(t > 0 && t < 1) || std::abs(t - plain) < is_crease) return plain;
        return place_between(0, 1, t);
    }
    /// The one-sided difference of smaller magnitude, which is the one that crosses no crease of the surface.
    [[nodiscard]] double slope(std::int64_t node, std::size_t axis) const {
        const std::int64_t at = place_of(node)[axis];
        const double* const v = value_.get() + node;
        const double none = std::numeric_limits<double>::infinity();
        const double up = at + 1 < p_.nodes[axis] ? v[step_[axis]] - v[0] : none,
                     down = at > 0 ? v[0] - v[-step_[axis]] : none;
        const bool has_up = std::isfinite(up), has_down = std::isfinite(down);
        if (!has_up && !has_down) return 0;
        const double taken = has_up && (!has_down || std::abs(up) <= std::abs(down)) ? up : down;
        return taken / p_.how.spacing[axis];
    }
    [[nodiscard]] vec normal_at(std::int64_t node, std::size_t axis, double t) const {
        vec n{};
        for (std::size_t k = 0; k < 3; ++k)
            n[k] = k == axis ? (value_.get()[node + step_[axis]] - value_.get()[node]) / p_.how.spacing[axis]
                             : (1 - t) * slope(node, k) + t * slope(node + step_[axis], k);
        const double length = std::sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
        if (!(length > 0) || !std::isfinite(length)) n = {}, n[axis] = 1;
        else
            for (double& x : n) x /= length;
        return n;
    }

    void write_vertices(std::int64_t i, mesh& to) {
        std::int64_t line = -1;
        std::size_t next = 0;
        for_cells(i, [&](const cell_at& at, std::int64_t node, int cell) {
            if (node / step_[1] != line)
                line = node / step_[1], next = static_cast<std::size_t>(vertices_[line_of(node)]);
            first_.get()[node] = static_cast<std::int32_t>(next);
            const polygons& of = polygons_at(cell);
            std::size_t edge = 0;
            for (std::size_t n = 0; n < static_cast<std::size_t>(of.count); ++n) {
                planes_fit fit;
                for (const std::size_t end = edge + static_cast<std::size_t>(of.size[n]); edge < end; ++edge) {
                    const int axis = of.edge[edge] / 8, corner = of.edge[edge] % 8;
                    const auto along = static_cast<std::size_t>(axis);
                    const std::int64_t from =
                        node + (corner >> 2) * step_[0] + (corner >> 1 & 1) * step_[1] + (corner & 1);
                    const double t = between(from, along);
                    vec point{static_cast<double>(corner >> 2), static_cast<double>(corner >> 1 & 1),
                              static_cast<double>(corner & 1)};
                    point[along] += t;
                    for (std::size_t k = 0; k < 3; ++k) point[k] *= p_.how.spacing[k];
                    fit.add(point, normal_at(from, along, t));
                }
                const vec x = fit.solve(p_.how.spacing);
                for (std::size_t k = 0; k < 3; ++k)
                    to.vertices[next][k] = p_.coordinate(k, static_cast<double>(at[k])) + x[k];
                ++next;
            }
        });
    }
    [[nodiscard]] vec middle_of(std::int64_t key) const {
        const auto axis = static_cast<std::size_t>(key / 2 % 3);
        const std::int64_t lower = key / 6, corner = inside_corner(lower, axis, key % 2 != 0);
        const cell_at base = place_of(lower + step_[axis]), at = place_of(corner);
        vec made{static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])};
        for (const std::size_t k : {(axis + 1) % 3, (axis + 2) % 3}) {
            const bool up = at[k] == base[k];
            const double t = between(up ? corner : corner - step_[k], k);
            made[k] += (up ? t : t - 1) / 2;
        }
        return {p_.coordinate(0, made[0]), p_.coordinate(1, made[1]), p_.coordinate(2, made[2])};
    }
    void write_faces(std::int64_t i, mesh& to) const {
        std::int64_t line = -1;
        std::size_t next = 0;
        for_edges(i, [&](const cell_at&, std::int64_t node, std::size_t axis) {
            if (node / step_[1] != line) line = node / step_[1], next = static_cast<std::size_t>(faces_[line_of(node)]);
            std::int32_t ring[8];
            const int count = ring_of(node, axis, ring);
            if (inside_.get()[node] == 0) std::reverse(ring, ring + count);
            // A fan from a segment's vertex has no diagonal between the two cells of a doubled face.
            const auto is_middle = [&](std::int32_t vertex) { return vertex >= middles_; };
            std::int32_t* const start = std::find_if(ring, ring + count, is_middle);
            if (start != ring + count) std::rotate(ring, start, ring + count);
            for (int k = 1; k + 1 < count; ++k) to.faces[next++] = {ring[0], ring[k], ring[k + 1]};
        });
    }

    const problem<host>& p_;
    workers team_;
    std::array<std::int64_t, 3> step_;
    host_scratch<std::uint8_t> inside_;
    host_scratch<double> value_;
    host_scratch<std::int32_t> first_;  ///< number of the vertex of a cell's first polygon
    std::vector<std::int64_t> vertices_, faces_, doubled_;
    std::int64_t middles_ = 0;
};

}  // namespace

mesh dual_contouring(const host& on, const problem<host>& p) { return dual(on, p).solve(); }

}  // namespace nearfield::isosurfaces
