// Signed fields of shapes on the host.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "refused.hpp"
#include "scale.hpp"
#include "sdf/cases.hpp"

namespace nearfield::test {
namespace {

/// Expects the integer codes of distances, or of distances that rounding to float32 may have changed.
void expect_codes(const sdf_case& c, const std::vector<std::byte>& found, const std::vector<float>& distance) {
    const double largest = c.out == dtype::uint8 ? 255 : 65535;
    for (std::size_t i = 0; i < distance.size(); ++i) {
        const double exact = largest * (1 - c.options.cutoff + static_cast<double>(distance[i]) / c.options.radius);
        const double code = c.out == dtype::uint8 ? static_cast<double>(static_cast<std::uint8_t>(found[i]))
                                                  : reinterpret_cast<const std::uint16_t*>(found.data())[i];
        ASSERT_LE(std::abs(code - std::clamp(exact, 0.0, largest)), 0.501) << i;
    }
}

TEST(Sdf, MasksByDefinition) {
    int masks = 0;
    for (std::uint64_t seed = 0; seed < share(0, 600); ++seed) {
        sdf_case c = drawn_sdf_case(seed);
        if (c.options.antialias) continue;
        ++masks;
        const std::vector<float> wanted = mask_by_definition(c);
        const std::vector<std::byte> found = on_host(c, 1 + static_cast<int>(seed % 3));
        if (c.out == dtype::float32) ASSERT_EQ(floats(found), wanted) << seed;
        else ASSERT_NO_FATAL_FAILURE(expect_codes(c, found, wanted)) << seed;
    }
    EXPECT_GT(masks, static_cast<int>(share(0, 600) / 3));
}

/// Integers saturate at their range, and otherwise encode the distances.
TEST(Sdf, CodesOfCoverage) {
    for (std::uint64_t seed = 0; seed < share(0, 600); ++seed) {
        sdf_case c = drawn_sdf_case(seed);
        if (c.out == dtype::float32) continue;
        const std::vector<std::byte> found = on_host(c);
        sdf_case plain = c;
        plain.out = dtype::float32;
        ASSERT_NO_FATAL_FAILURE(expect_codes(c, found, floats(on_host(plain)))) << seed;
    }
}

TEST(Sdf, ThreadsBatchesAndTilingsDoNotShow) {
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        const sdf_case c = drawn_sdf_case(seed);
        const std::vector<std::byte> one = on_host(c, 1);
        ASSERT_EQ(one, on_host(c, 3)) << seed;
        if (c.options.batch_axes == 0) continue;
        sdf_case single = c;
        single.shape.erase(single.shape.begin()), single.options.batch_axes = 0;
        const border ends[] = {c.options.border[1], c.options.border[2]};
        single.options.border = {ends, 2};
        const std::int64_t cells = cells_of(single.shape);
        std::vector<std::byte> all;
        for (std::int64_t k = 0; k < c.shape[0]; ++k) {
            single.image.assign(c.image.begin() + k * cells, c.image.begin() + (k + 1) * cells);
            const auto part = on_host(single);
            all.insert(all.end(), part.begin(), part.end());
        }
        ASSERT_EQ(one, all) << seed;
    }
}

/// In a tiling of three by three, whose ends are too far to matter, the middle has the same distances: exactly for
/// masks; for coverage ties between sites may be broken differently.
TEST(Sdf, PeriodicIsTheMiddleOfATiling) {
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        sdf_case c = drawn_sdf_case(seed);
        if (c.options.batch_axes > 0) continue;
        c.options.border = border::periodic, c.out = dtype::float32;
        sdf_case tiled = c;
        tiled.options.border = border::open;
        tiled.shape = {3 * c.shape[0], 3 * c.shape[1]};
        tiled.image.clear();
        for (std::int64_t i = 0; i < cells_of(tiled.shape); ++i)
            tiled.image.push_back(c.image[static_cast<std::size_t>(i / tiled.shape[1] % c.shape[0] * c.shape[1] +
                                                                   i % tiled.shape[1] % c.shape[1])]);
        const std::vector<float> found = floats(on_host(c)), all = floats(on_host(tiled));
        const std::int64_t rows = c.out_shape()[0], columns = c.out_shape()[1];
        for (std::int64_t i = 0; i < rows * columns; ++i) {
            const float middle =
                all[static_cast<std::size_t>((rows + i / columns) * 3 * columns + columns + i % columns)];
            const float own = found[static_cast<std::size_t>(i)];
            if (!c.options.antialias || std::isinf(own)) ASSERT_EQ(own, middle) << seed << ' ' << i;
            else ASSERT_NEAR(own, middle, 0.2) << seed << ' ' << i;
        }
    }
}

double mean_error(const std::vector<shape_function>& shapes, std::int64_t n, int supersample = 1) {
    double sum = 0;
    for (const shape_function& shape : shapes) {
        sdf_case c = covered(shape, n);
        c.options.supersample = supersample;
        const error_of off = measured(shape, c, floats(on_host(c)), 2);
        sum += off.rms * off.rms;
    }
    return std::sqrt(sum / static_cast<double>(shapes.size()));
}

TEST(Sdf, DiscsLinesAndPolygons) {
    std::vector<shape_function> discs, lines, polygons;
    for (int k = 0; k < 12; ++k) {
        const double y = 31.5 + k * 0.083, x = 32.1 - k * 0.071;
        discs.push_back(disc(y, x, 4 + 1.7 * k)), lines.push_back(half_plane(y, x, 0.5236 * k + 0.01 * k * k));
        polygons.push_back(regular_polygon(y, x, 16 + 0.8 * k, 3 + k % 6, 0.37 * k));
    }
    EXPECT_LT(mean_error(discs, 64), 0.012);
    EXPECT_LT(mean_error(lines, 64), 0.008);
    EXPECT_LT(mean_error(polygons, 64), 0.016);
    EXPECT_LT(mean_error({polygons[0], polygons[6]}, 64), 0.025);  // triangles
}

/// Stars have corners of both kinds, the convex ones as sharp as 44 degrees.
TEST(Sdf, Stars) {
    std::vector<shape_function> stars;
    for (int k = 0; k < 6; ++k) {
        std::vector<std::array<double, 2>> corners;
        for (int i = 0; i < 10; ++i) {
            const double turn = 0.31 * k + std::numbers::pi / 5 * i, radius = (16 + k) * (i % 2 == 0 ? 1 : 0.42);
            corners.push_back({31.4 + 0.1 * k + radius * std::sin(turn), 32.2 + radius * std::cos(turn)});
        }
        stars.push_back(polygon(std::move(corners)));
    }
    EXPECT_LT(mean_error(stars, 64), 0.05);
}

/// Sides along the axes anywhere in a cell: a corner's sides may lie outside the cells beside it.
TEST(Sdf, UprightRectangles) {
    for (int k = 0; k < 16; ++k) {
        const double top = 12 + 0.25 * (k % 4), left = 10 + 0.25 * (k / 4), low = 21, right = 24.5;
        const shape_function box = polygon({{top, left}, {top, right}, {low, right}, {low, left}});
        EXPECT_LT(mean_error({box}, 36), 0.004) << k;
    }
}

TEST(Sdf, SupersamplingDividesTheError) {
    for (const int s : {3, 8}) {
        const double n = 32 * s, middle = n / 2 + 0.3;
        std::vector<shape_function> shapes;
        for (int k = 0; k < 4; ++k) shapes.push_back(regular_polygon(middle, middle, n * 0.4, 3 + k, 0.6 * k));
        EXPECT_LT(mean_error(shapes, 32 * s, s), s == 3 ? 0.004 : 0.0015) << s;
    }
}

/// Strokes within one cell at any place in it, a gap, and a row of whole cells.
TEST(Sdf, ThinStrokesAndGaps) {
    for (const int share : {64, 128, 200, 255}) {
        const auto own = static_cast<std::uint8_t>(share);
        sdf_case c;
        c.shape = {9, 9};
        for (int i = 0; i < 81; ++i) c.image.push_back(i % 9 == 4 ? own : std::uint8_t{0});
        const double half = own / 255.0 / 2;
        const std::vector<float> found = floats(on_host(c));
        for (int i = 0; i < 81; ++i) EXPECT_NEAR(found[static_cast<std::size_t>(i)], half - std::abs(i % 9 - 4), 2e-4);
        for (std::uint8_t& cell : c.image) cell = static_cast<std::uint8_t>(255 - cell);
        const std::vector<float> gap = floats(on_host(c));
        for (std::size_t i = 0; i < 81; ++i) EXPECT_NEAR(gap[i], -found[i], 2e-4) << i;
    }
}

/// Rotated, mirrored and inverted images have rotated, mirrored and negated fields, except for ties between sites.
TEST(Sdf, Symmetry) {
    const sdf_case c = covered(regular_polygon(20.2, 19.1, 13, 5, 0.3), 40);
    const std::vector<float> found = floats(on_host(c));
    sdf_case turned = c, inverted = c;
    for (std::size_t i = 0; i < 1600; ++i) {
        turned.image[i % 40 * 40 + 39 - i / 40] = c.image[i];
        inverted.image[i] = static_cast<std::uint8_t>(255 - c.image[i]);
    }
    const std::vector<float> back = floats(on_host(turned)), negated = floats(on_host(inverted));
    for (std::size_t i = 0; i < 1600; ++i) {
        const double near = std::abs(found[i]) < 2 ? 1e-3 : 0.05;
        EXPECT_NEAR(back[i % 40 * 40 + 39 - i / 40], found[i], near) << i;
        EXPECT_NEAR(negated[i], -found[i], std::abs(found[i]) < 2 ? 0.02 : 0.05) << i;
    }
}

TEST(Sdf, TypesAndStrides) {
    const sdf_case c = covered(disc(15.3, 16.2, 9), 32);
    const std::vector<float> wanted = floats(on_host(c));
    std::vector<double> spread(2 * c.image.size());
    std::vector<std::uint16_t> words;
    for (std::size_t i = 0; i < c.image.size(); ++i) {
        spread[2 * i] = c.image[i] / 255.0, words.push_back(static_cast<std::uint16_t>(c.image[i] * 257));
    }
    std::vector<float> out(c.image.size()), apart(2 * c.image.size(), 7);
    const extent shape{32, 32};
    sdf(host{1, {}}, view<const std::uint16_t, 2, host>{words.data(), shape}, view<float, 2, host>{out.data(), shape});
    EXPECT_EQ(out, wanted);
    sdf(host{2, {}}, view<const double, 2, host>{spread.data(), shape, {64, 2}},
        view<float, 2, host>{apart.data(), shape, {64, 2}});
    for (std::size_t i = 0; i < wanted.size(); ++i) {
        ASSERT_EQ(apart[2 * i], wanted[i]);
        ASSERT_EQ(apart[2 * i + 1], 7);
    }
}

TEST(Sdf, Refusals) {
    std::uint8_t image[16] = {};
    std::int32_t labels[16] = {};
    float out[16];
    const view<const std::uint8_t, 2, host> from{image, extent{4, 4}};
    const view<float, 2, host> to{out, extent{4, 4}};
    const auto call = [&](const sdf_options& o, any_input<host> read, any_output<host> written) {
        return [=] { sdf(host{}, read, written, o); };
    };
    expect_refused(call({.radius = 0}, from, to), {"radius is 0"});
    expect_refused(call({.cutoff = 2}, from, to), {"cutoff is 2"});
    expect_refused(call({.supersample = 0}, from, to), {"supersample is 0"});
    expect_refused(call({.supersample = 3}, from, to), {"supersample, 3, does not divide"});
    expect_refused(call({.supersample = 2}, from, to), {"out has shape 4x4; give 2x2"});
    expect_refused(call({.border = border::closed}, from, to), {"closed"});
    expect_refused(call({.batch_axes = 1}, from, to), {"batch_axes is 1"});
    expect_refused(call({}, view<const std::int32_t, 2, host>{labels, extent{4, 4}}, to), {"image", "int32"});
    expect_refused(call({}, from, {}), {"out"});
    expect_refused(call({}, from, view<std::uint8_t, 2, host>{image, extent{4, 4}}), {"overlap"});
    expect_refused([&] { sdf(host{-1, {}}, from, to); }, {"threads"});
    EXPECT_THROW(sdf(host{1, [](double) { return false; }}, from, to), error);
}

}  // namespace
}  // namespace nearfield::test
