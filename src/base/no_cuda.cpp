// Queries of devices in a build without CUDA.
#include "base/no_cuda.hpp"

#include "base/lend.hpp"
#include "base/system_cuda.hpp"

namespace nearfield {

void query_cuda(system_info& info) { info.why_no_device = "this build has no CUDA backend: " NEARFIELD_WHY_NO_CUDA; }

void release_device_memory() {}

void with_bytes(const device&, std::int64_t, const std::function<void(void*)>&) { refuse_device(); }

}  // namespace nearfield
