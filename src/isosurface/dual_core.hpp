// Dual contouring as host and device compute it: the vertex of a polygon, and the vertices around an edge.
//
// If a face between two cells has two segments, and each cell joins both segments in one polygon, the vertices of the
// two cells would share two edges. Then each of these edges gets a vertex of its own in the middle of its segment.
#pragma once

#include <cmath>
#include <limits>

#include "base/quotient.hpp"
#include "isosurface/core.hpp"

namespace nearfield::isosurfaces {

using vec = std::array<double, 3>;
using cell_at = std::array<std::int64_t, 3>;

/// Finds the point x in [0, side) that fits all planes n (x - p) = 0 best, near the mean of the points p.
class planes_fit {
public:
    NF_HD void add(const vec& p, const vec& n) {
        for (std::size_t k = 0; k < 3; ++k) mean_[k] += p[k];
        points_[count_] = p, normals_[count_++] = n;
    }
    [[nodiscard]] NF_HD vec solve(const vec& side) {
        double a[3][3] = {}, b[3] = {};
        constexpr double rigid = 0.01;  // weight of the mean, which keeps flat and round pieces near their middle
        for (double& m : mean_) m /= static_cast<double>(count_);
        for (std::size_t i = 0; i < count_; ++i) {
            const vec &p = points_[i], &n = normals_[i];
            const double height = (n[0] * (p[0] - mean_[0]) + n[1] * (p[1] - mean_[1])) + n[2] * (p[2] - mean_[2]);
            for (std::size_t k = 0; k < 3; ++k) {
                b[k] += n[k] * height;
                for (std::size_t l = 0; l < 3; ++l) a[k][l] += n[k] * n[l];
            }
        }
        for (std::size_t k = 0; k < 3; ++k) a[k][k] += rigid * static_cast<double>(count_);
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
    static constexpr std::size_t most = std::tuple_size_v<decltype(polygons::edge)>;  ///< corners of a polygon
    vec mean_{};
    std::array<vec, most> points_, normals_;
    std::size_t count_ = 0;
};

/// The doubled segments, as keys from node, axis and inside corner in ascending order, and the vertex of the first.
struct doubled_segments {
    const std::int64_t* keys;
    std::int64_t count;
    std::int64_t first_vertex;

    NF_HD static constexpr std::int64_t key(std::int64_t node, std::size_t axis, bool other) {
        return (3 * node + static_cast<std::int64_t>(axis)) * 2 + (other ? 1 : 0);
    }
    [[nodiscard]] NF_HD std::int32_t vertex_of(std::int64_t wanted) const {
        std::int64_t low = 0, high = count;
        while (low < high) {
            const std::int64_t middle = (low + high) / 2;
            if (keys[middle] < wanted) low = middle + 1;
            else high = middle;
        }
        return static_cast<std::int32_t>(first_vertex + low);
    }
};

/// The geometry of a field. `Nodes` has the problem `p` and gives, by a node's number in C order, value(), is_inside()
/// and polygons_at(inside corners of a cell). A cell has the number of its first node.
template <class Nodes>
class dual_geometry {
public:
    NF_HD explicit dual_geometry(const Nodes& nodes)
        : nodes_(nodes), step_{nodes.p.plane_nodes(), nodes.p.nodes[2], 1} {}

    [[nodiscard]] NF_HD int corners_at(std::int64_t node) const {
        int cell = 0;
        for (int c = 0; c < 8; ++c)
            cell |= (nodes_.is_inside(node + (c >> 2) * step_[0] + (c >> 1 & 1) * step_[1] + (c & 1)) ? 1 : 0) << c;
        return cell;
    }
    [[nodiscard]] NF_HD const polygons& polygons_at(std::int64_t node) const {
        return nodes_.polygons_at(corners_at(node));
    }
    /// Calls body(key) for the doubled segments between a cell and the next ones.
    template <class Body>
    NF_HD void for_each_doubled(const cell_at& at, std::int64_t node, const Body& body) const {
        for (std::size_t axis = 0; axis < 3; ++axis)
            if (at[axis] + 2 < nodes_.p.nodes[axis] && is_doubled(node, axis))
                for (const bool other : {false, true}) body(doubled_segments::key(node, axis, other));
    }

    /// Writes the vertices around an edge in the order of its faces, unless `to` is null; returns how many there are,
    /// at most 8. first(cell) is the vertex of the cell's first polygon. The faces are a fan from to[0].
    template <class First>
    NF_HD int ring_of(std::int64_t node, std::size_t axis, const First& first, const doubled_segments& doubled,
                      std::int32_t* to) const {
        const std::size_t p = (axis + 1) % 3, q = (axis + 2) % 3;
        const std::int64_t cells[] = {node - step_[p] - step_[q], node - step_[q], node, node - step_[p]};
        const int bits[] = {bit_of(static_cast<int>(p)) | bit_of(static_cast<int>(q)), bit_of(static_cast<int>(q)), 0,
                            bit_of(static_cast<int>(p))};
        const std::size_t across[] = {p, q, p, q};  // axis of the face between a cell and the next one
        const bool outwards = nodes_.is_inside(node);
        const std::int64_t inner = outwards ? node : node + step_[axis];
        std::int32_t ring[8];
        int count = 0, start = -1;
        for (std::size_t n = 0; n < 4; ++n) {
            if (to != nullptr) {
                const auto edge = 8 * axis + static_cast<std::size_t>(bits[n]);
                ring[count] = first(cells[n]) + polygons_at(cells[n]).of_edge[edge];
            }
            ++count;
            const std::int64_t next = cells[(n + 1) % 4], lower = cells[n] < next ? cells[n] : next;
            if (!is_doubled(lower, across[n])) continue;
            const bool other = inside_corner(lower, across[n], false) != inner;
            if (to != nullptr) ring[count] = doubled.vertex_of(doubled_segments::key(lower, across[n], other));
            // A fan from a segment's vertex has no diagonal between the two cells of a doubled face.
            if (start < 0 || !outwards) start = count;
            ++count;
        }
        if (to == nullptr) return count;
        if (start < 0) start = outwards ? 0 : count - 1;
        for (int k = 0; k < count; ++k) to[k] = ring[(start + (outwards ? k : count - k)) % count];
        return count;
    }

    /// The vertex of polygon number `of` of a cell.
    [[nodiscard]] NF_HD vec vertex_of(std::int64_t node, int of) const {
        const polygons& all = polygons_at(node);
        std::size_t edge = 0;
        for (int n = 0; n < of; ++n) edge += static_cast<std::size_t>(all.size[static_cast<std::size_t>(n)]);
        const std::size_t end = edge + static_cast<std::size_t>(all.size[static_cast<std::size_t>(of)]);
        planes_fit fit;
        for (; edge < end; ++edge) {
            const int corner = all.edge[edge] % 8;
            const auto along = static_cast<std::size_t>(all.edge[edge] / 8);
            const std::int64_t from = node + (corner >> 2) * step_[0] + (corner >> 1 & 1) * step_[1] + (corner & 1);
            const double t = between(from, along);
            vec point{static_cast<double>(corner >> 2), static_cast<double>(corner >> 1 & 1),
                      static_cast<double>(corner & 1)};
            point[along] += t;
            for (std::size_t k = 0; k < 3; ++k) point[k] *= nodes_.p.how.spacing[k];
            fit.add(point, normal_at(from, along, t));
        }
        vec x = fit.solve(nodes_.p.how.spacing);
        const cell_at at = place_of(node);
        for (std::size_t k = 0; k < 3; ++k) x[k] = nodes_.p.coordinate(k, static_cast<double>(at[k])) + x[k];
        return x;
    }
    /// The vertex of a doubled segment.
    [[nodiscard]] NF_HD vec middle_of(std::int64_t key) const {
        const auto axis = static_cast<std::size_t>(key / 2 % 3);
        const std::int64_t lower = key / 6, corner = inside_corner(lower, axis, key % 2 != 0);
        const cell_at base = place_of(lower + step_[axis]), at = place_of(corner);
        vec made{static_cast<double>(at[0]), static_cast<double>(at[1]), static_cast<double>(at[2])};
        for (const std::size_t k : {(axis + 1) % 3, (axis + 2) % 3}) {
            const bool up = at[k] == base[k];
            const double t = between(up ? corner : corner - step_[k], k);
            made[k] += (up ? t : t - 1) / 2;
        }
        return {nodes_.p.coordinate(0, made[0]), nodes_.p.coordinate(1, made[1]), nodes_.p.coordinate(2, made[2])};
    }

private:
    [[nodiscard]] NF_HD cell_at place_of(std::int64_t node) const {
        const std::int64_t line = quotient(node, step_[1]), plane = quotient(node, step_[0]);
        return {plane, line - plane * nodes_.p.nodes[1], node - line * step_[1]};
    }
    /// True if the vertices of a cell and of the next one along an axis would share two edges.
    [[nodiscard]] NF_HD bool is_doubled(std::int64_t node, std::size_t axis) const {
        return (polygons_at(node).doubled >> (2 * axis + 1) & 1) != 0 &&
               (polygons_at(node + step_[axis]).doubled >> (2 * axis) & 1) != 0;
    }
    /// The first or the other inside corner of the face above a cell along an axis.
    [[nodiscard]] NF_HD std::int64_t inside_corner(std::int64_t node, std::size_t axis, bool other) const {
        const std::int64_t p = step_[(axis + 1) % 3], q = step_[(axis + 2) % 3], base = node + step_[axis];
        if (nodes_.is_inside(base)) return other ? base + p + q : base;
        return base + ((p < q) == other ? q : p);
    }
    /// Position at which an edge crosses the level. If the field has a crease on the edge, which the lines through the
    /// two values on either side reveal, the line that equals the field at the level gives the position.
    [[nodiscard]] NF_HD double between(std::int64_t node, std::size_t axis) const {
        constexpr double is_crease = 0.1, none = std::numeric_limits<double>::quiet_NaN();
        const std::int64_t at = place_of(node)[axis], step = step_[axis];
        const double here = nodes_.value(node), there = nodes_.value(node + step), level = nodes_.p.level;
        const double way = there > here ? 1 : -1, low = way * (here - level), high = way * (there - level);
        const double before = at > 0 ? way * (here - nodes_.value(node - step)) : none,
                     behind = at + 2 < nodes_.p.nodes[axis] ? way * (nodes_.value(node + 2 * step) - there) : none;
        const double plain = place_between(here, there, level), from_low = -low / before, from_high = 1 - high / behind;
        double t = none;
        if (low >= high - behind && high >= low + before)  // the field is the maximum of both lines
            t = before > 0 && !(from_low > from_high && behind > 0) ? from_low : from_high;
        else if (low <= high - behind && high <= low + before) t = from_low > from_high ? from_low : from_high;
        if (!(t > 0 && t < 1) || std::abs(t - plain) < is_crease) return plain;
        return place_between(0, 1, t);
    }
    /// The one-sided difference of smaller magnitude, which is the one that crosses no crease of the surface.
    [[nodiscard]] NF_HD double slope(std::int64_t node, std::size_t axis) const {
        const std::int64_t at = place_of(node)[axis], step = step_[axis];
        const double here = nodes_.value(node), none = std::numeric_limits<double>::infinity();
        const double up = at + 1 < nodes_.p.nodes[axis] ? nodes_.value(node + step) - here : none,
                     down = at > 0 ? here - nodes_.value(node - step) : none;
        const bool has_up = up - up == 0, has_down = down - down == 0;
        if (!has_up && !has_down) return 0;
        const double taken = has_up && (!has_down || std::abs(up) <= std::abs(down)) ? up : down;
        return taken / nodes_.p.how.spacing[axis];
    }
    [[nodiscard]] NF_HD vec normal_at(std::int64_t node, std::size_t axis, double t) const {
        vec n{};
        for (std::size_t k = 0; k < 3; ++k)
            n[k] = k == axis ? (nodes_.value(node + step_[axis]) - nodes_.value(node)) / nodes_.p.how.spacing[axis]
                             : (1 - t) * slope(node, k) + t * slope(node + step_[axis], k);
        const double length = std::sqrt((n[0] * n[0] + n[1] * n[1]) + n[2] * n[2]);
        if (!(length > 0) || !(length - length == 0)) n = {}, n[axis] = 1;
        else
            for (double& x : n) x /= length;
        return n;
    }

    const Nodes& nodes_;
    std::array<std::int64_t, 3> step_;
};

}  // namespace nearfield::isosurfaces
