// The device engine with options, in float64 numbers.
#include "exact/cuda_options_engine.cuh"

namespace nearfield::exact {

std::int64_t options_float64(const option_call& call) { return options_on_device<double, std::int64_t>(call); }

}  // namespace nearfield::exact
