// Distances to meshes: the nearest point of each triangle against long double, the field against a loop over all.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "mesh_distance/blocks.hpp"
#include "mesh_distance/cases.hpp"
#include "mesh_distance/core.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

fields_of_mesh solved(const mesh& m, const mesh_grid& g, const mesh_distance_options& o = {}, int threads = 2) {
    const auto cells = static_cast<std::size_t>(g.shape[0] * g.shape[1] * g.shape[2]);
    fields_of_mesh out{std::vector<double>(cells, 7), std::vector<std::int32_t>(cells, 7)};
    mesh_distance(host{threads, {}}, m, g,
                  {any_output<host>::contiguous(out.distance.data(), dtype::float64, g.shape),
                   any_output<host>::contiguous(out.triangle.data(), dtype::int32, g.shape)},
                  o);
    return out;
}

/// Squared distance in long double: to the foot in the plane if it is inside all three sides, else to a side.
long double distance_of(const point (&v)[3], point p) {
    using vec = std::array<long double, 3>;
    const auto minus = [](const point& a, const point& b) {
        return vec{(long double)a[0] - b[0], (long double)a[1] - b[1], (long double)a[2] - b[2]};
    };
    const auto dot = [](const vec& a, const vec& b) { return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]; };
    const auto cross = [](const vec& a, const vec& b) {
        return vec{a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]};
    };
    const vec n = cross(minus(v[1], v[0]), minus(v[2], v[0]));
    long double least = INFINITY;
    bool inside = dot(n, n) > 0;
    for (std::size_t k = 0; k < 3; ++k) {
        const vec side = minus(v[(k + 1) % 3], v[k]), to = minus(p, v[k]);
        const long double length2 = dot(side, side);
        const long double t = length2 > 0 ? std::clamp(dot(side, to) / length2, 0.0L, 1.0L) : 0.0L;
        const vec rest = {to[0] - t * side[0], to[1] - t * side[1], to[2] - t * side[2]};
        least = std::min(least, dot(rest, rest));
        inside = inside && dot(cross(side, to), n) >= 0;
    }
    const long double height = dot(n, minus(p, v[0]));
    return std::sqrt(inside ? height * height / dot(n, n) : least);
}

TEST(MeshDistance, OneTriangle) {
    for (std::uint64_t seed = 0; seed < share(0, 20000); ++seed) {
        point v[3], p{};
        const double thin = seed % 3 == 0 ? 1 : std::ldexp(1, -static_cast<int>(mix(seed) % 40));
        for (std::size_t k = 0; k < 3; ++k) {
            v[0][k] = uniform(16 * seed + k) - 0.5, v[1][k] = uniform(16 * seed + k + 3) - 0.5;
            v[2][k] = (v[0][k] + v[1][k]) / 2 + thin * (uniform(16 * seed + k + 6) - 0.5);
            p[k] = (seed % 2 == 0 ? 1 : 0.01) * (uniform(16 * seed + k + 9) - 0.5);
        }
        const auto t = nearest_faces::triangle_of(v[0].data(), v[1].data(), v[2].data());
        const auto n = nearest_faces::nearest_of(t, p[0], p[1], p[2]);
        const auto truth = static_cast<double>(distance_of(v, p));
        ASSERT_GE(std::sqrt(n.squared), truth - nearest_faces::slack / 8) << seed;
        ASSERT_LE(std::sqrt(n.squared), truth + nearest_faces::slack / 8 + t.loss) << seed;
        if (thin == 1 && t.loss < 1e-11) {
            ASSERT_LT(t.loss, 1e-11);
            ASSERT_LE(std::sqrt(n.squared), truth + 1e-14) << seed;
        }
    }
}

TEST(MeshDistance, EveryCellEqualsTheLoop) {
    for (std::uint64_t seed = 0; seed < 42; ++seed) {
        const auto [m, g, o] = mesh_case_of(seed);
        const fields_of_mesh found = solved(m, g, o), wanted = expected(m, g, o.max_distance);
        ASSERT_EQ(found.triangle, wanted.triangle) << seed;
        ASSERT_EQ(found.distance, wanted.distance) << seed;
        ASSERT_EQ(found, solved(m, g, o, 1)) << seed;
    }
}

TEST(MeshDistance, CrowdedMeshesEqualTheLoop) {
    for (const auto& [m, g, o] : crowded_cases()) {
        const fields_of_mesh found = solved(m, g, o), wanted = expected(m, g, o.max_distance);
        ASSERT_EQ(found.triangle, wanted.triangle) << m.faces.size();
        ASSERT_EQ(found.distance, wanted.distance) << m.faces.size();
    }
}

/// Beyond the tip of a cone all faces are equally near, so the first one is the answer.
TEST(MeshDistance, FirstFaceBeyondATip) {
    for (const auto& [m, g, o] : crowded_cases()) {
        if (m.vertices[0][2] != 11 || m.vertices[1][2] != 2) continue;
        const fields_of_mesh found = solved(m, g, o);
        const auto cell = [&](std::int64_t i, std::int64_t j, std::int64_t k) {
            return static_cast<std::size_t>((i * g.shape[1] + j) * g.shape[2] + k);
        };
        for (std::int64_t k = 16; k < 33; ++k) {
            ASSERT_EQ(found.triangle[cell(11, 12, k)], 0) << m.faces.size();
            ASSERT_EQ(found.triangle[cell(10, 13, k)], 0) << m.faces.size();
        }
    }
}

TEST(MeshDistance, DistinctTriangles) {
    for (const int copies : {1, 2, 7}) {
        mesh m;
        for (int i = 0; i < copies; ++i) append_mesh(m, random_triangles(5, 40, 3));
        const auto triangles = nearest_faces::triangles_of(m, 0x1p-8);
        const std::vector<std::int32_t> found = nearest_faces::distinct(triangles);
        ASSERT_EQ(found.size(), 40);
        for (std::size_t i = 0; i < 40; ++i) ASSERT_EQ(found[i], static_cast<std::int32_t>(i));
    }
}

TEST(MeshDistance, BallByFormula) {
    const mesh m = sphere_mesh({0, 0, 0}, 10, 60, 90);
    const mesh_grid g{{40, 40, 40}, {-19.5, -19.5, -19.5}, {1, 1, 1}};
    mesh_distance_options o;
    o.is_signed = true;
    const fields_of_mesh found = solved(m, g, o);
    std::size_t cell = 0;
    for (double x = -19.5; x < 20; ++x)
        for (double y = -19.5; y < 20; ++y)
            for (double z = -19.5; z < 20; ++z, ++cell)
                ASSERT_NEAR(found.distance[cell], std::hypot(x, y, z) - 10, 3e-2) << cell;
    o.max_distance = 1;
    const fields_of_mesh band = solved(m, g, o);
    for (cell = 0; cell < found.distance.size(); ++cell) {
        const bool near = std::abs(found.distance[cell]) <= 1;
        ASSERT_EQ(band.distance[cell], near ? found.distance[cell] : std::copysign(INFINITY, found.distance[cell]));
        ASSERT_EQ(band.triangle[cell], near ? found.triangle[cell] : -1);
    }
}

TEST(MeshDistance, FloatAndStrides) {
    const mesh m = torus_mesh(6, 2, 20, 12);
    const mesh_grid g{{9, 8, 7}, {-4, -4, -3}, {1, 1, 1}};
    mesh_distance_options o;
    o.is_signed = o.winding = true;
    const fields_of_mesh wanted = solved(m, g, o);
    std::vector<float> spread(wanted.distance.size() * 3, 5);
    any_output<host> to = any_output<host>::contiguous(spread.data(), dtype::float32, g.shape);
    for (std::int64_t& stride : to.stride) stride *= 3;
    mesh_distance(host{1, {}}, m, g, {to, {}}, o);
    for (std::size_t i = 0; i < wanted.distance.size(); ++i)
        ASSERT_TRUE(spread[3 * i] == static_cast<float>(wanted.distance[i]) && spread[3 * i + 1] == 5);
}

/// Samples are exact within two diagonals of a cell, else at most one diagonal too large, for the reported triangle.
TEST(MeshDistance, SamplesKeepTheirBound) {
    double worst = 0;
    const std::uint64_t seeds = test_scale() < 0.1 ? 6 : 24;  // all kinds of meshes
    for (std::uint64_t seed = 0; seed < seeds; ++seed) {
        const auto [m, g, o] = sampled_case_of(seed);
        const fields_of_mesh found = solved(m, g, o), wanted = expected(m, g, INFINITY);
        ASSERT_EQ(found, solved(m, g, o, 1)) << seed;
        const double diagonal = std::hypot(g.pitch[0], g.pitch[1], g.pitch[2]);
        for (std::size_t i = 0; i < found.distance.size(); ++i) {
            const double truth = wanted.distance[i];
            if (found.triangle[i] < 0) {
                ASSERT_TRUE(found.distance[i] == INFINITY && truth > o.max_distance - diagonal) << seed << ' ' << i;
                continue;
            }
            ASSERT_TRUE(found.distance[i] >= truth && found.distance[i] <= o.max_distance) << seed << ' ' << i;
            ASSERT_LE(found.distance[i], truth + diagonal * (1 + 1e-9)) << seed << ' ' << i;
            worst = std::max(worst, (found.distance[i] - truth) / diagonal);
            if (truth > 2 * diagonal) continue;
            ASSERT_EQ(found.distance[i], truth) << seed << ' ' << i;
            ASSERT_EQ(found.triangle[i], wanted.triangle[i]) << seed << ' ' << i;
        }
    }
    ASSERT_GT(worst, 0.3);  // some cases come close to the bound
}

TEST(MeshDistance, SamplesTellTheirTriangle) {
    auto [m, g, o] = sampled_case_of(1);
    const fields_of_mesh found = solved(m, g, o);
    for (std::size_t i = 0; i < found.distance.size(); i += 7) {
        const auto n = static_cast<std::int64_t>(i);
        const mesh_grid cell{{1, 1, 1},
                             {g.origin[0] + g.pitch[0] * static_cast<double>(n / (g.shape[1] * g.shape[2])),
                              g.origin[1] + g.pitch[1] * static_cast<double>(n / g.shape[2] % g.shape[1]),
                              g.origin[2] + g.pitch[2] * static_cast<double>(n % g.shape[2])},
                             g.pitch};
        const mesh one{m.vertices, {m.faces[static_cast<std::size_t>(found.triangle[i])]}};
        ASSERT_NEAR(found.distance[i], expected(one, cell, INFINITY).distance[0], 1e-12) << i;
    }
    mesh_distance_options is_signed = o;
    is_signed.is_signed = true;
    const mesh ball = sphere_mesh({9, 9, 9}, 8, 12, 20);
    const mesh_grid round = grid_around(ball, 1, 9);
    const fields_of_mesh plain = solved(ball, round, o), inward = solved(ball, round, is_signed);
    ASSERT_EQ(inward.triangle, plain.triangle);
    ASSERT_LT(*std::min_element(inward.distance.begin(), inward.distance.end()), -7);
    for (std::size_t i = 0; i < plain.distance.size(); ++i)
        ASSERT_EQ(std::abs(inward.distance[i]), plain.distance[i]) << i;
}

TEST(MeshDistance, Refusals) {
    const mesh m = box_mesh({0, 0, 0}, {1, 1, 1});
    const mesh_grid g{{2, 2, 2}, {}, {1, 1, 1}};
    mesh_distance_options o;
    expect_refused([&] { mesh_distance(host{}, m, g, {}); }, {"no field"});
    expect_refused([&] { static_cast<void>(solved({}, g)); }, {"no faces"});
    o.samples = true;
    expect_refused([&] { static_cast<void>(solved(m, {{2, 1, 2}, {0, 1.6, 0}, {1, 1, 1}}, o)); },
                   {"axis 1", "samples"});
    o.samples = false, o.max_distance = NAN;
    expect_refused([&] { static_cast<void>(solved(m, g, o)); }, {"max_distance"});
    mesh open = m;
    open.faces.pop_back();
    o.max_distance = 1, o.is_signed = true;
    expect_refused([&] { static_cast<void>(solved(open, g, o)); }, {"open edges"});
    expect_refused([&] { static_cast<void>(solved({{{1e300, 0, 0}}, {{0, 0, 0}}}, g)); }, {"lengths"});
    expect_refused([&] { static_cast<void>(solved({{{1e30, 0, 0}}, {{0, 0, 0}}}, g)); }, {"1e+30", "2^40 cells"});
    std::vector<float> out(8);
    expect_refused([&] { mesh_distance(host{}, m, g, {view<float, 1, host>{out.data(), extent{8}}, {}}); },
                   {"distance"});
}

}  // namespace
}  // namespace nearfield::test
