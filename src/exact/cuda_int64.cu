// The device engine in int64 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

void solve_int64(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                 sites rule) {
    solve_on_device<std::int64_t, std::int64_t>(on, p, image, out, rule);
}

}  // namespace nearfield::exact
