// The device engine in int32 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

std::int64_t call_int32(const device_call& call) { return call_on_device<std::int32_t, std::int32_t>(call); }

}  // namespace nearfield::exact
