#include "cli/load.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

template <class T>
io::array array_of(std::vector<std::int64_t> shape, const std::vector<T>& values) {
    io::array made = io::make_array(dtype_of<T>(), std::move(shape));
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(made.data.get()));
    return made;
}

template <class T>
std::vector<T> values_of(const io::array& from) {
    const T* first = reinterpret_cast<const T*>(from.data.get());
    return {first, first + from.cells()};
}

TEST(Channel, LuminanceIsZeroOnlyForBlack) {
    io::array image = array_of<std::uint8_t>({1, 3, 3}, {0, 0, 0, 0, 0, 1, 255, 255, 255});
    image.color = true;
    const auto gray = values_of<double>(take_channel(image, "luminance"));
    EXPECT_EQ(gray[0], 0);
    EXPECT_GT(gray[1], 0);
    EXPECT_EQ(gray[2], 255);
    EXPECT_EQ(values_of<std::uint8_t>(take_channel(image, "blue")), (std::vector<std::uint8_t>{0, 1, 255}));
    EXPECT_EQ(values_of<std::uint8_t>(take_channel(image, "2")), (std::vector<std::uint8_t>{0, 1, 255}));
    EXPECT_THROW(static_cast<void>(take_channel(image, "3")), error);
    EXPECT_THROW(static_cast<void>(take_channel(image, "alpha")), error);
}

TEST(Mask, IsAboveTheThresholdAndNaNIsNot) {
    const io::array image = array_of<float>({5}, {-1, 0.5F, 0.6F, NAN, INFINITY});
    EXPECT_EQ(values_of<std::uint8_t>(make_mask(image, 0.5)), (std::vector<std::uint8_t>{0, 0, 255, 0, 255}));
}

TEST(Otsu, SeparatesTwoClasses) {
    std::vector<std::uint8_t> values;
    for (int i = 0; i < 300; ++i) values.push_back(static_cast<std::uint8_t>(i % 3 == 0 ? 200 + i % 7 : 30 + i % 11));
    const double cut = otsu_threshold(array_of<std::uint8_t>({300}, values));
    EXPECT_GE(cut, 40);
    EXPECT_LT(cut, 200);
    EXPECT_THROW(static_cast<void>(otsu_threshold(array_of<float>({3}, {2, 2, NAN}))), error);
    EXPECT_THROW(static_cast<void>(otsu_threshold(array_of<float>({1}, {NAN}))), error);
}

TEST(Local, FindsSpotsOnASlope) {
    std::vector<double> values;
    for (int r = 0; r < 60; ++r)
        for (int c = 0; c < 60; ++c) values.push_back(2 * c + (r % 4 == 2 && c % 4 == 2 ? 100 : 0));
    const auto mask = values_of<std::uint8_t>(apply_threshold(array_of<double>({60, 60}, values), "local"));
    for (std::size_t i = 0; i < mask.size(); ++i) EXPECT_EQ(mask[i] != 0, i / 60 % 4 == 2 && i % 4 == 2) << i;
    EXPECT_THROW(static_cast<void>(apply_threshold(array_of<double>({2, 2, 2}, std::vector<double>(8)), "local")),
                 error);
    EXPECT_THROW(static_cast<void>(apply_threshold(array_of<double>({2}, {1, 2}), "abc")), error);
}

TEST(Half, FollowsIEEE) {
    const auto value = [](std::uint16_t bits) { return static_cast<double>(half{bits}); };
    EXPECT_EQ(value(0x0000), 0);
    EXPECT_EQ(value(0x3c00), 1);
    EXPECT_EQ(value(0xc000), -2);
    EXPECT_EQ(value(0x7bff), 65504);
    EXPECT_EQ(value(0x0001), std::ldexp(1, -24));
    EXPECT_EQ(value(0x7c00), INFINITY);
    EXPECT_TRUE(std::isnan(value(0x7e00)));
}

}  // namespace
}  // namespace nearfield::cli
