// The method `chamfer` against its definition: cheapest paths, with ties decided by the site.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "methods/engines.hpp"

namespace nearfield::test {
namespace {

using weights_t = std::vector<std::int32_t>;

std::vector<oracle::priced_step> steps_of(const weights_t& weights, std::size_t rank) {
    std::vector<oracle::priced_step> all;
    const auto limit = static_cast<std::int64_t>(weights.size() == 3 && rank == 2 ? 2 : 1);
    for (std::int64_t z = rank > 2 ? -1 : 0; z <= (rank > 2 ? 1 : 0); ++z)
        for (std::int64_t y = rank > 1 ? -limit : 0; y <= (rank > 1 ? limit : 0); ++y)
            for (std::int64_t x = -limit; x <= limit; ++x) {
                const std::int64_t sum = std::abs(z) + std::abs(y) + std::abs(x);
                const bool knight = rank == 2 && std::abs(y * x) == 2;
                const bool near = std::abs(y) < 2 && std::abs(x) < 2;
                if (sum == 0 || (!near && !knight)) continue;
                if (static_cast<std::size_t>(sum) > weights.size()) continue;
                const std::vector<std::int64_t> all_axes{z, y, x};
                all.push_back({{all_axes.end() - static_cast<std::ptrdiff_t>(rank), all_axes.end()},
                               weights[static_cast<std::size_t>(sum - 1)]});
            }
    return all;
}

std::array<std::int32_t, 3> in_array(const weights_t& weights) {
    std::array<std::int32_t, 3> all{};
    std::copy(weights.begin(), weights.end(), all.begin());
    return all;
}

struct found {
    std::vector<double> distance;
    std::vector<std::int64_t> index;
    method_report report;
};

found run(const chamfer_method& how, const shape_t& shape, const flags_t& sites, int threads) {
    found f{std::vector<double>(sites.size()), std::vector<std::int64_t>(sites.size()), {}};
    fields<host> out;
    out.distance = any_output<host>::contiguous(f.distance.data(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(f.index.data(), dtype::int64, shape);
    f.report = nearest_sites(how, host{threads}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out,
                             {.sites = sites::nonzero});
    return f;
}

void expect_paths(const weights_t& weights, const shape_t& shape, const flags_t& sites) {
    const std::vector<double> unit(shape.size(), 1.0);
    const auto expected = oracle::cheapest({shape, unit, sites}, steps_of(weights, shape.size()));
    for (bool iterated : {false, true})
        for (int threads : {1, 3}) {
            const found f = run({.weights = in_array(weights), .iterated = iterated}, shape, sites, threads);
            for (std::size_t cell = 0; cell < sites.size(); ++cell) {
                ASSERT_EQ(f.index[cell], expected[cell].site) << "cell " << cell << (iterated ? ", iterated" : "");
                const double price = static_cast<double>(expected[cell].price) / weights[0];
                ASSERT_EQ(f.distance[cell], expected[cell].site < 0 ? std::numeric_limits<double>::infinity() : price);
            }
        }
}

TEST(ChamferMethod, CheapestPaths) {
    std::uint64_t k = 0;
    for (const shape_case& grid : method_shapes()) {
        if (cells_of(grid.shape) == 0) continue;
        for (fill kind : {fill::none, fill::all, fill::one, fill::circle, fill::percent, fill::tenth, fill::fifty})
            for (const weights_t& weights : {weights_t{3}, {3, 4}, {3, 4, 5}, {1, 1, 1}, {5, 7, 11}}) {
                if (weights.size() > grid.shape.size() + (grid.shape.size() == 2)) continue;
                SCOPED_TRACE(text_of(grid.shape) + " (" + grid.why + "): " + name_of(kind));
                expect_paths(weights, grid.shape, make_fill(kind, grid.shape, ++k));
                if (testing::Test::HasFailure()) return;
            }
    }
}

struct weights_case {
    chamfer_method how;
    shape_t shape;
    double shortest, longest;  ///< ratios of a distance to the Euclidean one
};

/// From one site a distance is linear in the sorted magnitudes of coordinates, so its ratio to the straight line is at
/// most the length of its coefficients: (3, 4) has 1 and 1/3, root(10/9); (3, 4, 5) has 1, 1/3 and 1/3, root(11/9). It
/// is least along a diagonal: 4/3 over root 2. (5, 7, 11) is within 2.02 %, as Borgefors states. City block and
/// chessboard are the sum and the maximum.
TEST(ChamferMethod, DistancesFromOneSiteAreNearTheEuclideanOne) {
    const shape_t image{101, 101}, volume{41, 41, 41};
    const double diagonal = 4 / (3 * std::sqrt(2.0));
    for (const weights_case& each : {weights_case{{.weights = {3, 4}}, image, diagonal, std::sqrt(10.0) / 3},
                                     {{}, volume, diagonal, std::sqrt(11.0) / 3},
                                     {{.weights = {3, 4, 5}, .iterated = true}, volume, diagonal, std::sqrt(11.0) / 3},
                                     {{.weights = {5, 7, 11}}, image, 0.9798, 1.0202},
                                     {{.weights = {1}}, image, 1, std::sqrt(2.0)},
                                     {{.weights = {1, 1, 1}}, volume, 1 / std::sqrt(3.0), 1}}) {
        const auto cells = cells_of(each.shape), side = each.shape[0];
        flags_t sites(static_cast<std::size_t>(cells), 0);
        sites[static_cast<std::size_t>(cells / 2)] = 1;  // the middle cell
        const found f = run(each.how, each.shape, sites, 1);
        for (std::int64_t cell = 0; cell < cells; ++cell) {
            double right2 = 0;
            for (std::int64_t rest = cell, axis = 0; axis < std::ssize(each.shape); ++axis, rest /= side) {
                const auto off = static_cast<double>(rest % side - side / 2);
                right2 += off * off;
            }
            const double came = f.distance[static_cast<std::size_t>(cell)], right = std::sqrt(right2);
            ASSERT_LE(came, each.longest * right + 1e-9) << text_of(each.how) << ", cell " << cell;
            ASSERT_GE(came, each.shortest * right - 1e-9) << text_of(each.how) << ", cell " << cell;
        }
    }
}

/// A full cube whose sites lie around its surface: takes as many rounds as half a side, and one more to see that
/// nothing changes.
TEST(ChamferMethod, RoundsFollowTheLargestDistanceAndStopEarly) {
    const std::int64_t n = 16;
    const shape_t shape{n, n, n};
    flags_t sites(static_cast<std::size_t>(n * n * n), 0);
    for (std::int64_t cell = 0; cell < n * n * n; ++cell) {
        const std::int64_t x = cell % n, y = cell / n % n, z = cell / n / n;
        sites[static_cast<std::size_t>(cell)] = x * y * z == 0 || x == n - 1 || y == n - 1 || z == n - 1;
    }
    const found f = run({.iterated = true}, shape, sites, 2);
    EXPECT_EQ(f.report.stages[1].rounds, n / 2);
}

}  // namespace
}  // namespace nearfield::test
