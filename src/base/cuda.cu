#include "base/cuda.cuh"

#include <algorithm>
#include <array>
#include <limits>
#include <mutex>
#include <string>

#include "base/lend.hpp"
#include "nearfield/system.hpp"

namespace nearfield::cuda {
namespace {

constexpr int max_devices = 64;

struct pools {
    std::mutex making;
    std::array<cudaMemPool_t, max_devices> of_device{};
};

pools& all_pools() {
    static pools* const all = new pools;  // never destroyed: the driver may be gone before static destructors run
    return *all;
}

bool means_no_gpu(cudaError_t result) {
    return result == cudaErrorNoDevice || result == cudaErrorInsufficientDriver ||
           result == cudaErrorInitializationError || result == cudaErrorSystemDriverMismatch ||
           result == cudaErrorStubLibrary;
}

/// Represents all kernels in queries: they are compiled for the same architectures.
__global__ void any_kernel() {}

/// Relaxes stream capture: a stream that is being captured forbids this thread calls that might wait. Making a pool
/// does not wait, and a process's first call may be one that is captured.
class relaxed_capture {
public:
    relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    ~relaxed_capture() { cudaThreadExchangeStreamCaptureMode(&mode_); }
    relaxed_capture(const relaxed_capture&) = delete;
    relaxed_capture& operator=(const relaxed_capture&) = delete;

private:
    cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
};

/// Returns whether the machine has no GPU, which a plan does not need.
bool none_to_ask() {
    int devices = 0;
    if (cudaGetDeviceCount(&devices) == cudaSuccess && devices > 0) return false;
    static_cast<void>(cudaGetLastError());
    return true;
}

void move_bytes(const device& on, void* to, const void* from, std::int64_t bytes, cudaMemcpyKind kind) {
    if (rehearsing() == nullptr && bytes > 0)
        check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), kind, stream_of(on)), "copying memory");
}

}  // namespace

void send(const device& on, void* to, const void* from, std::int64_t bytes) {
    move_bytes(on, to, from, bytes, cudaMemcpyHostToDevice);
}
void copy(const device& on, void* to, const void* from, std::int64_t bytes) {
    move_bytes(on, to, from, bytes, cudaMemcpyDeviceToDevice);
}
void fetch(const device& on, void* to, const void* from, std::int64_t bytes) {
    move_bytes(on, to, from, bytes, cudaMemcpyDeviceToHost);
    if (rehearsing() == nullptr) check(cudaStreamSynchronize(stream_of(on)), "waiting for the device");
}
void clear(const device& on, void* data, std::int64_t bytes) {
    if (rehearsing() == nullptr && bytes > 0)
        check(cudaMemsetAsync(data, 0, static_cast<std::size_t>(bytes), stream_of(on)), "clearing memory");
}

const device_limits& limits() {
    struct asked {
        std::once_flag once;
        device_limits of;
    };
    static std::array<asked, max_devices> known;
    static const device_limits unknown;
    int ordinal = 0;
    const cudaError_t found = cudaGetDevice(&ordinal);
    if (means_no_gpu(found)) {  // a plan; what needs a device fails without one before
        static_cast<void>(cudaGetLastError());
        return unknown;
    }
    check(found, "finding the current device");
    asked& here = known.at(static_cast<std::size_t>(ordinal));
    std::call_once(here.once, [&] {
        const auto ask = [ordinal](cudaDeviceAttr what, const char* doing) {
            int value = 0;
            check(cudaDeviceGetAttribute(&value, what, ordinal), doing);
            return value;
        };
        cudaFuncAttributes code{};
        check(cudaFuncGetAttributes(&code, reinterpret_cast<const void*>(any_kernel)), "asking what code runs");
        constexpr int variables = 256;  // bytes for a kernel's own variables
        int shared = ask(cudaDevAttrMaxSharedMemoryPerBlockOptin, "asking for the shared memory of a block");
        if (code.ptxVersion < 80) shared = std::min(shared, 64 * 1024);
        here.of = {ask(cudaDevAttrMultiProcessorCount, "counting multiprocessors"),
                   static_cast<std::size_t>(shared - variables),
                   ask(cudaDevAttrCooperativeLaunch, "asking for cooperative launches") != 0, code.ptxVersion};
    });
    return here.of;
}

void allow_shared(const void* kernel, std::size_t bytes) {
    constexpr char asking[] = "asking for shared memory";
    // A block has 48 KB without asking, of which a kernel's own variables may take up to 16.
    if (bytes <= 32 * 1024) return;
    if (bytes > limits().shared_bytes) check(cudaErrorInvalidValue, asking);
    check(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, static_cast<int>(bytes)), asking);
}

unsigned checked_blocks(std::int64_t blocks, std::source_location where) {
    constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();  // CUDA's own limit along x
    if (blocks < 0 || blocks > most)
        throw error(error_code::unsupported,
                    "device: the call needs a launch of " + std::to_string(blocks) + " blocks, and one has " +
                        std::to_string(most) + " at most; give a smaller array, or use host{}",
                    where);
    return static_cast<unsigned>(blocks);
}

bool kernels_overlap() { return limits().code >= 90; }

bool has_clusters(bool planning) { return !(planning && none_to_ask()) && kernels_overlap(); }

cudaMemPool_t workspace_pool(int ordinal) {
    pools& all = all_pools();
    const std::lock_guard<std::mutex> held(all.making);
    cudaMemPool_t& pool = all.of_device.at(static_cast<std::size_t>(ordinal));
    if (pool == nullptr) {
        cudaMemPoolProps props{};
        props.allocType = cudaMemAllocationTypePinned;
        props.location.type = cudaMemLocationTypeDevice;
        props.location.id = ordinal;
        const relaxed_capture relaxed;
        check(cudaMemPoolCreate(&pool, &props), "making a memory pool");
        std::uint64_t keep_all = UINT64_MAX;
        check(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep_all), "setting up a memory pool");
    }
    return pool;
}

void check(cudaError_t result, const char* doing, std::source_location where) {
    if (result == cudaSuccess) return;
    static_cast<void>(cudaGetLastError());  // reported here; the next call must not report it again
    const std::string text = cudaGetErrorString(result);
    if (means_no_gpu(result))
        throw error(error_code::unsupported, "device: no usable NVIDIA GPU (" + text + "); use host{}", where);
    throw error(error_code::device, "device: " + text + " while " + doing, where);
}

void workspace::allocate() {
    if (bytes_ == 0) return;
    if (rehearsal* const now = rehearsing()) {
        data_ = static_cast<std::byte*>(now->take(bytes_));
        return;
    }
    int ordinal = 0;
    check(cudaGetDevice(&ordinal), "finding the current device");
    void* memory = nullptr;
    const cudaError_t result =
        cudaMallocFromPoolAsync(&memory, static_cast<std::size_t>(bytes_), workspace_pool(ordinal), stream_of(on_));
    if (result == cudaErrorMemoryAllocation) {
        static_cast<void>(cudaGetLastError());
        std::size_t free_bytes = 0, total = 0;
        static_cast<void>(cudaMemGetInfo(&free_bytes, &total));
        throw error(error_code::out_of_memory, "out of device memory: the call needs a workspace of " +
                                                   std::to_string(bytes_) + " bytes, " + std::to_string(free_bytes) +
                                                   " are free");
    }
    check(result, "allocating workspace");
    data_ = static_cast<std::byte*>(memory);
}

workspace::~workspace() {
    if (rehearsal* const now = rehearsing()) now->give(data_);
    else if (data_ != nullptr) static_cast<void>(cudaFreeAsync(data_, stream_of(on_)));
}

device_guard::device_guard(const device& on) {
    if (rehearsing() != nullptr) return;
    check(cudaGetDevice(&before_), "finding the current device");
    now_ = before_;
#if CUDART_VERSION >= 12080
    // A stream that records a graph cannot be queried; its caller has already made its device current.
    cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(stream_of(on), &recording), "asking whether the stream records a graph");
    if (recording == cudaStreamCaptureStatusNone)
        check(cudaStreamGetDevice(stream_of(on), &now_), "finding the stream's device");
#endif
    if (now_ != before_) check(cudaSetDevice(now_), "switching to the stream's device");
}

device_guard::~device_guard() {
    if (now_ != before_) static_cast<void>(cudaSetDevice(before_));
}

}  // namespace nearfield::cuda

namespace nearfield {

void release_device_memory() {
    cuda::pools& all = cuda::all_pools();
    const std::lock_guard<std::mutex> held(all.making);
    for (cudaMemPool_t pool : all.of_device)
        if (pool != nullptr) cuda::check(cudaMemPoolTrimTo(pool, 0), "giving back workspace memory");
}

void with_bytes(const device& on, std::int64_t bytes, const std::function<void(void*)>& use) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<std::byte>(bytes);
    memory.allocate();
    use(memory.get<std::byte>(at));
}

}  // namespace nearfield
