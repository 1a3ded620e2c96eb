// Offsets on a GPU: the mesh of the host.
#include "mesh/on_device.hpp"
#include "nearfield/offset.hpp"

namespace nearfield::test {
namespace {

using OffsetDevice = MeshOnDevice;

TEST_F(OffsetDevice, LikeTheHost) {
    const stream on;
    mesh open = sphere_mesh({1, 2, 3}, 5, 12, 16);
    open.faces.resize(open.faces.size() - 5);
    for (const mesh& part : {box_mesh({0, 0, 0}, {3, 4, 5}), torus_mesh(3, 1, 20, 12), open})
        for (const double distance : {1.0, -0.6, 0.0}) {
            offset_options o;
            o.pitch = 0.4, o.winding = part == open, o.hollow = distance > 0;
            if (distance < 0) o.method = offset_method::voxels;
            o.sharp = distance == 0 || part == open;
            const offset_result found = offset(device(on.get()), part, distance, o),
                                wanted = offset(host{2, {}}, part, distance, o);
            ASSERT_EQ(found.surface, wanted.surface) << distance;
            ASSERT_EQ(found.grid, wanted.grid);
            ASSERT_EQ(found.thickness, wanted.thickness);
            ASSERT_TRUE(measure_mesh(found.surface).closed || found.surface.faces.empty());
        }
}

}  // namespace
}  // namespace nearfield::test
