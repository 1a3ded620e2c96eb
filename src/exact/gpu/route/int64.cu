#include "exact/gpu/route/general.cuh"

namespace nearfield::exact {

std::int64_t options_int64(const option_call& call) { return gpu::serve_generally<std::int64_t>(call); }

}  // namespace nearfield::exact
