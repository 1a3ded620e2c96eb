// What a build without CUDA says when the device is asked for.
#include "base/no_cuda.hpp"
#include "natural_neighbor/core.hpp"

namespace nearfield::natural {

void run(const device&, const problem&, const any_input<device>&, const any_input<device>&, const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::natural
