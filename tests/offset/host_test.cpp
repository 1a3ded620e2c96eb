// Offsets of boxes and balls by formula, shells, and that answers are closed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "mesh/shapes.hpp"
#include "nearfield/mesh_distance.hpp"
#include "nearfield/offset.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

constexpr double pi = std::numbers::pi;

/// Steiner's formula: what is within d of a convex body.
double steiner(double volume, double area, double mean_width_term, double d) {
    return volume + area * d + mean_width_term * d * d + 4 * pi / 3 * d * d * d;
}

TEST(Offset, BoxBySteiner) {
    const mesh box = box_mesh({0, 0, 0}, {3, 4, 5});
    for (const offset_method method : {offset_method::exact, offset_method::voxels})
        for (const double d : {0.5, 1.0, -0.5, 0.0}) {
            offset_options o;
            o.pitch = 0.1, o.method = method;
            const offset_result r = offset(host{2, {}}, box, d, o);
            EXPECT_TRUE(measure_mesh(r.surface).closed);
            EXPECT_EQ(measure_mesh(r.surface).euler, 2);
            const double wanted = d >= 0 ? steiner(60, 94, pi * 12, d) : (3 + 2 * d) * (4 + 2 * d) * (5 + 2 * d);
            EXPECT_NEAR(measure_mesh(r.surface).volume, wanted,
                        (method == offset_method::exact ? 0.012 : 0.05) * wanted)
                << d;
        }
}

/// Every vertex lies where the distance is the one asked for, within the bound that is told.
TEST(Offset, ErrorBound) {
    mesh part = torus_mesh(3, 1, 40, 20);
    append_mesh(part, box_mesh({-1, -1, -0.5}, {1, 1, 0.5}));
    for (const double d : {0.7, -0.3}) {
        offset_options o;
        o.pitch = 0.15;
        const offset_result r = offset(host{2, {}}, part, d, o);
        ASSERT_TRUE(measure_mesh(r.surface).closed);
        double worst = 0;
        for (std::size_t i = 0; i < r.surface.faces.size(); i += 37) {
            point middle{};
            for (const std::int32_t v : r.surface.faces[i])
                for (std::size_t k = 0; k < 3; ++k) middle[k] += r.surface.vertices[static_cast<std::size_t>(v)][k] / 3;
            double distance = 0;
            mesh_distance(host{1, {}}, part, {{1, 1, 1}, middle, {1, 1, 1}},
                          {any_output<host>::contiguous(&distance, dtype::float64, shape_t{1, 1, 1}), {}});
            worst = std::max(worst, std::abs(distance - std::abs(d)));
        }
        EXPECT_LT(worst, r.error_bound);
        EXPECT_LT(worst, 0.5 * o.pitch);
    }
}

TEST(Offset, HollowAndVanishing) {
    const mesh ball = sphere_mesh({1, 2, 3}, 5, 40, 60);
    offset_options o;
    o.hollow = true, o.pitch = 0.2;
    const double whole = measure_mesh(ball).volume;
    for (const double d : {-1.0, 1.0}) {
        const offset_result r = offset(host{2, {}}, ball, d, o);
        EXPECT_TRUE(measure_mesh(r.surface).closed);
        EXPECT_EQ(measure_mesh(r.surface).euler, 4);
        EXPECT_NEAR(measure_mesh(r.surface).volume, std::abs(4 * pi / 3 * std::pow(5 + d, 3) - whole), 3) << d;
        mesh inside_out;
        append_mesh(inside_out, ball, true);
        const offset_result same = offset(host{2, {}}, inside_out, d, o);
        EXPECT_EQ(same.surface.vertices, r.surface.vertices);
        EXPECT_EQ(measure_mesh(same.surface).volume, measure_mesh(r.surface).volume);
    }
    o.hollow = false;
    const offset_result none = offset(host{2, {}}, ball, -6, o);
    EXPECT_TRUE(none.surface.faces.empty());
    mesh open = ball;
    open.faces.pop_back();
    expect_refused([&] { static_cast<void>(offset(host{}, open, 1, o)); }, {"open edges"});
    o.winding = o.hollow = true;
    const offset_result mended = offset(host{2, {}}, open, -1, o);
    EXPECT_TRUE(measure_mesh(mended.surface).closed);
    EXPECT_NEAR(measure_mesh(mended.surface).volume, whole - 4 * pi / 3 * 64, 5);
}

double dot(const point& a, const point& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; }
point along(const point& from, const point& by, double t) {
    return {from[0] + t * by[0], from[1] + t * by[1], from[2] + t * by[2]};
}
double between(const point& a, const point& b) { return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]); }

/// By the regions of the triangle's plane: Ericson, "Real-Time Collision Detection", 2005, 5.1.5.
double distance_from_triangle(const point& p, const point& a, const point& b, const point& c) {
    const point ab = along(b, a, -1), ac = along(c, a, -1), ap = along(p, a, -1), bp = along(p, b, -1),
                cp = along(p, c, -1), bc = along(c, b, -1);
    const double d1 = dot(ab, ap), d2 = dot(ac, ap), d3 = dot(ab, bp), d4 = dot(ac, bp), d5 = dot(ab, cp),
                 d6 = dot(ac, cp);
    if (d1 <= 0 && d2 <= 0) return between(p, a);
    if (d3 >= 0 && d4 <= d3) return between(p, b);
    if (d6 >= 0 && d5 <= d6) return between(p, c);
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) return between(p, along(a, ab, d1 / (d1 - d3)));
    if (vb <= 0 && d2 >= 0 && d6 <= 0) return between(p, along(a, ac, d2 / (d2 - d6)));
    if (va <= 0 && d4 >= d3 && d5 >= d6) return between(p, along(b, bc, (d4 - d3) / ((d4 - d3) + (d5 - d6))));
    return between(p, along(along(a, ab, vb / (va + vb + vc)), ac, vc / (va + vb + vc)));
}

/// Triangles with their own corners, and some without an area, are hollowed as the closed mesh that they make.
TEST(Offset, HollowOfTrianglesWithTheirOwnCorners) {
    const mesh box = box_mesh({0, 0, 0}, {4, 3, 3});
    mesh alone = scattered(box);
    alone.faces.push_back({0, 0, 1}), alone.faces.push_back({2, 5, 2});
    offset_options o;
    o.hollow = true, o.pitch = 0.2;
    const offset_result whole = offset(host{2, {}}, box, -0.6, o), parts = offset(host{2, {}}, alone, -0.6, o);
    EXPECT_EQ(parts.surface.vertices.size(), whole.surface.vertices.size());
    EXPECT_EQ(parts.surface.faces.size(), whole.surface.faces.size());
    const mesh_measures one = measure_mesh(whole.surface), other = measure_mesh(parts.surface);
    EXPECT_TRUE(other.closed);
    EXPECT_EQ(other.euler, one.euler);
    EXPECT_NEAR(other.volume, one.volume, 1e-9);
    mesh twice = box;
    twice.faces.insert(twice.faces.end(), box.faces.begin(), box.faces.end());
    expect_refused([&] { static_cast<void>(offset(host{2, {}}, twice, -0.6, o)); }, {"no inside", "winding"});
    o.winding = true;
    EXPECT_NEAR(measure_mesh(offset(host{2, {}}, twice, -0.6, o).surface).volume, one.volume, 1);
}

/// Of the first `split` vertices their distances from the faces of the others, and the other way round.
void expect_thickness(const offset_result& r, std::size_t split) {
    ASSERT_EQ(r.thickness.size(), r.surface.vertices.size());
    for (std::size_t i = 0; i < r.thickness.size(); i += i < 40 ? 1 : 23) {
        double least = INFINITY;
        for (const auto& face : r.surface.faces) {
            if ((static_cast<std::size_t>(face[0]) < split) == (i < split)) continue;
            const auto at = [&](std::size_t k) { return r.surface.vertices[static_cast<std::size_t>(face[k])]; };
            least = std::min(least, distance_from_triangle(r.surface.vertices[i], at(0), at(1), at(2)));
        }
        ASSERT_NEAR(r.thickness[i], least, 1e-12) << i;
    }
}

TEST(Offset, Thickness) {
    mesh part = torus_mesh(3, 1, 40, 20);
    append_mesh(part, box_mesh({-2, -2, 4}, {2, 2, 5.5}));
    append_mesh(part, box_mesh({-2, -2, 7}, {2, 2, 7.5}));  // too narrow to be hollow
    offset_options o;
    o.hollow = true, o.pitch = 0.15;
    for (const double d : {-0.5, 0.5}) {
        const offset_result r = offset(host{2, {}}, part, d, o);
        const std::size_t own = part.vertices.size(), all = r.surface.vertices.size();
        expect_thickness(r, d < 0 ? own : all - own);
        const auto [least, most] = std::minmax_element(r.thickness.begin(), r.thickness.end());
        EXPECT_GT(*least, 0.5 - r.error_bound);
        EXPECT_GT(*most, d < 0 ? 1.5 : 0.5);
        EXPECT_EQ(offset(host{1, {}}, part, d, o).thickness, r.thickness);
    }
    EXPECT_TRUE(offset(host{}, box_mesh({0, 0, 0}, {1, 1, 1}), -0.6, o).thickness.empty());
    o.hollow = false;
    EXPECT_TRUE(offset(host{}, part, 0.5, o).thickness.empty());
}

/// A slot narrower than twice the distance closes, and a following inset does not open it again: a closing.
TEST(Offset, UndercutCloses) {
    mesh part = box_mesh({0, 0, 0}, {10, 4, 4});
    mesh slot = box_mesh({4.5, 1, 1}, {5.5, 3, 3});
    append_mesh(part, slot, true);  // a cavity
    offset_options o;
    o.pitch = 0.125;
    const offset_result before = offset(host{2, {}}, part, 0, o), grown = offset(host{2, {}}, part, 0.75, o);
    EXPECT_EQ(measure_mesh(before.surface).euler, 4);
    EXPECT_EQ(measure_mesh(grown.surface).euler, 2);
    EXPECT_NEAR(measure_mesh(offset(host{2, {}}, grown.surface, -0.75, o).surface).volume, 160, 2);
}

TEST(Offset, Refusals) {
    const mesh box = box_mesh({0, 0, 0}, {1, 1, 1});
    offset_options o;
    expect_refused([&] { static_cast<void>(offset(host{}, box, NAN, o)); }, {"distance"});
    expect_refused([&] { static_cast<void>(offset(host{}, {}, 1, o)); }, {"no faces"});
    o.pitch = -1;
    expect_refused([&] { static_cast<void>(offset(host{}, box, 1, o)); }, {"pitch is -1"});
    o.pitch = 0.2, o.hollow = true;
    expect_refused([&] { static_cast<void>(offset(host{}, box, 0.3, o)); }, {"wall", "pitch"});
    o.pitch = 1e-12;
    expect_refused([&] { static_cast<void>(offset(host{}, box, 1, o)); }, {"pitch"});
}

}  // namespace
}  // namespace nearfield::test
