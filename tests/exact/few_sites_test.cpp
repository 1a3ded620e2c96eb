// Few sites: the device compares them with all cells. With the limits of the rung lowered, random cases of all options
// equal the oracle, lists of sites that do not suffice leave the call to the passes, and larger grids equal the host.
#include <gtest/gtest.h>

#include <cstdlib>
#include <limits>
#include <utility>

#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_property.hpp"

namespace nearfield::test {
namespace {

using exact::gpu::few_limit;

class FewSites : public testing::Test {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
        few_limit = {.least_cells = 1, .least_alone = 1, .cells_a_site = 1};
    }
    void TearDown() override { few_limit = {}; }
};

TEST_F(FewSites, RandomCases) {
    run_random_options(device_options_engine(), {.cases = scaled_cases(1500), .most_cells = 900, .salt = 31});
}
TEST_F(FewSites, RandomCasesUnderGraphCapture) {
    run_random_options(graph_options_engine(), {.cases = scaled_cases(300), .most_cells = 900, .salt = 32});
}
TEST_F(FewSites, TooManySitesGoToThePasses) {
    few_limit.cells_a_site = 8;
    run_random_options(device_options_engine(), {.cases = scaled_cases(300), .most_cells = 900, .salt = 33});
}

/// Returns labels in few cells; `clustered` puts them into one corner, so that boxes have too many.
codes_t few_codes(const shape_t& shape, std::int64_t count, bool clustered) {
    const std::int64_t cells = cells_of(shape);
    codes_t codes(static_cast<std::size_t>(cells));
    for (std::int64_t k = 0; k < count; ++k) {
        const auto at =
            static_cast<std::int64_t>(mix(static_cast<std::uint64_t>(k) + 77) % static_cast<std::uint64_t>(cells));
        codes[static_cast<std::size_t>(clustered ? k % cells : at)] = 1 + static_cast<std::uint32_t>(k % 99);
    }
    return codes;
}

option_call call_of(const shape_t& shape, const codes_t& codes, const distance_options& options, bool power) {
    wanted_fields wanted{.index = dtype::int64, .coordinates = true, .label = true};
    if (!power) wanted.distance = dtype::float32;
    option_call call;
    call.options = options, call.threads = 0;
    call.items.emplace_back(shape, dtype::uint16, codes, options, wanted, 3);
    if (!power) return call;
    call.form = form_value::power;
    call.options = {.spacing = options.spacing, .border = options.border};
    call.items[0].weigh(dtype::float32, layout::contiguous, 5);
    return call;
}

TEST_F(FewSites, EqualAllPairsOfCells) {
    static const double spacings[][3] = {{1, 1, 1}, {3, 2, 5}, {2.5, 0.7, 0.7}, {1.4142135623730951, 1, 0.7}};
    exact::gpu::trace counted;
    for (int k = 0; k < scaled_cases(400); ++k) {
        dice random(static_cast<std::uint64_t>(k) + 9);
        const bool power = random.one_in(3), half_cell = !power && random.one_in(3);
        shape_t shape(static_cast<std::size_t>(2 + random.below(2)));
        for (std::int64_t& size : shape) size = 2 + random.below(13);
        border beyond[3];
        for (border& each : beyond)
            each = random.one_in(3) ? border::periodic : power || random.one_in(2) ? border::open : border::closed;
        const distance_options options{.spacing = {spacings[random.below(4)], shape.size()},
                                       .sites = sites::nonzero,
                                       .half_cell = half_cell,
                                       .border = {beyond, shape.size()}};
        option_call c = call_of(shape, few_codes(shape, random.below(30), random.one_in(3)), options, power);
        c.items[0].solve();
        ASSERT_EQ(check(device_options_engine(), c), "") << "case " << k << ", " << text_of(shape);
    }
    EXPECT_GE(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::few)], scaled_cases(200));
}

bool used(const exact::gpu::trace& counted) {
    return counted.solved()[static_cast<std::size_t>(exact::gpu::rung::few)] > 0;
}

TEST_F(FewSites, HostAndDeviceGiveTheSameBits) {
    static const double real[] = {1.4142135623730951, 1, 0.7}, quotient[] = {2.5, 0.7, 0.7};
    for (const shape_t& shape : {shape_t{66, 20, 70}, shape_t{3, 70, 150}, shape_t{300, 3, 33}, shape_t{150, 170}}) {
        const distance_options spacings[] = {
            {.sites = sites::nonzero},
            {.spacing = {quotient, shape.size()}, .sites = sites::nonzero},
            {.spacing = {real, shape.size()}, .sites = sites::nonzero, .half_cell = true},
            {.sites = sites::nonzero, .border = border::periodic},
            {.sites = sites::nonzero, .border = border::closed},
            {.sites = sites::nonzero, .max_distance = 9}};
        for (const auto& [count, clustered] : {std::pair{0, false}, {1, false}, {150, false}, {6000, true}}) {
            const codes_t codes = few_codes(shape, count, clustered);
            for (const distance_options& options : spacings) {
                for (const bool power : {false, true}) {
                    if (power && (options.half_cell || options.border[0] == border::closed)) continue;
                    option_call here = call_of(shape, codes, options, power);
                    option_call there = here;
                    host_options_engine()(here);
                    exact::gpu::trace counted;
                    device_options_engine()(there);
                    for (std::size_t k = 0; k < here.arrays().size(); ++k)
                        EXPECT_EQ(here.arrays()[k]->bytes(), there.arrays()[k]->bytes())
                            << "array " << k << ", " << text_of(shape) << ", " << count << " sites, power " << power;
                    // A heavy site may be the only one that wins in a box.
                    if (count < 512 || !power) {
                        EXPECT_EQ(used(counted), count < 512) << counted.text();
                    }
                    if (HasFailure()) return;
                }
            }
        }
    }
}

/// Solves one field in unit spacing on both; returns whether the rung did, alone.
bool solves_alone(const shape_t& shape, const codes_t& codes, const wanted_fields& wanted, double limit) {
    option_call here;
    here.options = {.sites = sites::nonzero, .max_distance = limit}, here.threads = 0;
    here.items.emplace_back(shape, dtype::uint8, codes, here.options, wanted, 3);
    option_call there = here;
    host_options_engine()(here);
    exact::gpu::trace counted;
    device_options_engine()(there);
    for (std::size_t k = 0; k < here.arrays().size(); ++k)
        EXPECT_EQ(here.arrays()[k]->bytes(), there.arrays()[k]->bytes())
            << "array " << k << ", " << text_of(shape) << ": " << counted.text();
    const bool by_words = counted.solved()[static_cast<std::size_t>(exact::gpu::rung::words)] > 0;
    EXPECT_FALSE(used(counted) && by_words) << counted.text();
    return used(counted);
}

TEST_F(FewSites, FieldsAloneInUnitSpacing) {
    const wanted_fields fields[] = {{.distance = dtype::float32},
                                    {.distance = dtype::float64},
                                    {.squared = dtype::uint32},
                                    {.index = dtype::int32},
                                    {.index = dtype::int64}};
    for (const shape_t& shape : {shape_t{66, 20, 70}, shape_t{3, 70, 150}, shape_t{7, 9, 1100}})
        for (const auto& [count, clustered] : {std::pair{0, false}, {1, false}, {150, false}, {6000, true}})
            for (const wanted_fields& wanted : fields)
                for (const double limit : {std::numeric_limits<double>::infinity(), 9.0}) {
                    const bool by_few = solves_alone(shape, few_codes(shape, count, clustered), wanted, limit);
                    // Boxes of flat grids may have few of the sites of a corner.
                    if (count < 512 || shape[0] == 66) {
                        EXPECT_EQ(by_few, count < 512);
                    }
                    if (HasFailure()) return;
                }
}

/// All sites are equally near to the middle, where boxes have no room for them.
TEST_F(FewSites, SpheresGoToThePasses) {
    const shape_t shape{72, 70, 74};
    codes_t codes(static_cast<std::size_t>(cells_of(shape)));
    for (std::int64_t cell = 0; cell < cells_of(shape); ++cell) {
        const std::int64_t z = cell / (70 * 74) - 36, y = cell / 74 % 70 - 35, x = cell % 74 - 37;
        if (std::abs(z * z + y * y + x * x - 1000) < 6) codes[static_cast<std::size_t>(cell)] = 1;
    }
    for (const wanted_fields& wanted : {wanted_fields{.distance = dtype::float32}, {.index = dtype::int32}})
        EXPECT_FALSE(solves_alone(shape, codes, wanted, std::numeric_limits<double>::infinity()));
}

/// Labels of images, of which no other field is tried; and values that leave too few bits for the numbers of sites.
TEST_F(FewSites, LabelsAndLongWords) {
    EXPECT_TRUE(solves_alone({150, 700}, few_codes({150, 700}, 40, false), {.label = true},
                             std::numeric_limits<double>::infinity()));
    const shape_t shape{3, 3, 30000};
    codes_t codes(static_cast<std::size_t>(cells_of(shape)));
    for (std::size_t line = 0; line < 9; ++line) codes[line * 30000] = 1;
    for (const wanted_fields& wanted : {wanted_fields{.distance = dtype::float32}, {.index = dtype::int32}})
        EXPECT_TRUE(solves_alone(shape, codes, wanted, std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace nearfield::test
