// Surfaces of random and of smooth fields: closed, with the right volume, genus and orientation.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>

#include "isosurface/core.hpp"
#include "isosurface/fields.hpp"
#include "mesh/shapes.hpp"
#include "nearfield/isosurface.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

using isosurfaces::table;

/// For every entry of the table, with three values a corner: the part that is cut off a cell lies on the right side.
TEST(Isosurface, Table) {
    for (int cell = 0; cell < 256; ++cell) {
        const auto& p = table[static_cast<std::size_t>(cell)];
        int crossed = 0, corners = 0;
        for (int axis = 0; axis < 3; ++axis)
            for (int c = 0; c < 8; ++c)
                if ((c & isosurfaces::bit_of(axis)) == 0)
                    crossed += (cell >> c & 1) != (cell >> (c | isosurfaces::bit_of(axis)) & 1) ? 1 : 0;
        for (std::size_t k = 0; k < static_cast<std::size_t>(p.count); ++k) corners += p.size[k];
        EXPECT_EQ(crossed, corners) << cell;
        EXPECT_EQ(p.triangles, corners - 2 * p.count) << cell;
    }
    EXPECT_EQ(table[1].edge[0], 0);  // one corner: its edges along axes 0, 1, 2, seen from outside
    EXPECT_EQ(table[1].edge[1], 8);
    EXPECT_EQ(table[1].edge[2], 16);
}

mesh surface(const std::vector<float>& field, const shape_t& shape, double level, const isosurface_options& o,
             int threads = 2) {
    return isosurface(host{threads, {}}, any_input<host>::contiguous(field.data(), dtype::float32, shape), level, o);
}

/// The surface of any field is closed; it encloses the inside nodes and no others.
TEST(Isosurface, RandomFieldsAreClosed) {
    for (std::uint64_t seed = 0; seed < share(0, 150); ++seed) {
        const shape_t shape = {1 + static_cast<std::int64_t>(mix(seed) % 7), 6, seed % 5 == 0 ? 1 : 7};
        std::vector<float> field = random_field(shape, seed, seed % 2 == 0 ? 2 : 5);
        if (seed % 3 == 0) field[field.size() / 2] = INFINITY, field[0] = NAN;
        isosurface_options o;
        o.closed = true, o.inside_below = seed % 4 == 1;
        const double level = seed % 2 == 0 ? 0.5 : 2;  // 2 is the value of some nodes
        const mesh m = surface(field, shape, level, o);
        std::vector<std::uint8_t> inside(field.size());
        std::int64_t count = 0;
        for (std::size_t i = 0; i < field.size(); ++i)
            count += inside[i] = o.inside_below ? field[i] < level : field[i] > level;
        const mesh_measures is = measure_mesh(m);
        ASSERT_EQ(is.closed, count > 0) << seed;
        // Faces separate diagonal inside corners, so bodies are components by steps along axes, however they touch.
        if (seed % 2 == 0 && seed % 3 != 0) {
            ASSERT_GT(is.volume, 0.15 * static_cast<double>(count)) << seed;
            ASSERT_LT(is.volume, static_cast<double>(count) + 1e-9) << seed;
        }
        ASSERT_EQ(m, surface(field, shape, level, o, 1)) << seed;
        ASSERT_EQ(static_cast<std::int64_t>(m.faces.size()),
                  2 * (static_cast<std::int64_t>(m.vertices.size()) - is.euler))
            << seed;
    }
}

std::vector<float> sampled(const shape_t& shape, const std::function<double(double, double, double)>& of) {
    std::vector<float> field;
    for (std::int64_t i = 0; i < shape[0]; ++i)
        for (std::int64_t j = 0; j < shape[1]; ++j)
            for (std::int64_t k = 0; k < shape[2]; ++k)
                field.push_back(
                    static_cast<float>(of(static_cast<double>(i), static_cast<double>(j), static_cast<double>(k))));
    return field;
}

/// Vertices in cells instead of on edges, of the same surface: closed, with the same Euler number.
TEST(Isosurface, DualSurfacesAreClosed) {
    isosurface_options o;
    o.closed = true;
    for (std::uint64_t seed = 0; seed < share(0, 100); ++seed) {
        const shape_t shape = {2 + static_cast<std::int64_t>(mix(seed) % 7), 7, 8};
        const std::vector<float> field = random_field(shape, seed + 1000, 2 + static_cast<int>(seed % 3));
        o.method = isosurface_method::marching_cubes;
        const mesh_measures wanted = measure_mesh(surface(field, shape, 0.5, o));
        o.method = isosurface_method::dual_contouring;
        const mesh m = surface(field, shape, 0.5, o);
        const mesh_measures is = measure_mesh(m);
        ASSERT_TRUE(is.closed) << seed;
        ASSERT_EQ(is.euler, wanted.euler) << seed;
        ASSERT_EQ(is.volume > 0, wanted.volume > 0);
        ASSERT_EQ(m, surface(field, shape, 0.5, o, 1));
    }
}

/// The distance field of a box: its corners become vertices, its faces stay flat.
TEST(Isosurface, DualKeepsEdges) {
    const shape_t shape = {20, 21, 22};
    const auto box = sampled(shape, [](double x, double y, double z) {
        const double d[] = {std::abs(x - 9.6) - 5.3, std::abs(y - 10.2) - 6.1, std::abs(z - 10.9) - 7.4};
        const double inside = std::max({d[0], d[1], d[2]});
        return inside < 0 ? inside : std::hypot(std::max(d[0], 0.0), std::max(d[1], 0.0), std::max(d[2], 0.0));
    });
    isosurface_options o;
    o.inside_below = true, o.method = isosurface_method::dual_contouring;
    const mesh m = surface(box, shape, -0.5, o);
    EXPECT_TRUE(measure_mesh(m).closed);
    EXPECT_NEAR(measure_mesh(m).volume, 9.6 * 11.2 * 13.8, 2);
    double nearest = 9;
    for (const point& v : m.vertices)
        nearest = std::min(nearest, std::hypot(v[0] - 9.6 - 4.8, v[1] - 10.2 - 5.6, v[2] - 10.9 - 6.9));
    EXPECT_LT(nearest, 0.15);
    o.method = isosurface_method::marching_cubes;
    EXPECT_LT(measure_mesh(surface(box, shape, -0.5, o)).volume, measure_mesh(m).volume - 2);
}

TEST(Isosurface, BallAndTorusByFormula) {
    const shape_t shape = {40, 42, 44};
    isosurface_options o;
    o.origin = {-5, 1, 2}, o.spacing = {0.5, 0.5, 0.5}, o.inside_below = true;
    const auto ball =
        sampled(shape, [](double x, double y, double z) { return std::hypot(x - 20, y - 21, z - 22) / 2; });
    const mesh m = surface(ball, shape, 7, o);
    const mesh_measures is = measure_mesh(m);
    EXPECT_TRUE(is.closed);
    EXPECT_EQ(is.euler, 2);
    EXPECT_NEAR(is.volume, 4 * std::numbers::pi * 343 / 3, 5);
    EXPECT_NEAR(is.area, 4 * std::numbers::pi * 49, 2);
    for (const point& v : m.vertices) ASSERT_NEAR(std::hypot(v[0] - 5, v[1] - 11.5, v[2] - 13), 7, 5e-3);
    const auto ring = sampled(
        shape, [](double x, double y, double z) { return std::hypot(std::hypot(x - 20, y - 21) - 12, z - 22) / 2; });
    const mesh_measures torus = measure_mesh(surface(ring, shape, 2.5, o));
    EXPECT_TRUE(torus.closed);
    EXPECT_EQ(torus.euler, 0);
    EXPECT_NEAR(torus.volume, 2 * std::numbers::pi * std::numbers::pi * 6 * 6.25, 8);
    o.inside_below = false;
    EXPECT_NEAR(measure_mesh(surface(ball, shape, 7, o)).volume, -is.volume, 0.02);
    o.closed = true;
    EXPECT_NEAR(measure_mesh(surface(ball, shape, 7, o)).volume, 20 * 21 * 22 - is.volume, 60);
}

TEST(Isosurface, TypesStridesAndOpenEnds) {
    const shape_t shape = {9, 8, 7};
    const std::vector<float> field = random_field(shape, 5, 9);
    const mesh wanted = surface(field, shape, 4.5, {});
    EXPECT_FALSE(measure_mesh(wanted).closed);
    std::vector<std::int16_t> other(field.size() * 2, 99);
    for (std::size_t i = 0; i < field.size(); ++i) other[2 * i] = static_cast<std::int16_t>(field[i]);
    any_input<host> in = any_input<host>::contiguous(other.data(), dtype::int16, shape);
    for (std::int64_t& stride : in.stride) stride *= 2;
    EXPECT_EQ(isosurface(host{3, {}}, in, 4.5), wanted);
    EXPECT_TRUE(surface(field, shape, 100, {}).faces.empty());
    EXPECT_TRUE(surface({}, {0, 5, 5}, 1, {}).vertices.empty());
}

TEST(Isosurface, Refusals) {
    const std::vector<float> field(8);
    const shape_t shape = {2, 2, 2};
    isosurface_options o;
    o.spacing[1] = 0;
    expect_refused([&] { static_cast<void>(surface(field, shape, 0, o)); }, {"spacing along axis 1"});
    o.spacing[1] = 1, o.origin[2] = NAN;
    expect_refused([&] { static_cast<void>(surface(field, shape, 0, o)); }, {"origin along axis 2"});
    expect_refused([&] { static_cast<void>(surface(field, shape, NAN, {})); }, {"level"});
    expect_refused([&] { static_cast<void>(surface(field, {8}, 0, {})); }, {"1 axes"});
}

}  // namespace
}  // namespace nearfield::test
