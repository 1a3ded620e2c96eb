// Distances to meshes on a GPU equal the host's bits, and a loop over all triangles.
#include "mesh/on_device.hpp"
#include "mesh_distance/cases.hpp"
#include "mesh_distance/device_room.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

using MeshDistanceDevice = MeshOnDevice;

fields_of_mesh on_device(const mesh_case& c, std::int64_t room = -1, bool graph = false) {
    static const stream on;
    const device place(on.get());
    const device_mesh m(place, c.of);
    const filled_on_device<double> distance(c.grid.shape, dtype::float64);
    const filled_on_device<std::int32_t> triangle(c.grid.shape, dtype::int32);
    const mesh_fields<device> out{distance.out(), triangle.out()};
    const auto start = [&] {
        if (room < 0) return mesh_distance(place, m, c.grid, out, c.options);
        auto p = nearest_faces::problem_of(m.inside(), c.grid, out, c.options);
        p.room = room;
        nearest_faces::run(place, m.inside(), p);
    };
    if (graph) {
        const recorded work(start, on);
        work.replay(), work.replay();
        on.wait();
    } else {
        start();
    }
    return {distance.read(on), triangle.read(on)};
}

fields_of_mesh on_host(const mesh_case& c) {
    const auto cells = static_cast<std::size_t>(c.grid.shape[0] * c.grid.shape[1] * c.grid.shape[2]);
    fields_of_mesh out{std::vector<double>(cells, 7), std::vector<std::int32_t>(cells, 7)};
    mesh_distance(host{2, {}}, c.of, c.grid,
                  {any_output<host>::contiguous(out.distance.data(), dtype::float64, c.grid.shape),
                   any_output<host>::contiguous(out.triangle.data(), dtype::int32, c.grid.shape)},
                  c.options);
    return out;
}

TEST_F(MeshDistanceDevice, EveryCellEqualsTheLoop) {
    for (std::uint64_t seed = 0; seed < share(0, 42); ++seed) {
        const mesh_case c = mesh_case_of(seed);
        const fields_of_mesh found = on_device(c), wanted = expected(c.of, c.grid, c.options.max_distance);
        ASSERT_EQ(found.triangle, wanted.triangle) << seed;
        ASSERT_EQ(found.distance, wanted.distance) << seed;
    }
}
TEST_F(MeshDistanceDevice, CrowdedMeshesEqualTheLoop) {
    for (const mesh_case& c : crowded_cases()) {
        const fields_of_mesh wanted = expected(c.of, c.grid, c.options.max_distance);
        for (const std::int64_t room : {-1, 0}) {
            const fields_of_mesh found = on_device(c, room, room == 0);
            ASSERT_EQ(found.triangle, wanted.triangle) << c.of.faces.size();
            ASSERT_EQ(found.distance, wanted.distance) << c.of.faces.size();
        }
    }
}
/// Equal triangles are listed once; those with the same corners in another order are not equal.
TEST_F(MeshDistanceDevice, DistinctTriangles) {
    for (const int copies : {1, 2, 7}) {
        mesh_case c{{}, {{9, 8, 7}, {}, {1, 1, 1}}, {}};
        for (int i = 0; i < copies; ++i) append_mesh(c.of, random_triangles(5, 400, 3));
        const auto [from, by, last] = c.of.faces[0];
        c.of.faces.push_back({by, last, from});
        std::int64_t distinct = 0;
        nearest_faces::watched_distinct = &distinct;
        const fields_of_mesh found = on_device(c);
        nearest_faces::watched_distinct = nullptr;
        EXPECT_EQ(distinct, 401) << copies;
        EXPECT_EQ(found, on_host(c)) << copies;
    }
}
TEST_F(MeshDistanceDevice, ListsWithoutRoom) {
    mesh_case c{sphere_mesh({20, 20, 20}, 15, 20, 30), {{40, 37, 41}, {}, {1, 1, 1}}, {}};
    const fields_of_mesh wanted = on_host(c);
    for (const std::int64_t room : {0, 3000}) ASSERT_EQ(on_device(c, room), wanted) << room;
}
/// Around the centre of a ball all triangles are near: 400 fit in shared memory with their list, 2300 leave room for
/// their numbers alone, 20,000 are more than a list of a block can hold.
TEST_F(MeshDistanceDevice, CentreOfABall) {
    for (const auto& [parallels, meridians] : {std::pair{12, 18}, std::pair{30, 40}, std::pair{95, 110}}) {
        const mesh_case c{sphere_mesh({4, 4, 4}, 1000, parallels, meridians), {{9, 8, 7}, {}, {1, 1, 1}}, {}};
        ASSERT_EQ(on_device(c), on_host(c)) << parallels;
    }
}
/// Triangles whose areas have no inverse in float, and one that makes coordinates large beside them.
TEST_F(MeshDistanceDevice, TinyBesideFar) {
    for (const double size : {1e-10, 1e-6}) {
        mesh_case c{sphere_mesh({}, 4 * size, 9, 12), {{13, 12, 11}, {-5 * size, -6 * size, -5.3 * size}, {}}, {}};
        c.grid.pitch.fill(size);
        append_mesh(c.of, {{{1, 0, 0}, {0, 1, 0}, {0, 0, 1}}, {{0, 1, 2}}});
        const fields_of_mesh found = on_device(c), wanted = expected(c.of, c.grid, c.options.max_distance);
        ASSERT_EQ(found.triangle, wanted.triangle) << size;
        ASSERT_EQ(found.distance, wanted.distance) << size;
    }
}
TEST_F(MeshDistanceDevice, SignedLikeTheHost) {
    for (std::uint64_t seed = 0; seed < 6; ++seed) {
        mesh_case c{seed % 2 == 0 ? torus_mesh(6, 2.5, 20, 12) : box_mesh({-5, -4, -3}, {5, 4, 3}),
                    {{19, 18, 35}, {-9, -9, -4.5}, {1, 1, 0.25}},
                    {true, seed % 3 == 1, seed == 5 ? 1.5 : INFINITY}};
        if (seed == 4) c.of.faces.erase(c.of.faces.begin() + 3, c.of.faces.begin() + 40), c.options.winding = true;
        const fields_of_mesh found = on_device(c, -1, seed == 3), wanted = on_host(c);
        ASSERT_EQ(found.triangle, wanted.triangle) << seed;
        ASSERT_EQ(found.distance, wanted.distance) << seed;
    }
}
TEST_F(MeshDistanceDevice, SamplesLikeTheHost) {
    for (std::uint64_t seed = 0; seed < share(0, 24); ++seed) {
        const mesh_case c = sampled_case_of(seed);
        ASSERT_EQ(on_device(c, -1, seed % 8 == 1), on_host(c)) << seed;
    }
    const mesh ball = sphere_mesh({9, 9, 9}, 8, 12, 20);
    mesh_case c{ball, grid_around(ball, 0.8, 9), {true, false, INFINITY, true}};
    const fields_of_mesh wanted = on_host(c);
    ASSERT_EQ(on_device(c), wanted);
    const stream on;
    const device place(on.get());
    const filled_on_device<double> alone(c.grid.shape, dtype::float64);
    mesh_distance(place, device_mesh(place, ball), c.grid, {alone.out(), {}}, c.options);
    ASSERT_EQ(alone.read(on), wanted.distance);
}
TEST_F(MeshDistanceDevice, LargerLikeTheHost) {
    mesh_case c{torus_mesh(90, 35, 300, 160), {{150, 131, 260}, {-70, -60, -130}, {1, 1, 1}}, {true, false}};
    fields_of_mesh wanted = on_host(c);
    ASSERT_EQ(on_device(c), wanted);
    ASSERT_EQ(on_device(c, 100000), wanted);
    c.grid.origin = {-130, -130, -40}, c.grid.shape = {261, 261, 81}, c.options.samples = true;
    wanted = on_host(c);
    ASSERT_EQ(on_device(c), wanted);
}
TEST_F(MeshDistanceDevice, FloatAndStrides) {
    const stream on;
    const device place(on.get());
    mesh_case c{box_mesh({1, 1, 1}, {6, 5, 4}), {{9, 7, 6}, {}, {1, 1, 1}}, {}};
    const fields_of_mesh wanted = on_host(c);
    const filled_on_device<float> spread({9, 7, 12}, dtype::float32);
    expect_cuda(cudaMemsetAsync(spread.out().data, 0, 9 * 7 * 12 * 4, on.get()), "clearing");
    any_output<device> to = any_output<device>::contiguous(spread.out().data, dtype::float32, c.grid.shape);
    for (std::int64_t& stride : to.stride) stride *= 2;
    mesh_distance(place, device_mesh(place, c.of), c.grid, {to, {}}, c.options);
    const std::vector<float> found = spread.read(on);
    for (std::size_t i = 0; i < wanted.distance.size(); ++i)
        ASSERT_TRUE(found[2 * i] == static_cast<float>(wanted.distance[i]) && found[2 * i + 1] == 0) << i;
}
/// Distances without signs need no open edges.
TEST_F(MeshDistanceDevice, WithoutEdges) {
    const stream on;
    const device place(on.get());
    mesh_case c{box_mesh({1, 1, 1}, {6, 5, 4}), {{9, 7, 6}, {}, {1, 1, 1}}, {}};
    c.of.faces.pop_back();
    const device_mesh of(place, c.of, false);
    const filled_on_device<double> found(c.grid.shape, dtype::float64);
    mesh_distance(place, of, c.grid, {found.out(), {}}, c.options);
    EXPECT_EQ(found.read(on), on_host(c).distance);
    c.options.is_signed = c.options.winding = true;
    EXPECT_THROW(mesh_distance(place, of, c.grid, {found.out(), {}}, c.options), error);
}
TEST_F(MeshDistanceDevice, NothingAndRefusals) {
    const mesh box = box_mesh({0, 0, 0}, {1, 1, 1});
    ASSERT_TRUE(on_device({box, {{0, 3, 3}, {}, {1, 1, 1}}, {}}).distance.empty());
    mesh_case c{box, {{2, 2, 2}, {}, {1, 1, 1}}, {}};
    c.options.is_signed = true, c.of.faces.pop_back();
    expect_refused([&] { static_cast<void>(on_device(c)); }, {"open edges"});
    c.of.faces.clear();
    expect_refused([&] { static_cast<void>(on_device(c)); }, {"no faces"});
    c.of.faces = {{0, 1, 8}};
    expect_refused([&] { static_cast<void>(on_device(c)); }, {"mesh"});
}

}  // namespace
}  // namespace nearfield::test
