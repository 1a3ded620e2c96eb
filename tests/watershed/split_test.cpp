// Objects that touch, on the host and on a GPU: each method against its definition, computed by slow means.
#include <gtest/gtest.h>

#include <cmath>

#include "nearfield/split.hpp"
#include "refused.hpp"
#include "watershed/split_cases.hpp"

namespace nearfield::test {
namespace {

TEST(Split, IsMadeOfWhatItSays) {
    check_splits(split_on_host, 0, 600,
                 {split_method::watershed, split_method::lecture, split_method::voronoi, split_method::geodesic});
}

TEST(Split, DiscsThatTouchAreSeparated) {
    split_case c;
    c.shape = {50, 120}, c.mask.assign(6000, 0);
    for (std::int64_t y = 0; y < 50; ++y)
        for (std::int64_t x = 0; x < 120; ++x)
            for (const std::int64_t middle : {24, 58, 92})
                if ((y - 25) * (y - 25) + (x - middle) * (x - middle) <= 18 * 18)
                    c.mask[static_cast<std::size_t>(y * 120 + x)] = 1;
    for (const split_method method :
         {split_method::watershed, split_method::lecture, split_method::voronoi, split_method::geodesic}) {
        c.options.method = method;
        c.options.h = method == split_method::watershed ? std::optional<double>{} : 12;
        EXPECT_EQ(split_on_host(c).count, 3);
    }
    c.options.h = {};
    EXPECT_EQ(split_on_host(c).count, 3) << "half of the largest distance";
    c.options = {}, c.options.h = 20;
    EXPECT_EQ(split_on_host(c).count, 1);
    c.options = {}, c.mask[2 * 120 + 2] = 1;
    EXPECT_EQ(split_on_host(c).count, 4);
    c.options.smallest = 2;
    EXPECT_EQ(split_on_host(c).count, 3);
}

TEST(GrayObjects, OptionsThatAreGivenStay) {
    constexpr std::int64_t side = 60;
    std::vector<float> image(side * side);
    std::vector<std::uint8_t> mask(2 * side * side, 7);
    for (std::int64_t y = 0; y < side; ++y)
        for (std::int64_t x = 0; x < side; ++x)
            for (const std::int64_t at : {15, 45})
                if ((y - 30) * (y - 30) + (x - at) * (x - at) <= 64) image[static_cast<std::size_t>(y * side + x)] = 9;
    const shape_t shape{side, side};
    const auto in = any_input<host>::contiguous(image.data(), dtype::float32, shape);
    auto to = any_output<host>::contiguous(mask.data(), dtype::boolean, shape);
    to.stride = {2 * side, 2};
    const split_options chosen = gray_objects(host{}, in, to);
    EXPECT_EQ(chosen.h, 0.75);
    EXPECT_EQ(chosen.smallest, 9) << "a twentieth of a disc that the blur has made smaller than 197 cells";
    EXPECT_EQ(mask[2 * (30 * side + 15)], 1);
    EXPECT_EQ(mask[2 * (30 * side + 45)], 1);
    EXPECT_EQ(mask[2 * (30 * side + 30)], 0);
    for (std::size_t i = 0; i < image.size(); ++i) ASSERT_EQ(mask[2 * i + 1], 7) << i;
    EXPECT_NEAR(*gray_objects(host{}, in, to, {.spacing = 10}).h, 7.5, 1e-12);
    const split_options given = gray_objects(host{}, in, to, {.h = 3, .smallest = 2});
    EXPECT_EQ(given.h, 3);
    EXPECT_EQ(given.smallest, 2);
    EXPECT_FALSE(gray_objects(host{}, in, to, {.method = split_method::lecture}).h);
    expect_refused(
        [&] {
            static_cast<void>(gray_objects(host{}, in, any_output<host>::contiguous(mask.data(), dtype::uint8, shape)));
        },
        {"uint8"});
    for (float& each : image) each = -each;
    gray_objects(host{}, in, to, {}, true);
    EXPECT_EQ(mask[2 * (30 * side + 15)], 1) << "dark";
    EXPECT_EQ(mask[2 * (30 * side + 30)], 0) << "dark";
    expect_refused(
        [&] {
            static_cast<void>(gray_objects(
                host{}, in, any_output<host>::contiguous(mask.data(), dtype::boolean, shape_t{side, side, 1})));
        },
        {"60x60"});
}

TEST(Otsu, ReadsEveryTypeAndStride) {
    // 1, 2 and 8, 9 as binary16, every other element.
    const std::vector<std::uint16_t> half{0x3c00, 0x7bff, 0x4000, 0x7bff, 0x4800, 0x7bff, 0x4880, 0x7bff};
    auto in = any_input<host>::contiguous(half.data(), dtype::float16, shape_t{2, 2});
    in.stride = {4, 2};
    const double cut = threshold_otsu(host{}, in);
    EXPECT_GE(cut, 2);
    EXPECT_LT(cut, 8);
    const std::vector<std::int64_t> far{-4'000'000'000, -3'999'999'999, 7, 8};
    EXPECT_EQ(threshold_otsu(host{}, any_input<host>::contiguous(far.data(), dtype::int64, shape_t{2, 2})),
              std::ceil(-4e9 + 4'000'000'008.0 / 1024) - 1);
    expect_refused([&] { static_cast<void>(threshold_otsu(host{-1, {}}, in)); }, {"threads"});
    expect_refused([&] { static_cast<void>(threshold_otsu(host{}, any_input<host>{})); }, {"image"});
}

TEST(Split, WrongArgumentsAreRefused) {
    std::vector<std::uint8_t> mask(12, 1);
    std::vector<std::int32_t> out(12, 7);
    const shape_t shape{3, 4}, other{4, 3}, many{1, 1, 3, 4};
    const auto in = any_input<host>::contiguous(mask.data(), dtype::uint8, shape);
    const auto to = any_output<host>::contiguous(out.data(), dtype::int32, shape);
    const auto refused = [&](const split_options& options, std::initializer_list<const char*> words) {
        expect_refused([&] { split(host{}, in, to, options); }, words);
    };
    refused({.border = border::closed}, {"border", "closed"});
    refused({.h = -1}, {"h is -1"});
    refused({.h = std::nan("")}, {"h is nan"});
    refused({.smallest = 0}, {"smallest is 0"});
    refused({.spacing = spacing(-1)}, {"spacing"});
    expect_refused([&] { split(host{}, in, any_output<host>::contiguous(out.data(), dtype::int32, other)); }, {"4x3"});
    expect_refused([&] { split(host{}, in, any_output<host>::contiguous(mask.data(), dtype::uint8, shape)); },
                   {"uint8"});
    expect_refused(
        [&] {
            split(host{}, any_input<host>::contiguous(mask.data(), dtype::uint8, many),
                  any_output<host>::contiguous(out.data(), dtype::int32, many));
        },
        {"mask", "4 axes"});
    EXPECT_EQ(out, std::vector<std::int32_t>(12, 7));
    std::int64_t count = 5;
    const shape_t none{0, 4}, one{1};
    split(host{}, any_input<host>::contiguous(mask.data(), dtype::uint8, none),
          any_output<host>::contiguous(out.data(), dtype::int32, none), {},
          any_output<host>::contiguous(&count, dtype::int64, one));
    EXPECT_EQ(count, 0);
}

}  // namespace
}  // namespace nearfield::test
