#include "base/system_cuda.hpp"

#include <cuda_runtime.h>

namespace nearfield {
namespace {

device_info describe(int ordinal) {
    device_info info;
    info.ordinal = ordinal;
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) return info;
    info.name = properties.name;
    info.compute_major = properties.major;
    info.compute_minor = properties.minor;
    info.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    std::size_t free_bytes = 0, total = 0;
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total) == cudaSuccess)
        info.free_bytes = static_cast<std::int64_t>(free_bytes);
    static_cast<void>(cudaSetDevice(before));
    return info;
}

}  // namespace

void query_cuda(system_info& info) {
    static_cast<void>(cudaRuntimeGetVersion(&info.cuda_runtime));
    static_cast<void>(cudaDriverGetVersion(&info.cuda_driver));
    int count = 0;
    const cudaError_t result = cudaGetDeviceCount(&count);
    static_cast<void>(cudaGetLastError());
    if (info.cuda_driver == 0) {
        info.why_no_device = "no NVIDIA driver is installed";
    } else if (result != cudaSuccess) {
        info.why_no_device = std::string("the CUDA runtime reports: ") + cudaGetErrorString(result);
    } else if (count == 0) {
        info.why_no_device = "the driver finds no NVIDIA GPU";
    }
    for (int ordinal = 0; ordinal < count && result == cudaSuccess; ++ordinal)
        info.devices.push_back(describe(ordinal));
}

}  // namespace nearfield
