// Copies vectors of the host to arrays on a device, for the tests of this room.
#pragma once

#include <vector>

#include "exact/device_engine.hpp"
#include "exact/fills.hpp"

namespace nearfield::test {

/// Owns a copy of a vector on a device.
template <class T>
class sent {
public:
    sent(const std::vector<T>& from, const stream& on) : on_(on), count_(from.size()), memory_(count_ * sizeof(T) + 1) {
        send(from);
    }
    void send(const std::vector<T>& from) {
        expect_cuda(cudaMemcpyAsync(memory_.data(), from.data(), count_ * sizeof(T), cudaMemcpyHostToDevice, on_.get()),
                    "in");
        on_.wait();
    }
    [[nodiscard]] std::vector<T> fetched() const {
        std::vector<T> to(count_);
        expect_cuda(cudaMemcpyAsync(to.data(), memory_.data(), count_ * sizeof(T), cudaMemcpyDeviceToHost, on_.get()),
                    "out");
        on_.wait();
        return to;
    }
    // Not inlined, because GCC 12 would warn of shapes that no test has.
    [[nodiscard, gnu::noinline]] any_input<device> in(dtype type, const shape_t& shape) const {
        return any_input<device>::contiguous(memory_.data(), type, shape);
    }
    [[nodiscard, gnu::noinline]] any_output<device> out(dtype type, const shape_t& shape) const {
        return any_output<device>::contiguous(memory_.data(), type, shape);
    }

private:
    const stream& on_;
    std::size_t count_;
    device_memory memory_;
};

}  // namespace nearfield::test
