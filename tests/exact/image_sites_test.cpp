// Nearest sites of images, dense and sparse, on the device equal the host's bit for bit, for all paths of windows.
#include <gtest/gtest.h>

#include "exact/sites_differ.hpp"

namespace nearfield::test {
namespace {

struct image_case {
    shape_t shape;
    int batch_axes = 0;
    const char* name = "";
};

void PrintTo(const image_case& c, std::ostream* to) { *to << c.name; }

class ImageSites : public testing::TestWithParam<image_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

template <class Index>
std::string differs(const image_case& c, const flags_t& seeds, sites rule = sites::nonzero, std::size_t skipped = 0) {
    return sites_differ<Index>(c.shape, c.batch_axes, seeds, rule, skipped);
}

/// Removes the sites of a disc around a cell of each image.
flags_t with_disc(flags_t seeds, const shape_t& shape, std::int64_t row, std::int64_t column, std::int64_t radius) {
    const std::int64_t length = shape.back(), rows = shape[shape.size() - 2];
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::int64_t y = i / length % rows - row, x = i % length - column;
        if (y * y + x * x < radius * radius) seeds[static_cast<std::size_t>(i)] = 0;
    }
    return seeds;
}

TEST_P(ImageSites, Dense) {
    EXPECT_EQ(differs<std::int32_t>(GetParam(), make_random(GetParam().shape, 0.1, 5)), "");
    EXPECT_EQ(differs<std::int64_t>(GetParam(), make_random(GetParam().shape, 0.5, 6)), "");
    EXPECT_EQ(differs<std::int64_t>(GetParam(), make_random(GetParam().shape, 0.9, 7), sites::zero), "");
}

TEST_P(ImageSites, Sparse) {
    EXPECT_EQ(differs<std::int32_t>(GetParam(), make_random(GetParam().shape, 0.012, 5)), "");
    EXPECT_EQ(differs<std::int64_t>(GetParam(), make_random(GetParam().shape, 0.03, 6)), "");
}

TEST_P(ImageSites, DenseAroundAHole) {
    const shape_t& shape = GetParam().shape;
    const flags_t usual = make_random(shape, 0.1, 5);
    const std::int64_t length = shape.back(), rows = shape[shape.size() - 2];
    for (const std::int64_t radius : {8, 9, 15, 32, 33, 34, 90}) {
        EXPECT_EQ(differs<std::int32_t>(GetParam(), with_disc(usual, shape, 63, 128, radius)), "") << radius;
        EXPECT_EQ(differs<std::int64_t>(GetParam(), with_disc(usual, shape, rows - 1, length - 1, radius)), "")
            << radius;
    }
}

TEST_P(ImageSites, FewSites) {
    flags_t seeds(static_cast<std::size_t>(cells_of(GetParam().shape)), 0);
    EXPECT_EQ(differs<std::int64_t>(GetParam(), seeds), "") << "none";
    seeds[seeds.size() - 3] = 1;
    EXPECT_EQ(differs<std::int64_t>(GetParam(), seeds), "") << "one";
    EXPECT_EQ(differs<std::int32_t>(GetParam(), make_random(GetParam().shape, 0.003, 5)), "");
    EXPECT_EQ(differs<std::int32_t>(GetParam(), make_random(GetParam().shape, 0.0005, 5)), "");
}

TEST_P(ImageSites, MemoryThatBeginsAnywhere) {
    for (const std::size_t skipped : {1, 3, 4})
        EXPECT_EQ(differs<std::int32_t>(GetParam(), make_random(GetParam().shape, 0.1, 5), sites::nonzero, skipped), "")
            << skipped;
}

INSTANTIATE_TEST_SUITE_P(Shapes, ImageSites,
                         testing::Values(image_case{{256, 1040}, 0, "whole_tiles_and_a_part"},
                                         image_case{{2, 259, 1152}, 1, "two_images_of_odd_rows"}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace nearfield::test
