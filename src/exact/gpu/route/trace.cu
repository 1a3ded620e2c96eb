#include "exact/gpu/route/trace.hpp"

#include <cstdio>
#include <cstdlib>

#include "base/cuda.cuh"

namespace nearfield::exact::gpu {
namespace {

thread_local trace* innermost = nullptr;

bool records_graph(const device& on) {
    cudaStreamCaptureStatus recording{};
    cuda::check(cudaStreamIsCapturing(cuda::stream_of(on), &recording), "asking whether the stream records a graph");
    return recording != cudaStreamCaptureStatusNone;
}

}  // namespace

trace::trace() : outer_(innermost) {
    constexpr std::size_t bytes = rungs * sizeof(std::uint32_t);
    cuda::check(cudaMalloc(reinterpret_cast<void**>(&numbers_), bytes), "making the trace's numbers");
    innermost = this;
}

trace::~trace() {
    innermost = outer_;
    cudaFree(numbers_);
}

std::string trace::text() const {
    std::string all;
    for (int i = 0; i < rungs; ++i)
        if (const std::int64_t windows = solved_[static_cast<std::size_t>(i)]; windows > 0)
            all += (all.empty() ? "" : ", ") + std::string(ladder[i].name) + ' ' + std::to_string(windows);
    return all.empty() ? "nothing" : all;
}

std::uint32_t* trace::numbers() { return innermost == nullptr ? nullptr : innermost->numbers_; }

bool trace::note(const device& on, rung which, std::int64_t windows, const std::int32_t* refused) {
    if (innermost == nullptr || records_graph(on)) return false;
    std::int32_t was_refused = 0;
    if (refused != nullptr) {
        cuda::check(
            cudaMemcpyAsync(&was_refused, refused, sizeof was_refused, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
            "reading whether a rung refused");
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for a rung");
    }
    if (was_refused == 0) innermost->solved_[static_cast<std::size_t>(which)] += windows;
    return was_refused == 0;
}

void trace::take(const device& on) {
    if (records_graph(on)) return;
    std::array<std::uint32_t, rungs> now{};
    const cudaStream_t stream = cuda::stream_of(on);
    cuda::check(cudaMemcpyAsync(now.data(), numbers_, sizeof now, cudaMemcpyDeviceToHost, stream), "reading a trace");
    cuda::check(cudaStreamSynchronize(stream), "waiting for a trace");
    for (std::size_t i = 0; i < now.size(); ++i) solved_[i] += now[i];
}

traced_call::traced_call(const device& on, const std::int64_t* size, int rank) : on_(on), size_(size), rank_(rank) {
    static const bool wanted = std::getenv("NEARFIELD_TRACE") != nullptr;
    if (wanted && innermost == nullptr && !records_graph(on)) own_ = new trace;
    if (innermost != nullptr)
        cuda::check(cudaMemsetAsync(innermost->numbers_, 0, rungs * sizeof(std::uint32_t), cuda::stream_of(on)),
                    "clearing the trace's numbers");
}

traced_call::~traced_call() {
    if (innermost == nullptr) return;
    try {
        innermost->take(on_);
    } catch (const error&) {  // the device failed; the call or the next one reports it
    }
    if (own_ == nullptr) return;
    std::string shape;
    for (int axis = 0; axis < rank_; ++axis) shape += (axis > 0 ? "x" : "") + std::to_string(size_[axis]);
    std::fprintf(stderr, "nearfield: %s: %s\n", shape.c_str(), own_->text().c_str());
    delete own_;
}

}  // namespace nearfield::exact::gpu
