// What a build without CUDA says when the device is asked for.
#include "label/gpu/run.hpp"

namespace nearfield::labelling {

void run(const device&, const problem&, const any_input<device>&, const label_fields<device>&) {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend for label(); build with the CUDA toolkit installed, or use "
                "host{}");
}

}  // namespace nearfield::labelling
