// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {

void run(const device&, const problem&, const any_input<device>&, const any_input<device>&, const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::natural
