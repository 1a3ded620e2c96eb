// Geodesic distances on the host, against Dijkstra's algorithm with a heap.
#include <gtest/gtest.h>

#include <cmath>

#include "geodesic/buckets.hpp"
#include "geodesic/cases.hpp"
#include "geodesic/core.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t none64 = std::numeric_limits<std::int64_t>::max();

void check(std::uint64_t seed, const geodesic_case& c, int threads) {
    geodesic_result wanted = expected(c);
    ASSERT_EQ(on_host(c, threads), wanted) << "seed " << seed;
    wanted.index.assign(c.mask.size(), -1), wanted.label.assign(c.mask.size(), 0);
    ASSERT_EQ(on_host(c, 3 - threads, false), wanted) << "seed " << seed << " without seeds";
}

/// Together with paths, distance fields and roadmaps this is 10,200 cases; a CI run takes 3,060, at its scale of 0.3.
TEST(Geodesic, IsDijkstras) {
    for (std::uint64_t seed = 0; seed < share(0, 4200); ++seed)
        check(seed, drawn(seed, seed % 3 == 0 ? 14 : 6), 1 + static_cast<int>(seed % 2));
}
TEST(Geodesic, LargerImagesAreDijkstras) {
    for (std::uint64_t seed = 5000; seed < share(5000, 5020); ++seed)
        check(seed, drawn(seed, 90), 1 + static_cast<int>(seed % 2));
}

TEST(Geodesic, LinesMeetCellsAsSampled) {
    for (int y = -4; y <= 4; ++y)
        for (int x = -4; x <= 4; ++x) {
            if (x == 0 && y == 0) continue;
            const auto steps = euclidean_steps(2, 4, {}, 1);
            EXPECT_TRUE(line_meets({y, x}, {0, 0}, false) && line_meets({y, x}, {y, x}, false));
        }
}

TEST(Geodesic, ASpiralIsAsLongAsItIs) {
    std::vector<std::int64_t> way;
    const geodesic_case c = spiral(401, way);
    const geodesic_result r = on_host(c, 2);
    ASSERT_GT(way.size(), 79000U);
    for (std::size_t i = 0; i < way.size(); ++i)
        ASSERT_EQ(r.cost[static_cast<std::size_t>(way[i])], static_cast<std::int64_t>(i));
}

/// In a perfect maze two cells have one path: the cost is its length, which a search without costs finds.
TEST(Geodesic, MazesHaveOneWay) {
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
        const geodesic_case c = maze(seed, 61, 1 + static_cast<std::int64_t>(seed % 3));
        ASSERT_EQ(on_host(c, 2), expected(c)) << "seed " << seed;
    }
}

/// Steps that all cost 1 take cells level by level, except in tiles that `max_cost` may end in; other prices do not.
TEST(Geodesic, OnePriceGoesByLevels) {
    constexpr std::int32_t ones[] = {1, 1}, others[] = {2, 3};
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        geodesic_case c = maze(seed, 61, 1 + static_cast<std::int64_t>(seed % 3));
        if (seed % 4 == 3) {
            c.shape.insert(c.shape.begin(), 3);
            const std::vector<std::uint8_t> plane = c.mask;
            for (int i = 0; i < 2; ++i) c.mask.insert(c.mask.end(), plane.begin(), plane.end());
            c.seeds.resize(c.mask.size());
        }
        const auto axes = static_cast<int>(c.shape.size());
        c.steps = chamfer_steps(axes, {ones, static_cast<std::size_t>(seed % 2 == 0 ? 2 : 1)});
        for (const double most : {1e300, 300.0})
            for (const bool sites : {false, true}) {
                c.max_cost = most;
                geodesic_result wanted = expected(c);
                if (!sites) wanted.index.assign(c.mask.size(), -1), wanted.label.assign(c.mask.size(), 0);
                geodesics::cells_by_levels = 0;
                ASSERT_EQ(on_host(c, 1, sites), wanted) << "seed " << seed;
                ASSERT_GT(geodesics::cells_by_levels, 0);
            }
        c.steps = chamfer_steps(axes, others);
        geodesics::cells_by_levels = 0;
        ASSERT_EQ(on_host(c, 1), expected(c));
        ASSERT_EQ(geodesics::cells_by_levels, 0);
    }
}

/// The local equation holds at every cell of larger inputs, which proves the result; more threads give the same bits.
TEST(Geodesic, LargeAnswersCarryTheirProof) {
    for (const shape_t& shape : {shape_t{600, 500}, shape_t{40, 50, 60}}) {
        geodesic_case c;
        c.shape = shape;
        const auto axes = static_cast<int>(shape.size());
        const std::int32_t by[] = {3, 4, 5};
        c.steps = chamfer_steps(axes, {by, static_cast<std::size_t>(axes)});
        for (std::int64_t i = 0; i < cells_of(shape); ++i)
            c.mask.push_back(mix(static_cast<std::uint64_t>(i)) % 10 < (axes == 2 ? 3 : 6) ? 0 : 1),
                c.seeds.push_back(i == 0 || i == cells_of(shape) / 2 ? 1 : 0);
        c.mask[0] = 1;
        const geodesic_result one = on_host(c, 1);
        EXPECT_EQ(on_host(c, 3), one);
        std::int64_t wrong = 0;
        for (std::int64_t i = 0; i < c.cells(); ++i) {
            std::int64_t least = c.seeds[static_cast<std::size_t>(i)] != 0 ? 0 : none64;
            for (const priced_step& s : c.steps) {
                std::int64_t j = 0, rest = i, weight = 1;
                bool inside = true;
                for (std::size_t k = shape.size(); k-- > 0; rest /= shape[k], weight *= shape[k]) {
                    const std::int64_t x = rest % shape[k] + s.by[k];
                    inside = inside && x >= 0 && x < shape[k], j += x * weight;
                }
                if (inside && one.cost[static_cast<std::size_t>(j)] >= 0)
                    least = std::min(least, one.cost[static_cast<std::size_t>(j)] + s.price);
            }
            const bool open = c.mask[static_cast<std::size_t>(i)] != 0;
            wrong += one.cost[static_cast<std::size_t>(i)] != (open && least != none64 ? least : -1) ? 1 : 0;
        }
        EXPECT_EQ(wrong, 0);
    }
}

TEST(Geodesic, StridesAndTypes) {
    geodesic_case c;
    for (std::uint64_t seed = 11; c.shape.size() != 2 || !c.cost.empty() || c.batch_axes > 0; ++seed)
        c = drawn(seed, 40);
    c.max_cost = 1e300;
    const geodesic_result wanted = on_host(c, 1);
    const auto rows = c.shape[0], columns = c.shape[1];
    std::vector<std::uint8_t> mask(c.mask.size() * 3, 9);
    std::vector<std::int8_t> seeds(c.mask.size());
    std::vector<float> out(c.mask.size());
    std::vector<std::int32_t> site(2 * c.mask.size());
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x) {
            const auto from = static_cast<std::size_t>(y * columns + x);
            mask[static_cast<std::size_t>(3 * (x * rows + y))] = c.mask[from];
            seeds[static_cast<std::size_t>((rows - 1 - y) * columns + x)] = static_cast<std::int8_t>(c.seeds[from]);
        }
    geodesic_options o = c.options();
    o.unit = 0.5;
    geodesic_fields<host> fields;
    fields.cost = view<float, 2, host>(out.data(), {{rows, columns}});
    fields.coordinates = view<std::int32_t, 3, host>(site.data(), {{2, rows, columns}});
    geodesic(host{2, {}}, view<const std::uint8_t, 2, host>(mask.data(), {{rows, columns}}, {3, 3 * rows}),
             view<const std::int8_t, 2, host>(seeds.data() + (rows - 1) * columns, {{rows, columns}}, {-columns, 1}),
             fields, o);
    for (std::size_t i = 0; i < out.size(); ++i) {
        const bool reached = wanted.cost[i] >= 0;
        ASSERT_EQ(out[i], reached ? static_cast<float>(static_cast<double>(wanted.cost[i]) * 0.5) : INFINITY);
        ASSERT_EQ(site[i], reached ? wanted.index[i] / columns : -1);
        ASSERT_EQ(site[out.size() + i], reached ? wanted.index[i] % columns : -1);
    }
}

TEST(Geodesic, RefusesWhatItCannotDo) {
    const extent<2> shape{{4, 5}};
    std::vector<std::uint8_t> mask(20, 1), seeds(20, 1);
    std::vector<std::uint32_t> out(20), cost(20, 1 << 30);
    const view<const std::uint8_t, 2, host> m(mask.data(), shape), s(seeds.data(), shape);
    geodesic_fields<host> to;
    to.cost = view<std::uint32_t, 2, host>(out.data(), shape);
    const auto with = [&](const geodesic_options& o) { return [&, o] { geodesic(host{}, m, s, to, o); }; };
    expect_refused([&] { geodesic(host{}, m, s, {}); }, {"out", "cost, index"});
    expect_refused([&] { geodesic(host{}, m, view<const std::uint8_t, 1, host>(seeds.data(), {{20}}), to); },
                   {"seeds"});
    expect_refused(with({.border = border::closed}), {"border", "closed"});
    expect_refused(with({.max_cost = -1}), {"max_cost"});
    expect_refused(with({.unit = 0.5}), {"unit", "uint32"});
    const priced_step one_way[] = {{{0, 1}, 1}}, nowhere[] = {{{0, 0}, 1}}, free[] = {{{0, 1}, 0}},
                      far[] = {{{0, 8}, 1}};
    expect_refused(with({.steps = one_way}), {"opposite"});
    expect_refused(with({.steps = nowhere}), {"nowhere"});
    expect_refused(with({.steps = free}), {"price"});
    expect_refused(with({.steps = far}), {"at most 7"});
    expect_refused(
        [&] {
            geodesic(host{}, m, s, to, {.rule = cost_rule::both},
                     view<const std::uint32_t, 2, host>(cost.data(), shape));
        },
        {"cost", "2^31"});
    expect_refused([] { static_cast<void>(euclidean_steps(2, 8, {}, 1)); }, {"reach"});
}

/// A cell is redundant if, for each two of its neighbours, a path among the others costs no more than through it.
TEST(Geodesic, FindsCellsWithoutWhichNoPathIsDearer) {
    constexpr int ring = 8, row[ring] = {-1, -1, 0, 1, 1, 1, 0, -1}, column[ring] = {0, 1, 1, 1, 0, -1, -1, -1};
    struct {
        int high, wide, aside;  // prices
    } constexpr prices[] = {{5, 5, 7}, {3, 3, 4}, {1, 1, 1}, {1, 1, 2}, {2, 3, 4}, {3, 1, 3}};
    for (unsigned present = 0; present < 1U << ring; ++present) {
        unsigned beside[ring];
        for (int i = 0; i < ring; ++i) beside[i] = (present >> i & 1) != 0 ? ~0U : 0;
        const bool redundant = geodesics::redundant(beside) == ~0U;
        EXPECT_TRUE(redundant || geodesics::redundant(beside) == 0);
        for (const auto& p : prices) {
            const auto step = [&](int y, int x) {
                return std::max(std::abs(y), std::abs(x)) > 1 ? 1000 : y == 0 ? p.wide : x == 0 ? p.high : p.aside;
            };
            int cost[ring][ring];
            const auto is = [&](int i, int j) { return (present >> i & present >> j & 1) != 0; };
            for (int i = 0; i < ring; ++i)
                for (int j = 0; j < ring; ++j)
                    cost[i][j] = is(i, j) ? step(row[i] - row[j], column[i] - column[j]) : 1000;
            bool needless = true;
            for (int k = 0; k < ring; ++k)
                for (int i = 0; i < ring; ++i)
                    for (int j = 0; j < ring; ++j) cost[i][j] = std::min(cost[i][j], cost[i][k] + cost[k][j]);
            for (int i = 0; i < ring; ++i)
                for (int j = 0; j < i; ++j)
                    needless =
                        needless && (!is(i, j) || cost[i][j] <= step(row[i], column[i]) + step(row[j], column[j]));
            EXPECT_TRUE(p.aside == 7 ? needless == redundant : needless || !redundant) << present;
        }
    }
}

}  // namespace
}  // namespace nearfield::test
