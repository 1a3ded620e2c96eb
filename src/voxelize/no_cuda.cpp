// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "voxelize/room.hpp"

namespace nearfield::voxels {

void run(const device&, const device_mesh::parts&, const mesh_grid&, int, const any_output<device>&,
         const voxelize_options&) {
    refuse_device();
}

}  // namespace nearfield::voxels
