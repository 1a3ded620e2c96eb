// Meshes as cells on a GPU have the host's bits.
#include <algorithm>

#include "mesh/on_device.hpp"
#include "nearfield/voxelize.hpp"
#include "refused.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

using VoxelizeDevice = MeshOnDevice;

flags_t on_device(const mesh& m, const mesh_grid& g, const voxelize_options& o) {
    static const stream on;
    const device place(on.get());
    const device_mesh of(place, m);
    const filled_on_device<std::uint8_t> out(g.shape, dtype::uint8);
    const recorded work([&] { voxelize(place, of, g, out.out(), o); }, on);
    work.replay(), work.replay();
    return out.read(on);
}
flags_t on_host(const mesh& m, const mesh_grid& g, const voxelize_options& o) {
    flags_t out(static_cast<std::size_t>(g.shape[0] * g.shape[1] * g.shape[2]), 7);
    voxelize(host{2, {}}, m, g, any_output<host>::contiguous(out.data(), dtype::uint8, g.shape), o);
    return out;
}

/// Corners on cell centres and between them, large and small triangles, overlapping shells, open meshes.
TEST_F(VoxelizeDevice, LikeTheHost) {
    for (std::uint64_t seed = 0; seed < share(0, 60); ++seed) {
        mesh m;
        switch (seed % 4) {
            case 0: m = box_mesh({1, 2, 1}, {4.0 + static_cast<double>(seed % 3), 9, 35}); break;
            case 1: m = sphere_mesh({5, 5, 5}, 4, 9, 11); break;
            case 2: m = torus_mesh(5, 2, 12, 9); break;
            default: m = random_triangles(seed, 30, 9);
        }
        if (seed % 5 == 1) append_mesh(m, box_mesh({2, 2, 2}, {7, 7, 5}), seed % 2 == 0);
        if (seed % 8 == 5) m.faces.erase(m.faces.begin() + 2, m.faces.begin() + 9);
        const mesh_grid g{{11, 10, 40}, {seed % 4 == 2 ? -6.0 : 0.0, 0.5, 0}, {1, 1, seed % 3 == 0 ? 1 : 0.5}};
        const bool open = measure_mesh(m).open_edges > 0;
        for (const bool surface : {false, true}) {
            ASSERT_EQ(on_device(m, g, {true, surface, true}), on_host(m, g, {true, surface, true})) << seed;
            if (!open) {
                ASSERT_EQ(on_device(m, g, {true, surface}), on_host(m, g, {true, surface})) << seed;
            }
        }
        ASSERT_EQ(on_device(m, g, {false, true}), on_host(m, g, {false, true})) << seed;
    }
}
TEST_F(VoxelizeDevice, LargerLikeTheHost) {
    const mesh m = torus_mesh(90, 35, 300, 160);
    const mesh_grid g = grid_around(m, 1, 3);
    ASSERT_EQ(on_device(m, g, {}), on_host(m, g, {}));
    ASSERT_EQ(on_device(m, g, {true, true, true}), on_host(m, g, {true, true, true}));
    ASSERT_EQ(on_device(scattered(m), g, {}), on_host(m, g, {}));
}
TEST_F(VoxelizeDevice, NothingAndRefusals) {
    const mesh_grid g{{2, 2, 33}, {}, {1, 1, 1}};
    ASSERT_EQ(on_device({}, g, {true, true}), flags_t(132, 0));
    mesh open = box_mesh({0, 0, 0}, {1, 1, 1});
    open.faces.pop_back();
    expect_refused([&] { static_cast<void>(on_device(open, g, {})); }, {"open edges", "winding"});
    expect_refused([&] { static_cast<void>(on_device(open, g, {false, false})); }, {"neither solid nor surface"});
}

}  // namespace
}  // namespace nearfield::test
