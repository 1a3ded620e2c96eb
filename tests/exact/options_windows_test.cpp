// Options along lines in windows on the device equal the host's bit for bit: lines of several windows and columns whose
// words are looked up side by side, with distances that half precision holds, that integers hold, and that neither
// holds.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"

namespace nearfield::test {
namespace {

/// Zeros and ones in a checkerboard of blocks.
codes_t checkerboard(const shape_t& shape, std::int64_t block) {
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i, parity = 0;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) parity += rest % shape[axis] / block;
        codes.push_back(static_cast<std::uint32_t>(parity % 2));
    }
    return codes;
}

struct window_case {
    shape_t shape;
    std::int64_t block;
};

class OptionsWindows : public testing::TestWithParam<window_case> {};

TEST_P(OptionsWindows, EqualsTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const auto& [shape, block] = GetParam();
    const codes_t codes = checkerboard(shape, block);
    const double uneven[] = {3, 1};
    const named_options rules[] = {
        {"signed", {.sign = sign::inside_negative}},
        {"labels, periodic",
         {.sites = sites::other_labels, .sign = sign::outside_negative, .border = border::periodic}},
        {"faces, closed", {.half_cell = true, .border = border::closed}},
        {"uneven, closed", {.spacing = spacing(uneven, 2), .border = border::closed}},
        {"limit, signed", {.sign = sign::inside_negative, .max_distance = 20.5}},
    };
    for (const named_options& each : rules)
        for (const wanted_fields& wanted : {wanted_fields{.distance = dtype::float32},
                                            wanted_fields{.distance = dtype::float32, .trusted = dtype::uint8}})
            EXPECT_EQ(differs(shape, dtype::uint8, codes, each.options, wanted), "")
                << each.name << ", " << text_of(shape) << ", blocks of " << block;
}

// Half precision holds distances of up to 45 cells, integers up to 64.
INSTANTIATE_TEST_SUITE_P(Blocks, OptionsWindows,
                         testing::Values(window_case{{1025, 260}, 40}, window_case{{1900, 33}, 64},
                                         window_case{{1100, 290}, 60}, window_case{{1870, 70}, 90},
                                         window_case{{1030, 40}, 150}),
                         [](const auto& of) {
                             return std::to_string(of.param.shape[0]) + "x" + std::to_string(of.param.shape[1]) + "_" +
                                    std::to_string(of.param.block);
                         });

}  // namespace
}  // namespace nearfield::test
