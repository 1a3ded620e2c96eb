// Mathematics on labels that host and device share: which row of a table measures a value, how a cell's number becomes
// coordinates, which neighbours touch.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "nearfield/components.hpp"

namespace nearfield::components {

inline constexpr int most_axes = 3;
inline constexpr std::int64_t most_cells_a_side = std::int64_t{1} << 40;

/// An array of at most three axes for loops and kernels: missing axes are put in front and have one cell.
struct array3 {
    const void* data = nullptr;
    std::int64_t side[3] = {1, 1, 1}, step[3] = {0, 0, 1};

    NF_HD constexpr std::int64_t lines() const { return side[0] * side[1]; }
    NF_HD constexpr std::int64_t cells() const { return lines() * side[2]; }
    /// Element offset of a line along the last axis.
    NF_HD constexpr std::int64_t line_at(std::int64_t line) const {
        const std::int64_t plane = line / side[1];
        return plane * step[0] + (line - plane * side[1]) * step[1];
    }
    /// True if the cells follow one another in memory without a gap.
    NF_HD constexpr bool is_dense() const {
        return (side[2] == 1 || step[2] == 1) && (side[1] == 1 || step[1] == side[2]) &&
               (side[0] == 1 || step[0] == side[1] * side[2]);
    }
};

template <class Element, class Place>
array3 array3_of(const any_view<Element, Place>& v) {
    array3 a;
    a.data = v.data;
    for (int axis = 0; axis < v.rank; ++axis) {
        a.side[most_axes - v.rank + axis] = v.shape[static_cast<std::size_t>(axis)];
        a.step[most_axes - v.rank + axis] = v.stride[static_cast<std::size_t>(axis)];
    }
    return a;
}

/// The row that measures a value: value - 1, or -1 for a value that has none.
template <class T>
NF_HD constexpr std::int64_t row_of(T value, std::int64_t rows) {
    if constexpr (std::is_same_v<T, std::uint64_t>)
        return value - 1 < static_cast<std::uint64_t>(rows) ? static_cast<std::int64_t>(value - 1) : -1;
    else {
        const auto wide = static_cast<std::int64_t>(value);
        return wide >= 1 && wide <= rows ? wide - 1 : -1;
    }
}

/// A step to a neighbouring cell that comes later in raster order.
struct step3 {
    int by[3] = {0, 0, 0};
    NF_HD constexpr int changes() const { return (by[0] != 0) + (by[1] != 0) + (by[2] != 0); }
    /// The axis of a step that changes one coordinate.
    NF_HD constexpr int axis() const { return by[0] != 0 ? 0 : by[1] != 0 ? 1 : 2; }
};

/// The forward half of the neighbours that change at most `connectivity` coordinates: at most 13.
struct steps3 {
    step3 all[13];
    int count = 0;
};
constexpr steps3 forward_steps(int axes, int connectivity) {
    steps3 found;
    for (int k = 14; k < 27; ++k) {  // 13 is no step; later ones lead forward
        const step3 s{{k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1}};
        if (s.changes() > connectivity || (axes < 3 && s.by[0] != 0) || (axes < 2 && s.by[1] != 0)) continue;
        found.all[found.count++] = s;
    }
    return found;
}
static_assert(forward_steps(3, 3).count == 13 && forward_steps(3, 2).count == 9 && forward_steps(3, 1).count == 3);
static_assert(forward_steps(2, 2).count == 4 && forward_steps(2, 1).count == 2 && forward_steps(1, 1).count == 1);

/// Number of contacts between two values.
struct touch {
    std::int64_t a = 0, b = 0;
    std::uint64_t pairs = 0, faces[3] = {0, 0, 0};  ///< faces by the axis that they are normal to
};

/// A random seed, drawn once a process, so that no caller can choose values that collide in a hash table. Results do
/// not depend on it.
struct hash_seed {
    std::uint64_t plus = 0, times = 1;  ///< `times` is odd
};
hash_seed process_seed();

/// Spreads keys over a table of 2^n places. Multiplies by a random number, whose upper bits are universal
/// (Dietzfelbinger et al., "A reliable randomized algorithm for the closest-pair problem", J. Algorithms 25, 1997),
/// then mixes all bits by the last step of MurmurHash3 (Appleby, public domain).
NF_HD constexpr std::uint64_t scattered(std::uint64_t x, const hash_seed& seed) {
    x = (x + seed.plus) * seed.times;
    x = (x ^ x >> 33) * 0xff51afd7ed558ccdu;
    x = (x ^ x >> 33) * 0xc4ceb9fe1a85ec53u;
    return x ^ x >> 33;
}

}  // namespace nearfield::components
