// Nearest cells of another label on the device equal the host's bit for bit: labels in blocks whose sizes are near the
// reach of steps, ties in all directions, grids that fill no block, and labels so large that words decline.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

class OptionsSites : public device_test {};

const std::vector<wanted_fields>& site_fields() {
    static const std::vector<wanted_fields> list = {
        {.index = dtype::int64},
        {.index = dtype::int32},
        {.distance = dtype::float32, .index = dtype::int32, .coordinates = true},
        {.squared = dtype::float64, .distance = dtype::float64, .index = dtype::int64},
        {.coordinates = true},
        {.coordinates = true, .output_layout = layout::stepping},
    };
    return list;
}

/// Blocks of `block` cells a side with random labels; the share `zeros` is background.
codes_t labels(const shape_t& shape, std::int64_t block, double zeros, std::uint64_t seed) {
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i;
        std::uint64_t number = seed;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            number = mix(number + static_cast<std::uint64_t>(rest % shape[axis] / block));
        const bool zero = number % 1000 < static_cast<std::uint64_t>(1000 * zeros);
        codes.push_back(zero ? 0 : 1 + static_cast<std::uint32_t>(number / 1000 % 5));
    }
    return codes;
}

void check(const shape_t& shape, std::int64_t block, double zeros, std::uint64_t& k, int batch_axes = 0) {
    const wanted_fields& wanted = site_fields()[k % site_fields().size()];
    const dtype type = std::array{dtype::uint8, dtype::uint16, dtype::int32, dtype::uint64}[k / 2 % 4];
    const double length = k % 3 == 0 ? 0.65 : 1;
    const double most = k % 5 == 3 ? 2.5 * length : std::numeric_limits<double>::infinity();
    ++k;
    const distance_options options{
        .spacing = length, .sites = sites::other_labels, .max_distance = most, .batch_axes = batch_axes};
    ASSERT_EQ(differs(shape, type, labels(shape, block, zeros, k), options, wanted), "")
        << text_of(shape) << ", blocks of " << block << ", zeros " << zeros << ", case " << k;
}

TEST_F(OptionsSites, ImagesAndVolumes) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{2, 2}, shape_t{33, 31}, shape_t{70, 100}, shape_t{65, 1, 33}, shape_t{3, 2, 5},
                                 shape_t{20, 34, 40}, shape_t{2, 70, 33}})
        for (std::int64_t block : {1, 2, 5, 9, 30})
            for (double zeros : {0.0, 0.1}) check(shape, block, zeros, k);
}

TEST_F(OptionsSites, EveryImageOfABatch) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{3, 40, 50}, shape_t{2, 9, 30, 20}})
        for (std::int64_t block : {1, 3, 7, 7}) check(shape, block, 0.05, k, 1);
}

/// Steps reach 64 cells if a block has all of a line, and 47 if lines are cut into windows.
TEST_F(OptionsSites, LabelsTooLarge) {
    std::uint64_t k = 0;
    for (std::int64_t block : {126, 127, 128, 129, 130, 131, 200}) check({140, 270}, block, 0.0, k);
    for (std::int64_t block : {30, 33, 80}) check({34, 36, 40}, block, 0.0, k);
}

TEST_F(OptionsSites, WindowsOfLongLines) {
    std::uint64_t k = 0;
    for (std::int64_t block : {4, 60, 94, 95, 96, 97, 98, 110}) check({1100, 70}, block, 0.0, k);
    for (std::int64_t block : {3, 40}) {
        check({2100, 33}, block, 0.05, k);
        check({1030, 3, 35}, block, 0.05, k);
        check({3, 1030, 20}, block, 0.05, k);
    }
}

}  // namespace
}  // namespace nearfield::test
