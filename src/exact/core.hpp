// The mathematics of the exact engine, shared by host and device: number types, the packing of a site into one integer,
// the tie rule, and the limits within which all of it is exact.
//
// The engine works in line passes, last axis first. Along one line, row q gets the minimum over rows r of
//     value(r) + weight * (q - r)^2
// where value(r) is the result of the passes before at row r. Two facts carry everything:
//   1. No row at distance d or more can beat a value below weight * d^2, so a search outward from q may stop.
//   2. The winning row never moves back as q moves on (the terms are parabolas of equal width): the winners of all
//      rows between two rows lie between the winners of these two.
//      This holds under any tie rule.
// Ties are decided by the packed site (`key`): smallest last coordinate first, then the axis before it, and so on.
#pragma once

#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::exact {

/// The number type of a problem; the smallest exact one is chosen.
enum class tier : std::uint8_t { int32, int64, float64 };

/// Value of a row without a site. For integers it exceeds every real value, and adding any real squared distance to it
/// does not overflow; `largest` squared distances stay below it.
template <class V>
NF_HD constexpr V no_site() {
    if constexpr (std::is_floating_point_v<V>) return std::numeric_limits<V>::infinity();
    else return V{1} << (8 * sizeof(V) - 2);
}
static_assert(no_site<std::int32_t>() == 1 << 30 && no_site<std::int64_t>() == std::int64_t{1} << 62);
static_assert(no_site<std::int32_t>() + (no_site<std::int32_t>() - 1) == std::numeric_limits<std::int32_t>::max());

/// Returns weight * distance^2; in double the square is exact up to distances of 2^26 cells and the product is rounded
/// once. `Steps` is any signed integer type that holds the square.
template <class V, class Steps>
NF_HD constexpr V along(V weight, Steps distance) {
    return weight * static_cast<V>(distance * distance);
}

/// A site packed so that comparing two packed sites applies the tie rule: the last axis in the highest bits.
/// Signed, because SIMD compares signed integers faster; -1 is "no site", and stays -1 under `with`.
template <class K>
inline constexpr K no_key = -1;

struct key_layout {
    int shift[max_rank]{};
    int bits[max_rank]{};

    [[nodiscard]] constexpr int total() const {
        int sum = 0;
        for (int b : bits) sum += b;
        return sum;
    }
    template <class K>
    NF_HD constexpr K field(int axis, std::int64_t coordinate) const {
        return static_cast<K>(static_cast<K>(coordinate) << shift[axis]);
    }
    template <class K>
    NF_HD constexpr K with(K key, int axis, std::int64_t coordinate) const {
        return key | field<K>(axis, coordinate);
    }
    template <class K>
    NF_HD constexpr K coordinate(K key, int axis) const {
        using U = std::make_unsigned_t<K>;
        return static_cast<K>((static_cast<U>(key) >> shift[axis]) & ((U{1} << bits[axis]) - 1));
    }
};

/// Computes field widths for a grid whose axes have `size` cells; axes before `first` number images and take no bits.
constexpr key_layout layout_for(const std::int64_t* size, int rank, int first = 0) {
    key_layout layout;
    int at = 0;
    for (int axis = first; axis < rank; ++axis) {
        layout.shift[axis] = at;
        layout.bits[axis] = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(size[axis] - 1)));
        at += layout.bits[axis];
    }
    return layout;
}

/// Keys of up to 31 bits fit an int32 with its sign bit clear.
inline constexpr int narrow_key_bits = 31;
inline constexpr int wide_key_bits = 63;

/// Returns the cells between two coordinates of one axis, the shorter way round if it is periodic.
template <class Steps>
NF_HD constexpr Steps apart(Steps a, Steps b, Steps size, bool periodic) {
    const Steps direct = a < b ? b - a : a - b;
    return periodic && size - direct < direct ? size - direct : direct;
}

/// Returns the number that is squared for cells `distance` apart: the distance or, if distances end at faces, twice the
/// distance minus one. In that case all values of a problem are in quarters.
template <class Steps>
NF_HD constexpr Steps reach(Steps distance, bool half_cell) {
    if (!half_cell) return distance;
    return distance > 0 ? 2 * distance - 1 : 0;
}

/// Metric of a grid for both backends. Axes of length 1 have been dropped, so rank is 1 to 8 and sizes are 2 or more,
/// except for a grid of a single cell. Axes before `first_axis` number images. Passed to kernels by value.
template <class V>
struct metric {
    int rank = 1;
    std::int64_t size[max_rank]{};
    V weight[max_rank]{};
    key_layout keys;
    int first_axis = 0;
    bool half_cell = false;
    bool periodic[max_rank]{};

    /// Returns the term that `distance` cells along an axis add to a squared distance.
    template <class Steps>
    NF_HD constexpr V term(int axis, Steps distance) const {
        return along(weight[axis], reach(distance, half_cell));
    }
    /// Returns that term for two coordinates.
    template <class Steps>
    NF_HD constexpr V between(int axis, Steps a, Steps b) const {
        return term(axis, apart(a, b, static_cast<Steps>(size[axis]), periodic[axis]));
    }
};

/// Returns true when (value, key) `a` is nearer than `b`.
template <class V, class K>
NF_HD constexpr bool nearer(V a, K a_key, V b, K b_key) {
    return a < b || (a == b && a_key < b_key);
}

namespace self_check {
constexpr std::int64_t sizes[] = {5, 1024, 1025};
constexpr key_layout layout = layout_for(sizes, 3);
static_assert(layout.total() == 3 + 10 + 11);
constexpr std::int32_t key = layout.with(layout.with(layout.field<std::int32_t>(2, 1024), 1, 1023), 0, 4);
static_assert(layout.coordinate(key, 2) == 1024 && layout.coordinate(key, 1) == 1023 && layout.coordinate(key, 0) == 4);
static_assert(layout.field<std::int32_t>(2, 1) > layout.with(layout.field<std::int32_t>(1, 1023), 0, 4),
              "last axis first");
static_assert(layout.with(no_key<std::int32_t>, 1, 7) == no_key<std::int32_t>);
static_assert(layout_for(sizes, 3, 1).coordinate(key, 0) == 0, "an axis that numbers images has no coordinate");
static_assert(apart(1, 8, 10, false) == 7 && apart(1, 8, 10, true) == 3 && apart(8, 1, 10, true) == 3);
static_assert(reach(3, false) == 3 && reach(3, true) == 5 && reach(0, true) == 0);
static_assert(nearer(1, 5, 2, 0) && nearer(2, 0, 2, 5) && !nearer(2, 5, 2, 5));
}  // namespace self_check

}  // namespace nearfield::exact
