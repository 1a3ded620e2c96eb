// One line through all points: every point once, and no two steps that meet, by exact arithmetic.
#include "cli/tour.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <random>

namespace nearfield::cli {
namespace {

std::int64_t area(const point2& a, const point2& b, const point2& c) {
    const auto whole = [](double x) { return static_cast<std::int64_t>(x); };
    return whole(b[0] - a[0]) * whole(c[1] - a[1]) - whole(b[1] - a[1]) * whole(c[0] - a[0]);
}

/// Returns whether closed segments ab and cd have a point in common.
bool meet(const point2& a, const point2& b, const point2& c, const point2& d) {
    for (const std::size_t k : {std::size_t{0}, std::size_t{1}})
        if (std::max(a[k], b[k]) < std::min(c[k], d[k]) || std::max(c[k], d[k]) < std::min(a[k], b[k])) return false;
    const auto apart = [](std::int64_t s, std::int64_t t) { return (s > 0 && t > 0) || (s < 0 && t < 0); };
    return !apart(area(a, b, c), area(a, b, d)) && !apart(area(c, d, a), area(c, d, b));
}

void check_tour(const std::vector<point2>& points) {
    const std::vector<std::size_t> order = short_tour(points, along_curve(points, 1000, 1000));
    const std::size_t n = points.size();
    std::vector<std::size_t> sorted = order, all(n);
    std::sort(sorted.begin(), sorted.end()), std::iota(all.begin(), all.end(), std::size_t{0});
    ASSERT_EQ(sorted, all);
    for (std::size_t i = 0; i < n; ++i)
        for (std::size_t j = i + 2; j < n - (i == 0 ? 1 : 0); ++j)
            ASSERT_FALSE(meet(points[order[i]], points[order[i + 1]], points[order[j]], points[order[(j + 1) % n]]))
                << n << " points, steps " << i << " and " << j;
}

/// Dense and sparse regions, whose steps differ a hundredfold in length.
TEST(Tour, NoTwoStepsMeet) {
    std::mt19937 random(1);
    for (const unsigned dense : {40U, 900U})
        for (int trial = 0; trial < 2; ++trial) {
            std::vector<point2> points;
            std::vector<bool> taken(1000 * 1000);
            for (unsigned i = 0; i < dense + 200; ++i) {
                const std::uint_fast32_t side = i < dense ? 60 : 1000, from = i < dense / 2 ? 100 : i < dense ? 800 : 0;
                const std::uint_fast32_t x = from + random() % side, y = random() % side;
                if (!taken[y * 1000 + x]) points.push_back({static_cast<double>(x), static_cast<double>(y)});
                taken[y * 1000 + x] = true;
            }
            check_tour(points);
        }
}

/// Points of a grid, where steps lie on one line.
TEST(Tour, NoTwoStepsOfAGridMeet) {
    std::vector<point2> points;
    for (int i = 0; i < 24 * 24; ++i)
        if (i % 7 != 3) points.push_back({static_cast<double>(i % 24), static_cast<double>(i / 24)});
    check_tour(points);
}

TEST(Tour, FewPoints) {
    std::mt19937 random(2);
    for (std::size_t n = 1; n < 12; ++n)
        for (int trial = 0; trial < 100; ++trial) {
            std::vector<point2> points;
            for (std::size_t i = 0; i < n; ++i)
                points.push_back({static_cast<double>(i * i % 11), static_cast<double>(12 * (random() % 80) + i)});
            check_tour(points);
        }
}

}  // namespace
}  // namespace nearfield::cli
