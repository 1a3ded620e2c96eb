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
// within the 32 lines that a block owns.
INSTANTIATE_TEST_SUITE_P(Volumes, FarVolumes,
                         testing::Values(shape_t{70, 256, 40}, shape_t{70, 257, 40}, shape_t{300, 100, 33},
                                         shape_t{68, 544, 35}, shape_t{66, 545, 64}, shape_t{1021, 66, 40}),
                         [](const auto& of) {
                             return std::to_string(of.param[0]) + "x" + std::to_string(of.param[1]) + "x" +
                                    std::to_string(of.param[2]);
                         });

/// Volumes of a batch, with a state whose rows are longer than their own: near sites, unresolved lines in a hole, and a
/// volume without any other site than one.
TEST(PaddedVolumes, OfABatch) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const shape_t shape{2, 66, 129, 1003};
    const std::int64_t cells = cells_of(shape) / 2;
    flags_t sites = make_random(shape, 0.05, 8);
    for (std::int64_t i = 0; i < 2 * cells; ++i) {
        const std::int64_t x = i % shape[3];
        if (i >= cells || (x >= 300 && x < 420)) sites[static_cast<std::size_t>(i)] = i == cells + 5 ? 1 : 0;
    }
    one_field field(shape, sites, std::numeric_limits<double>::infinity(), 1);
    EXPECT_EQ(field.differs<float>(dtype::float32, 1, "float32", wanted::distance), "");
    EXPECT_EQ(field.differs<std::int32_t>(dtype::int32, 1, "int32"), "");
}

}  // namespace
}  // namespace nearfield::test
