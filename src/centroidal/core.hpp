// Code shared by host and device: parts of cells, sums over regions, targets of sites.
#pragma once

#include <cstdint>

#include "base/annotate.hpp"
#include "base/quotient.hpp"
#include "base/wide.hpp"
#include "nearfield/centroidal.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::centroidal {

/// A checked problem. Of its three axes those of the density are the last ones. Sites are linear indices of parts.
struct problem {
    int axes = 3;
    std::int64_t size[3] = {1, 1, 1};    ///< parts
    std::int64_t factor[3] = {1, 1, 1};  ///< parts per cell
    bool wraps[3] = {};
    std::int64_t weight[3] = {1, 1, 1};  ///< squared length of a part
    std::int64_t sites = 0;
    int rounds = 0;
    int relaxed = 0;           ///< number of first rounds in which sites go beyond the centroids
    std::int64_t relax = one;  ///< step length of those rounds, in units of 1 / one
    double tolerance = 0;
    distance_options engine;

    static constexpr std::int64_t one = 256;

    NF_HD constexpr std::int64_t parts() const { return size[0] * size[1] * size[2]; }
    NF_HD constexpr std::int64_t cells_along(int axis) const { return size[axis] / factor[axis]; }
    NF_HD constexpr std::int64_t cells() const { return cells_along(0) * cells_along(1) * cells_along(2); }
    /// Returns the step length of a round, as a multiple of the way to the centroid in units of 1 / one.
    NF_HD constexpr std::int64_t relax_of(int round) const { return round < relaxed ? relax : one; }
};

struct place {
    std::int32_t at[3];
};
NF_HD constexpr place place_of(const problem& p, std::int64_t part) {
    const std::int64_t line = quotient(part, p.size[2]), plane = quotient(line, p.size[1]);
    return {{static_cast<std::int32_t>(plane), static_cast<std::int32_t>(line - plane * p.size[1]),
             static_cast<std::int32_t>(part - line * p.size[2])}};
}
NF_HD constexpr std::int32_t part_of(const problem& p, const place& at) {
    return static_cast<std::int32_t>((at.at[0] * p.size[1] + at.at[1]) * p.size[2] + at.at[2]);
}

/// Returns the middle one of the finer parts of a part that is a whole cell.
NF_HD constexpr std::int32_t refined(const problem& p, const problem& finer, std::int32_t part) {
    place to = place_of(p, part);
    for (int axis = 0; axis < 3; ++axis)
        to.at[axis] = static_cast<std::int32_t>(to.at[axis] * finer.factor[axis] + finer.factor[axis] / 2);
    return part_of(finer, to);
}

NF_HD constexpr std::int64_t cell_of(const problem& p, std::int64_t part) {
    const place at = place_of(p, part);
    return (at.at[0] / p.factor[0] * p.cells_along(1) + at.at[1] / p.factor[1]) * p.cells_along(2) +
           at.at[2] / p.factor[2];
}

/// Returns the part that represents a cell's middle: the middle one, or the one behind the middle.
NF_HD constexpr std::int64_t middle_of(const problem& p, std::int64_t cell) {
    const std::int64_t line = cell / p.cells_along(2), plane = line / p.cells_along(1);
    const std::int64_t z = plane * p.factor[0] + p.factor[0] / 2,
                       y = (line - plane * p.cells_along(1)) * p.factor[1] + p.factor[1] / 2,
                       x = (cell - line * p.cells_along(2)) * p.factor[2] + p.factor[2] / 2;
    return (z * p.size[1] + y) * p.size[2] + x;
}

/// Returns the options that a power diagram of the parts accepts.
inline distance_options grid_of(const problem& p) {
    distance_options options;
    options.spacing = p.engine.spacing, options.border = p.engine.border;
    return options;
}

/// Steps along an axis from a site to a part, the shorter way around if the axis wraps; of two equal ways the positive.
NF_HD constexpr std::int64_t step(const problem& p, int axis, std::int64_t from, std::int64_t to) {
    const std::int64_t d = to - from, n = p.size[axis];
    if (!p.wraps[axis]) return d;
    return 2 * d > n ? d - n : 2 * d <= -n ? d + n : d;
}

/// Sums over a region: of density, and of density times steps. All are below 2^63.
struct sums {
    std::uint64_t mass = 0;
    std::int64_t first[3] = {};
};

/// Moments of a region.
struct moments {
    sums of;
    std::uint64_t parts = 0;
    int128 second[6] = {};  ///< of density times two steps: 00 01 02 11 12 22
};
/// Assembles second moments from the sums of their terms' low 32 bits and of the rest.
NF_HD constexpr moments moments_of(const sums& of, std::uint64_t parts, const std::uint64_t (&low)[6],
                                   const std::uint64_t (&high)[6]) {
    moments m{of, parts, {}};
    for (int k = 0; k < 6; ++k)
        m.second[k] = static_cast<int128>(static_cast<std::int64_t>(high[k])) * (std::int64_t{1} << 32) + low[k];
    return m;
}

/// Returns the integer nearest to a / b, ties rounded down; b > 0.
NF_HD constexpr std::int64_t nearest(int128 a, int128 b) {
    const int128 above = 2 * a - b, below = 2 * b;  // the answer is the smallest integer not below above / below
    const int128 whole = above / below;
    return static_cast<std::int64_t>(above - whole * below > 0 ? whole + 1 : whole);
}

/// Returns the part that a site should move to.
NF_HD constexpr std::int32_t target_of(const problem& p, const place& from, const sums& of, std::int64_t relax) {
    place to = from;
    for (int axis = 0; axis < 3 && of.mass != 0; ++axis) {
        if (of.first[axis] == 0) continue;
        const std::int64_t by = nearest(static_cast<int128>(of.first[axis]) * relax,
                                        static_cast<int128>(of.mass) * problem::one),
                           n = p.size[axis];
        std::int64_t at = from.at[axis] + by;
        if (p.wraps[axis]) at = at < 0 ? at + n : at >= n ? at - n : at;
        else at = at < 0 ? 0 : at >= n ? n - 1 : at;
        to.at[axis] = static_cast<std::int32_t>(at);
    }
    return part_of(p, to);
}

/// Returns whether a round of Lloyd's method lowered the energy by too little to continue.
NF_HD constexpr bool has_settled(const problem& p, uint128 before, uint128 after) {
    const auto number = [](uint128 x) {
        return static_cast<double>(static_cast<std::uint64_t>(x >> 64)) * 18446744073709551616.0 +
               static_cast<double>(static_cast<std::uint64_t>(x));
    };
    return before >= after && number(before - after) < p.tolerance * number(before);
}

static_assert(nearest(1, 2) == 0 && nearest(-1, 2) == -1 && nearest(3, 2) == 1 && nearest(-3, 2) == -2);
static_assert(nearest(2, 3) == 1 && nearest(-2, 3) == -1 && nearest(1, 3) == 0 && nearest(-4, 3) == -1);

}  // namespace nearfield::centroidal
