// Smooth masks, as users have them, equal the host's bit for bit under every rule: a line has windows that near rungs
// resolve beside strips that the next rung has to resolve, everywhere and at its ends.
#include <gtest/gtest.h>

#include <cmath>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

class OptionsSmooth : public device_test {};

/// 1 where a sum of waves of about 60 cells exceeds a level; for labels, a number for each block of 70 cells instead.
codes_t smooth(const shape_t& shape, double level, bool labels, std::uint64_t seed) {
    constexpr int waves = 6;
    codes_t codes;
    codes.reserve(static_cast<std::size_t>(cells_of(shape)));
    double step[waves][max_rank];
    for (int k = 0; k < waves; ++k)
        for (std::size_t axis = 0; axis < shape.size(); ++axis)
            step[k][axis] =
                0.2 *
                (static_cast<double>(mix(seed + 100 * static_cast<std::uint64_t>(k) + axis) >> 11) * 0x1p-53 - 0.5);
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        double phase[waves]{}, sum = 0;
        std::int64_t rest = i, block = 0;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis]) {
            block = block * 3 + rest % shape[axis] / 70;
            for (int k = 0; k < waves; ++k) phase[k] += step[k][axis] * static_cast<double>(rest % shape[axis]);
        }
        for (int k = 0; k < waves; ++k) sum += std::cos(phase[k] + k);
        codes.push_back(sum > level ? (labels ? 1 + static_cast<std::uint32_t>(block % 5) : 1) : 0);
    }
    return codes;
}

/// Checks all rules of borders, spacings and classes, with fields in turn; a share of them if cases are scaled down.
void check_rules(const shape_t& shape, std::uint64_t seed) {
    static const double real[] = {2.5, 0.7, 0.7}, free[] = {1.4142135623730951, 1, 0.77}, one[] = {1, 1, 1};
    static const wanted_fields wanted[] = {{.distance = dtype::float32},
                                           {.distance = dtype::float32, .index = dtype::int64, .coordinates = true},
                                           {.squared = dtype::float64, .distance = dtype::float64}};
    static const border mixed[] = {border::periodic, border::closed, border::open};
    const codes_t mask = smooth(shape, 0.7, false, seed), labels = smooth(shape, -0.5, true, seed + 1);
    std::uint64_t k = 1000 * seed;
    for (const double* lengths : {one, real, free})
        for (int beyond = 0; beyond < 4; ++beyond)
            for (int by = 0; by < 5; ++by, ++k) {
                if (!chosen(k)) continue;
                distance_options options;
                options.spacing = spacing(lengths, shape.size());
                options.border = beyond < 3 ? borders(std::array{border::open, border::closed,
                                                                 border::periodic}[static_cast<std::size_t>(beyond)])
                                            : borders(mixed, shape.size());
                if (by == 1 || by == 2) options.sign = sign::inside_negative;
                if (by == 2 || by == 3) options.half_cell = true;
                if (by == 4) options.sites = sites::other_labels;
                const wanted_fields& fields = wanted[by == 1 || by == 2 ? 0 : k % std::size(wanted)];
                EXPECT_EQ(
                    differs(shape, by == 4 ? dtype::int32 : dtype::uint8, by == 4 ? labels : mask, options, fields), "")
                    << text_of(shape) << ", spacing " << lengths[0] << ", borders " << beyond << ", class " << by;
                if (testing::Test::HasFailure()) return;
            }
}

TEST_F(OptionsSmooth, Images) {
    check_rules({340, 290}, 1);
    if (test_scale() >= 1) check_rules({1500, 1300}, 1000);
}

/// Lines longer than a block can stage.
TEST_F(OptionsSmooth, LongLines) {
    check_rules({1500, 40}, 3);
    check_rules({1100, 130}, 4);
}

TEST_F(OptionsSmooth, Volumes) {
    check_rules({96, 70, 130}, 2);
    if (test_scale() >= 1) check_rules({160, 288, 192}, 2000);
}

}  // namespace
}  // namespace nearfield::test
