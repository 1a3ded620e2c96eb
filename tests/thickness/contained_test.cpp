// The first test of a centre, is_contained(): never true where a cell of the ball is left, true if there is one site.
#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "thickness/walk.hpp"

namespace nearfield::thickness {
namespace {

template <class N>
N between(const metric<N>& m, const std::int32_t (&a)[3], const std::int32_t (&b)[3]) {
    N d[3];
    for (int axis = 0; axis < 3; ++axis) d[axis] = static_cast<N>(a[axis] - b[axis]);
    if constexpr (std::is_floating_point_v<N>) return distance2(m, d);
    else return m.weight[0] * d[0] * d[0] + m.weight[1] * d[1] * d[1] + m.weight[2] * d[2] * d[2];
}

/// Returns whether the balls of the neighbours along the axes cover the ball of the cell in the middle of 3^3 cells.
template <class N>
bool is_covered(const std::vector<N>& field, const metric<N>& m) {
    constexpr std::int32_t far = 7, middle[3] = {1, 1, 1};
    for (std::int32_t z = 1 - far; z <= 1 + far; ++z)
        for (std::int32_t y = 1 - far; y <= 1 + far; ++y)
            for (std::int32_t x = 1 - far; x <= 1 + far; ++x) {
                const std::int32_t cell[3] = {z, y, x};
                if (between(m, cell, middle) >= field[13]) continue;
                bool found = false;
                for (const int apart : {-9, -3, -1, 1, 3, 9}) {
                    const int k = 13 + apart;
                    const std::int32_t at[3] = {k / 9, k / 3 % 3, k % 3};
                    found = found || (field[static_cast<std::size_t>(k)] > field[13] &&
                                      between(m, cell, at) < field[static_cast<std::size_t>(k)]);
                }
                if (!found) return false;
            }
    return true;
}

const double weights[][3] = {{1, 1, 1}, {2, 3, 5}, {1, 4, 9}};
const grid3 small{1, {3, 3, 3}, {false, false, false}};

template <class N>
void compare_random_fields(double factor) {
    std::mt19937 random(5);
    int contained = 0;
    for (int round = 0; round < 3000; ++round) {
        double w[3];
        for (int axis = 0; axis < 3; ++axis) w[axis] = weights[round % 3][axis] * factor;
        const metric<N> m = metric_of<N>(w);
        std::vector<N> field(27);
        field[13] = static_cast<N>(1 + static_cast<int>(random() % 40));
        for (std::size_t k = 0; k < 27; ++k)
            if (k != 13) field[k] = field[13] + static_cast<N>(random() % 12);
        const bool found = is_contained(centre_of(field.data(), small, 13), small, m);
        if (round % 3 == 0 && std::is_same_v<N, std::int32_t>) {
            const auto along = [&](std::size_t apart) {
                return static_cast<std::int32_t>(most(field[13 - apart], field[13 + apart]));
            };
            ASSERT_EQ(is_contained(static_cast<std::int32_t>(field[13]), along(9), along(3), along(1)), found) << round;
        }
        if (!found) continue;
        ++contained;
        ASSERT_TRUE(is_covered(field, m)) << round;
    }
    EXPECT_GT(contained, 300);
}

TEST(ThicknessContained, OnlyCoveredBalls) {
    compare_random_fields<std::int32_t>(1);
    compare_random_fields<std::int64_t>(1);
    compare_random_fields<double>(1.4142135623730951);
}

/// If there is one site, every ball is covered, except at the far ends of the grid.
template <class N>
void expect_of_one_site(double factor) {
    double w[3] = {2 * factor, 3 * factor, 5 * factor};
    const metric<N> m = metric_of<N>(w);
    const grid3 g{1, {6, 7, 8}, {false, false, false}};
    std::vector<N> field;
    for (std::int32_t i = 0; i < 336; ++i) {
        const std::int32_t cell[3] = {i / 56, i / 8 % 7, i % 8}, site[3] = {0, 0, 0};
        field.push_back(between(m, cell, site));
    }
    for (std::int64_t i = 1; i < 336; ++i) {
        const auto c = centre_of(field.data(), g, i);
        const bool inside = c.at[0] < 5 && c.at[1] < 6 && c.at[2] < 7;
        EXPECT_TRUE(!inside || is_contained(c, g, m)) << i;
    }
}

TEST(ThicknessContained, OfOneSite) {
    expect_of_one_site<std::int32_t>(1);
    expect_of_one_site<std::int64_t>(1);
    expect_of_one_site<double>(3.141592653589793);
}

}  // namespace
}  // namespace nearfield::thickness
