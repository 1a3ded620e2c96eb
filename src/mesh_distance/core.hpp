// Shared by host and device: the distance from a point to a triangle, and the test that a triangle cannot be the
// nearest one to any cell of a block.
//
// Coordinates are scaled by a power of two so that all lie in (-1, 1). So `slack` bounds every rounding error.
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

/// The grid in scaled coordinates.
struct space {
    std::int64_t shape[3] = {0, 0, 0};
    double origin[3] = {0, 0, 0}, pitch[3] = {1, 1, 1};
    double scale = 1;                                       ///< a power of two; coordinates times it are in (-1, 1)
    double most = std::numeric_limits<double>::infinity();  ///< max_distance in scaled coordinates

    /// Scaled coordinate of a position in cells; block centres have positions in half cells.
    [[nodiscard]] NF_HD double at(int axis, double cells) const { return (origin[axis] + pitch[axis] * cells) * scale; }
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
        for (int k = 0; k < 3; ++k) at[corner][k] = corners[corner][k] * scale;
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
    const double f_ac = dot(ac, ac), f_bc = dot(b, b), f_inside = dot(inside, inside);
    const bool to_ac = f_ac < n.squared;
    n.squared = to_ac ? f_ac : n.squared;
    for (int k = 0; k < 3; ++k) n.e[k] = to_ac ? ac[k] : n.e[k];
    const bool to_bc = f_bc < n.squared;
    n.squared = to_bc ? f_bc : n.squared;
    for (int k = 0; k < 3; ++k) n.e[k] = to_bc ? b[k] : n.e[k];
    const bool to_inside = (beta > 0) & (gamma > 0) & (beta + gamma < 1) & (f_inside < n.squared);
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

}  // namespace nearfield::nearest_faces
