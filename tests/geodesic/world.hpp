// Random obstacles, starts and goals for the tests of paths.
#pragma once

#include <cmath>

#include "exact/fills.hpp"
#include "nearfield/path.hpp"

namespace nearfield::test {

struct world {
    shape_t shape;
    std::vector<std::uint8_t> obstacles;
    std::vector<double> spacing;
    path_options options;
    std::vector<std::int64_t> starts, goals;

    [[nodiscard]] std::size_t rank() const { return shape.size(); }
    [[nodiscard]] std::int64_t cells() const { return cells_of(shape); }
    [[nodiscard]] std::vector<std::int64_t> at(std::int64_t i) const {
        std::vector<std::int64_t> x(rank());
        for (std::size_t k = rank(); k-- > 0; i /= shape[k]) x[k] = i % shape[k];
        return x;
    }
    [[nodiscard]] std::int64_t index(const std::int64_t* x) const {
        std::int64_t i = 0;
        for (std::size_t k = 0; k < rank(); ++k) i = i * shape[k] + x[k];
        return i;
    }
    [[nodiscard]] double length(std::size_t k) const { return spacing.empty() ? 1 : spacing[k]; }
    /// Squared clearances, by brute force.
    [[nodiscard]] std::vector<double> squares() const {
        std::vector<double> all;
        for (std::int64_t i = 0; i < cells(); ++i) {
            double least = INFINITY;
            for (std::int64_t j = 0; j < cells(); ++j) {
                if (obstacles[static_cast<std::size_t>(j)] == 0) continue;
                const auto a = at(i), b = at(j);
                double sum = 0;
                for (std::size_t k = 0; k < rank(); ++k)
                    sum += length(k) * length(k) * static_cast<double>((a[k] - b[k]) * (a[k] - b[k]));
                least = std::min(least, sum);
            }
            all.push_back(least);
        }
        return all;
    }
};

inline world drawn_world(std::uint64_t seed) {
    std::uint64_t state = seed << 24;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    world w;
    const auto axes = 1 + draw(3);
    constexpr std::uint64_t longest[] = {30, 14, 7};
    for (std::uint64_t k = 0; k < axes; ++k) w.shape.push_back(1 + static_cast<std::int64_t>(draw(longest[axes - 1])));
    const auto share = draw(40);
    for (std::int64_t i = 0; i < w.cells(); ++i) w.obstacles.push_back(draw(100) < share ? 1 : 0);
    if (draw(3) == 0)
        for (std::uint64_t k = 0; k < axes; ++k) w.spacing.push_back(1 + static_cast<double>(draw(3)));
    w.options.radius = draw(2) == 0 ? 0 : static_cast<double>(draw(5)) / 2;
    if (!w.spacing.empty()) w.options.spacing = {w.spacing.data(), w.spacing.size()};
    w.options.objective = static_cast<path_objective>(draw(3));
    w.options.smooth = draw(3) == 0;
    w.options.connectivity = draw(3) == 0 ? 1 : 8;
    const auto some = [&](std::vector<std::int64_t>& to, std::uint64_t count) {
        for (std::uint64_t n = 0; n < count; ++n)
            for (const std::int64_t x : w.at(static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(w.cells())))))
                to.push_back(x);
    };
    some(w.starts, 1 + draw(2)), some(w.goals, 1 + draw(3));
    return w;
}

}  // namespace nearfield::test
