// A ball's crescent: the cells of a ball that no neighbouring centre's ball covers. Only crescents are painted. Shared
// by host and device.
//
// Centres are ordered by larger squared radius first, ties by smaller index. Centre c paints B(c) minus the balls of
// those of its 26 neighbours that come earlier. Every cell p of B(c) ends with at least r2(c): c paints it, or p is in
// the ball of an earlier neighbour, and induction over the order applies. No cell gets too much, since c paints only
// inside B(c). Writes are maxima, so results do not depend on threads or blocks. Any field of squared radii is valid.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "base/annotate.hpp"

namespace nearfield::thickness {

/// Squared radii stay below these limits, in int32 and int64; radii and sides stay below 2^29, whose double fits int32.
inline constexpr double int32_limit = 536870912.0;           // 2^29; three times as much fits, too
inline constexpr double int64_limit = 288230376151711744.0;  // 2^58
inline constexpr std::int64_t largest_side = std::int64_t{1} << 29;
inline constexpr double int32_weight_limit = 4096;  // 2^12: products with offsets stay below 2^27

/// An image's three axes, the slowest first; an image with fewer axes gets leading axes of one cell.
struct grid3 {
    std::int64_t images = 1;
    std::int32_t size[3] = {1, 1, 1};
    bool wraps[3] = {false, false, false};

    NF_HD constexpr std::int64_t image_cells() const { return static_cast<std::int64_t>(size[0]) * size[1] * size[2]; }
    NF_HD constexpr std::int64_t cells() const { return images * image_cells(); }
    /// True at an end of a periodic axis, where a cell has neighbours across the end.
    constexpr bool at_end(int axis, std::int64_t place) const {
        return wraps[axis] && (place == 0 || place == size[axis] - 1);
    }
    NF_HD constexpr std::int64_t step(int axis) const {
        return axis == 2 ? 1 : axis == 1 ? size[2] : static_cast<std::int64_t>(size[1]) * size[2];
    }
};

template <class N>
NF_HD constexpr N least(N a, N b) {
    return a < b ? a : b;
}
template <class N>
NF_HD constexpr N most(N a, N b) {
    return a > b ? a : b;
}
template <class N>
NF_HD constexpr N most(N a, N b, N c) {
    return most(most(a, b), c);
}

/// Cover of a neighbour that covers nothing; also a bound that limits nothing.
template <class N>
NF_HD constexpr N never() {
    if constexpr (std::is_floating_point_v<N>) return -1e300;
    else return static_cast<N>(N{-1} << (8 * sizeof(N) - 2));
}
template <class N>
NF_HD constexpr N unbound() {
    if constexpr (std::is_floating_point_v<N>) return 1e300;
    else return static_cast<N>(N{1} << (8 * sizeof(N) - 3));
}

/// Square root of a float, accurate to two units in the last place; on a device it takes one instruction.
NF_HD inline float root_near(float x) {
#ifdef __CUDA_ARCH__
    float root;
    asm("sqrt.approx.ftz.f32 %0, %1;" : "=f"(root) : "f"(x));
    return root;
#else
    return std::sqrt(x);
#endif
}

/// Returns floor(sqrt(n)) for n >= 0. Below 2^20 adding 0.5 keeps the float's root away from integers: the gap of
/// 0.25 / 1024 exceeds its error.
NF_HD inline std::int32_t floor_root(std::int32_t n) {
    auto root = static_cast<std::int32_t>(root_near(static_cast<float>(n) + 0.5F));
    if (n >= 1 << 20) {
        root -= root * root > n ? 1 : 0;
        root += (root + 1) * (root + 1) <= n ? 1 : 0;
    }
    return root;
}
NF_HD inline std::int64_t floor_root(std::int64_t n) {
    auto root = static_cast<std::int64_t>(std::sqrt(static_cast<double>(n)));
    while (root * root > n) --root;
    while ((root + 1) * (root + 1) <= n) ++root;
    return root;
}
NF_HD inline double floor_root(double n) { return std::floor(std::sqrt(n)); }

template <class N>
NF_HD constexpr N floor_quotient(N a, N b) {
    if constexpr (std::is_floating_point_v<N>) return a / b;
    else return a >= 0 || a % b == 0 ? a / b : a / b - 1;
}

/// Squared step lengths along each axis, and constants derived from them for the boxes of a ball's caps.
template <class N>
struct metric {
    N weight[3] = {1, 1, 1};
    /// Indexed by the axes along which a neighbour v lies (bit k: axis k): 1 / |v|^2, and for each axis
    /// sqrt((1 - weight / |v|^2) / weight), the share of a cap's radius along this axis.
    float part[8] = {};
    float along[8][3] = {};
    float across[3] = {1, 1, 1};  ///< 1 / sqrt(weight)
};

/// The metric of unit grids, as compile-time constants.
struct unit_metric {
    struct parts {
        NF_HD constexpr float operator[](int v) const {
            return v == 7 ? 1.0F / 3 : v == 3 || v == 5 || v == 6 ? 0.5F : 1.0F;
        }
    };
    struct row {
        int v;
        NF_HD constexpr float operator[](int axis) const {
            return (v >> axis & 1) == 0 ? 0.0F : v == 7 ? 0.81649658F : v == 3 || v == 5 || v == 6 ? 0.70710678F : 0.0F;
        }
    };
    struct rows {
        NF_HD constexpr row operator[](int v) const { return {v}; }
    };
    struct ones {
        NF_HD constexpr float operator[](int) const { return 1.0F; }
    };
    parts part;
    rows along;
    ones across;
};

/// Returns the squared length of a step to a neighbour.
template <class N>
NF_HD constexpr N length2(const metric<N>& m, int z, int y, int x) {
    return (z != 0 ? m.weight[0] : N{0}) + (y != 0 ? m.weight[1] : N{0}) + (x != 0 ? m.weight[2] : N{0});
}

template <class N>
metric<N> metric_of(const double (&weight)[3]) {
    metric<N> m;
    for (int axis = 0; axis < 3; ++axis) {
        m.weight[axis] = static_cast<N>(weight[axis]);
        m.across[axis] = static_cast<float>(1 / std::sqrt(weight[axis]));
    }
    for (int v = 1; v < 8; ++v) {
        double v2 = 0;
        for (int axis = 0; axis < 3; ++axis) v2 += (v >> axis & 1) != 0 ? weight[axis] : 0;
        m.part[v] = static_cast<float>(1 / v2);
        for (int axis = 0; axis < 3; ++axis) {
            const double rest = (v >> axis & 1) != 0 ? 1 - weight[axis] / v2 : 0;
            m.along[v][axis] = static_cast<float>(std::sqrt(rest > 0 ? rest / weight[axis] : 0));
        }
    }
    return m;
}

/// Neighbour v with squared radius R2 and squared length v2 covers p (relative to c) iff
/// 2 p.v + cover > |p|^2 - r2. In double the cover is reduced by the largest rounding error, which only paints more.
template <class N>
NF_HD constexpr N cover_of(N larger2, N r2, N v2) {
    if constexpr (std::is_floating_point_v<N>) return larger2 - r2 - v2 - 4e-12 * (larger2 + v2);
    else return larger2 - r2 - v2;
}
/// Returns the largest p.v of the cells that a neighbour with this cover does not cover.
template <class N>
NF_HD constexpr N bound_of(N cover) {
    if constexpr (std::is_floating_point_v<N>) return cover * -0.5;
    else return ~cover >> 1;  // (-cover - 1) / 2, rounded down
}

/// Calls body(z, y, x) with compile-time constants for the 26 neighbours, or the 8 in the last two axes; unrolled.
template <int Axes, class Body>
NF_HD constexpr void for_each_neighbour(const Body& body) {
    const auto one = [&](auto k) {
        constexpr int z = k.value / 9 - 1, y = k.value / 3 % 3 - 1, x = k.value % 3 - 1;
        if constexpr (k.value != 13 && (Axes == 3 || z == 0))
            body(std::integral_constant<int, z>{}, std::integral_constant<int, y>{}, std::integral_constant<int, x>{});
    };
    [&]<int... K>(std::integer_sequence<int, K...>) {
        (one(std::integral_constant<int, K>{}), ...);
    }(std::make_integer_sequence<int, 27>{});
}

// ---- the box of a crescent -----------------------------------------------------------------------------------------

/// Extents in cells towards lower and higher coordinates. They are sizes, never negated, because ptxas 13.0 loses the
/// sign of an operand when it merges two minima.
struct box {
    float down[3], up[3];
    float margin;  ///< largest amount by which float rounding can shorten an extent
};

/// Bounds the crescent. An earlier neighbour leaves only p.v <= k, for k < 0 a cap of the ball; those along an axis
/// also count for k >= 0. The boxes of all caps are intersected. `cover(z, y, x)` is a neighbour's, or never().
template <int Axes, class N, class Metric, class Cover>
NF_HD inline box box_of(N r2, const Metric& m, const Cover& cover) {
    const float whole = static_cast<float>(r2), radius = root_near(whole);
    const float safe = whole * (1 + 6e-7F);  // rounding errors of k^2 / |v|^2 and r2 stay below 6e-7 of r2
    box b;
    b.margin = 0.02F + radius * 2e-6F;
    for (int axis = 0; axis < 3; ++axis) b.down[axis] = b.up[axis] = radius * m.across[axis];
    for_each_neighbour<Axes>([&](auto z, auto y, auto x) {
        constexpr int step[3] = {z.value, y.value, x.value};
        constexpr int v = (z.value != 0 ? 1 : 0) | (y.value != 0 ? 2 : 0) | (x.value != 0 ? 4 : 0);
        const N e = cover(z.value, y.value, x.value);
        if (e <= never<N>() / 2) return;
        const N k = bound_of(e);
        if (v != 1 && v != 2 && v != 4 && k >= 0) return;
        const float kf = static_cast<float>(k), centre = kf * m.part[v], cap = safe - kf * centre;
        const float disc = cap > 0 ? root_near(cap) : 0.0F;
        for (int axis = 3 - Axes; axis < 3; ++axis) {
            const float own = centre + disc * m.along[v][axis], side = disc * m.across[axis];
            if (step[axis] > 0) b.up[axis] = least(b.up[axis], own);
            else if (step[axis] < 0) b.down[axis] = least(b.down[axis], own);
            else if (k < 0) b.up[axis] = least(b.up[axis], side), b.down[axis] = least(b.down[axis], side);
        }
    });
    return b;
}

/// The box in whole cells, clipped to the grid. Slices are perpendicular to `axis`, along which the box is thinnest.
struct frame {
    std::int32_t axis = 0;              ///< normal of the slices
    std::int32_t first = 0, last = -1;  ///< slices -first .. last; none if first + last < 0
    std::int32_t below = 0, above = 0;  ///< a slice's rows: -below .. above
};

/// Axis along which rows run, and axis along which a slice's rows follow each other, for slices across `axis`.
NF_HD constexpr int row_axis(int axis) { return axis == 2 ? 1 : 2; }
NF_HD constexpr int middle_axis(int axis) { return axis == 0 ? 1 : 0; }

template <int Axes>
NF_HD inline frame frame_of(const box& b, const std::int32_t (&at)[3], const grid3& g) {
    std::int32_t down[3] = {0, 0, 0}, up[3] = {0, 0, 0};
    constexpr float largest = 1e9F;  // exceeds every radius; the sum of two fits int32
    for (int axis = 3 - Axes; axis < 3; ++axis) {
        down[axis] = static_cast<std::int32_t>(std::floor(least(b.down[axis] + b.margin, largest)));
        up[axis] = static_cast<std::int32_t>(std::floor(least(b.up[axis] + b.margin, largest)));
        if (g.wraps[axis]) continue;
        down[axis] = least(down[axis], at[axis]), up[axis] = least(up[axis], g.size[axis] - 1 - at[axis]);
    }
    const std::int32_t z = down[0] + up[0], y = down[1] + up[1], x = down[2] + up[2];
    if (z < 0 || y < 0 || x < 0) return {};
    if (Axes == 2 || (z <= y && z <= x)) return {0, down[0], up[0], down[1], up[1]};
    if (y <= x) return {1, down[1], up[1], down[0], up[0]};
    return {2, down[2], up[2], down[0], up[0]};
}

// ---- slices and rows -----------------------------------------------------------------------------------------------

/// Weights along the row, across rows and across slices. With `Unit` all are 1, so that the compiler drops them.
template <class N, bool Unit>
struct turned {
    N row_, middle_, slice_;
    NF_HD constexpr N row() const { return Unit ? N{1} : row_; }
    NF_HD constexpr N middle() const { return Unit ? N{1} : middle_; }
    NF_HD constexpr N slice() const { return Unit ? N{1} : slice_; }
};
template <bool Unit, class N>
NF_HD constexpr turned<N, Unit> turned_to(const metric<N>& m, int axis) {
    if constexpr (Unit) return {1, 1, 1};
    else return {m.weight[row_axis(axis)], m.weight[middle_axis(axis)], m.weight[axis]};
}

/// One slice of a ball. The 26 neighbours merge into 9: among neighbours that differ only along the slices' axis the
/// largest cover counts.
/// cover[(b + 1) * 3 + a + 1] belongs to the neighbour at a cells along the row and b rows further.
template <class N>
struct slice {
    N cover[9];
    N rest;                     ///< r2 minus the slice's own squared distance; for integers minus one, too
    std::int32_t below, above;  ///< only rows -below .. above can hold uncovered cells
};

template <class N>
NF_HD constexpr N rest_of(N r2, N weight, std::int64_t s) {
    const N taken = weight * static_cast<N>(s) * static_cast<N>(s);
    if constexpr (std::is_floating_point_v<N>) return r2 - taken;
    else return r2 - 1 - taken;
}

/// Merges the covers of all neighbours, cover[(z + 1) * 9 + (y + 1) * 3 + x + 1], for slice s.
template <class N, bool Unit>
NF_HD inline slice<N> slice_at(const N* cover, N r2, const turned<N, Unit>& w, int axis, std::int32_t s) {
    constexpr int apart[3] = {9, 3, 1};
    const int row = apart[row_axis(axis)], middle = apart[middle_axis(axis)], across = apart[axis];
    const N shift = 2 * w.slice() * static_cast<N>(s);
    slice<N> t;
    for (int k = 0; k < 9; ++k) {
        const N* at = cover + 13 + (k / 3 - 1) * middle + (k % 3 - 1) * row;
        t.cover[k] = most(static_cast<N>(at[-across] - shift), at[0], static_cast<N>(at[across] + shift));
    }
    t.rest = rest_of(r2, w.slice(), s);
    t.below = t.above = 0;
    return t;
}

/// Narrows the rows of a slice (cover and rest set) to those that can hold uncovered cells; returns false if none can.
template <class N, bool Unit>
NF_HD inline bool narrow(slice<N>& t, const turned<N, Unit>& w, std::int32_t below, std::int32_t above) {
    if (t.rest < 0 || t.cover[4] >= 0) return false;
    t.below = below, t.above = above;
    if constexpr (std::is_floating_point_v<N>) return true;
    else {
        const auto bound = [](N cover) { return cover <= never<N>() / 2 ? unbound<N>() : bound_of(cover); };
        const N reach = floor_root(static_cast<N>(t.rest / w.row())),
                rise = floor_root(static_cast<N>(t.rest / w.middle()));
        const N right = least(reach, floor_quotient(bound(t.cover[5]), w.row()));
        const N left = least(reach, floor_quotient(bound(t.cover[3]), w.row()));
        if (left + right < 0) return false;
        const N pp = bound(t.cover[8]), np = bound(t.cover[6]), pn = bound(t.cover[2]), nn = bound(t.cover[0]);
        const N corner = least(least(pp, np), least(pn, nn));
        // No cell of the slice reaches far enough into a corner (Cauchy's inequality).
        if (corner < 0 && static_cast<double>(corner) * static_cast<double>(corner) >
                              static_cast<double>(w.row() + w.middle()) * static_cast<double>(t.rest) * (1 + 1e-9))
            return false;
        const N up = least(least(pp + w.row() * left, np + w.row() * right), (pp + np) >> 1);
        const N down = least(least(pn + w.row() * left, nn + w.row() * right), (pn + nn) >> 1);
        const N highest = floor_quotient(least(up, bound(t.cover[7])), w.middle());
        const N lowest = floor_quotient(least(down, bound(t.cover[1])), w.middle());
        t.above = static_cast<std::int32_t>(least(least(rise, highest), static_cast<N>(above)));
        t.below = static_cast<std::int32_t>(least(least(rise, lowest), static_cast<N>(below)));
        return t.above + t.below >= 0;
    }
}

/// Uncovered cells of a row: -half .. -left and right .. half; a side is empty if its bound exceeds half.
struct leftover {
    std::int32_t half = -1, left = 0, right = 0;
};

/// Finds the uncovered cells of row b of a slice, whose cells -half .. half lie in the ball. A neighbour covers an
/// interval; intervals without the row's middle are ignored, so that the union of the others is one interval.
template <class N, bool Unit>
NF_HD inline leftover row_of(const slice<N>& t, const turned<N, Unit>& w, std::int32_t b, std::int32_t half) {
    const N rise = w.middle() * static_cast<N>(b), rest = t.rest - rise * static_cast<N>(b), twice = 2 * rise;
    const N none = most(t.cover[1] - twice, t.cover[4], t.cover[7] + twice);
    N left = -1, right = -1;
    const N here = rest + none;
    if (here >= 0) {
        left = right = floor_root(Unit ? here : static_cast<N>(here / w.row()));
        if (left >= half) return {};
    }
    const N ahead = rest + most(t.cover[2] - twice, t.cover[5], t.cover[8] + twice) + w.row();
    if (ahead >= w.row()) {
        const N g = floor_root(Unit ? ahead : static_cast<N>(ahead / w.row()));
        left = most(left, g - 1), right = most(right, g + 1);
    }
    const N behind = rest + most(t.cover[0] - twice, t.cover[3], t.cover[6] + twice) + w.row();
    if (behind >= w.row()) {
        const N g = floor_root(Unit ? behind : static_cast<N>(behind / w.row()));
        left = most(left, g + 1), right = most(right, g - 1);
    }
    const N end = static_cast<N>(half) + 1;
    return {half, static_cast<std::int32_t>(least(left + 1, end)),
            static_cast<std::int32_t>(left < 0 ? N{1} : least(right + 1, end))};
}

/// Returns the half-width in cells of the ball's row b in a slice, or -1 if the ball misses the row.
template <class N, bool Unit>
NF_HD inline std::int32_t half_of(const slice<N>& t, const turned<N, Unit>& w, std::int32_t b) {
    const N rest = t.rest - w.middle() * static_cast<N>(b) * static_cast<N>(b);
    return rest < 0 ? -1 : static_cast<std::int32_t>(floor_root(Unit ? rest : static_cast<N>(rest / w.row())));
}

/// Returns the squared distance in double, rounded exactly as distance_transform rounds it.
NF_HD inline double distance2(const metric<double>& m, const double (&d)[3]) {
    double sum = m.weight[2] * (d[2] * d[2]);
    sum = sum + m.weight[1] * (d[1] * d[1]);
    return sum + m.weight[0] * (d[0] * d[0]);
}
/// half_of() for doubles: compares distance2() for the cells near the end of the row.
NF_HD inline std::int32_t half_in_double(const metric<double>& m, double r2, int axis, std::int32_t s, std::int32_t b) {
    double d[3];
    d[axis] = s, d[middle_axis(axis)] = b, d[row_axis(axis)] = 0;
    const auto inside = [&](double a) {
        d[row_axis(axis)] = a;
        return distance2(m, d) < r2;
    };
    if (!inside(0)) return -1;
    d[row_axis(axis)] = 0;
    const double rest = r2 - distance2(m, d);
    double half = std::floor(std::sqrt(rest / m.weight[row_axis(axis)]));
    while (inside(half + 1)) ++half;
    while (!inside(half)) --half;
    return static_cast<std::int32_t>(half);
}

}  // namespace nearfield::thickness
