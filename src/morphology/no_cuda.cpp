// What a build without CUDA says when the device is asked for.
#include "morphology/core.hpp"
#include "nearfield/error.hpp"

namespace nearfield::morphology {
namespace {

[[noreturn]] void refuse() {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void choose(const device&, const any_input<device>&, kept, const any_input<device>&, const any_output<device>&) {
    refuse();
}
void with_bytes(const device&, std::int64_t, const std::function<void(void*)>&) { refuse(); }

}  // namespace nearfield::morphology
