// A failure of the CUDA runtime as the library's error. For files that include the runtime's header.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "nearfield/error.hpp"

namespace nearfield::edge {

inline void check(cudaError_t status, const char* doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // a failure that is not sticky must not be reported again by the next call
    throw error(error_code::device, std::string("cuda: ") + doing + " failed: " + cudaGetErrorString(status));
}

/// cudaMalloc; no memory is out_of_memory with the bytes needed and free.
inline void* reserve_bytes(std::int64_t bytes) {
    void* data = nullptr;
    const cudaError_t status = cudaMalloc(&data, static_cast<std::size_t>(bytes));
    if (status == cudaErrorMemoryAllocation) {
        cudaGetLastError();
        std::size_t free = 0, total = 0;
        cudaMemGetInfo(&free, &total);
        throw error(error_code::out_of_memory, "cuda: " + std::to_string(bytes) + " bytes are needed and " +
                                                   std::to_string(free) + " of the device's " + std::to_string(total) +
                                                   " are free; compute on the CPU instead");
    }
    check(status, "reserving memory");
    return data;
}

}  // namespace nearfield::edge
