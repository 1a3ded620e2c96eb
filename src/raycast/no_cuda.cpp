// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "raycast/core.hpp"

namespace nearfield::rays {

void run(const device&, const problem&, const any_input<device>&) { refuse_device(); }

}  // namespace nearfield::rays
