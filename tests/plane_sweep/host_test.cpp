// Propagation by sweeps on the host: equals its definition, and its errors keep their bounds.
#include <gtest/gtest.h>

#include <cmath>

#include "methods/engines.hpp"
#include "oracle/sweeps.hpp"

namespace nearfield::test {
namespace {

constexpr fill some_fills[] = {fill::none,    fill::all,     fill::one,   fill::circle,
                               fill::sparse3, fill::percent, fill::tenth, fill::fifty};

TEST(PlaneSweep, FollowsItsDefinition) {
    std::uint64_t k = 0;
    for (const shape_case& grid : method_shapes())
        for (fill kind : some_fills)
            for (const spacing_case& cell : method_spacings())
                for (const bool independent : {false, true}) {
                    if (!chosen(++k)) continue;
                    SCOPED_TRACE(text_of(grid.shape) + " (" + grid.why + "): " + name_of(kind) + ", spacing " +
                                 cell.why + (independent ? ", independent" : ""));
                    const solved s = unsolved(grid.shape, make_fill(kind, grid.shape, k), cell);
                    const plane_sweep how{.independent = independent};
                    expect_sites(how, s, oracle::plane_sweep(s.problem, independent), k);
                    if (HasFailure()) return;
                }
}

/// Lines so long that threads share them.
TEST(PlaneSweep, ThreadsChangeNothing) {
    for (const shape_t& shape : {shape_t{20, 5000}, shape_t{5000, 20}, shape_t{6, 70, 90}})
        for (const bool independent : {false, true}) {
            const solved s = unsolved(shape, make_fill(fill::percent, shape, 3), {{}, "not given"});
            const plane_sweep how{.independent = independent};
            solved expected = s;
            expected.answer = oracle::of_sites(s.problem, sites_of(how, shape, s.problem.site));
            for (const int threads : {1, 2, 7})
                EXPECT_EQ(check(method_engine(how, threads), expected, outputs::all(), dress{}), "") << threads;
        }
}

/// Every 4 x 4 image: too small for an exclave, so sweeps in sequence are exact.
TEST(PlaneSweep, InSequenceIsExactOnEveryImageOfFourByFour) {
    const shape_t shape{4, 4};
    flags_t sites(16);
    for (unsigned mask = 0; mask < 65536; ++mask) {
        if (!chosen(mask)) continue;
        for (std::size_t i = 0; i < 16; ++i) sites[i] = mask >> i & 1;
        const std::vector<std::int64_t> index = sites_of(plane_sweep{}, shape, sites);
        const oracle::answer expected = oracle::by_cells({shape, {1, 1}, sites});
        ASSERT_EQ(oracle::of_sites({shape, {1, 1}, sites}, index).exact, expected.exact) << mask;
    }
}

/// The lecture's exclave: the cell belongs to the region of a site to which none of its neighbours belong.
TEST(PlaneSweep, AnExclaveKeepsAWrongSite) {
    const shape_t shape{14, 14};
    flags_t sites(14 * 14);
    for (const auto& [y, x] : {std::pair{0, 6}, {0, 9}, {1, 3}, {2, 1}})
        sites[static_cast<std::size_t>(y * 14 + x)] = 1;
    const oracle::problem p{shape, {1, 1}, sites};
    const std::int64_t exclave = 13 * 14 + 8;
    ASSERT_EQ(oracle::exclaves(p), std::vector<std::int64_t>{exclave});
    ASSERT_EQ(oracle::by_cells(p).exact[exclave], 169U);
    for (const bool independent : {false, true}) {
        const std::vector<std::int64_t> index = sites_of(plane_sweep{.independent = independent}, shape, sites);
        EXPECT_EQ(oracle::of_sites(p, index).exact[exclave], 170U);
        const method_errors errors = errors_of(index, shape, sites);
        EXPECT_EQ(errors.wrong_sites, 1);
        EXPECT_NEAR(errors.largest_error, std::sqrt(170.0) - 13, 1e-12);
    }
    EXPECT_EQ(errors_of(sites_of(banding{}, shape, sites), shape, sites).wrong_sites, 0);
}

/// One sweep leads from a site to every cell of its cone of 45 degrees, through neighbours and without turning back,
/// and the cones of all sweeps cover the grid. Along the way distances grow by at most the length of a step, so none
/// exceeds the shortest path of such steps. Its ratio to the straight line is at most 1.0824 in 2-D, root(4 - 2 root
/// 2), and 1.1281 in 3-D, the root of 1 + (root 2 - 1)^2 + (root 3 - root 2)^2.
TEST(PlaneSweep, NoDistanceIsLongerThanTheShortestPath) {
    for (const shape_t& shape : {shape_t{97, 101}, shape_t{128, 40}, shape_t{23, 29, 31}})
        for (const fill kind : {fill::one, fill::sparse3, fill::percent, fill::tenth, fill::fifty, fill::balls})
            for (std::uint64_t seed = 0; seed < 4; ++seed)
                for (const bool independent : {false, true}) {
                    const flags_t sites = make_fill(kind, shape, 11 + seed);
                    const method_errors errors =
                        errors_of(sites_of(plane_sweep{.independent = independent}, shape, sites), shape, sites);
                    EXPECT_EQ(errors.missing, 0);
                    EXPECT_LE(errors.largest_relative_error, shape.size() == 2 ? 0.0824 : 0.1282) << name_of(kind);
                    // Actual errors are much smaller, and rare.
                    EXPECT_LT(errors.largest_error, 1.0) << name_of(kind);
                    EXPECT_LT(static_cast<double>(errors.wrong_sites), 0.01 * static_cast<double>(errors.cells))
                        << name_of(kind);
                }
}

TEST(PlaneSweep, FormsOfADeviceAreErrorsOnTheHost) {
    const shape_t shape{8, 8};
    const flags_t sites = make_fill(fill::tenth, shape);
    for (const auto launch : {plane_sweep::form::cooperative, plane_sweep::form::banded, plane_sweep::form::shuffled})
        EXPECT_THROW(static_cast<void>(sites_of(plane_sweep{.launch = launch}, shape, sites)), error);
}

}  // namespace
}  // namespace nearfield::test
