// Tests whether a ball lies inside a neighbouring centre's ball. Most balls do: this is the first and cheapest test.
#pragma once

#include "thickness/core.hpp"

namespace nearfield::thickness {

/// Smallest R2 - r2 for which the ball of a neighbour at v, of squared radius R2, contains B(c): R2 > |p - v|^2 for all
/// p of B(c). By Cauchy's inequality |v|^2 + 2 floor(sqrt((r2 - 1) |v|^2)) is enough, since p.v is an integer.
NF_HD inline std::int32_t need_of(std::int32_t r2, std::int32_t v2) { return v2 + 2 * floor_root((r2 - 1) * v2); }

/// Makes the same test for any weights. In double it never succeeds: radii differ by |v| at most, no margin is left.
template <class N>
NF_HD inline bool contains(N larger2, N r2, N v2) {
    if constexpr (std::is_floating_point_v<N>) return false;
    else {
        const std::int64_t rest = static_cast<std::int64_t>(larger2) - r2 - v2;
        if (rest < 0) return false;
        const double product = static_cast<double>(r2 - 1) * static_cast<double>(v2);
        if (product > 4e18) return static_cast<double>(rest) >= 2.000001 * std::sqrt(product);
        return rest >= 2 * floor_root(static_cast<std::int64_t>(r2 - 1) * v2);
    }
}

/// On unit grids a table holds the exact bound for smaller squared radii; it drops a quarter of the balls that
/// need_of() keeps. An entry packs R2 - r2 for |v|^2 = 1, 2, 3 in ten bits each; the largest is 3 + 2 * 110.
inline constexpr std::int32_t table_size = 4096;

/// Raises far[k], the largest |p - v|^2 + 1 over the p of plane x, for v = (1,0,0), (1,1,0) and (1,1,1): the worst p
/// opposes v.
NF_HD inline void raise_needs(std::int32_t (&far)[3], std::int32_t r2, std::int32_t x, int axes) {
    for (std::int32_t y = 0; x * x + y * y < r2; ++y) {
        const std::int32_t z = axes == 3 ? floor_root(r2 - 1 - x * x - y * y) : 0, p2 = x * x + y * y + z * z;
        far[0] = most(far[0], p2 + 2 * x + 2);
        far[1] = most(far[1], p2 + 2 * (x + y) + 3);
        far[2] = most(far[2], p2 + 2 * (x + y + z) + 4);
    }
}
NF_HD inline std::uint32_t packed_needs(const std::int32_t (&far)[3], std::int32_t r2) {
    const auto need = [&](int v) { return static_cast<std::uint32_t>(most(far[v] - r2, 0)); };
    return need(0) | need(1) << 10 | need(2) << 20;
}
inline std::uint32_t table_entry(std::int32_t r2, int axes) {
    std::int32_t far[3] = {0, 0, 0};
    for (std::int32_t x = 0; x * x < r2; ++x) raise_needs(far, r2, x, axes);
    return packed_needs(far, r2);
}

/// Returns whether the ball of squared radius r2 lies inside a neighbour's ball. `beside`, `edge` and `corner` are the
/// largest squared radii of the neighbours with |v|^2 = 1, 2, 3, or 0 if there is none.
NF_HD inline bool is_contained(const std::uint32_t* table, std::int32_t r2, std::int32_t beside, std::int32_t edge,
                               std::int32_t corner) {
    if (r2 < table_size) {
        const std::uint32_t need = table[r2];
        return beside - r2 >= static_cast<std::int32_t>(need & 1023) ||
               edge - r2 >= static_cast<std::int32_t>(need >> 10 & 1023) ||
               corner - r2 >= static_cast<std::int32_t>(need >> 20);
    }
    return beside - r2 >= need_of(r2, 1) || edge - r2 >= need_of(r2, 2) || corner - r2 >= need_of(r2, 3);
}

}  // namespace nearfield::thickness
