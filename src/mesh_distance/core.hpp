// Shared by host and device: the distance from a point to a triangle, and the test that a triangle cannot be the
// nearest one to any cell of a block.
//
// Coordinates are scaled by a power of two so that all lie in (-1, 1). So `slack` bounds every rounding error. They are
// then rounded to multiples of 2^-51, whose differences are exact. So all triangles with a corner in common compute the
// same distance from it, and the first of them is the nearest where they tie.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "nearfield/mesh_distance.hpp"

namespace nearfield::nearest_faces {

/// Exceeds the sum of the errors of a distance, of a bound and of their comparison: a few hundred times 2^-53.
constexpr double slack = 0x1p-43;

/// Rounds a scaled coordinate to a multiple of 2^-51.
NF_HD inline double snapped(double x) { return (x + 3) - 3; }

/// The grid in scaled coordinates.
struct space {
    std::int64_t shape[3] = {0, 0, 0};
    double origin[3] = {0, 0, 0}, pitch[3] = {1, 1, 1};
    double scale = 1;                                       ///< a power of two; coordinates times it are in (-1, 1)
    double most = std::numeric_limits<double>::infinity();  ///< max_distance in scaled coordinates

    /// Scaled coordinate of a position in cells; block centres have positions in half cells.
    [[nodiscard]] NF_HD double at(int axis, double cells) const {
        return snapped((origin[axis] + pitch[axis] * cells) * scale);
    }
    /// Distance up to which cells are exact with sampling: two diagonals of a cell, scaled.
    [[nodiscard]] double near() const {
        return 2 * scale * std::sqrt((pitch[0] * pitch[0] + pitch[1] * pitch[1]) + pitch[2] * pitch[2]);
    }
    /// Half the length of a block of 2^level cells along each axis, measured between the centres of its outer cells.
    NF_HD void half_of_block(int level, double* half) const {
        const double cells = static_cast<double>((std::int64_t{1} << level) - 1) / 2;
        for (int k = 0; k < 3; ++k) half[k] = cells * (pitch[k] * scale);
    }
};

template <class Real>
struct alignas(16) triangle_in {
    Real a[3], ab[3], ac[3];
    Real ab_ab, ac_ac, ab_ac;        ///< scalar products
    Real over_ab, over_ac, over_bc;  ///< 1 / squared lengths of the sides; 0 for a side of length 0
    Real over_area;                  ///< 1 / (squared length of ab x ac); 0 for a triangle of area 0
};
struct triangle : triangle_in<double> {
    /// Bound of a computed distance minus the true one, besides `slack`. If the foot lies inside a sliver the error is
    /// 32 roundings over the squared sine of its angle at a, but never more than a height.
    double loss;
};

/// Products of float are fused, since nothing but bounds is computed in float.
template <class Real>
NF_HD [[gnu::always_inline]] inline Real dot(const Real* a, const Real* b) {
    if constexpr (std::is_same_v<Real, float>) return std::fma(a[0], b[0], std::fma(a[1], b[1], a[2] * b[2]));
    else return (a[0] * b[0] + a[1] * b[1]) + a[2] * b[2];
}
template <class Real>
NF_HD inline Real inverse(Real x) {
    const Real y = x > 0 ? 1 / x : 0;
    return y - y == 0 ? y : 0;
}

NF_HD inline triangle triangle_of(const double* a, const double* b, const double* c) {
    triangle t{};
    double bc[3];
    for (int k = 0; k < 3; ++k) t.a[k] = a[k], t.ab[k] = b[k] - a[k], t.ac[k] = c[k] - a[k], bc[k] = t.ac[k] - t.ab[k];
    t.ab_ab = dot(t.ab, t.ab), t.ac_ac = dot(t.ac, t.ac), t.ab_ac = dot(t.ab, t.ac);
    t.over_ab = inverse(t.ab_ab), t.over_ac = inverse(t.ac_ac), t.over_bc = inverse(dot(bc, bc));
    const double area = t.ab_ab * t.ac_ac - t.ab_ac * t.ab_ac;
    t.over_area = inverse(area);
    if (t.over_area == 0) return t;
    const double sine = area / (t.ab_ab * t.ac_ac), longer = t.ab_ab > t.ac_ac ? t.ab_ab : t.ac_ac;
    const double foot = slack / sine, height = std::sqrt(area / longer) + slack;
    t.loss = foot < height ? foot : height;
    return t;
}

/// Scales three corners and returns their triangle.
NF_HD inline triangle triangle_at(const double* const* corners, double scale) {
    double at[3][3];
    for (int corner = 0; corner < 3; ++corner)
        for (int k = 0; k < 3; ++k) at[corner][k] = snapped(corners[corner][k] * scale);
    return triangle_of(at[0], at[1], at[2]);
}

/// The vector e from the triangle's nearest point to a point, its squared length, and the least dot product of e with
/// the vectors from the corners, which is a safe lower bound even if the nearest point is inexact.
struct nearest {
    double e[3], squared, support;
};

template <class Real>
NF_HD [[gnu::always_inline]] inline Real clamped(Real x) {
    x = x > 0 ? x : 0;
    return x < 1 ? x : 1;
}

/// Has no branches, so that loops over points vectorize; the conditionals at the end become selections.
NF_HD [[gnu::always_inline]] inline nearest nearest_of(const triangle_in<double>& t, double x, double y, double z) {
    const double pa[3] = {x - t.a[0], y - t.a[1], z - t.a[2]};
    const double pb[3] = {pa[0] - t.ab[0], pa[1] - t.ab[1], pa[2] - t.ab[2]};
    const double pc[3] = {pa[0] - t.ac[0], pa[1] - t.ac[1], pa[2] - t.ac[2]};
    const double bc[3] = {t.ac[0] - t.ab[0], t.ac[1] - t.ab[1], t.ac[2] - t.ab[2]};
    const double u = dot(t.ab, pa), w = dot(t.ac, pa);
    const double along[3] = {clamped(u * t.over_ab), clamped(w * t.over_ac), clamped(dot(bc, pb) * t.over_bc)};
    const double beta = (u * t.ac_ac - w * t.ab_ac) * t.over_area, gamma = (w * t.ab_ab - u * t.ab_ac) * t.over_area;
    double ab[3], ac[3], b[3], inside[3];
    for (int k = 0; k < 3; ++k) {
        ab[k] = pa[k] - along[0] * t.ab[k], ac[k] = pa[k] - along[1] * t.ac[k], b[k] = pb[k] - along[2] * bc[k];
        inside[k] = (pa[k] - beta * t.ab[k]) - gamma * t.ac[k];
    }
    nearest n{{ab[0], ab[1], ab[2]}, dot(ab, ab), 0};
    double t_side = along[0];
    const double f_ac = dot(ac, ac), f_bc = dot(b, b), f_inside = dot(inside, inside);
    const bool to_ac = f_ac < n.squared;
    n.squared = to_ac ? f_ac : n.squared, t_side = to_ac ? along[1] : t_side;
    for (int k = 0; k < 3; ++k) n.e[k] = to_ac ? ac[k] : n.e[k];
    const bool to_bc = f_bc < n.squared;
    n.squared = to_bc ? f_bc : n.squared, t_side = to_bc ? along[2] : t_side;
    for (int k = 0; k < 3; ++k) n.e[k] = to_bc ? b[k] : n.e[k];
    // A corner is not nearer than the inside but by rounding; without this, triangles with a corner in common differ.
    const bool at_corner = !((t_side > 0) & (t_side < 1));
    const bool to_inside = (beta > 0) & (gamma > 0) & (beta + gamma < 1) & (f_inside < n.squared) & !at_corner;
    n.squared = to_inside ? f_inside : n.squared;
    for (int k = 0; k < 3; ++k) n.e[k] = to_inside ? inside[k] : n.e[k];
    const double sa = dot(n.e, pa), sb = dot(n.e, pb), sc = dot(n.e, pc);
    n.support = sa < sb ? sa : sb;
    n.support = n.support < sc ? n.support : sc;
    return n;
}

/// The squared distance from a cell to a triangle.
NF_HD inline double squared_at(const space& in, const std::int64_t* at, const triangle& t) {
    double p[3];
    for (int k = 0; k < 3; ++k) p[k] = in.at(k, static_cast<double>(at[k]));
    return nearest_of(t, p[0], p[1], p[2]).squared;
}

/// The results of a cell.
struct answer {
    double distance;
    std::int32_t face;

    NF_HD static answer of(const space& s, double squared, std::int32_t face) {
        const double d = std::sqrt(squared);
        if (!(d <= s.most)) return {std::numeric_limits<double>::infinity(), -1};
        return {d / s.scale, face};
    }
};

/// Tests whether a triangle can be nearest to a point of a block: to one within half[k] of its centre along axis k.
///
/// Let q be the nearest point found so far, d its distance from the centre and n the unit vector from q to the centre.
/// A point of the block at centre + u is at most |d n + u| <= d + n u + |u|^2 / (2 (d - |u|)) away from q. A triangle
/// lies on one side of the plane that touches it in the direction of any unit vector m, so its distance is at least s +
/// m u, where s is the least m (centre - corner). It cannot be nearest if s - d exceeds (n - m) u plus the quadratic
/// part for all u, or, by the triangle inequality alone, if its distance exceeds d + 2 |u|.
struct bound {
    double n[3];
    double plain2;   ///< a triangle with a larger squared distance is excluded
    double support;  ///< d plus the quadratic part

    NF_HD static bound of(const nearest& best, double loss, double radius, double most) {
        bound b{};
        const double d = std::sqrt(best.squared), over = inverse(d);
        for (int k = 0; k < 3; ++k) b.n[k] = best.e[k] * over;
        const double plain = d + (2 * radius + (loss + slack)), limit = most + (radius + slack);
        b.plain2 = plain < limit ? plain * plain : limit * limit;
        const double quadratic = d > radius * 1.001 ? radius * radius / (2 * (d - radius)) : 8;
        b.support = d + (quadratic + (loss + slack));
        return b;
    }
    /// Squared distance from the centre beyond which no triangle is within max_distance of a cell of the block.
    NF_HD static double far2(double radius, double most) {
        const double far = most + (radius + slack);
        return far * far;
    }
    NF_HD [[gnu::always_inline]] bool keeps(const nearest& t, const double* half) const {
        const double d = std::sqrt(t.squared);
        double across = 0;
        for (int k = 0; k < 3; ++k) across += half[k] * std::abs(t.e[k] - n[k] * d);
        return (t.squared <= plain2) & !(t.support - support * d > across);
    }
};

/// True if the triangles are equal, corner by corner, so that the later one is nowhere the nearest.
NF_HD inline bool same(const triangle& t, const triangle& u) {
    bool equal = true;
    for (int k = 0; k < 3; ++k) equal = equal && t.a[k] == u.a[k] && t.ab[k] == u.ab[k] && t.ac[k] == u.ac[k];
    return equal;
}
/// A number for a hash table of triangles.
NF_HD inline std::uint64_t hash_of(const triangle& t) {
    std::uint64_t all = 0;
    const auto add = [&](double x) {
        // Differences are multiples of 2^-51, too.
        all = (all ^ static_cast<std::uint64_t>(static_cast<std::int64_t>(x * 0x1p51))) * 0x9e3779b97f4a7c15;
        all ^= all >> 29;
    };
    for (int k = 0; k < 3; ++k) add(t.a[k]), add(t.ab[k]), add(t.ac[k]);
    return all;
}

/// Points at most `radius` from a centre, at which triangles may have their nearest corner.
struct ball {
    double centre[3], radius;

    /// True if a corner, from which two sides go, is the nearest point of its triangle to all points of the ball, by a
    /// margin far above rounding.
    NF_HD bool sees(const double* corner, const double* side, const double* other) const {
        double d[3];
        for (int k = 0; k < 3; ++k) d[k] = centre[k] - corner[k];
        const double away = radius + 0.01 * (std::sqrt(dot(d, d)) + radius);
        const auto behind = [&](const double* e) { return dot(d, e) + away * std::sqrt(dot(e, e)) <= 0; };
        return behind(side) && behind(other);
    }
    /// Calls body(corner) for the triangle's corner of which that is true, unless the triangle is very thin.
    template <class Body>
    NF_HD void for_corner(const triangle& t, const Body& body) const {
        double b[3], c[3], bc[3], ba[3], ca[3], cb[3];
        for (int k = 0; k < 3; ++k) {
            b[k] = t.a[k] + t.ab[k], c[k] = t.a[k] + t.ac[k], bc[k] = t.ac[k] - t.ab[k];
            ba[k] = -t.ab[k], ca[k] = -t.ac[k], cb[k] = -bc[k];
        }
        const double area = t.ab_ab * t.ac_ac - t.ab_ac * t.ab_ac, longest = t.ab_ab + t.ac_ac + dot(bc, bc);
        if (!(area > longest * (0x1p-40 * longest + 0x1p-70))) return;
        if (sees(t.a, t.ab, t.ac)) body(t.a);
        else if (sees(b, ba, bc)) body(b);
        else if (sees(c, ca, cb)) body(c);
    }
    /// True if the triangle's nearest point to all points of the ball is `corner`.
    NF_HD bool ends_at(const triangle& t, const double* corner) const {
        bool found = false;
        for_corner(
            t, [&](const double* own) { found = own[0] == corner[0] && own[1] == corner[1] && own[2] == corner[2]; });
        return found;
    }
};

}  // namespace nearfield::nearest_faces
