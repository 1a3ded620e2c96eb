// Shared by the device tests of labels: common calls, varied calls, and the check against flood fill.
#pragma once

#include <gtest/gtest.h>

#include "device_test.hpp"
#include "label/device_engine.hpp"
#include "nearfield/system.hpp"

namespace nearfield::test {

class DeviceTest : public device_test {};

inline std::int64_t axes_of(const shape_t& shape) { return static_cast<std::int64_t>(shape.size()); }

/// Varies a call, but keeps label types wide enough: a graph cannot wait for the count.
inline label_case dressed_for(const shape_t& shape, std::uint64_t k) {
    label_case how = dressed(shape, k);
    if (how.label == dtype::uint16 && (cells_of(shape) > 65535 || k % 2 != 0)) how.label = dtype::int32;
    return how;
}

/// Bytes and contiguous labels, as most callers have them: the fast paths in and out.
inline label_case plain_for(const shape_t& shape) {
    return {.shape = shape, .image_layout = layout::tight, .label_layout = layout::tight};
}

inline void expect_right(const label_call& c, std::uint64_t k) {
    const bool waits = c.how.label == dtype::uint16 && cells_of(c.how.shape) > 65535;
    ASSERT_EQ(check(k % 3 == 0 && !waits ? label_by_graph() : label_on_device(), c), "") << "case " << k;
}

}  // namespace nearfield::test
