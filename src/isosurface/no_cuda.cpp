// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "isosurface/device_room.hpp"

namespace nearfield::isosurfaces {

mesh marching_cubes(const device&, const problem<device>&) { refuse_device(); }

}  // namespace nearfield::isosurfaces
