// Which rungs of lines a plan names, on both sides of their limits. Needs CUDA in the build, but no GPU.
#include <gtest/gtest.h>

#include <string>

#include "exact/options_device_engine.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

std::string plan_text(const shape_t& shape, const distance_options& options, dtype type = dtype::uint8) {
    fields<device> out;
    out.index = any_output<device>::contiguous(nullptr, dtype::int32, shape);
    return plan(device{nullptr}, any_input<device>::contiguous(nullptr, type, shape), out, options).text();
}
bool has_near(const shape_t& shape, const distance_options& options, dtype type = dtype::uint8) {
    return plan_text(shape, options, type).find("near windows") != std::string::npos;
}

TEST(DeviceLinesPlan, NearWindowsHaveLimits) {
    EXPECT_TRUE(has_near({200, 300}, {.spacing = {2, 1}}));
    EXPECT_TRUE(has_near({200, 300}, {.spacing = {2, 1}, .border = border::closed}));
    EXPECT_TRUE(has_near({200, 300}, {.sites = sites::other_labels}));
    EXPECT_TRUE(has_near({20, 30, 40}, {.spacing = {1, 2, 1}}));
    EXPECT_TRUE(has_near({200, 300}, {.spacing = {0.7, 0.35}})) << "2 and 1 times one length";
    EXPECT_TRUE(has_near({2, 300}, {.spacing = {2, 1}})) << "fewer rows than a block has";
    EXPECT_FALSE(has_near({7, 600}, {.spacing = {2, 1}, .border = {border::periodic, border::open}}));
    EXPECT_TRUE(has_near({200, 300}, {.spacing = {2.5, 0.7}})) << "fields of words follow from the weights";
    EXPECT_TRUE(has_near({200, 30000}, {.spacing = {2.5, 0.7}})) << "whole numbers in double";
    EXPECT_TRUE(has_near({200, 300}, {.spacing = {2, 1}, .border = border::periodic}));
    EXPECT_FALSE(has_near({200, 300}, {.spacing = {100, 1}})) << "winners are 5 rows away at most";
    EXPECT_FALSE(has_near({200, 20}, {.border = border::periodic})) << "cells round the line need 5 bits";
    EXPECT_FALSE(has_near({200, 300}, {.spacing = {2, 1}, .half_cell = true}));
    EXPECT_FALSE(has_near({200, 300}, {.spacing = {1.4142135623730951, 1}})) << "numbers in double";
    EXPECT_TRUE(has_near({8, 32600}, {.spacing = {2, 1}})) << "positions in 32 bits";
    EXPECT_FALSE(has_near({8, 8, 32600}, {.spacing = {2, 1, 1}})) << "keys of no site would come near";
    EXPECT_FALSE(has_near({8, 8, 8, 8}, {.spacing = {2, 1, 1, 1}})) << "wide keys";
}

/// Plans of distances alone, whose windows serve every class and end.
TEST(DeviceLinesPlan, WindowsOfValuesHaveLimits) {
    const auto has_values = [](const shape_t& shape, const distance_options& options) {
        fields<device> out;
        out.distance = any_output<device>::contiguous(nullptr, dtype::float32, shape);
        const auto image = any_input<device>::contiguous(nullptr, dtype::uint8, shape);
        return plan(device{nullptr}, image, out, options).text().find("near windows of values") != std::string::npos;
    };
    EXPECT_TRUE(has_values({200, 300}, {.sites = sites::other_labels}));
    EXPECT_TRUE(has_values({200, 300}, {.sign = sign::inside_negative, .half_cell = true}));
    EXPECT_TRUE(has_values({20, 30, 40}, {.spacing = {2.5, 0.7, 0.7}, .border = border::periodic}));
    EXPECT_TRUE(has_values({200, 300}, {.border = border::closed}));
    EXPECT_TRUE(has_values({9, 8, 7, 6}, {.spacing = {2, 1, 1, 1}}));
    EXPECT_TRUE(has_values({200, 300}, {.spacing = {43, 1}})) << "4 rows cost less than 30976";
    EXPECT_TRUE(has_values({200, 300}, {.spacing = {80, 40}})) << "2 and 1 times one length";
    EXPECT_TRUE(has_values({200, 300}, {.spacing = {45, 1}})) << "values of 23 bits";
    EXPECT_TRUE(has_values({200, 300}, {.spacing = {300, 1}})) << "whole numbers in double";
    EXPECT_FALSE(has_values({200, 300}, {.spacing = {800, 1}})) << "3 rows at most";
    EXPECT_TRUE(has_values({2, 300}, {.border = border::closed})) << "fewer rows than a block has";
    EXPECT_FALSE(has_values({7, 300}, {.border = border::periodic}));
    EXPECT_FALSE(has_values({200, 300}, {.spacing = {1.4142135623730951, 1}})) << "no whole numbers";
}

/// Signed images of unit spacing are joined from plain searches only where distances are all that is asked for.
TEST(DeviceLinesPlan, BothSidesAreOfDistancesAlone) {
    const auto joins = [](const shape_t& shape, bool index) {
        fields<device> out;
        out.distance = any_output<device>::contiguous(nullptr, dtype::float32, shape);
        if (index) out.index = any_output<device>::contiguous(nullptr, dtype::int32, shape);
        const auto image = any_input<device>::contiguous(nullptr, dtype::uint8, shape);
        const distance_options options{.sign = sign::inside_negative};
        return plan(device{nullptr}, image, out, options).text().find("both sides joined") != std::string::npos;
    };
    EXPECT_TRUE(joins({300, 700}, false));
    EXPECT_FALSE(joins({300, 700}, true));
    EXPECT_FALSE(joins({1, 300, 1, 700}, true)) << "an image in four axes";
    EXPECT_FALSE(joins({30, 40, 50}, false)) << "a volume";
}

/// Labels of sites come from indices, or within a limit, where lines are faster, from lines.
TEST(DeviceLinesPlan, LabelsWithoutALimitAreOfIndices) {
    const auto from_indices = [](const shape_t& shape, double limit) {
        fields<device> out;
        out.label = any_output<device>::contiguous(nullptr, dtype::int32, shape);
        const auto image = any_input<device>::contiguous(nullptr, dtype::int32, shape);
        const call_plan p = plan(device{nullptr}, image, out, {.sites = sites::nonzero, .max_distance = limit});
        return p.text().find("fields of the indices") != std::string::npos;
    };
    EXPECT_TRUE(from_indices({300, 700}, distance_options{}.max_distance));
    EXPECT_FALSE(from_indices({300, 700}, 20));
}

}  // namespace
}  // namespace nearfield::test
