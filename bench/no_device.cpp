#include "bench.hpp"
#include "nearfield/error.hpp"
#include "options.hpp"
#include "targets.hpp"

namespace nearfield::bench {

namespace {

[[noreturn]] void fail_without_cuda() {
    throw error(error_code::unsupported, "this build has no CUDA; configure with -DNEARFIELD_CUDA=ON");
}

}  // namespace

session measure_device(const request&) { fail_without_cuda(); }
option_session measure_options_on_device(const std::vector<shape_t>&) { fail_without_cuda(); }
void measure_targets(target_session&, const target_request&) { fail_without_cuda(); }

}  // namespace nearfield::bench
