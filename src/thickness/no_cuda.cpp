// Errors of a build without CUDA if the device is asked for.
#include "base/no_cuda.hpp"
#include "thickness/problem.hpp"

namespace nearfield::thickness {

void run(const device&, const problem&, const any_input<device>&, const any_input<device>&,
         const thickness_fields<device>&) {
    refuse_device();
}

}  // namespace nearfield::thickness
