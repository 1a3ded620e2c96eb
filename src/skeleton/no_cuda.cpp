// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {

void thin(const device&, const shape_of_call&, const rule&, const any_output<device>&, const any_input<device>&,
          const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::skeleton
