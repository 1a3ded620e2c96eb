// Geodesic distances on the host, against Dijkstra's algorithm with a heap.
#include <gtest/gtest.h>

#include <cmath>

#include "geodesic/dijkstra.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t none64 = std::numeric_limits<std::int64_t>::max();

/// As the oracle has it; `sites`: the seeds too, which takes another path through the library.
geodesic_result on_host(const geodesic_case& c, int threads, bool sites = true) {
    geodesic_result r;
    const auto cells = c.mask.size();
    r.cost.assign(cells, 7), r.index.assign(cells, -1), r.label.assign(cells, 0);
    const std::vector<std::int32_t> costs(c.cost.begin(), c.cost.end());
    geodesic_fields<host> out;
    out.cost = any_output<host>::contiguous(r.cost.data(), dtype::int64, c.shape);
    if (sites) out.index = any_output<host>::contiguous(r.index.data(), dtype::int64, c.shape);
    if (sites) out.label = any_output<host>::contiguous(r.label.data(), dtype::int64, c.shape);
    geodesic(host{threads, {}}, any_input<host>::contiguous(c.mask.data(), dtype::uint8, c.shape),
             any_input<host>::contiguous(c.seeds.data(), dtype::int64, c.shape), out, c.options(),
             c.cost.empty() ? any_input<host>{} : any_input<host>::contiguous(costs.data(), dtype::int32, c.shape));
    for (std::int64_t& each : r.cost) each = each == none64 ? -1 : each;
    return r;
}

std::vector<priced_step> drawn_steps(int axes, std::uint64_t kind, std::uint64_t bits) {
    const auto price = [&](int k) { return static_cast<std::int32_t>(1 + (bits >> (8 * k)) % 9); };
    std::vector<std::int32_t> by;
    for (int k = 0; k < axes; ++k) by.push_back(price(k));
    by.resize(1 + bits % static_cast<std::uint64_t>(axes));
    if (kind == 0 && axes == 2) return knight_steps();
    if (kind == 1 && axes <= 3) return euclidean_steps(axes, axes == 1 ? 1 : 1 + static_cast<int>(bits % 3), {}, 64);
    if (kind == 2) by.assign(by.size(), 1 << 28);  // paths that need the wider key
    if (kind == 3) by.front() = 1, by.back() = 200;
    return chamfer_steps(axes, by);
}

geodesic_case drawn(std::uint64_t seed, std::int64_t longest_2d) {
    std::uint64_t state = seed << 24;
    const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
    geodesic_case c;
    const auto axes = static_cast<int>(1 + draw(4));
    const std::int64_t longest[] = {longest_2d * 8, longest_2d, longest_2d / 2 + 1, 4};
    if (draw(5) == 0) c.batch_axes = 1, c.shape.push_back(1 + static_cast<std::int64_t>(draw(3)));
    for (int k = 0; k < axes; ++k)
        c.shape.push_back(1 + static_cast<std::int64_t>(draw(static_cast<std::uint64_t>(longest[axes - 1]))));
    c.steps = drawn_steps(axes, draw(6), mix(state++));
    for (std::size_t k = 0; k < c.shape.size(); ++k) c.ends.push_back(draw(3) == 0 ? border::periodic : border::open);
    c.cut_corners = draw(2) == 0, c.rule = draw(2) == 0 ? cost_rule::entered : cost_rule::both;
    if (draw(6) == 0) c.max_cost = static_cast<double>(draw(60));
    const auto walls = draw(7), density = 1 + draw(40), dearest = 1 + draw(300);
    const bool costs = draw(3) == 0 && c.steps.front().price < 1 << 20;
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        c.mask.push_back(draw(10) < walls ? 0 : 1);
        c.seeds.push_back(draw(density) == 0 ? static_cast<std::int64_t>(1 + draw(9)) - 4 : 0);
        if (costs) c.cost.push_back(static_cast<std::int64_t>(draw(dearest + 1)));
    }
    return c;
}

void check(std::uint64_t seed, const geodesic_case& c, int threads) {
    geodesic_result wanted = expected(c);
    ASSERT_EQ(on_host(c, threads), wanted) << "seed " << seed;
    wanted.index.assign(c.mask.size(), -1), wanted.label.assign(c.mask.size(), 0);
    ASSERT_EQ(on_host(c, 3 - threads, false), wanted) << "seed " << seed << " without seeds";
}

TEST(Geodesic, IsDijkstras) {
    for (std::uint64_t seed = 0; seed < 1800; ++seed) check(seed, drawn(seed, 14), 1 + static_cast<int>(seed % 2));
}
TEST(Geodesic, LargerImagesAreDijkstras) {
    for (std::uint64_t seed = 5000; seed < 5020; ++seed) check(seed, drawn(seed, 90), 1 + static_cast<int>(seed % 2));
}

TEST(Geodesic, LinesMeetCellsAsSampled) {
    for (int y = -4; y <= 4; ++y)
        for (int x = -4; x <= 4; ++x) {
            if (x == 0 && y == 0) continue;
            const auto steps = euclidean_steps(2, 4, {}, 1);
            EXPECT_TRUE(line_meets({y, x}, {0, 0}, false) && line_meets({y, x}, {y, x}, false));
        }
}

/// A corridor one cell wide that winds through the whole image, and its answer by counting.
TEST(Geodesic, ASpiralIsAsLongAsItIs) {
    const std::int64_t n = 401;
    geodesic_case c;
    c.shape = {n, n}, c.mask.assign(static_cast<std::size_t>(n * n), 0), c.seeds.assign(c.mask.size(), 0);
    std::vector<std::int64_t> way;
    std::int64_t y = 0, x = 0, dy = 0, dx = 1;
    const auto open = [&](std::int64_t r, std::int64_t s) {
        return r >= 0 && s >= 0 && r < n && s < n && c.mask[static_cast<std::size_t>(r * n + s)] != 0;
    };
    const auto inside = [&](std::int64_t r, std::int64_t s) { return r >= 0 && s >= 0 && r < n && s < n; };
    for (int turns = 0; turns < 2;) {
        if (!open(y, x)) way.push_back(y * n + x), c.mask[static_cast<std::size_t>(y * n + x)] = 1;
        const bool free = inside(y + dy, x + dx) && !open(y + dy, x + dx) && !open(y + 2 * dy, x + 2 * dx);
        if (free) y += dy, x += dx, turns = 0;
        else std::swap(dy, dx), dx = -dx, ++turns;
    }
    c.seeds[static_cast<std::size_t>(way.front())] = 1;
    c.steps = chamfer_steps(2, std::array<std::int32_t, 1>{1});
    const geodesic_result r = on_host(c, 2);
    ASSERT_GT(way.size(), 79000U);
    for (std::size_t i = 0; i < way.size(); ++i)
        ASSERT_EQ(r.cost[static_cast<std::size_t>(way[i])], static_cast<std::int64_t>(i));
}

/// The local equation at every cell of larger inputs, which proves the answer, and the same bits from more threads.
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
    try {
        geodesic(device(nullptr), any_input<device>{}, any_input<device>{}, {});
        ADD_FAILURE() << "a device was accepted";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::unsupported);
    }
}

}  // namespace
}  // namespace nearfield::test
