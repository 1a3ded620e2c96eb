// The device engine in int32 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

void solve_int32(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                 sites rule) {
    solve_on_device<std::int32_t, std::int32_t>(on, p, image, out, rule);
}

}  // namespace nearfield::exact
