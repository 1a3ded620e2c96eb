// Parallel banding on a device equals brute force and the exact engine, for any number of bands.
#include <gtest/gtest.h>

#include "device_test.hpp"
#include "methods/device_engine.hpp"

namespace nearfield::test {
namespace {

class BandingDevice : public device_test {};

constexpr banding bandings[] = {{1, 1, 1}, {2, 2, 2},  {3, 5, 7},   {4, 1, 3},
                                {1, 8, 1}, {5, 3, 32}, {64, 32, 4}, {0, 0, 0}};

std::string text_of(const banding& how) {
    return "m " + std::to_string(how.m1) + ' ' + std::to_string(how.m2) + ' ' + std::to_string(how.m3);
}

TEST_F(BandingDevice, SmallGridsWithEveryFill) {
    std::uint64_t k = 0;
    for (const shape_case& grid : small_shapes()) {
        if (grid.shape.size() > 3) continue;
        for (fill kind : all_fills) {
            if (!chosen(++k)) continue;
            const spacing_case cell =
                mix(k) % 3 == 0 ? spacing_case{{3}, "one for all"} : spacing_case{{}, "not given"};
            const banding how = bandings[mix(k) % std::size(bandings)];
            SCOPED_TRACE(std::string(grid.why) + ": " + name_of(kind) + ", spacing " + cell.why + ", " + text_of(how));
            const solved s = solve(grid.shape, make_fill(kind, grid.shape, k), cell);
            ASSERT_EQ(check(method_on_device(how), s, outputs::all(), dress{}), "");
        }
    }
}

TEST_F(BandingDevice, EveryCombinationOfBands) {
    for (const shape_t& shape : {shape_t{37, 70}, shape_t{9, 34, 35}})
        for (const fill kind : {fill::circle, fill::percent, fill::fifty}) {
            const flags_t sites = make_fill(kind, shape, 3);
            const solved s = solve(shape, sites, {{}, "not given"});
            std::uint64_t k = static_cast<std::uint64_t>(kind);
            for (const int m1 : {1, 3, 7, 64})
                for (const int m2 : {1, 2, 3, 6, 9, 31, 32})
                    for (const int m3 : {1, 2, 5, 32}) {
                        const banding how{m1, m2, m3};
                        if (!chosen(++k)) continue;
                        ASSERT_EQ(check(method_on_device(how), s, outputs::all(), dress{}), "")
                            << name_of(kind) << ' ' << text_of(how);
                    }
        }
}

/// Compares with the exact engine, since brute force would take too long.
TEST_F(BandingDevice, LargerGridsEqualTheExactEngine) {
    std::uint64_t k = 0;
    for (const shape_t& shape :
         {shape_t{1025, 1023}, shape_t{31, 4097}, shape_t{2049, 33}, shape_t{65, 66, 129}, shape_t{3000000}})
        for (const fill kind : {fill::one, fill::circle, fill::sparse4, fill::percent, fill::fifty}) {
            if (!chosen(++k)) continue;
            solved s = unsolved(shape, make_fill(kind, shape, 7), {{}, "not given"});
            s.answer = oracle::of_sites(s.problem, sites_of(exact_method{}, shape, s.problem.site));
            for (const banding& how : {banding{}, bandings[k % std::size(bandings)]})
                ASSERT_EQ(check(method_on_device(how), s, outputs::all(), dress{}), "")
                    << name_of(kind) << ' ' << cells_of(shape) << ' ' << text_of(how);
        }
}

TEST_F(BandingDevice, SpacingsUpToTheLargest) {
    for (const spacing_case& cell :
         {spacing_case{{30000, 1}, "64 bits"}, spacing_case{{1048576, 4194304}, "128 bits"}}) {
        const shape_t shape{30, 300};
        for (const fill kind : {fill::sparse3, fill::percent, fill::circle}) {
            const solved s = solve(shape, make_fill(kind, shape, 5), cell);
            for (const banding& how : bandings)
                ASSERT_EQ(check(method_on_device(how), s, outputs::all(), dress{}), "")
                    << cell.why << ' ' << text_of(how);
        }
    }
}

}  // namespace
}  // namespace nearfield::test
