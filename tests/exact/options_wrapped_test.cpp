// Nearest sites on periodic axes on the device equal the host's bit for bit: lines near the shortest that words serve,
// ends of words, strips and windows across the seam, ties that coordinates decide, and sites so far that words
// decline.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/options_device_engine.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

class OptionsWrapped : public device_test {};

const std::vector<wanted_fields>& site_fields() {
    static const std::vector<wanted_fields> list = {
        {.index = dtype::int32},
        {.index = dtype::int64},
        {.distance = dtype::float32, .index = dtype::int32, .coordinates = true},
        {.squared = dtype::float64, .distance = dtype::float64, .index = dtype::int64},
        {.coordinates = true, .output_layout = layout::stepping},
    };
    return list;
}

/// Cells of value 0 are sites: random ones, or those of a lattice, many of which are equally near.
codes_t sited(const shape_t& shape, int lattice, double share, std::uint64_t seed) {
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i;
        bool on_lattice = lattice > 0;
        for (std::size_t axis = shape.size(); axis-- > 0; rest /= shape[axis])
            on_lattice = on_lattice && rest % shape[axis] % lattice == static_cast<std::int64_t>(seed) % lattice;
        const bool random =
            static_cast<double>(mix(static_cast<std::uint64_t>(i) + (seed << 40)) % 1'000'000) < 1e6 * share;
        codes.push_back(on_lattice || random ? 0 : 1 + static_cast<std::uint32_t>(i % 3));
    }
    return codes;
}

void check_all(const shape_t& shape, const std::vector<border>& beyond, std::uint64_t& k) {
    const borders each(beyond.data(), beyond.size());
    for (const auto& [lattice, share] : {std::pair{0, 0.1}, {0, 0.01}, {0, 0.5}, {4, 0.0}, {9, 0.001}, {0, 0.0002}}) {
        const wanted_fields& wanted = site_fields()[k % site_fields().size()];
        const dtype type = std::array{dtype::uint8, dtype::uint16, dtype::float32, dtype::uint64}[k / 2 % 4];
        const double length = k % 3 == 0 ? 0.65 : 1;
        const double most = k % 7 == 3 ? 6.5 * length : std::numeric_limits<double>::infinity();
        ASSERT_EQ(differs(shape, type, sited(shape, lattice, share, ++k),
                          {.spacing = length, .border = each, .max_distance = most}, wanted),
                  "")
            << text_of(shape) << ", lattice " << lattice << ", share " << share << ", case " << k;
    }
}

/// Half of a line fits the numbers, all of it does not: ends of runs may be as far, and searches look a few rows beyond
/// half of it.
TEST_F(OptionsWrapped, CostsOfWholeLines) {
    const std::pair<shape_t, std::vector<double>> grids[] = {
        {{150, 33}, {3.0, 0.9765625}}, {{140, 5, 9}, {3.0, 0.9765625, 0.9765625}},
        {{1900, 9}, {2.5, 0.7}},       {{100, 40}, {600, 1}},
        {{70, 70}, {800, 1}},          {{9, 40}, {7900, 1}}};
    for (const auto& [shape, lengths] : grids)
        for (int k = 0; k < 12; ++k) {
            const std::int64_t line = cells_of(shape) / shape[0];
            codes_t codes = sited(shape, 0, k % 3 == 0 ? 0.003 : 0, static_cast<std::uint64_t>(k));
            for (std::int64_t i = 0; i < line && k % 3 != 0; ++i)
                for (std::int64_t y = 3 + k; y < 4 + k + (k % 3 - 1) * (3 + i % 5) && y < shape[0]; ++y)
                    codes[static_cast<std::size_t>(y * line + i)] = 0;
            const distance_options options{.spacing = {lengths.data(), lengths.size()},
                                           .sites = k % 2 == 0 ? sites::zero : sites::other_labels,
                                           .sign = k % 4 == 2 ? sign::inside_negative : sign::none,
                                           .border = border::periodic};
            wanted_fields wanted{.distance = dtype::float64};
            if (k % 4 != 2) wanted.index = dtype::int64;
            ASSERT_EQ(differs(shape, dtype::uint8, codes, options, wanted), "") << text_of(shape) << ", case " << k;
        }
}

TEST_F(OptionsWrapped, SeamsOfImages) {
    constexpr border o = border::open, p = border::periodic;
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{128, 128}, shape_t{130, 161}, shape_t{200, 129}, shape_t{129, 190}})
        for (const std::vector<border>& beyond : {std::vector{p, p}, std::vector{o, p}, std::vector{p, o}}) {
            check_all(shape, beyond, k);
            if (HasFailure()) return;
        }
}

TEST_F(OptionsWrapped, WindowsOfLongLines) {
    constexpr border o = border::open, p = border::periodic;
    std::uint64_t k = 100;
    for (const auto& [shape, beyond] :
         {std::pair{shape_t{464, 40}, std::vector{p, o}}, std::pair{shape_t{465, 33}, std::vector{p, o}},
          std::pair{shape_t{1000, 130}, std::vector{p, p}}, std::pair{shape_t{20, 2100}, std::vector{o, p}},
          std::pair{shape_t{929, 31}, std::vector{p, o}}}) {
        check_all(shape, beyond, k);
        if (HasFailure()) return;
    }
}

/// Lines near the shortest that this path serves, where every cell is near an end, and sites beyond its reach.
TEST_F(OptionsWrapped, ShortestSeams) {
    constexpr border o = border::open, p = border::periodic;
    std::uint64_t k = 300;
    for (const auto& [shape, beyond] :
         {std::pair{shape_t{64, 65}, std::vector{p, p}}, std::pair{shape_t{70, 40}, std::vector{p, o}},
          std::pair{shape_t{32, 33, 34}, std::vector{p, p, p}}, std::pair{shape_t{5, 40, 32}, std::vector{o, p, p}},
          std::pair{shape_t{66, 20, 3}, std::vector{p, o, o}}}) {
        check_all(shape, beyond, k);
        if (HasFailure()) return;
    }
}

TEST_F(OptionsWrapped, Volumes) {
    constexpr border o = border::open, p = border::periodic;
    std::uint64_t k = 200;
    for (const auto& [shape, beyond] :
         {std::pair{shape_t{7, 9, 140}, std::vector{o, o, p}}, std::pair{shape_t{6, 131, 20}, std::vector{o, p, o}},
          std::pair{shape_t{150, 5, 33}, std::vector{p, o, o}}, std::pair{shape_t{128, 4, 129}, std::vector{p, o, p}},
          std::pair{shape_t{3, 128, 128}, std::vector{o, p, p}}}) {
        check_all(shape, beyond, k);
        if (HasFailure()) return;
    }
}

/// Lines whose ends meet between two strips, and lines that need a margin; few sites need the search with more steps.
TEST_F(OptionsWrapped, VolumesOfWholeStrips) {
    constexpr border o = border::open, p = border::periodic;
    std::uint64_t k = 400;
    for (const auto& [shape, beyond] :
         {std::pair{shape_t{192, 2, 129}, std::vector{p, o, p}}, std::pair{shape_t{2, 192, 20}, std::vector{o, p, o}},
          std::pair{shape_t{128, 128, 1}, std::vector{p, p, o}}, std::pair{shape_t{400, 3, 33}, std::vector{p, o, o}},
          std::pair{shape_t{340, 5, 64}, std::vector{p, o, p}}, std::pair{shape_t{336, 64, 3}, std::vector{p, p, o}},
          std::pair{shape_t{1030, 1, 9}, std::vector{p, o, o}}}) {
        check_all(shape, beyond, k);
        if (HasFailure()) return;
    }
}

/// Planes of sites 16 cells apart: a cell midway ties between two, one of them across an end, whose word arrives
/// through other strips.
TEST_F(OptionsWrapped, TiesOverEnds) {
    constexpr border o = border::open, p = border::periodic;
    for (const std::int64_t length : {128, 144, 352})
        for (const std::size_t axis : {0U, 1U, 2U})
            for (std::int64_t first = 0; first < 16; ++first) {
                shape_t shape{2, 2, 2};
                std::vector beyond{o, o, o};
                shape[axis] = length, beyond[axis] = p;
                codes_t codes;
                for (std::int64_t i = 0; i < cells_of(shape); ++i)
                    codes.push_back(i / (axis == 0 ? 4 : axis == 1 ? 2 : 1) % length % 16 == first ? 0 : 1);
                ASSERT_EQ(differs(shape, dtype::uint8, codes, {.border = borders(beyond.data(), beyond.size())},
                                  site_fields()[static_cast<std::size_t>(first) % 2]),
                          "")
                    << text_of(shape) << ", " << first;
            }
}

/// Other searches serve short periodic axes, and rules that change values.
TEST_F(OptionsWrapped, PlansNameThem) {
    const auto served = [](const shape_t& shape, const distance_options& options) {
        fields<device> out;
        out.index = any_output<device>::contiguous(nullptr, dtype::int32, shape);
        const call_plan what =
            plan(device{nullptr}, any_input<device>::contiguous(nullptr, dtype::uint8, shape), out, options);
        return what.text().find("between winners of pivot rows") != std::string::npos;
    };
    EXPECT_TRUE(served({128, 128}, {.border = border::periodic}));
    EXPECT_TRUE(served({5, 128}, {.spacing = 0.65, .border = {border::open, border::periodic}}));
    EXPECT_TRUE(served({128, 128}, {.half_cell = true, .border = border::periodic}));
    EXPECT_TRUE(served({2, 128, 128, 128}, {.border = border::periodic}));
    EXPECT_FALSE(served({1024, 1024}, {}));
}

/// Each image of a batch wraps around by itself.
TEST_F(OptionsWrapped, Batches) {
    const shape_t shape{3, 128, 130};
    for (const double share : {0.2, 0.02}) {
        const distance_options options{.border = border::periodic, .batch_axes = 1};
        EXPECT_EQ(differs(shape, dtype::uint8, sited(shape, 0, share, 5), options, site_fields()[2]), "") << share;
    }
}

}  // namespace
}  // namespace nearfield::test
