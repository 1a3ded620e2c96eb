// Jump flooding on the host: every variant against its definition, its known failure, and its bounds of error.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "methods/engines.hpp"

namespace nearfield::test {
namespace {

constexpr fill some_fills[] = {fill::none,    fill::all,     fill::one,   fill::circle,
                               fill::sparse3, fill::percent, fill::tenth, fill::fifty};

struct variant_case {
    jump_flood how;
    std::vector<std::int64_t> (*steps)(std::vector<std::int64_t>);
    const char* why;
};

using steps_t = std::vector<std::int64_t>;

const std::vector<variant_case>& variants() {
    static const std::vector<variant_case> list = {
        {{}, [](steps_t s) { return s; }, "halving"},
        {{.steps = jump_flood::order::doubling},
         [](steps_t s) { return std::reverse(s.begin(), s.end()), s; },
         "doubling"},
        {{.rounds_before = 1}, [](steps_t s) { return s.insert(s.begin(), 1), s; }, "1+JFA"},
        {{.rounds_after = 1}, [](steps_t s) { return s.push_back(1), s; }, "JFA+1"},
        {{.rounds_after = 2}, [](steps_t s) { return s.push_back(2), s.push_back(1), s; }, "JFA+2"},
        {{.runs = 2},
         [](steps_t s) {
             const steps_t once = s;
             return s.insert(s.end(), once.begin(), once.end()), s;
         },
         "JFA squared"},
        {{.sites_per_cell = 2}, [](steps_t s) { return s; }, "JFA2"},
        {{.rounds_before = 1, .rounds_after = 1, .sites_per_cell = 2, .runs = 2},
         [](steps_t s) {
             s.insert(s.begin(), 1), s.push_back(1);
             const steps_t once = s;
             return s.insert(s.end(), once.begin(), once.end()), s;
         },
         "all of it"},
    };
    return list;
}

TEST(JumpFlood, EveryVariantFollowsItsDefinition) {
    std::uint64_t k = 0;
    for (const shape_case& grid : method_shapes())
        for (fill kind : some_fills)
            for (const variant_case& each : variants()) {
                ++k;
                const spacing_case& cell = method_spacings()[k % method_spacings().size()];
                if (!chosen(k)) continue;
                SCOPED_TRACE(std::string(each.why) + " on " + text_of(grid.shape) + " (" + grid.why +
                             "): " + name_of(kind) + ", spacing " + cell.why);
                const solved s = unsolved(grid.shape, make_fill(kind, grid.shape, k), cell);
                const auto kept = static_cast<std::size_t>(each.how.sites_per_cell);
                const steps_t steps =
                    cells_of(grid.shape) == 0 ? steps_t{} : each.steps(oracle::halving_steps(grid.shape));
                expect_sites(each.how, s, oracle::jump_flood(s.problem, steps, kept), k);
                if (testing::Test::HasFailure()) return;
            }
}

TEST(JumpFlood, OneSiteIsExact) {
    for (const shape_case& grid : method_shapes()) {
        if (cells_of(grid.shape) == 0) continue;
        const flags_t sites = make_fill(fill::one, grid.shape, 3);
        for (const variant_case& each : variants()) {
            const method_errors e = errors_of(sites_of(each.how, grid.shape, sites), grid.shape, sites);
            EXPECT_EQ(e.wrong_sites + e.missing, 0) << each.why << " on " << grid.why;
        }
    }
}

/// A path of jumps leads from every site to every cell without turning back, with at most one jump for each step.
/// Along it distances grow by at most the length of a jump, and such a path is at most root(axes) times the straight
/// line.
TEST(JumpFlood, NoDistanceIsLongerThanRootOfTheAxesTimesTheRightOne) {
    for (const shape_t& shape : {shape_t{97, 61}, shape_t{128, 128}, shape_t{23, 31, 27}})
        for (double density : {0.001, 0.01, 0.1, 0.5})
            for (std::uint64_t seed = 0; seed < 4; ++seed) {
                const flags_t sites = make_random(shape, density, seed);
                const auto expect_bound = [&](const jump_flood& how) {
                    const method_errors e = errors_of(sites_of(how, shape, sites), shape, sites);
                    EXPECT_LE(e.largest_relative_error, std::sqrt(static_cast<double>(shape.size())) - 1)
                        << text_of(how);
                    EXPECT_EQ(e.missing, 0);
                };
                for (const variant_case& each : variants()) expect_bound(each.how);
                // A drawn site is replaced by a nearer one like any other.
                expect_bound({.randomised = true, .seed = seed + 1});
                expect_bound({.steps = jump_flood::order::doubling, .runs = 2, .randomised = true, .seed = seed});
            }
}

/// The lecture's example: the rows are four apart, and the correct site r of cell p would arrive by the jump of 4,
/// through p1 or p2. But g is nearer to p1 and b is nearer to p2, so neither keeps r.
///
///        x 0   2   5   6   10
///     y 2  .   p1  p   p2  .
///       4  g   .   .   .   b
///       6  .   r   .   .   .
TEST(JumpFlood, ThreeSeedsOfTheLectureFail) {
    const shape_t shape{12, 12};
    const std::int64_t r = 6 * 12 + 2, g = 4 * 12, b = 4 * 12 + 10, p = 2 * 12 + 5, p1 = 2 * 12 + 2, p2 = 2 * 12 + 6;
    flags_t sites(144, 0);
    for (std::int64_t seed : {r, g, b}) sites[static_cast<std::size_t>(seed)] = 1;
    const auto site_in = [](const std::vector<std::int64_t>& of, std::int64_t cell) {
        return of[static_cast<std::size_t>(cell)];
    };
    const std::vector<std::int64_t> right = sites_of(exact_method{}, shape, sites);
    EXPECT_EQ(site_in(right, p), r);
    EXPECT_EQ(site_in(right, p1), g);
    EXPECT_EQ(site_in(right, p2), b);
    const std::vector<std::int64_t> flooded = sites_of(jump_flood{}, shape, sites);
    EXPECT_NE(site_in(flooded, p), r);
    EXPECT_EQ(errors_of(flooded, shape, sites).wrong_sites, 1);
    // One more round, before or after, and two sites a cell avoid the error: r is p1's second nearest site.
    for (const jump_flood& remedy : {jump_flood{.rounds_after = 1}, jump_flood{.rounds_before = 1},
                                     jump_flood{.sites_per_cell = 2}, jump_flood{.runs = 2}})
        EXPECT_EQ(sites_of(remedy, shape, sites), right);
    // With only two of the three sites there is no error.
    for (std::int64_t without : {g, b}) {
        flags_t two = sites;
        two[static_cast<std::size_t>(without)] = 0;
        EXPECT_EQ(errors_of(sites_of(jump_flood{}, shape, two), shape, two).wrong_sites, 0);
    }
}

/// With a tenth of sites every seed has its own errors; with few sites every seed gives the exact result.
TEST(JumpFlood, RandomSitesAreTheSameForASeedWhateverTheThreads) {
    const shape_t shape{61, 83};
    for (const double density : {0.003, 0.1}) {
        const flags_t sites = make_random(shape, density, 5);
        jump_flood how{.randomised = true, .seed = 7};
        const std::vector<std::int64_t> found = sites_of(how, shape, sites);
        std::vector<std::int64_t> alone(found.size());
        fields<host> out;
        out.index = any_output<host>::contiguous(alone.data(), dtype::int64, shape);
        static_cast<void>(nearest_sites(how, host{1}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape),
                                        out, {.sites = sites::nonzero}));
        EXPECT_EQ(found, alone);
        EXPECT_EQ(errors_of(found, shape, sites).missing, 0);
        how.seed = 8;
        const std::vector<std::int64_t> other = sites_of(how, shape, sites);
        EXPECT_EQ(errors_of(other, shape, sites).missing, 0);
        EXPECT_EQ(found == other, density < 0.01);
    }
}

TEST(JumpFlood, TheReportCountsRounds) {
    const shape_t shape{33, 100};
    const flags_t sites = make_random(shape, 0.01, 1);
    std::vector<float> distance(sites.size());
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    const method_report report =
        nearest_sites(jump_flood{.rounds_after = 1}, host{1},
                      any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out, {.sites = sites::nonzero});
    ASSERT_EQ(report.stages.size(), 10U);  // seven rounds of steps 64 ... 1, one more, and both ends
    EXPECT_EQ(report.stages[0].name, "initialise");
    EXPECT_EQ(report.stages[1].name, "step 64");
    EXPECT_EQ(report.stages[8].name, "step 1");
    EXPECT_EQ(report.stages[9].name, "fields");
    EXPECT_EQ(report.rounds, 10);
    EXPECT_EQ(report.stages[1].bytes, 33 * 100 * 8);
    EXPECT_EQ(report.stages[9].bytes, 33 * 100 * 8);
}

}  // namespace
}  // namespace nearfield::test
