// Nearest sites of volumes that one kernel solves on the device, in which blocks skip rows along the second axis if
// there are many sites: equal to the host's bit for bit, also if some cells then need those rows.
#include <gtest/gtest.h>

#include "exact/sites_differ.hpp"

namespace nearfield::test {
namespace {

class SmallVolumes : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

/// Removes the sites of a ball around the middle.
flags_t with_ball(flags_t seeds, const shape_t& shape, std::int64_t radius) {
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::int64_t rest = i, apart2 = 0;
        for (std::size_t axis = 3; axis-- > 0; rest /= shape[axis]) {
            const std::int64_t apart = rest % shape[axis] - shape[axis] / 2;
            apart2 += apart * apart;
        }
        if (apart2 < radius * radius) seeds[static_cast<std::size_t>(i)] = 0;
    }
    return seeds;
}
/// Removes all sites from a plane on, and those in the rows before one.
flags_t with_sites_in_corner(flags_t seeds, const shape_t& shape, std::int64_t plane, std::int64_t row) {
    for (std::int64_t i = 0; i < cells_of(shape); ++i)
        if (i / shape[2] / shape[1] >= plane || i / shape[2] % shape[1] < row) seeds[static_cast<std::size_t>(i)] = 0;
    return seeds;
}

TEST_P(SmallVolumes, RandomSites) {
    for (const double share : {0.1, 0.02, 0.01, 0.007, 0.005, 0.003, 0.001, 0.0003})
        EXPECT_EQ(sites_differ<std::int32_t>(GetParam(), 0, make_random(GetParam(), share, 5)), "") << share;
}

TEST_P(SmallVolumes, SomeCellsAreFar) {
    const flags_t many = make_random(GetParam(), 0.02, 6);
    for (const std::int64_t radius : {10, 12, 13, 14, 20, 27})
        EXPECT_EQ(sites_differ<std::int32_t>(GetParam(), 0, with_ball(many, GetParam(), radius)), "") << radius;
    EXPECT_EQ(sites_differ<std::int64_t>(GetParam(), 0, with_sites_in_corner(many, GetParam(), 9, 20)), "");
    EXPECT_EQ(sites_differ<std::int64_t>(GetParam(), 0,
                                         with_sites_in_corner(make_random(GetParam(), 0.1, 7), GetParam(), 20, 0)),
              "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, SmallVolumes,
                         testing::Values(shape_t{64, 64, 64}, shape_t{64, 33, 50}, shape_t{17, 61, 64},
                                         shape_t{9, 64, 20}));

}  // namespace
}  // namespace nearfield::test
