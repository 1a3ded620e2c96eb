// The mathematics of the medial axis: a cell's vector to its nearest site, the test that puts two neighbours on the
// axis, and the test that one ball contains another.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "base/wide.hpp"
#include "nearfield/medial_axis.hpp"

namespace nearfield::medial_axes {

inline constexpr int most_axes = 3;

/// Shares have units of 2^-24: gamma^2, and cos^2 of an angle.
inline constexpr int share_bits = 24;

/// The rule that decides whether a pair of neighbours counts. Number is std::int32_t or std::int64_t if spacings are
/// multiples of one length, which is then the unit; else double. `Unit`: all lengths are 1.
template <class Number, bool Unit = false>
struct rule {
    Number weights[most_axes]{1, 1, 1};  ///< squared length of a step along each axis
    Number least = 1;                    ///< for pruning::constant: gamma^2, rounded down to an integer
    Number slack = 3;                    ///< for pruning::square_root: 2 C
    pruning prune = pruning::constant;
    bool obtuse = false;      ///< for pruning::angle: true above 90 degrees
    std::uint64_t share = 0;  ///< gamma^2 or cos^2, in 2^-24

    [[nodiscard]] NF_HD constexpr Number weight(int axis) const {
        if constexpr (Unit) return 1;
        else return weights[axis];
    }
    /// Dot product. In double each operation rounds once, in the order of distance_transform.
    [[nodiscard]] NF_HD constexpr Number dot(const Number* a, const Number* b) const {
        return (weight(2) * (a[2] * b[2]) + weight(1) * (a[1] * b[1])) + weight(0) * (a[0] * b[0]);
    }
};

/// A cell's vector to its nearest site, in cells, and its squared length. Both are 0 for sites, and if there is no
/// site.
template <class Number>
struct cell {
    Number to[most_axes]{};
    Number squared = 0;
};

/// Computes p - f(p) + q - f(q) with the opposite sign.
template <class Number>
NF_HD constexpr void add_ways(const cell<Number>& p, const cell<Number>& q, Number (&sum)[most_axes]) {
    for (int axis = 0; axis < most_axes; ++axis) sum[axis] = p.to[axis] + q.to[axis];
}

/// True if a * 2^24 > share * b; reaches() tests >=. Neither side is negative; both products stay below 2^128.
template <class Wide>
NF_HD constexpr bool exceeds(Wide a, std::uint64_t share, Wide b) {
    return a * (1 << share_bits) > static_cast<Wide>(share) * b;
}
template <class Wide>
NF_HD constexpr bool reaches(Wide a, std::uint64_t share, Wide b) {
    return a * (1 << share_bits) >= static_cast<Wide>(share) * b;
}

/// Converts a non-negative integer to a type that can hold its square.
NF_HD constexpr uint128 roomy(std::int64_t x) { return static_cast<uint128>(static_cast<std::uint64_t>(x)); }
NF_HD constexpr double roomy(double x) { return x; }

/// True if the pruning keeps a pair q = p + direction * (step along `axis`), whose sites are e apart. Uses the formulas
/// of nearfield::pruning, squared if they have a root. Vectors from the middle of p and q are doubled to stay integers.
template <class Number, bool Unit>
NF_HD constexpr bool keeps(const rule<Number, Unit>& by, const cell<Number>& p, const cell<Number>& q, int axis,
                           int direction, const Number (&e)[most_axes], Number apart2) {
    if (by.prune == pruning::constant) return apart2 > by.least;
    using wide_number = std::conditional_t<std::is_floating_point_v<Number>, double, std::int64_t>;
    if (by.prune == pruning::angle) {
        Number a[most_axes]{}, b[most_axes]{};
        for (int each = 0; each < most_axes; ++each) {
            const Number step = static_cast<Number>(each == axis ? direction : 0);
            a[each] = 2 * p.to[each] - step, b[each] = 2 * q.to[each] + step;
        }
        const auto dot = static_cast<wide_number>(by.dot(a, b));
        const auto a2 = static_cast<wide_number>(by.dot(a, a)), b2 = static_cast<wide_number>(by.dot(b, b));
        const auto dot2 = roomy(dot < 0 ? -dot : dot) * roomy(dot < 0 ? -dot : dot), product = roomy(a2) * roomy(b2);
        if (by.obtuse) return dot < 0 && reaches(dot2, by.share, product);
        return dot <= 0 || !exceeds(dot2, by.share, product);
    }
    Number sum[most_axes]{};
    add_ways(p, q, sum);
    const auto n = static_cast<wide_number>(by.dot(sum, sum));
    if (by.prune == pruning::linear) return exceeds(roomy(static_cast<wide_number>(apart2)), by.share, roomy(n));
    const auto more = static_cast<wide_number>(by.weight(axis) * (static_cast<Number>(direction) * e[axis]));
    const wide_number doubled = 2 * static_cast<wide_number>(apart2) + 4 * more - static_cast<wide_number>(by.slack);
    return doubled > 0 && exceeds(roomy(doubled) * roomy(doubled), by.share, 4 * roomy(n));
}

/// Result for a pair of neighbours: if `counts`, p is on the axis for side >= 0, and q for side <= 0.
template <class Number>
struct bond {
    bool counts = false;
    Number side = 0;
    Number apart2 = 0;  ///< squared distance of the two sites
};

/// Compares two neighbours. e.(f(p) + f(q) - p - q) equals |f(p) - p|^2 - |f(q) - q|^2 minus the step's share, because
/// f(p) - f(q) is the difference of the two vectors minus the step. So coordinates relative to the cells suffice.
///
/// `Constant`: the rule's pruning is known to be constant, so that loops over rows have no branch.
template <bool Constant = false, class Number, bool Unit>
NF_HD constexpr bond<Number> between(const rule<Number, Unit>& by, const cell<Number>& p, const cell<Number>& q,
                                     int axis, int direction = 1) {
    Number e[most_axes]{};
    for (int each = 0; each < most_axes; ++each)
        e[each] = p.to[each] - q.to[each] - static_cast<Number>(each == axis ? direction : 0);
    bond<Number> found;
    found.apart2 = by.dot(e, e);
    if constexpr (std::is_floating_point_v<Number>) {
        Number sum[most_axes]{};
        add_ways(p, q, sum);
        found.side = by.dot(e, sum);  // products of whole numbers: 0 where it has to be
    } else {
        found.side =
            (p.squared - q.squared) - by.weight(axis) * (static_cast<Number>(direction) * (p.to[axis] + q.to[axis]));
    }
    const Number steps = Unit ? found.apart2 : e[0] * e[0] + e[1] * e[1] + e[2] * e[2];
    if constexpr (Constant) found.counts = (steps > 1) & (found.apart2 > by.least);
    else found.counts = steps > 1 && keeps(by, p, q, axis, direction, e, found.apart2);
    return found;
}

/// Shortens a vector's component along a periodic axis of `size` cells; of two equally short ones takes the lower.
NF_HD constexpr std::int64_t shorter_way(std::int64_t way, std::int64_t size) {
    if (2 * way >= size) return way - size;
    return 2 * way < -size ? way + size : way;
}

/// Vector from a cell to the nearest site beyond the closed borders, ignoring the grid's own sites.
template <class Number, bool Unit>
NF_HD constexpr cell<Number> nearest_border(const rule<Number, Unit>& by, const std::int64_t* at,
                                            const std::int64_t* size, const border* beyond) {
    cell<Number> found;
    bool any = false;
    // Ends are compared in the order of ties: low ends from the last axis on, then high ends from the first axis on.
    for (int turn = 0; turn < 2 * most_axes; ++turn) {
        const bool low = turn < most_axes;
        const int axis = low ? most_axes - 1 - turn : turn - most_axes;
        if (beyond[axis] != border::closed) continue;
        const auto way = static_cast<Number>(low ? -1 - at[axis] : size[axis] - at[axis]);
        const Number squared = by.weight(axis) * (way * way);
        if (any && !(squared < found.squared)) continue;
        any = true;
        found = cell<Number>{};
        found.to[axis] = way, found.squared = squared;
    }
    return found;
}

/// True if every lattice point p with |p|^2 < r2 has |p - v|^2 < other2, by Cauchy: p.v is an integer of at most
/// floor(sqrt((r2 - 1) v2)). Does not find every containment. Requires 0 < r2, and r2 * v2 below 2^60.
NF_HD constexpr bool contains(std::uint64_t other2, std::uint64_t r2, std::uint64_t v2) {
    if (other2 < r2 + v2) return false;
    const std::uint64_t half = (other2 - r2 - v2) / 2;
    return (half + 1) * (half + 1) > (r2 - 1) * v2;
}

namespace self_check {
constexpr cell<std::int64_t> at(std::int64_t z, std::int64_t y, std::int64_t x) {
    return {{z, y, x}, z * z + y * y + x * x};
}
constexpr rule<std::int64_t> plain{};
// A line of one cell between two sites: the cell is on the axis; the site beside it is not in the shape.
static_assert(between(plain, at(0, 0, -1), at(0, 0, 0), 2).counts &&
              between(plain, at(0, 0, -1), at(0, 0, 0), 2).side >= 0);
// Two cells between two sites: both are on the axis.
static_assert(between(plain, at(0, 0, -1), at(0, 0, 1), 2).counts &&
              between(plain, at(0, 0, -1), at(0, 0, 1), 2).side == 0);
// Two cells side by side above a wall: their sites are neighbours, so the pair does not count.
static_assert(!between(plain, at(0, -5, 0), at(0, -5, 0), 2).counts);
static_assert(between(plain, at(0, 0, 1), at(0, 0, -1), 2, -1).counts);
static_assert(shorter_way(3, 6) == -3 && shorter_way(-3, 6) == -3 && shorter_way(4, 7) == -3 &&
              shorter_way(-4, 7) == 3);
static_assert(shorter_way(0, 1) == 0 && shorter_way(-1, 2) == -1 && shorter_way(1, 2) == -1);
// p|^2 < 2 is a cell and its face neighbours. A ball with radius^2 5 one step away contains all of them.
static_assert(contains(5, 2, 1) && !contains(4, 2, 1) && contains(3, 1, 2) && !contains(2, 1, 2));
}  // namespace self_check

}  // namespace nearfield::medial_axes
