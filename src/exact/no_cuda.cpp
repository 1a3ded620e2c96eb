// What a build without CUDA says when the device is asked for.
#include "exact/cuda.hpp"

namespace nearfield::exact {
namespace {

[[noreturn]] void fail_unsupported() {
    throw error(error_code::unsupported,
                "device: this build has no CUDA backend; build with the CUDA toolkit installed, or use host{}");
}

}  // namespace

void run(const device&, const plan&, const arrays<device>&) { fail_unsupported(); }
void run(const device&, std::span<const plan>, std::span<const job<device>>) { fail_unsupported(); }
call_plan describe(const device&, const plan&, const arrays<device>&) { fail_unsupported(); }
call_plan describe(const device&, std::span<const plan>, std::span<const job<device>>) { fail_unsupported(); }

}  // namespace nearfield::exact
