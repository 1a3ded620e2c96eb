// Roadmaps: roads have the reported length and clearance; paths are free and exist exactly if plan_path() finds one.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "geodesic/dijkstra.hpp"
#include "geodesic/road_graph.hpp"
#include "geodesic/world.hpp"
#include "nearfield/roadmap.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

any_input<host> in(const world& w) { return any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape); }

/// Checks that a way consists of steps to neighbours, has the reported length, and touches free cells only.
void check_way(const world& w, const std::vector<double>& squares, const std::vector<std::int64_t>& cells,
               double length, double clearance) {
    double sum = 0, least = INFINITY;
    for (std::size_t i = 0; i < cells.size(); i += w.rank()) {
        const auto cell = static_cast<std::size_t>(w.index(&cells[i]));
        ASSERT_GT(squares[cell], w.options.radius * w.options.radius);
        least = std::min(least, squares[cell]);
        if (i == 0) continue;
        double square = 0;
        std::vector<std::int64_t> beside(&cells[i - w.rank()], &cells[i]);
        for (std::size_t k = 0; k < w.rank(); ++k) {
            const std::int64_t by = cells[i + k] - cells[i + k - w.rank()];
            ASSERT_LE(std::abs(by), 1);
            square += w.length(k) * w.length(k) * static_cast<double>(by * by);
            beside[k] += by;  // a cell beside a diagonal step
            ASSERT_GT(squares[static_cast<std::size_t>(w.index(beside.data()))], w.options.radius * w.options.radius);
        }
        sum += std::sqrt(square);
    }
    ASSERT_NEAR(length, sum, 1e-9 * (1 + sum));
    ASSERT_EQ(clearance, std::sqrt(least));
}

double apart(const world& w, const std::int64_t* a, const std::int64_t* b) {
    double square = 0;
    for (std::size_t k = 0; k < w.rank(); ++k) square += std::pow(w.length(k) * static_cast<double>(a[k] - b[k]), 2);
    return std::sqrt(square);
}

/// Runs the rounds of Bellman and Ford over all cells of roads.
void relax(const world& w, const roadmap& map, std::vector<double>& far) {
    const std::size_t rank = w.rank();
    for (bool changed = true; changed;) {
        changed = false;
        for (const road& each : map.roads())
            for (std::size_t i = rank; i < each.cells.size(); i += rank) {
                double &a = far[static_cast<std::size_t>(w.index(&each.cells[i - rank]))],
                       &b = far[static_cast<std::size_t>(w.index(&each.cells[i]))];
                const double by = apart(w, &each.cells[i - rank], &each.cells[i]);
                changed = changed || b > a + by + 1e-9 || a > b + by + 1e-9;
                b = std::min(b, a + by), a = std::min(a, b + by);
            }
    }
}

/// Checks that between the cells where a path meets and leaves the roads it is as short as Bellman and Ford find, and
/// that the cheapest steps lead there and away.
void check_shortest(const world& w, const std::vector<double>& squares, const roadmap& map, const path& p) {
    const std::size_t rank = w.rank();
    const auto many = static_cast<std::size_t>(w.cells());
    std::vector<double> far(many, INFINITY);
    std::vector<std::int64_t> on(many, 0);
    const auto cell = [&](const std::int64_t* at) { return static_cast<std::size_t>(w.index(at)); };
    for (std::size_t i = 0; i < map.nodes().size(); i += rank) on[cell(&map.nodes()[i])] = 1;
    for (const road& each : map.roads())
        for (std::size_t i = 0; i < each.cells.size(); i += rank) on[cell(&each.cells[i])] = 1;
    std::vector<std::size_t> met;  // positions on the path of cells that are on roads
    for (std::size_t i = 0; i < p.cells.size(); i += rank)
        if (on[cell(&p.cells[i])] != 0) met.push_back(i);
    ASSERT_FALSE(met.empty());
    geodesic_case c = planner_case(w, squares);
    c.seeds = on;
    const std::vector<std::int64_t> cost = expected(c).cost;
    std::uint64_t ends = 0;
    for (const std::size_t i : {std::size_t{0}, p.cells.size() - rank})
        ends += static_cast<std::uint64_t>(cost[cell(&p.cells[i])]);
    far[cell(&p.cells[met.front()])] = 0;
    relax(w, map, far);
    double along = 0;
    for (std::size_t i = met.front() + rank; i <= met.back(); i += rank)
        along += apart(w, &p.cells[i - rank], &p.cells[i]);
    EXPECT_NEAR(along, far[cell(&p.cells[met.back()])], 1e-6);
    const double shortest = w.spacing.empty() ? 1 : *std::min_element(w.spacing.begin(), w.spacing.end());
    EXPECT_NEAR(p.length - along, static_cast<double>(ends) * shortest / 4096,
                static_cast<double>(p.cells.size()) * shortest / 4096);
}

TEST(Roadmap, PathsExistWherePlansDo) {
    std::int64_t found = 0;
    for (std::uint64_t seed = 0; seed < share(0, 1000); ++seed) {
        world w = drawn_world(seed);
        w.set_ends({}), w.options.clearance_costs = {};
        w.options.objective = path_objective::shortest, w.options.smooth = false, w.options.connectivity = 8;
        const std::vector<double> squares = w.squares();
        const roadmap map(host{1 + static_cast<int>(seed % 2), {}}, in(w), {w.options.radius, w.options.spacing});
        for (const road& each : map.roads()) check_way(w, squares, each.cells, each.length, each.clearance);
        const auto rank = static_cast<std::ptrdiff_t>(w.rank());
        const std::vector<std::int64_t> start(w.starts.begin(), w.starts.begin() + rank),
            goal(w.goals.begin(), w.goals.begin() + rank);
        const path p = map.find(start, goal), best = plan_path(host{1, {}}, in(w), start, goal, w.options).front();
        ASSERT_EQ(p.reason, best.reason) << "seed " << seed;
        if (p.reason != path_reason::found) continue;
        ++found;
        ASSERT_TRUE(std::equal(start.begin(), start.end(), p.cells.begin()));
        ASSERT_TRUE(std::equal(goal.rbegin(), goal.rend(), p.cells.rbegin()));
        ASSERT_NO_FATAL_FAILURE(check_way(w, squares, p.cells, p.length, p.clearance)) << "seed " << seed;
        ASSERT_NO_FATAL_FAILURE(check_shortest(w, squares, map, p)) << "seed " << seed;
        ASSERT_GE(p.cost, best.cost);
        const path straight = map.find(start, goal, true);
        ASSERT_LE(straight.length, p.length + 1e-9);
        ASSERT_GT(straight.clearance, w.options.radius);
    }
    EXPECT_GT(found, static_cast<std::int64_t>(share(0, 1000) * 3 / 10));
}

/// Checks that each road is listed once.
void check_roads_differ(const roadmap& map) {
    std::vector<std::vector<std::int64_t>> ends;  // of roads between neighbours, whose ends are all of their cells
    for (const road& each : map.roads())
        if (each.cells.size() == 2 * map.nodes().size() / map.radii().size())
            ends.push_back({std::min(each.from, each.to), std::max(each.from, each.to)});
    std::sort(ends.begin(), ends.end());
    ASSERT_EQ(std::adjacent_find(ends.begin(), ends.end()), ends.end());
}

/// In noise, whose skeleton has many nodes, landmarks tell most of a way's length.
TEST(Roadmap, WaysThroughNoiseAreTheShortest) {
    for (std::uint64_t seed = 0; seed < share(4, 12); ++seed) {
        world w;
        w.shape = seed % 2 == 0 ? shape_t{40, 50} : shape_t{9, 8, 11};
        if (seed % 4 > 1) w.spacing = {3, 7, 5}, w.options.spacing = {w.spacing.data(), w.rank()};
        w.spacing.resize(w.spacing.empty() ? 0 : w.rank());
        for (std::int64_t i = 0; i < w.cells(); ++i)
            w.obstacles.push_back(mix(seed << 32 | static_cast<std::uint64_t>(i)) % 100 < 20 + seed ? 1 : 0);
        const std::vector<double> squares = w.squares();
        const roadmap map(host{1, {}}, in(w), {0, w.options.spacing});
        ASSERT_NO_FATAL_FAILURE(check_roads_differ(map)) << "seed " << seed;
        for (std::uint64_t k = 0; k < 10; ++k) {
            const auto some = [&](std::uint64_t n) {
                return w.at(static_cast<std::int64_t>(mix(n) % w.obstacles.size()));
            };
            const path p = map.find(some(2 * k), some(2 * k + 1));
            if (p.reason != path_reason::found) continue;
            ASSERT_NO_FATAL_FAILURE(check_way(w, squares, p.cells, p.length, p.clearance)) << "seed " << seed;
            ASSERT_NO_FATAL_FAILURE(check_shortest(w, squares, map, p)) << "seed " << seed;
        }
    }
}

/// A frame is a ring without ends, on which the path takes the shorter way round.
TEST(Roadmap, ARingIsARoad) {
    world w;
    w.shape = {9, 13}, w.obstacles.assign(117, 0);
    for (std::int64_t y = 3; y < 6; ++y)
        for (std::int64_t x = 3; x < 10; ++x) w.obstacles[static_cast<std::size_t>(y * 13 + x)] = 1;
    for (std::int64_t i = 0; i < 117; ++i)
        if (i / 13 == 0 || i / 13 == 8 || i % 13 == 0 || i % 13 == 12) w.obstacles[static_cast<std::size_t>(i)] = 1;
    const roadmap map(host{}, in(w));
    ASSERT_GE(map.roads().size(), 1U);
    const std::int64_t left[] = {4, 1}, right[] = {4, 11}, above[] = {1, 4};
    EXPECT_LT(map.find(left, above).length, 8);
    EXPECT_GT(map.find(left, right).length, 10);
}

/// Distances, the skeleton, the graph and costs ask whether to go on, each of them more than once.
TEST(Roadmap, StopsInEveryStep) {
    world w;
    w.shape = {400, 300}, w.obstacles.assign(120000, 0);
    for (std::size_t i = 0; i < w.obstacles.size(); ++i) w.obstacles[i] = mix(i) % 5 == 0 ? 1 : 0;
    int asked = 0, without_share = 0;
    roadmap(host{1, [&](double share) { return ++asked, without_share += share == 0 ? 1 : 0, true; }}, in(w));
    EXPECT_GT(without_share, 8);
    for (int part = 0; part < 8; ++part) {
        int left = asked * part / 8;
        try {
            roadmap(host{1, [&](double) { return left-- > 0; }}, in(w));
            ADD_FAILURE() << "went on after " << part << " of 8 parts of the questions";
        } catch (const error& stopped) {
            EXPECT_EQ(stopped.code(), error_code::cancelled);
        }
    }
}

/// Choosing and measuring landmarks asks seven and eight times.
TEST(Roadmap, LandmarksHearAStop) {
    std::vector<geodesics::road_graph::link> ring;
    std::vector<double> at;
    for (std::int64_t k = 0; k < 100; ++k) ring.push_back({k, (k + 1) % 100, 1}), at.push_back(static_cast<double>(k));
    for (const int questions : {0, 5, 12}) {
        int left = questions;
        const host on{1, [&](double) { return left-- > 0; }};
        workers team(on, 1);
        try {
            const geodesics::road_graph made(ring, at, 1, team);
            ADD_FAILURE() << "went on after " << questions << " questions";
        } catch (const error& stopped) {
            EXPECT_EQ(stopped.code(), error_code::cancelled);
        }
    }
}

TEST(Roadmap, RefusesWhatItCannotDo) {
    const world w = drawn_world(3);
    expect_refused([&] { roadmap(host{}, in(w), {-1, {}}); }, {"radius"});
    expect_refused([&] { roadmap(host{-1, {}}, in(w)); }, {"threads"});
    const std::vector<std::int64_t> outside(w.rank(), 1000);
    const roadmap map(host{}, in(w));
    expect_refused([&] { static_cast<void>(map.find(outside, outside)); }, {"start", "1000"});
}

}  // namespace
}  // namespace nearfield::test
