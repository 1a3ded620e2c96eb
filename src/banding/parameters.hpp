// Chooses the numbers of bands: those the caller gives, else those that were fastest when measured.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "banding/core.hpp"
#include "nearfield/methods.hpp"

namespace nearfield::bands {

struct parameters {
    int m1 = 1, m2 = 1, m3 = 1;
};

/// Fastest numbers of bands for grids whose longest side is at least `side`.
struct measured {
    std::int64_t side;
    parameters best;
};

// H200, 2026-11-22: fastest of 1 to 256 for m1, and of 1 to 32 for m2 and m3, each phase timed alone, with random sites
// of 0.01 %, 1 % and 50 %.
inline constexpr measured on_device_2d[] = {{0, {16, 16, 16}},    {1024, {32, 32, 16}}, {2048, {32, 32, 16}},
                                            {4096, {32, 32, 16}}, {8192, {16, 16, 8}},  {16384, {8, 16, 8}}};
inline constexpr measured on_device_3d[] = {{0, {8, 8, 16}}, {128, {4, 4, 4}}, {256, {4, 1, 2}}};

/// Limits the numbers of bands to the positions. On the host each defaults to 1, since threads share out lines there.
inline parameters chosen(const methods::grid& g, const banding& how, bool device) {
    const bool volume = g.size[0] > 1;
    parameters best;
    if (device) {
        const std::int64_t side = std::max({g.size[0], g.size[1], g.size[2]});
        const auto look_up = [&](const auto& table) {
            for (const measured& row : table)
                if (side >= row.side) best = row.best;
        };
        if (volume) look_up(on_device_3d);
        else look_up(on_device_2d);
    }
    const auto within = [](int asked, int otherwise, std::int64_t most) {
        return static_cast<int>(std::min<std::int64_t>(asked > 0 ? asked : otherwise, most));
    };
    const std::int64_t flooded = volume ? g.size[0] : g.size[1],
                       pruned = volume ? std::max(g.size[1], g.size[2]) : g.size[2];
    return {within(how.m1, best.m1, std::min<std::int64_t>(most_m1, flooded)),
            within(how.m2, best.m2, std::min<std::int64_t>(most_m2, pruned)), within(how.m3, best.m3, most_m3)};
}

/// True if (difference of two squared distances) * (difference of two positions) stays below 2^62.
constexpr bool fits_64_bits(const methods::grid& g) {
    double largest = 0, longest = 0;
    for (int axis = 0; axis < 3; ++axis) {
        const double side = static_cast<double>(g.size[axis]);
        largest += g.weight[axis] * side * side, longest = std::max(longest, side);
    }
    return largest * longest < 4611686018427387904.0;
}

/// Calls body(metric<V>, Key, Product) with the types in which the grid is solved; its weights are integers.
template <class Body>
void with_products(const methods::grid& g, const Body& body) {
    methods::with_types(g, [&](const auto& m, auto key) {
        using V = std::remove_cvref_t<decltype(m.weight[0])>;
        if constexpr (std::is_same_v<V, std::int32_t>) body(m, key, std::int64_t{});
        else if constexpr (std::is_same_v<V, std::int64_t>) {
            if (fits_64_bits(g)) body(m, key, std::int64_t{});
            else body(m, key, int128{});
        }
    });
}

}  // namespace nearfield::bands
