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

std::string differs(const shape_t& shape, dtype type, const codes_t& codes, const distance_options& options,
                    const wanted_fields& wanted) {
    option_call here;
    here.options = options;
    here.threads = 0;
    here.items.emplace_back(shape, type, codes, options, wanted, 1);
    option_call there = here;
    host_options_engine()(here);
    device_options_engine()(there);
    const auto a = here.arrays(), b = there.arrays();
    for (std::size_t k = 0; k < a.size(); ++k) {
        const auto size = static_cast<std::size_t>(size_of(a[k]->type()));
        for (std::int64_t i = 0; i < a[k]->cells(); ++i)
            if (std::memcmp(a[k]->element(i), b[k]->element(i), size) != 0)
                return "array " + std::to_string(k) + " differs at element " + std::to_string(i);
        if (a[k]->bytes() != b[k]->bytes()) return "array " + std::to_string(k) + " differs beside its elements";
    }
    return {};
}

}  // namespace nearfield::test
