// Wrong calls of the exact engine: each throws an error that says what to do, before a byte is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <type_traits>

#include "base/parallel.hpp"
#include "exact/call.hpp"
#include "nearfield/voronoi.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A correct call on a 4x6 grid, which each test makes wrong in one way.
struct attempt {
    std::array<std::uint8_t, 24> image_memory{};
    std::array<float, 24> distance_memory{};
    std::array<std::uint32_t, 24> squared_memory{};
    std::array<std::int64_t, 24> index_memory{};
    std::array<std::int32_t, 48> coordinate_memory{};
    any_input<host> image = view<const std::uint8_t, 2, host>(image_memory.data(), {4, 6});
    fields<host> out;
    distance_options options;
    host on;

    attempt() {
        image_memory.fill(1);
        image_memory[9] = 0;
        distance_memory.fill(-5), squared_memory.fill(77), index_memory.fill(-7), coordinate_memory.fill(-8);
        out.distance = view<float, 2, host>(distance_memory.data(), {4, 6});
        out.squared = view<std::uint32_t, 2, host>(squared_memory.data(), {4, 6});
        out.index = view<std::int64_t, 2, host>(index_memory.data(), {4, 6});
        out.coordinates = view<std::int32_t, 3, host>(coordinate_memory.data(), {2, 4, 6});
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    [[nodiscard]] bool untouched() const {
        const auto all = [](const auto& memory, auto value) {
            return std::all_of(memory.begin(), memory.end(), [&](auto v) { return v == value; });
        };
        return std::accumulate(image_memory.begin(), image_memory.end(), 0) == 23 && all(distance_memory, -5.0F) &&
               all(squared_memory, 77U) && all(index_memory, -7) && all(coordinate_memory, -8);
    }

    /// Expects invalid_argument with all of `words` in the message, and unchanged outputs.
    void refused(std::initializer_list<const char*> words) {
        expect_refused([&] { distance_transform(on, image, out, options); }, words);
        EXPECT_TRUE(untouched());
    }
};

TEST(Arguments, TheUnspoiltCallIsFine) {
    attempt a;
    distance_transform(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.squared_memory[0], 10U);
    EXPECT_EQ(a.index_memory[0], 9);
    EXPECT_EQ(a.coordinate_memory[24], 3);
}

TEST(Arguments, NothingWanted) {
    attempt a;
    a.out = {};
    a.refused({"out", "distance", "squared", "index", "coordinates"});
}

TEST(Arguments, Rank) {
    for (int rank : {-1, 0, 9, 10, 1000}) {
        attempt a;
        a.image.rank = rank;
        a.refused({"image", std::to_string(rank).c_str(), "8"});
    }
    for (int rank : {1, 3, 9, 10, 1000}) {
        attempt a;
        a.out.distance.rank = rank;
        a.refused({"out.distance", "4x6"});
    }
    for (int rank : {1, 2, 4, 9, 10, 1000}) {
        attempt a;
        a.out.coordinates.rank = rank;
        a.refused({"out.coordinates", "2x4x6"});
    }
}

TEST(Arguments, Shape) {
    const auto each = [](auto spoil, const char* name) {
        attempt a;
        spoil(a);
        a.refused({name, "4x6"});
    };
    each([](attempt& a) { a.out.distance.shape[1] = 5; }, "out.distance");
    each([](attempt& a) { a.out.squared.shape[0] = 3; }, "out.squared");
    each([](attempt& a) { std::swap(a.out.index.shape[0], a.out.index.shape[1]); }, "out.index");
    each([](attempt& a) { a.out.coordinates.shape[2] = 5; }, "out.coordinates");
    each([](attempt& a) { a.out.coordinates.shape[0] = 3; }, "out.coordinates");
    each(
        [](attempt& a) {
            a.out.coordinates = a.out.coordinates;
            a.out.coordinates.shape = {4, 6, 2};
        },
        "out.coordinates");
    attempt negative;
    negative.image.shape[1] = -6;
    negative.refused({"image", "-6", "axis 1"});
    attempt huge;
    huge.image.shape[0] = std::int64_t{1} << 40;
    huge.refused({"image", "axis 0"});
}

TEST(Arguments, ElementType) {
    const auto each = [](any_output<host> fields<host>::*field, dtype type, const char* name) {
        attempt a;
        (a.out.*field).type = type;
        a.refused({name, name_of(type)});
    };
    const auto is_one_of = [](dtype type, std::initializer_list<dtype> accepted) {
        return std::find(accepted.begin(), accepted.end(), type) != accepted.end();
    };
    for (int t = 0; t < 12; ++t) {
        const auto type = static_cast<dtype>(t);
        const bool floating = is_one_of(type, {dtype::float16, dtype::float32, dtype::float64});
        if (!floating && type != dtype::boolean) each(&fields<host>::distance, type, "out.distance");
        if (!floating && !is_one_of(type, {dtype::uint16, dtype::uint32, dtype::uint64})) {
            each(&fields<host>::squared, type, "out.squared");
        }
        if (!is_one_of(type, {dtype::int32, dtype::int64})) each(&fields<host>::index, type, "out.index");
        if (type != dtype::int32) each(&fields<host>::coordinates, type, "out.coordinates");
    }
}

TEST(Arguments, SquaredTooNarrow) {
    attempt a;
    a.options.spacing = {0.5, 0.5};
    a.refused({"out.squared", "uint32", "float64"});
    attempt b;
    b.options.spacing = {1, 20000};  // 9 + 25 * 4e8 > 2^32
    b.refused({"out.squared", "uint32", "uint64"});
    attempt c;
    std::array<std::uint64_t, 24> wide{};
    c.out.squared = view<std::uint64_t, 2, host>(wide.data(), {4, 6});
    c.options.spacing = {1, 1e9};  // 25e18 > 2^62
    c.refused({"out.squared", "uint64", "float64"});
}

TEST(Arguments, Spacing) {
    for (double bad : {0.0, -0.0, -1.0, nan, inf, -inf, 1e-200, 1e200}) {
        attempt a;
        a.out.squared = {};
        a.options.spacing = {1, bad};
        a.refused({"spacing", "axis 1"});
        attempt b;
        b.out.squared = {};
        b.options.spacing = bad;
        b.refused({"spacing", "axis 0"});
    }
    for (std::size_t count : {3U, 4U, 8U, 9U, 50U}) {
        attempt a;
        const std::vector<double> values(count, 1.0);
        a.options.spacing = spacing(values.data(), count);
        a.refused({"spacing", std::to_string(count).c_str(), "4x6", "one per axis"});
    }
}

/// Each square fits a double, but the largest squared distance would be infinite, which means "no site".
TEST(Arguments, SpacingWhoseDistancesOverflow) {
    attempt a;
    a.out.squared = {};
    a.options.spacing = 1e154;
    a.refused({"spacing"});
}

TEST(Arguments, Overlap) {
    // Each output overlaps the image: from its first byte, at its last byte, and with reversed strides.
    attempt a;
    a.image.data = reinterpret_cast<const std::uint8_t*>(a.distance_memory.data()) + 95;
    a.image.stride = {0, 0};
    a.refused({"out.distance", "image", "overlap"});
    attempt b;
    b.image.data = b.index_memory.data();
    b.image.type = dtype::int64;
    b.refused({"out.index", "image", "overlap"});
    attempt c;
    c.out.squared.data = c.distance_memory.data();
    c.refused({"out.squared", "out.distance", "overlap"});
    attempt d;
    d.out.coordinates.data = reinterpret_cast<std::int32_t*>(d.index_memory.data()) + 47;
    d.refused({"out.coordinates", "out.index", "overlap"});
    attempt e;
    e.out.squared.data = e.distance_memory.data() + 23;
    e.out.squared.stride = {-6, -1};
    e.refused({"out.squared", "out.distance", "overlap"});
}

TEST(Arguments, OutputThatMeetsItself) {
    for (auto stride : {std::array<std::int64_t, 2>{0, 1}, {6, 0}, {1, 1}, {5, 1}, {-5, 1}, {1, -3}}) {
        attempt a;
        a.out.distance.stride = {stride[0], stride[1]};
        a.refused({"out.distance", "stride"});
    }
    attempt b;  // planes of the coordinates overlap each other
    b.out.coordinates.stride = {0, 6, 1};
    b.refused({"out.coordinates", "stride"});
}

TEST(Arguments, NoData) {
    attempt a;
    a.image.data = nullptr;
    a.refused({"image", "null"});
    attempt b;
    b.out.index.data = nullptr;
    b.refused({"out.index", "null"});
}

TEST(Arguments, Threads) {
    attempt a;
    a.on.threads = -1;
    a.refused({"threads", "negative"});
    EXPECT_EQ(thread_count(host{4097}), 4096);
}

/// Unusual calls that are allowed: touching arrays, broadcast images, null pointers without cells, unused strides.
TEST(Arguments, AllowedEdges) {
    attempt a;
    a.image.stride = {0, 0};
    a.out.distance.stride = {-6, 1};
    a.out.distance.data = a.distance_memory.data() + 18;
    distance_transform(a.on, a.image, a.out, a.options);
    EXPECT_EQ(a.distance_memory[0], inf);

    std::array<std::uint32_t, 48> both{};
    attempt b;
    b.out.squared.data = both.data();
    b.image.data = both.data() + 24;
    b.image.type = dtype::uint32;
    distance_transform(b.on, b.image, b.out, b.options);
    EXPECT_EQ(both[5], 0U);

    const auto none = shape_t{3, 0};
    fields<host> empty;
    empty.distance = any_output<host>::contiguous(nullptr, dtype::float32, none);
    empty.squared = any_output<host>::contiguous(nullptr, dtype::uint32, none);
    distance_transform(host{}, any_input<host>::contiguous(nullptr, dtype::uint8, none), empty);

    std::uint8_t cell = 0;
    float distance = -1;
    const std::array<std::int64_t, 2> wild{1 << 30, -(1 << 30)};
    nearfield::distance(host{}, view<const std::uint8_t, 2, host>(&cell, {1, 1}, wild),
                        view<float, 2, host>(&distance, {1, 1}, wild));
    EXPECT_EQ(distance, 0.0F);
}

TEST(Arguments, SquaredDistanceType) {
    for (const auto* shapes : {&small_shapes(), &medium_shapes()}) {
        for (const shape_case& c : *shapes) {
            if (cells_of(c.shape) == 0) continue;
            for (const spacing_case& cell : spacings()) {
                const auto values = per_axis(cell, c.shape.size());
                const dtype expected[] = {dtype::uint32, dtype::uint64, dtype::float64};
                EXPECT_EQ(squared_distance_type(c.shape.data(), static_cast<int>(c.shape.size()),
                                                {.spacing = spacing(values.data(), values.size())}),
                          expected[static_cast<int>(oracle::squared_width(c.shape, values))])
                    << text_of(c.shape) << ", spacing " << cell.why;
            }
        }
    }
    const std::int64_t shape[] = {4, 6};
    EXPECT_THROW((void)squared_distance_type(shape, 0), error);
    EXPECT_THROW((void)squared_distance_type(shape, 9), error);
    EXPECT_THROW((void)squared_distance_type(shape, 2, {.spacing = nan}), error);
    EXPECT_THROW((void)squared_distance_type(shape, 2, {.spacing = {1, 2, 3}}), error);
}

TEST(Shortcuts, FillTheFieldTheyName) {
    attempt a;
    nearfield::squared_distance(host{}, a.image, a.out.squared);
    nearfield::distance(host{}, a.image, a.out.distance);
    EXPECT_EQ(a.squared_memory[0], 10U);
    EXPECT_EQ(a.distance_memory[0], static_cast<float>(std::sqrt(10.0)));
    for (auto& cell : a.image_memory) cell = cell == 0 ? 3 : 0;  // voronoi() takes nonzero cells as sites
    voronoi(host{}, a.image, a.out.index);
    voronoi(host{}, a.image, a.out.coordinates);
    EXPECT_EQ(a.index_memory[23], 9);
    EXPECT_EQ(a.coordinate_memory[23], 1);
    EXPECT_EQ(a.coordinate_memory[47], 3);
}

TEST(Progress, IsMonotoneAndCancels) {
    const shape_t shape{300, 400};
    const solved s = solve(shape, make_fill(fill::percent, shape), spacings()[0]);
    call c(s, outputs::all(), dress{});
    fields<host> out;
    out.distance = c.distance->view_of<host, void>(c.distance->bytes().data());
    const void* image = c.image.bytes().data();
    double last = 0;
    bool rising = true;
    host on;
    on.threads = 2;
    on.progress = [&](double share) {
        rising = rising && share >= last && share <= 1;
        last = share;
        return true;
    };
    distance_transform(on, c.image.view_of<host>(image), out);
    EXPECT_TRUE(rising);
    EXPECT_GT(last, 0);
    on.progress = [](double) { return false; };
    try {
        distance_transform(on, c.image.view_of<host>(image), out);
        ADD_FAILURE() << "was not cancelled";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled);
    }
}

// A view of one place must not convert to an argument for the other.
static_assert(!std::is_constructible_v<any_input<host>, view<float, 2, device>>);
static_assert(!std::is_constructible_v<any_output<host>, view<const float, 2, host>>);
static_assert(!std::is_constructible_v<any_output<host>, any_input<host>>);

}  // namespace
}  // namespace nearfield::test
