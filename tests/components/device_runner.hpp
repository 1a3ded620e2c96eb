// Brings a check's arrays to a GPU, makes the call there, and brings them back.
#pragma once

#include "components/checks.hpp"
#include "exact/device_engine.hpp"

namespace nearfield::test {

class arrays_on_device {
public:
    arrays_on_device(const std::vector<guarded*>& arrays, const stream& on) : arrays_(arrays), on_(on) {
        for (const guarded* each : arrays_) memory_.emplace_back(each->bytes().size());
        upload();
    }
    void upload() const { copy(cudaMemcpyHostToDevice); }
    void download() const { copy(cudaMemcpyDeviceToHost); }
    any_output<device> operator()(const guarded& array) const {
        for (std::size_t k = 0; k < arrays_.size(); ++k)
            if (arrays_[k] == &array) return array.view_of<device>(memory_[k].data());
        throw std::logic_error("an array that is not the call's");
    }

private:
    void copy(cudaMemcpyKind kind) const {
        for (std::size_t k = 0; k < arrays_.size(); ++k) {
            if (memory_[k].bytes() == 0) continue;
            void* const here = arrays_[k]->bytes().data();
            void* const there = memory_[k].data();
            const bool up = kind == cudaMemcpyHostToDevice;
            expect_cuda(cudaMemcpyAsync(up ? there : here, up ? here : there, memory_[k].bytes(), kind, on_.get()),
                        "copying an array");
        }
        on_.wait();
    }
    std::vector<guarded*> arrays_;
    const stream& on_;
    std::vector<device_memory> memory_;
};

struct device_runner {
    template <class Call>
    void operator()(const std::vector<guarded*>& arrays, const Call& call) const {
        const stream on;
        const arrays_on_device there(arrays, on);
        call(device{on.get()}, there);
        there.download();
    }
};

/// Records the call as a graph and replays it twice, the second time on rewritten arrays.
struct graph_runner {
    template <class Call>
    void operator()(const std::vector<guarded*>& arrays, const Call& call) const {
        const stream on;
        const arrays_on_device there(arrays, on);
        const recorded graph([&] { call(device{on.get()}, there); }, on);
        graph.replay();
        on.wait();
        there.upload();
        graph.replay();
        there.download();
    }
};

}  // namespace nearfield::test
