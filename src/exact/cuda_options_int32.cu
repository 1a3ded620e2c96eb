// The device engine with options, in int32 numbers.
#include "exact/cuda_options_engine.cuh"

namespace nearfield::exact {

std::int64_t options_int32(const option_call& call) { return options_on_device<std::int32_t, std::int32_t>(call); }

}  // namespace nearfield::exact
