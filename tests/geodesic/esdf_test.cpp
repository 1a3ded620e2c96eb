// Distance fields for robots: gradients by definition, updates against the whole field, costmaps by the formula.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "geodesic/esdf_core.hpp"
#include "geodesic/scene.hpp"
#include "nearfield/distance.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

void check_definition(const scene& s, const field_of& f, std::uint64_t seed) {
    const auto cells = s.occupancy.size();
    for (std::size_t i = 0; i < cells; ++i) {
        std::vector<double> away;
        double square = 0;
        for (std::size_t k = s.shape.size(), rest = i; k-- > 0;) {
            const auto size = static_cast<std::size_t>(s.shape[k]);
            const std::int32_t site = f.site[k * cells + i];
            away.insert(away.begin(), site < 0 ? 0 : s.spacing[k] * (static_cast<double>(rest % size) - site));
            square += away[0] * away[0], rest /= size;
        }
        const bool occupied = s.occupancy[i] != 0, none = f.site[i] < 0;
        const double sign = s.options.negative_inside && occupied ? -1 : 1;
        const double distance = none ? INFINITY : std::sqrt(square);
        ASSERT_EQ(f.distance[i], static_cast<float>(sign * distance)) << "seed " << seed;
        for (std::size_t k = 0; k < s.shape.size(); ++k)
            ASSERT_EQ(f.gradient[k * cells + i],
                      square > 0 ? static_cast<float>(away[k] / (sign * std::sqrt(square))) : 0.0F)
                << "seed " << seed;
        if (!none && square > 0) {  // the site must be of the other kind
            std::size_t j = 0;
            for (std::size_t k = 0; k < s.shape.size(); ++k)
                j = j * static_cast<std::size_t>(s.shape[k]) + static_cast<std::size_t>(f.site[k * cells + i]);
            ASSERT_NE(s.occupancy[j] != 0, occupied && s.options.negative_inside);
        }
    }
}

TEST(Esdf, GradientsLeadAwayFromSites) {
    for (std::uint64_t seed = 0; seed < share(0, 1000); ++seed) {
        const scene s(seed);
        const field_of f = s.solved(1 + static_cast<int>(seed % 2));
        ASSERT_NO_FATAL_FAILURE(check_definition(s, f, seed));
        std::vector<float> distance(s.occupancy.size());
        fields<host> wanted;
        wanted.distance = any_output<host>::contiguous(distance.data(), dtype::float32, s.shape);
        distance_options d;
        d.spacing = s.options.spacing, d.sites = sites::nonzero, d.max_distance = s.options.max_distance;
        d.sign = s.options.negative_inside ? sign::outside_negative : sign::none;
        distance_transform(host{1, {}}, s.in(), wanted, d);
        ASSERT_EQ(f.distance, distance) << "seed " << seed;
    }
}

/// Gradients by floats have the bits of those by doubles, whichever guess of the root a processor makes.
TEST(Esdf, SmallRootsGiveTheBitsOfDoubles) {
    std::uint64_t state = 1;
    const auto draw = [&](std::int64_t most) {
        return static_cast<std::int64_t>(mix(state++) % static_cast<std::uint64_t>(most));
    };
    for (std::uint64_t n = 0; n < share(0, 3000000); ++n) {
        const std::int64_t most = std::int64_t{1} << (1 + draw(12)), away = draw(most) - most / 2, other = draw(most);
        const double square =
            static_cast<double>(std::clamp<std::int64_t>(away * away + other * other, 1, (1 << 24) - 1));
        auto near = static_cast<float>(1 / std::sqrt(square));
        for (std::int64_t k = draw(3); k > 0; --k) near = std::nextafter(near, n % 2 == 0 ? 0.0F : 2.0F);
        const geodesics::small_root root(static_cast<float>(square), near);
        ASSERT_EQ(root.component(static_cast<float>(away)),
                  static_cast<float>(static_cast<double>(away) / std::sqrt(square)))
            << away << " of " << square;
    }
}

TEST(Esdf, UpdatesOfABoxAreTheWhole) {
    for (std::uint64_t seed = 1000; seed < share(1000, 2000); ++seed) {
        scene s(seed);
        field_of f = s.solved(1);
        shape_t first, end;
        s.change(seed, first, end);
        update_esdf(host{2, {}}, s.in(), first, end, s.to(f), s.options);
        ASSERT_EQ(f, s.solved(2)) << "seed " << seed;
    }
}

TEST(Costmap, IsTheFormula) {
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        std::uint64_t state = seed << 20;
        const auto draw = [&](std::uint64_t n) { return mix(state++) % n; };
        const shape_t shape{1 + static_cast<std::int64_t>(draw(30)), 1 + static_cast<std::int64_t>(draw(30))};
        std::vector<std::uint8_t> map, out(static_cast<std::size_t>(shape[0] * shape[1]));
        for (std::size_t i = 0; i < out.size(); ++i) {
            constexpr std::uint8_t bytes[] = {0, 0, 0, 0, 0, 0, 40, 253, 254, 255};
            map.push_back(bytes[draw(10)]);
        }
        inflation_options o{0.05,
                            0.05 * static_cast<double>(draw(4)),
                            0.05 * static_cast<double>(draw(12)) + 0.01,
                            3,
                            draw(2) == 0,
                            draw(2) == 0};
        inflate_costmap(host{2, {}}, any_input<host>::contiguous(map.data(), dtype::uint8, shape),
                        any_output<host>::contiguous(out.data(), dtype::uint8, shape), o);
        const double reach = std::ceil(o.inflation_radius / o.resolution);
        for (std::int64_t i = 0; i < shape[0] * shape[1]; ++i) {
            double near = INFINITY;
            for (std::int64_t j = 0; j < shape[0] * shape[1]; ++j) {
                const std::uint8_t c = map[static_cast<std::size_t>(j)];
                if (c != 254 && !(o.around_unknown && c == 255)) continue;
                near = std::min(near, std::hypot(i / shape[1] - j / shape[1], i % shape[1] - j % shape[1]));
            }
            int cost = 0;
            if (near == 0) cost = 254;
            else if (near * o.resolution <= o.inscribed_radius) cost = 253;
            else if (near <= reach)
                cost = static_cast<int>(252 * std::exp(-3 * (near * o.resolution - o.inscribed_radius)));
            if (near > reach) cost = 0;
            const int old = map[static_cast<std::size_t>(i)];
            const bool known = old != 255 || cost < (o.inflate_unknown ? 1 : 253);
            ASSERT_EQ(out[static_cast<std::size_t>(i)], known ? std::max(old, cost) : cost) << "seed " << seed;
        }
    }
}

// Obstacles lie at the borders of tiles of 512 cells, and as far from them as they reach. Each adds its costs to the
// cells in reach, one by one.
TEST(Esdf, InflatesTileByTile) {
    const std::int64_t rows = 700, columns = 1300, reach = 11;
    const shape_t shape{rows, columns};
    std::vector<std::uint8_t> map(static_cast<std::size_t>(rows * columns)), expected;
    for (const std::int64_t x : {0, 501, 1034, 1299})
        for (const std::int64_t y : {3, 501, 601}) map[static_cast<std::size_t>(y * columns + x)] = 254;
    for (const std::int64_t x : {200, 511, 1024})
        for (const std::int64_t y : {100, 511, 540}) map[static_cast<std::size_t>(y * columns + x)] = 254;
    for (std::size_t i = 0; i < map.size(); i += 97) map[i] = map[i] == 254 ? 254 : static_cast<std::uint8_t>(i % 254);
    expected = map;
    for (std::int64_t i = 0; i < rows * columns; ++i)
        for (std::int64_t dy = -reach; dy <= reach && map[static_cast<std::size_t>(i)] == 254; ++dy)
            for (std::int64_t dx = -reach; dx <= reach; ++dx) {
                const std::int64_t y = i / columns + dy, x = i % columns + dx;
                const double near = std::hypot(dy, dx) * 0.05;
                if (y < 0 || y >= rows || x < 0 || x >= columns || dy * dy + dx * dx > reach * reach) continue;
                const double cost = near == 0 ? 254 : near <= 0.1 ? 253 : std::floor(252 * std::exp(-3 * (near - 0.1)));
                std::uint8_t& to = expected[static_cast<std::size_t>(y * columns + x)];
                to = std::max(to, static_cast<std::uint8_t>(cost));
            }
    for (const int threads : {1, 3}) {
        std::vector<std::uint8_t> out(map.size());
        inflate_costmap(
            host{threads, {}}, any_input<host>::contiguous(map.data(), dtype::uint8, shape),
            any_output<host>::contiguous(out.data(), dtype::uint8, shape),
            {.resolution = 0.05, .inscribed_radius = 0.1, .inflation_radius = 0.55, .cost_scaling_factor = 3});
        EXPECT_EQ(out, expected) << threads;
    }
}

TEST(Esdf, RefusesWhatItCannotDo) {
    const scene s(3);
    field_of f;
    const esdf_fields<host> to = s.to(f);
    expect_refused([&] { esdf(host{}, s.in(), {}); }, {"out"});
    esdf_options o;
    o.max_distance = -1;
    expect_refused([&] { esdf(host{}, s.in(), to, o); }, {"max_distance"});
    const std::int64_t corner[] = {-1, 0, 0};
    const std::span<const std::int64_t> few(corner, 0), bad(corner, s.shape.size());
    expect_refused([&] { update_esdf(host{}, s.in(), few, few, to); }, {"box"});
    expect_refused([&] { update_esdf(host{}, s.in(), bad, bad, to); }, {"box", "-1"});
    std::vector<std::uint8_t> map(6), out(6);
    const shape_t shape{2, 3};
    inflation_options i;
    i.resolution = 0;
    expect_refused(
        [&] {
            inflate_costmap(host{}, any_input<host>::contiguous(map.data(), dtype::uint8, shape),
                            any_output<host>::contiguous(out.data(), dtype::uint8, shape), i);
        },
        {"resolution"});
}

}  // namespace
}  // namespace nearfield::test
