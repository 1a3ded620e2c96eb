// Stands in for the CUDA runtime where there is no GPU: with this directory first on the include path the device engine
// compiles as C++ and runs on the CPU, so that its tests find errors of logic everywhere.
//
// It is not a GPU: threads of a block change only where they meet (threads.hpp), clusters follow one another, streams
// run at once. Races, missing memory order and whatever waits for a real stream stay unseen, and times mean nothing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <utility>

#include "intrinsics.hpp"
#include "threads.hpp"

#define __host__
#define __device__
#define __global__
#define __forceinline__ inline
#define __noinline__
#define __launch_bounds__(...)
#define __grid_constant__
// One block runs at a time. `extern __shared__ T x[];` becomes on_cpu::dynamic_shared<T>() in translate.cmake.
#define __shared__ static
#define CUDART_CB
#define CUDART_VERSION 13000

enum cudaError_t {
    cudaSuccess = 0,
    cudaErrorInvalidValue = 1,
    cudaErrorMemoryAllocation = 2,
    cudaErrorInitializationError = 3,
    cudaErrorStubLibrary = 34,
    cudaErrorInsufficientDriver = 35,
    cudaErrorNoDevice = 100,
    cudaErrorNotReady = 600,
    cudaErrorSystemDriverMismatch = 803,
};
const char* cudaGetErrorString(cudaError_t error);
inline cudaError_t cudaGetLastError() { return cudaSuccess; }

// One device, whose number is 0.
struct cudaDeviceProp {
    char name[256];
    int major, minor, multiProcessorCount;
    std::size_t totalGlobalMem;
};
cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int ordinal);
// Blocks follow one another, so that none can wait for another, but for NEARFIELD_ON_CPU_BLOCKS of a launch that asks.
inline int blocks_together() {
    const char* const blocks = std::getenv("NEARFIELD_ON_CPU_BLOCKS");
    return blocks != nullptr ? std::atoi(blocks) : 1;
}
enum cudaDeviceAttr {
    cudaDevAttrCooperativeLaunch,
    cudaDevAttrMultiProcessorCount,
    cudaDevAttrMaxSharedMemoryPerBlockOptin
};
// NEARFIELD_ON_CPU_PTX stands for a GPU of that compute capability: 80 for one without clusters, 75, 86, 89 and 120 for
// ones that also have less shared memory.
inline int code_version() {
    const char* const version = std::getenv("NEARFIELD_ON_CPU_PTX");
    return version != nullptr ? std::atoi(version) : 90;
}
inline int shared_bytes_of_block() {
    switch (code_version()) {
        case 75: return 64 * 1024;
        case 80: return 163 * 1024;
        case 86:
        case 89:
        case 120: return 99 * 1024;
        default: return 227 * 1024;
    }
}
inline cudaError_t cudaDeviceGetAttribute(int* value, cudaDeviceAttr which, int) {
    return *value = which == cudaDevAttrMultiProcessorCount            ? blocks_together()
                    : which == cudaDevAttrMaxSharedMemoryPerBlockOptin ? shared_bytes_of_block()
                                                                       : 0,
           cudaSuccess;
}
inline cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int* blocks, const void*, int, std::size_t) {
    return *blocks = 1, cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total);
inline cudaError_t cudaRuntimeGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaDriverGetVersion(int* version) { return *version = CUDART_VERSION, cudaSuccess; }
inline cudaError_t cudaGetDeviceCount(int* count) { return *count = 1, cudaSuccess; }
inline cudaError_t cudaGetDevice(int* ordinal) { return *ordinal = 0, cudaSuccess; }
inline cudaError_t cudaSetDevice(int ordinal) { return ordinal == 0 ? cudaSuccess : cudaErrorInvalidValue; }

// Streams and graphs. Work runs when it is ordered, or is recorded for the graph.
namespace on_cpu {
struct stream;
struct graph;
void order(stream* on, std::function<void()> work);
}  // namespace on_cpu
using cudaStream_t = on_cpu::stream*;
using cudaGraph_t = on_cpu::graph*;
using cudaGraphExec_t = on_cpu::graph*;
enum cudaStreamCaptureMode {
    cudaStreamCaptureModeGlobal,
    cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed
};
enum cudaStreamCaptureStatus { cudaStreamCaptureStatusNone, cudaStreamCaptureStatusActive };
constexpr unsigned cudaStreamNonBlocking = 1;
cudaError_t cudaStreamCreateWithFlags(cudaStream_t* stream, unsigned flags);
cudaError_t cudaStreamDestroy(cudaStream_t stream);
cudaError_t cudaStreamIsCapturing(cudaStream_t stream, cudaStreamCaptureStatus* status);
cudaError_t cudaStreamBeginCapture(cudaStream_t stream, cudaStreamCaptureMode mode);
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode* mode);
cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t* graph);
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t graph, unsigned long long flags);
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t stream);
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable);
cudaError_t cudaGraphDestroy(cudaGraph_t graph);
cudaError_t cudaLaunchHostFunc(cudaStream_t stream, void (*function)(void*), void* data);
inline cudaError_t cudaStreamGetDevice(cudaStream_t, int* ordinal) { return *ordinal = 0, cudaSuccess; }
inline cudaError_t cudaStreamSynchronize(cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaStreamQuery(cudaStream_t) { return cudaSuccess; }

// Events take no time.
using cudaEvent_t = on_cpu::stream*;
inline cudaError_t cudaEventCreate(cudaEvent_t* event) { return *event = nullptr, cudaSuccess; }
inline cudaError_t cudaEventDestroy(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventRecord(cudaEvent_t, cudaStream_t) { return cudaSuccess; }
inline cudaError_t cudaEventSynchronize(cudaEvent_t) { return cudaSuccess; }
inline cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t, cudaEvent_t) {
    return *milliseconds = 0, cudaSuccess;
}

// Memory. New memory is filled with 0xa5, freed memory is overwritten.
enum cudaMemcpyKind { cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice, cudaMemcpyDefault };
cudaError_t cudaMalloc(void** data, std::size_t bytes);
cudaError_t cudaFree(void* data);
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind kind, cudaStream_t stream);
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t stream);
cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t stream);

namespace on_cpu {
struct pool {
    std::uint64_t used = 0, most = 0;
};
}  // namespace on_cpu
using cudaMemPool_t = on_cpu::pool*;
enum cudaMemPoolAttr { cudaMemPoolAttrReleaseThreshold, cudaMemPoolAttrUsedMemCurrent, cudaMemPoolAttrUsedMemHigh };
constexpr int cudaMemAllocationTypePinned = 1, cudaMemLocationTypeDevice = 1;
struct cudaMemPoolProps {
    int allocType;
    struct {
        int type, id;
    } location;
};
cudaError_t cudaMemPoolCreate(cudaMemPool_t* pool, const cudaMemPoolProps* props);
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value);
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t pool, cudaMemPoolAttr which, void* value);
inline cudaError_t cudaMemPoolTrimTo(cudaMemPool_t, std::size_t) { return cudaSuccess; }
cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t pool, cudaStream_t stream);
cudaError_t cudaFreeAsync(void* data, cudaStream_t stream);

// Launches.
struct cudaFuncAttributes {
    int ptxVersion;
};
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize };
inline cudaError_t cudaFuncGetAttributes(cudaFuncAttributes* of, const void*) {
    return of->ptxVersion = code_version(), cudaSuccess;
}
inline cudaError_t cudaFuncSetAttribute(const void*, cudaFuncAttribute, int bytes) {
    return bytes <= shared_bytes_of_block() ? cudaSuccess : cudaErrorInvalidValue;
}
constexpr int cudaLaunchAttributeProgrammaticStreamSerialization = 1, cudaLaunchAttributeCooperative = 2,
              cudaLaunchAttributeClusterDimension = 3;
struct cudaLaunchAttribute {
    int id;
    struct {
        int programmaticStreamSerializationAllowed, cooperative;
        uint3 clusterDim;
    } val;
};
struct cudaLaunchConfig_t {
    dim3 gridDim, blockDim;
    std::size_t dynamicSmemBytes;
    cudaStream_t stream;
    cudaLaunchAttribute* attrs;
    unsigned numAttrs;
};
template <class... Parameters>
cudaError_t cudaLaunchKernelEx(const cudaLaunchConfig_t* config, void (*kernel)(Parameters...),
                               std::type_identity_t<Parameters>... arguments) {
    unsigned cluster_blocks = 1;
    for (unsigned i = 0; i < config->numAttrs; ++i) {
        if (config->attrs[i].id == cudaLaunchAttributeClusterDimension)
            cluster_blocks = config->attrs[i].val.clusterDim.x;
        if (config->attrs[i].id == cudaLaunchAttributeCooperative) cluster_blocks = config->gridDim.x;
    }
    on_cpu::order(config->stream, [at = *config, cluster_blocks, kernel, arguments...] {
        on_cpu::run_grid(at.gridDim, at.blockDim, at.dynamicSmemBytes, cluster_blocks, [&] { kernel(arguments...); });
    });
    return cudaSuccess;
}
