// The sums behind the tables, against 113-bit numbers, which hold each of these sums exactly.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "label/statistics_rows.hpp"

namespace nearfield::statistics {
namespace {

__extension__ using quad = __float128;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T>
struct row {
    T lowest, highest;
    double sum, mean, variance;
};

template <class T>
row<T> row_of(const std::vector<T>& values, std::size_t first = 0) {
    value_range range;
    for (T value : values) range.add_value(value);
    const fixed_scale scale = fixed_scale::of(exponent_of<T>(range));
    value_sums sums, rest;
    // Values go into two parts, each beginning anywhere, because the order must not matter.
    for (std::size_t i = 0; i < values.size(); ++i)
        (i < values.size() / 2 ? sums : rest).add_natural(natural_of(values[(i + first) % values.size()], scale));
    sums.add(rest);
    row<T> got{};
    columns to;
    to.lowest.data = &got.lowest, to.highest.data = &got.highest, to.sum.data = &got.sum, to.mean.data = &got.mean,
    to.variance.data = &got.variance;
    for (column* each : {&to.lowest, &to.highest, &to.sum, &to.mean, &to.variance}) each->rows = 1;
    put_range<T>(to, 0, range);
    put_sums<T>(to, 0, values.size(), range, sums);
    return got;
}

template <class T>
void expect_true(const std::vector<T>& values) {
    const row<T> got = row_of(values);
    const auto n = static_cast<quad>(values.size());
    quad sum = 0, squares = 0;
    T lowest = values[0], highest = values[0];
    for (T value : values)
        sum += static_cast<quad>(value), lowest = std::min(lowest, value), highest = std::max(highest, value);
    for (T value : values) squares += (static_cast<quad>(value) - sum / n) * (static_cast<quad>(value) - sum / n);
    EXPECT_EQ(got.lowest, lowest);
    EXPECT_EQ(got.highest, highest);
    EXPECT_EQ(got.sum, static_cast<double>(sum));
    EXPECT_EQ(got.mean, static_cast<double>(sum / n));
    // The oracle's mean is rounded to 113 bits, so a tie may be rounded to either side.
    const auto variance = static_cast<double>(squares / n);
    EXPECT_LE(std::abs(got.variance - variance), variance * 0x1p-52);
    const row<T> turned = row_of(values, 1);
    EXPECT_EQ(got.sum, turned.sum);
    EXPECT_EQ(got.variance, turned.variance);
}

template <class T, class Draw>
void expect_true_often(const Draw& draw) {
    std::mt19937_64 random(1);
    for (int round = 0; round < 2000; ++round) {
        std::vector<T> values(1 + static_cast<std::size_t>(round % 9));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = draw(random);
        expect_true(values);
    }
}

template <class T>
struct Integers : testing::Test {};
using integer_types = testing::Types<bool, std::uint8_t, std::int8_t, std::uint16_t, std::int16_t, std::uint32_t,
                                     std::int32_t, std::uint64_t, std::int64_t>;
TYPED_TEST_SUITE(Integers, integer_types);

TYPED_TEST(Integers, EveryTableIsExact) {
    using T = TypeParam;
    expect_true_often<T>([](auto& random) {
        if constexpr (std::is_same_v<T, bool>) return random() % 2 != 0;
        else return static_cast<T>(random());
    });
    using limits = std::numeric_limits<T>;
    expect_true<T>({limits::lowest()});
    expect_true<T>({limits::max(), limits::max(), limits::max()});
    expect_true<T>({limits::lowest(), limits::max(), T{0}, T{1}});
}

TEST(FixedPoint, ValuesOfLikeSizeAreExact) {
    expect_true_often<float>(
        [](auto& random) { return static_cast<float>(static_cast<std::int64_t>(random())) * 1e-3f; });
    expect_true_often<double>([](auto& random) {
        return std::ldexp(1 + static_cast<double>(random() >> 12), -45) * (random() % 2 == 0 ? 1 : -1);
    });
}

TEST(FixedPoint, SubnormalValuesAreExact) {
    expect_true_often<float>([](auto& random) {
        return static_cast<float>(static_cast<int>(random() % 1999) - 999) * std::numeric_limits<float>::denorm_min();
    });
    const double least = std::numeric_limits<double>::denorm_min();
    const row<double> got = row_of<double>({least, 2 * least, 6 * least});
    EXPECT_EQ(got.sum, 9 * least);
    EXPECT_EQ(got.mean, 3 * least);
    EXPECT_EQ(got.variance, 0);
}

TEST(FixedPoint, TheLargestValuesOverflowToInfinityOnly) {
    const double most = std::numeric_limits<double>::max();
    const row<double> got = row_of<double>({most, most, -most});
    EXPECT_EQ(got.sum, most);
    EXPECT_EQ(row_of<double>({most, most}).sum, infinity);
    EXPECT_EQ(row_of<double>({most, most}).mean, most);
    EXPECT_EQ(row_of<double>({most, most}).variance, 0);
    EXPECT_EQ(row_of<double>({most, -most}).variance, infinity);
}

TEST(FixedPoint, SmallValuesBesideALargeOneAreRoundedToItsUnit) {
    // The exponent of 2^0 < 2^1 makes the unit 2^(1 - 62).
    const double unit = 0x1p-61;
    EXPECT_EQ(row_of<double>({1, -1, unit}).sum, unit);
    EXPECT_EQ(row_of<double>({1, -1, unit * 0.5}).sum, 0);
    EXPECT_EQ(row_of<double>({1, -1, unit * 1.5}).sum, 2 * unit);
    EXPECT_EQ(row_of<double>({1, -1, unit * 0.51}).sum, unit);
    EXPECT_EQ(row_of<double>({1e300, -1e300, 1e-300}).sum, 0);
}

TEST(FixedPoint, WhatIsNotFinite) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const std::vector<double>& with : {std::vector<double>{1, nan, 2}, {nan}, {infinity, nan, -infinity}}) {
        const row<double> got = row_of(with);
        for (double each : {got.lowest, got.highest, got.sum, got.mean, got.variance}) EXPECT_TRUE(std::isnan(each));
    }
    const row<double> up = row_of<double>({1, infinity}), down = row_of<double>({-infinity, 1}),
                      both = row_of<double>({-infinity, 3, infinity});
    EXPECT_EQ(up.lowest, 1);
    EXPECT_EQ(up.highest, infinity);
    EXPECT_EQ(up.sum, infinity);
    EXPECT_EQ(up.mean, infinity);
    EXPECT_TRUE(std::isnan(up.variance));
    EXPECT_EQ(down.sum, -infinity);
    EXPECT_EQ(down.highest, 1);
    EXPECT_EQ(both.lowest, -infinity);
    EXPECT_EQ(both.highest, infinity);
    EXPECT_TRUE(std::isnan(both.sum));
}

TEST(FixedPoint, ZerosHaveASign) {
    const row<float> got = row_of<float>({0.0f, -0.0f});
    EXPECT_TRUE(std::signbit(got.lowest));
    EXPECT_FALSE(std::signbit(got.highest));
    EXPECT_EQ(got.sum, 0);
}

TEST(ShapeSums, ARunIsItsCells) {
    const std::int64_t side[] = {4, 5, 9};
    for (std::int64_t start = 0; start < 9; ++start)
        for (std::int64_t cells = 1; start + cells <= 9; ++cells) {
            shape_sums<3> run, one_by_one;
            std::int64_t at[] = {2, 3, start};
            run.add_run(at, cells, side, 3, 7);
            for (std::int64_t i = 0; i < cells; ++i, ++at[2]) one_by_one.add_run(at, 1, side, 3, 7);
            EXPECT_EQ(run.size, one_by_one.size);
            EXPECT_EQ(run.border, one_by_one.border);
            EXPECT_EQ(run.border, start == 0 || start + cells == 9);
            for (int axis = 0; axis < 3; ++axis) {
                EXPECT_EQ(run.sum[axis], one_by_one.sum[axis]);
                EXPECT_EQ(run.first[axis], one_by_one.first[axis]);
                EXPECT_EQ(run.end[axis], one_by_one.end[axis]);
            }
        }
}

TEST(ShapeSums, SumsFitUpTo64Bits) {
    const std::int64_t image[] = {std::int64_t{1} << 17, std::int64_t{1} << 17}, line[] = {std::int64_t{1} << 33};
    EXPECT_TRUE(sums_fit(image, 2));
    EXPECT_FALSE(sums_fit(line, 1));
}

}  // namespace
}  // namespace nearfield::statistics
