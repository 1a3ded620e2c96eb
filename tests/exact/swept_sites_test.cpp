// Nearest sites too far for steps, in volumes with so many groups of lines that a device sweeps them with a lane for
// each line, equal the host's bit for bit.
#include <gtest/gtest.h>

#include <limits>

#include "exact/one_field.hpp"

namespace nearfield::test {
namespace {

class SweptSites : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    [[nodiscard]] const shape_t& shape() const { return GetParam(); }

    void compare(const flags_t& sites) const {
        const double all = std::numeric_limits<double>::infinity();
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int32_t>(dtype::int32, 1, "int32")), "");
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int64_t>(dtype::int64, 1, "int64")), "");
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::int32_t>(dtype::int32, 3, "coordinates")), "");
        EXPECT_EQ((one_field(shape(), sites, 150).differs<std::int32_t>(dtype::int32, 1, "within 150")), "");
    }
};

TEST_P(SweptSites, OfOneCorner) {
    compare(sites_where(shape(), [](auto z, auto y, auto x) { return z < 2 && y < 8 && x < 32; }));
}
/// The middle ties with sites at both ends of each axis.
TEST_P(SweptSites, OfEightCorners) {
    const auto end = [](std::int64_t at, std::int64_t length, std::int64_t cells) {
        return at < cells || at >= length - cells;
    };
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        return end(z, shape()[0], 1) && end(y, shape()[1], 5) && end(x, shape()[2], 9);
    }));
}
TEST_P(SweptSites, OfSurfacesThatBend) {
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        const auto dz = z - shape()[0] / 2, dy = y - shape()[1] / 2, dx = x - 300, apart2 = dz * dz + dy * dy + dx * dx;
        return apart2 >= 16 * 16 && apart2 < 17 * 17;
    }));
}
TEST_P(SweptSites, BesideManySites) {
    const flags_t random = make_random(shape(), 0.02, 5);
    std::size_t i = 0;
    compare(sites_where(shape(), [&](auto, auto, auto x) { return random[i++] != 0 && x < 120; }));
}
/// Few lines are left to a sweep.
TEST_P(SweptSites, BesideAHole) {
    const flags_t random = make_random(shape(), 0.1, 6);
    std::size_t i = 0;
    compare(sites_where(shape(), [&](auto, auto, auto x) { return random[i++] != 0 && (x < 300 || x >= 420); }));
}

// There are 132 * 32 groups of 32 lines along one axis; sweeps are considered from 4096 groups on. The last lanes of a
// row have no cells. Values of the third volume exceed the numbers of hulls, so that all unresolved lines are swept.
INSTANTIATE_TEST_SUITE_P(Volumes, SweptSites,
                         testing::Values(shape_t{132, 35, 1011}, shape_t{35, 132, 1011}, shape_t{21, 20, 6601}),
                         [](const auto& of) {
                             return of.param[0] == 132 ? "along_y" : of.param[0] == 35 ? "along_z" : "only";
                         });

}  // namespace
}  // namespace nearfield::test
