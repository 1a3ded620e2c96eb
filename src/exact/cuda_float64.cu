// The device engine in float64 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

std::int64_t call_float64(const device_call& call) { return call_on_device<double, std::int64_t>(call); }

}  // namespace nearfield::exact
