// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {

void run(const device&, const problem&, const any_input<device>&, const medial_axis_fields<device>&) {
    refuse_device();
}
void rebuild(const device&, const problem&, const any_input<device>&, const any_input<device>&,
             const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::medial_axes
