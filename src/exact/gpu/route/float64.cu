#include "exact/gpu/route/general.cuh"

namespace nearfield::exact {

std::int64_t options_float64(const option_call& call) { return gpu::serve_generally<double>(call); }

}  // namespace nearfield::exact
