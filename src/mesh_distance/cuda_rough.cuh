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
using rough_nearest = nearest_in<float>;

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
/// Rounds a length up to float.
__device__ inline float rounded_up(double x) { return static_cast<float>(x) * (1 + 0x1p-20F) + 0x1p-60F; }

__device__ inline float longer_side(const rough_triangle& t) { return std::sqrt(fmaxf(t.ab_ab, t.ac_ac)); }

/// The box around the centres of a block's cells, as box in cuda_cells.cuh.
struct rough_box {
    float at[3], half[3], radius;
    float reach;  ///< bound of coordinates of its points

    __device__ rough_nearest to(const rough_triangle& t) const { return nearest_of(t, at[0], at[1], at[2]); }
    /// Bounds the error of a distance d, of the plane's distance and of their comparison: 20 roundings of the sum of
    /// the coordinates and of the distances from the corners, which end within two sides. 64 are taken.
    __device__ float error(const rough_triangle& t, float d) const {
        return 0x1p-18F * ((reach + d) + 2 * longer_side(t)) + 0x1p-42F;
    }
};

/// Bounds the distance from a triangle to the cell at centre + u from below by low + n u (see bound).
struct touching {
    float low, n[3];

    __device__ touching() = default;
    __device__ touching(const rough_box& at, const rough_triangle& t) {
        const rough_nearest q = at.to(t);
        const float d = std::sqrt(q.squared), over = inverse(d);
        low = q.support * over - at.error(t, d);
        for (int k = 0; k < 3; ++k) n[k] = q.e[k] * over;
    }
    [[nodiscard]] __device__ float least(const float* u) const { return low + dot(n, u); }
};

/// As bound, in float. `loss` is that of the nearest triangle.
struct rough_bound {
    float n[3], plain, support;

    __device__ rough_bound(const rough_box& at, const rough_triangle& nearest, double loss, double most) {
        const rough_nearest q = at.to(nearest);
        const float d = std::sqrt(q.squared), over = inverse(d), radius = at.radius,
                    error = at.error(nearest, d) + rounded_up(loss + slack), far = rounded_up(most);
        for (int k = 0; k < 3; ++k) n[k] = q.e[k] * over;
        plain = (far < d + radius ? far : d + radius) + (radius + error);
        // The difference has a relative error of 101 times 2 roundings at most.
        const float quadratic = d > radius * 1.01F ? radius * radius / (2 * (d - radius)) * (1 + 0x1p-15F) : 8;
        support = d + (quadratic + error);
    }
    __device__ bool keeps(const touching& t, const float* half) const {
        float across = 0;
        for (int k = 0; k < 3; ++k) across += half[k] * std::abs(t.n[k] - n[k]);
        return !(t.low > plain) & !(t.low - support > across);
    }
};

}  // namespace nearfield::nearest_faces
