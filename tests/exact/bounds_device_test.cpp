// A bound for every cell on a device gives the host's bits.
#include <gtest/gtest.h>

#include "exact/bounded.hpp"
#include "exact/device_engine.hpp"

namespace nearfield::test {
namespace {

void compare(const bounded_call& c, const std::vector<bounded_field>& form) {
    const auto expected = c.on_host(form);
    const stream on;
    const device_memory image(c.image.size()), bounds(c.bounds.size() * sizeof(float));
    const auto copy = [&](void* to, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on.get()), "copy");
    };
    copy(image.data(), c.image.data(), image.bytes());
    copy(bounds.data(), c.bounds.data(), bounds.bytes());
    std::vector<device_memory> memory;
    std::vector<void*> out;
    for (const auto& each : expected) memory.emplace_back(each.size());
    for (const device_memory& each : memory) out.push_back(each.data());
    c.run(device{on.get()}, image.data(), bounds.data(), form, out);
    for (std::size_t i = 0; i < expected.size(); ++i) {
        std::vector<std::byte> found(expected[i].size());
        copy(found.data(), memory[i].data(), found.size());
        on.wait();
        EXPECT_EQ(found, expected[i]) << "field " << i;
    }
}

TEST(BoundsDevice, EqualTheHosts) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{70}, {33, 40}, {9, 17, 12}})
        for (const auto& form : bounded_forms()) compare(bounded_call(shape, 5), form);
    bounded_call both({33, 40}, 6);
    both.options.sign = sign::outside_negative;
    compare(both, {{0, dtype::float32}, {1, dtype::float64}});
}

}  // namespace
}  // namespace nearfield::test
