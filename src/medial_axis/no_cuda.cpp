// What a build without CUDA says when the device is asked for.
#include "medial_axis/problem.hpp"

namespace nearfield::medial_axes {
namespace {

[[noreturn]] void refuse(const char* call) {
    throw error(error_code::unsupported, std::string("device: this build has no CUDA backend for ") + call +
                                             "(); build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void run(const device&, const problem&, const any_input<device>&, const medial_axis_fields<device>&) {
    refuse("medial_axis");
}
void rebuild(const device&, const problem&, const any_input<device>&, const any_input<device>&,
             const any_output<device>&) {
    refuse("reconstruct");
}

}  // namespace nearfield::medial_axes
