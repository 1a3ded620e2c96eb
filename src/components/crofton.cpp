#include "components/crofton.hpp"

#include <cmath>
#include <numeric>
#include <vector>

#include "components/core.hpp"

namespace nearfield::components {
namespace {

constexpr double pi = 3.141592653589793;
using vector3 = std::array<double, 3>;

double dot(const vector3& a, const vector3& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
vector3 cross(const vector3& a, const vector3& b) {
    return {a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
}
vector3 sum(const vector3& a, double by, const vector3& b) {
    return {a[0] + by * b[0], a[1] + by * b[1], a[2] + by * b[2]};
}
vector3 unit(const vector3& a) { return sum({}, 1 / std::sqrt(dot(a, a)), a); }

/// Clips a convex polygon by a plane through the origin and returns the side to which the plane's normal points.
std::vector<vector3> cut(const std::vector<vector3>& polygon, const vector3& normal) {
    std::vector<vector3> left;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const vector3 &a = polygon[i], &b = polygon[(i + 1) % polygon.size()];
        const double at = dot(a, normal), then = dot(b, normal);
        if (at >= 0) left.push_back(a);
        if ((at < 0) != (then < 0)) left.push_back(sum(a, at / (at - then), sum(b, -1, a)));
    }
    return left;
}

/// Solid angle of the directions that are nearer to the unit vector `here` than to any of `others`. None of them is
/// farther than 55 degrees, as `others` holds the axes. Van Oosterom, Strackee, "The solid angle of a plane triangle",
/// IEEE Transactions on Biomedical Engineering 30, 1983.
double nearest_angle(const vector3& here, const std::vector<vector3>& others) {
    const vector3 x = unit(cross(here, std::abs(here[0]) < 0.5 ? vector3{1, 0, 0} : vector3{0, 1, 0})),
                  y = cross(here, x);
    std::vector<vector3> polygon;
    for (const auto& [a, b] : {std::pair{-2, -2}, {2, -2}, {2, 2}, {-2, 2}})
        polygon.push_back(sum(sum(here, a, x), b, y));
    for (const vector3& other : others) polygon = cut(polygon, sum(here, -1, other));
    double angle = 0;
    for (std::size_t i = 0; i < polygon.size(); ++i) {
        const vector3 a = unit(polygon[i]), b = unit(polygon[(i + 1) % polygon.size()]);
        angle += 2 * std::atan2(dot(here, cross(a, b)), 1 + dot(here, a) + dot(a, b) + dot(b, here));
    }
    return angle;
}

}  // namespace

template <>
std::array<double, 13> crofton_weights<2>(const double* length) {
    // Half the angle between a direction's neighbours, as a share of pi; its lines lie area / (step's length) apart.
    const double diagonal = std::atan2(length[0], length[1]) / pi, y = length[0], x = length[1];
    const double step = std::sqrt(x * x + y * y);
    return {pi * diagonal * y, pi / 4 * x * y / step, pi * (0.5 - diagonal) * x, pi / 4 * x * y / step};
}

template <>
std::array<double, 13> crofton_weights<3>(const double* length) {
    constexpr steps3 steps = forward_steps(3, 3);
    std::vector<vector3> all;
    std::array<double, 13> weight{}, distance{};
    for (std::size_t k = 0; k < weight.size(); ++k) {
        vector3 step{};
        for (std::size_t axis = 0; axis < 3; ++axis) step[axis] = steps.all[k].by[axis] * length[axis];
        distance[k] = std::sqrt(dot(step, step));
        all.push_back(unit(step)), all.push_back(sum({}, -1, all.back()));
    }
    for (std::size_t k = 0; k < weight.size(); ++k) weight[k] = nearest_angle(all[2 * k], all);
    const double whole = std::accumulate(weight.begin(), weight.end(), 0.0);
    for (std::size_t k = 0; k < weight.size(); ++k)
        weight[k] *= 4 / whole * length[0] * length[1] * length[2] / distance[k];
    return weight;
}

}  // namespace nearfield::components
