// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "mesh_distance/device_room.hpp"

namespace nearfield::nearest_faces {

void run(const device&, const device_mesh::parts&, const device_problem&) { refuse_device(); }

}  // namespace nearfield::nearest_faces
