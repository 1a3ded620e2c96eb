#include "exact/cuda.hpp"

#include "base/cuda.cuh"
#include "exact/cuda_call.hpp"

namespace nearfield::exact {
namespace {

std::int64_t pass_on(const device_call& call) {
    switch (call.p.numbers) {
        case tier::int32: return call_int32(call);
        case tier::int64: return call_int64(call);
        case tier::float64: return call_float64(call);
    }
    return 0;
}

}  // namespace

void run(const device& on, const plan& p, const arrays<device>& a) {
    const cuda::device_guard current(on);
    static_cast<void>(pass_on({on, p, a.image, a.out, p.rule, false}));
}

}  // namespace nearfield::exact
