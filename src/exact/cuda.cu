#include "exact/cuda.hpp"

#include "base/cuda.cuh"

namespace nearfield::exact {

// Each kind of numbers is compiled in a file of its own, because together they take minutes.
void solve_int32(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                 sites rule);
void solve_int64(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                 sites rule);
void solve_float64(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out,
                   sites rule);

void run(const device& on, const plan& p, const any_input<device>& image, const fields<device>& out, sites rule) {
    const cuda::device_guard current(on);
    switch (p.numbers) {
        case tier::int32: return solve_int32(on, p, image, out, rule);
        case tier::int64: return solve_int64(on, p, image, out, rule);
        case tier::float64: return solve_float64(on, p, image, out, rule);
    }
}

}  // namespace nearfield::exact
