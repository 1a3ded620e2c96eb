// Wrong calls: each throws an error that says what to do, before a byte is written. Also stops calls by progress.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>

#include "nearfield/label.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// A correct call on a 4x6 image, which each test makes wrong in one way.
struct attempt {
    std::array<std::uint8_t, 24> image_memory{};
    std::array<std::int32_t, 24> label_memory{};
    std::array<std::int64_t, 24> count_memory{};
    std::array<double, 48> table_memory{};
    any_input<host> image = view<const std::uint8_t, 2, host>(image_memory.data(), {4, 6});
    label_fields<host> out;
    label_options options;
    std::vector<std::uint8_t> steps;
    host on{1};

    attempt() {
        for (std::size_t i = 0; i < 24; i += 2) image_memory[i] = 1;  // three columns
        label_memory.fill(-5), count_memory.fill(-7), table_memory.fill(-9);
        out.label = view<std::int32_t, 2, host>(label_memory.data(), {4, 6});
        out.count = view<std::int64_t, 1, host>(count_memory.data(), {1});
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    void refused(std::initializer_list<const char*> words) {
        if (!steps.empty()) options.steps = steps;
        expect_refused([&] { label(on, image, out, options); }, words);
        EXPECT_EQ(std::count(label_memory.begin(), label_memory.end(), -5), 24);
        EXPECT_EQ(std::count(count_memory.begin(), count_memory.end(), -7), 24);
        EXPECT_EQ(std::count(table_memory.begin(), table_memory.end(), -9), 48);
    }
};

TEST(LabelArguments, TheUnspoiltCallIsFine) {
    attempt a;
    label(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.count_memory[0], 3);
    EXPECT_EQ(a.label_memory[22], 3);
}
TEST(LabelArguments, NothingWanted) {
    attempt a;
    a.out = {};
    a.refused({"out", "label", "count", "tables"});
}
TEST(LabelArguments, Connectivity) {
    for (const int bad : {0, 3, 5, 6, 18, -1}) {
        attempt a;
        a.options.connectivity = bad;
        a.refused({"connectivity", std::to_string(bad).c_str(), "4 or 8"});
    }
    for (const int good : {1, 2, 4, 8}) {
        attempt a;
        a.options.connectivity = good;
        label(a.on, a.image, a.out, a.options);
    }
}
TEST(LabelArguments, CriterionToleranceAndNorm) {
    attempt a;
    a.options.criterion = static_cast<criterion>(4);
    a.refused({"criterion", "4", "within", "links"});
    for (const scalar& bad : {scalar(-1), scalar(-0.5), scalar(std::numeric_limits<double>::quiet_NaN())}) {
        attempt b;
        b.options.criterion = criterion::within, b.options.tolerance = bad;
        b.refused({"tolerance", "0 or more"});
    }
    attempt c;
    c.options.norm = static_cast<colour_norm>(3);
    c.refused({"norm", "3", "euclidean"});
}
TEST(LabelArguments, Graphs) {
    attempt a;
    a.options.criterion = criterion::links;
    label(a.on, a.image, a.out, a.options);  // every other cell links to the right
    EXPECT_EQ(a.count_memory[0], 12);
    attempt b;
    std::array<float, 24> weights{};
    b.options.criterion = criterion::links;
    b.image = view<const float, 2, host>(weights.data(), {4, 6});
    b.refused({"image", "float32", "uint8"});
    attempt c;
    c.options.criterion = criterion::links, c.options.channels = true;
    c.image = view<const std::uint8_t, 3, host>(c.image_memory.data(), {4, 6, 1});
    c.refused({"channels", "links"});
    attempt d;
    d.options.criterion = criterion::links, d.options.connectivity = 26;
    d.image = view<const std::uint8_t, 3, host>(d.image_memory.data(), {2, 2, 6});
    d.out.label = view<std::int32_t, 3, host>(d.label_memory.data(), {2, 2, 6});
    d.refused({"image", "uint8", "uint32", "connectivity 6"});
    attempt e;
    e.options.criterion = criterion::links;
    e.image = view<const std::uint8_t, 4, host>(e.image_memory.data(), {1, 2, 2, 6});
    e.out.label = view<std::int32_t, 4, host>(e.label_memory.data(), {1, 2, 2, 6});
    e.refused({"links", "4 axes", "1 to 3"});
}
TEST(LabelArguments, BatchAndChannels) {
    attempt a;
    a.options.batch_axes = 2;
    a.refused({"batch_axes", "2", "4x6"});
    attempt b;
    b.options.batch_axes = -1;
    b.refused({"batch_axes", "-1"});
    attempt c;
    c.options.channels = true;
    c.refused({"channels", "6", "1 to 4"});
    attempt d;
    d.options.batch_axes = 1;
    d.refused({"out.count", "1", "4 images"});
    attempt e;
    e.options.channels = true, e.image.type = dtype::int32;
    e.refused({"image", "int32", "uint8"});
}
TEST(LabelArguments, Borders) {
    attempt a;
    a.options.border = border::closed;
    a.refused({"border", "axis 0", "closed", "periodic"});
    attempt b;
    b.options.border = {border::open, border::open, border::open};
    b.refused({"border", "3", "2-D"});
}
TEST(LabelArguments, Steps) {
    attempt a;
    a.steps.assign(8, 1);
    a.refused({"steps", "8", "9"});
    attempt b;
    b.steps.assign(9, 1), b.steps[0] = 0;
    b.refused({"steps[0]", "steps[8]"});
    attempt c;
    c.steps.assign(9, 1), c.options.border = border::periodic;
    c.refused({"steps", "periodic", "connectivity"});
}
TEST(LabelArguments, Filters) {
    attempt a;
    a.options.smallest = -1;
    a.refused({"smallest", "-1"});
    attempt b;
    b.options.largest = -2;
    b.refused({"largest", "-2"});
    attempt c;
    c.options.keep_largest = -3;
    c.refused({"keep_largest", "-3"});
}
TEST(LabelArguments, TypesAndShapes) {
    attempt a;
    a.out.label.type = dtype::float32;
    a.refused({"out.label", "float32", "int32"});
    attempt b;
    b.image.type = dtype::float16;
    b.refused({"image", "float16", "float32"});
    attempt c;
    c.out.label.shape[1] = 5;
    c.refused({"out.label", "4x5", "4x6"});
    attempt d;
    d.out.count.type = dtype::int32;
    d.refused({"out.count", "int32", "int64"});
    attempt e;
    e.image.rank = 9;
    e.refused({"image", "9", "1 to 8"});
    attempt f;
    f.on.threads = -1;
    f.refused({"threads", "-1"});
}
TEST(LabelArguments, Tables) {
    attempt a;
    a.out.tables.size = view<double, 1, host>(a.table_memory.data(), {3});
    a.refused({"tables.size", "float64", "int64"});
    attempt b;
    b.out.tables.centroid = view<double, 2, host>(b.table_memory.data(), {3, 3});
    b.refused({"tables.centroid", "3x3", "Nx2"});
    attempt c;
    c.out.tables.mean = view<double, 1, host>(c.table_memory.data(), {3});
    c.refused({"tables.mean", "tables.intensity"});
    c.out.tables.intensity = view<const std::uint8_t, 1, host>(c.image_memory.data(), {24});
    c.refused({"tables.intensity", "24", "4x6"});
    attempt d;
    d.out.tables.intensity = d.image;
    d.out.tables.lowest = view<double, 1, host>(d.table_memory.data(), {3});
    d.refused({"tables.lowest", "float64", "uint8"});
    attempt e;
    e.out.make_tables = [](std::int64_t) { return component_tables<host>{}; };
    e.out.tables.centroid = view<double, 2, host>(e.table_memory.data(), {3, 2});
    e.refused({"tables", "make_tables"});
    attempt f;
    f.out.tables.centroid = view<double, 2, host>(f.table_memory.data(), {3, 2});
    f.out.tables.variance = view<double, 1, host>(f.table_memory.data() + 5, {3});
    f.out.tables.intensity = f.image;
    f.refused({"tables.variance overlaps tables.centroid"});
}
TEST(LabelArguments, OverlapAndNull) {
    attempt a;
    a.out.count.data = a.label_memory.data();
    a.refused({"out.count overlaps out.label"});
    attempt b;
    b.out.label.data = b.image_memory.data();
    b.refused({"out.label overlaps image"});
    attempt c;
    c.image.data = nullptr;
    c.refused({"image", "null"});
    attempt d;
    d.out.label.stride[0] = 0;
    d.refused({"out.label", "strides"});
}

/// More components than uint16 can number give an error, and no label is written; filtered ones do not count.
TEST(LabelArguments, MoreComponentsThanTheLabelsTypeNumbers) {
    constexpr std::int64_t n = 512;
    std::vector<std::uint8_t> image(n * n, 0);
    std::vector<std::uint16_t> labels(image.size(), 7);
    for (std::int64_t i = 0; i < n * n; ++i) image[i] = (i / n + i % n) % 2 == 0;
    for (int threads : {1, 3}) {
        try {
            label(host{threads}, view<const std::uint8_t, 2, host>(image.data(), {n, n}),
                  view<std::uint16_t, 2, host>(labels.data(), {n, n}));
            ADD_FAILURE() << "was accepted";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::invalid_argument);
            for (const char* word : {"out.label", "uint16", "65535", "131072", "int32"})
                EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
        }
        EXPECT_EQ(std::count(labels.begin(), labels.end(), 7), n * n);
    }
    label(host{2}, view<const std::uint8_t, 2, host>(image.data(), {n, n}),
          view<std::uint16_t, 2, host>(labels.data(), {n, n}), {.keep_largest = 65535});
    EXPECT_EQ(*std::max_element(labels.begin(), labels.end()), 65535);
}

TEST(LabelArguments, MostComponentsAndLabelType) {
    const std::int64_t shape[] = {100, 200}, volume[] = {2, 2048, 2048, 2048};
    EXPECT_EQ(most_components(shape, 2), 10000);
    EXPECT_EQ(most_components(shape, 2, {.connectivity = 8}), 5000);
    EXPECT_EQ(most_components(shape, 2, {.criterion = criterion::equal}), 20000);
    EXPECT_EQ(most_components(shape, 2, {.smallest = 10}), 2000);
    EXPECT_EQ(most_components(shape, 2, {.keep_largest = 3}), 3);
    EXPECT_EQ(most_components(shape, 2, {.batch_axes = 1}), 100);
    EXPECT_EQ(label_type(shape, 2), dtype::int32);
    EXPECT_EQ(label_type(volume, 4, {.connectivity = 6, .batch_axes = 1}), dtype::int64);
    EXPECT_EQ(label_type(volume, 4, {.connectivity = 18, .batch_axes = 1}), dtype::int64);
    EXPECT_EQ(label_type(volume, 4, {.connectivity = 26, .batch_axes = 1}), dtype::int32);
    EXPECT_THROW((void)most_components(shape, 2, {.connectivity = 7}), error);
    EXPECT_THROW((void)most_components(shape, 0), error);
}

TEST(LabelArguments, EmptyImages) {
    std::int64_t count[2] = {5, 5};
    std::int32_t untouched = 5;
    label_fields<host> out;
    out.label = view<std::int32_t, 3, host>(&untouched, {2, 0, 4});
    out.count = view<std::int64_t, 1, host>(count, {2});
    label(host{2}, view<const float, 3, host>(nullptr, {2, 0, 4}), out, {.batch_axes = 1});
    EXPECT_EQ(untouched, 5);
    EXPECT_EQ(count[0] + count[1], 0);
}

TEST(LabelProgress, IsToldAndStops) {
    constexpr std::int64_t n = 700;
    std::vector<std::uint8_t> image(n * n, 1);
    std::vector<std::int32_t> labels(image.size());
    const auto run = [&](const host& on) {
        label(on, view<const std::uint8_t, 2, host>(image.data(), {n, n}),
              view<std::int32_t, 2, host>(labels.data(), {n, n}));
    };
    for (int threads : {1, 3}) {
        double last = 0;
        int calls = 0;
        run(host{threads, [&](double done) { return ++calls, last = std::max(last, done), true; }});
        EXPECT_GT(calls, 4);
        EXPECT_GT(last, 0.7);
        EXPECT_LE(last, 1.0);
        try {
            run(host{threads, [](double) { return false; }});
            ADD_FAILURE() << "was not stopped";
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::cancelled);
        }
    }
}

}  // namespace
}  // namespace nearfield::test
