// Distances of arbitrary points: sorts them so that blocks of points are small boxes, then solves them like cells.
#include <algorithm>

#include "mesh/core.hpp"
#include "mesh_distance/blocks.hpp"
#include "mesh_distance/room.hpp"

namespace nearfield::nearest_faces {
namespace {

/// Splits points along the longest side of their box: none before index `middle` lies behind one after it.
void halve(cloud_point* points, std::int64_t first, std::int64_t middle, std::int64_t last) {
    int axis = 0;
    double longest = -1;
    for (int k = 0; k < 3; ++k) {
        const auto [low, high] = std::minmax_element(points + first, points + last,
                                                     [k](const auto& a, const auto& b) { return a.at[k] < b.at[k]; });
        if (high->at[k] - low->at[k] > longest) longest = high->at[k] - low->at[k], axis = k;
    }
    std::nth_element(points + first, points + middle, points + last,
                     [axis](const auto& a, const auto& b) { return a.at[axis] < b.at[axis]; });
}

/// Sorts the points of a block by eighths, each of them by its own eighths, and so on.
void sort(cloud_point* points, std::int64_t first, std::int64_t last) {
    if (last - first < 2) return;
    for (int half = 4; half > 0; half /= 2)
        for (int k = half; k < 8; k += 2 * half) {
            const std::int64_t begin = eighth(first, last, k - half), middle = eighth(first, last, k),
                               end = eighth(first, last, k + half);
            if (begin < middle && middle < end) halve(points, begin, middle, end);
        }
    for (int k = 0; k < 8; ++k) sort(points, eighth(first, last, k), eighth(first, last, k + 1));
}

}  // namespace

std::vector<double> distances_from(const host& on, const mesh& of, std::span<const std::array<double, 3>> points) {
    double largest = 0;
    const auto reach = [&](const std::array<double, 3>& at) {
        for (const double x : at) largest = std::max(largest, std::abs(x));
    };
    std::for_each(of.vertices.begin(), of.vertices.end(), reach);
    std::for_each(points.begin(), points.end(), reach);
    space in;
    in.scale = scale_for(largest);
    std::vector<cloud_point> cloud;
    cloud.reserve(points.size());
    for (const auto& [x, y, z] : points)
        cloud.push_back({{snapped(x * in.scale), snapped(y * in.scale), snapped(z * in.scale)}, std::ssize(cloud), 0});
    sort(cloud.data(), 0, std::ssize(cloud));
    const std::vector<triangle> triangles = triangles_of(of, in.scale);
    problem p{in, triangles, {}, {}};
    p.points = cloud.data();
    block root{{0, std::ssize(cloud), 0}, 1, distinct(triangles)};
    while (std::int64_t{1} << 3 * root.level < std::ssize(cloud)) ++root.level;
    workers team(on, 512);
    solve(team, p, std::move(root));
    std::vector<double> told(points.size());
    for (const cloud_point& each : cloud)
        told[static_cast<std::size_t>(each.number)] = std::sqrt(each.squared) / in.scale;
    return told;
}

}  // namespace nearfield::nearest_faces
