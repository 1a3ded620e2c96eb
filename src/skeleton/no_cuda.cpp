// What a build without CUDA says when the device is asked for.
#include "nearfield/error.hpp"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {
namespace {

[[noreturn]] void refuse() {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void thin(const device&, const shape_of_call&, const rule&, const any_output<device>&, const any_input<device>&,
          const any_output<device>&) {
    refuse();
}
void with_bytes(const device&, std::int64_t, const std::function<void(void*)>&) { refuse(); }

}  // namespace nearfield::skeleton
