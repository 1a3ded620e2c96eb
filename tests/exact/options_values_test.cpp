// Distances alone with options on the device equal the host's bit for bit: lines around the lengths at which windows,
// words and lanes end, under every rule of borders, classes, spacings and fields, and values near the limits of
// windows.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

class OptionsValues : public device_test {};

/// Labels in blocks of `block` cells a side, with a share of zeros; 0 means single cells.
codes_t blocks(const shape_t& shape, std::int64_t block, double zeros, std::uint64_t seed) {
    if (block == 0) return random_labels<std::uint32_t>(shape, 5, zeros, seed);
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i;
        std::uint64_t number = seed;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            number = mix(number + static_cast<std::uint64_t>(rest % shape[axis] / block));
        codes.push_back(number % 1000 < static_cast<std::uint64_t>(1000 * zeros) ? 0 : 1 + number / 1000 % 4);
    }
    return codes;
}

const std::vector<named_options>& rules() {
    static const double uneven[] = {2, 1, 3}, halves[] = {0.5, 1.5, 1};
    static const border mixed[] = {border::periodic, border::closed, border::open};
    static const std::vector<named_options> list = {
        {"none", {}},
        {"uneven", {.spacing = spacing(uneven, 3)}},
        {"even", {.spacing = 3.0}},
        {"same, closed", {.spacing = 0.65, .border = border::closed}},
        {"same, signed, faces, periodic",
         {.spacing = 0.65, .sign = sign::inside_negative, .half_cell = true, .border = border::periodic}},
        {"same, labels", {.spacing = 1.0 / 3, .sites = sites::other_labels}},
        {"halves", {.spacing = spacing(halves, 3)}},
        {"closed", {.border = border::closed}},
        {"periodic", {.border = border::periodic}},
        {"mixed", {.border = borders(mixed, 3)}},
        {"faces", {.half_cell = true}},
        {"faces, closed, uneven", {.spacing = spacing(uneven, 3), .half_cell = true, .border = border::closed}},
        {"faces, periodic", {.half_cell = true, .border = border::periodic}},
        {"signed", {.sign = sign::inside_negative}},
        {"signed, closed, faces", {.sign = sign::outside_negative, .half_cell = true, .border = border::closed}},
        {"signed, periodic", {.sites = sites::nonzero, .sign = sign::inside_negative, .border = border::periodic}},
        {"labels", {.sites = sites::other_labels}},
        {"labels, closed, uneven",
         {.spacing = spacing(uneven, 3), .sites = sites::other_labels, .border = border::closed}},
        {"labels, mixed, faces", {.sites = sites::other_labels, .half_cell = true, .border = borders(mixed, 3)}},
        {"signed labels, periodic",
         {.sites = sites::other_labels, .sign = sign::inside_negative, .border = border::periodic}},
        {"limit 9.5", {.max_distance = 9.5}},
        {"limit 5, uneven, closed", {.spacing = spacing(uneven, 3), .border = border::closed, .max_distance = 5}},
        {"limit 70, labels", {.sites = sites::other_labels, .max_distance = 70}},
    };
    return list;
}

const std::vector<wanted_fields>& some_fields() {
    static const std::vector<wanted_fields> list = {
        {.distance = dtype::float32},
        {.distance = dtype::float32, .trusted = dtype::uint8},
        {.distance = dtype::float64, .trusted = dtype::boolean},
        {.squared = dtype::float64, .distance = dtype::float32},
        {.distance = dtype::float32, .image_layout = layout::transposed, .output_layout = layout::stepping},
        {.trusted = dtype::uint8},
    };
    return list;
}

/// The options with values for as many axes as a shape has.
distance_options fitted(distance_options options, std::size_t axes) {
    double lengths[max_rank];
    border beyond[max_rank];
    if (options.spacing.count() > 1) {
        for (std::size_t i = 0; i < axes; ++i) lengths[i] = options.spacing[static_cast<int>(i % 3)];
        options.spacing = spacing(lengths, axes);
    }
    if (options.border.count() > 1) {
        for (std::size_t i = 0; i < axes; ++i) beyond[i] = options.border[static_cast<int>(i % 3)];
        options.border = borders(beyond, axes);
    }
    return options;
}

void check_all(const shape_t& shape, std::int64_t block, double zeros, std::uint64_t seed) {
    const codes_t codes = blocks(shape, block, zeros, seed);
    std::uint64_t k = seed;
    for (const named_options& each : rules()) {
        const wanted_fields& wanted = some_fields()[k % some_fields().size()];
        const dtype type = std::array{dtype::uint8, dtype::uint16, dtype::int32, dtype::uint64}[k / 2 % 4];
        ++k;
        EXPECT_EQ(differs(shape, type, codes, fitted(each.options, shape.size()), wanted), "")
            << each.name << ", " << text_of(shape) << ", blocks of " << block << ", zeros " << zeros << ", field set "
            << (k - 1) % some_fields().size();
        if (testing::Test::HasFailure()) return;
    }
}

TEST_F(OptionsValues, LinesRoundTheSizesOfWindows) {
    const shape_t shapes[] = {{2, 33},        {64, 31},      {65, 64},       {128, 5},     {129, 70},     {256, 40},
                              {300, 33},      {512, 32},     {513, 9},       {640, 33},    {1023, 20},    {1024, 33},
                              {1025, 7},      {1792, 33},    {2049, 40},     {40, 1025},   {33, 2080},    {3, 5, 7},
                              {64, 3, 65},    {3, 130, 33},  {130, 4, 40},   {1030, 2, 9}, {9, 1030, 20}, {70, 66, 68},
                              {2, 3, 40, 33}, {66, 2, 3, 4}, {2, 2, 3, 4, 5}};
    std::uint64_t seed = 1;
    for (const shape_t& shape : shapes) {
        for (const auto& [block, zeros] :
             {std::pair{std::int64_t{0}, 0.3}, {std::int64_t{0}, 0.003}, {std::int64_t{9}, 0.4}}) {
            check_all(shape, block, zeros, ++seed);
            if (HasFailure()) return;
        }
    }
}

/// Lines that have only closed ends, which every word has to find: the first word, the last one, and those
/// between.
TEST_F(OptionsValues, ClosedEndsOfEmptyLines) {
    static const border ends[] = {border::open, border::closed};
    const named_options cases[] = {
        {"sites", {.border = borders(ends, 2)}},
        {"faces", {.half_cell = true, .border = borders(ends, 2)}},
        {"signed", {.sign = sign::inside_negative, .border = borders(ends, 2)}},
        {"labels", {.sites = sites::other_labels, .border = borders(ends, 2)}},
    };
    for (std::int64_t length : {31, 32, 33, 64, 70, 96, 120}) {
        const shape_t shape{5, length};
        const codes_t codes(static_cast<std::size_t>(cells_of(shape)), 1);
        for (const named_options& each : cases)
            for (const wanted_fields& wanted : {some_fields()[0], some_fields()[1]})
                EXPECT_EQ(differs(shape, dtype::uint8, codes, each.options, wanted), "")
                    << each.name << ", " << text_of(shape);
    }
}

/// Signed distances where one class is thin and where it is just too thick: single cells, stripes of 1 to 9 cells,
/// crosses, of either class.
TEST_F(OptionsValues, ThinClasses) {
    const named_options cases[] = {{"signed", {.sign = sign::inside_negative}},
                                   {"signed, other sites", {.sites = sites::nonzero, .sign = sign::outside_negative}},
                                   {"signed, limit 2", {.sign = sign::inside_negative, .max_distance = 2}},
                                   {"signed, limit 1", {.sign = sign::inside_negative, .max_distance = 1}}};
    for (const shape_t& shape : {shape_t{70, 97}, shape_t{300, 64}, shape_t{1100, 40}})
        for (std::int64_t thick = 1; thick < 10; ++thick)
            for (const bool other : {false, true}) {
                codes_t codes;
                for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                    const std::int64_t y = i / shape[1], x = i % shape[1];
                    const bool striped = (x + y / 5) % 23 < thick && y % 37 > 2, dotted = mix(i) % 101 < 3;
                    codes.push_back((striped || dotted) != other ? 0 : 1);
                }
                const named_options& each = cases[static_cast<std::size_t>(thick + other) % std::size(cases)];
                EXPECT_EQ(differs(shape, dtype::uint8, codes, each.options, some_fields()[0]), "")
                    << each.name << ", " << text_of(shape) << ", " << thick << " thick";
            }
}

/// Distances around 64 cells, where a window may stop; around 176, which is the reach of windows; and far
/// beyond.
TEST_F(OptionsValues, ValuesThatWindowsLeave) {
    std::uint64_t seed = 100;
    for (const shape_t& shape : {shape_t{400, 410}, shape_t{140, 60, 150}, shape_t{1100, 90}, shape_t{1100, 128}}) {
        for (const auto& [block, zeros] : {std::pair{std::int64_t{126}, 0.5},
                                           {std::int64_t{350}, 0.3},
                                           {std::int64_t{360}, 0.5},
                                           {std::int64_t{0}, 0.0001},
                                           {std::int64_t{0}, 0.0}}) {
            check_all(shape, block, zeros, ++seed);
            if (HasFailure()) return;
        }
    }
}

/// Values from 2^23 on have windows if their roots are not fast anyway: nothing is left to strips.
TEST_F(OptionsValues, LargeValuesHaveWindows) {
    using exact::gpu::rung;
    const shape_t shape{600, 700};  // the first column has sites, which cost up to 2^24.5
    static const double steep[] = {2.5, 0.7};
    static const border joined[] = {border::periodic, border::open};
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) codes.push_back(i % shape[1] == 0 ? 0 : 1);
    for (const distance_options& options :
         {distance_options{.spacing = spacing(steep, 2)},
          distance_options{.spacing = spacing(steep, 2), .border = borders(joined, 2)},
          distance_options{.spacing = spacing(steep, 2), .sign = sign::inside_negative}}) {
        const exact::gpu::trace counted;
        EXPECT_EQ(differs(shape, dtype::uint8, codes, options, {.distance = dtype::float32}), "");
        const auto solved = [&](rung which) { return counted.solved()[static_cast<std::size_t>(which)]; };
        EXPECT_GT(solved(rung::values), 0);
        EXPECT_EQ(solved(rung::strips) + solved(rung::halving), 0) << counted.text();
    }
}

/// Planes without a site between others that have some.
TEST_F(OptionsValues, PlanesWithoutSites) {
    for (const shape_t& shape : {shape_t{20, 40, 64}, shape_t{20, 70, 37}, shape_t{20, 300, 32}}) {
        codes_t codes;
        for (std::int64_t i = 0; i < cells_of(shape); ++i) {
            const bool has_sites = i / (shape[1] * shape[2]) % 14 == 3;
            codes.push_back(has_sites && mix(static_cast<std::uint64_t>(i)) % 50 == 0 ? 0 : 1);
        }
        for (const auto& rule : rules())
            for (const wanted_fields& wanted :
                 {wanted_fields{.distance = dtype::float32}, wanted_fields{.index = dtype::int64}})
                if (!wanted.index || (!rule.options.half_cell && rule.options.sign == sign::none)) {
                    EXPECT_EQ(differs(shape, dtype::uint8, codes, rule.options, wanted), "")
                        << rule.name << ", " << text_of(shape);
                }
    }
}

/// Labels of nearest sites, with and without wanted indices.
TEST_F(OptionsValues, LabelsAreLookedUp) {
    std::uint64_t seed = 200;
    for (const shape_t& shape : {shape_t{40, 70}, shape_t{1100, 9}, shape_t{30, 40, 50}, shape_t{5, 1, 60, 33}}) {
        for (double zeros : {0.999, 0.9, 0.2, 1.0}) {
            const codes_t codes = blocks(shape, 0, zeros, ++seed);
            for (const distance_options& options : {distance_options{.sites = sites::nonzero},
                                                    distance_options{.sites = sites::nonzero, .max_distance = 4.5},
                                                    distance_options{.spacing = 0.7, .sites = sites::nonzero},
                                                    distance_options{.sites = sites::nonzero, .batch_axes = 1}}) {
                for (const wanted_fields& wanted :
                     {wanted_fields{.label = true}, wanted_fields{.index = dtype::int32, .label = true},
                      wanted_fields{.distance = dtype::float32, .index = dtype::int64, .label = true},
                      wanted_fields{.coordinates = true, .label = true, .output_layout = layout::stepping}}) {
                    const dtype type = std::array{dtype::uint8, dtype::int16, dtype::float32, dtype::uint64}[seed % 4];
                    EXPECT_EQ(differs(shape, type, codes, options, wanted), "")
                        << text_of(shape) << ", zeros " << zeros;
                    if (HasFailure()) return;
                }
            }
        }
    }
}

}  // namespace
}  // namespace nearfield::test
