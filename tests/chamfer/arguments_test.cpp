// Wrong calls: each throws an error that says what to do, before a byte is written. Also stops calls by progress.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "nearfield/chamfer.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// A correct call on a 4x6 grid, which each test makes wrong in one way.
struct attempt {
    std::array<std::uint8_t, 24> image_memory{};
    std::array<std::int32_t, 24> distance_memory{};
    std::array<std::int64_t, 24> index_memory{};
    std::array<std::int32_t, 48> coordinate_memory{};
    any_input<host> image = view<const std::uint8_t, 2, host>(image_memory.data(), {4, 6});
    chamfer_fields<host> out;
    chamfer_options options;
    host on{1};
    std::vector<std::int32_t> weights = step_weights(2, {3, 4});

    attempt() {
        image_memory.fill(1);
        image_memory[9] = 0;
        distance_memory.fill(-5), index_memory.fill(-7), coordinate_memory.fill(-8);
        out.distance = view<std::int32_t, 2, host>(distance_memory.data(), {4, 6});
        out.index = view<std::int64_t, 2, host>(index_memory.data(), {4, 6});
        out.coordinates = view<std::int32_t, 3, host>(coordinate_memory.data(), {2, 4, 6});
        options.weights = weights;
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    void refused(std::initializer_list<const char*> words) {
        expect_refused([&] { chamfer_transform(on, image, out, options); }, words);
        EXPECT_EQ(std::count(distance_memory.begin(), distance_memory.end(), -5), 24);
        EXPECT_EQ(std::count(index_memory.begin(), index_memory.end(), -7), 24);
        EXPECT_EQ(std::count(coordinate_memory.begin(), coordinate_memory.end(), -8), 48);
    }
};

TEST(ChamferArguments, TheUnspoiltCallIsFine) {
    attempt a;
    chamfer_transform(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.distance_memory[0], 10);  // two diagonal steps do not fit, so 4 + 3 + 3
    EXPECT_EQ(a.index_memory[0], 9);
    EXPECT_EQ(a.coordinate_memory[24], 3);
}
TEST(ChamferArguments, NothingWanted) {
    attempt a;
    a.out = {};
    a.refused({"out", "distance", "index", "coordinates"});
}
TEST(ChamferArguments, NumberOfWeights) {
    attempt a;
    a.weights.resize(8);
    a.options.weights = a.weights;
    a.refused({"weights", "8", "9"});
}
TEST(ChamferArguments, NegativeWeight) {
    attempt a;
    a.weights[3] = -1;
    a.refused({"weights[3]", "-1"});
}
TEST(ChamferArguments, TheMiddleIsNotLookedAt) {
    attempt a;
    a.weights[4] = -1;
    chamfer_transform(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.distance_memory[9], 0);
}
TEST(ChamferArguments, DistancesThatDoNotFit) {
    attempt a;
    a.weights = step_weights(2, {1 << 29, 1 << 29});
    a.options.weights = a.weights;
    a.refused({"weights", "536870912", "4x6", "int32"});
    // A path has at most eight steps, and one more must not overflow.
    const std::int32_t largest = 2147483647 / 9;
    a.weights = step_weights(2, {largest, largest});
    a.options.weights = a.weights;
    chamfer_transform(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.distance_memory[0], 3 * largest);
    attempt b;
    b.weights = step_weights(2, {largest + 1, largest + 1});
    b.options.weights = b.weights;
    b.refused({"weights", "int32"});
}
TEST(ChamferArguments, OutputTypes) {
    attempt a;
    a.out.distance.type = dtype::float32;
    a.refused({"out.distance", "float32", "int32"});
    attempt b;
    b.out.index.type = dtype::uint32;
    b.refused({"out.index", "uint32", "int64"});
    attempt c;
    c.out.coordinates.type = dtype::uint32;
    c.refused({"out.coordinates", "uint32", "int32"});
}
TEST(ChamferArguments, Shapes) {
    attempt a;
    a.out.distance.shape[1] = 5;
    a.refused({"out.distance", "4x5", "4x6"});
    attempt b;
    b.out.coordinates.shape[0] = 3;
    b.refused({"out.coordinates", "2x4x6"});
    attempt c;
    c.image.rank = 9;
    c.refused({"image", "9", "1 to 8"});
}
TEST(ChamferArguments, OverlapAndNull) {
    attempt a;
    a.out.index.data = a.coordinate_memory.data();
    a.refused({"out.coordinates overlaps out.index"});
    attempt b;
    b.image.data = nullptr;
    b.refused({"image", "null"});
}
TEST(ChamferArguments, OtherLabelsAndThreads) {
    attempt a;
    a.options.sites = sites::other_labels;
    a.refused({"sites", "other_labels"});
    attempt c;
    c.options.ties = static_cast<tie_rule>(2);
    c.refused({"ties", "2"});
    attempt b;
    b.on.threads = -1;
    b.refused({"threads"});
}
TEST(ChamferArguments, StepWeights) {
    EXPECT_THROW((void)step_weights(0, {1}), error);
    EXPECT_THROW((void)step_weights(9, {1}), error);
    EXPECT_THROW((void)step_weights(2, {1, 1, 1}), error);
}
TEST(ChamferArguments, EmptyAxes) {
    chamfer_fields<host> out;
    std::int32_t untouched = 5;
    out.distance = view<std::int32_t, 3, host>(&untouched, {3, 0, 4});
    chamfer_transform(host{2}, view<const float, 3, host>(nullptr, {3, 0, 4}), out);
    EXPECT_EQ(untouched, 5);
}

TEST(ChamferProgress, IsToldAndStops) {
    const std::int64_t n = 300;
    std::vector<std::uint8_t> image(static_cast<std::size_t>(n * n), 1);
    std::vector<std::int32_t> distance(image.size());
    chamfer_fields<host> out;
    out.distance = view<std::int32_t, 2, host>(distance.data(), {n, n});
    for (int threads : {1, 3}) {
        double last = 0;
        int calls = 0;
        chamfer_transform(host{threads, [&](double done) { return ++calls, last = std::max(last, done), true; }},
                          view<const std::uint8_t, 2, host>(image.data(), {n, n}), out);
        EXPECT_GT(calls, 4);
        EXPECT_GT(last, 0.7);
        EXPECT_LE(last, 1.0);
        try {
            chamfer_transform(host{threads, [](double) { return false; }},
                              view<const std::uint8_t, 2, host>(image.data(), {n, n}), out);
            ADD_FAILURE() << "was not stopped";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::cancelled);
        }
    }
}

}  // namespace
}  // namespace nearfield::test
