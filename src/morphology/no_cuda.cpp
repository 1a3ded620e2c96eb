// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "morphology/core.hpp"

namespace nearfield::morphology {

void choose(const device&, const any_input<device>&, kept, const any_input<device>&, const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::morphology
