// Device calls in a build without CUDA, or on a machine without a GPU, fail with a clear error.
#include <gtest/gtest.h>

#include "nearfield/distance.hpp"
#include "nearfield/system.hpp"

namespace nearfield::test {
namespace {

TEST(WithoutADevice, DeviceCallsSayWhy) {
    const system_info system = query_system();
    if (!system.devices.empty()) GTEST_SKIP() << "there is a device: " << system.devices[0].name;
    EXPECT_FALSE(system.why_no_device.empty());
    const std::uint8_t image[6] = {};
    float distance[6] = {7, 7, 7, 7, 7, 7};
    try {
        nearfield::distance(device{nullptr}, view<const std::uint8_t, 2, device>(image, {2, 3}),
                            view<float, 2, device>(distance, {2, 3}));
        FAIL() << "a device call without a device returned";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::unsupported) << e.what();
    }
    EXPECT_EQ(distance[0], 7.0F);
}

#ifndef NEARFIELD_TESTS_HAVE_CUDA
TEST(WithoutADevice, DeviceTestsAreLeftOut) {
    GTEST_SKIP() << "built without CUDA: the device tests were not compiled";
}
#endif

}  // namespace
}  // namespace nearfield::test
