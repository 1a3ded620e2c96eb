// What a build without CUDA says when the device is asked for.
#include "thickness/problem.hpp"

namespace nearfield::thickness {

void run(const device&, const problem&, const any_input<device>&, const thickness_fields<device>&) {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace nearfield::thickness
