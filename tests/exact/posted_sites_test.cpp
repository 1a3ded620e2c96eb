// Nearest sites of images whose windows steps leave unresolved, or have too few sites for them: pivots resolve them on
// a device, with the host's bits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "exact/one_field.hpp"

namespace nearfield::test {
namespace {

class SitesBetweenPivots : public testing::TestWithParam<shape_t> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
    [[nodiscard]] std::int64_t rows() const { return GetParam()[0]; }
    [[nodiscard]] std::int64_t columns() const { return GetParam()[1]; }

    /// Marks the cells for which `rule(y, x)` is true.
    template <class Rule>
    [[nodiscard]] flags_t where(const Rule& rule) const {
        flags_t sites(static_cast<std::size_t>(rows() * columns()));
        for (std::int64_t y = 0, i = 0; y < rows(); ++y)
            for (std::int64_t x = 0; x < columns(); ++x, ++i) sites[static_cast<std::size_t>(i)] = rule(y, x) ? 1 : 0;
        return sites;
    }
    void compare(const flags_t& sites) const {
        const double all = std::numeric_limits<double>::infinity();
        const shape_t& shape = GetParam();
        EXPECT_EQ((one_field(shape, sites, all).differs<std::int32_t>(dtype::int32, 1, "int32")), "");
        EXPECT_EQ((one_field(shape, sites, all).differs<std::int64_t>(dtype::int64, 1, "int64")), "");
        EXPECT_EQ((one_field(shape, sites, all).differs<std::int32_t>(dtype::int32, 2, "coordinates")), "");
        EXPECT_EQ((one_field(shape, sites, 60).differs<std::int32_t>(dtype::int32, 1, "within 60")), "");
    }
};

/// Every cell of the middle column ties; cells of the middle row tie with sites above and below, so that the row
/// decides.
TEST_P(SitesBetweenPivots, OfABorder) {
    compare(where([&](auto y, auto x) { return y == 0 || x == 0 || y == rows() - 1 || x == columns() - 1; }));
}
/// Cells around the middle have hundreds of candidate rows between two pivots.
TEST_P(SitesBetweenPivots, OfAnArc) {
    compare(where([&](auto y, auto x) {
        const auto dy = static_cast<double>(y - rows() / 2), dx = static_cast<double>(x - 5);
        return dx > 0 && std::abs(std::sqrt(dx * dx + dy * dy) - static_cast<double>(columns() - 20)) < 1;
    }));
}
/// Ties at a pivot's cell, whose winner a warp finds: the first column has sites above and below, the last one below
/// only.
TEST_P(SitesBetweenPivots, OfPointsThatTie) {
    compare(where([&](auto y, auto x) {
        const auto dy = y - 544, dx = x - 96;  // 65^2 = 63^2 + 16^2 = 60^2 + 25^2 = 56^2 + 33^2 = 52^2 + 39^2
        return (dx * dx + dy * dy == 65 * 65 && dy != 0 && (dx < 0 || dy > 0)) || x == columns() - 1;
    }));
}
TEST_P(SitesBetweenPivots, OfADiagonal) {
    compare(where([&](auto y, auto x) { return x == y * columns() / rows(); }));
}
/// Winners within the squares in which they win, with equal ones above and below a cell.
TEST_P(SitesBetweenPivots, OfCombs) {
    compare(where([&](auto y, auto x) { return (x == 0 && y % 2 == 0) || (x == columns() - 1 && y % 3 == 0); }));
}

/// Windows of which steps finish some strips: dense rows, with gaps of 70 to 300 rows at all places within strips.
TEST_P(SitesBetweenPivots, OfRowsWithGaps) {
    for (const std::int64_t gap : {70, 130, 300}) {
        compare(where([&](auto y, auto x) {
            return y % (2 * gap + 17) < gap && mix(static_cast<std::uint64_t>(y * columns() + x)) % 8 == 0;
        }));
    }
}

TEST_P(SitesBetweenPivots, WithoutASite) {
    compare(where([](auto, auto) { return false; }));
}

/// One image of a batch has such windows; one of the others has no site.
TEST_P(SitesBetweenPivots, InABatch) {
    const shape_t shape{3, rows(), columns()};
    flags_t sites(static_cast<std::size_t>(3 * rows() * columns()));
    sites[7] = 1;
    for (std::int64_t y = 0; y < rows(); ++y)
        sites[static_cast<std::size_t>(2 * rows() * columns() + y * columns() + y % 3)] = 1;
    const double all = std::numeric_limits<double>::infinity();
    EXPECT_EQ((one_field(shape, sites, all, 1).differs<std::int64_t>(dtype::int64, 1, "int64")), "");
}

// The last pivot lies on the last row, 1 or 32 rows after the one before. Columns fill words, or do not.
INSTANTIATE_TEST_SUITE_P(Images, SitesBetweenPivots,
                         testing::Values(shape_t{1057, 230}, shape_t{1056, 192}, shape_t{1030, 333}, shape_t{90, 700},
                                         shape_t{21, 1200}),
                         [](const auto& of) {
                             return std::to_string(of.param[0]) + "x" + std::to_string(of.param[1]);
                         });

}  // namespace
}  // namespace nearfield::test
