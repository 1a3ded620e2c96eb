// Rays on the host: a million of them against the walk from cell to cell, with every kind of skips.
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "exact/cases.hpp"
#include "raycast/cases.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

ray_table on_host(const ray_case& c, ray_skips skips, int threads = 2) {
    ray_table t = table_for(c);
    const std::array<void*, 4> out{t.cells.data(), t.faces.data(), t.entry.data(), t.steps.data()};
    raycast_of(host{threads, {}}, c, static_cast<const void*>(c.mask.data()),
               static_cast<const void*>(c.origins.data()), static_cast<const void*>(c.directions.data()), out, skips);
    return t;
}

TEST(Raycast, AMillionRays) {
    const auto grids = static_cast<std::uint64_t>(std::ceil(500 * test_scale()));
    check_rays([](const ray_case& c) { return on_host(c, ray_skips::cubes); }, 2000, 0, grids);
}
TEST(Raycast, OctantsAndPlainSteps) {
    const auto grids = static_cast<std::uint64_t>(std::ceil(100 * test_scale()));
    check_rays([](const ray_case& c) { return on_host(c, ray_skips::octants); }, 500, 1000, 1000 + grids);
    check_rays([](const ray_case& c) { return on_host(c, ray_skips::none); }, 500, 2000, 2000 + grids);
}

/// Cubes of more than 254 cells' half side, far origins, and fewer steps with wider skips.
TEST(Raycast, LongWays) {
    ray_case c;
    c.shape = {700, 600};
    c.mask.assign(700 * 600, 0);
    c.mask[300 * 600 + 599] = 1;
    for (int i = 0; i < 400; ++i) {
        c.origins.insert(c.origins.end(), {i * 1.7 + 0.1, i % 3 == 0 ? -500000.0 : 0.3});
        c.directions.insert(c.directions.end(),
                            {300 - c.origins[2 * static_cast<std::size_t>(i)], 599.2 - c.origins.back()});
    }
    const ray_table plain = on_host(c, ray_skips::none), cubes = on_host(c, ray_skips::cubes, 1),
                    octants = on_host(c, ray_skips::octants);
    EXPECT_EQ(plain.cells, cubes.cells);
    EXPECT_EQ(plain.entry, cubes.entry);
    EXPECT_EQ(plain.faces, octants.faces);
    const auto sum = [](const ray_table& t) { return std::accumulate(t.steps.begin(), t.steps.end(), 0); };
    EXPECT_LT(10 * sum(cubes), sum(plain));
    EXPECT_LE(sum(octants), sum(cubes));
}

TEST(Raycast, RaysThatHitNothing) {
    ray_case c;
    c.shape = {3, 3}, c.mask.assign(9, 1);
    const double inf = std::numeric_limits<double>::infinity();
    c.origins = {1, 1, NAN, 1, -1, -1, 1e300, 0, 5, 5}, c.directions = {0, 0, 1, 1, 1, inf, -1, 0, 1, 1};
    const ray_table t = on_host(c, ray_skips::cubes);
    EXPECT_EQ(t.faces, std::vector<std::int8_t>(5, -1));
    EXPECT_EQ(t.entry, std::vector<double>(5, inf));
    EXPECT_EQ(t.cells, std::vector<std::int32_t>(10, -1));
}

TEST(Raycast, Refusals) {
    const std::uint8_t mask[8] = {};
    const double table[6] = {};
    double entry[3];
    const view<const std::uint8_t, 3, host> in{mask, extent{2, 2, 2}};
    const view<const double, 2, host> rays{table, extent{2, 3}};
    const auto call = [&](const any_input<host>& m, const any_input<host>& o, const any_input<host>& d,
                          const any_output<host>& to) { return [=] { raycast(host{}, m, o, d, {.entry = to}); }; };
    const view<double, 1, host> to{entry, extent{2}};
    expect_refused(call(view<const std::uint8_t, 1, host>{mask, extent{8}}, rays, rays, to), {"mask", "1 axes"});
    expect_refused(call(in, view<const double, 2, host>{table, extent{3, 2}}, rays, to), {"origins", "(3, 3)"});
    expect_refused(call(in, rays, view<const double, 2, host>{table, extent{1, 3}}, to), {"directions", "(2, 3)"});
    expect_refused(call(in, in, rays, to), {"origins"});
    expect_refused(call(in, rays, rays, view<double, 1, host>{entry, extent{3}}), {"out.entry", "(2,)"});
    expect_refused(call(in, rays, rays, {}), {"out"});
    expect_refused([&] { raycast(host{-1, {}}, in, rays, rays, {.entry = to}); }, {"threads"});
    EXPECT_THROW(raycast(host{1, [](double) { return false; }}, in, rays, rays, {.entry = to}), error);
}

}  // namespace
}  // namespace nearfield::test
