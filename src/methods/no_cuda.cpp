// What a build without CUDA says when the device is asked for.
#include "methods/problem.hpp"

namespace nearfield::methods {
namespace {

[[noreturn]] void fail_unsupported() {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void run(const device&, const method&, const problem&, const any_input<device>&, const fields<device>&,
         method_report&) {
    fail_unsupported();
}
void run_exact(const device&, const any_input<device>&, const fields<device>&, const distance_options&,
               method_report&) {
    fail_unsupported();
}

}  // namespace nearfield::methods
