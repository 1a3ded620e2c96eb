// What a build without CUDA says when the device is asked for.
#include "link_propagation/run.hpp"

namespace nearfield::link_propagation {

propagation_report run(const device&, const problem&, const any_input<device>&, const any_output<device>&) {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace nearfield::link_propagation
