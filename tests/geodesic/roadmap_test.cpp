// Roadmaps: that their roads are what they say, and that paths are free and exist exactly where plan_path() finds one.
#include <gtest/gtest.h>

#include <cmath>

#include "geodesic/world.hpp"
#include "nearfield/roadmap.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

any_input<host> in(const world& w) { return any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape); }

/// Steps to neighbours, whose length is said, and which touch free cells only.
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
            beside[k] += by;  // one of the cells that a diagonal step touches
            ASSERT_GT(squares[static_cast<std::size_t>(w.index(beside.data()))], w.options.radius * w.options.radius);
        }
        sum += std::sqrt(square);
    }
    ASSERT_NEAR(length, sum, 1e-9 * (1 + sum));
    ASSERT_EQ(clearance, std::sqrt(least));
}

TEST(Roadmap, PathsExistWherePlansDo) {
    std::int64_t found = 0;
    for (std::uint64_t seed = 0; seed < share(0, 500); ++seed) {
        world w = drawn_world(seed);
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
        ASSERT_GE(p.cost, best.cost);
        ASSERT_LE(map.find(start, goal, true).length, p.length + 1e-9);
    }
    EXPECT_GT(found, static_cast<std::int64_t>(share(0, 500) * 3 / 10));
}

/// A frame: a ring without ends, on which the shorter way round is taken.
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
