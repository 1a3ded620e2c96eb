// Distances to meshes: the nearest point of each triangle against long double, the field against a loop over all.
#include <gtest/gtest.h>

#include <cmath>

#include "mesh/shapes.hpp"
#include "mesh_distance/core.hpp"
#include "nearfield/mesh_distance.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

struct fields_of_mesh {
    std::vector<double> distance;
    std::vector<std::int32_t> triangle;
    friend bool operator==(const fields_of_mesh&, const fields_of_mesh&) = default;
};

fields_of_mesh solved(const mesh& m, const mesh_grid& g, const mesh_distance_options& o = {}, int threads = 2) {
    const auto cells = static_cast<std::size_t>(g.shape[0] * g.shape[1] * g.shape[2]);
    fields_of_mesh out{std::vector<double>(cells, 7), std::vector<std::int32_t>(cells, 7)};
    mesh_distance(host{threads, {}}, m, g,
                  {any_output<host>::contiguous(out.distance.data(), dtype::float64, g.shape),
                   any_output<host>::contiguous(out.triangle.data(), dtype::int32, g.shape)},
                  o);
    return out;
}

/// A loop over all triangles with the library's formula for one of them, scaled as the library says.
fields_of_mesh expected(const mesh& m, const mesh_grid& g, double most) {
    double largest = 0;
    for (const auto& v : m.vertices)
        for (const double x : v) largest = std::max(largest, std::abs(x));
    for (std::size_t k = 0; k < 3; ++k)
        largest = std::max({largest, std::abs(g.origin[k]) + g.pitch[k],
                            std::abs(g.origin[k] + g.pitch[k] * static_cast<double>(g.shape[k]))});
    const double scale = std::ldexp(1, -1 - std::ilogb(largest));
    std::vector<nearest_faces::triangle> all;
    for (const auto& face : m.faces) {
        double at[3][3];
        for (std::size_t c = 0; c < 3; ++c)
            for (std::size_t k = 0; k < 3; ++k) at[c][k] = m.vertices[static_cast<std::size_t>(face[c])][k] * scale;
        all.push_back(nearest_faces::triangle_of(at[0], at[1], at[2]));
    }
    fields_of_mesh out;
    double p[3];
    const auto place = [&](std::size_t k, std::int64_t i) {
        p[k] = (g.origin[k] + g.pitch[k] * static_cast<double>(i)) * scale;
    };
    for (std::int64_t i = 0; i < g.shape[0]; ++i)
        for (std::int64_t j = 0; j < g.shape[1]; ++j)
            for (std::int64_t k = 0; k < g.shape[2]; ++k) {
                place(0, i), place(1, j), place(2, k);
                double best = INFINITY;
                std::int32_t face = -1;
                for (std::size_t t = 0; t < all.size(); ++t)
                    if (const double f = nearest_faces::nearest_of(all[t], p[0], p[1], p[2]).squared; f < best)
                        best = f, face = static_cast<std::int32_t>(t);
                const bool far = !(std::sqrt(best) <= most * scale);
                out.distance.push_back(far ? INFINITY : std::sqrt(best) / scale),
                    out.triangle.push_back(far ? -1 : face);
            }
    return out;
}

/// Squared distance in long double: the plane's foot if it is inside all three sides, else the nearest side.
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
        mesh m;
        switch (seed % 6) {
            case 0: m = random_triangles(seed, 1 + static_cast<int>(mix(seed) % 40), 20); break;
            case 1: m = sphere_mesh({9, 9, 9}, 8, 12, 20); break;  // round the middle of the grid: all are near
            case 2: m = torus_mesh(6, 2, 20, 12); break;
            case 3: m = box_mesh({2, 3, 4}, {9, 12, 15}); break;  // ties at all edges
            case 4: m = random_triangles(seed, 30, 5e-3); break;
            default: m = sphere_mesh({5, 5, 5}, 3, 4, 150); break;  // slivers
        }
        if (seed % 5 == 4) append_mesh(m, m);  // every distance twice
        const mesh_grid g{{1 + static_cast<std::int64_t>(mix(seed) % 19), 18, seed % 4 == 0 ? 1 : 17},
                          {0, seed % 2 == 0 ? 0.0 : -3.3, 0},
                          {1, seed % 3 == 0 ? 1.0 : 0.7, 1}};
        mesh_distance_options o;
        if (seed % 7 == 3) o.max_distance = 2.5;
        const fields_of_mesh found = solved(m, g, o), wanted = expected(m, g, o.max_distance);
        ASSERT_EQ(found.triangle, wanted.triangle) << seed;
        ASSERT_EQ(found.distance, wanted.distance) << seed;
        ASSERT_EQ(found, solved(m, g, o, 1)) << seed;
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

TEST(MeshDistance, Refusals) {
    const mesh m = box_mesh({0, 0, 0}, {1, 1, 1});
    const mesh_grid g{{2, 2, 2}, {}, {1, 1, 1}};
    mesh_distance_options o;
    expect_refused([&] { mesh_distance(host{}, m, g, {}); }, {"no field"});
    expect_refused([&] { static_cast<void>(solved({}, g)); }, {"no faces"});
    o.max_distance = NAN;
    expect_refused([&] { static_cast<void>(solved(m, g, o)); }, {"max_distance"});
    mesh open = m;
    open.faces.pop_back();
    o.max_distance = 1, o.is_signed = true;
    expect_refused([&] { static_cast<void>(solved(open, g, o)); }, {"open edges"});
    expect_refused([&] { static_cast<void>(solved({{{1e300, 0, 0}}, {{0, 0, 0}}}, g)); }, {"lengths"});
    std::vector<float> out(8);
    expect_refused([&] { mesh_distance(host{}, m, g, {view<float, 1, host>{out.data(), extent{8}}, {}}); },
                   {"distance"});
}

}  // namespace
}  // namespace nearfield::test
