// Signs and labels in images in which cells of another class are close by, which the device searches by bits: bit for
// bit the host's distances. The images have 2^25 cells or more, from which on it does; where some of their tiles have a
// cell that is farther than 8 cells from all others, or all have, steps finish those.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

struct near_case {
    shape_t shape;
    int batch_axes = 0;
};

class OptionsNear : public testing::TestWithParam<near_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    void compare(const codes_t& codes, dtype type, distance_options options, const std::string& what) const {
        options.batch_axes = GetParam().batch_axes;
        EXPECT_EQ(differs(GetParam().shape, type, codes, options, {.distance = dtype::float32}), "")
            << what << ", " << text_of(GetParam().shape);
    }
    /// Codes from the last two coordinates.
    template <class Of>
    [[nodiscard]] codes_t drawn(const Of& of) const {
        const shape_t& shape = GetParam().shape;
        const std::int64_t width = shape.back(), height = shape[shape.size() - 2];
        codes_t codes;
        for (std::int64_t i = 0; i < cells_of(shape); ++i)
            codes.push_back(static_cast<std::uint32_t>(of(i / width % height, i % width, i)));
        return codes;
    }
};

TEST_P(OptionsNear, Signs) {
    const shape_t& shape = GetParam().shape;
    compare(random_labels<std::uint32_t>(shape, 1, 0.93, 7), dtype::uint8,
            {.sites = sites::nonzero, .sign = sign::outside_negative}, "93 %");
    // So few that tiles are left, or are finished since all else is beyond the limit.
    const codes_t few = random_labels<std::uint32_t>(shape, 1, 0.065, 8);
    compare(few, dtype::uint8, {.sign = sign::inside_negative}, "few");
    compare(few, dtype::uint8, {.sign = sign::inside_negative, .max_distance = 8.06}, "within a limit");
}

TEST_P(OptionsNear, Labels) {
    // 16 cells are the widest block whose cells are all within reach, 17 the first that is not.
    for (const std::int64_t side : {16, 17})
        compare(drawn([&](std::int64_t y, std::int64_t x, std::int64_t) { return 1 + y / side * 1009 + x / side; }),
                dtype::uint32, {.sites = sites::other_labels}, "blocks of " + std::to_string(side));
    compare(random_labels<std::uint32_t>(GetParam().shape, 3, 0.3, 10), dtype::uint8, {.sites = sites::other_labels},
            "with cells that are sites for all");
}

TEST_P(OptionsNear, TilesThatAreLeft) {
    // Holes of every size round the reach, within tiles and across them; the rest is dense.
    const auto holes = [](std::int64_t y, std::int64_t x, std::int64_t i) {
        const std::int64_t dy = y % 83 - 41, dx = x % 71 - 35, nth = y / 83 * 3 + x / 71 + 5;
        return dy * dy + dx * dx < (nth % 14) * (nth % 14) ? 1 : mix(static_cast<std::uint64_t>(i)) % 3 != 0;
    };
    compare(drawn(holes), dtype::uint8, {.sign = sign::inside_negative}, "holes");
    compare(drawn([&](std::int64_t y, std::int64_t x, std::int64_t i) { return 4 * holes(y, x, i); }), dtype::uint32,
            {.sites = sites::other_labels, .sign = sign::outside_negative}, "labels with holes");
}

// Lines that begin anywhere; a batch with lines of whole words; the last tiles of each are cut.
INSTANTIATE_TEST_SUITE_P(Images, OptionsNear, testing::Values(near_case{{5800, 5802}}, near_case{{4, 2900, 2912}, 1}),
                         [](const auto& of) {
                             std::string name;
                             for (const std::int64_t size : of.param.shape)
                                 name += (name.empty() ? "" : "x") + std::to_string(size);
                             return name;
                         });

}  // namespace
}  // namespace nearfield::test
