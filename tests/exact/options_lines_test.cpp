// Nearly degenerate spacings at lengths where comparisons in float32 would fail, and long lines under every option: all
// cells against the line oracle, or some cells against every site.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "exact/cases.hpp"
#include "exact/options_fields.hpp"
#include "oracle/options.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {
namespace {

struct pair_of_lengths {
    double a, b;
};
constexpr pair_of_lengths near_degenerate[] = {{1.0 / 3, 0.1}, {0.1, 1.0 / 3}, {0.7, 0.31}, {0.31, 0.7}};

TEST(OptionsLines, EveryCellOfLongGrids) {
    for (const shape_t& shape : {shape_t{16384, 5}, shape_t{5, 16384}, shape_t{4000, 40}}) {
        for (const auto& [a, b] : near_degenerate) {
            for (fill kind : {fill::percent, fill::diagonal, fill::rows, fill::tenth}) {
                const flags_t sites = make_fill(kind, shape, 31);
                const auto expected = oracle::by_lines({shape, {a, b}, sites});
                const auto got = transform(sites, shape, {.spacing = {a, b}, .sites = sites::nonzero});
                ASSERT_EQ(got.squared, expected.squared) << text_of(shape) << ' ' << name_of(kind);
                ASSERT_EQ(got.index, expected.index) << text_of(shape) << ' ' << name_of(kind);
            }
        }
    }
}

TEST(OptionsLines, EveryCellOfA16384x300Grid) {
    const shape_t shape{16384, 300};
    for (const auto& [a, b] : {near_degenerate[0], near_degenerate[2]}) {
        const flags_t sites = make_random(shape, 0.002, 32);
        const auto expected = oracle::by_lines({shape, {a, b}, sites});
        const auto got = transform(sites, shape, {.spacing = {a, b}, .sites = sites::nonzero});
        EXPECT_TRUE(got.squared == expected.squared);
        EXPECT_TRUE(got.index == expected.index);
    }
}

/// A few sites far apart, with values such that the order of parabolas depends on the last bits.
void check_some(const shape_t& shape, const distance_options& options, std::uint64_t seed) {
    const auto n = static_cast<std::uint64_t>(cells_of(shape));
    oracle::option_problem p;
    p.shape = shape;
    p.sites = oracle::rule::nonzero;
    p.half_cell = options.half_cell, p.max_distance = options.max_distance;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        p.spacing.push_back(options.spacing[static_cast<int>(axis)]);
        p.border.push_back(static_cast<oracle::edge>(options.border[static_cast<int>(axis)]));
    }
    std::vector<std::uint8_t> image(n, 0);
    std::vector<std::int64_t> sites, cells;
    for (std::uint64_t k = 0; k < 25; ++k) sites.push_back(static_cast<std::int64_t>(mix(seed + k) % n));
    std::sort(sites.begin(), sites.end());
    sites.erase(std::unique(sites.begin(), sites.end()), sites.end());
    for (std::int64_t site : sites) image[static_cast<std::size_t>(site)] = 1;
    for (std::uint64_t k = 0; k < 1500; ++k) cells.push_back(static_cast<std::int64_t>(mix(seed + 100 + k) % n));
    for (std::int64_t axis_end : {std::int64_t{0}, static_cast<std::int64_t>(n) - 1}) cells.push_back(axis_end);
    p.value.assign(image.begin(), image.end());
    for (std::uint8_t v : image) p.zero.push_back(v == 0);
    const auto expected = solve_some(p, cells, sites);
    distance_options with = options;
    with.sites = sites::nonzero;
    const auto got = transform(image, shape, with);
    for (std::size_t k = 0; k < cells.size(); ++k) {
        const auto i = static_cast<std::size_t>(cells[k]);
        ASSERT_EQ(got.squared[i], expected.squared[k]) << "cell " << i;
        ASSERT_EQ(got.distance[i], std::sqrt(expected.squared[k])) << "cell " << i;
        if (expected.ambiguous[k] == 0) {
            ASSERT_EQ(got.index[i], expected.index[k]) << "cell " << i;
        }
    }
}

TEST(OptionsLines, FewSitesUnderEveryOption) {
    std::uint64_t seed = 33;
    for (const shape_t& shape : {shape_t{16384, 3}, shape_t{3, 16384}, shape_t{16384, 60}, shape_t{2, 3000, 40},
                                 shape_t{3000, 40, 2}, shape_t{20000}}) {
        for (const auto& [a, b] : {near_degenerate[0], near_degenerate[3], pair_of_lengths{2, 3}}) {
            std::vector<double> lengths;
            for (std::size_t axis = 0; axis < shape.size(); ++axis) lengths.push_back(axis % 2 == 0 ? a : b);
            const spacing cell(lengths.data(), lengths.size());
            const double most = 700 * a;
            for (const named_options& each :
                 {named_options{"plain", {}},
                  {"half", {.half_cell = true}},
                  {"periodic", {.border = border::periodic}},
                  {"closed", {.border = border::closed}},
                  {"limit", {.max_distance = most}},
                  {"all", {.half_cell = true, .border = border::periodic, .max_distance = most}}}) {
                distance_options options = each.options;
                options.spacing = cell;
                SCOPED_TRACE(text_of(shape) + ' ' + each.name);
                check_some(shape, options, ++seed);
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// Integer lengths so large that squares pass 2^32, 2^53 and 2^62.
TEST(OptionsLines, LargeWholeSpacings) {
    std::uint64_t seed = 900;
    for (double cell : {1000.0, 65536.0, 1e6, 16777216.0, 1e9, 1e12}) {
        for (const shape_t& shape : {shape_t{2000}, shape_t{90, 30}, shape_t{1, 70}, shape_t{12, 13, 14}}) {
            for (const distance_options& options :
                 {distance_options{.spacing = cell}, distance_options{.spacing = cell, .half_cell = true},
                  distance_options{.spacing = cell, .border = border::periodic},
                  distance_options{.spacing = cell, .border = border::closed},
                  distance_options{.spacing = cell, .max_distance = 6 * cell}}) {
                SCOPED_TRACE(text_of(shape) + " of " + std::to_string(cell));
                check_some(shape, options, ++seed);
                if (HasFatalFailure()) return;
            }
        }
    }
}

std::vector<std::uint64_t> squares_of_a_line(const std::vector<std::uint8_t>& image, const distance_options& options) {
    std::vector<std::uint64_t> squared(image.size(), 5);
    const shape_t shape{static_cast<std::int64_t>(image.size())};
    fields<host> out;
    out.squared = any_output<host>::contiguous(squared.data(), dtype::uint64, shape);
    distance_transform(host{}, input_of(image, shape), out, options);
    return squared;
}

/// Squares beyond 2^53 are integers as long as no two cells of the grid are 2^62 apart. If two are, and a result might
/// be a square that double rounds, uint64 is refused.
TEST(OptionsLines, SquaresOfSixtyBitsAreExactOrRefused) {
    constexpr std::uint64_t cell = 1000003;
    std::vector<std::uint8_t> image(3000, 1);
    image[0] = 0;
    const auto around = squares_of_a_line(image, {.spacing = double{cell}, .border = border::periodic});
    for (std::uint64_t i = 0; i < 3000; ++i) {
        const std::uint64_t d = std::min(i, 3000 - i);
        ASSERT_EQ(around[i], d * d * cell * cell) << "cell " << i;
    }
    const auto near = squares_of_a_line(image, {.spacing = double{cell}, .max_distance = 90.0 * cell});
    for (std::uint64_t i = 0; i < 3000; ++i)
        ASSERT_EQ(near[i], i <= 90 ? i * i * cell * cell : ~std::uint64_t{0}) << "cell " << i;
    const std::vector<std::uint8_t> shorter(image.begin(), image.begin() + 2140);
    const auto open = squares_of_a_line(shorter, {.spacing = double{cell}});
    for (std::uint64_t i = 0; i < 2140; ++i) ASSERT_EQ(open[i], i * i * cell * cell) << "cell " << i;
    EXPECT_THROW(squares_of_a_line(image, {.spacing = double{cell}, .border = border::closed}), error);
    EXPECT_THROW(squares_of_a_line(image, {.spacing = double{cell}, .max_distance = 1000.0 * cell}), error);
}

}  // namespace
}  // namespace nearfield::test
