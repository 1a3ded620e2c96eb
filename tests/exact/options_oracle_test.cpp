// The oracle of the options against cases computed by hand, against the simple oracle, and against other methods of its
// own.
#include <gtest/gtest.h>

#include <cmath>

#include "exact/options_call.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
using oracle::edge, oracle::rule, oracle::side;
using numbers = std::vector<double>;
using indices = std::vector<std::int64_t>;

oracle::option_problem line(const std::vector<std::uint64_t>& values) {
    oracle::option_problem p;
    p.shape = {static_cast<std::int64_t>(values.size())};
    p.spacing = {1}, p.border = {edge::open};
    p.value = values;
    for (std::uint64_t v : values) p.zero.push_back(v == 0);
    return p;
}

TEST(OptionsOracle, ClosedBordersByHand) {
    auto p = line({1, 1, 1, 1, 1});
    p.border = {edge::closed};
    EXPECT_EQ(solve(p).squared, (numbers{1, 4, 9, 4, 1}));
    EXPECT_EQ(solve(p).index, indices(5, -1));
    p.value[1] = 0, p.zero[1] = 1;
    EXPECT_EQ(solve(p).squared, (numbers{1, 0, 1, 4, 1}));
    EXPECT_EQ(solve(p).index, (indices{1, 1, 1, 1, -1})) << "a site is preferred to an equally near border";
    p.half_cell = true;
    EXPECT_EQ(solve(p).squared, (numbers{0.25, 0, 0.25, 2.25, 0.25}));
    EXPECT_EQ(solve(p).units, (indices{1, 0, 1, 9, 1}));
    auto one = line({7});
    one.border = {edge::closed}, one.spacing = {3};
    EXPECT_EQ(solve(one).squared, numbers{9});
}

TEST(OptionsOracle, OneSpacingIsCountedInCellsByHand) {
    auto p = line({1, 1, 1, 1, 0});
    p.spacing = {0.3};
    const double w = 0.3 * 0.3;
    EXPECT_EQ(solve(p).squared, (numbers{w * 16, w * 9, w * 4, w, 0}));
    EXPECT_FALSE(solve(p).whole);
    p.half_cell = true;
    EXPECT_EQ(solve(p).squared, (numbers{w / 4 * 49, w / 4 * 25, w / 4 * 9, w / 4, 0}));
    p.half_cell = false, p.shape = {5, 1}, p.spacing = {0.3, 0.3}, p.border = {edge::open, edge::open};
    EXPECT_EQ(solve(p).squared, (numbers{w * 16, w * 9, w * 4, w, 0}));
    // Two steps along both axes: w * 8, where w * 4 + w * 4 would round twice.
    const oracle::problem plain{{3, 3}, {0.3, 0.3}, {0, 0, 0, 0, 0, 0, 0, 0, 1}};
    EXPECT_EQ(by_cells(plain).squared[0], w * 8);
    EXPECT_EQ(by_cells(plain).squared[1], w * 5);
    EXPECT_EQ(by_lines(plain).squared, by_cells(plain).squared);
}

TEST(OptionsOracle, PeriodicLineByHand) {
    auto p = line({0, 1, 1, 1, 1, 1});
    p.border = {edge::periodic};
    EXPECT_EQ(solve(p).squared, (numbers{0, 1, 4, 9, 4, 1}));
    auto tie = line({1, 0, 1, 1, 1, 0});
    tie.border = {edge::periodic};
    EXPECT_EQ(solve(tie).squared, (numbers{1, 0, 1, 4, 1, 0}));
    EXPECT_EQ(solve(tie).index, (indices{1, 1, 1, 1, 5, 5}));
}

TEST(OptionsOracle, SignByHand) {
    auto p = line({0, 0, 5, 6, 7, 0});
    p.sign = side::inside_negative;
    const auto a = solve(p);
    EXPECT_EQ(a.squared, (numbers{4, 1, 1, 4, 1, 1}));
    EXPECT_EQ(a.negative, (flags_t{0, 0, 1, 1, 1, 0}));
    EXPECT_EQ(a.index, (indices{2, 2, 1, 1, 5, 4}));
    p.sign = side::outside_negative;
    EXPECT_EQ(solve(p).negative, (flags_t{1, 1, 0, 0, 0, 1}));
    p.sites = rule::nonzero;
    EXPECT_EQ(solve(p).negative, (flags_t{0, 0, 1, 1, 1, 0}));
    EXPECT_EQ(solve(p).squared, a.squared);
    auto none = line({1, 1});
    none.sign = side::inside_negative;
    EXPECT_EQ(solve(none).squared, (numbers{inf, inf}));
    EXPECT_EQ(solve(none).negative, (flags_t{1, 1}));
}

TEST(OptionsOracle, OtherLabelsByHand) {
    auto p = line({1, 1, 2, 2, 0, 0, 1});
    p.sites = rule::other_labels;
    EXPECT_EQ(solve(p).squared, (numbers{4, 1, 1, 1, 0, 0, 1}));
    EXPECT_EQ(solve(p).index, (indices{2, 2, 1, 4, 4, 5, 5}));
    p.sign = side::inside_negative;
    EXPECT_EQ(solve(p).squared, (numbers{4, 1, 1, 1, 1, 1, 1}));
    EXPECT_EQ(solve(p).negative, (flags_t{1, 1, 1, 1, 0, 0, 1}));
    EXPECT_EQ(solve(p).index, (indices{2, 2, 1, 4, 3, 6, 5}));
}

TEST(OptionsOracle, LimitAndTrustByHand) {
    auto p = line({1, 1, 1, 1, 0, 1, 1});
    EXPECT_EQ(solve(p).trusted, (flags_t{0, 0, 1, 1, 1, 1, 0}));
    p.max_distance = 1;
    EXPECT_EQ(solve(p).squared, (numbers{inf, inf, inf, 1, 0, 1, inf}));
    EXPECT_EQ(solve(p).trusted, (flags_t{0, 1, 1, 1, 1, 1, 0}))
        << "cell 1 is two away from the border: beyond the limit";
    p.border = {edge::closed};
    EXPECT_EQ(solve(p).squared, (numbers{1, inf, inf, 1, 0, 1, 1}));
    EXPECT_EQ(solve(p).trusted, flags_t(7, 1));
    p.max_distance = 0;
    EXPECT_EQ(solve(p).index, (indices{-1, -1, -1, -1, 4, -1, -1}));
}

TEST(OptionsOracle, PowerByHand) {
    auto p = line({1, 0, 0, 0, 1, 0});
    p.sites = rule::nonzero;
    p.power = {-1, 0, 0, 0, 4, 0};
    EXPECT_EQ(solve(p).squared, (numbers{1, 2, 0, -3, -4, -3}));
    EXPECT_EQ(solve(p).index, (indices{0, 0, 4, 4, 4, 4}));
    p.power[4] = std::nan("");
    EXPECT_EQ(solve(p).index, indices(6, 0));
    p.power[0] = -inf;
    EXPECT_EQ(solve(p).index, indices(6, -1));
    EXPECT_EQ(solve(p).squared, numbers(6, inf));
}

TEST(OptionsOracle, BatchAndSpacingByHand) {
    auto p = line({0, 1, 1, 1, 1, 0});
    p.shape = {2, 3}, p.spacing = {0.3, 2}, p.border = {edge::closed, edge::open}, p.batch_axes = 1;
    EXPECT_TRUE(solve(p).whole);
    EXPECT_EQ(solve(p).squared, (numbers{0, 4, 16, 16, 4, 0}));
    EXPECT_EQ(solve(p).index, (indices{0, 0, 0, 2, 2, 2}));
    EXPECT_EQ(solve(p).source, (indices{0, 0, 0, 5, 5, 5}));
}

/// A random problem without options.
oracle::option_problem plain(dice& random, double spacing) {
    oracle::option_problem p;
    for (int axis = 0; axis < 3; ++axis) p.shape.push_back(1 + random.below(7));
    p.spacing = {spacing, 2 * spacing, spacing / 3 * 3}, p.border.assign(3, edge::open);
    for (std::int64_t i = 0; i < cells_of(p.shape); ++i) {
        p.value.push_back(static_cast<std::uint64_t>(random.below(4)));
        p.zero.push_back(p.value.back() == 0);
    }
    return p;
}

TEST(OptionsOracle, EqualsTheSimpleOracle) {
    dice random(7);
    for (int round = 0; round < 200; ++round) {
        const auto p = plain(random, round % 2 == 0 ? 1 : 0.3);
        const auto simple = oracle::by_cells({p.shape, p.spacing, p.zero});
        const auto a = solve(p);
        ASSERT_EQ(a.squared, simple.squared);
        ASSERT_EQ(a.index, simple.index);
    }
}

TEST(OptionsOracle, PeriodicIsTheMiddleOfATiling) {
    dice random(8);
    for (int round = 0; round < 40; ++round) {
        auto p = plain(random, 0.7);
        const auto open = p;
        p.border.assign(3, edge::periodic);
        auto tiled = open;
        for (std::int64_t& n : tiled.shape) n *= 3;
        tiled.value.clear(), tiled.zero.clear();
        std::vector<std::size_t> middle(p.value.size());
        for (std::int64_t i = 0; i < cells_of(tiled.shape); ++i) {
            auto at = oracle::coordinates_of(i, tiled.shape);
            std::int64_t from = 0;
            bool crop = true;
            for (std::size_t axis = 0; axis < 3; ++axis) {
                crop = crop && at[axis] / p.shape[axis] == 1;
                from = from * p.shape[axis] + at[axis] % p.shape[axis];
            }
            if (crop) middle[static_cast<std::size_t>(from)] = static_cast<std::size_t>(i);
            tiled.value.push_back(p.value[static_cast<std::size_t>(from)]);
            tiled.zero.push_back(p.zero[static_cast<std::size_t>(from)]);
        }
        if (cells_of(tiled.shape) > 3000) continue;
        const auto a = solve(p), b = solve(tiled);
        for (std::size_t i = 0; i < middle.size(); ++i) ASSERT_EQ(a.squared[i], b.squared[middle[i]]);
    }
}

TEST(OptionsOracle, LabelsAndSignsAreLoopsOverMasks) {
    dice random(9);
    for (int round = 0; round < 100; ++round) {
        auto p = plain(random, round % 2 == 0 ? 2 : 0.31);
        p.sites = rule::other_labels;
        const auto labels = solve(p);
        auto by_sign = p;
        by_sign.sites = rule::zero, by_sign.sign = side::inside_negative;
        const auto with_sign = solve(by_sign);
        for (std::uint64_t label = 0; label < 4; ++label) {
            oracle::problem mask{p.shape, p.spacing, {}};
            for (std::uint64_t v : p.value) mask.site.push_back(label == 0 ? v != 0 : v != label);
            const auto loop = oracle::by_cells(mask);
            for (std::size_t i = 0; i < p.value.size(); ++i) {
                if (p.value[i] == label) {
                    ASSERT_EQ(labels.squared[i], label == 0 ? 0 : loop.squared[i]);
                    ASSERT_EQ(labels.index[i], label == 0 ? static_cast<std::int64_t>(i) : loop.index[i]);
                }
                if (p.value[i] == 0 && label == 0) {
                    ASSERT_EQ(with_sign.squared[i], loop.squared[i]);
                }
            }
        }
    }
}

TEST(OptionsOracle, BoundsAreBounds) {
    dice random(10);
    for (int round = 0; round < 300; ++round) {
        auto p = plain(random, 1);
        for (edge& e : p.border) e = static_cast<edge>(random.below(3));
        p.half_cell = random.one_in(2);
        if (random.one_in(2)) p.zero.assign(p.zero.size(), 0);
        const auto bound = bound_of(p);
        EXPECT_LE(bound.reached, bound.largest);
        const auto a = solve(p);
        for (std::size_t i = 0; i < a.squared.size(); ++i) {
            if (a.found[i] != 0) {
                ASSERT_LE(a.squared[i], static_cast<double>(bound.reached));
            }
        }
    }
}

TEST(HalfBits, RoundOnceToNearestEven) {
    const std::pair<double, int> known[] = {{0, 0},
                                            {1, 0x3c00},
                                            {-2, 0xc000},
                                            {65504, 0x7bff},
                                            {65519.99999, 0x7bff},
                                            {65520, 0x7c00},
                                            {-inf, 0xfc00},
                                            {0x1p-24, 1},
                                            {0x1p-25, 0},
                                            {0x1.00001p-25, 1},
                                            {0x1.8p-24, 2},
                                            {1 + 0x1p-11, 0x3c00},
                                            {1 + 0x3p-11, 0x3c02},
                                            {1 + 0x1.0000000001p-11, 0x3c01}};
    for (const auto& [value, bits] : known) EXPECT_EQ(half_bits(value), bits) << value;
}

}  // namespace
}  // namespace nearfield::test
