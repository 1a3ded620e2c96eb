// Images in which every cell has a site close by, which go in one kernel on the device once earlier ones of their size were so: bit
// for bit the host's, whatever the image is that comes next.
#include <gtest/gtest.h>

#include "exact/cuda_close.hpp"
#include "exact/device_engine.hpp"
#include "exact/fills.hpp"
#include "exact/plan.hpp"

namespace nearfield::test {
namespace {

struct close_case {
    shape_t shape;
    int batch_axes = 0;
    const char* name = "";
};

void PrintTo(const close_case& c, std::ostream* to) { *to << c.name; }

class CloseImages : public testing::TestWithParam<close_case> {
protected:
    void SetUp() override {
        if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    }
};

template <class Place, class T>
fields<Place> wanted(T* out, const shape_t& shape) {
    fields<Place> to;
    if constexpr (std::is_same_v<T, float>) to.distance = any_output<Place>::contiguous(out, dtype::float32, shape);
    else to.index = any_output<Place>::contiguous(out, sizeof(T) == 4 ? dtype::int32 : dtype::int64, shape);
    return to;
}

/// A device's image and field, which calls one after another use.
template <class T>
class caller {
public:
    explicit caller(const close_case& c)
        : c_(c),
          image_(static_cast<std::size_t>(cells_of(c.shape))),
          out_(static_cast<std::size_t>(cells_of(c.shape)) * sizeof(T)) {
        options_.sites = sites::nonzero, options_.batch_axes = c.batch_axes;
    }

    /// What differs from the host's field, if anything does.
    std::string differs(const flags_t& seeds) {
        std::vector<T> expected(seeds.size()), found(seeds.size(), T{-5});
        distance_transform(host{}, any_input<host>::contiguous(seeds.data(), dtype::uint8, c_.shape),
                           wanted<host>(expected.data(), c_.shape), options_);
        copy(image_.data(), seeds.data(), seeds.size());
        copy(out_.data(), found.data(), out_.bytes());
        distance_transform(device{on_.get()}, input(), output(), options_);
        copy(found.data(), out_.data(), out_.bytes());
        on_.wait();
        for (std::size_t i = 0; i < expected.size(); ++i)
            if (std::memcmp(&expected[i], &found[i], sizeof(T)) != 0)
                return "cell " + std::to_string(i) + ": " + std::to_string(found[i]) + ", on the host " +
                       std::to_string(expected[i]);
        return {};
    }
    bool next_is_close() { return exact::next_is_close(exact::make_plan(input(), output(), {.options = options_})); }

private:
    any_input<device> input() { return any_input<device>::contiguous(image_.data(), dtype::uint8, c_.shape); }
    fields<device> output() { return wanted<device>(static_cast<T*>(out_.data()), c_.shape); }
    void copy(void* to, const void* from, std::size_t bytes) {
        expect_cuda(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, on_.get()), "copy");
    }

    const close_case& c_;
    const stream on_;
    const device_memory image_, out_;
    distance_options options_;
};

/// No site in a disc about a cell of each image.
flags_t with_disc(flags_t sites, const shape_t& shape, std::int64_t row, std::int64_t column, std::int64_t radius) {
    const std::int64_t length = shape.back(), rows = shape[shape.size() - 2];
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::int64_t y = i / length % rows - row, x = i % length - column;
        if (y * y + x * x < radius * radius) sites[static_cast<std::size_t>(i)] = 0;
    }
    return sites;
}

template <class T>
void calls_one_after_another(const close_case& c, double share) {
    caller<T> call(c);
    exact::forget_close_images();
    const flags_t usual = make_random(c.shape, share, 5);
    ASSERT_FALSE(call.next_is_close());
    ASSERT_EQ(call.differs(usual), "");
    ASSERT_TRUE(call.next_is_close()) << "after an image in which all have a site close by";
    EXPECT_EQ(call.differs(make_random(c.shape, share, 6)), "");
    EXPECT_EQ(call.differs(make_random(c.shape, 0.01, 7)), "");
    EXPECT_EQ(call.differs(with_disc(usual, c.shape, 70, 129, 15)), "") << "farther than bits tell";
    ASSERT_TRUE(call.next_is_close());
    const std::int64_t length = c.shape.back(), rows = c.shape[c.shape.size() - 2];
    flags_t one(usual.size(), 0), none(usual.size(), 0);
    one[usual.size() - 3] = 1;
    const std::pair<const char*, flags_t> far[] = {
        {"a disc of 32", with_disc(usual, c.shape, 63, 128, 32)},
        {"a disc of 34", with_disc(usual, c.shape, 63, 128, 34)},
        {"a disc in the corner", with_disc(usual, c.shape, rows - 1, length - 1, 90)},
        {"one site", one},
        {"none", none}};
    for (const auto& [name, seeds] : far) {
        exact::forget_close_images();
        ASSERT_EQ(call.differs(usual), "") << name;
        ASSERT_TRUE(call.next_is_close()) << name;
        EXPECT_EQ(call.differs(seeds), "") << name;
    }
    EXPECT_FALSE(call.next_is_close()) << "after an image without a site";
}

TEST_P(CloseImages, DistancesOfManySites) { calls_one_after_another<float>(GetParam(), 0.1); }
TEST_P(CloseImages, DistancesOfFewSites) { calls_one_after_another<float>(GetParam(), 0.012); }
TEST_P(CloseImages, SitesInInt32) { calls_one_after_another<std::int32_t>(GetParam(), 0.1); }
TEST_P(CloseImages, SitesInInt64) { calls_one_after_another<std::int64_t>(GetParam(), 0.012); }

TEST_P(CloseImages, SparseOnesGoTheCommonWay) {
    caller<float> call(GetParam());
    for (int i = 0; i < 3; ++i) {
        exact::forget_close_images();
        ASSERT_EQ(call.differs(make_random(GetParam().shape, 0.002, 5)), "");
        EXPECT_FALSE(call.next_is_close());
    }
}

/// Squared distances beyond 2^24, which not every float tells apart.
TEST(CloseImage, FarthestCells) {
    if (!why_no_device().empty()) GTEST_SKIP() << why_no_device();
    const close_case c{{4096, 1040}, 0, ""};
    caller<float> call(c);
    exact::forget_close_images();
    ASSERT_EQ(call.differs(make_random(c.shape, 0.1, 5)), "");
    ASSERT_TRUE(call.next_is_close());
    flags_t one(static_cast<std::size_t>(cells_of(c.shape)), 0);
    one[3] = 1;
    EXPECT_EQ(call.differs(one), "");
}

INSTANTIATE_TEST_SUITE_P(Shapes, CloseImages,
                         testing::Values(close_case{{256, 1040}, 0, "whole_tiles_and_a_part"},
                                         close_case{{2, 259, 1152}, 1, "two_images_of_odd_rows"}),
                         [](const auto& of) { return of.param.name; });

}  // namespace
}  // namespace nearfield::test
