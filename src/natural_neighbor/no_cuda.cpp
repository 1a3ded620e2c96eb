// What a build without CUDA says when the device is asked for.
#include "natural_neighbor/core.hpp"
#include "nearfield/error.hpp"

namespace nearfield::natural {

void run(const device&, const problem&, const any_input<device>&, const any_input<device>&, const any_output<device>&) {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend for natural_neighbor(); build with the CUDA toolkit installed, "
                "or use host{}");
}

}  // namespace nearfield::natural
