// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "render/room.hpp"

namespace nearfield::pictures {

void run(const device&, const tracing&) { refuse_device(); }
void run(const device&, const scene&, const wanted&) { refuse_device(); }

}  // namespace nearfield::pictures
