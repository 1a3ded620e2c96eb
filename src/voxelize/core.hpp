// Triangles on an integer lattice: the columns of cells that they cover and cross, and the cells that they meet.
//
// Coordinates are at most 2^29 in magnitude, so differences fit 31 bits, and sums of two of their products fit 63 bits.
#pragma once

#include <cmath>
#include <cstdint>

#include "base/annotate.hpp"
#include "base/wide.hpp"
#include "nearfield/voxelize.hpp"

namespace nearfield::voxels {

/// A triangle on the lattice; cell centres lie at multiples of 2^shift.
struct triangle {
    std::int64_t at[3][3];
};

/// A vertex's coordinate on the lattice, whose steps are chosen so that it has at most 30 bits.
NF_HD inline std::int32_t moved_to_lattice(double at, double origin, double pitch, int shift) {
    return static_cast<std::int32_t>(std::rint((at - origin) / pitch * static_cast<double>(std::int64_t{1} << shift)));
}

NF_HD constexpr std::int64_t floor_divide(std::int64_t a, std::int64_t b) {  // b > 0
    const std::int64_t q = a / b;
    return a % b < 0 ? q - 1 : q;
}
NF_HD constexpr std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return -floor_divide(-a, b); }
NF_HD constexpr std::int64_t smaller(std::int64_t a, std::int64_t b) { return a < b ? a : b; }
NF_HD constexpr std::int64_t larger(std::int64_t a, std::int64_t b) { return a < b ? b : a; }

/// Twice the area of a, b and the point (x, y) in the plane of axes 0 and 1; positive if the point is to the left.
NF_HD constexpr std::int64_t left_of(const std::int64_t* a, const std::int64_t* b, std::int64_t x, std::int64_t y) {
    return (b[0] - a[0]) * (y - a[1]) - (b[1] - a[1]) * (x - a[0]);
}
/// True if a point on the line through a and b lies to its left after a move by e along axis 0 and e^2 along axis 1.
NF_HD constexpr bool tie_is_left(const std::int64_t* a, const std::int64_t* b) {
    return b[1] < a[1] || (b[1] == a[1] && b[0] > a[0]);
}

/// Calls cross(i, j, k, way) for each column (i, j) that a triangle covers: the column's cells from k on, with k in [0,
/// shape[2]), lie above it. `way` is 1 if the triangle faces down, towards smaller coordinates, else -1. Skips the
/// first `skipped` of the triangle's rows, then takes every `step`-th one.
template <class Cross>
NF_HD inline void cross_columns(const triangle& t, int shift, const std::int64_t* shape, const Cross& cross,
                                int skipped = 0, int step = 1) {
    const std::int64_t *a = t.at[0], *b = t.at[1], *c = t.at[2], side = std::int64_t{1} << shift;
    const std::int64_t twice = left_of(a, b, c[0], c[1]), area = twice < 0 ? -twice : twice;
    if (twice == 0) return;
    if (twice < 0) b = t.at[2], c = t.at[1];
    const std::int64_t* const corner[] = {a, b, c};
    const std::int64_t low = smaller(smaller(a[0], b[0]), c[0]), high = larger(larger(a[0], b[0]), c[0]);
    const std::int64_t last_row = smaller(floor_divide(high, side), shape[0] - 1);
    for (std::int64_t i = larger(ceil_divide(low, side), 0) + skipped; i <= last_row; i += step) {
        std::int64_t first = 0, last = shape[1] - 1;
        for (int e = 0; e < 3; ++e) {
            const std::int64_t *from = corner[e], *to = corner[(e + 1) % 3];
            const std::int64_t slope = (to[0] - from[0]) * side, rest = left_of(from, to, i * side, 0),
                               least = tie_is_left(from, to) ? 0 : 1;  // rest + slope j >= least
            if (slope > 0) first = larger(first, ceil_divide(least - rest, slope));
            else if (slope < 0) last = smaller(last, floor_divide(rest - least, -slope));
            else if (rest < least) last = -1;
        }
        for (std::int64_t j = first; j <= last; ++j) {
            int128 height = 0;  // height of the crossing times area
            for (int e = 0; e < 3; ++e)
                height += static_cast<int128>(left_of(corner[(e + 1) % 3], corner[(e + 2) % 3], i * side, j * side)) *
                          corner[e][2];
            // The smallest k with k side area >= height.
            const int128 unit = static_cast<int128>(area) * side;
            auto k = static_cast<std::int64_t>(static_cast<double>(height) / static_cast<double>(unit));
            while (k * unit < height) ++k;
            while ((k - 1) * unit >= height) --k;
            if (k < shape[2]) cross(i, j, larger(k, 0), twice < 0 ? 1 : -1);
        }
    }
}

/// True if the box of half a cell around `cell` and the triangle do not overlap along the direction u x edge, which
/// lies in the plane of axes p and q.
NF_HD constexpr bool apart_across(const triangle& t, int e, const std::int64_t* cell, int p, int q, std::int64_t half) {
    const std::int64_t *from = t.at[e], *to = t.at[(e + 1) % 3], *other = t.at[(e + 2) % 3];
    const std::int64_t dp = to[p] - from[p], dq = to[q] - from[q];
    const std::int64_t near = dp * (from[q] - cell[q]) - dq * (from[p] - cell[p]),
                       far = dp * (other[q] - cell[q]) - dq * (other[p] - cell[p]);
    const std::int64_t reach = half * ((dp < 0 ? -dp : dp) + (dq < 0 ? -dq : dq));
    return smaller(near, far) > reach || larger(near, far) < -reach;
}

/// Narrows [low, high] to a column's cells with |height - unit k| <= reach, and one more at either end.
NF_HD inline void near_plane(int128 height, int128 reach, double unit, std::int64_t& low, std::int64_t& high) {
    if (unit == 0) return;
    const double middle = static_cast<double>(height) / unit,
                 around = static_cast<double>(reach) / (unit < 0 ? -unit : unit) + 1;
    const std::int64_t last = high;
    if (middle - around > static_cast<double>(low)) low = static_cast<std::int64_t>(middle - around);
    if (middle + around < static_cast<double>(last))
        high = smaller(static_cast<std::int64_t>(middle + around) + 1, last);
}

/// Calls meet(i, j, k) for the cells whose closed box a triangle meets, with the rows of cross_columns().
template <class Meet>
NF_HD inline void meet_cells(const triangle& t, int shift, const std::int64_t* shape, const Meet& meet, int skipped = 0,
                             int step = 1) {
    const std::int64_t side = std::int64_t{1} << shift, half = side / 2;
    std::int64_t first[3], last[3], u[3], w[3];
    for (int axis = 0; axis < 3; ++axis) {
        const std::int64_t a = t.at[0][axis], b = t.at[1][axis], c = t.at[2][axis];
        first[axis] = larger(ceil_divide(smaller(smaller(a, b), c) - half, side), 0);
        last[axis] = smaller(floor_divide(larger(larger(a, b), c) + half, side), shape[axis] - 1);
        u[axis] = b - a, w[axis] = c - a;
    }
    std::int64_t normal[3];
    int128 reach = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const int p = (axis + 1) % 3, q = (axis + 2) % 3;
        normal[axis] = u[p] * w[q] - u[q] * w[p];
        reach += static_cast<int128>(normal[axis] < 0 ? -normal[axis] : normal[axis]) * half;
    }
    std::int64_t cell[3];
    for (std::int64_t i = first[0] + skipped; i <= last[0]; i += step)
        for (std::int64_t j = first[1]; j <= last[1]; ++j) {
            cell[0] = i * side, cell[1] = j * side, cell[2] = 0;
            bool apart = false;
            for (int e = 0; e < 3; ++e) apart = apart || apart_across(t, e, cell, 0, 1, half);
            if (apart) continue;
            // Along the column the condition is |height - normal[2] k side| <= reach.
            int128 height = 0;
            for (int axis = 0; axis < 3; ++axis)
                height += static_cast<int128>(normal[axis]) * (t.at[0][axis] - cell[axis]);
            std::int64_t low = first[2], high = last[2];
            near_plane(height, reach, static_cast<double>(normal[2]) * static_cast<double>(side), low, high);
            for (std::int64_t k = low; k <= high; ++k) {
                cell[2] = k * side;
                const int128 above = height - static_cast<int128>(normal[2]) * cell[2];
                apart = above > reach || above < -reach;
                for (int e = 0; e < 3; ++e)
                    apart = apart || apart_across(t, e, cell, 1, 2, half) || apart_across(t, e, cell, 2, 0, half);
                if (!apart) meet(i, j, k);
            }
        }
}

}  // namespace nearfield::voxels
