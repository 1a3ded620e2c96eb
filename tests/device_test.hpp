// What tests of a device begin with.
#pragma once

#include <gtest/gtest.h>

#include "exact/device_engine.hpp"

namespace nearfield::test {

/// Skips its tests where there is no GPU.
class device_test : public testing::Test {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

}  // namespace nearfield::test
