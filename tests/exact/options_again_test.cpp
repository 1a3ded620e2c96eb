// Distances of volumes whose values may need 64 bits are searched in 32 bits first, and again in double if a cell has
// no site within these; nearest sites have near windows in 32 bits and strips in double. All equal the host bit for
// bit; the trace tells which way ran.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"

namespace nearfield::test {
namespace {

using exact::gpu::rung;

class OptionsAgain : public device_test {};

/// Planes 1000 units apart: 32 of them cost less than 2^30, the whole grid more.
const shape_t shape{45, 20, 36};
const double lengths[] = {1000, 33, 27};

/// Sites, of value 0, are random cells, or those of the first plane alone: cells behind plane 32 then are beyond.
codes_t sited(bool far, const shape_t& size = shape) {
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(size); ++i) {
        const bool random = mix(static_cast<std::uint64_t>(i)) % 40 == 0;
        codes.push_back(random && (!far || i < size[1] * size[2]) ? 0 : 1 + static_cast<std::uint32_t>(i / 5 % 3));
    }
    return codes;
}

struct again_case {
    distance_options options;
    wanted_fields wanted;
    bool near = false;  ///< each cell has another label or a closed border near it
};

std::vector<again_case> again_cases() {
    const auto labels = sites::other_labels;
    const auto inside = sign::inside_negative;
    const wanted_fields distance{.distance = dtype::float32},
        sites_too{.distance = dtype::float64, .index = dtype::int64, .coordinates = true};
    return {{{}, distance},
            {{}, sites_too},
            {{}, {.squared = dtype::float64, .trusted = dtype::uint8}},
            {{.max_distance = 35000}, sites_too},
            {{.border = {border::open, border::periodic, border::closed}}, sites_too, true},
            {{.border = {border::open, border::open, border::periodic}}, distance},
            {{.half_cell = true}, distance},
            {{.sites = labels}, distance, true},
            {{.sites = labels}, sites_too, true},
            {{.sign = inside}, distance}};
}

/// Solves a case on host and device; returns the windows of a rung, or -1 if results differ.
std::int64_t solved_by(rung which, again_case each, bool far) {
    each.options.spacing = {lengths, 3};
    const exact::gpu::trace counted;
    const std::string wrong = differs(shape, dtype::uint8, sited(far), each.options, each.wanted);
    EXPECT_EQ(wrong, "");
    return wrong.empty() ? counted.solved()[static_cast<std::size_t>(which)] : -1;
}

TEST_F(OptionsAgain, NearSitesNeed32Bits) {
    for (const again_case& each : again_cases()) EXPECT_EQ(solved_by(rung::again, each, false), 0);
}

TEST_F(OptionsAgain, FarSitesNeedDouble) {
    int nth = 0;
    for (const again_case& each : again_cases())
        EXPECT_EQ(solved_by(rung::again, each, true) > 0, !each.near && !each.wanted.index) << "case " << nth++;
}

/// After the first cell that needs double, the last pass in 32 bits leaves out all blocks that have not begun.
TEST_F(OptionsAgain, PassesIn32BitsEndEarly) {
    const shape_t large{45, 160, 330};
    const std::int64_t strips_along_y = (45 * 330 + 31) / 32 * 5, strips_along_z = 160 * 330 / 32 * 2;
    const exact::gpu::trace counted;
    EXPECT_EQ(differs(large, dtype::uint8, sited(true, large), {.spacing = {lengths, 3}}, {.distance = dtype::float32}),
              "");
    const auto solved = [&](rung which) { return counted.solved()[static_cast<std::size_t>(which)]; };
    EXPECT_GT(solved(rung::again), 0);
    EXPECT_LT(solved(rung::strips) + solved(rung::halving), strips_along_y + strips_along_z * 7 / 8);
}

/// Windows of 20 rows do not go round a periodic axis.
TEST_F(OptionsAgain, SitesHaveWindows) {
    for (const again_case& each : again_cases()) {
        if (!each.wanted.index || each.options.border[1] != border::open) continue;
        EXPECT_GT(solved_by(rung::near, each, false), 0);
    }
}

/// A limit within 32 bits leaves nothing to double.
TEST_F(OptionsAgain, LimitsNeed32Bits) {
    for (again_case each : again_cases()) {
        if (each.options.half_cell) continue;
        each.options.max_distance = 20000;
        EXPECT_EQ(solved_by(rung::again, each, true), 0);
    }
}

}  // namespace
}  // namespace nearfield::test
