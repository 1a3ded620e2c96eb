// What a build without CUDA says when the device is asked for.
#include "exact/cuda.hpp"

namespace nearfield::exact {

void run(const device&, const plan&, const any_input<device>&, const fields<device>&, sites) {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

std::int64_t workspace_bytes(const device&, const plan&, const any_input<device>&, const fields<device>&, sites) {
    throw error(error_code::unsupported, "device: this build has no CUDA backend");
}

}  // namespace nearfield::exact
