// The room's device functions in a build without CUDA: they throw.
#include "base/no_cuda.hpp"
#include "link_propagation/run.hpp"

namespace nearfield::link_propagation {

propagation_report run(const device&, const problem&, const any_input<device>&, const any_output<device>&) {
    refuse_device();
}

}  // namespace nearfield::link_propagation
