#include "label/device_engine.hpp"

#include <stdexcept>

namespace nearfield::test {
namespace {

/// Owns the arrays of one call on the device.
class there {
public:
    there(label_call& c, const stream& on) : call_(c), on_(on) {
        for (const guarded* array : arrays()) memory_.emplace_back(array->bytes().size());
        copy(cudaMemcpyHostToDevice);
    }
    void upload() { copy(cudaMemcpyHostToDevice); }
    void download() { copy(cudaMemcpyDeviceToHost); }
    void start() {
        label_fields<device> out;
        out.label = call_.label.view_of<device>(memory_[1].data());
        out.count = call_.count.view_of<device>(memory_[2].data());
        const void* image = memory_[0].data();
        nearfield::label(device{on_.get()}, call_.image.view_of<device>(image), out, call_.options);
    }
    [[nodiscard]] std::vector<guarded*> arrays() { return {&call_.image, &call_.label, &call_.count}; }

private:
    void copy(cudaMemcpyKind which) {
        std::size_t k = 0;
        for (guarded* array : arrays()) {
            const device_memory& memory = memory_[k++];
            void *here = array->bytes().data(), *far = memory.data();
            if (memory.bytes() == 0) continue;
            if (which == cudaMemcpyHostToDevice) std::swap(here, far);
            expect_cuda(cudaMemcpyAsync(here, far, memory.bytes(), which, on_.get()), "copying");
        }
        on_.wait();
    }

    label_call& call_;
    const stream& on_;
    std::vector<device_memory> memory_;
};

/// Runs twice from the same start; throws if the results differ.
void run_again(label_call& c, there& arrays, const std::function<void()>& run) {
    label_call first = c;
    arrays.upload();
    run();
    arrays.download();
    std::swap(first, c);
    arrays.upload();
    run();
    arrays.download();
    if (first.label.bytes() != c.label.bytes() || first.count.bytes() != c.count.bytes())
        throw std::runtime_error("a second run gave other bytes");
}

}  // namespace

label_engine label_on_device() {
    return [](label_call& c) {
        const stream on;
        there arrays(c, on);
        arrays.start();
        arrays.download();
    };
}

label_engine label_by_graph() {
    return [](label_call& c) {
        const stream on;
        there arrays(c, on);
        const recorded graph([&] { arrays.start(); }, on);
        run_again(c, arrays, [&] { graph.replay(); });
    };
}

label_engine label_many_times(int times) {
    return [times](label_call& c) {
        const stream on;
        there arrays(c, on);
        for (int i = 1; i < times; ++i) run_again(c, arrays, [&] { arrays.start(); });
    };
}

}  // namespace nearfield::test
