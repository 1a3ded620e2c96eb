// Streams, graphs and memory of the stand-in for the CUDA runtime.
#include <cuda_runtime.h>

#include <map>
#include <memory>
#include <mutex>
#include <vector>

namespace on_cpu {

struct graph {
    std::vector<std::function<void()>> work;
};
struct stream {
    std::unique_ptr<graph> recorded;  ///< set while the stream records
};

void order(stream* on, std::function<void()> work) {
    if (on != nullptr && on->recorded) on->recorded->work.push_back(std::move(work));
    else work();
}

namespace {

constexpr std::size_t memory_bytes = std::size_t{8} << 30;
constexpr int new_memory = 0xa5, freed_memory = 0x5a;

struct allocation {
    std::size_t bytes;
    pool* from;
};
std::mutex changing;
std::map<void*, allocation>& allocations() {
    static auto* const all = new std::map<void*, allocation>;
    return *all;
}
std::size_t allocated = 0;

cudaError_t allocate(void** data, std::size_t bytes, pool* from) {
    const std::lock_guard<std::mutex> alone(changing);
    if (bytes > memory_bytes - allocated) return cudaErrorMemoryAllocation;
    *data = std::aligned_alloc(256, (bytes + 255) / 256 * 256);
    if (*data == nullptr) return cudaErrorMemoryAllocation;
    std::memset(*data, new_memory, bytes);
    allocations()[*data] = {bytes, from};
    allocated += bytes;
    if (from != nullptr) from->used += bytes, from->most = std::max(from->most, from->used);
    return cudaSuccess;
}

void give_back(void* data) {
    if (data == nullptr) return;
    const std::lock_guard<std::mutex> alone(changing);
    const auto at = allocations().find(data);
    if (at == allocations().end()) std::abort();
    allocated -= at->second.bytes;
    if (at->second.from != nullptr) at->second.from->used -= at->second.bytes;
    std::memset(data, freed_memory, at->second.bytes);
    std::free(data);
    allocations().erase(at);
}

}  // namespace
}  // namespace on_cpu

using namespace on_cpu;

const char* cudaGetErrorString(cudaError_t error) {
    return error == cudaErrorMemoryAllocation ? "out of memory" : error == cudaErrorNotReady ? "not ready" : "an error";
}

cudaError_t cudaGetDeviceProperties(cudaDeviceProp* properties, int) {
    *properties = {"the CPU in place of a GPU", 9, 0, 4, memory_bytes};
    return cudaSuccess;
}
cudaError_t cudaMemGetInfo(std::size_t* free_bytes, std::size_t* total) {
    *free_bytes = memory_bytes - allocated, *total = memory_bytes;
    return cudaSuccess;
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t* s, unsigned) { return *s = new stream, cudaSuccess; }
cudaError_t cudaStreamDestroy(cudaStream_t s) { return delete s, cudaSuccess; }
cudaError_t cudaStreamIsCapturing(cudaStream_t s, cudaStreamCaptureStatus* status) {
    *status = s != nullptr && s->recorded ? cudaStreamCaptureStatusActive : cudaStreamCaptureStatusNone;
    return cudaSuccess;
}
cudaError_t cudaThreadExchangeStreamCaptureMode(cudaStreamCaptureMode*) { return cudaSuccess; }

cudaError_t cudaStreamBeginCapture(cudaStream_t s, cudaStreamCaptureMode) {
    return s->recorded = std::make_unique<graph>(), cudaSuccess;
}
cudaError_t cudaStreamEndCapture(cudaStream_t s, cudaGraph_t* g) { return *g = s->recorded.release(), cudaSuccess; }
cudaError_t cudaGraphInstantiate(cudaGraphExec_t* executable, cudaGraph_t g, unsigned long long) {
    return *executable = new graph(*g), cudaSuccess;
}
cudaError_t cudaGraphLaunch(cudaGraphExec_t executable, cudaStream_t) {
    for (const auto& work : executable->work) work();
    return cudaSuccess;
}
cudaError_t cudaGraphExecDestroy(cudaGraphExec_t executable) { return delete executable, cudaSuccess; }
cudaError_t cudaGraphDestroy(cudaGraph_t g) { return delete g, cudaSuccess; }
cudaError_t cudaLaunchHostFunc(cudaStream_t s, void (*function)(void*), void* data) {
    return order(s, [=] { function(data); }), cudaSuccess;
}

cudaError_t cudaMalloc(void** data, std::size_t bytes) { return allocate(data, bytes, nullptr); }
cudaError_t cudaFree(void* data) { return give_back(data), cudaSuccess; }
cudaError_t cudaMemcpyAsync(void* to, const void* from, std::size_t bytes, cudaMemcpyKind, cudaStream_t s) {
    return order(s, [=] { std::memcpy(to, from, bytes); }), cudaSuccess;
}
cudaError_t cudaMemsetAsync(void* data, int value, std::size_t bytes, cudaStream_t s) {
    return order(s, [=] { std::memset(data, value, bytes); }), cudaSuccess;
}

cudaError_t cudaMemset2DAsync(void* data, std::size_t pitch, int value, std::size_t width, std::size_t height,
                              cudaStream_t s) {
    return order(s,
                 [=] {
                     for (std::size_t row = 0; row < height; ++row)
                         std::memset(static_cast<char*>(data) + row * pitch, value, width);
                 }),
           cudaSuccess;
}

cudaError_t cudaMemPoolCreate(cudaMemPool_t* p, const cudaMemPoolProps*) { return *p = new pool, cudaSuccess; }
cudaError_t cudaMemPoolSetAttribute(cudaMemPool_t p, cudaMemPoolAttr which, void*) {
    if (which == cudaMemPoolAttrUsedMemHigh) p->most = p->used;
    return cudaSuccess;
}
cudaError_t cudaMemPoolGetAttribute(cudaMemPool_t p, cudaMemPoolAttr which, void* value) {
    const std::uint64_t bytes = which == cudaMemPoolAttrUsedMemHigh ? p->most : p->used;
    std::memcpy(value, &bytes, sizeof(bytes));
    return cudaSuccess;
}
// A graph keeps its memory as long as the process lives, since replays use it.
cudaError_t cudaMallocFromPoolAsync(void** data, std::size_t bytes, cudaMemPool_t p, cudaStream_t s) {
    return allocate(data, bytes, s != nullptr && s->recorded ? nullptr : p);
}
cudaError_t cudaFreeAsync(void* data, cudaStream_t s) {
    if (s == nullptr || !s->recorded) give_back(data);
    return cudaSuccess;
}
