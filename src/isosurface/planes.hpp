// Planes of a field, their inside and where their edges cross the level.
#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "base/parallel.hpp"
#include "nearfield/isosurface.hpp"

namespace nearfield::isosurfaces {

struct problem {
    any_input<host> field;
    double level = 0;
    isosurface_options how;
    std::int64_t rim = 0;                 ///< planes of outside that are put round the field
    std::array<std::int64_t, 3> nodes{};  ///< of the field and the rim

    [[nodiscard]] std::int64_t plane_nodes() const { return nodes[1] * nodes[2]; }
    [[nodiscard]] double coordinate(std::size_t axis, double node) const {
        return how.origin[axis] + how.spacing[axis] * (node - static_cast<double>(rim));
    }
};

/// Values of a plane across axis 0, and what its nodes say.
struct plane {
    std::vector<double> value;
    std::vector<std::uint8_t> inside;
    std::vector<std::uint8_t> crossed;  ///< bit `axis`: the edge from the node along that axis crosses the level
    std::vector<std::int32_t> first;    ///< number of the node's first vertex

    explicit plane(const problem& p)
        : value(static_cast<std::size_t>(p.plane_nodes())),
          inside(value.size()),
          crossed(value.size()),
          first(value.size()) {}
};

/// Reads plane i; outside of the field are NaN, which are outside.
void load(const problem& p, std::int64_t i, plane& to);
/// Sets `crossed` of plane i, given plane i + 1 (or null behind the last one).
void cross(const problem& p, plane& of, const plane* above);
/// How far along an edge the level lies, between values a and b.
[[nodiscard]] inline double place_between(double a, double b, double level) {
    constexpr double nearest = 0x1p-10;
    const double t = (level - a) / (b - a);
    if (!(t == t)) return 0.5;
    return t < nearest ? nearest : t > 1 - nearest ? 1 - nearest : t;
}

/// Sums before each entry; returns the sum of all.
std::int64_t sum_up(std::vector<std::int64_t>& counts);
/// Throws where a mesh cannot number so many.
void check_counts(std::int64_t vertices, std::int64_t faces);

[[nodiscard]] mesh marching_cubes(const host& on, const problem& p);
[[nodiscard]] mesh dual_contouring(const host& on, const problem& p);

}  // namespace nearfield::isosurfaces
