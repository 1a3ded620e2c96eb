// Jump flooding in tiles on a device has the host's bits, for every form of a tile and both ways of
// comparing.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "methods/device_engine.hpp"

namespace nearfield::test {
namespace {

class JumpFloodDevice : public device_test {};

/// Returns "" or the difference between a variant's results on device and host.
std::string differs(const jump_flood& how, const shape_t& shape, const flags_t& sites, const spacing_case& cell) {
    solved s = unsolved(shape, sites, cell);
    s.answer = oracle::of_sites(s.problem, sites_of(how, shape, sites, s.problem.spacing));
    return check(method_on_device(how), s, outputs::all(), dress{});
}

const std::vector<shape_case>& tiled_shapes() {
    static const std::vector<shape_case> list = {
        {{64, 64}, "2-D, neighbours at steps 1, 2 and 4, eight cells a step apart at 8, two from 16 on"},
        {{70, 136}, "2-D, an odd number of neighbours' tiles, walks that end within the image"},
        {{41, 300}, "2-D, rows that are not a multiple of 8: cells a step apart at every step"},
        {{300, 9}, "2-D, rows shorter than a tile"},
        {{3, 520}, "2-D, steps beyond all rows"},
        {{1, 2048}, "one row, steps beyond a block"},
        {{24, 20, 36}, "3-D, neighbours at steps 1 and 2"},
        {{19, 37, 23}, "3-D, cells a step apart at every step, an odd number of rows"},
        {{70, 3, 8}, "3-D, fewer rows than a step"},
        {{2, 66, 70}, "3-D, two planes"},
    };
    return list;
}

const std::vector<spacing_case>& spacings() {
    static const std::vector<spacing_case> list = {
        {{}, "not given"}, {{3}, "one for all"}, {{2, 1, 3}, "one for each axis"}};
    return list;
}

TEST_F(JumpFloodDevice, EveryTileEqualsTheHost) {
    const std::vector<jump_flood> variants = {{},
                                              {.steps = jump_flood::order::doubling},
                                              {.rounds_before = 1},
                                              {.rounds_after = 2},
                                              {.runs = 2},
                                              {.sites_per_cell = 2},
                                              {.rounds_before = 1, .rounds_after = 1, .sites_per_cell = 2},
                                              {.steps = jump_flood::order::doubling, .sites_per_cell = 2},
                                              {.randomised = true, .seed = 3},
                                              {.rounds_after = 1, .runs = 2, .randomised = true, .seed = 4}};
    std::uint64_t k = 0;
    for (const shape_case& grid : tiled_shapes())
        for (const fill kind : {fill::none, fill::all, fill::one, fill::circle, fill::sparse3, fill::percent,
                                fill::tenth, fill::fifty, fill::checkerboard})
            for (const jump_flood& how : variants) {
                if (!chosen(++k)) continue;
                const spacing_case& cell = spacings()[k % spacings().size()];
                ASSERT_EQ(differs(how, grid.shape, make_fill(kind, grid.shape, k), cell), "")
                    << grid.why << ": " << name_of(kind) << ", " << text_of(method{how}) << ", spacing " << cell.why;
            }
}

/// Sites too far for one number, which holds 125 units in images and 29 in volumes. The unit is the step, or 1 after a
/// round of step 1.
TEST_F(JumpFloodDevice, FarSitesEqualTheHosts) {
    for (const shape_t& shape : {shape_t{12, 1600}, shape_t{700, 16}, shape_t{9, 10, 240}, shape_t{130, 8, 12}})
        for (const std::uint64_t seed : {1, 2, 3}) {
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            for (std::uint64_t k = 0; k < seed; ++k) sites[mix(10 * seed + k) % sites.size()] = 1;
            for (const jump_flood& how :
                 {jump_flood{}, jump_flood{.rounds_before = 1}, jump_flood{.runs = 2}, jump_flood{.sites_per_cell = 2},
                  jump_flood{.sites_per_cell = 2, .runs = 2}, jump_flood{.randomised = true}})
                EXPECT_EQ(differs(how, shape, sites, {{}, "not given"}), "")
                    << text_of(shape) << ' ' << text_of(method{how});
        }
}

/// All sides are even: the cell that is farthest from the only site receives it from one neighbour, which is the last
/// one it reads, or the first.
TEST_F(JumpFloodDevice, FarSitesInOneCornerEqualTheHosts) {
    for (const shape_t& shape : {shape_t{10, 10, 240}, shape_t{52, 64, 62}, shape_t{8, 1600}})
        for (const bool last : {false, true}) {
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            (last ? sites.back() : sites.front()) = 1;
            EXPECT_EQ(differs({}, shape, sites, {{}, "not given"}), "") << text_of(shape) << ' ' << last;
        }
}

/// Every form of a tile, and tiles that are left unresolved.
TEST_F(JumpFloodDevice, ShortWalkForTheSanitizer) {
    for (const shape_t& shape : {shape_t{24, 64}, shape_t{9, 45}, shape_t{5, 600}, shape_t{6, 7, 16}, shape_t{9, 6, 24},
                                 shape_t{3, 4, 160}, shape_t{52, 64, 61}}) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        sites.front() = 1;
        for (const jump_flood& how :
             {jump_flood{}, jump_flood{.rounds_before = 1}, jump_flood{.sites_per_cell = 2},
              jump_flood{.rounds_before = 1, .sites_per_cell = 2}, jump_flood{.randomised = true}})
            EXPECT_EQ(differs(how, shape, sites, {{}, "not given"}), "") << text_of(shape);
    }
}

/// Walks of eight and of 32 cells.
TEST_F(JumpFloodDevice, LargerGridsEqualTheHosts) {
    for (const shape_t& shape : {shape_t{4096, 4096}, shape_t{8193, 4100}, shape_t{2050, 3003}, shape_t{160, 160, 160},
                                 shape_t{259, 255, 257}})
        for (const double density : {0.0001, 0.01})
            EXPECT_EQ(differs({}, shape, make_random(shape, density, 7), {{}, "not given"}), "") << text_of(shape);
}

/// Rounds after rounds that left many tiles unresolved, by both ways of comparing, with these rounds' forms of tiles.
/// Cells of a few sites, also after a round of step 1, and rows with blocks of 32 threads.
TEST_F(JumpFloodDevice, ManyOpenTilesEqualTheHosts) {
    for (const shape_t& shape : {shape_t{12, 2300}, shape_t{90, 2100}, shape_t{30, 4100}})
        for (const double density : {0.0001, 0.001})
            for (const jump_flood& how :
                 {jump_flood{}, jump_flood{.rounds_before = 1}, jump_flood{.steps = jump_flood::order::doubling}})
                EXPECT_EQ(differs(how, shape, make_random(shape, density, 7), {{}, "not given"}), "")
                    << text_of(shape) << ' ' << text_of(method{how}) << ' ' << density;
}

/// A site of such a volume takes 29 bits, one more than words of offsets can hold.
TEST_F(JumpFloodDevice, LargerVolumesOfTwentyNineBitsEqualTheHosts) {
    const shape_t shape{257, 513, 513};
    for (const std::uint64_t count : {1, 3}) {
        flags_t sites(static_cast<std::size_t>(cells_of(shape)));
        for (std::uint64_t k = 0; k < count; ++k) sites[mix(count + 10 * k) % sites.size()] = 1;
        EXPECT_EQ(differs({}, shape, sites, {{}, "not given"}), "") << count;
    }
}

/// Images whose rounds run in two kernels: tiles of each size with no, one and two rounds after the series; classes of
/// one cell to 81 along an axis with no, few and many sites; and images too large for these kernels.
void several_rounds_equal_the_hosts(const std::vector<shape_t>& shapes) {
    for (const shape_t& shape : shapes)
        for (const double density : {0.00001, 0.0001, 0.001, 0.01, 0.5})
            for (const jump_flood& how :
                 {jump_flood{}, jump_flood{.rounds_after = 1}, jump_flood{.rounds_after = 2}, jump_flood{.runs = 2}})
                EXPECT_EQ(differs(how, shape, make_random(shape, density, 7), {{}, "not given"}), "")
                    << text_of(shape) << ' ' << text_of(method{how}) << ' ' << density;
}
TEST_F(JumpFloodDevice, SeveralRoundsInAKernelEqualTheHosts) {
    several_rounds_equal_the_hosts({{17, 16}, {33, 500}, {200, 170}, {100, 1200}, {1300, 20}});
}
TEST_F(JumpFloodDevice, LargerImagesOfSeveralRoundsInAKernelEqualTheHosts) {
    several_rounds_equal_the_hosts(
        {{512, 512}, {1000, 1030}, {1024, 1024}, {1217, 999}, {1280, 1280}, {1536, 1536}, {200, 2048}, {2049, 20}});
}
/// Volumes whose long steps run in one kernel: classes of 16 cells along each axis, and of fewer along some.
TEST_F(JumpFloodDevice, ClassesOfVolumesEqualTheHosts) {
    for (const shape_t& shape : {shape_t{64, 64, 64}, shape_t{61, 64, 52}, shape_t{50, 63, 64}})
        for (const double density : {0.0, 0.00001, 0.001, 0.05})
            for (const jump_flood& how : {jump_flood{}, jump_flood{.rounds_after = 2}})
                EXPECT_EQ(differs(how, shape, make_random(shape, density, 7), {{}, "not given"}), "")
                    << text_of(shape) << ' ' << text_of(method{how}) << ' ' << density;
}
TEST_F(JumpFloodDevice, LargerClassesOfVolumesEqualTheHosts) {
    for (const double density : {0.00001, 0.001, 0.5})
        for (const shape_t& shape : {shape_t{128, 128, 128}, shape_t{128, 113, 118}})
            EXPECT_EQ(differs({}, shape, make_random(shape, density, 7), {{}, "not given"}), "")
                << text_of(shape) << ' ' << density;
    for (const shape_t& shape : {shape_t{256, 256, 256}, shape_t{250, 254, 255}})
        EXPECT_EQ(differs({}, shape, make_random(shape, 0.001, 7), {{}, "not given"}), "") << text_of(shape);
}
TEST_F(JumpFloodDevice, LargerGridsOfTwoSitesAndOfDrawnOnesEqualTheHosts) {
    for (const shape_t& shape : {shape_t{2050, 1300}, shape_t{1024, 2048}, shape_t{120, 128, 96}, shape_t{99, 95, 97}})
        for (const double density : {0.0001, 0.01})
            for (const jump_flood& how : {jump_flood{.sites_per_cell = 2}, jump_flood{.randomised = true}})
                EXPECT_EQ(differs(how, shape, make_random(shape, density, 7), {{}, "not given"}), "")
                    << text_of(shape) << ' ' << text_of(method{how});
}

/// A small grid has all its rounds in one stage.
TEST_F(JumpFloodDevice, StagesAreNamedBySeries) {
    const auto names = [](const jump_flood& how, const shape_t& shape) {
        constexpr double everywhere = std::numeric_limits<double>::infinity();
        std::string all;
        for (const method_stage& each : on_device(how, shape, make_random(shape, 0.01, 7), everywhere).report.stages)
            all += (all.empty() ? "" : "; ") + each.name;
        return all;
    };
    EXPECT_EQ(names({}, {20, 90}), "initialise; steps 64 to 1; fields");
    EXPECT_EQ(names({.rounds_before = 1}, {20, 90}), "initialise; steps 1, 64 to 1; fields");
    EXPECT_EQ(names({.rounds_after = 1, .sites_per_cell = 2, .runs = 2}, {20, 90}),
              "initialise; steps 64 to 1, 1, 64 to 1, 1; fields");
    EXPECT_EQ(names({.steps = jump_flood::order::doubling, .runs = 2}, {20, 9, 7}),
              "initialise; steps 1 to 16, 1 to 16; fields");
    EXPECT_EQ(names({}, {2, 2}), "initialise; step 1; fields");
}

}  // namespace
}  // namespace nearfield::test
