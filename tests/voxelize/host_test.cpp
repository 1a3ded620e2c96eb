// Meshes as cells, against sums of solid angles and against clipped triangles.
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "mesh/shapes.hpp"
#include "nearfield/voxelize.hpp"
#include "refused.hpp"
#include "scale.hpp"
#include "voxelize/edge_tree.hpp"

namespace nearfield::test {
namespace {

flags_t cells_of_mesh(const mesh& m, const mesh_grid& g, const voxelize_options& o, int threads = 2) {
    flags_t out(static_cast<std::size_t>(g.shape[0] * g.shape[1] * g.shape[2]), 7);
    voxelize(host{threads, {}}, m, g, any_output<host>::contiguous(out.data(), dtype::uint8, g.shape), o);
    return out;
}

/// Sum of the solid angles of all triangles, divided by 4 pi (Van Oosterom, Strackee 1983).
double winding_of(const mesh& m, point p) {
    double sum = 0;
    for (const auto& face : m.faces) {
        double v[3][3], length[3];
        for (std::size_t k = 0; k < 3; ++k) {
            for (std::size_t axis = 0; axis < 3; ++axis)
                v[k][axis] = m.vertices[static_cast<std::size_t>(face[k])][axis] - p[axis];
            length[k] = std::hypot(v[k][0], v[k][1], v[k][2]);
        }
        const auto dot = [&](int a, int b) { return v[a][0] * v[b][0] + v[a][1] * v[b][1] + v[a][2] * v[b][2]; };
        const double det = v[0][0] * (v[1][1] * v[2][2] - v[1][2] * v[2][1]) -
                           v[0][1] * (v[1][0] * v[2][2] - v[1][2] * v[2][0]) +
                           v[0][2] * (v[1][0] * v[2][1] - v[1][1] * v[2][0]);
        sum += 2 * std::atan2(det, length[0] * length[1] * length[2] + dot(0, 1) * length[2] + dot(1, 2) * length[0] +
                                       dot(2, 0) * length[1]);
    }
    return sum / (4 * std::numbers::pi);
}

template <class Check>
void for_each_cell(const mesh_grid& g, const Check& check) {
    std::size_t cell = 0;
    for (std::int64_t i = 0; i < g.shape[0]; ++i)
        for (std::int64_t j = 0; j < g.shape[1]; ++j)
            for (std::int64_t k = 0; k < g.shape[2]; ++k, ++cell)
                check(cell, point{g.origin[0] + g.pitch[0] * static_cast<double>(i),
                                  g.origin[1] + g.pitch[1] * static_cast<double>(j),
                                  g.origin[2] + g.pitch[2] * static_cast<double>(k)});
}

/// A few tetrahedra of either orientation, with corners on cell centres, so that every kind of tie occurs.
mesh random_solids(std::uint64_t seed, double step) {
    mesh made;
    const int count = 1 + static_cast<int>(mix(seed) % 3);
    for (int n = 0; n < count; ++n) {
        mesh one;
        for (std::uint64_t v = 0; v < 4; ++v) {
            point at{};
            for (std::size_t k = 0; k < 3; ++k)
                at[k] =
                    step * std::floor(7 / step * uniform(seed * 64 + 16 * static_cast<std::uint64_t>(n) + 4 * v + k));
            one.vertices.push_back(at);
        }
        one.faces = {{0, 2, 1}, {0, 1, 3}, {0, 3, 2}, {1, 2, 3}};
        append_mesh(made, one);
    }
    return made;
}

TEST(Voxelize, SolidsWithTies) {
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        const mesh m = random_solids(seed, seed % 2 == 0 ? 1 : 0.5);
        const mesh_grid g{{7, 8, 7}, {seed % 3 == 0 ? 1.0 : 0.0, 0, 0}, {1, 1, 1}};
        const flags_t parity = cells_of_mesh(m, g, {}), winding = cells_of_mesh(m, g, {true, false, true});
        for_each_cell(g, [&](std::size_t cell, point p) {
            // The point moves least along axis 1, more along axis 0, and most along axis 2.
            const double w = std::round(winding_of(m, {p[0] + 1e-6, p[1] + 1e-9, p[2] + 1e-3}));
            ASSERT_EQ(parity[cell] != 0, std::fmod(std::abs(w), 2) == 1) << seed << " cell " << cell;
            ASSERT_EQ(winding[cell] != 0, w != 0) << seed << " cell " << cell;
        });
    }
}

/// Triangles that share corners by place only are a closed mesh too.
TEST(Voxelize, TrianglesWithTheirOwnCorners) {
    const mesh_grid g{{7, 8, 7}, {}, {1, 1, 1}};
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
        const mesh m = seed % 2 == 0 ? random_solids(seed, 0.5) : sphere_mesh({3, 3.2, 3.1}, 2.5, 6, 7),
                   alone = scattered(m);
        EXPECT_EQ(measure_mesh(alone).open_edges, std::ssize(alone.vertices));
        for (const bool winding : {false, true})
            ASSERT_EQ(cells_of_mesh(alone, g, {true, false, winding}), cells_of_mesh(m, g, {true, false, winding}));
    }
}

TEST(Voxelize, OpenMeshes) {
    for (std::uint64_t seed = 0; seed < 12; ++seed) {
        mesh m = seed % 3 == 0 ? random_solids(seed + 50, 1) : sphere_mesh({3, 3.2, 3.1}, 2.5, 6, 7);
        for (std::uint64_t k = 0; k < 1 + seed % 3; ++k)
            m.faces.erase(m.faces.begin() + static_cast<std::ptrdiff_t>(mix(9 * seed + k) % m.faces.size()));
        if (seed % 4 == 1) m.faces.push_back(std::array(m.faces[0]));
        const mesh_grid g{{6, 7, 8}, {0.03, 0.01, -0.02}, {1, 1, 0.9}};
        expect_refused([&] { static_cast<void>(cells_of_mesh(m, g, {})); }, {"open edges", "winding"});
        const flags_t found = cells_of_mesh(m, g, {true, false, true});
        for_each_cell(g, [&](std::size_t cell, point p) {
            const double w = std::abs(winding_of(m, p));
            if (std::abs(w - 0.5) < 1e-4) return;
            ASSERT_EQ(found[cell] != 0, w > 0.5) << seed << " cell " << cell << " " << w;
        });
    }
}

/// Boxes of many cells are decided at once. Holes of all sizes lie at the top, below and aside.
TEST(Voxelize, OpenMeshesInLargerGrids) {
    for (std::uint64_t seed = 0; seed < share(2, 10); ++seed) {
        mesh m = seed % 2 == 0 ? sphere_mesh({17.2, 18.1, 30.3}, 14.6, 14, 16) : torus_mesh(12, 4, 20, 10);
        for (std::uint64_t k = 0; k < 1 + 3 * seed; ++k) {
            const auto first = static_cast<std::ptrdiff_t>(mix(99 * seed + k) % (m.faces.size() - 9));
            m.faces.erase(m.faces.begin() + first, m.faces.begin() + first + 1 + static_cast<std::ptrdiff_t>(k % 8));
        }
        const double left = seed % 2 == 0 ? 0.03 : -17;
        const mesh_grid g{{37, 35, 70}, {left, left + 0.01, left}, {1, 1, seed % 3 == 0 ? 0.5 : 0.9}};
        const flags_t found = cells_of_mesh(m, g, {true, false, true});
        for_each_cell(g, [&](std::size_t cell, point p) {
            if (cell % 11 != seed % 11) return;
            const double w = std::abs(winding_of(m, p));
            if (std::abs(w - 0.5) < 1e-5) return;
            ASSERT_EQ(found[cell] != 0, w > 0.5) << seed << " cell " << cell << " " << w;
        });
    }
}

/// Parts of chains count as straight edges, as far away as they differ by less than the bound that the sum tells.
TEST(Voxelize, ChainsOfOpenEdges) {
    int approximate = 0;
    for (std::uint64_t seed = 0; seed < share(3, 12); ++seed) {
        mesh m = seed % 2 == 0 ? sphere_mesh({17.2, 18.1, 30.3}, 14.6, 40, 44) : torus_mesh(12, 4, 60, 30);
        std::erase_if(m.faces, [&](const auto& face) {  // a few large holes, and single triangles
            const point& at = m.vertices[static_cast<std::size_t>(face[0])];
            return std::sin(at[0] + static_cast<double>(seed)) * std::sin(0.4 * at[1]) > 0.7 || mix(face[1]) % 50 == 0;
        });
        if (seed % 3 == 1) m.faces.push_back(std::array(m.faces[0]));
        const voxels::lattice l(m, {{60, 60, 60}, {-25, -25, -25}, {1, 0.8, 1.1}});
        ASSERT_GT(std::ssize(l.open), 40);
        const voxels::open_edges edges = voxels::edges_of(l);
        const voxels::edge_tree tree(edges);
        for (std::uint64_t k = 0; k < 400; ++k) {
            std::int64_t cell[3];
            for (std::uint64_t axis = 0; axis < 3; ++axis)
                cell[axis] = static_cast<std::int64_t>(mix(1200 * seed + 3 * k + axis) % 60) << l.shift;
            const auto turns = [](const voxels::open_edges::seen& of) {
                return static_cast<double>(of.sum.turns) + std::atan2(of.sum.im, of.sum.re) / (2 * std::numbers::pi);
            };
            const double whole = turns(edges.at(cell));
            for (const double allowed : {voxels::edge_tree::coarse, voxels::edge_tree::fine}) {
                const voxels::open_edges::seen found = tree.at(cell, 0, allowed);
                if (found.change >= 0.5) continue;  // not all nodes were added
                if (found.change > 0) ++approximate;
                ASSERT_NEAR(turns(found), whole, found.change + 1e-9) << seed << ' ' << k;
            }
        }
    }
    EXPECT_GT(approximate, 100);
}

/// True if a triangle, clipped by the six sides of a box, is not empty.
bool meets(const std::vector<point>& corners, point centre, double half) {
    std::vector<point> left = corners;
    for (std::size_t axis = 0; axis < 3; ++axis)
        for (const double way : {1.0, -1.0}) {
            std::vector<point> kept;
            const auto out = [&](const point& p) { return way * (p[axis] - centre[axis]) - half; };
            for (std::size_t k = 0; k < left.size(); ++k) {
                const point &a = left[k], &b = left[(k + 1) % left.size()];
                const double da = out(a), db = out(b);
                if (da <= 0) kept.push_back(a);
                if ((da < 0 && db > 0) || (da > 0 && db < 0)) {
                    point p{};
                    for (std::size_t c = 0; c < 3; ++c) p[c] = a[c] + (b[c] - a[c]) * (da / (da - db));
                    kept.push_back(p);
                }
            }
            left = kept;
        }
    return !left.empty();
}

TEST(Voxelize, Surfaces) {
    for (std::uint64_t seed = 0; seed < share(0, 300); ++seed) {
        mesh m = random_triangles(seed, 1 + static_cast<int>(seed % 3), seed % 7 == 0 ? 40 : 6);
        const mesh_grid g{{6, 7, 5}, {0.5, 0.25, 0}, {1, 1, 1}};
        const flags_t found = cells_of_mesh(m, g, {false, true, false});
        for_each_cell(g, [&](std::size_t cell, point p) {
            bool less = false, more = false;
            for (const auto& face : m.faces) {
                std::vector<point> corners;
                for (const std::int32_t v : face) corners.push_back(m.vertices[static_cast<std::size_t>(v)]);
                less = less || meets(corners, p, 0.5 - 1e-5), more = more || meets(corners, p, 0.5 + 1e-5);
            }
            ASSERT_TRUE((found[cell] != 0 || !less) && (found[cell] == 0 || more)) << seed << " cell " << cell;
        });
    }
}

/// A box whose sides lie on cell centres contains the lower ones but not the upper ones; closed cells touch both.
TEST(Voxelize, HalfOpenBox) {
    const mesh m = box_mesh({1, 1, 1}, {3, 4, 2});
    const mesh_grid g{{5, 6, 4}, {}, {1, 1, 1}};
    const flags_t inside = cells_of_mesh(m, g, {}), both = cells_of_mesh(m, g, {true, true});
    for_each_cell(g, [&](std::size_t cell, point p) {
        EXPECT_EQ(inside[cell] != 0, p[0] >= 1 && p[0] < 3 && p[1] >= 1 && p[1] < 4 && p[2] >= 1 && p[2] < 2);
        EXPECT_EQ(both[cell] != 0, p[0] >= 1 && p[0] <= 3 && p[1] >= 1 && p[1] <= 4 && p[2] >= 1 && p[2] <= 2);
    });
}

TEST(Voxelize, VolumesThreadsAndStrides) {
    const mesh m = torus_mesh(3, 1, 120, 60);
    const mesh_grid g = grid_around(m, 0.1, 2);
    EXPECT_EQ(g.shape, (std::array<std::int64_t, 3>{84, 84, 24}));
    EXPECT_NEAR(g.origin[2], -1.15, 1e-9);
    const flags_t one = cells_of_mesh(m, g, {}, 1);
    EXPECT_EQ(one, cells_of_mesh(m, g, {}, 3));
    EXPECT_EQ(one, cells_of_mesh(m, g, {true, false, true}, 2));
    double cells = 0;
    for (const std::uint8_t c : one) cells += c;
    EXPECT_NEAR(cells * 1e-3, measure_mesh(m).volume, 0.5);
    flags_t spread(2 * one.size(), 9);
    any_output<host> to = any_output<host>::contiguous(spread.data(), dtype::boolean, g.shape);
    for (std::int64_t& stride : to.stride) stride *= 2;
    voxelize(host{2, {}}, m, g, to);
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_TRUE(spread[2 * i] == one[i] && spread[2 * i + 1] == 9);
    EXPECT_EQ(grid_around(m, {20, 30, 12}, 1).pitch[0], 8.0 / 18);
    mesh more = m;
    more.vertices.push_back({1e6, -1e6, 0});  // no face has it
    EXPECT_EQ(grid_around(more, 0.1, 2), g);
    more.faces.clear();
    EXPECT_NEAR(grid_around(more, {22, 22, 3}, 1).pitch[0], (1e6 + 4) / 20, 1e-6);
}

TEST(Voxelize, Refusals) {
    const mesh m = box_mesh({0, 0, 0}, {1, 1, 1});
    expect_refused([&] { static_cast<void>(grid_around(m, 0)); }, {"pitch is 0"});
    expect_refused([&] { static_cast<void>(grid_around(m, 1e-9)); }, {"pitch", "larger"});
    expect_refused([&] { static_cast<void>(grid_around({}, 1)); }, {"no vertices"});
    expect_refused([&] { static_cast<void>(grid_around(m, {2, 3, 3})); }, {"axis 0 is 2"});
    const mesh_grid g{{2, 2, 2}, {}, {1, 1, 1}};
    const auto call = [&](const mesh& of, const mesh_grid& in, voxelize_options o = {}) {
        return [=] { static_cast<void>(cells_of_mesh(of, in, o)); };
    };
    expect_refused(call(m, g, {false, false}), {"neither solid nor surface"});
    expect_refused(call({{{0, NAN, 0}}, {}}, g), {"finite"});
    expect_refused(call(m, {{2, 2, 2}, {0, NAN, 0}, {1, 1, 1}}), {"origin"});
    expect_refused(call(m, {{2, 2, 2}, {}, {1, -1, 1}}), {"pitch"});
    expect_refused(call(m, {{2, 2, 2}, {1e9, 0, 0}, {1, 1, 1}}), {"cells from the origin"});
    std::uint8_t out[8];
    expect_refused([&] { voxelize(host{}, m, g, view<std::uint8_t, 1, host>{out, extent{8}}); }, {"out"});
    EXPECT_TRUE(cells_of_mesh({}, g, {}) == flags_t(8, 0));
}

}  // namespace
}  // namespace nearfield::test
