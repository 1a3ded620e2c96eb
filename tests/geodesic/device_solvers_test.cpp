// Both solvers of a device, on inputs small enough for the host: the queue of tiles alone, elimination alone, and every
// way in which one takes over from the other.
#include "exact/cases.hpp"
#include "geodesic/device_fixture.hpp"
#include "geodesic/elimination.hpp"

namespace nearfield::test {
namespace {

using geodesics::solver_counts;
using geodesics::solver_rules;
using geodesics::watched_solver;

/// Selects the solvers by thresholds lower than those of normal calls.
struct solver_mode {
    const char* name;
    solver_rules rules;
};

std::vector<solver_mode> modes() {
    solver_rules all;
    all.least_cells = 0, all.node_share = 1, all.most_core = 1 << 30, all.samples = 4;
    all.leaps_first = false, all.first_depth = all.missing = 0, all.thin = all.thin_for_sweeps = all.middling = 1000;
    std::vector<solver_mode> made;
    const auto add = [&](const char* name) -> solver_rules& { return made.emplace_back(name, all).rules; };
    add("elimination");
    add("tiles, then elimination").first_depth = 2;
    solver_rules& deep = add("deep, then elimination");
    deep.first_depth = 1, deep.second_depth = 0, deep.thin = deep.thin_for_sweeps = -1;
    solver_rules& core = add("given up at a core");
    core.most_degree = 8, core.most_core = 0;
    add("short lists").most_degree = 8;
    add("no memory for nodes").node_share = 4096;
    solver_rules& tiles = add("sampled, then tiles");
    tiles.first_depth = 1, tiles.thin = tiles.thin_for_sweeps = tiles.middling = -1, tiles.waiting = 0;
    solver_rules& leaps = add("leaps");
    leaps = made[made.size() - 2].rules, leaps.second_depth = 0;
    solver_rules& parts = add("leaps over parts of tiles");
    parts = made[made.size() - 2].rules, parts.middling = 1000, parts.leaps_first = true;
    parts.scattered = parts.scattered_for_sweeps = 1000;
    return made;
}

geodesic_case drawn_mask(std::uint64_t kind, std::uint64_t seed) {
    std::uint64_t state = seed << 20;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    const auto side = [&] { return static_cast<std::int64_t>(66 + draw(40)); };
    geodesic_case c;
    switch (kind) {
        case 0:
        case 1: c = maze(seed, side(), 1 + static_cast<std::int64_t>(draw(4))); break;
        case 2: c = wide_spiral(side(), 1 + static_cast<std::int64_t>(draw(6))); break;
        case 3: c = emptied({17 + side() / 10, 18 + side() / 10, 20}, true); break;
        default: c = emptied({side(), side()}, true);
    }
    const std::uint64_t walls = kind == 1 ? 2 : kind == 3 ? 45 : kind == 4 ? 10 + draw(50) : 0;
    for (std::uint8_t& each : c.mask)
        if (draw(100) < walls) each = kind == 1 ? 1 - each : 0;
    for (std::uint64_t k = 0; kind == 5 && k < 60; ++k) {  // blobs
        const auto y = static_cast<std::int64_t>(draw(200)), x = static_cast<std::int64_t>(draw(200));
        const auto r = static_cast<std::int64_t>(2 + draw(7));
        for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
            const std::int64_t dy = i / c.shape[1] - y, dx = i % c.shape[1] - x;
            if (dy * dy + dx * dx < r * r) c.mask[static_cast<std::size_t>(i)] = 0;
        }
    }
    if (kind == 6) std::fill(c.mask.begin(), c.mask.end(), std::uint8_t{0}), c.mask[c.mask.size() / 2] = 1;
    return c;
}

/// A case that elimination serves: an edge has one price both ways, and a cell has few edges.
geodesic_case drawn_for_elimination(std::uint64_t seed) {
    std::uint64_t state = seed << 28;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    geodesic_case c = drawn_mask(seed % 8, seed);
    const std::int32_t dear[] = {1, 2, 3, 4194303, 4194304, 1 << 29};
    const auto price = dear[draw(3) == 0 ? draw(6) : draw(3)];
    const bool flat = c.shape.size() == 2;
    if (flat && draw(2) == 0) c.steps = chamfer_steps(2, std::array<std::int32_t, 2>{price, price + price / 2});
    else c.steps = chamfer_steps(static_cast<int>(c.shape.size()), std::array<std::int32_t, 1>{price});
    for (std::size_t k = 0; k < c.shape.size(); ++k) c.ends.push_back(draw(4) == 0 ? border::periodic : border::open);
    c.cut_corners = draw(2) == 0, c.rule = cost_rule::both;
    const std::uint64_t dearest = draw(3) == 0 ? 3000000 : 1 + draw(250);
    const bool costs = price < 4 && draw(3) == 0;
    for (std::size_t i = 0; costs && i < c.mask.size(); ++i)
        c.cost.push_back(static_cast<std::int64_t>(draw(20) == 0 ? draw(dearest + 1) : 1 + draw(5)));
    if (draw(8) == 0) c.max_cost = static_cast<double>(price) * static_cast<double>(draw(300));
    const std::uint64_t seeds = draw(8);  // none, one, several or all cells are seeds
    for (std::size_t i = 0; i < c.seeds.size(); ++i)
        c.seeds[i] = seeds == 1 ? 5 : seeds > 3 && draw(900) == 0 ? static_cast<std::int64_t>(1 + draw(9)) : 0;
    if (seeds > 0) c.seeds[draw(2) == 0 ? c.seeds.size() / 2 : c.seeds.size() - 1 - draw(c.seeds.size() / 2)] = 3;
    const auto first = first_free(c);
    if (seeds > 1) c.seeds[std::min(first, c.seeds.size() - 1)] = 2;
    return c;
}

class GeodesicSolvers : public GeodesicDevice {
protected:
    solver_counts counts_{};
    geodesic_result watched(const geodesic_case& c, const solver_rules& rules, const geodesic_result& wanted,
                            fields_wanted asked) {
        const watched_solver watch(rules);
        geodesic_result found = solved(c, asked, wanted);
        counts_ = watch.counts();
        return found;
    }
};

TEST_F(GeodesicSolvers, AreTheHost) {
    const auto cases = std::max(std::uint64_t{8}, static_cast<std::uint64_t>(50 * test_scale()));
    std::size_t eliminated = 0, given_up = 0, second = 0, both = 0, cores = 0, squares = 0, leaps = 0, parts = 0;
    for (std::uint64_t seed = 0; seed < cases; ++seed) {
        const geodesic_case c = drawn_for_elimination(seed);
        const geodesic_result wanted = on_host(c, 1);
        for (const solver_mode& mode : modes()) {
            const auto asked = static_cast<fields_wanted>(seed / 8 % 3);
            ASSERT_EQ(watched(c, mode.rules, wanted, asked), wanted) << "seed " << seed << ", " << mode.name;
            ASSERT_EQ(counts_.pending, 0U) << "seed " << seed << ", " << mode.name;
            eliminated += counts_.solved, second += counts_.parked[1];
            both += counts_.solved != 0 && mode.rules.first_depth > 0 ? 1 : 0;
            given_up += counts_.solved == 0 && counts_.nodes > 0 ? 1 : 0, cores += counts_.core > 0 ? 1 : 0;
            squares += counts_.solved != 0 && counts_.squares > 0 ? 1 : 0,
                leaps += counts_.pieces > 0 && counts_.too_dear == 0 ? 1 : 0;
            parts += counts_.pieces > 0 && counts_.parts > 0 ? 1 : 0;
        }
    }
    EXPECT_GT(eliminated, cases);
    EXPECT_GT(both, cases / 4);
    EXPECT_GT(given_up, cases / 4);
    EXPECT_GT(second, cases / 8);
    EXPECT_GT(cores, cases / 8);
    EXPECT_GT(squares, cases / 8) << "flooded from their gates";
    EXPECT_GT(leaps, cases / 8);
    EXPECT_GT(parts, cases / 8);
}

/// The pieces of wide corridors are joined, after visits of the first tiles; then every tile is visited.
TEST_F(GeodesicSolvers, LeapThroughWideCorridors) {
    solver_rules rules = modes()[modes().size() - 2].rules;
    rules.first_depth = 2, rules.leap_depth = 0, rules.waiting = 1;
    geodesic_case c = wide_spiral(140, 9);
    const auto check = [&](const std::vector<priced_step>& steps, fields_wanted asked, bool joins_all) {
        c.steps = steps;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(watched(c, rules, wanted, asked), wanted);
        EXPECT_EQ(counts_.solved, 0U);
        EXPECT_EQ(counts_.too_dear, 0U);
        EXPECT_GT(counts_.pieces, joins_all ? 8U : counts_.gone + 1);
        EXPECT_EQ(counts_.gone, joins_all ? counts_.pieces - 1 : counts_.gone);
        const std::int64_t tiles = (c.shape[0] + 63) / 64 * ((c.shape[1] + 63) / 64);
        EXPECT_EQ(counts_.tail, static_cast<std::uint32_t>(tiles)) << "rims are final, and each tile is visited once";
    };
    const auto along_axes = chamfer_steps(2, std::array<std::int32_t, 1>{3}),
               diagonal = chamfer_steps(2, std::array<std::int32_t, 2>{2, 3}),
               dear = chamfer_steps(2, std::array<std::int32_t, 2>{93000, 131000});
    c.seeds[first_free(c)] = 3;
    check(along_axes, fields_wanted::both, true), check(diagonal, fields_wanted::costs, true);
    check(dear, fields_wanted::costs, true), check(diagonal, fields_wanted::both, true);
    c.cut_corners = false, check(diagonal, fields_wanted::costs, true);
    c.cut_corners = true, c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{1 << 28});
    geodesic_result wanted = on_host(c, 1);
    ASSERT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted);
    EXPECT_EQ(counts_.too_dear, 1U) << "paths inside tiles cost too much";
    for (std::size_t i = 0; i < c.mask.size(); ++i) c.cost.push_back(static_cast<std::int64_t>(1 + mix(i) % 3));
    c.rule = cost_rule::both, check(diagonal, fields_wanted::costs, true);
    c = emptied({66, 140}, true), c.seeds[70] = 3;                        // whole tiles are one group of gates
    rules.first_depth = 1, check(diagonal, fields_wanted::costs, false);  // most pieces are too large to be joined
    rules.waiting = 0, rules.second_depth = 1000;  // more tiles wait, and none of them is so deep
    ASSERT_EQ(watched(c, rules, wanted = on_host(c, 1), fields_wanted::costs), wanted);
    EXPECT_EQ(counts_.pieces, 0U);
}

/// In narrow corridors the pieces are those of parts of tiles. Dead ends are left to the last visits or, if they have
/// several gates, absorbed by the piece before them.
TEST_F(GeodesicSolvers, LeapThroughNarrowCorridors) {
    solver_rules rules = modes().back().rules;
    const auto check = [&](geodesic_case c, const std::vector<priced_step>& steps, fields_wanted asked) {
        c.seeds[first_free(c)] = 3, c.steps = steps;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(watched(c, rules, wanted, asked), wanted);
        EXPECT_EQ(counts_.too_dear, 0U);
        EXPECT_GT(counts_.pieces, 8U);
        const std::int64_t parts = 4 * ((c.shape[0] + 63) / 64) * ((c.shape[1] + 63) / 64);
        EXPECT_EQ(counts_.parts, static_cast<std::uint32_t>(parts));
    };
    const auto diagonal = chamfer_steps(2, std::array<std::int32_t, 2>{2, 3}),
               dear = chamfer_steps(2, std::array<std::int32_t, 2>{93000, 131000});
    for (std::int64_t wide = 1; wide <= 3; ++wide) {
        geodesic_case c = maze(static_cast<std::uint64_t>(wide), 110, wide);
        rules.peeled = 0, check(c, dear, fields_wanted::both);
        EXPECT_GT(counts_.absorbed, 0U) << "width " << wide;
        const std::uint32_t gates = counts_.gates;
        rules.peeled = 8, check(c, dear, fields_wanted::both);
        EXPECT_LT(3 * counts_.gates, 2 * gates)
            << "width " << wide << ": dead ends outside the seed's tile are left out";
        check(wide_spiral(110, wide), diagonal, fields_wanted::costs);
        EXPECT_EQ(counts_.gone, counts_.pieces - 1) << "all pieces are joined";
        c.cut_corners = false, check(c, diagonal, fields_wanted::costs);
        c.rule = cost_rule::both;
        for (std::size_t i = 0; i < c.mask.size(); ++i) c.cost.push_back(static_cast<std::int64_t>(1 + mix(i) % 9));
        check(c, diagonal, fields_wanted::costs);
    }
    geodesic_case open = maze(7, 110, 2);  // a room, whose parts have more gates than most
    for (std::int64_t y = 20; y < 100; ++y) std::fill_n(open.mask.begin() + y * 110 + 20, 80, std::uint8_t{1});
    check(open, diagonal, fields_wanted::costs);
}

/// In mazes and spirals every cell is eliminated.
TEST_F(GeodesicSolvers, EliminateMazes) {
    for (std::int64_t wide = 1; wide <= 4; ++wide)
        for (const bool winding : {false, true}) {
            geodesic_case c = winding ? wide_spiral(150, wide) : maze(static_cast<std::uint64_t>(wide), 150, wide);
            c.seeds[first_free(c)] = 3;
            const geodesic_result wanted = on_host(c, 1);
            ASSERT_EQ(watched(c, modes().front().rules, wanted, fields_wanted::both), wanted) << "width " << wide;
            EXPECT_EQ(counts_.solved, 1U);
            EXPECT_EQ(counts_.core, 0U) << "width " << wide;
            EXPECT_GT(counts_.squares, 0U) << "width " << wide;
            EXPECT_EQ(counts_.tail, 9U) << "visits after elimination, which leaves nothing to other tiles";
            EXPECT_LT(counts_.nodes, c.mask.size() / 5) << "width " << wide;
        }
}

/// Corridors of several cells may keep a quarter more cells. Grids of which seeds have reached a quarter are left to
/// tiles, however few cells they keep.
TEST_F(GeodesicSolvers, LeaveManySeedsToTiles) {
    geodesic_case c = wide_spiral(150, 3);
    const auto first = first_free(c);
    c.seeds[first] = 3;
    geodesic_result wanted = on_host(c, 1);
    solver_rules rules = modes().front().rules;
    ASSERT_EQ(watched(c, rules, wanted, fields_wanted::both), wanted);
    ASSERT_GT(counts_.left, 0U);
    rules.thin = static_cast<std::int32_t>(900 * counts_.left / counts_.sampled), rules.middling = -1;
    EXPECT_EQ(watched(c, rules, wanted, fields_wanted::both), wanted);
    EXPECT_EQ(counts_.solved, 1U);
    for (std::size_t i = first; i < c.mask.size(); i += 2) c.seeds[i] = c.mask[i] != 0 ? 3 : 0;
    wanted = on_host(c, 1), rules.thin = 1000;
    EXPECT_EQ(watched(c, rules, wanted, fields_wanted::both), wanted);
    EXPECT_GT(counts_.sampled, 0U);
    EXPECT_EQ(counts_.nodes, 0U);
}

/// Sweeps solve mazes before cells are eliminated, unless few tiles wait, as in a spiral.
TEST_F(GeodesicSolvers, LeaveMazesToSweeps) {
    geodesic_case c = maze(2, 150, 3);
    c.seeds[first_free(c)] = 3;
    solver_rules rules = modes().front().rules;
    rules.thin = rules.thin_for_sweeps = -1, rules.second_depth = 1000, rules.peeled = 0;
    const auto check = [&](std::int32_t waiting, std::uint32_t solved, std::int32_t in_row = 1) {
        const geodesic_result wanted = on_host(c, 1);
        rules.waiting = std::min(waiting, in_row), rules.waiting_for_elimination = waiting;
        ASSERT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted);
        EXPECT_EQ(counts_.solved, solved) << waiting << " may wait";
        EXPECT_EQ(counts_.parked[0], 1U) << "the tile of the seed";
    };
    check(1, 0);  // steps along axes, which lines relax
    c.steps = chamfer_steps(2, std::array<std::int32_t, 2>{2, 3});
    check(0, 0), check(1, 1);
    rules.leaps_first = true, check(1, 0);
    EXPECT_TRUE(counts_.gone > 0 && counts_.parts == 0) << "pieces of whole tiles that were joined, since few wait";
    c.mask = maze(2, 150, 1).mask, check(1, 0, 0);
    EXPECT_GT(counts_.parts, 0U) << "whose pieces were joined";
    rules.peeled = 16, check(1, 0);
    EXPECT_GT(counts_.parts, 0U) << "since most cells are redundant";
    rules.scattered_for_sweeps = 500, check(1, 1);  // as among scattered obstacles, whose cells are eliminated
    EXPECT_EQ(counts_.gates, 0U);
    c.mask = wide_spiral(150, 2).mask, c.seeds.assign(c.mask.size(), 0), rules.scattered_for_sweeps = 1000;
    c.seeds[first_free(c)] = 3, check(1, 0);
    EXPECT_EQ(counts_.parts, 0U) << "since most cells remain";
}

/// A tile that is entered again and again is flooded over more levels than one flood has.
TEST_F(GeodesicSolvers, FloodOverManyLevels) {
    solver_rules rules;
    rules.least_cells = 0, rules.first_depth = 1 << 20, rules.rough = std::numeric_limits<std::int32_t>::min();
    for (const std::uint64_t seed : {1, 4, 9}) {
        geodesic_case c = maze(seed, 192, 1);
        c.seeds[first_free(c)] = 3;
        c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{2});
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_GT(*std::max_element(wanted.cost.begin(), wanted.cost.end()), 2 * 5000);
        EXPECT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted) << "seed " << seed;
        EXPECT_GT(counts_.rough, rules.rough) << "flooded";
        EXPECT_EQ(counts_.parked[0], 0U) << "by the queue alone";
    }
}

/// If the queue ends before elimination is considered, or elimination declines, no sample is taken.
TEST_F(GeodesicSolvers, LeaveTheRestToTiles) {
    solver_rules rules = modes().front().rules;
    rules.first_depth = 1000;
    geodesic_case c = drawn_mask(4, 3);
    c.seeds[first_free(c)] = 3;
    geodesic_result wanted = on_host(c, 1);
    EXPECT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted);
    EXPECT_EQ(counts_.sampled, 0U);
    EXPECT_EQ(counts_.nodes, 0U);
    EXPECT_GT(counts_.tail, 0U);
    rules.first_depth = 0;
    c.steps = knight_steps(), wanted = on_host(c, 1);
    EXPECT_EQ(watched(c, rules, wanted, fields_wanted::both), wanted);
    EXPECT_EQ(counts_.nodes, 0U) << "knight's moves";
    c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{1}), c.rule = cost_rule::entered;
    c.cost.assign(c.mask.size(), 2), c.cost[5] = 9, wanted = on_host(c, 1);
    EXPECT_EQ(watched(c, rules, wanted, fields_wanted::both), wanted);
    EXPECT_EQ(counts_.nodes, 0U) << "prices of entered cells";
}

/// Keys of 32 bits are tried if the longest possible path does not fit them but other paths may. If a path does not, or
/// if cells are to be eliminated, wider keys solve the call.
TEST_F(GeodesicSolvers, TryNarrowKeys) {
    solver_rules rules = modes().front().rules;
    const auto check = [&](geodesic_case c, const std::vector<priced_step>& steps, std::uint32_t exceeded) {
        const auto first = first_free(c);
        c.seeds[first] = 3, c.steps = steps;
        const geodesic_result wanted = on_host(c, 1);
        ASSERT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted);
        EXPECT_EQ(counts_.exceeded, exceeded);
        ASSERT_EQ(watched(c, rules, wanted, fields_wanted::seeds), wanted);
        EXPECT_EQ(counts_.exceeded, 0U) << "not tried";
    };
    const auto along_axes = chamfer_steps(2, std::array<std::int32_t, 1>{131000});
    const auto diagonal = chamfer_steps(2, std::array<std::int32_t, 2>{93000, 131000});
    geodesic_case scattered = emptied({150, 150}, true), wall = scattered, corners = emptied({150, 150}, false);
    for (std::size_t i = 0; i < scattered.mask.size(); ++i) scattered.mask[i] = mix(i) % 4 == 0 ? 0 : 1;
    std::fill_n(wall.mask.begin() + 75 * 150, 150, std::uint8_t{0});
    for (std::size_t i = 0; i < 150; ++i) corners.mask[i * 151] = 1;
    rules.first_depth = 1000;
    for (const auto& steps : {along_axes, diagonal})
        for (const geodesic_case& c : {scattered, wall, corners, emptied({150, 150}, true)}) check(c, steps, 0);
    scattered.cut_corners = corners.cut_corners = false;
    check(scattered, diagonal, 0), check(corners, diagonal, 0);
    const geodesic_case winding = wide_spiral(190, 1);
    check(winding, along_axes, 1), check(winding, diagonal, 1);
    rules.first_depth = 0;
    check(maze(1, 150, 2), along_axes, 1), check(maze(1, 150, 2), diagonal, 1);
    rules.thin = rules.thin_for_sweeps = -1, rules.second_depth = 0;  // elimination begins at the second depth
    check(maze(1, 150, 2), along_axes, 1), check(maze(1, 150, 2), diagonal, 1);
}

/// With bytes as costs they are tried if the dearest way along all axes fits them. A maze has longer paths.
TEST_F(GeodesicSolvers, TryNarrowKeysWithCosts) {
    solver_rules rules = modes().front().rules;
    rules.first_depth = 1 << 20;  // no cells are eliminated
    geodesic_case winding = maze(1, 100, 1), open = emptied({100, 100}, true);
    for (geodesic_case* const c : {&winding, &open}) {
        const auto first = static_cast<std::size_t>(std::find(c->mask.begin(), c->mask.end(), 1) - c->mask.begin());
        c->seeds[first] = 3;
        for (std::size_t i = 0; i < c->mask.size(); ++i) c->cost.push_back(static_cast<std::int64_t>(1 + mix(i) % 255));
        const std::int64_t cells = c->shape[0] + c->shape[1];
        for (const cost_rule rule : {cost_rule::entered, cost_rule::both}) {
            const std::int64_t fits = ((std::int64_t{1} << 31) - 1) / (cells * 256) / (rule == cost_rule::both ? 2 : 1);
            for (const std::int64_t price : {std::int64_t{1}, fits - 1, fits + 1}) {
                c->steps = chamfer_steps(2, std::array{static_cast<std::int32_t>(price)}), c->rule = rule;
                const geodesic_result wanted = on_host(*c, 1);
                ASSERT_EQ(watched(*c, rules, wanted, fields_wanted::costs), wanted) << price;
                EXPECT_EQ(counts_.exceeded, c == &winding && price == fits - 1 ? 1U : 0U) << price;
            }
        }
    }
}

/// Seeds are tried by their ranks in keys of 32 bits, if they are few and prices are low. If they are many, or a path
/// does not fit, wider keys solve the call.
TEST_F(GeodesicSolvers, TryRanksOfSeeds) {
    solver_rules rules = modes().front().rules;
    rules.first_depth = 1000;
    const auto check = [&](geodesic_case c, std::uint64_t seeds, std::int32_t price, bool fits) {
        for (std::uint64_t i = 0; i < seeds; ++i)
            c.seeds[mix(i) % c.seeds.size()] = static_cast<std::int64_t>(1 + mix(i) % 9);
        std::uint32_t planted = 0;
        for (std::size_t i = 0; i < c.seeds.size(); ++i) planted += c.mask[i] != 0 && c.seeds[i] != 0 ? 1 : 0;
        c.steps = chamfer_steps(static_cast<int>(c.shape.size()), std::array<std::int32_t, 1>{price});
        const geodesic_result wanted = on_host(c, 1);
        for (const auto asked : {fields_wanted::seeds, fields_wanted::both}) {
            ASSERT_EQ(watched(c, rules, wanted, asked), wanted) << seeds << " seeds, price " << price;
            EXPECT_EQ(counts_.exceeded, fits ? 0U : 1U) << seeds << " seeds, price " << price;
            EXPECT_TRUE(!fits || counts_.listed == planted) << counts_.listed;
        }
        ASSERT_EQ(watched(c, rules, wanted, fields_wanted::costs), wanted);
        EXPECT_EQ(counts_.listed, 0U);
    };
    geodesic_case scattered = emptied({150, 190}, true);
    for (std::size_t i = 0; i < scattered.mask.size(); ++i) scattered.mask[i] = mix(i) % 4 == 0 ? 0 : 1;
    for (const geodesic_case& c : {scattered, emptied({40, 30, 50}, true)}) {
        check(c, 1, 1, true), check(c, 2000, 31, true), check(c, 9000, 1, false);
    }
    geodesic_case near = scattered;
    near.max_cost = 20;
    check(near, 40, 1, true);
    geodesic_case winding = wide_spiral(200, 1);  // some 20,000 cells long
    std::fill(winding.seeds.begin(), winding.seeds.end(), 0);
    const auto first = std::find(winding.mask.begin(), winding.mask.end(), 1) - winding.mask.begin();
    winding.seeds[static_cast<std::size_t>(first)] = 3;
    check(winding, 0, 30, false);
}

}  // namespace
}  // namespace nearfield::test
