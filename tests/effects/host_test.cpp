// Layers against their formulas, padding against brute force, and canvases.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>

#include "effects/cases.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

using namespace effects;

/// The field of a disc, and a layer of it.
struct disc_field {
    static constexpr std::int64_t n = 65;
    static constexpr double middle = 32, radius = 14;
    std::vector<float> field;

    disc_field() {
        for (std::int64_t i = 0; i < n * n; ++i) field.push_back(static_cast<float>(at(i)));
    }
    static double at(std::int64_t i) {
        return radius - std::hypot(static_cast<double>(i / n) - middle, static_cast<double>(i % n) - middle);
    }
    [[nodiscard]] std::vector<float> with(const effect& what) const {
        return on_host(layer_case{{n, n}, field, what, {}});
    }
};

double cover_of(double d) { return std::clamp(d + 0.5, 0.0, 1.0); }

TEST(Effects, PointwiseLayersAreTheirFormulas) {
    const disc_field disc;
    const auto line = disc.with(outline{1, 3}), outer = disc.with(glow{10, side::outside, 3}),
               inner = disc.with(glow{6, side::inside, 1}), lines = disc.with(contour{5, 2, side::outside});
    for (std::int64_t i = 0; i < disc_field::n * disc_field::n; ++i) {
        const double d = disc_field::at(i);
        const auto k = static_cast<std::size_t>(i);
        EXPECT_NEAR(line[k], cover_of(d + 3) - cover_of(d - 1), 1e-5);
        EXPECT_NEAR(outer[k], std::pow(std::clamp(1 + d / 10, 0.0, 1.0), 3), 1e-5);
        EXPECT_NEAR(inner[k], std::clamp(1 - d / 6, 0.0, 1.0) * cover_of(d), 1e-5);
        if (d < -2) {
            EXPECT_NEAR(lines[k], std::clamp(1.5 - std::abs(std::remainder(d, 5.0)), 0.0, 1.0), 1e-4) << d;
        } else if (d > 2) {
            EXPECT_EQ(lines[k], 0);
        }
    }
}

/// A shadow is a moved shape; without blur it has the shape's edge.
TEST(Effects, ShadowsAreMovedShapes) {
    const disc_field disc;
    const auto hard = disc.with(shadow{3, -5, 0, 0}), soft = disc.with(shadow{3, -5, 6, 2});
    for (std::int64_t y = 8; y < 57; ++y)
        for (std::int64_t x = 2; x < 57; ++x) {
            const double d = disc_field::at((y - 3) * disc_field::n + x + 5),
                         t = std::clamp((d + 2 + 6) / 12, 0.0, 1.0);
            EXPECT_NEAR(hard[static_cast<std::size_t>(y * disc_field::n + x)], cover_of(d), 1e-4);
            EXPECT_NEAR(soft[static_cast<std::size_t>(y * disc_field::n + x)], t * t * (3 - 2 * t), 1e-4);
        }
}

/// The side that faces the light is bright, the other one dark, and flat parts are unchanged.
TEST(Effects, BevelsFaceTheLight) {
    const disc_field disc;
    const auto raised = disc.with(bevel{8, 90, 45, true});
    const auto at = [&](std::int64_t y, std::int64_t x) {
        return raised[static_cast<std::size_t>(y * disc_field::n + x)];
    };
    EXPECT_GT(at(20, 32), 0.15);
    EXPECT_LT(at(44, 32), -0.3);
    EXPECT_EQ(at(32, 32), 0);
    EXPECT_EQ(at(5, 32), 0);
    for (std::int64_t y = 0; y < 65; ++y)
        for (std::int64_t x = 0; x < 65; ++x) EXPECT_NEAR(at(y, x), at(y, 64 - x), 1e-5);
}

/// A trail fades evenly from the shape along its direction.
TEST(Effects, TrailsFallEvenly) {
    const disc_field disc;
    const auto left = disc.with(trail{0, -16});
    const auto at = [&](std::int64_t x) { return left[static_cast<std::size_t>(32 * disc_field::n + x)]; };
    for (std::int64_t x = 3; x < 18; ++x) EXPECT_NEAR(at(x), 1 - (18 - static_cast<double>(x)) / 16, 0.06) << x;
    EXPECT_EQ(at(32), 1);
    EXPECT_EQ(at(50), 0);
    EXPECT_EQ(at(1), 0);
}

/// Behind a disc there is shadow, farther on light, and a gradual transition between them.
TEST(Effects, LightsCastShadows) {
    const disc_field disc;
    const auto lit = disc.with(light{32, 2, 3, 200});
    const auto at = [&](std::int64_t y, std::int64_t x) {
        return lit[static_cast<std::size_t>(y * disc_field::n + x)];
    };
    EXPECT_EQ(at(32, 60), 0);
    EXPECT_EQ(at(32, 32), 0);
    EXPECT_GT(at(32, 10), 0.9);
    // The tangent from the lamp, 30 pixels from the middle; and a ray whose distance from the disc is the cone's width.
    const double slope = std::tan(std::asin(14.0 / 30)), free = std::tan(std::asin(16.0 / 30));
    const auto edge = static_cast<std::int64_t>(32 - slope * 45), clear = static_cast<std::int64_t>(32 - free * 45);
    EXPECT_LT(at(edge + 1, 47), 0.05);
    EXPECT_GT(at(clear - 2, 47), 0.8);
    for (std::int64_t y = clear - 2; y < edge; ++y) EXPECT_GE(at(y, 47), at(y + 1, 47) - 0.01F) << y;
    for (std::int64_t y = 0; y < 65; ++y)
        for (std::int64_t x = 0; x < 65; ++x) EXPECT_NEAR(at(y, x), at(64 - y, x), 1e-4);
}

TEST(Effects, DotsCoverTheirTone) {
    for (const float tone : {0.0F, 0.1F, 0.33F, 0.6F, 0.8F, 0.9F, 1.0F}) {
        const auto dots = on_host(layer_case{{240, 240}, std::vector<float>(240 * 240, tone), halftone{12, 30}, {}});
        EXPECT_NEAR(std::accumulate(dots.begin(), dots.end(), 0.0) / (240 * 240), tone, 0.015) << tone;
    }
}

TEST(Effects, ThreadsAndTilingsDoNotShow) {
    for (std::uint64_t seed = 0; seed < share(0, 240); ++seed) {
        layer_case c = drawn_layer_case(seed);
        const auto one = on_host(c);
        ASSERT_EQ(one, on_host(c, 3)) << seed;
        for (const float value : one) ASSERT_TRUE(value >= -1 && value <= 1) << seed;
        if (seed % 8 >= 6) continue;  // lamps and dots depend on their place
        c.ends = border::periodic;
        const auto own = on_host(c);
        layer_case tiled = c;
        tiled.ends = border::open;
        tiled.shape = {5 * c.shape[0], 5 * c.shape[1]};
        tiled.field.clear();
        for (std::int64_t i = 0; i < cells_of(tiled.shape); ++i)
            tiled.field.push_back(c.field[static_cast<std::size_t>(i / tiled.shape[1] % c.shape[0] * c.shape[1] +
                                                                   i % tiled.shape[1] % c.shape[1])]);
        if (c.shape[0] < 7 || c.shape[1] < 7) continue;  // trails and shadows reach beyond two tiles
        const auto all = on_host(tiled);
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
            ASSERT_NEAR(all[static_cast<std::size_t>((2 * c.shape[0] + i / c.shape[1]) * tiled.shape[1] +
                                                     2 * c.shape[1] + i % c.shape[1])],
                        own[static_cast<std::size_t>(i)], 1e-4)
                << seed;
    }
}

/// Copies the nearest known pixel, in a tiling along periodic axes; ties go to the smallest column, then row.
std::vector<std::uint8_t> padded_by_definition(const pad_case& c) {
    const std::int64_t rows = c.shape[0], columns = c.shape[1];
    const bool turns[] = {c.options.border[0] == border::periodic, c.options.border[1] == border::periodic};
    const auto away = [](std::int64_t a, std::int64_t b, std::int64_t size, bool wraps) {
        const std::int64_t d = std::abs(a - b);
        return wraps ? std::min(d, size - d) : d;
    };
    std::vector<std::uint8_t> made = c.image;
    for (std::int64_t p = 0; p < rows * columns; ++p) {
        std::array<std::int64_t, 3> best{INT64_MAX, 0, 0};
        for (std::int64_t q = 0; q < rows * columns; ++q) {
            if (!(c.image[static_cast<std::size_t>(4 * q + 3)] > c.options.least * 255)) continue;
            const std::int64_t dy = away(p / columns, q / columns, rows, turns[0]),
                               dx = away(p % columns, q % columns, columns, turns[1]);
            best = std::min(best, {dy * dy + dx * dx, q % columns, q / columns});
        }
        if (best[0] == INT64_MAX || std::sqrt(static_cast<double>(best[0])) > c.options.radius) continue;
        for (std::int64_t k = 0; k < 3; ++k)
            made[static_cast<std::size_t>(4 * p + k)] =
                c.image[static_cast<std::size_t>(4 * (best[2] * columns + best[1]) + k)];
    }
    return made;
}

TEST(Effects, PaddingIsTheVoronoiDiagram) {
    for (std::uint64_t seed = 0; seed < share(0, 200); ++seed) {
        const pad_case c = drawn_pad_case(seed);
        ASSERT_EQ(on_host(c, 1 + static_cast<int>(seed % 3)), padded_by_definition(c)) << seed;
    }
}

TEST(Effects, PaddingByAMaskAndOfFloats) {
    const std::vector<float> image{0.5F, 9, 0.25F, 8, 0.125F, 7};  // 1 x 3 with two channels, neither of which is alpha
    const std::vector<std::uint8_t> known{0, 0, 1};
    std::vector<float> out(6);
    const extent shape{1, 2, 3};
    pad(host{}, view<const float, 3, host>{image.data(), shape}, view<float, 3, host>{out.data(), shape}, {},
        view<const std::uint8_t, 2, host>{known.data() + 1, extent{1, 2}});
    EXPECT_EQ(out, (std::vector<float>{8, 0.125F, 7, 8, 0.125F, 7}));
}

TEST(Effects, CanvasesKeepPictures) {
    std::vector<std::uint8_t> image, back(4 * 256 * 3);
    for (int k = 0; k < 256; ++k)
        for (const int alpha : {255, 128, 3})
            for (const int value : {k, 255 - k, k * 7 % 256, alpha}) image.push_back(static_cast<std::uint8_t>(value));
    std::vector<float> canvas(image.size());
    const extent shape{256, 3, 4};
    const view<float, 3, host> at{canvas.data(), shape};
    decode(host{}, view<const std::uint8_t, 3, host>{image.data(), shape}, at);
    encode(host{2, {}}, at, view<std::uint8_t, 3, host>{back.data(), shape});
    EXPECT_EQ(back, image);
    EXPECT_NEAR(canvas[0], 0, 1e-7);
    EXPECT_NEAR(canvas[4 * 3 * 255], 1, 1e-6);
    EXPECT_NEAR(canvas[4 * 3 * 188], 0.5, 0.005);  // 188 is the sRGB code of half the light
}

TEST(Effects, PaintOverUnderAndAdded) {
    const float share = 0.25F;
    const auto painted = [&](blend how, float alpha) {
        std::array<float, 4> pixel{0.2F, 0.4F, 0, 0.5F};
        paint(host{}, view<float, 3, host>{pixel.data(), extent{1, 1, 4}},
              view<const float, 2, host>{&share, extent{1, 1}}, {1, 0, 0.5F, alpha}, how);
        return pixel;
    };
    const auto expect_near = [](const std::array<float, 4>& found, const std::array<double, 4>& wanted) {
        for (std::size_t k = 0; k < 4; ++k) EXPECT_NEAR(found[k], wanted[k], 1e-6) << k;
    };
    expect_near(painted(blend::over, 1), {0.25 + 0.15, 0.3, 0.125, 0.625});
    expect_near(painted(blend::under, 1), {0.2 + 0.125, 0.4, 0.0625, 0.625});
    expect_near(painted(blend::add, 1), {0.45, 0.4, 0.125, 0.625});
    expect_near(painted(blend::over, -1), {0.2, 0.4, 0, 0.5});
    EXPECT_FLOAT_EQ(colour_of("#f80").red, 1);
    EXPECT_FLOAT_EQ(colour_of("#ff8800").green, colour_of("#f80").green);
    EXPECT_NEAR(colour_of("#bcbcbc80").blue, 0.5, 0.01);
    EXPECT_NEAR(colour_of("#00000080").alpha, 0.5, 0.01);
}

TEST(Effects, Refusals) {
    float field[16] = {}, out[16];
    std::uint8_t texture[12] = {};
    const extent shape{4, 4};
    const view<const float, 2, host> from{field, shape};
    const view<float, 2, host> to{out, shape};
    const auto call = [&](const effect& what, const borders& ends = {}) {
        return [=] { layer(host{}, from, to, what, ends); };
    };
    expect_refused(call(outline{-1, 2}), {"inner is -1"});
    expect_refused(call(glow{0}), {"radius is 0"});
    expect_refused(call(glow{4, side::outside, 0}), {"power is 0"});
    expect_refused(call(shadow{NAN}), {"down is nan"});
    expect_refused(call(bevel{4, 0, 91}), {"elevation is 91"});
    expect_refused(call(contour{0}), {"every is 0"});
    expect_refused(call(light{0, 0, 0}), {"radius is 0"});
    expect_refused(call(halftone{0.5}), {"pitch is 0.5"});
    expect_refused(call(outline{}, border::closed), {"closed"});
    expect_refused([&] { layer(host{}, view<const std::uint8_t, 2, host>{texture, extent{3, 4}}, to, outline{}); },
                   {"field", "float32"});
    expect_refused([&] { layer(host{}, from, view<float, 2, host>{field, shape}, outline{}); }, {"overlap"});
    std::uint8_t made[12];
    const view<const std::uint8_t, 3, host> image{texture, extent{2, 2, 3}};
    const view<std::uint8_t, 3, host> padded{made, extent{2, 2, 3}};
    expect_refused([&] { pad(host{}, image, padded); }, {"3 channels", "known"});
    expect_refused([&] { pad(host{}, image, padded, {.radius = -1}); }, {"radius"});
    expect_refused([&] { static_cast<void>(colour_of("red")); }, {"colour", "red"});
    expect_refused([&] { paint(host{}, to, from, {}); }, {"canvas"});
}

}  // namespace
}  // namespace nearfield::test
