// Calls of the exact engine on a GPU for tests: copies arrays there and back, and launches on a stream of its own,
// which does not synchronize with the default stream.
#pragma once

#include <cuda_runtime.h>

#include <functional>
#include <memory>
#include <vector>

#include "exact/call.hpp"

namespace nearfield::test {

/// Throws with the error's name and the place of the call, unless the status is success.
void expect_cuda(cudaError_t status, const char* what);

/// Owned device memory.
class device_memory {
public:
    explicit device_memory(std::size_t bytes);
    ~device_memory() { cudaFree(data_); }
    device_memory(device_memory&& other) noexcept : data_(std::exchange(other.data_, nullptr)), bytes_(other.bytes_) {}
    device_memory& operator=(device_memory&&) = delete;

    [[nodiscard]] void* data() const { return data_; }
    [[nodiscard]] std::size_t bytes() const { return bytes_; }

private:
    void* data_ = nullptr;
    std::size_t bytes_ = 0;
};

class stream {
public:
    stream() { expect_cuda(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking), "cudaStreamCreateWithFlags"); }
    ~stream() { cudaStreamDestroy(stream_); }
    stream(const stream&) = delete;
    stream& operator=(const stream&) = delete;

    [[nodiscard]] cudaStream_t get() const { return stream_; }
    void wait() const { expect_cuda(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

private:
    cudaStream_t stream_ = nullptr;
};

/// The arrays of one call on the device.
class device_call {
public:
    device_call(call& c, const stream& on);

    void upload();
    void download();
    /// Orders the engine's work on the stream without waiting.
    void start();

private:
    [[nodiscard]] any_output<device> output(const std::optional<guarded>& array) const;

    call& call_;
    const stream& on_;
    std::vector<device_memory> memory_;  ///< one for each of call_.arrays()
};

/// The work of a call recorded as a CUDA graph.
class recorded {
public:
    recorded(device_call& c, const stream& on) : recorded([&c] { c.start(); }, on) {}
    recorded(const std::function<void()>& start, const stream& on);
    ~recorded();
    recorded(const recorded&) = delete;
    recorded& operator=(const recorded&) = delete;

    void replay() const { expect_cuda(cudaGraphLaunch(executable_, on_.get()), "cudaGraphLaunch"); }

private:
    const stream& on_;
    cudaGraph_t graph_ = nullptr;
    cudaGraphExec_t executable_ = nullptr;
};

engine device_engine();
/// Records a graph, replays it twice on rewritten arrays, and throws if the two runs leave different bytes.
engine graph_engine();

/// Reason why device tests cannot run on this machine; empty if they can.
std::string why_no_device();

}  // namespace nearfield::test
