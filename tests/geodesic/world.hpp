// Random obstacles, starts and goals for the tests of paths.
#pragma once

#include <algorithm>
#include <cmath>

#include "geodesic/dijkstra.hpp"
#include "nearfield/path.hpp"

namespace nearfield::test {

struct world {
    shape_t shape;
    std::vector<std::uint8_t> obstacles;
    std::vector<double> spacing;
    std::vector<border> ends{};  ///< empty: open
    path_options options;
    std::vector<std::int64_t> starts, goals;
    std::vector<clearance_cost> costs{};

    [[nodiscard]] std::size_t rank() const { return shape.size(); }
    [[nodiscard]] std::int64_t cells() const { return cells_of(shape); }
    [[nodiscard]] std::vector<std::int64_t> at(std::int64_t i) const {
        std::vector<std::int64_t> x(rank());
        for (std::size_t k = rank(); k-- > 0; i /= shape[k]) x[k] = i % shape[k];
        return x;
    }
    [[nodiscard]] bool wraps(std::size_t k) const { return !ends.empty() && ends[k] == border::periodic; }
    /// Number of a cell; -1 outside the grid.
    [[nodiscard]] std::int64_t index(const std::int64_t* x) const {
        std::int64_t i = 0;
        for (std::size_t k = 0; k < rank(); ++k) {
            const std::int64_t n = shape[k], at = wraps(k) ? (x[k] % n + n) % n : x[k];
            if (at < 0 || at >= n) return -1;
            i = i * n + at;
        }
        return i;
    }
    [[nodiscard]] double length(std::size_t k) const { return spacing.empty() ? 1 : spacing[k]; }
    void set_ends(std::vector<border> given) {
        ends = std::move(given);
        options.border = ends.empty() ? borders{} : borders(ends.data(), ends.size());
    }
    /// Plans by a table: entries of wholes and halves, whose squares are exact.
    void set_costs(std::vector<clearance_cost> given) {
        costs = std::move(given), options.objective = path_objective::safe, options.clearance_costs = costs;
    }
    /// The price of a cell in parts of 1/16.
    [[nodiscard]] std::int64_t price(double square) const {
        for (const auto& [clearance, cost] : costs)
            if (square <= clearance * clearance) return static_cast<std::int64_t>(std::nearbyint(16 * cost));
        if (!costs.empty()) return 16;
        const double shortest = spacing.empty() ? 1 : *std::min_element(spacing.begin(), spacing.end());
        const double away = std::max(0.0, (std::sqrt(square) - options.radius) / (8 * shortest));
        return static_cast<std::int64_t>(std::nearbyint(16 * (1 + 4 * std::exp(-away))));
    }
    /// Squared clearances by brute force, over three tiles along periodic axes.
    [[nodiscard]] std::vector<double> squares() const {
        std::vector<double> all;
        for (std::int64_t i = 0; i < cells(); ++i) {
            double least = INFINITY;
            for (std::int64_t j = 0; j < cells(); ++j) {
                if (obstacles[static_cast<std::size_t>(j)] == 0) continue;
                const auto a = at(i), b = at(j);
                double sum = 0;
                for (std::size_t k = 0; k < rank(); ++k) {
                    std::int64_t apart = std::abs(a[k] - b[k]);
                    for (const int tile : {-1, 1})
                        if (wraps(k)) apart = std::min(apart, std::abs(a[k] - b[k] + tile * shape[k]));
                    sum += length(k) * length(k) * static_cast<double>(apart * apart);
                }
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
    std::vector<border> ends;
    for (std::uint64_t k = 0; k < axes; ++k) ends.push_back(draw(2) == 0 ? border::open : border::periodic);
    if (draw(2) == 0) w.set_ends(ends);
    if (draw(4) == 0) {
        std::vector<clearance_cost> costs;
        double at = -0.5;
        for (std::uint64_t k = 0, entries = 1 + draw(5); k < entries; ++k) {
            at += 0.5 * static_cast<double>(1 + draw(4));
            costs.push_back({at, draw(5) == 0 ? 1 / 16.0 : static_cast<double>(1 + draw(9 * 32)) / 32 + 1 / 16.0});
        }
        if (draw(3) == 0) costs.back().clearance = INFINITY;
        w.set_costs(costs);
    }
    return w;
}

/// The problem for Dijkstra's algorithm in cells of at least a squared clearance.
inline geodesic_case planner_case(const world& w, const std::vector<double>& squares, double least = -1) {
    geodesic_case c;
    c.shape = w.shape, c.ends = w.ends, c.cut_corners = false, c.rule = cost_rule::both;
    const double shortest = w.spacing.empty() ? 1 : *std::min_element(w.spacing.begin(), w.spacing.end());
    for (const priced_step& each : euclidean_steps(static_cast<int>(w.rank()), 1, w.options.spacing, 4096 / shortest)) {
        std::int64_t changes = 0;
        for (const std::int8_t by : each.by) changes += std::abs(by);
        if (changes <= w.options.connectivity) c.steps.push_back(each);
    }
    c.seeds.assign(w.obstacles.size(), 0);
    const double radius = w.options.radius;
    for (const double square : squares) {
        c.mask.push_back(square > radius * radius && square >= least ? 1 : 0);
        if (w.options.objective == path_objective::safe) c.cost.push_back(w.price(square));
    }
    for (std::size_t g = 0; g < w.goals.size(); g += w.rank())
        c.seeds[static_cast<std::size_t>(w.index(&w.goals[g]))] = 1;
    return c;
}

}  // namespace nearfield::test
