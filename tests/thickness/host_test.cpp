// Local thickness on the host: against all balls of all cells, against shapes with known thickness, and consistency.
#include <gtest/gtest.h>

#include <cmath>

#include "nearfield/plan.hpp"
#include "thickness/call.hpp"

namespace nearfield::test {
namespace {

TEST(ThicknessHost, RandomCases) { walk_thickness(thickness_on_host, 4000, 1); }

std::vector<std::uint32_t> squares(thickness_call c) {
    c.squared.emplace(dtype::uint32, c.shape, layout::tight);
    c.thickness.reset();
    for (std::size_t i = 0; i < c.value.size(); ++i)
        *c.image.element(static_cast<std::int64_t>(i)) = static_cast<std::byte>(c.value[i]);
    thickness_on_host(c);
    std::vector<std::uint32_t> found(c.value.size());
    std::memcpy(found.data(), c.squared->bytes().data(), c.squared->bytes().size());
    return found;
}

template <class Inside>
std::vector<std::int64_t> drawn(const shape_t& shape, const Inside& inside) {
    std::vector<std::int64_t> value;
    for (std::int64_t z = 0; z < shape[0]; ++z)
        for (std::int64_t y = 0; y < shape[1]; ++y)
            for (std::int64_t x = 0; x < shape[2]; ++x) value.push_back(inside(z, y, x) ? 1 : 0);
    return value;
}

std::int64_t square(std::int64_t d) { return d * d; }

TEST(ThicknessShapes, Slab) {
    for (const std::int64_t thick : {1, 2, 7, 12}) {
        const auto value = drawn({20, 30, 31}, [&](auto z, auto, auto) { return z >= 3 && z < 3 + thick; });
        const auto found = squares(plain_call({20, 30, 31}, value));
        for (std::size_t i = 0; i < found.size(); ++i)
            ASSERT_EQ(found[i], value[i] != 0 ? square((thick + 1) / 2) : 0) << thick;
    }
}

/// The ball of the centre contains the whole shape, so every cell has its radius.
TEST(ThicknessShapes, BallAndCylinder) {
    const shape_t shape{41, 41, 41};
    const auto from = [](auto a) { return square(a - 20); };
    for (const std::int64_t r2 : {5, 50, 333}) {
        const auto ball = drawn(shape, [&](auto z, auto y, auto x) { return from(z) + from(y) + from(x) < r2; });
        const auto rod = drawn(shape, [&](auto, auto y, auto x) { return from(y) + from(x) < r2; });
        for (const auto& value : {ball, rod}) {
            const auto found = squares(plain_call(shape, value));
            const std::uint32_t most = *std::max_element(found.begin(), found.end());
            for (std::size_t i = 0; i < found.size(); ++i) ASSERT_EQ(found[i], value[i] != 0 ? most : 0);
            EXPECT_GE(most, r2);
            EXPECT_LE(std::sqrt(most), std::sqrt(static_cast<double>(r2)) + 1);
        }
    }
}

/// Every cell of the larger ball has its radius; all other cells of the union have the smaller ball's radius.
TEST(ThicknessShapes, TwoBallsThatOverlap) {
    const shape_t shape{40, 40, 60};
    const auto in = [](auto z, auto y, auto x, int cx, int r2) {
        return square(z - 20) + square(y - 20) + square(x - cx) < r2;
    };
    const auto value =
        drawn(shape, [&](auto z, auto y, auto x) { return in(z, y, x, 20, 226) || in(z, y, x, 42, 82); });
    const auto found = squares(plain_call(shape, value));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i), z = k / 2400, y = k / 60 % 40, x = k % 60;
        const bool larger = in(z, y, x, 20, 226);
        ASSERT_TRUE(value[i] == 0 ? found[i] == 0 : larger ? found[i] >= 226 : found[i] >= 82 && found[i] < 226);
    }
}

TEST(ThicknessShapes, WedgeGrows) {
    const shape_t shape{41, 4, 60};
    const auto value = drawn(shape, [](auto z, auto, auto x) { return std::abs(z - 20) * 3 < x + 1; });
    const auto found = squares(plain_call(shape, value));
    for (std::size_t x = 1; x < 60; ++x) ASSERT_GE(found[20 * 240 + x], found[20 * 240 + x - 1]);
}

/// The tube's radius, up to the half diagonal of a cell by which centres and ends are off.
TEST(ThicknessShapes, Torus) {
    constexpr double ring = 22, tube = 8, off = 0.9;
    const shape_t shape{21, 65, 65};
    const auto apart = [&](auto z, auto y, auto x) {
        return std::hypot(std::hypot(y - 32, x - 32) - ring, static_cast<double>(z - 10));
    };
    const auto value = drawn(shape, [&](auto z, auto y, auto x) { return apart(z, y, x) < tube; });
    const auto found = squares(plain_call(shape, value));
    for (std::size_t i = 0; i < found.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const double radius = std::sqrt(found[i]);
        const bool inner = apart(k / 65 / 65, k / 65 % 65, k % 65) < tube - 2 * off;
        ASSERT_TRUE(radius <= tube + 1 && (!inner || radius >= tube - off)) << i << ": " << radius;
    }
}

TEST(ThicknessHost, LargerShapes) {
    for (const auto& [shape, radius, fill] :
         {std::tuple{shape_t{22, 24, 26}, 3, 0.7}, {shape_t{9, 70, 20}, 3, 0.8}, {shape_t{110, 100}, 6, 0.6}}) {
        thickness_call c = plain_call(shape, soft_shapes(shape, radius, fill, 7));
        c.threads = 2;
        ASSERT_EQ(check_thickness(thickness_on_host, c), "");
    }
    ASSERT_EQ(check_thickness(thickness_on_host, plain_call({18, 24, 24}, rough_plate(18, 24, 14))), "");
}

/// Tiles serve metrics whose squared radii fit 32 bits, and periodic axes. Balls go around short axes more than once.
TEST(ThicknessHost, TilesOfOtherMetrics) {
    const std::vector<counted_spacing> metrics = {{{1, 1, 1}, {1, 1, 1}, 1},
                                                  {{3, 1, 2}, {3, 1, 2}, 1},
                                                  {{0.7, 0.7, 2.5}, {7, 7, 25}, 0.01},
                                                  {{1, 60, 1}, {1, 60, 1}, 1}};
    std::size_t k = 0;
    for (const shape_t& shape : {shape_t{12, 14, 26}, shape_t{20, 3, 40}, shape_t{24, 40, 3}, shape_t{2, 50, 36}})
        for (const counted_spacing& metric : metrics)
            for (const int wraps : {0, 1, 2, 4, 7}) {
                ++k;
                thickness_call c = plain_call(shape, soft_shapes(shape, 3, 0.5 + 0.1 * static_cast<double>(k % 5), k));
                if (k % 4 == 0) std::fill(c.value.begin() + 1, c.value.end(), 1), c.value[0] = 0;
                c.cells = metric, c.threads = 1 + static_cast<int>(k % 3);
                for (std::size_t axis = 0; axis < 3; ++axis)
                    if ((wraps >> axis & 1) != 0) c.border[axis] = oracle::edge::periodic;
                c.squared.emplace(dtype::float64, shape, layout::tight);
                ASSERT_EQ(check_thickness(thickness_on_host, c), "") << "case " << k;
                const call_plan said = plan([&] { thickness_on_host(c); });
                ASSERT_EQ(said.passes.back().method, "crescents of balls, by tiles") << "case " << k;
            }
}

/// One background cell in a corner: radii reach the diagonal, beyond the table of contained balls.
TEST(ThicknessHost, LargeBalls) {
    std::vector<std::int64_t> line(30000, 1), image(300 * 300, 1);
    line[3] = image[0] = 0;
    const auto found = squares(plain_call({30000}, line));
    EXPECT_EQ(found[29999], 29996U * 29996U);
    EXPECT_EQ(found[4], 29996U * 29996U) << "inside the ball of the last cell";
    EXPECT_EQ(found[0], 9U);
    thickness_call c = plain_call({300, 300}, image);
    c.thickness.reset();
    const auto corner = squares(c);
    EXPECT_EQ(corner[300 * 300 - 1], 2U * 299 * 299);
    EXPECT_EQ(corner[1], 2U * 299 * 299);
}

/// Squared radii of such sizes exceed the integers of radii, and 2^53, where a double plus one is the same double.
TEST(ThicknessHost, SizesBeyondEveryBall) {
    thickness_call c = plain_call({20, 30}, soft_shapes({20, 30}, 3, 0.7, 2));
    for (const double size : {4e4, 1e5, 3e5, 1e9, 1e100}) {
        c.sizes = {2, size};
        ASSERT_EQ(check_thickness(thickness_on_host, c), "") << size;
    }
}

TEST(ThicknessHost, ThreadsDoNotShow) {
    for (std::uint64_t k = 1; k < 40; ++k) {
        thickness_call c = random_call(k);
        const auto with = [](int threads) {
            return [threads](thickness_call& call) { call.threads = threads, thickness_on_host(call); };
        };
        for (const int threads : {2, 3, 7}) ASSERT_EQ(differ(with(1), with(threads), c), "") << "case " << k;
    }
    thickness_call c = plain_call({70, 80, 90}, soft_shapes({70, 80, 90}, 5, 0.6, 3));
    ASSERT_EQ(differ([](auto& one) { one.threads = 1, thickness_on_host(one); },
                     [](auto& two) { two.threads = 5, thickness_on_host(two); }, c),
              "");
}

TEST(ThicknessHost, PeriodicIsTheMiddleOfATiling) {
    for (std::uint64_t k = 1; k <= 12; ++k) {
        const std::int64_t n = 5 + static_cast<std::int64_t>(k % 4), m = 6;
        thickness_call one = plain_call({n, m}, soft_shapes({n, m}, 1, 0.7, k));
        one.border = {oracle::edge::periodic, oracle::edge::periodic};
        std::vector<std::int64_t> tiled;
        for (std::int64_t y = 0; y < 5 * n; ++y)
            for (std::int64_t x = 0; x < 5 * m; ++x)
                tiled.push_back(one.value[static_cast<std::size_t>(y % n * m + x % m)]);
        const auto small = squares(one), large = squares(plain_call({5 * n, 5 * m}, tiled));
        for (std::int64_t y = 0; y < n; ++y)
            for (std::int64_t x = 0; x < m; ++x)
                ASSERT_EQ(small[static_cast<std::size_t>(y * m + x)],
                          large[static_cast<std::size_t>((2 * n + y) * 5 * m + 2 * m + x)]);
    }
}

TEST(ThicknessHost, LabelsAreALoop) {
    for (std::uint64_t k = 1; k <= 10; ++k) {
        const shape_t shape{9, 12, 14};
        thickness_call all = plain_call(shape, soft_shapes(shape, 1, 0.8, k));
        for (std::size_t i = 0; i < all.value.size(); ++i)
            all.value[i] *= 1 + static_cast<std::int64_t>(i / 3 % 14 / 5);
        all.multilabel = true;
        const auto together = squares(all);
        for (std::int64_t label = 1; label <= 3; ++label) {
            std::vector<std::int64_t> one;
            for (const auto v : all.value) one.push_back(v == label ? 1 : 0);
            const auto alone = squares(plain_call(shape, one));
            for (std::size_t i = 0; i < one.size(); ++i)
                if (one[i] != 0) {
                    ASSERT_EQ(together[i], alone[i]);
                }
        }
    }
}

/// Balls of one image that reach its ends stay out of the next one.
TEST(ThicknessHost, LargeBallsOfABatchAreALoop) {
    for (const shape_t& one : {shape_t{30, 34, 38}, shape_t{150, 160}}) {
        shape_t all = one;
        all.insert(all.begin(), 3);
        std::vector<std::int64_t> value;
        std::vector<std::uint32_t> wanted;
        for (std::uint64_t k = 0; k < 3; ++k) {
            const auto image = soft_shapes(one, 7, 0.8, k + 1);
            value.insert(value.end(), image.begin(), image.end());
            const auto alone = squares(plain_call(one, image));
            wanted.insert(wanted.end(), alone.begin(), alone.end());
        }
        EXPECT_GT(*std::max_element(wanted.begin(), wanted.end()), 100U);
        for (const int threads : {1, 3}) {
            thickness_call c = plain_call(all, value);
            c.batch_axes = 1, c.threads = threads;
            c.cells.spacing.pop_back(), c.cells.counts.pop_back(), c.border.pop_back();
            EXPECT_EQ(squares(c), wanted);
        }
    }
}

/// Diameters are roots of double, rounded once: roots of float are the same below 2^24 only.
TEST(ThicknessHost, DiametersAreRoundedOnce) {
    const shape_t shape{4, 5463};
    std::vector<std::uint8_t> mask(4 * 5463, 1);
    mask[0] = 0;
    constexpr double most2 = 5462.0 * 5462 + 3 * 3;
    EXPECT_NE(2 * std::sqrt(static_cast<float>(most2)), static_cast<float>(2 * std::sqrt(most2)));
    std::vector<float> made(mask.size());
    const auto image = any_input<host>::contiguous(static_cast<const void*>(mask.data()), dtype::uint8, shape);
    local_thickness(host{2}, image, {any_output<host>::contiguous(made.data(), dtype::float32, shape), {}});
    EXPECT_EQ(made.back(), static_cast<float>(2 * std::sqrt(most2)));
    EXPECT_EQ(made.front(), 0);
}

/// T2 is at least D2, is zero outside the shape, and equals union_of_balls of D2.
TEST(ThicknessHost, NeverBelowTheDistanceAndNeverOutside) {
    const shape_t shape{20, 21, 22};
    const thickness_call c = plain_call(shape, soft_shapes(shape, 3, 0.6, 11));
    const auto found = squares(c);
    std::vector<std::uint32_t> d2(found.size());
    std::vector<std::uint8_t> mask(c.value.begin(), c.value.end());
    const extent<3> e{20, 21, 22};
    squared_distance(host{1}, view<const std::uint8_t, 3, host>(mask.data(), e),
                     view<std::uint32_t, 3, host>(d2.data(), e));
    for (std::size_t i = 0; i < found.size(); ++i) ASSERT_TRUE(found[i] >= d2[i] && (found[i] > 0) == (mask[i] != 0));
    std::vector<std::uint32_t> balls(found.size());
    thickness_fields<host> out;
    out.squared = view<std::uint32_t, 3, host>(balls.data(), e);
    union_of_balls(host{2}, view<const std::uint32_t, 3, host>(d2.data(), e), out);
    EXPECT_EQ(balls, found);
}

}  // namespace
}  // namespace nearfield::test
