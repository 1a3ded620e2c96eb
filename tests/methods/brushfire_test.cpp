// Flood filling on the host: the naive parallel form against its definition, and both forms against their bounds of
// error.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/engines.hpp"

namespace nearfield::test {
namespace {

TEST(Brushfire, TheParallelFormFollowsItsDefinition) {
    std::uint64_t k = 0;
    for (const shape_case& grid : method_shapes())
        for (fill kind : {fill::none, fill::all, fill::one, fill::circle, fill::percent, fill::tenth, fill::fifty}) {
            const spacing_case& cell = method_spacings()[++k % method_spacings().size()];
            SCOPED_TRACE(text_of(grid.shape) + " (" + grid.why + "): " + name_of(kind) + ", spacing " + cell.why);
            const solved s = unsolved(grid.shape, make_fill(kind, grid.shape, k), cell);
            expect_sites(brushfire{.parallel = true}, s, oracle::naive_flood(s.problem), k);
            if (testing::Test::HasFailure()) return;
        }
}

/// When nothing changes any more, no neighbour's site is nearer. Along a path from the site to a cell distances grow by
/// at most the length of a step, so no distance exceeds the shortest path of such steps. Its ratio to the straight line
/// is at most 1.0824 in 2-D, root(4 - 2 root 2), and 1.1281 in 3-D.
TEST(Brushfire, NoDistanceIsLongerThanTheShortestPath) {
    for (const shape_t& shape : {shape_t{97, 61}, shape_t{128, 128}, shape_t{23, 31, 27}})
        for (double density : {0.001, 0.01, 0.1, 0.5})
            for (std::uint64_t seed = 0; seed < 8; ++seed)
                for (bool parallel : {false, true}) {
                    const flags_t sites = make_random(shape, density, seed);
                    const method_errors e =
                        errors_of(sites_of(brushfire{.parallel = parallel}, shape, sites), shape, sites);
                    EXPECT_EQ(e.missing, 0);
                    EXPECT_LE(e.largest_relative_error, shape.size() == 2 ? 0.0824 : 0.1282);
                }
}

TEST(Brushfire, OneSiteAndFewSites) {
    for (bool parallel : {false, true})
        for (const shape_case& grid : method_shapes()) {
            if (cells_of(grid.shape) == 0) continue;
            for (fill kind : {fill::one, fill::none, fill::all}) {
                const flags_t sites = make_fill(kind, grid.shape, 3);
                const std::vector<std::int64_t> found = sites_of(brushfire{.parallel = parallel}, grid.shape, sites);
                const method_errors e = errors_of(found, grid.shape, sites);
                EXPECT_EQ(e.wrong_sites + e.missing + e.other_ties, 0) << grid.why;
            }
        }
}

TEST(Brushfire, TheQueueIsStopped) {
    const shape_t shape{200, 200};
    const flags_t sites = make_random(shape, 0.01, 5);
    std::vector<float> distance(sites.size());
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    for (const method& by : {method{brushfire{}}, method{brushfire{.parallel = true}}, method{jump_flood{}}}) try {
            static_cast<void>(nearest_sites(by, host{2, [](double) { return false; }},
                                            any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out));
            ADD_FAILURE() << "was not stopped";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::cancelled);
        }
}

}  // namespace
}  // namespace nearfield::test
