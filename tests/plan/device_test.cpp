// plan(calls) for a device reports the bytes that a call takes from the pool of workspace, without using a GPU.
#include <gtest/gtest.h>

#include "base/cuda.cuh"
#include "device_test.hpp"
#include "exact/device_engine.hpp"
#include "plan/calls.hpp"

namespace nearfield::test {
namespace {

class PlanDevice : public device_test {};

std::int64_t of_pool(cudaMemPoolAttr which) {
    std::uint64_t bytes = 0;
    expect_cuda(cudaMemPoolGetAttribute(cuda::workspace_pool(0), which, &bytes), "cudaMemPoolGetAttribute");
    return static_cast<std::int64_t>(bytes);
}

/// Bytes of the pool at the peak of a call.
std::int64_t taken(const stream& on, const std::function<void()>& call) {
    std::uint64_t zero = 0;
    expect_cuda(cudaMemPoolSetAttribute(cuda::workspace_pool(0), cudaMemPoolAttrUsedMemHigh, &zero), "a new peak");
    const std::int64_t before = of_pool(cudaMemPoolAttrUsedMemCurrent);
    call();
    on.wait();
    return of_pool(cudaMemPoolAttrUsedMemHigh) - before;
}

TEST_F(PlanDevice, IsWhatThePoolGives) {
    const stream order;
    const device on{order.get()};
    constexpr std::int64_t side = 20;
    const plan_images image(side);
    const std::size_t cells = image.mask.size();
    const device_memory mask(cells), height(4 * cells), marker(cells), a(8 * cells), b(8 * cells), c(8 * cells);
    const auto upload = [&](const device_memory& to, const void* from) {
        expect_cuda(cudaMemcpyAsync(to.data(), from, to.bytes(), cudaMemcpyHostToDevice, order.get()), "upload");
    };
    upload(mask, image.mask.data()), upload(height, image.height.data()), upload(marker, image.marker.data());
    const auto calls =
        planned_calls<device>({side, mask.data(), height.data(), marker.data(), {a.data(), b.data(), c.data()}});
    const auto planned = planned_calls<device>(made_up(side));
    for (std::size_t k = 0; k < calls.size(); ++k) {
        const call_plan told = plan([&] { planned[k].run(on); });
        const std::int64_t took = taken(order, [&] { calls[k].run(on); });
        const std::int64_t points = calls[k].name == "compare_surfaces" ? 2 * 9 * side * side * side : 0;  // at most
        EXPECT_LE(took, told.workspace_bytes + 4096 + points) << calls[k].name << '\n' << told.text();
        // In this small cube all free cells are joined, so that no components are numbered.
        const std::int64_t tenths = calls[k].name.starts_with("plan_path") ? 7 : 9;
        EXPECT_GE(took, told.workspace_bytes * tenths / 10) << calls[k].name << '\n' << told.text();
        EXPECT_EQ(told.place, "device") << calls[k].name;
        EXPECT_FALSE(told.passes.empty()) << calls[k].name;
    }
}

}  // namespace
}  // namespace nearfield::test
