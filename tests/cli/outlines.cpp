// Distances to outlines, against formulas: shapes that overlap, touch, curve and repeat.
#include "cli/outlines.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace nearfield::cli {
namespace {

constexpr std::int64_t rows = 40, columns = 50;

std::vector<float> field_of(const outlines& o, bool down = false, bool across = false) {
    std::vector<float> made(rows * columns);
    o.write(made.data(), rows, columns, columns, down, across);
    return made;
}
void add_box(outlines& o, place low, place high, bool clockwise = true) {
    o.begin(low);
    o.line(clockwise ? place{low.y, high.x} : place{high.y, low.x}), o.line(high);
    o.line(clockwise ? place{high.y, low.x} : place{low.y, high.x}), o.line(low);
}
/// Distance to a box, positive inside.
double to_box(place low, place high, double y, double x) {
    const double dy = std::max(low.y - y, y - high.y), dx = std::max(low.x - x, x - high.x);
    return dy <= 0 && dx <= 0 ? -std::max(dy, dx) : -std::hypot(std::max(dy, 0.0), std::max(dx, 0.0));
}
template <class Formula>
void expect(const std::vector<float>& field, double within, const Formula& formula) {
    for (std::int64_t y = 0; y < rows; ++y)
        for (std::int64_t x = 0; x < columns; ++x)
            ASSERT_NEAR(field[static_cast<std::size_t>(y * columns + x)],
                        formula(static_cast<double>(y), static_cast<double>(x)), within)
                << y << ", " << x;
}

TEST(Outlines, BoxesThatOverlapOrTouchAreOneShape) {
    outlines touching, overlapping;
    add_box(touching, {10, 8}, {20.25, 25}), add_box(touching, {10, 25}, {20.25, 31.5});
    add_box(touching, {12, 11}, {18, 20});  // within the first one
    add_box(overlapping, {10, 8}, {20.25, 25}), add_box(overlapping, {10, 22.5}, {20.25, 31.5});
    for (const outlines& o : {touching, overlapping})
        expect(field_of(o), 1e-5, [](double y, double x) { return to_box({10, 8}, {20.25, 31.5}, y, x); });
}

TEST(Outlines, HolesTurnTheOtherWay) {
    outlines o;
    add_box(o, {5, 5}, {30, 40}), add_box(o, {12, 12.5}, {22, 30}, false);
    expect(field_of(o), 1e-5, [](double y, double x) {
        return std::min(to_box({5, 5}, {30, 40}, y, x), -to_box({12, 12.5}, {22, 30}, y, x));
    });
}

TEST(Outlines, ACrossOfTwoBars) {
    outlines o;
    add_box(o, {4, 20}, {36, 26}), add_box(o, {17, 6}, {23, 44});
    // Inside the crossing the nearest points are the four corners at which the bars meet.
    expect(field_of(o), 1e-5, [](double y, double x) {
        const double one = to_box({4, 20}, {36, 26}, y, x), two = to_box({17, 6}, {23, 44}, y, x);
        if (one < 0 || two < 0) return std::max(one, two);
        double corner = 1e9;
        for (const double cy : {17.0, 23.0})
            for (const double cx : {20.0, 26.0}) corner = std::min(corner, std::hypot(y - cy, x - cx));
        return corner;
    });
}

TEST(Outlines, CurvesKeepToACircle) {
    constexpr double radius = 14, bend = 0.5522847498;  // a cubic per quarter, off by 0.00027 radii
    outlines o;
    o.begin({20, 24 + radius});
    o.curve({20 + bend * radius, 24 + radius}, {20 + radius, 24 + bend * radius}, {20 + radius, 24});
    o.curve({20 + radius, 24 - bend * radius}, {20 + bend * radius, 24 - radius}, {20, 24 - radius});
    o.curve({20 - bend * radius, 24 - radius}, {20 - radius, 24 - bend * radius}, {20 - radius, 24});
    o.curve({20 - radius, 24 + bend * radius}, {20 - bend * radius, 24 + radius}, {20, 24 + radius});
    expect(field_of(o), 0.005, [](double y, double x) { return radius - std::hypot(y - 20, x - 24); });
    outlines parabola;  // 40 y = x^2, closed by the line y = 10
    parabola.begin({10, 20}), parabola.curve({-10, 0}, {10, -20}), parabola.line({10, 20});
    const std::vector<float> field = field_of(parabola);
    EXPECT_NEAR(field[0], 0, 1e-3);
    EXPECT_NEAR(field[5 * columns], 5, 1e-3);
}

TEST(Outlines, PicturesThatRepeat) {
    outlines o;
    add_box(o, {3, 4}, {9, 12});
    expect(field_of(o, true, true), 1e-5, [](double y, double x) {
        double most = -std::numeric_limits<double>::infinity();
        for (const double dy : {-40.0, 0.0, 40.0})
            for (const double dx : {-50.0, 0.0, 50.0}) most = std::max(most, to_box({3, 4}, {9, 12}, y + dy, x + dx));
        return most;
    });
    const std::vector<float> down = field_of(o, true);
    EXPECT_EQ(down[39 * columns + 8], -4);
    EXPECT_NEAR(down[6 * columns + 49], -37, 1e-5);
    for (const float none : field_of({})) EXPECT_EQ(none, -std::numeric_limits<float>::infinity());
}

}  // namespace
}  // namespace nearfield::cli
