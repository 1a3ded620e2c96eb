// What a format can hold comes back bit by bit; what it cannot hold is refused before a file exists.
#include <gtest/gtest.h>

#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "arrays.hpp"
#include "io/bytes.hpp"
#include "io/gif_write.hpp"

namespace nearfield::io::test {
namespace {

/// What should hold what, written down here a second time.
struct rule {
    const char* suffix;
    std::vector<dtype> types;
    int least_rank, most_rank;
    dtype boolean_becomes;
};
const std::vector<dtype> all(std::begin(every_type), std::end(every_type));
const std::vector<dtype> all_but_half = [] {
    auto types = all;
    std::erase(types, dtype::float16);
    return types;
}();
const std::vector<dtype> pictures{dtype::boolean, dtype::uint8, dtype::uint16};
const rule rules[] = {{".npy", all, 1, 9, dtype::boolean},
                      {".nrrd", all_but_half, 1, 9, dtype::uint8},
                      {".nii", all_but_half, 1, 7, dtype::uint8},
                      {".nii.gz", all_but_half, 1, 7, dtype::uint8},
                      {".tif", all, 2, 3, dtype::boolean},
                      {".png", pictures, 2, 2, dtype::boolean},
                      {".pnm", pictures, 2, 2, dtype::boolean},
                      {".pgm", pictures, 2, 2, dtype::uint8},
                      {".pbm", {dtype::boolean}, 2, 2, dtype::boolean}};

bool holds(const rule& r, dtype type, int rank) {
    return std::ranges::find(r.types, type) != r.types.end() && rank >= r.least_rank && rank <= r.most_rank;
}

std::vector<std::int64_t> random_shape(int rank) {
    const int longest = rank <= 2 ? 40 : rank <= 4 ? 9 : 3;
    std::vector<std::int64_t> shape;
    for (int i = 0; i < rank; ++i) shape.push_back(*rc::gen::inRange(1, longest + 1));
    return shape;
}

array as_stored(array values, const rule& r) {
    if (values.type == dtype::boolean) values.type = r.boolean_becomes;
    const std::string_view suffix = r.suffix;
    // Documented: a stack of one page is a page; NIfTI's axes of length 1 behind the third say nothing, and before
    // others the third says nothing either.
    if (suffix == ".tif" && values.shape.size() == 3 && values.shape[0] == 1) values.shape.erase(values.shape.begin());
    if (!suffix.starts_with(".nii") || values.shape.size() <= 3) return values;
    const auto third = values.shape.end() - 3;
    const bool series = std::any_of(values.shape.begin(), third, [](std::int64_t n) { return n > 1; });
    values.shape.erase(std::remove(values.shape.begin(), third + (series ? 1 : 0), 1), third + (series ? 1 : 0));
    return values;
}

void expect_round_trip(const rule& r, dtype type, const std::vector<std::int64_t>& shape, unsigned seed,
                       compression wanted) {
    const folder temporary;
    const auto path = temporary / (std::string("array") + r.suffix);
    const array values = random_array(type, shape, seed);
    write(path, values, {.compression = wanted});
    const array got = read(path);
    ASSERT_NO_FATAL_FAILURE(expect_same_values(got, as_stored(random_array(type, shape, seed), r)))
        << r.suffix << name_of(type);
    const array again = decoded(bytes_of(path), format_of(path));
    ASSERT_NO_FATAL_FAILURE(expect_same_values(again, got));
}

TEST(io_round_trip, every_format_type_and_rank) {
    for (const rule& r : rules)
        for (const dtype type : every_type)
            for (int rank = 1; rank <= 9; ++rank) {
                if (!holds(r, type, rank)) continue;
                std::vector<std::int64_t> shape;
                for (int i = 0; i < rank; ++i) shape.push_back(2 + i % 3);
                for (const auto wanted : {compression::none, compression::deflate})
                    expect_round_trip(r, type, shape, static_cast<unsigned>(rank), wanted);
            }
}

RC_GTEST_PROP(io_round_trip, random_shapes, ()) {
    const rule& r = rules[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(std::size(rules))))];
    const dtype type = r.types[static_cast<std::size_t>(*rc::gen::inRange(0, static_cast<int>(r.types.size())))];
    const auto shape = random_shape(*rc::gen::inRange(r.least_rank, r.most_rank + 1));
    const auto wanted = *rc::gen::element(compression::automatic, compression::none, compression::deflate);
    expect_round_trip(r, type, shape, *rc::gen::arbitrary<unsigned>(), wanted);
    RC_ASSERT(!::testing::Test::HasFatalFailure());
}

TEST(io_round_trip, what_does_not_fit_is_refused_before_a_file_exists) {
    for (const rule& r : rules)
        for (const dtype type : every_type)
            for (int rank = 1; rank <= 9; ++rank) {
                if (holds(r, type, rank)) continue;
                const folder temporary;
                const auto path = temporary / (std::string("array") + r.suffix);
                const array values =
                    random_array(type, std::vector<std::int64_t>(static_cast<std::size_t>(rank), 2), 1);
                const auto text = error_of(error_code::invalid_argument, [&] { write(path, values); });
                EXPECT_CONTAINS(text, "formats that can: .npy");
                EXPECT_TRUE(std::filesystem::is_empty(temporary.path())) << text;
            }
}

TEST(io_round_trip, colors) {
    struct color_rule {
        const char* suffix;
        std::vector<dtype> types;
        bool alpha;
    };
    const color_rule color_rules[] = {{".png", {dtype::uint8, dtype::uint16}, true},
                                      {".ppm", {dtype::uint8, dtype::uint16}, false},
                                      {".tif", {dtype::uint8, dtype::uint16, dtype::float32}, true},
                                      {".nrrd", {dtype::uint8, dtype::uint16, dtype::float32}, true},
                                      {".nii", {dtype::uint8}, true}};
    for (const auto& [suffix, types, alpha] : color_rules)
        for (const dtype type : types)
            for (const std::int64_t samples : {3, 4}) {
                if (samples == 4 && !alpha) continue;
                array values = random_array(type, {13, 7, samples}, 5);
                values.color = true;
                values.spacing = {2, 3};
                const array got = decoded(encoded(values, suffix), format_of(std::string("x") + suffix));
                ASSERT_NO_FATAL_FAILURE(expect_same_values(got, values)) << suffix;
            }
}

/// Noise fills the table of codes many times over, even pictures have strings of hundreds of pixels.
TEST(io_round_trip, the_first_picture_of_an_animation) {
    const folder temporary;
    constexpr int width = 301, height = 257;
    for (int kind = 0; kind < 4; ++kind) {
        std::vector<std::uint8_t> pixels(std::size_t{width} * height);
        std::uint32_t random = 1;
        for (std::size_t i = 0; i < pixels.size(); ++i) {
            random = random * 1664525U + 1013904223U;
            const auto noise = static_cast<std::uint8_t>(random >> 24);
            pixels[i] = kind == 0 ? noise : kind == 1 ? noise & 1 : kind == 2 ? 77 : static_cast<std::uint8_t>(i / 300);
        }
        gray_animation film(temporary / "film.gif", width, height);
        film.add(pixels, 6), film.add(std::vector<std::uint8_t>(pixels.size()), 6);
        film.commit();
        const array back = read(temporary / "film.gif");
        ASSERT_EQ(back.shape, (std::vector<std::int64_t>{height, width}));
        ASSERT_EQ(std::memcmp(back.data.get(), pixels.data(), pixels.size()), 0) << kind;
    }
}

TEST(io_round_trip, spacing_and_unit) {
    for (const std::string suffix : {".nrrd", ".nii", ".nii.gz", ".tif"})
        for (const std::string unit : {"mm", "um", "m"})
            for (const auto& spacing : {std::vector{0.7, 0.3}, std::vector{2.0, 1.0}, std::vector{2.5, 0.7, 0.123},
                                        std::vector{1.0, 1.0, 1.0}}) {
                array values = random_array(dtype::float32, std::vector<std::int64_t>(spacing.size(), 3), 5);
                values.spacing = spacing;
                values.unit = unit;
                const array got = decoded(encoded(values, suffix), format_of("x" + suffix));
                EXPECT_EQ(got.spacing, spacing) << suffix << unit;
                EXPECT_EQ(got.unit, unit) << suffix;
            }
}

TEST(io_round_trip, places) {
    using shorts = std::vector<std::uint16_t>;
    const shorts metres{1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9001}, feet{1, 1, 0, 2, 1024, 0, 1, 1, 3076, 0, 1, 9002};
    const shorts degrees{1, 1, 0, 2, 1024, 0, 1, 2, 2048, 0, 1, 4326};
    const std::vector<double> ties{0, 0, 0, 5e5, 4649760, 0}, none;
    struct raster {
        geo_place place;
        std::vector<double> spacing;
        std::string unit, text;
    };
    const raster rasters[] = {
        {{{30, 20, 0}, ties, {}, {298.25}, metres, "WGS 84|", "-9999"}, {20, 30}, "m", "projected, column 0 and row 0"},
        {{{30, 20, 0}, ties, {}, {}, feet, {}, {}}, {20, 30}, "ft", "projected"},
        {{{0.1, 0.1, 0}, ties, {}, {}, degrees, {}, {}}, {}, "", "in degrees, EPSG 4326"},
        {{{}, {}, {3, -8, 0, 1, 4, 6, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1}, {}, metres, {}, {}}, {10, 5}, "m", "projected"},
        {{{}, {}, {3, -8, 0, 1, 4, 7, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1}, {}, metres, {}, {}}, {}, "", "projected"},
        {{{30, -20, 0}, {}, {}, {}, metres, {}, {}}, {}, "", "projected"},
        {{{30, 20}, {}, {}, {}, {}, {}, {}}, {}, "", "of no known projection"},
    };
    for (const raster& each : rasters) {
        array values = random_array(dtype::float32, {3, 4}, 5);
        values.place = each.place;
        const array got = decoded(encoded(values, ".tif"), format::tiff);
        expect_same_values(got, values);
        EXPECT_TRUE(got.place == each.place) << each.text;
        EXPECT_EQ(got.spacing, each.spacing) << each.text;
        EXPECT_EQ(got.unit, each.unit) << each.text;
        EXPECT_TRUE(text_of(got.place).starts_with(each.text)) << text_of(got.place);
    }
}

/// Kinds and values of axes through every format that has them. The format's own order of axes is undone.
TEST(io_round_trip, axes) {
    using enum axis_kind;
    struct stack {
        std::vector<std::int64_t> shape;
        std::vector<axis_kind> axes;
        bool tiff;
    };
    const stack stacks[] = {{{3, 4, 5}, {time, space, space}, true},
                            {{3, 4, 5}, {channel, space, space}, true},
                            {{3, 2, 4, 5}, {time, space, space, space}, true},
                            {{3, 2, 4, 5}, {time, channel, space, space}, true},
                            {{3, 2, 6, 4, 5}, {time, channel, space, space, space}, true},
                            {{2, 6, 4, 5}, {channel, space, space, space}, true},
                            {{3, 4, 5}, {list, space, space}, false},
                            {{3, 4, 5}, {vector, space, space}, false}};
    for (const auto& [shape, axes, tiff] : stacks)
        for (const std::string suffix : {".tif", ".nrrd", ".nii", ".nii.gz"}) {
            if (suffix == ".tif" && !tiff) continue;
            array values = random_array(dtype::uint16, shape, 5);
            values.axes = axes;
            values.unit = "um";
            for (const axis_kind kind : axes) values.spacing.push_back(kind == space ? 0.5 : 1);
            array got = decoded(encoded(values, suffix), format_of("x" + suffix));
            if (suffix.starts_with(".nii") && axes[1] == channel) {
                EXPECT_EQ(got.axes[0], channel);
                const std::size_t order[] = {1, 0, 2, 3, 4};
                got = permuted(got, std::span(order).first(axes.size()));
            }
            ASSERT_NO_FATAL_FAILURE(expect_same_values(got, values)) << suffix;
            EXPECT_EQ(got.spacing, values.spacing) << suffix;
            ASSERT_EQ(got.axes.size(), axes.size()) << suffix;
            for (std::size_t a = 0; a < axes.size(); ++a) EXPECT_EQ(got.axes[a] == space, axes[a] == space) << suffix;
            // NIfTI's first axis behind those of space counts times, whatever was put there.
            EXPECT_EQ(got.axes[0] == time, axes[0] == time || (suffix.starts_with(".nii") && axes[0] == list));
        }
}

TEST(io_round_trip, colours_of_frames) {
    for (const char* suffix : {".tif", ".nrrd", ".nii"}) {
        array values = random_array(dtype::uint8, {3, 4, 5, 3}, 5);
        values.color = true;
        values.axes = {axis_kind::time, axis_kind::space, axis_kind::space};
        const array got = decoded(encoded(values, suffix), format_of(std::string("x") + suffix));
        ASSERT_NO_FATAL_FAILURE(expect_same_values(got, values)) << suffix;
        EXPECT_EQ(got.axes, values.axes) << suffix;
    }
}

TEST(io_round_trip, pages_of_our_own_are_slices) {
    const array values = random_array(dtype::uint8, {3, 4, 5}, 5);
    EXPECT_TRUE(decoded(encoded(values, ".tif"), format::tiff).axes.empty());
    array pages = random_array(dtype::uint8, {3, 4, 5}, 5);
    pages.axes = {axis_kind::unknown, axis_kind::space, axis_kind::space};
    EXPECT_EQ(decoded(encoded(pages, ".tif"), format::tiff).axes, pages.axes);
}

TEST(io_round_trip, png_spacing_is_rounded_to_pixels_per_metre) {
    array values = random_array(dtype::uint8, {3, 4}, 5);
    values.spacing = {0.5, 0.25};
    values.unit = "mm";
    const array got = decoded(encoded(values, ".png"), format::png);
    EXPECT_EQ(got.spacing, values.spacing);
    EXPECT_EQ(got.unit, "mm");
    values.unit.clear();
    EXPECT_TRUE(decoded(encoded(values, ".png"), format::png).spacing.empty());
}

TEST(io_round_trip, empty_arrays_in_npy) {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{0}, {0, 5}, {4, 0, 3}}) {
        const array values = make_array(dtype::float32, shape);
        const array got = decoded(encoded(values, ".npy"), format::npy);
        EXPECT_EQ(got.shape, shape);
    }
}

TEST(io_round_trip, large_nifti_axes_need_version_2) {
    const array values = random_array(dtype::uint8, {2, 40000}, 1);
    const std::string bytes = encoded(values, ".nii");
    EXPECT_EQ(bytes[0], 540 & 0xff);
    expect_same_values(decoded(bytes, format::nifti), values);
}

TEST(io_round_trip, wide_and_tall_pictures) {
    for (const char* suffix : {".png", ".pgm", ".tif"})
        for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{1, 1500000}, {1500000, 1}}) {
            const array values = random_array(dtype::uint8, shape, 1);
            expect_same_values(decoded(encoded(values, suffix), format_of(std::string("x") + suffix)), values);
        }
}

TEST(io_round_trip, units_that_would_end_their_field) {
    for (const std::string unit : {"a\"b", "mm\r", "mm\nendian: big", "\x1b[2J", "mm\\"}) {
        array values = random_array(dtype::float32, {3, 4}, 1);
        values.spacing = {2, 3};
        values.unit = unit;
        for (const char* suffix : {".nrrd", ".tif"}) {
            const array got = decoded(encoded(values, suffix), format_of(std::string("x") + suffix));
            expect_same_values(got, values);
            EXPECT_EQ(got.spacing, values.spacing);
            const bool line_of_tiff = suffix == std::string(".tif") && (unit == "a\"b" || unit == "mm\\");
            EXPECT_EQ(got.unit, line_of_tiff ? unit : "") << suffix;
        }
    }
}

TEST(io_round_trip, nifti_spacing_beyond_single_precision) {
    array values = random_array(dtype::uint8, {3, 4}, 1);
    for (const double length : {1e308, 1e-60, 0.7}) {
        values.spacing = {length, 2};
        EXPECT_EQ(decoded(encoded(values, ".nii"), format::nifti).spacing, values.spacing);
    }
}

}  // namespace
}  // namespace nearfield::io::test
