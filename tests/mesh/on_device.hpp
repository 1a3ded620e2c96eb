// Meshes and arrays on a GPU, for the tests of surfaces.
#pragma once

#include <gtest/gtest.h>

#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "mesh/shapes.hpp"

namespace nearfield::test {

class MeshOnDevice : public device_test {};

/// Owns an array of a grid that a call on a device fills, and reads it back.
template <class T>
class filled_on_device {
public:
    filled_on_device(const std::array<std::int64_t, 3>& shape, dtype type)
        : shape_(shape), type_(type), memory_(static_cast<std::size_t>(cells()) * sizeof(T) + 1) {}
    [[nodiscard]] any_output<device> out() const {
        return any_output<device>::contiguous(memory_.data(), type_, shape_);
    }
    [[nodiscard]] std::vector<T> read(const stream& on) const {
        std::vector<T> made(static_cast<std::size_t>(cells()));
        expect_cuda(
            cudaMemcpyAsync(made.data(), memory_.data(), made.size() * sizeof(T), cudaMemcpyDeviceToHost, on.get()),
            "copying");
        on.wait();
        return made;
    }

private:
    [[nodiscard]] std::int64_t cells() const { return shape_[0] * shape_[1] * shape_[2]; }
    std::array<std::int64_t, 3> shape_;
    dtype type_;
    device_memory memory_;
};

}  // namespace nearfield::test
