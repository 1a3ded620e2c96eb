// Methods on a device: the bits that the host leaves.
#include <gtest/gtest.h>

#include <limits>

#include "device_test.hpp"
#include "methods/device_engine.hpp"

namespace nearfield::test {
namespace {

constexpr double everywhere = std::numeric_limits<double>::infinity();

class MethodsOnDevice : public device_test {};

const std::vector<method>& methods_of_sites() {
    static const std::vector<method> list = {
        jump_flood{},
        jump_flood{.steps = jump_flood::order::doubling},
        jump_flood{.rounds_before = 1, .rounds_after = 2},
        jump_flood{.sites_per_cell = 2},
        jump_flood{.runs = 2},
        jump_flood{.randomised = true, .seed = 3},
        brushfire{.parallel = true},
    };
    return list;
}

TEST_F(MethodsOnDevice, SitesEqualTheHosts) {
    std::uint64_t k = 0;
    std::vector<shape_case> shapes = method_shapes();
    shapes.push_back({{9, 300}, "2-D, several blocks of a row, walks of many steps"});
    shapes.push_back({{300, 9}, "2-D, several walks along the columns"});
    shapes.push_back({{40, 21, 34}, "3-D, several walks, groups of rows"});
    for (const shape_case& grid : shapes)
        for (fill kind : {fill::none, fill::all, fill::one, fill::sparse3, fill::percent, fill::tenth, fill::fifty})
            for (const method& by : methods_of_sites()) {
                if (!chosen(++k)) continue;
                const spacing_case& cell = method_spacings()[k % method_spacings().size()];
                SCOPED_TRACE(std::string(name_of(by)) + " on " + text_of(grid.shape) + " (" + grid.why +
                             "): " + name_of(kind) + ", spacing " + cell.why);
                solved s = unsolved(grid.shape, make_fill(kind, grid.shape, k), cell);
                s.answer = oracle::of_sites(s.problem, sites_of(by, grid.shape, s.problem.site, s.problem.spacing));
                EXPECT_EQ(check(method_on_device(by), s, outputs::all(), dress{}), "");
                EXPECT_EQ(check(method_on_device(by), s, outputs::number(1 + k % (output_combinations - 1)),
                                dress::number(k)),
                          "");
                if (testing::Test::HasFailure()) return;
            }
}

TEST_F(MethodsOnDevice, ChamferEqualsTheHost) {
    std::uint64_t k = 0;
    for (const shape_case& grid : method_shapes())
        for (const std::array<std::int32_t, 3>& weights :
             {std::array<std::int32_t, 3>{}, {1, 0, 0}, {3, 4, 0}, {5, 7, 11}}) {
            if (grid.shape.size() == 1 && weights[1] != 0) continue;
            ++k;
            const flags_t sites = make_fill(all_fills[k % std::size(all_fills)], grid.shape, k);
            const chamfer_method by{.weights = weights, .iterated = true};
            const device_answer here = on_host(by, grid.shape, sites, everywhere),
                                there = on_device(by, grid.shape, sites, everywhere);
            EXPECT_EQ(here.distance, there.distance) << grid.why;
            EXPECT_EQ(here.index, there.index) << grid.why;
            EXPECT_EQ(here.report.rounds, there.report.rounds) << grid.why;
        }
}

TEST_F(MethodsOnDevice, LimitsLabelsAndReportsEqualTheHosts) {
    const shape_t shape{37, 61};
    flags_t seeds = make_random(shape, 0.004, 2);
    for (std::size_t cell = 0; cell < seeds.size(); ++cell)
        if (seeds[cell] != 0) seeds[cell] = static_cast<std::uint8_t>(1 + cell % 200);
    std::vector<method> all = methods_of_sites();
    all.emplace_back(chamfer_method{.iterated = true});
    for (const method& by : all)
        for (double limit : {everywhere, 6.5, 0.0}) {
            const device_answer here = on_host(by, shape, seeds, limit), there = on_device(by, shape, seeds, limit);
            EXPECT_EQ(here.distance, there.distance) << name_of(by);
            EXPECT_EQ(here.label, there.label) << name_of(by);
            // A stage of a device may combine several of the host: jump flooding in small images runs in two kernels.
            const auto rounds_of = [](const method_report& r) {
                std::int64_t rounds = 0;
                for (const auto& stage : r.stages) rounds += stage.rounds;
                return rounds;
            };
            EXPECT_EQ(rounds_of(here.report), rounds_of(there.report)) << name_of(by);
            EXPECT_EQ(here.report.rounds, there.report.rounds) << name_of(by);
            EXPECT_EQ(here.report.bytes, there.report.bytes) << name_of(by);
        }
}

/// Runs each kernel at least once, whatever the share of cases: rows of multiples of 16 bytes and others, images and
/// volumes, all forms of a sweep.
TEST_F(MethodsOnDevice, ShortWalkForTheSanitizer) {
    using form = plane_sweep::form;
    for (const shape_t& shape : {shape_t{24, 72}, shape_t{19, 45}, shape_t{9, 12, 20}, shape_t{6, 7, 11}}) {
        std::vector<method> all = methods_of_sites();
        for (const banding& bands : {banding{}, banding{4, 2, 3}, banding{1, 1, 1}}) all.emplace_back(bands);
        for (const bool independent : {false, true})
            for (const form launch : {form::automatic, form::cooperative, form::banded, form::shuffled})
                if (launch != form::shuffled || shape.size() == 2) all.emplace_back(plane_sweep{independent, launch});
        all.emplace_back(chamfer_method{.iterated = true});
        const flags_t sites = make_fill(fill::percent, shape, 5);
        for (const method& by : all) {
            method here = by;
            if (auto* sweep = std::get_if<plane_sweep>(&here)) sweep->launch = form::automatic;
            EXPECT_EQ(on_device(by, shape, sites, everywhere).index, on_host(here, shape, sites, everywhere).index)
                << text_of(by) << " on " << text_of(shape);
        }
    }
}

TEST_F(MethodsOnDevice, WhatRunsOnTheHostOnlyIsRefused) {
    const shape_t shape{4, 4};
    const flags_t sites(16, 1);
    for (const method& by : {method{brushfire{}}, method{chamfer_method{}}})
        EXPECT_THROW(static_cast<void>(on_device(by, shape, sites, everywhere)), error);
}

}  // namespace
}  // namespace nearfield::test
