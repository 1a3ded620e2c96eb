// Which floods a planner asks for, and the prices of their cells.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "geodesic/planner.hpp"
#include "geodesic/world.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// Fields of a host that list the limits of floods.
class limited_floods final : public geodesics::path_fields {
public:
    explicit limited_floods(const any_input<host>& obstacles)
        : path_fields(tiling_of(obstacles, 0)), of_(on_, obstacles) {}

    void measure(const distance_options& how) override { of_.measure(how); }
    void flood(const geodesics::cell_rule& rule, std::span<const std::int64_t> seeds,
               const geodesic_options& how) override {
        limits.push_back(how.max_cost), of_.flood(rule, seeds, how);
        prices.clear();
        for (std::int64_t i = 0; i < where().size[0] * where().size[1]; ++i) prices.push_back(rule.price(squared(i)));
    }
    [[nodiscard]] double squared(std::int64_t place) override { return of_.squared(place); }
    [[nodiscard]] std::int64_t cost(std::int64_t place) override { return of_.cost(place); }
    [[nodiscard]] std::vector<double> widths(const geodesics::cell_rule& rule, std::span<const std::int64_t> starts,
                                             std::span<const std::int64_t> goals, const borders& ends) override {
        return of_.widths(rule, starts, goals, ends);
    }
    [[nodiscard]] std::vector<std::int64_t> components(const geodesics::cell_rule& rule,
                                                       std::span<const std::int64_t> cells,
                                                       const borders& ends) override {
        return of_.components(rule, cells, ends);
    }
    [[nodiscard]] host_scratch<std::uint8_t> thinned(const geodesics::cell_rule& rule,
                                                     const skeleton_options& how) override {
        return of_.thinned(rule, how);
    }

    std::vector<double> limits;
    std::vector<std::uint16_t> prices;  ///< of the cells in the last flood

private:
    const host on_{1, {}};
    geodesics::host_fields of_;
};

/// The table of nav2's costs prices each cell as an inflated costmap does, whatever its rounding.
TEST(Path, TakesTheCostsOfNav2) {
    std::vector<std::uint8_t> obstacles(90 * 80), bytes(obstacles.size());
    for (std::size_t i = 0; i < obstacles.size(); ++i) obstacles[i] = mix(i) % 200 == 0 ? costmap_lethal : costmap_free;
    const std::int64_t shape[] = {90, 80}, start[] = {1, 1}, goal[] = {88, 78};
    const auto map = any_input<host>::contiguous(obstacles.data(), dtype::uint8, shape);
    for (const inflation_options& o :
         {inflation_options{},
          {.resolution = 0.1, .inscribed_radius = 0.2, .inflation_radius = 1, .cost_scaling_factor = 2},
          {.resolution = 1, .inscribed_radius = 0, .inflation_radius = 7.5, .cost_scaling_factor = 0},
          {.resolution = 0.05, .inscribed_radius = 0.3, .inflation_radius = 0.1}}) {
        inflate_costmap(host{}, map, any_output<host>::contiguous(bytes.data(), dtype::uint8, shape), o);
        for (const double weight : {2.0, 4.0}) {
            const auto table = nav2_clearance_costs(o, weight);
            const auto falls = [](const clearance_cost& a, const clearance_cost& b) {
                return !(a.clearance < b.clearance);
            };
            ASSERT_EQ(std::adjacent_find(table.begin(), table.end(), falls), table.end()) << "plan_path() refuses it";
            path_options p{.spacing = o.resolution, .objective = path_objective::safe, .clearance_costs = table};
            limited_floods fields(map);
            geodesics::planner(fields, goal, p).plan(start);
            for (std::size_t i = 0; i < bytes.size(); ++i)
                ASSERT_EQ(fields.prices[i], std::nearbyint(16 * (1 + weight * std::min<int>(bytes[i], 252) / 252)))
                    << i << ": " << int{bytes[i]};
        }
    }
    expect_refused([&] { return nav2_clearance_costs({.inscribed_radius = -1}); }, {"inscribed_radius"});
    expect_refused([&] { return nav2_clearance_costs({}, NAN); }, {"weight"});
}

/// Searches end where they are near: a goal beside the start takes one flood with a limit, one behind a wall some, and
/// one at the other end of the map one without. Paths are those that also lead to a far start, which needs all costs.
TEST(Path, NearGoalsNeedNoWholeFlood) {
    world w;
    w.shape = {200, 210}, w.obstacles.assign(200 * 210, 0);
    for (std::int64_t y = 60; y < 140; ++y) w.obstacles[static_cast<std::size_t>(y * 210 + 105)] = 1;
    for (const auto objective : {path_objective::shortest, path_objective::safe, path_objective::widest}) {
        w.options.objective = objective;
        const auto floods = [&](std::vector<std::int64_t> start, std::vector<std::int64_t> goal) {
            const any_input<host> map = any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape);
            limited_floods fields(map);
            const path found = geodesics::planner(fields, goal, w.options).plan(start).front();
            w.starts = start, w.goals = goal;
            w.starts.insert(w.starts.end(), {199, 0});
            EXPECT_EQ(found.cells, plan_path(host{}, map, w.starts, w.goals, w.options)[0].cells);
            EXPECT_EQ(found.reason, path_reason::found);
            return fields.limits;
        };
        const auto near = floods({100, 90}, {100, 95}), behind = floods({100, 100}, {100, 110}),
                   far = floods({0, 0}, {199, 209});
        EXPECT_EQ(near.size(), 1U);
        EXPECT_LT(near[0], 1e7);
        EXPECT_GT(behind.size(), 1U);
        EXPECT_EQ(far, std::vector<double>{std::numeric_limits<double>::infinity()});
    }
}

}  // namespace
}  // namespace nearfield::test
