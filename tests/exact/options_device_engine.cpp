#include "exact/options_device_engine.hpp"

#include <stdexcept>

namespace nearfield::test {

device_option_call::device_option_call(option_call& c, const stream& on) : call_(c), on_(on) {
    for (const guarded* array : c.arrays()) memory_.emplace_back(array->bytes().size());
    upload();
}

void device_option_call::upload() {
    std::size_t k = 0;
    for (const guarded* array : call_.arrays()) {
        const device_memory& to = memory_[k++];
        if (to.bytes() == 0) continue;
        expect_cuda(cudaMemcpyAsync(to.data(), array->bytes().data(), to.bytes(), cudaMemcpyHostToDevice, on_.get()),
                    "upload");
    }
    on_.wait();
}

void device_option_call::download() {
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

void device_option_call::start() {
    std::vector<void*> memory;
    for (const device_memory& each : memory_) memory.push_back(each.data());
    call_.start(device{on_.get()}, memory);
}

option_engine device_options_engine() {
    return [](option_call& c) {
        const stream on;
        device_option_call there(c, on);
        there.start();
        there.download();
    };
}

option_engine graph_options_engine() {
    return [](option_call& c) {
        const stream on;
        device_option_call there(c, on);
        const recorded graph([&] { there.start(); }, on);
        graph.replay();
        option_call fresh = c;
        there.download();
        option_call first = c;
        c = std::move(fresh);
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

}  // namespace nearfield::test
