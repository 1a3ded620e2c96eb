// Distances too far for steps, in volumes whose lines a device resolves between pivots in shared memory, equal the
// host's bit for bit.
#include <gtest/gtest.h>

#include <limits>

#include "exact/one_field.hpp"

namespace nearfield::test {
namespace {

class FarVolumes : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    [[nodiscard]] const shape_t& shape() const { return GetParam(); }

    void compare(const flags_t& sites) const {
        const double all = std::numeric_limits<double>::infinity();
        for (const double limit : {all, 100.0, 20.0})
            EXPECT_EQ((one_field(shape(), sites, limit).differs<float>(dtype::float32, 1, "float32", wanted::distance)),
                      "")
                << "within " << limit;
        EXPECT_EQ((one_field(shape(), sites, all).differs<double>(dtype::float64, 1, "float64", wanted::distance)), "");
        EXPECT_EQ((one_field(shape(), sites, all).differs<std::uint32_t>(dtype::uint32, 1, "uint32", wanted::squared)),
                  "");
    }
};

TEST_P(FarVolumes, OfOneCorner) {
    compare(sites_where(shape(), [](auto z, auto y, auto x) { return z == 0 && y == 0 && x == 0; }));
}
TEST_P(FarVolumes, OfTheBorder) {
    const auto end = [](std::int64_t at, std::int64_t length) { return at == 0 || at == length - 1; };
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        return end(z, shape()[0]) || end(y, shape()[1]) || end(x, shape()[2]);
    }));
}
/// Near sites beside far ones, so that neighbouring rows' winners lie on different surfaces.
TEST_P(FarVolumes, OfSurfacesThatBend) {
    compare(sites_where(shape(), [&](auto z, auto y, auto x) {
        const auto apart2 = [&](std::int64_t part) {
            const auto dz = z - shape()[0] * part / 4, dy = y - shape()[1] * part / 4, dx = x - shape()[2] / 2;
            return dz * dz + dy * dy + dx * dx;
        };
        return (apart2(1) >= 81 && apart2(1) < 100) || (apart2(3) >= 144 && apart2(3) < 169);
    }));
}
TEST_P(FarVolumes, OfFewSites) { compare(make_random(shape(), 0.0002, 7)); }
TEST_P(FarVolumes, WithoutASite) { compare(flags_t(static_cast<std::size_t>(cells_of(shape())))); }

// Up to 256 rows and from 545 on a warp has one band of 32 rows, in between it has two. Lines end within a band, and
// within the 32 lines that a block owns. The last volume has a state whose rows are longer than its own.
INSTANTIATE_TEST_SUITE_P(Volumes, FarVolumes,
                         testing::Values(shape_t{70, 256, 40}, shape_t{70, 257, 40}, shape_t{300, 100, 33},
                                         shape_t{68, 544, 35}, shape_t{66, 545, 64}, shape_t{1021, 66, 40},
                                         shape_t{70, 65, 250}),
                         [](const auto& of) {
                             return std::to_string(of.param[0]) + "x" + std::to_string(of.param[1]) + "x" +
                                    std::to_string(of.param[2]);
                         });

/// Volumes of a batch begin at multiples of the longer rows of the state.
TEST(PaddedVolumes, OfABatch) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{3, 70, 33, 250};
    for (const double share : {0.02, 0.0003}) {
        const flags_t sites = make_random(shape, share, 8);
        one_field field(shape, sites, std::numeric_limits<double>::infinity(), 1);
        EXPECT_EQ(field.differs<float>(dtype::float32, 1, "float32", wanted::distance), "");
        EXPECT_EQ(field.differs<std::int64_t>(dtype::int64, 1, "int64"), "");
    }
}

}  // namespace
}  // namespace nearfield::test
