// The functions that both places implement.
#pragma once

#include "nearfield/sphere_trace.hpp"
#include "render/shade.hpp"

namespace nearfield::pictures {

/// The arguments of a call of sphere_trace().
struct tracing {
    surface what;
    int rank = 3;
    std::int64_t rays = 0;
    const double *origin = nullptr, *direction = nullptr;
    std::int64_t origin_step[2] = {}, direction_step[2] = {};
    double* entry = nullptr;
    float* normals = nullptr;
    std::int32_t* steps = nullptr;
    std::int64_t entry_step = 0, normals_step[2] = {}, steps_step = 0;
};

NF_HD inline void trace(const tracing& p, std::int64_t which) {
    line l;
    double longest = 0, sum = 0;
    for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k) {
        l.o[axis] = p.origin[which * p.origin_step[0] + k * p.origin_step[1]];
        l.d[axis] = p.direction[which * p.direction_step[0] + k * p.direction_step[1]];
        sum += std::fabs(l.o[axis]) + std::fabs(l.d[axis]), longest += std::fabs(l.d[axis]);
    }
    meeting m;
    if (longest > 0 && sum - sum == 0) m = meet(p.what, l, through(p.what.field, l));
    if (p.entry != nullptr) p.entry[which * p.entry_step] = m.t;
    if (p.steps != nullptr) p.steps[which * p.steps_step] = m.steps;
    if (p.normals == nullptr) return;
    double g[3] = {};
    if (m.hit()) m.where.gradient(g);
    const double* h = p.what.field.length;
    const vec n = unit({g[0] / h[0], g[1] / h[1], g[2] / h[2]});
    const double all[3] = {n.z, n.y, n.x};
    for (int axis = 3 - p.rank, k = 0; axis < 3; ++axis, ++k)
        p.normals[which * p.normals_step[0] + k * p.normals_step[1]] = static_cast<float>(all[axis]);
}

/// Converts a distance to a byte of scene::clear.
NF_HD inline std::uint8_t quarters_of(float distance, float scale) {
    const float units = distance * scale + 0.5F;
    return static_cast<std::uint8_t>(units < 255.0F ? units : 255.0F);
}
/// 1 if a value lies inside of a volume that is no distance field; NaN is inside.
template <class T>
NF_HD constexpr std::uint8_t inside(T value, double level) {
    return static_cast<double>(value) < level ? 0 : 1;
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
