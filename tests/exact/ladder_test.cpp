// Every rung of the ladder resolves windows of some call, and the results equal all pairs of cells. The trace tells
// which rung was used. A rung without a case fails, and so does one that is never used.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "device_test.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"
#include "nearfield/system.hpp"

namespace nearfield::test {
namespace {

using exact::gpu::ladder;
using exact::gpu::rung;

constexpr double around = -1;

struct ladder_case {
    rung which;
    shape_t shape;
    double zeros;  ///< share of sites; 0: one row in the middle; `around`: all cells beyond a disc
    distance_options options{};
    bool index = false, bits = false, weighted = false;
};

const std::vector<ladder_case>& ladder_cases() {
    static const double real[] = {1.4142135623730951, 1}, steep[] = {1.0000001, 1.1e7}, heavy[] = {9, 1},
                        planes[] = {1000, 7, 5};
    static const std::vector<ladder_case> list = {
        {rung::small, {40, 50}, 0.05},
        {rung::words, {20, 600}, 0.05},
        {rung::words, {20, 600}, 0.05, {.max_distance = 3.5}, false, true},
        {rung::words, {90, 600}, 0, {.max_distance = 33.5}, false, true},
        {rung::words, {20, 18, 70}, 0.02, {.sites = sites::nonzero, .max_distance = 2}, false, true},
        {rung::few, {60, 70}, 0.001, {.spacing = {2, 1}}, true},
        {rung::values, {40, 70}, 0.1, {.sites = sites::other_labels}},
        {rung::values, {20, 24, 33}, 0.1, {.spacing = {1, 2, 1}, .half_cell = true}},
        {rung::near, {60, 70}, 0.1, {.spacing = {2, 1}}, true},
        {rung::near, {20, 24, 33}, 0.1, {.spacing = {1, 2, 1}}, true},
        {rung::near, {100, 40}, 0.9, {}, true, false, true},
        {rung::near, {120, 9, 7}, 0.9, {.border = border::periodic}, true, false, true},
        {rung::strips, {60, 70}, 0.1, {.spacing = {real, 2}}, true},
        {rung::strips, {60, 40}, 0.1, {.border = border::periodic}, true},
        {rung::strips, {7, 8, 9, 5}, 0.1, {.spacing = {2, 1, 1, 1}}, true},
        {rung::shared, {1100, 9}, around, {.spacing = {real, 2}}, true},
        {rung::shared, {1100, 9}, around, {.spacing = {real, 2}, .sign = sign::inside_negative}},
        {rung::shared, {1100, 9}, around, {.spacing = {real, 2}, .border = border::periodic}, true},
        {rung::windows, {600, 9}, 0.1, {.spacing = {real, 2}}, true},
        {rung::again, {90, 4, 6}, 0, {.spacing = {planes, 3}}},
        {rung::halving, {300, 33}, 0, {.spacing = {heavy, 2}}, true},
        {rung::halving, {1100, 9}, 0, {.spacing = {real, 2}}, true},
        {rung::plain, {40, 35}, 0.05, {.spacing = {steep, 2}}, true},
    };
    return list;
}

codes_t image_of(const ladder_case& c) {
    codes_t codes;
    const std::int64_t inner = cells_of(c.shape) / c.shape[0];
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const std::uint64_t bits = mix(static_cast<std::uint64_t>(i) + 5);
        const std::int64_t y = 2 * (i / inner) - c.shape[0], x = 2 * (i % inner) - inner, most = c.shape[0] - 6;
        const bool zero = c.zeros == around ? y * y + x * x >= most * most
                          : c.zeros > 0     ? static_cast<double>(bits >> 11) * 0x1p-53 < c.zeros
                                            : i / inner == c.shape[0] / 2;
        codes.push_back(zero ? 0 : 1 + static_cast<std::uint32_t>(i / inner / 6 + i % inner / 11) % 3);
    }
    return codes;
}

int multiprocessors() {
    int count = 0;
    return cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, 0) == cudaSuccess ? count : 0;
}

class DeviceLadder : public device_test {};

TEST_F(DeviceLadder, EveryRungSolvesItsCases) {
    std::array<int, exact::gpu::rungs> cases{};
    for (const ladder_case& each : ladder_cases()) {
        if (each.which == rung::small && query_system().devices.front().compute_major < 9) continue;
        if (each.which == rung::windows && multiprocessors() < 2) continue;
        option_call c;
        c.options = each.options;
        wanted_fields wanted;
        if (!each.weighted) wanted.distance = each.bits ? dtype::boolean : dtype::float32;
        if (each.index) wanted.index = dtype::int64;
        c.items.emplace_back(each.shape, dtype::uint8, image_of(each), c.options, wanted, 3);
        if (each.weighted) c.form = form_value::power, c.items.front().weigh(dtype::uint8, layout::contiguous, 5);
        c.items.front().solve();
        if (each.which == rung::few) exact::gpu::few_limit = {.least_cells = 1, .least_alone = 1, .cells_a_site = 20};
        exact::gpu::trace counted;
        ASSERT_EQ(check(device_options_engine(), c), "") << row_of(each.which).name;
        EXPECT_GT(counted.solved()[static_cast<std::size_t>(each.which)], 0)
            << row_of(each.which).name << " took nothing of a case that is made for it: " << counted.text();
        exact::gpu::few_limit = {};
        ++cases[static_cast<std::size_t>(each.which)];
    }
    cases[static_cast<std::size_t>(rung::small)] += 1;    // a rung that older GPUs do not have
    cases[static_cast<std::size_t>(rung::windows)] += 1;  // nor does a device of one multiprocessor
    for (const auto& row : ladder) EXPECT_GT(cases[static_cast<std::size_t>(row.which)], 0) << row.name;
}

TEST_F(DeviceLadder, CountsNothingWithoutATrace) {
    exact::gpu::trace before;
    EXPECT_EQ(before.text(), "nothing");
    EXPECT_NE(exact::gpu::trace::numbers(), nullptr);
    {
        const exact::gpu::trace inner;
        EXPECT_NE(exact::gpu::trace::numbers(), nullptr);
    }
    EXPECT_EQ(before.text(), "nothing");
}

/// The table in docs/engine.md equals this one.
TEST(Ladder, StandsInTheDocuments) {
    std::ifstream from(NEARFIELD_ENGINE_MD);
    std::stringstream text;
    text << from.rdbuf();
    int nth = 0;
    for (const auto& row : ladder) {
        EXPECT_EQ(static_cast<int>(row.which), nth++);
        const std::string line = std::string("| ") + row.name + " | " + row.serves + " | " + row.declines + " |";
        EXPECT_NE(text.str().find(line), std::string::npos) << "docs/engine.md lacks: " << line;
    }
}

}  // namespace
}  // namespace nearfield::test
