// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "render/room.hpp"

namespace nearfield::pictures {

void run(const device&, const tracing&) { refuse_device(); }
void run(const device&, const scene&, const wanted&) { refuse_device(); }

}  // namespace nearfield::pictures
