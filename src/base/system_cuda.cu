#include "base/system_cuda.hpp"

#include <cuda_runtime.h>

#include <utility>

namespace nearfield {
namespace {

/// Represents all kernels: they are compiled for the same architectures.
__global__ void any_kernel() {}

/// Adds a device to the list, or says why kernels do not run there: none was compiled for it, or the driver is too old.
void add_device(system_info& info, int ordinal) {
    device_info found;
    found.ordinal = ordinal;
    cudaDeviceProp properties{};
    if (cudaGetDeviceProperties(&properties, ordinal) != cudaSuccess) return info.devices.push_back(found);
    found.name = properties.name;
    found.compute_major = properties.major;
    found.compute_minor = properties.minor;
    found.memory_bytes = static_cast<std::int64_t>(properties.totalGlobalMem);
    int before = 0;
    static_cast<void>(cudaGetDevice(&before));
    std::size_t free_bytes = 0, total = 0;
    cudaFuncAttributes code{};
    cudaError_t runs = cudaSuccess;
    if (cudaSetDevice(ordinal) == cudaSuccess && cudaMemGetInfo(&free_bytes, &total) == cudaSuccess) {
        found.free_bytes = static_cast<std::int64_t>(free_bytes);
        runs = cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(any_kernel));
        static_cast<void>(cudaGetLastError());
    }
    static_cast<void>(cudaSetDevice(before));
    if (runs == cudaSuccess) return info.devices.push_back(std::move(found));
    info.why_no_device = "the kernels of this build do not run on the " + found.name + ", compute capability " +
                         std::to_string(found.compute_major) + "." + std::to_string(found.compute_minor) + ": " +
                         cudaGetErrorString(runs);
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
    for (int ordinal = 0; ordinal < count && result == cudaSuccess; ++ordinal) add_device(info, ordinal);
    if (!info.devices.empty()) info.why_no_device.clear();
}

}  // namespace nearfield
