#include "mesh/shapes.hpp"

#include <cmath>
#include <numbers>

namespace nearfield::test {
namespace {

constexpr double pi = std::numbers::pi;

/// A grid of quads that wraps around in both directions; `across` varies fastest.
mesh wrapped(int around, int across, const std::vector<point>& at) {
    mesh made;
    made.vertices = at;
    for (int i = 0; i < around; ++i)
        for (int k = 0; k < across; ++k) {
            const int a = i * across + k, b = (i + 1) % around * across + k,
                      c = (i + 1) % around * across + (k + 1) % across, d = i * across + (k + 1) % across;
            made.faces.push_back({a, b, c}), made.faces.push_back({a, c, d});
        }
    return made;
}

}  // namespace

mesh scattered(const mesh& of) {
    mesh made;
    for (const auto& face : of.faces) {
        const auto first = static_cast<std::int32_t>(made.vertices.size());
        for (const std::int32_t v : face) made.vertices.push_back(of.vertices[static_cast<std::size_t>(v)]);
        made.faces.push_back({first, first + 1, first + 2});
    }
    return made;
}
double uniform(std::uint64_t seed) { return std::ldexp(static_cast<double>(mix(seed) >> 11), -53); }

mesh box_mesh(point low, point high) {
    mesh made;
    for (int v = 0; v < 8; ++v)
        made.vertices.push_back(
            {(v & 4) != 0 ? high[0] : low[0], (v & 2) != 0 ? high[1] : low[1], (v & 1) != 0 ? high[2] : low[2]});
    made.faces = {{0, 1, 3}, {0, 3, 2}, {4, 6, 7}, {4, 7, 5}, {0, 4, 5}, {0, 5, 1},
                  {2, 3, 7}, {2, 7, 6}, {0, 2, 6}, {0, 6, 4}, {1, 5, 7}, {1, 7, 3}};
    return made;
}

mesh sphere_mesh(point centre, double radius, int parallels, int meridians) {
    mesh made;
    const auto add = [&](double theta, double phi) {
        made.vertices.push_back({centre[0] + radius * std::sin(theta) * std::cos(phi),
                                 centre[1] + radius * std::sin(theta) * std::sin(phi),
                                 centre[2] + radius * std::cos(theta)});
    };
    add(0, 0);
    for (int i = 1; i < parallels; ++i)
        for (int k = 0; k < meridians; ++k) add(pi * i / parallels, 2 * pi * k / meridians);
    add(pi, 0);
    const int last = static_cast<int>(made.vertices.size()) - 1;
    for (int k = 0; k < meridians; ++k) {
        const int next = (k + 1) % meridians, low = 1 + (parallels - 2) * meridians;
        made.faces.push_back({0, 1 + k, 1 + next}), made.faces.push_back({last, low + next, low + k});
        for (int i = 0; i + 2 < parallels; ++i) {
            const int a = 1 + i * meridians, b = a + meridians;
            made.faces.push_back({a + k, b + k, b + next}), made.faces.push_back({a + k, b + next, a + next});
        }
    }
    return made;
}

mesh torus_mesh(double large, double small, int around, int across) {
    std::vector<point> at;
    for (int i = 0; i < around; ++i)
        for (int k = 0; k < across; ++k) {
            const double phi = 2 * pi * i / around, theta = 2 * pi * k / across, r = large + small * std::cos(theta);
            at.push_back({r * std::cos(phi), r * std::sin(phi), small * std::sin(theta)});
        }
    return wrapped(around, across, at);
}

mesh random_triangles(std::uint64_t seed, int count, double size) {
    mesh made;
    const auto corner = [&](int i, int k) {
        point at{};
        for (std::size_t axis = 0; axis < 3; ++axis)
            at[axis] = size * uniform(mix(seed) + static_cast<std::uint64_t>(16 * i + 4 * k) + axis);
        return at;
    };
    for (int i = 0; i < count; ++i) {
        const int flat = static_cast<int>(mix(seed + static_cast<std::uint64_t>(i) + 77) % 8);
        for (int k = 0; k < 3; ++k) made.vertices.push_back(corner(i, flat == 0 ? 0 : flat == 1 ? k % 2 : k));
        made.faces.push_back({3 * i, 3 * i + 1, 3 * i + 2});
    }
    return made;
}

}  // namespace nearfield::test
