// Tests whether the neighbours along the axes cover a centre's whole ball. Most balls are covered: this is the first
// and cheapest test.
//
// Let v be a neighbour along an axis of weight w, with a squared radius R2 larger than the centre's r2. A cell p of the
// ball that it does not cover has |p|^2 < r2 and |p - v|^2 >= R2, hence 2 w p_v < r2 + w - R2: it lies at least some m
// cells from the centre on the other side. The cells that the neighbours of all axes leave are therefore at least as
// far away as the corner with these m; there is none if the corner is not in the ball. Where a cell and its neighbours
// have one nearest site, the corner is the site or lies beyond it.
#pragma once

#include "thickness/core.hpp"

namespace nearfield::thickness {

/// Returns m by the cover of a neighbour, see cover_of(). A neighbour that does not come earlier leaves all cells: 0.
template <class N>
NF_HD inline N cells_left_from(N cover, N weight) {
    if constexpr (std::is_floating_point_v<N>) return cover > 0 ? std::ceil(cover / (2 * weight)) : 0;
    else return cover < 0 ? 0 : cover / (2 * weight) + 1;
}

/// Returns whether the corner at these places is outside a ball.
template <class N>
NF_HD inline bool is_outside(const metric<N>& m, const N (&corner)[3], N r2) {
    if constexpr (std::is_floating_point_v<N>) return distance2(m, corner) >= r2;
    else {
        std::int64_t sum = 0;
        for (int axis = 0; axis < 3; ++axis) {
            const N long_side = m.weight[axis] * corner[axis];
            if (static_cast<double>(long_side) * static_cast<double>(corner[axis]) > 1e18) return true;
            sum += std::int64_t{long_side} * corner[axis];
        }
        return sum >= r2;
    }
}

/// Both for unit grids: the three are the largest squared radii of the neighbours along each axis, or 0.
NF_HD inline bool is_contained(std::int32_t r2, std::int32_t along_z, std::int32_t along_y, std::int32_t along_x) {
    const auto square = [&](std::int32_t larger2) {
        constexpr std::int32_t enough = 23171;  // its square exceeds all squared radii
        const std::int32_t m = least(most(larger2 - r2 + 1, 0) / 2, enough);
        return m * m;
    };
    return square(along_z) + square(along_y) + square(along_x) >= r2;
}

}  // namespace nearfield::thickness
