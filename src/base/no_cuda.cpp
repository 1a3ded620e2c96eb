// Queries of devices in a library without kernels.
#include "base/no_cuda.hpp"

#include "base/lend.hpp"
#include "base/system_cuda.hpp"
#include "nearfield/error.hpp"

namespace nearfield {

void query_cuda(system_info& info) { info.why_no_device = NEARFIELD_WHY_NO_CUDA; }

void refuse_device() { throw error(error_code::unsupported, "device: " NEARFIELD_WHY_NO_CUDA "; use host{}"); }

void release_device_memory() {}

void with_bytes(const device&, std::int64_t, const std::function<void(void*)>&) { refuse_device(); }

}  // namespace nearfield
