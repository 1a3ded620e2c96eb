// Geodesic distances on a GPU: against Dijkstra's algorithm, and against the host's bits for larger inputs.
#include <algorithm>
#include <tuple>

#include "exact/cases.hpp"
#include "geodesic/device_fixture.hpp"
#include "geodesic/elimination.hpp"
#include "geodesic/world.hpp"
#include "nearfield/roadmap.hpp"

namespace nearfield::test {
namespace {

TEST_F(GeodesicDevice, IsDijkstras) {
    const auto cases = static_cast<std::uint64_t>(1200 * test_scale());
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const geodesic_case c = drawn(seed, 14);
        const geodesic_result wanted = expected(c);
        const auto asked = static_cast<fields_wanted>(seed % 3);
        ASSERT_EQ(solved(c, asked, wanted, seed % 8 == 0), wanted) << "seed " << seed;
    }
}

/// Few seeds, so that costs cross tiles.
TEST_F(GeodesicDevice, SeveralTiles) {
    const auto cases = static_cast<std::uint64_t>(15 * test_scale());
    std::uint64_t done = 0;
    for (std::uint64_t seed = 9000; done < cases; ++seed) {
        geodesic_case c = drawn(seed, 110);
        if (c.cells() < 3 << 12) continue;
        for (std::size_t i = 0; i < c.seeds.size(); ++i) c.seeds[i] = mix(i) % 4096 == 0 ? 3 : 0;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(solved(c, static_cast<fields_wanted>(++done % 3), wanted), wanted) << "seed " << seed;
    }
}

/// Square and cubic tiles with one price along axes, which a front of bits floods, by the rule of this test whatever
/// the mask: from one seed to many in a tile, among few obstacles and many, and through corridors so long that the
/// levels of a tile need several floods.
TEST_F(GeodesicDevice, FloodsTiles) {
    const auto cases = std::max(std::uint64_t{2}, static_cast<std::uint64_t>(60 * test_scale()));
    const shape_t shapes[] = {{130, 150}, {64, 64},     {133, 140},   {70, 200},    {3, 90, 80},
                              {64, 190},  {20, 33, 40}, {16, 16, 16}, {48, 18, 32}, {32, 32, 21}};
    geodesics::solver_rules rules;
    rules.rough = std::numeric_limits<std::int32_t>::min();
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        std::uint64_t state = seed << 20;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        std::vector<std::int64_t> way;
        geodesic_case c = seed % 4 == 3 ? spiral(195, way) : geodesic_case{};
        if (c.mask.empty()) {
            c.shape = shapes[draw(std::size(shapes))], c.batch_axes = c.shape[0] == 3 ? 1 : 0;
            const std::uint64_t walls = draw(2) == 0 ? draw(60) : 0, seeds = 1ULL << draw(14);
            for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
                c.mask.push_back(draw(100) < walls ? 0 : 1);
                c.seeds.push_back(draw(seeds) == 0 ? static_cast<std::int64_t>(1 + draw(9)) : 0);
            }
            c.seeds[draw(c.seeds.size())] = 3;
        } else if (draw(2) == 0) {
            c.seeds[static_cast<std::size_t>(way[way.size() / 3])] = 4;
        }
        const std::int32_t price[] = {draw(2) == 0 ? 1 : static_cast<std::int32_t>(1 + draw(40000))};
        c.steps = chamfer_steps(static_cast<int>(c.shape.size()) - c.batch_axes, price);
        if (draw(4) == 0) c.max_cost = static_cast<double>(price[0]) * static_cast<double>(draw(300));
        const geodesic_result wanted = expected(c);
        const auto asked = fields_wanted::costs;
        ASSERT_EQ(solved(c, asked, wanted, true), wanted) << "seed " << seed << ", by the mask";
        const geodesics::watched_solver watch(rules);
        ASSERT_EQ(solved(c, asked, wanted), wanted) << "seed " << seed;
    }
}

/// Square and cubic tiles whose steps lead to several sides, which sweeps relax: of all reaches and rules, past corners
/// and not, across periodic ends, with costs and with seeds.
TEST_F(GeodesicDevice, SweepsTiles) {
    const auto cases = std::max(std::uint64_t{16}, static_cast<std::uint64_t>(120 * test_scale()));
    const shape_t images[] = {{130, 150}, {64, 64}, {133, 140}, {70, 200}, {3, 90, 80}, {64, 190}};
    const shape_t volumes[] = {{20, 33, 40}, {16, 16, 16}, {48, 18, 32}, {32, 32, 21}};
    const spacing uneven{1, 2.5}, uneven_3{1, 2.5, 1.5};
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        std::uint64_t state = seed << 20 | 5;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        geodesic_case c;
        const bool volume = seed % 3 == 2;
        c.shape = volume ? volumes[draw(4)] : images[draw(6)], c.batch_axes = c.shape[0] == 3 ? 1 : 0;
        const int axes = volume ? 3 : 2, reach = volume ? 1 : 1 + static_cast<int>(draw(3));
        std::vector<std::int32_t> prices;
        for (int k = 0; k < axes; ++k) prices.push_back(static_cast<std::int32_t>(1 + draw(9)));
        const bool even = seed % 8 != 2;
        if (seed % 4 == 0 && draw(3) == 0) prices.pop_back();
        if (seed % 4 == 0) c.steps = chamfer_steps(axes, prices);
        else if (seed % 4 == 1 && !volume) c.steps = knight_steps();
        else c.steps = euclidean_steps(axes, reach, even ? spacing() : volume ? uneven_3 : uneven, 64);
        for (std::size_t k = 0; k < c.shape.size(); ++k)
            c.ends.push_back(draw(4) == 0 ? border::periodic : border::open);
        c.cut_corners = draw(volume ? 5 : 2) > 0, c.rule = draw(2) == 0 ? cost_rule::entered : cost_rule::both;
        const std::uint64_t walls = draw(3) * 20, seeds = 1ULL << draw(14),
                            dearest = draw(volume ? 6 : 3) == 0 ? 1 + draw(200) : 0;
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
            c.mask.push_back(draw(100) < walls ? 0 : 1);
            c.seeds.push_back(draw(seeds) == 0 ? static_cast<std::int64_t>(1 + draw(9)) : 0);
            if (dearest > 0) c.cost.push_back(static_cast<std::int64_t>(draw(dearest + 1)));
        }
        c.seeds[draw(c.seeds.size())] = 3;
        if (draw(4) == 0) c.max_cost = static_cast<double>(draw(3000));
        const geodesic_result wanted = expected(c);
        ASSERT_EQ(solved(c, static_cast<fields_wanted>(draw(3)), wanted), wanted) << "seed " << seed;
    }
}

/// A tile that is the whole grid is visited once, so that its cells are right only if the visit relaxes every step. All
/// walks of its sweeps run at the same time on a GPU: what one of them leaves to another must be done.
TEST_F(GeodesicDevice, OneVisitSettlesATile) {
    const auto cases = std::max(std::uint64_t{12}, static_cast<std::uint64_t>(300 * test_scale()));
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        std::uint64_t state = seed << 20 | 6;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        const bool volume = seed % 4 == 3;
        const auto price = static_cast<std::int32_t>(1 + draw(4));
        geodesic_case c;
        c.shape = volume ? shape_t{16, 16, 16} : shape_t{64, 64};
        c.steps = volume ? chamfer_steps(3, std::array<std::int32_t, 3>{price, price + 1, price + 2})
                         : chamfer_steps(2, std::array<std::int32_t, 2>{price, price + static_cast<int>(draw(2))});
        c.ends.assign(c.shape.size(), border::open), c.rule = cost_rule::both;
        c.cut_corners = volume || draw(2) == 0;
        const std::int64_t row = c.shape.back(), wide = 2 + static_cast<std::int64_t>(draw(30));
        const std::uint64_t closed = draw(3) * 8;
        const bool priced = !volume && draw(2) == 0;
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
            const bool wall = i / row % (wide + 1) == wide && (i / row / (wide + 1) % 2 == 0) == (i % row < row - 2);
            c.mask.push_back(wall || draw(100) < closed ? 0 : 1), c.seeds.push_back(0);
            if (priced) c.cost.push_back(static_cast<std::int64_t>(1 + draw(5)));
        }
        c.seeds[draw(2) == 0 ? 0 : draw(c.seeds.size())] = 3;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(solved(c, static_cast<fields_wanted>(seed % 2 * 2), wanted), wanted) << "seed " << seed;
    }
}

TEST_F(GeodesicDevice, MazesAndSpirals) {
    for (std::uint64_t seed = 0; seed < 4; ++seed) {
        const geodesic_case c = maze(seed, 97, 1 + static_cast<std::int64_t>(seed));
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(solved(c, fields_wanted::both, wanted), wanted) << "seed " << seed;
    }
    std::vector<std::int64_t> way;
    const geodesic_case c = spiral(80, way);
    const geodesic_result wanted = on_host(c, 1);
    ASSERT_EQ(solved(c, fields_wanted::costs, wanted), wanted);
}

/// Costs whose sums do not fit a key together with the numbers of seeds, so that seeds spread in a second run.
TEST_F(GeodesicDevice, SeedsBesideWideCosts) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        geodesic_case c = drawn(12000 + seed, 70);
        if (c.shape.size() > static_cast<std::size_t>(3 + c.batch_axes)) continue;
        const auto axes = static_cast<int>(c.shape.size()) - c.batch_axes;
        const std::vector<std::int32_t> by(static_cast<std::size_t>(axes), 0x7fffffff - static_cast<int>(seed % 2));
        c.steps = chamfer_steps(axes, by), c.cost.clear(), c.max_cost = 1e300;
        for (std::size_t i = 0; i < c.seeds.size(); ++i) c.seeds[i] = i % 37 == seed ? 5 : 0;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(solved(c, fields_wanted::both, wanted), wanted) << "seed " << seed;
    }
}

/// Sums of costs of 16 bits in an image of 2^18 cells leave no room for seeds in a key, so that these spread in another
/// run. A diagonal step stays open though a cell that it passes costs more than max_cost: no other step may do.
TEST_F(GeodesicDevice, SeedsBesideLimits) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        std::uint64_t state = seed << 20 | 7;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        geodesic_case c;
        const bool volume = seed % 3 == 2;
        c.shape = volume ? shape_t{64, 64, 64} : shape_t{512, 512};
        const std::int64_t row = c.shape.back(), first = volume ? 8 : 100, side = volume ? 14 : 60;
        const auto is_near = [&](std::int64_t x) { return x >= first && x < first + side; };
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
            const bool near = is_near(i % row) && is_near(i / row % row) && (!volume || is_near(i / row / row));
            c.mask.push_back(near && draw(100) >= 5 ? 1 : 0);
            c.seeds.push_back(near && draw(1000) == 0 ? static_cast<std::int64_t>(1 + draw(9)) : 0);
            c.cost.push_back(near ? static_cast<std::int64_t>(100 * (1 + draw(5))) : 1);
        }
        c.seeds[static_cast<std::size_t>(std::find(c.mask.begin(), c.mask.end(), 1) - c.mask.begin())] = 3;
        c.steps = volume ? chamfer_steps(3, std::array<std::int32_t, 3>{20000, 30000, 40000})
                         : chamfer_steps(2, std::array<std::int32_t, 2>{20000, 30000});
        c.cut_corners = false, c.rule = cost_rule::both;
        c.max_cost = static_cast<double>(std::ranges::max(on_host(c, 1).cost) / 2);
        const geodesic_result wanted = expected(c);
        ASSERT_EQ(on_host(c, 1), wanted) << "seed " << seed << ", the host";
        ASSERT_EQ(solved(c, seed % 2 == 0 ? fields_wanted::both : fields_wanted::seeds, wanted), wanted)
            << "seed " << seed;
    }
}

/// Checks that a device plans the host's paths: with the host's text for those that do not exist.
void check_paths(const world& w, const stream& on, std::uint64_t seed) {
    const sent<std::uint8_t> there(w.obstacles, on);
    const auto here = any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape);
    const std::vector<path> wanted = plan_path(host{1, {}}, here, w.starts, w.goals, w.options);
    const std::vector<path> found =
        plan_path(device(on.get()), there.in(dtype::uint8, w.shape), w.starts, w.goals, w.options);
    ASSERT_EQ(found.size(), wanted.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
        ASSERT_EQ(found[i].cells, wanted[i].cells) << "seed " << seed;
        ASSERT_EQ(found[i].cost, wanted[i].cost) << "seed " << seed;
        ASSERT_EQ(found[i].clearance, wanted[i].clearance) << "seed " << seed;
        ASSERT_EQ(found[i].goal, wanted[i].goal) << "seed " << seed;
        ASSERT_EQ(found[i].text(), wanted[i].text()) << "seed " << seed;
    }
}

TEST_F(GeodesicDevice, PathsOfTheHost) {
    for (std::uint64_t seed = 0; seed < 100; ++seed)
        ASSERT_NO_FATAL_FAILURE(check_paths(drawn_world(seed), *stream_, seed));
}

/// Paths through many tiles, which the host fetches one by one; around periodic ends too.
TEST_F(GeodesicDevice, PathsThroughManyTiles) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        world w = drawn_world(seed);
        w.shape = seed % 2 == 0 ? shape_t{150, 210} : shape_t{34, 23, 41};
        w.obstacles.clear(), w.spacing.clear(), w.options.spacing = {};
        w.set_ends(seed % 3 == 0 ? std::vector<border>(w.rank(), border::periodic) : std::vector<border>{});
        for (std::int64_t i = 0; i < w.cells(); ++i)
            w.obstacles.push_back(mix(seed << 32 | static_cast<std::uint64_t>(i)) % 100 < 4 + seed ? 1 : 0);
        w.options.radius = seed % 4 == 1 ? 1 : 0, w.options.objective = static_cast<path_objective>(seed / 2 % 3);
        w.options.clearance_costs = {};
        if (w.options.objective == path_objective::safe && seed > 4) w.set_costs({{1.5, 0.5}, {3, 6}, {4, 2}});
        w.starts.assign(3 * w.rank(), 1), w.goals.clear();
        for (std::size_t k = 0; k < w.rank(); ++k) w.starts[k] = w.shape[k] / 3, w.goals.push_back(w.shape[k] - 2);
        w.starts[w.rank()] = w.shape[0] - 1;
        ASSERT_NO_FATAL_FAILURE(check_paths(w, *stream_, seed));
    }
}

/// Checks that a device makes the host's graph, which finds the host's paths.
void check_roadmap(const world& w, const stream& on, std::uint64_t seed) {
    const sent<std::uint8_t> there(w.obstacles, on);
    const roadmap_options o{w.options.radius, w.options.spacing};
    const roadmap wanted(host{1, {}}, any_input<host>::contiguous(w.obstacles.data(), dtype::uint8, w.shape), o);
    const roadmap found(device(on.get()), there.in(dtype::uint8, w.shape), o);
    ASSERT_TRUE(std::ranges::equal(found.nodes(), wanted.nodes())) << "seed " << seed;
    ASSERT_TRUE(std::ranges::equal(found.radii(), wanted.radii())) << "seed " << seed;
    ASSERT_EQ(found.roads().size(), wanted.roads().size()) << "seed " << seed;
    for (std::size_t k = 0; k < found.roads().size(); ++k) {
        const road &its = found.roads()[k], &that = wanted.roads()[k];
        ASSERT_EQ(std::tie(its.from, its.to, its.length, its.clearance, its.cells),
                  std::tie(that.from, that.to, that.length, that.clearance, that.cells))
            << "seed " << seed << " road " << k;
    }
    const std::span<const std::int64_t> start(w.starts.data(), w.rank()), goal(w.goals.data(), w.rank());
    const path its = found.find(start, goal, seed % 2 == 1), that = wanted.find(start, goal, seed % 2 == 1);
    ASSERT_EQ(its.cells, that.cells) << "seed " << seed;
    ASSERT_EQ(its.text(), that.text()) << "seed " << seed;
}

TEST_F(GeodesicDevice, RoadmapsOfTheHost) {
    for (std::uint64_t seed = 0; seed < 60; ++seed)
        ASSERT_NO_FATAL_FAILURE(check_roadmap(drawn_world(seed), *stream_, seed));
}

/// Twenty runs of one large input, in which blocks meet, are equal: the order of work does not matter.
TEST_F(GeodesicDevice, TwentyRunsAreOne) {
    geodesic_case c;
    c.shape = {900, 1100};
    const std::int32_t by[] = {3, 4};
    c.steps = chamfer_steps(2, by);
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i)
        c.mask.push_back(mix(static_cast<std::uint64_t>(i)) % 10 < 3 ? 0 : 1),
            c.seeds.push_back(i % 99991 == 7 ? i : 0);
    const geodesic_result wanted = on_host(c, 0);
    for (int run = 0; run < 20; ++run)
        ASSERT_EQ(solved(c, static_cast<fields_wanted>(run % 3), wanted), wanted) << "run " << run;
}

}  // namespace
}  // namespace nearfield::test
