#include "exact/gpu/lines/lines.cuh"

namespace nearfield::exact::gpu {

void solve(const device& on, const line_form& how, const line_pass<std::int64_t>& g) { solve_pass(on, how, g); }

}  // namespace nearfield::exact::gpu
