#include "exact/device_engine.hpp"

#include <stdexcept>

#include "nearfield/system.hpp"

namespace nearfield::test {

void expect_cuda(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw std::runtime_error(std::string(what) + ": " + cudaGetErrorString(status));
}

device_memory::device_memory(std::size_t bytes) : bytes_(bytes) {
    if (bytes > 0) expect_cuda(cudaMalloc(&data_, bytes), "cudaMalloc");
}

device_call::device_call(call& c, const stream& on) : call_(c), on_(on) {
    for (const guarded* array : c.arrays()) memory_.emplace_back(array->bytes().size());
    upload();
}

void device_call::upload() {
    std::size_t k = 0;
    for (const guarded* array : call_.arrays()) {
        const device_memory& to = memory_[k++];
        if (to.bytes() == 0) continue;
        expect_cuda(cudaMemcpyAsync(to.data(), array->bytes().data(), to.bytes(), cudaMemcpyHostToDevice, on_.get()),
                    "upload");
    }
    on_.wait();
}

void device_call::download() {
    std::size_t k = 0;
    for (guarded* array : call_.arrays()) {
        const device_memory& from = memory_[k++];
        if (from.bytes() == 0) continue;
        expect_cuda(
            cudaMemcpyAsync(array->bytes().data(), from.data(), from.bytes(), cudaMemcpyDeviceToHost, on_.get()),
            "download");
    }
    on_.wait();
}

any_output<device> device_call::output(const std::optional<guarded>& array) const {
    if (!array) return {};
    std::size_t k = 0;
    for (const guarded* other : call_.arrays()) {
        if (other == &*array) return array->view_of<device>(memory_[k].data());
        ++k;
    }
    throw std::logic_error("an array that is not the call's");
}

void device_call::start() {
    fields<device> out;
    out.distance = output(call_.distance);
    out.squared = output(call_.squared);
    out.index = output(call_.index);
    out.coordinates = output(call_.coordinates);
    const void* image = memory_[0].data();
    distance_transform(device{on_.get()}, call_.image.view_of<device>(image), out, call_.options);
}

recorded::recorded(const std::function<void()>& start, const stream& on) : on_(on) {
    // In global mode a call that is not allowed during capture fails in any thread.
    expect_cuda(cudaStreamBeginCapture(on.get(), cudaStreamCaptureModeGlobal), "cudaStreamBeginCapture");
    try {
        start();
    } catch (...) {
        cudaStreamEndCapture(on.get(), &graph_);
        if (graph_ != nullptr) cudaGraphDestroy(graph_);
        throw;
    }
    expect_cuda(cudaStreamEndCapture(on.get(), &graph_), "cudaStreamEndCapture");
    expect_cuda(cudaGraphInstantiate(&executable_, graph_, 0), "cudaGraphInstantiate");
}

recorded::~recorded() {
    if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
    if (graph_ != nullptr) cudaGraphDestroy(graph_);
}

engine device_engine() {
    return [](call& c) {
        const stream on;
        device_call there(c, on);
        there.start();
        there.download();
    };
}

engine graph_engine() {
    return [](call& c) {
        const stream on;
        device_call there(c, on);
        const recorded graph(there, on);
        graph.replay();
        call first = c;
        there.download();
        std::swap(first, c);
        there.upload();
        graph.replay();
        there.download();
        const auto a = first.arrays(), b = c.arrays();
        for (std::size_t k = 0; k < a.size(); ++k) {
            if (a[k]->bytes() != b[k]->bytes())
                throw std::runtime_error("the second replay of the graph gave other bytes");
        }
    };
}

std::string why_no_device() {
    static const std::string reason = [] {
        const system_info system = query_system();
        return system.devices.empty() ? "no CUDA device: " + system.why_no_device : std::string();
    }();
    return reason;
}

}  // namespace nearfield::test
