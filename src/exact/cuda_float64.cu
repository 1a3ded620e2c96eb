// The device engine in float64 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

void solve_float64(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                   sites rule) {
    solve_on_device<double, std::int64_t>(on, p, image, out, rule);
}

}  // namespace nearfield::exact
