// The functions that both places implement.
#pragma once

#include "nearfield/sphere_trace.hpp"
#include "render/shade.hpp"

namespace nearfield::pictures {

/// The arguments of a call of sphere_trace(). Rays come from a table, one a row, or from a camera, one a pixel.
struct tracing {
    surface what;
    int rank = 3;
    std::int64_t rays = 0;
    const double *origin = nullptr, *direction = nullptr;  ///< null if a camera sends the rays
    std::int64_t origin_step[2] = {}, direction_step[2] = {};
    viewpoint seen;  ///< its width is 1 for a table
    double* entry = nullptr;
    float* normals = nullptr;
    std::int32_t* steps = nullptr;
    std::int64_t entry_step[2] = {}, normals_step[3] = {}, steps_step[2] = {};  ///< by row, column, component
};

NF_HD inline line ray_of(const tracing& p, std::int64_t row, std::int64_t column) {
    if (p.origin == nullptr)
        return p.seen.from_eye(p.seen.towards(static_cast<double>(row) + 0.5, static_cast<double>(column) + 0.5),
                               p.what.field.length);
    line l;
    for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k) {
        l.o[axis] = p.origin[row * p.origin_step[0] + k * p.origin_step[1]];
        l.d[axis] = p.direction[row * p.direction_step[0] + k * p.direction_step[1]];
    }
    return l;
}

NF_HD inline void trace(const tracing& p, std::int64_t which) {
    const std::int64_t row = which / p.seen.width, column = which - row * p.seen.width;
    const line l = ray_of(p, row, column);
    double longest = 0, sum = 0;
    for (int axis = 0; axis < 3; ++axis)
        sum += std::fabs(l.o[axis]) + std::fabs(l.d[axis]), longest += std::fabs(l.d[axis]);
    meeting m;
    if (longest > 0 && sum - sum == 0) m = meet(p.what, l, through(p.what.field, l));
    if (p.entry != nullptr) p.entry[row * p.entry_step[0] + column * p.entry_step[1]] = m.t;
    if (p.steps != nullptr) p.steps[row * p.steps_step[0] + column * p.steps_step[1]] = m.steps;
    if (p.normals == nullptr) return;
    double g[3] = {};
    if (m.hit()) m.where.gradient(g);
    const double* h = p.what.field.length;
    const vec n = unit({g[0] / h[0], g[1] / h[1], g[2] / h[2]});
    const double all[3] = {n.z, n.y, n.x};
    for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k)
        p.normals[row * p.normals_step[0] + column * p.normals_step[1] + k * p.normals_step[2]] =
            static_cast<float>(all[axis]);
}

/// Converts a distance to a byte of scene::clear.
NF_HD inline std::uint8_t quarters_of(float distance, float scale) {
    const float units = distance * scale + 0.5F;
    return static_cast<std::uint8_t>(units < 255.0F ? units : 255.0F);
}
/// The distance fields that a scene needs besides its volume.
struct wanted {
    bool skip = false, clear = false;
    nearfield::spacing spacing{};
};

void run(const host& on, const tracing& p);
void run(const device& on, const tracing& p);
/// Computes the wanted fields, then draws the picture.
void run(const host& on, const scene& s, const wanted& w);
void run(const device& on, const scene& s, const wanted& w);

}  // namespace nearfield::pictures
