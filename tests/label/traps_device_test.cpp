// The traps of connected components, on the device.
#include <gtest/gtest.h>

#include "label/device_engine.hpp"
#include "label/traps.hpp"

namespace nearfield::test {
namespace {

class LabelTraps : public testing::TestWithParam<trap> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

TEST_P(LabelTraps, AreAvoided) { GetParam().check(label_on_device()); }

INSTANTIATE_TEST_SUITE_P(Device, LabelTraps, testing::ValuesIn(traps()), name_of_trap);

}  // namespace
}  // namespace nearfield::test
