// The device engine with options, in int64 numbers.
#include "exact/cuda_options_engine.cuh"

namespace nearfield::exact {

std::int64_t options_int64(const option_call& call) { return options_on_device<std::int64_t, std::int64_t>(call); }

}  // namespace nearfield::exact
