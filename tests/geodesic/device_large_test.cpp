// Mazes of a million cells on a GPU, beside the host. The stand-in, whose threads meet in one order, leaves them out.
#include "exact/fills.hpp"
#include "geodesic/device_fixture.hpp"

namespace nearfield::test {
namespace {

using GeodesicLarge = GeodesicDevice;

/// On maps like these sweeps once left steps undone, in 2 to 379449 cells: wide corridors, diagonal steps, and costs.
TEST_F(GeodesicLarge, WideMazesWithCostsAreTheHost) {
    for (const std::uint64_t seed : {5U, 14U, 15U, 16U, 21U}) {
        std::uint64_t state = seed << 30;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        const auto n = static_cast<std::int64_t>(1025 + draw(300)), wide = static_cast<std::int64_t>(18 + draw(6));
        geodesic_case c = maze(seed, n, wide);
        for (std::uint8_t& each : c.mask) each = draw(1000) < 3 ? 0 : each;
        for (std::size_t i = 0; i < c.mask.size(); ++i) c.cost.push_back(static_cast<std::int64_t>(1 + draw(5)));
        const std::int32_t price = seed % 2 == 0 ? 131000 : 1;
        c.steps = chamfer_steps(2, std::array<std::int32_t, 2>{price, price + price / 2});
        c.ends.assign(2, border::open), c.cut_corners = draw(2) == 0, c.rule = cost_rule::both;
        const auto first = std::find(c.mask.begin(), c.mask.end(), 1) - c.mask.begin();
        std::fill(c.seeds.begin(), c.seeds.end(), 0), c.seeds[static_cast<std::size_t>(first)] = 3;
        const geodesic_result wanted = on_host(c, 4);
        for (const fields_wanted asked : {fields_wanted::costs, fields_wanted::both, fields_wanted::costs})
            ASSERT_EQ(solved(c, asked, wanted), wanted) << "seed " << seed;
    }
}

}  // namespace
}  // namespace nearfield::test
