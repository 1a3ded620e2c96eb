// What a build without CUDA says when the device is asked for.
#include "base/system_cuda.hpp"
#include "exact/cuda.hpp"

namespace nearfield {

void query_cuda(system_info& info) { info.why_no_device = "this build has no CUDA backend (no CUDA toolkit was found when it was built)"; }

void release_device_memory() {}

namespace exact {
void run(const device&, const plan&, const any_input<device>&, const fields<device>&, sites) {
    throw error(error_code::unsupported, "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}
}  // namespace exact

}  // namespace nearfield
