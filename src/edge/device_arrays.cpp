#include "edge/device_arrays.hpp"

#include <map>
#include <mutex>
#include <utility>

#include "edge/cuda_check.hpp"
#include "nearfield/system.hpp"

namespace nearfield::edge {
namespace {

cudaEvent_t recorded(cudaStream_t on) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "making an event");
    const cudaError_t status = cudaEventRecord(event, on);
    if (status != cudaSuccess) cudaEventDestroy(event);
    check(status, "marking a stream");
    return event;
}

/// Records a call on a stream of its own, because the default stream cannot be recorded.
cudaGraphExec_t graph_of(const std::function<void(void*)>& call) {
    cudaStream_t on = nullptr;
    cudaGraph_t graph = nullptr;
    cudaGraphExec_t made = nullptr;
    check(cudaStreamCreateWithFlags(&on, cudaStreamNonBlocking), "making a stream");
    try {
        check(cudaStreamBeginCapture(on, cudaStreamCaptureModeThreadLocal), "beginning to record a graph");
        call(on);
    } catch (...) {
        cudaStreamEndCapture(on, &graph);
        if (graph != nullptr) cudaGraphDestroy(graph);
        cudaStreamDestroy(on);
        throw;
    }
    cudaError_t status = cudaStreamEndCapture(on, &graph);
    if (status == cudaSuccess) status = cudaGraphInstantiateWithFlags(&made, graph, 0);
    if (graph != nullptr) cudaGraphDestroy(graph);
    cudaStreamDestroy(on);
    check(status, "recording a graph");
    return made;
}

}  // namespace

current_device::current_device(int ordinal) {
    if (cudaGetDevice(&before_) != cudaSuccess || (ordinal != before_ && cudaSetDevice(ordinal) != cudaSuccess)) {
        static_cast<void>(cudaGetLastError());
        const system_info system = query_system();
        const std::string why = system.devices.empty()
                                    ? "device is cuda, but " + system.why_no_device
                                    : "device is cuda:" + std::to_string(ordinal) +
                                          ", but the last GPU is cuda:" + std::to_string(system.devices.back().ordinal);
        throw error(error_code::unsupported, why + "; choose the cpu");
    }
}

current_device::~current_device() { cudaSetDevice(before_); }

int device_of(const void* data) {
    cudaPointerAttributes attributes{};
    check(cudaPointerGetAttributes(&attributes, data), "asking whose memory it is");
    if (attributes.type != cudaMemoryTypeDevice && attributes.type != cudaMemoryTypeManaged)
        throw error(error_code::invalid_argument, "the array's memory is not on a CUDA device");
    return attributes.device;
}

void* own_stream(int ordinal) {
    static std::mutex guard;
    static std::map<int, cudaStream_t> streams;
    const std::lock_guard<std::mutex> held(guard);
    cudaStream_t& stream = streams[ordinal];
    if (stream == nullptr) {
        const current_device current(ordinal);
        check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "making a stream");
    }
    return stream;
}

void order_after(int ordinal, void* later, void* earlier) {
    const current_device current(ordinal);
    const cudaEvent_t event = recorded(static_cast<cudaStream_t>(earlier));
    const cudaError_t status = cudaStreamWaitEvent(static_cast<cudaStream_t>(later), event, 0);
    cudaEventDestroy(event);
    check(status, "ordering two streams");
}

void* reserve(int ordinal, std::int64_t bytes) {
    const current_device current(ordinal);
    return reserve_bytes(bytes > 0 ? bytes : 1);
}

void release(int ordinal, void* data) noexcept {
    int before = 0;
    if (data == nullptr || cudaGetDevice(&before) != cudaSuccess) return;  // fails when the process ends
    if (before != ordinal) cudaSetDevice(ordinal);
    cudaFree(data);
    if (before != ordinal) cudaSetDevice(before);
}

void read_back(int ordinal, void* stream, void* to, const void* from, std::int64_t bytes) {
    const current_device current(ordinal);
    const auto on = static_cast<cudaStream_t>(stream);
    check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(bytes), cudaMemcpyDeviceToHost, on), "copying the answer");
    check(cudaStreamSynchronize(on), "waiting for the answer");
}

void* mark(int ordinal, void* stream) {
    const current_device current(ordinal);
    return recorded(static_cast<cudaStream_t>(stream));
}

bool has_passed(void* marked) { return cudaEventQuery(static_cast<cudaEvent_t>(marked)) != cudaErrorNotReady; }

void forget(void* marked) noexcept { cudaEventDestroy(static_cast<cudaEvent_t>(marked)); }

// A graph that still runs is freed when it ends.
repeated_call::~repeated_call() {
    if (graph_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
}

void repeated_call::run(int ordinal, void* stream, std::vector<std::uint64_t> arguments,
                        const std::function<void(void*)>& call) {
    const std::lock_guard<std::mutex> held(guard_);
    const current_device current(ordinal);
    cudaStreamCaptureStatus recording = cudaStreamCaptureStatusNone;
    check(cudaStreamIsCapturing(static_cast<cudaStream_t>(stream), &recording), "asking whether a graph is recorded");
    if (recording != cudaStreamCaptureStatusNone) return call(stream);
    arguments.push_back(static_cast<std::uint64_t>(ordinal));
    if (arguments != arguments_) {
        if (graph_ != nullptr) cudaGraphExecDestroy(static_cast<cudaGraphExec_t>(graph_));
        graph_ = nullptr, arguments_ = std::move(arguments);
        return call(stream);
    }
    if (graph_ == nullptr) graph_ = graph_of(call);
    check(cudaGraphLaunch(static_cast<cudaGraphExec_t>(graph_), static_cast<cudaStream_t>(stream)),
          "launching a graph");
}

}  // namespace nearfield::edge
