// The device engine in int64 numbers.
#include "exact/cuda_engine.cuh"

namespace nearfield::exact {

std::int64_t call_int64(const device_call& call) { return call_on_device<std::int64_t, std::int64_t>(call); }

}  // namespace nearfield::exact
