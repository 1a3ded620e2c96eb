// The winding number of meshes with open edges.
//
// It is the number of crossings below a cell, counted with sign, plus the solid angles that the open edges span with
// the upward direction; the crossings alone are those of a mesh whose open edges are extended upwards. Angles are added
// as products of complex numbers with a count of half turns, so no angle is ever computed.
//
// Most cells need no sum of their own. Apart from the crossings of its surfaces, which are whole numbers, a winding
// number changes in a step of length 1 at most by the sum of length / (4 pi distance^2) over the open edges (the law of
// Biot and Savart). If a cell's sum keeps far enough from half a turn, all cells nearby round to the same number of
// turns, unless the upward extension of an edge separates them. The cells of a column are never separated.
#pragma once

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>

#include "base/annotate.hpp"
#include "mesh/core.hpp"
#include "voxelize/core.hpp"

namespace nearfield::voxels {

NF_HD inline bool is_negative(double x) { return std::bit_cast<std::int64_t>(x) < 0; }  // true for -0

/// A sum of angles: full turns, and a rest in [-pi, pi], which is the direction of (re, im).
struct angle_sum {
    double re = 1, im = 0;
    std::int64_t turns = 0;

    /// Adds the angle of (x, y), with y's sign as `negative` says: it is in [-pi, 0] if `negative`, else in [0, pi].
    NF_HD void add(double x, double y, bool negative) {
        y = negative ? -std::abs(y) : std::abs(y);
        const bool below = is_negative(im);
        const double r = re * x - im * y, i = re * y + im * x, size = std::abs(r) + std::abs(i);
        // Counts a turn if a step of at most half a turn crosses the cut along the negative real axis.
        if (!below && !negative && (i < 0 || (i == 0 && r > 0 && re < 0))) turns += 1;
        if (below && negative && (i > 0 || (i == 0 && r > 0 && re < 0))) turns -= 1;
        re = r / size, im = i / size;
        if (im == 0) im = (x > 0 ? below : negative) ? -0.0 : 0.0;
    }
    /// Adds another sum.
    NF_HD void add(const angle_sum& other) {
        add(other.re, other.im, is_negative(other.im));
        turns += other.turns;
    }
    /// True if the sum and `more` turns together exceed half a turn, in either direction.
    [[nodiscard]] NF_HD bool is_inside(std::int64_t more) const {
        const std::int64_t all = turns + more;
        if (all == 0) return false;
        const bool back_by_half = re < 0 && im == 0 && is_negative(im) == (all > 0);
        return (all != 1 && all != -1) || !back_by_half;
    }
};

/// Open edges of a mesh on the lattice of a grid.
struct open_edges {
    const meshes::open_edge* edges;
    std::int64_t count;
    const std::array<std::int32_t, 3>* vertices;
    double unit[3];  ///< length of a lattice step

    /// True if a cell on the lattice lies inside; `crossings` is the signed number of crossings below it.
    [[nodiscard]] NF_HD bool winds_round(const std::int64_t* cell, std::int64_t crossings) const {
        return at(cell).sum.is_inside(crossings);
    }
    /// The sum at a cell, and how much its fraction may change within some reach, in turns.
    struct seen {
        angle_sum sum;
        double change = 0;

        /// True if sums round to the same number of turns within the reach.
        [[nodiscard]] NF_HD bool is_settled() const {
            constexpr double turn = 2 * std::numbers::pi, rounding = 1e-6;
            return std::abs(std::atan2(sum.im, sum.re)) / turn + change + rounding < 0.5;
        }
    };
    /// Takes every `step`-th edge from `first` on. `reach` is a length.
    [[nodiscard]] NF_HD seen at(const std::int64_t* cell, double reach = 0, std::int64_t first = 0,
                                std::int64_t step = 1) const {
        seen made;
        for (std::int64_t n = first; n < count; n += step) add(edges[n], cell, reach, made);
        return made;
    }

    NF_HD void add(const meshes::open_edge& e, const std::int64_t* cell, double reach, seen& to) const {
        std::int64_t a[3], b[3];
        double u[3], w[3];
        for (int k = 0; k < 3; ++k) {
            const auto axis = static_cast<std::size_t>(k);
            a[k] = vertices[e.from][axis] - cell[k], b[k] = vertices[e.to][axis] - cell[k];
            u[k] = unit[k] * static_cast<double>(a[k]), w[k] = unit[k] * static_cast<double>(b[k]);
        }
        const std::int64_t left = left_of(a, b, 0, 0);
        const double lu = std::sqrt((u[0] * u[0] + u[1] * u[1]) + u[2] * u[2]),
                     lw = std::sqrt((w[0] * w[0] + w[1] * w[1]) + w[2] * w[2]);
        const double x = ((lu * lw + ((u[0] * w[0] + u[1] * w[1]) + u[2] * w[2])) + u[2] * lw) + w[2] * lu;
        const std::int64_t times = e.net < 0 ? -e.net : e.net;
        if (reach > 0) {
            const double z = w[0] - u[0], y = w[1] - u[1], along = w[2] - u[2],
                         length = std::sqrt((z * z + y * y) + along * along), near = (lu + lw - length) / 2 - reach;
            to.change += near > 0 ? static_cast<double>(times) * reach * length / (4 * std::numbers::pi * near * near)
                                  : std::numeric_limits<double>::infinity();
        }
        // Half the solid angle is the angle of (x, y). If the cell lies above or below the edge, its side decides.
        const bool negative = left == 0 ? !tie_is_left(a, b) : left < 0;
        const double y = left == 0 ? 0 : u[0] * w[1] - u[1] * w[0];
        const double size = std::abs(x) + std::abs(y);
        if (!(size > 0)) return;
        for (std::int64_t n = 0; n < times; ++n) to.sum.add(x / size, y / size, negative == (e.net > 0));
    }
};

}  // namespace nearfield::voxels
