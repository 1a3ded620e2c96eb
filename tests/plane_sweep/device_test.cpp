// Propagation by sweeps on a device: every form has the host's bits.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "methods/device_engine.hpp"

namespace nearfield::test {
namespace {

using form = plane_sweep::form;

class PlaneSweepDevice : public device_test {};

constexpr form forms[] = {form::automatic, form::cooperative, form::banded, form::shuffled};

/// Returns "" or the difference between a form's results on device and host.
std::string differs(const plane_sweep& how, const shape_t& shape, const flags_t& sites, const spacing_case& cell) {
    solved s = unsolved(shape, sites, cell);
    const plane_sweep on_host{.independent = how.independent};
    s.answer = oracle::of_sites(s.problem, sites_of(on_host, shape, sites, s.problem.spacing));
    return check(method_on_device(how), s, outputs::all(), dress{});
}

bool is_volume(const shape_t& shape) { return shape.size() == 3 && shape[0] > 1; }

TEST_F(PlaneSweepDevice, EveryFormEqualsTheHost) {
    std::vector<shape_case> shapes = method_shapes();
    shapes.push_back({{300, 9}, "2-D, lines of one block and lines of several warps"});
    shapes.push_back({{40, 1500}, "2-D, lines of several blocks, fewer lines than a band"});
    shapes.push_back({{1500, 150}, "2-D, many bands"});
    shapes.push_back({{40, 21, 34}, "3-D, one tile or two"});
    shapes.push_back({{7, 70, 90}, "3-D, several tiles each way, odd number of planes"});
    std::uint64_t k = 0;
    for (const shape_case& grid : shapes)
        for (const form launch : forms)
            for (const bool independent : {false, true})
                for (const fill kind : {fill::none, fill::one, fill::circle, fill::percent, fill::fifty}) {
                    if (!chosen(++k) || (launch == form::shuffled && is_volume(grid.shape))) continue;
                    const spacing_case& cell = method_spacings()[k % method_spacings().size()];
                    const plane_sweep how{.independent = independent, .launch = launch};
                    ASSERT_EQ(differs(how, grid.shape, make_fill(kind, grid.shape, k), cell), "")
                        << grid.why << ", form " << static_cast<int>(launch) << (independent ? ", independent" : "")
                        << ", " << name_of(kind) << ", spacing " << cell.why;
                }
}

TEST_F(PlaneSweepDevice, LargerGridsEqualTheHost) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{1025, 2047}, shape_t{2049, 1023}, shape_t{65, 129, 131}})
        for (const form launch : forms)
            for (const bool independent : {false, true}) {
                if (!chosen(++k) || (launch == form::shuffled && is_volume(shape))) continue;
                for (const fill kind : {fill::sparse4, fill::percent})
                    ASSERT_EQ(differs({independent, launch}, shape, make_fill(kind, shape, k), {{}, "not given"}), "")
                        << static_cast<int>(launch) << ' ' << name_of(kind);
            }
}

TEST_F(PlaneSweepDevice, ShuffledVolumesAreRefused) {
    const shape_t shape{4, 4, 4};
    const flags_t sites = make_fill(fill::tenth, shape);
    EXPECT_NE(on_device(plane_sweep{}, shape, sites, 100).index, std::vector<std::int64_t>{});
    EXPECT_THROW(static_cast<void>(on_device(plane_sweep{.launch = form::shuffled}, shape, sites, 100)), error);
}

}  // namespace
}  // namespace nearfield::test
