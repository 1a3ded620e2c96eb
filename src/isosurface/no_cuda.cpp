// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "isosurface/device_room.hpp"

namespace nearfield::isosurfaces {

mesh marching_cubes(const device&, const problem<device>&) { refuse_device(); }
mesh dual_contouring(const device&, const problem<device>&) { refuse_device(); }

}  // namespace nearfield::isosurfaces
