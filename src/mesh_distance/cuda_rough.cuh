// Bounds in float, by which a device excludes triangles; what is left is measured in double.
//
// Every point of a triangle bounds its distance from above, and every direction bounds it from below: no corner lies
// beyond the plane that touches the triangle in that direction. So a point and a direction that float arithmetic finds
// serve as well as exact ones, once the errors of the bounds themselves are added.
#pragma once

#include "base/cuda.cuh"
#include "mesh_distance/core.hpp"

namespace nearfield::nearest_faces {

/// Its coordinates are relative to the middle of the grid, which keeps them small.
using rough_triangle = triangle_in<float>;

__device__ inline float finite_or_0(double x) {
    const auto y = static_cast<float>(x);
    return y - y == 0 ? y : 0;
}
__device__ inline rough_triangle rough_of(const triangle& t, const double* middle) {
    rough_triangle made{};
    for (int k = 0; k < 3; ++k) {
        made.a[k] = static_cast<float>(t.a[k] - middle[k]);
        made.ab[k] = static_cast<float>(t.ab[k]), made.ac[k] = static_cast<float>(t.ac[k]);
    }
    made.ab_ab = static_cast<float>(t.ab_ab), made.ac_ac = static_cast<float>(t.ac_ac);
    made.ab_ac = static_cast<float>(t.ab_ac), made.over_area = finite_or_0(t.over_area);
    made.over_ab = finite_or_0(t.over_ab), made.over_ac = finite_or_0(t.over_ac), made.over_bc = finite_or_0(t.over_bc);
    return made;
}
__device__ inline rough_triangle rough_of(const float4& p, const float4& q, const float4& r, const float4& s) {
    return {{p.x, p.y, p.z}, {p.w, q.x, q.y}, {q.z, q.w, r.x}, r.y, r.z, r.w, s.x, s.y, s.z, s.w};
}
static_assert(sizeof(rough_triangle) == 4 * sizeof(float4));
/// Rounds a length up to float.
__device__ inline float rounded_up(double x) { return static_cast<float>(x) * (1 + 0x1p-20F) + 0x1p-60F; }

/// 1 / sqrt(x) with an error of at most 2.2 roundings, 0 where the root is below 2^-60.
__device__ inline float inverse_root(float x) {
    float made;
    asm("rsqrt.approx.ftz.f32 %0, %1;" : "=f"(made) : "f"(x));
    return x > 0x1p-120F ? made : 0;
}

/// As nearest. The triangle's point is the nearest one but for errors of float, which only make bounds looser.
struct rough_nearest {
    float e[3], squared, support;

    __device__ rough_nearest(const rough_triangle& t, const float* p) {
        const float pa[] = {p[0] - t.a[0], p[1] - t.a[1], p[2] - t.a[2]};
        const float u = dot(t.ab, pa), w = dot(t.ac, pa), u2 = 2 * u, w2 = 2 * w;
        const float of_ab = clamped(u * t.over_ab), of_ac = clamped(w * t.over_ac),
                    of_bc = clamped(((w - u) + (t.ab_ab - t.ab_ac)) * t.over_bc);
        float beta = of_ab, gamma = 0, least = of_ab * std::fma(of_ab, t.ab_ab, -u2);
        // `d2` is the squared distance to a + x ab + y ac, less that to a.
        const auto take = [&](bool allowed, float x, float y, float d2) {
            const bool nearer = allowed & (d2 < least);
            beta = nearer ? x : beta, gamma = nearer ? y : gamma, least = nearer ? d2 : least;
        };
        const auto squared_at = [&](float x, float y) {
            const float both = std::fma(2 * x, t.ab_ac, std::fma(y, t.ac_ac, -w2));
            return std::fma(x, std::fma(x, t.ab_ab, -u2), y * both);
        };
        take(true, 0, of_ac, of_ac * std::fma(of_ac, t.ac_ac, -w2));
        take(true, 1 - of_bc, of_bc, squared_at(1 - of_bc, of_bc));
        const float x = std::fma(u, t.ac_ac, -w * t.ab_ac) * t.over_area,
                    y = std::fma(w, t.ab_ab, -u * t.ab_ac) * t.over_area;
        take((x > 0) & (y > 0) & (x + y < 1), x, y, squared_at(x, y));
        for (int k = 0; k < 3; ++k) e[k] = std::fma(-beta, t.ab[k], std::fma(-gamma, t.ac[k], pa[k]));
        squared = dot(e, e);
        support = dot(e, pa) - fmaxf(fmaxf(dot(e, t.ab), dot(e, t.ac)), 0);
    }
};

/// The box around the centres of a block's cells, as box in cuda_cells.cuh.
struct rough_box {
    float at[3], half[3], radius;
    float reach;  ///< bound of coordinates of its points

    __device__ rough_nearest to(const rough_triangle& t) const { return {t, at}; }
    /// Bounds the error of a distance d, of the plane's distance and of their comparison: 25 roundings of the sum of
    /// the coordinates and of the distances from the corners, which end within two sides. 64 are taken.
    __device__ float error(const rough_triangle& t, float d) const {
        float sides = 0;
        for (int k = 0; k < 3; ++k) sides += std::abs(t.ab[k]) + std::abs(t.ac[k]);
        return std::fma(0x1p-18F, (reach + d) + sides, 0x1p-42F);
    }
};

/// Bounds the distance from a triangle to the cell at centre + u from below by low + n u (see bound).
struct alignas(16) touching {
    float low, n[3];

    __device__ touching() = default;
    __device__ touching(const rough_box& at, const rough_triangle& t, const rough_nearest& q) {
        const float over = inverse_root(q.squared);
        low = std::fma(q.support, over, -at.error(t, q.squared * over));
        for (int k = 0; k < 3; ++k) n[k] = q.e[k] * over;
    }
    __device__ touching(const rough_box& at, const rough_triangle& t) : touching(at, t, at.to(t)) {}
    [[nodiscard]] __device__ float least(const float* u) const { return low + dot(n, u); }
};

/// As bound, in float. `loss` is that of the nearest triangle.
struct rough_bound {
    float n[3], plain, support;

    __device__ rough_bound(const rough_box& at, const rough_triangle& nearest, double loss, double most) {
        const rough_nearest q = at.to(nearest);
        const float over = inverse_root(q.squared), d = q.squared * over, radius = at.radius, far = rounded_up(most),
                    error = at.error(nearest, d) + rounded_up(loss + slack);
        for (int k = 0; k < 3; ++k) n[k] = q.e[k] * over;
        plain = (far < d + radius ? far : d + radius) + (radius + error);
        // The difference has a relative error of 101 times 6 roundings at most.
        const float quadratic = d > radius * 1.01F ? radius * radius / (2 * (d - radius)) * (1 + 0x1p-14F) : 8;
        support = d + (quadratic + error);
    }
    __device__ bool keeps(const touching& t, const float* half) const {
        float across = 0;
        for (int k = 0; k < 3; ++k) across += half[k] * std::abs(t.n[k] - n[k]);
        return !(t.low > plain) & !(t.low - support > across);
    }
};

}  // namespace nearfield::nearest_faces
