#include "bench.hpp"
#include "components.hpp"
#include "methods.hpp"
#include "nearfield/error.hpp"
#include "options.hpp"
#include "propagation.hpp"
#include "targets.hpp"

namespace nearfield::bench {

namespace {

[[noreturn]] void fail_without_cuda() {
    throw error(error_code::unsupported, "this build has no CUDA; configure with -DNEARFIELD_CUDA=ON");
}

}  // namespace

int label_device_main(int, char**) { fail_without_cuda(); }
session measure_components_on_device(const component_request&) { fail_without_cuda(); }
std::unique_ptr<method_subject> subject_on_device(const std::vector<std::uint8_t>&, const shape_t&) {
    fail_without_cuda();
}
session method_session_on_device() { fail_without_cuda(); }
session measure_device(const request&) { fail_without_cuda(); }
option_session measure_options_on_device(const std::vector<shape_t>&) { fail_without_cuda(); }
propagation_session measure_propagation_on_device(const propagation_request&) { fail_without_cuda(); }
void measure_targets(target_session&, const target_request&) { fail_without_cuda(); }

}  // namespace nearfield::bench
