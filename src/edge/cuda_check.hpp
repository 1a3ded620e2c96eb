// Turns a failure of the CUDA runtime into the library's error. For files that include the runtime's header.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "nearfield/error.hpp"

namespace nearfield::edge {

inline void check(cudaError_t status, const char* doing) {
    if (status == cudaSuccess) return;
    cudaGetLastError();  // clears a failure that is not sticky, so that the next call does not report it
    throw error(error_code::device, std::string("cuda: ") + doing + " failed: " + cudaGetErrorString(status));
}

/// Calls cudaMalloc. Throws out_of_memory with the bytes needed and free.
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
