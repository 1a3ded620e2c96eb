// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "raycast/core.hpp"

namespace nearfield::rays {

void run(const device&, const problem&, const any_input<device>&) { refuse_device(); }

}  // namespace nearfield::rays
