// Wrong options: each throws an error that names the option and says what to do, before a byte is written.
#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <limits>

#include "exact/guarded.hpp"
#include "exact/options_fields.hpp"
#include "nearfield/plan.hpp"
#include "nearfield/voronoi.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

/// A correct call with every field on a 2x3x4 grid, which each test makes wrong in one way.
struct options_attempt {
    shape_t shape{2, 3, 4};
    std::vector<std::byte> memory = std::vector<std::byte>(4096, std::byte{0x5a});
    any_input<host> image, weights;
    fields<host> out;
    distance_options options;
    std::size_t used = 0;

    explicit options_attempt(dtype type = dtype::int32) {
        image = array(type, shape), weights = array(dtype::float32, shape);
        out.squared = array(dtype::float64, shape);
        out.distance = array(dtype::float64, shape);
        out.index = array(dtype::int64, shape);
        out.coordinates = array(dtype::int32, {3, 2, 3, 4});
        out.label = array(type, shape);
        out.trusted = array(dtype::uint8, shape);
    }

    any_output<host> array(dtype type, const shape_t& sizes) {
        std::byte* data = memory.data() + used;
        used += static_cast<std::size_t>((cells_of(sizes) * size_of(type) + 15) / 16 * 16);
        return any_output<host>::contiguous(data, type, sizes);
    }
    void for_power() { out.distance = {}, out.trusted = {}; }

    void refused(std::initializer_list<const char*> words) {
        refused_by([this] { distance_transform(host{}, image, out, options); }, words);
        refused_by([this] { (void)plan(host{}, image, out, options); }, words);
        const job<host> jobs[] = {{image, out}};
        refused_by([&] { distance_transform(host{}, jobs, options); }, words);
    }
    void power_refused(std::initializer_list<const char*> words) {
        refused_by([this] { power_diagram(host{}, image, weights, out, options); }, words);
    }
    template <class Call>
    void refused_by(Call&& call, std::initializer_list<const char*> words) {
        const std::vector<std::byte> before = memory;
        expect_refused(call, words);
        EXPECT_EQ(memory, before);
    }
};

TEST(OptionsArguments, TheUnspoiltCallsAreFine) {
    options_attempt a;
    distance_transform(host{}, a.image, a.out, a.options);
    options_attempt b;
    b.for_power();
    power_diagram(host{}, b.image, b.weights, b.out);
}

TEST(OptionsArguments, MaxDistance) {
    for (double bad : {nan, -1.0, -inf, -1e-300}) {
        options_attempt a;
        a.options.max_distance = bad;
        a.refused({"max_distance", "0"});
    }
    for (double fine : {0.0, -0.0, 1e-300, 1e300, inf}) {
        options_attempt a;
        a.options.max_distance = fine;
        EXPECT_NO_THROW(distance_transform(host{}, a.image, a.out, a.options)) << fine;
    }
}

TEST(OptionsArguments, Border) {
    for (std::size_t count : {2U, 4U, 8U, 9U, 50U}) {
        options_attempt a;
        const std::vector<border> values(count, border::closed);
        a.options.border = borders(values.data(), count);
        a.refused({"border", std::to_string(count).c_str(), "2x3x4", "axis"});
    }
    options_attempt a;
    a.options.border = {border::open, static_cast<border>(3), border::open};
    a.refused({"border", "axis 1", "3"});
}

TEST(OptionsArguments, Spacing) {
    for (double bad : {0.0, -1.0, nan, inf}) {
        options_attempt a;
        a.options.spacing = {1, 1, bad};
        a.refused({"spacing", "axis 2"});
    }
    options_attempt a;
    a.options.spacing = {1, 2};
    a.refused({"spacing", "2", "2x3x4"});
}

TEST(OptionsArguments, BatchAxes) {
    for (int bad : {-1, 3, 4, 8, 1000}) {
        options_attempt a;
        a.options.batch_axes = bad;
        a.refused({"batch_axes", std::to_string(bad).c_str()});
    }
    options_attempt a;  // within a batch, coordinates have two planes
    a.options.batch_axes = 1;
    a.refused({"out.coordinates", "2x2x3x4"});
}

TEST(OptionsArguments, EnumsOutOfRange) {
    options_attempt a;
    a.options.sites = static_cast<sites>(3);
    a.refused({"sites"});
    options_attempt b;
    b.options.sign = static_cast<sign>(3);
    b.refused({"sign"});
}

TEST(OptionsArguments, LabelsOfFloatingPoint) {
    for (dtype type : {dtype::float16, dtype::float32, dtype::float64}) {
        options_attempt a(type);
        a.options.sites = sites::other_labels;
        a.refused({"image", name_of(type), "other_labels"});
    }
}

TEST(OptionsArguments, NothingWanted) {
    options_attempt a;
    a.out = {};
    a.refused({"out", "label", "trusted"});
}

TEST(OptionsArguments, FieldTypes) {
    for (int t = 0; t < 12; ++t) {
        const auto type = static_cast<dtype>(t);
        const auto spoil = [&](any_output<host> fields<host>::*field, const char* name) {
            options_attempt a;
            (a.out.*field).type = type;
            a.refused({name, name_of(type)});
        };
        if (type != dtype::int32) spoil(&fields<host>::label, "out.label");
        if (type != dtype::boolean && type != dtype::uint8) spoil(&fields<host>::trusted, "out.trusted");
        if (type != dtype::int32 && type != dtype::int64) spoil(&fields<host>::index, "out.index");
        if (type < dtype::float16 && type != dtype::boolean) spoil(&fields<host>::distance, "out.distance");
        if (type < dtype::float16 && type != dtype::uint16 && type != dtype::uint32 && type != dtype::uint64)
            spoil(&fields<host>::squared, "out.squared");
    }
}

TEST(OptionsArguments, BoolHoldsNoSign) {
    options_attempt a;
    a.out.distance.type = dtype::boolean, a.options.sign = sign::inside_negative;
    a.refused({"out.distance", "bool", "sign", "float32"});
}

TEST(OptionsArguments, FieldShapes) {
    options_attempt a;
    a.out.label.shape[2] = 5;
    a.refused({"out.label", "2x3x4"});
    options_attempt b;
    b.out.trusted.rank = 2;
    b.refused({"out.trusted", "2x3x4"});
}

/// Types that cannot hold the result, each with a type that the error must name.
TEST(OptionsArguments, SquaredTypes) {
    struct attempt_case {
        dtype came;
        distance_options options;
        const char* named;
    };
    const attempt_case cases[] = {
        {dtype::uint16, {.spacing = 100.0}, "uint32"},  // 14 * 10^4
        {dtype::float16, {.spacing = 13.0}, "uint32"},  // 14 * 169 = 2366 > 2048
        {dtype::float32, {.spacing = 1100.0}, "uint32"},
        {dtype::uint32, {.spacing = 20000.0}, "uint64"},
        {dtype::uint64, {.spacing = 1e9}, "float64"},
        {dtype::uint16, {.spacing = 0.5}, "float64"},
        {dtype::float32, {.spacing = 0.3}, "float64"},
        {dtype::uint32, {.sign = sign::inside_negative}, "float64"},
        {dtype::uint64, {.sign = sign::outside_negative}, "float64"},
        {dtype::uint64, {.half_cell = true}, "float64"},
        {dtype::uint16, {.sites = sites::other_labels, .half_cell = true}, "float64"},
    };
    for (const attempt_case& c : cases) {
        options_attempt a;
        a.out.squared.type = c.came;
        a.options = c.options;
        a.refused({"out.squared", name_of(c.came), c.named});
    }
}

/// A limit or a border can make a narrow type sufficient, and one step more makes it insufficient.
TEST(OptionsArguments, NarrowTypesThatJustFit) {
    const auto accepts = [](dtype type, const distance_options& options) {
        options_attempt a;
        a.out.squared.type = type, a.options = options;
        try {
            (void)plan(host{}, a.image, a.out, a.options);
            return true;
        } catch (const error&) {
            return false;
        }
    };
    EXPECT_TRUE(accepts(dtype::uint16, {.spacing = 68.0}));  // 14 * 4624 = 64736
    EXPECT_FALSE(accepts(dtype::uint16, {.spacing = 69.0}));
    EXPECT_TRUE(accepts(dtype::uint16, {.spacing = 69.0, .max_distance = 255}));
    EXPECT_FALSE(accepts(dtype::uint16, {.spacing = 69.0, .max_distance = 256}));
    EXPECT_TRUE(accepts(dtype::uint16, {.spacing = 69.0, .border = border::closed}));
    EXPECT_TRUE(accepts(dtype::float16, {.spacing = 12.0}));  // 2016
    EXPECT_TRUE(accepts(dtype::float16, {.spacing = 12.0, .sign = sign::inside_negative}));
    EXPECT_FALSE(accepts(dtype::float16, {.spacing = 1.0, .max_distance = inf, .batch_axes = 3}));
    EXPECT_TRUE(accepts(dtype::float64, {.spacing = 1e100}));
    const std::int64_t line[] = {65536};
    EXPECT_EQ(squared_distance_type(line, 1), dtype::uint32);
    const std::int64_t longer[] = {65537};
    EXPECT_EQ(squared_distance_type(longer, 1, distance_options{}), dtype::uint64);
    EXPECT_EQ(squared_distance_type(longer, 1, {.border = border::closed}), dtype::uint32);
    EXPECT_EQ(squared_distance_type(longer, 1, {.max_distance = 65535}), dtype::uint32);
    EXPECT_EQ(squared_distance_type(longer, 1, {.sign = sign::inside_negative}), dtype::float64);
    EXPECT_EQ(squared_distance_type(longer, 1, {.half_cell = true}), dtype::float64);
    EXPECT_THROW((void)squared_distance_type(line, 1, {.batch_axes = 1}), error);
    EXPECT_THROW((void)squared_distance_type(line, 1, {.max_distance = nan}), error);
}

TEST(OptionsArguments, Float16DistanceThatOverflows) {
    options_attempt a;
    a.out.squared = {}, a.out.distance.type = dtype::float16;
    a.options.spacing = 30000.0;
    a.refused({"out.distance", "float16", "float32"});
}

/// In float32 the distance would become inf, which means "no site", or 0, which means "a site".
TEST(OptionsArguments, Float32DistanceThatOverflowsOrVanishes) {
    options_attempt a;
    a.out.squared = {}, a.out.distance.type = dtype::float32;
    a.options.spacing = 1e39;
    a.refused({"out.distance", "float32", "float64", "up to"});
    a.options.spacing = 2.0e-45 / 3;
    a.refused({"out.distance", "float32", "float64", "becomes 0"});
    a.options.spacing = {1, 2, 1e-46};
    a.refused({"out.distance", "float32", "float64", "1e-46"});
    a.options.spacing = 1e-45, a.options.half_cell = true;
    a.refused({"out.distance", "float32", "float64"});
    a.out.distance.type = dtype::float16, a.options.spacing = 3e-8;
    a.refused({"out.distance", "float16", "float32"});
    a.out.distance.type = dtype::float64, a.options.spacing = 1e-46;
    distance_transform(host{}, a.image, a.out, a.options);
}

TEST(OptionsArguments, AxesOfOneCellHaveNoShortestDistance) {
    const shape_t shape{1, 3};
    const std::vector<std::uint8_t> image{0, 1, 1};
    std::vector<float> distance(3);
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float32, shape);
    distance_transform(host{}, input_of(image, shape), out, {.spacing = {1e-60, 0x1p-149}});
    EXPECT_EQ(distance[1], 0x1p-149F);
    const auto closed = [&] {
        distance_transform(host{}, input_of(image, shape), out, {.spacing = {1e-60, 1}, .border = border::closed});
    };
    expect_refused(closed, {"out.distance", "1e-60"});
}

/// Arrays too large for this machine, described without data.
TEST(OptionsArguments, Int32IndexOfHugeImages) {
    const shape_t shape{3, 20000, 60000};  // 3.6e9 cells, more than 2^31, but in images of 1.2e9
    const auto image = any_input<host>::contiguous(nullptr, dtype::uint8, shape);
    fields<host> out;
    out.index = any_output<host>::contiguous(nullptr, dtype::int32, shape);
    EXPECT_NO_THROW((void)plan(host{}, image, out, {.batch_axes = 1}));
    const shape_t larger{30000, 80000};
    const auto two = any_input<host>::contiguous(nullptr, dtype::uint8, larger);
    out.index = any_output<host>::contiguous(nullptr, dtype::int32, larger);
    try {
        (void)plan(host{}, two, out);
        ADD_FAILURE() << "int32 cannot number 2.4e9 cells";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::invalid_argument);
        for (const char* word : {"out.index", "int32", "int64"})
            EXPECT_NE(std::string(e.what()).find(word), std::string::npos) << e.what();
    }
}

TEST(OptionsArguments, Overlap) {
    options_attempt a;
    a.out.label.data = a.out.index.data;
    a.refused_by([&] { distance_transform(host{}, a.image, a.out); }, {"out.label", "out.index", "overlap"});
    options_attempt b;
    b.out.trusted.data = const_cast<void*>(b.image.data);
    b.refused_by([&] { distance_transform(host{}, b.image, b.out); }, {"out.trusted", "image", "overlap"});
    options_attempt c;
    c.for_power();
    c.out.label.data = const_cast<void*>(c.weights.data);
    c.power_refused({"out.label", "weights", "overlap"});
}

TEST(OptionsArguments, NoData) {
    options_attempt a;
    a.out.trusted.data = nullptr;
    a.refused_by([&] { distance_transform(host{}, a.image, a.out); }, {"out.trusted", "null"});
    options_attempt b;
    b.for_power();
    b.weights.data = nullptr;
    b.power_refused({"weights", "null"});
}

TEST(OptionsArguments, Lists) {
    options_attempt a, b;
    const auto refused = [&](std::initializer_list<const char*> words) {
        const job<host> jobs[] = {{a.image, a.out}, {b.image, b.out}};
        a.refused_by([&] { distance_transform(host{}, jobs, a.options); }, words);
    };
    b.image.type = dtype::uint32, b.out.label.type = dtype::uint32;
    refused({"jobs[1]", "type"});
    b = options_attempt();
    b.out.trusted = {};
    refused({"jobs[1]", "fields"});
    b = options_attempt();
    b.image.rank = 2;
    refused({"jobs[1]", "axes"});
    b = options_attempt();
    b.out.label.shape[0] = 9;
    refused({"jobs[1]", "out.label", "9x3x4"});
}

TEST(OptionsArguments, PowerDiagrams) {
    const auto spoilt = [](auto spoil, std::initializer_list<const char*> words) {
        options_attempt a;
        a.for_power();
        spoil(a);
        a.power_refused(words);
    };
    spoilt([](auto& a) { a.options.sign = sign::inside_negative; }, {"sign"});
    spoilt([](auto& a) { a.options.half_cell = true; }, {"half_cell"});
    spoilt([](auto& a) { a.options.max_distance = 5; }, {"max_distance"});
    spoilt([](auto& a) { a.options.sites = sites::other_labels; }, {"other_labels"});
    spoilt([](auto& a) { a.options.border = border::closed; }, {"border", "closed"});
    spoilt([](auto& a) { a.options.border = {border::open, border::open, border::closed}; }, {"border", "closed"});
    spoilt([](auto& a) { a.out.distance = a.out.squared, a.out.squared = {}; }, {"distance"});
    spoilt([](auto& a) { a.out.trusted = a.array(dtype::uint8, a.shape); }, {"trusted"});
    spoilt([](auto& a) { a.out.squared.type = dtype::float32; }, {"out.squared", "float64"});
    spoilt([](auto& a) { a.out.squared.type = dtype::uint32; }, {"out.squared", "float64"});
    spoilt([](auto& a) { a.weights.shape[2] = 3; }, {"weights", "2x3x4"});
    spoilt([](auto& a) { a.weights = {}; }, {"weights"});
    for (dtype type : {dtype::boolean, dtype::float16})
        spoilt([type](auto& a) { a.weights.type = type; }, {"weights", name_of(type)});
    spoilt([](auto& a) { a.options.batch_axes = 3; }, {"batch_axes"});
    spoilt([](auto& a) { a.options.spacing = nan; }, {"spacing"});
}

TEST(OptionsArguments, IntegralWeightsUpTo2To53) {
    constexpr std::int64_t most = std::int64_t{1} << 53;
    const shape_t shape{2, 3};
    const std::vector<std::uint8_t> seeds{1, 1, 1, 1, 0, 1};
    const auto powers_of = [&](const auto& weights) {
        std::vector<double> power(6);
        fields<host> out;
        out.squared = any_output<host>::contiguous(power.data(), dtype::float64, shape);
        power_diagram(host{}, input_of(seeds, shape), input_of(weights, shape), out);
        return power;
    };
    // Cells that are no seeds may have any weight.
    std::vector<std::int64_t> weights{5, -most, 0, 1, INT64_MIN, 2};
    EXPECT_EQ(powers_of(weights), (std::vector<double>{-5, -4, -1, -4, -3, -2}));
    weights[2] = most;
    EXPECT_EQ(powers_of(weights)[2], -0x1p53);
    EXPECT_EQ(powers_of(std::vector<std::uint64_t>{9, 0, 0, 1, UINT64_MAX, 2})[0], -9);
    for (const std::int64_t beyond : {most + 1, -most - 1, INT64_MAX, INT64_MIN}) {
        weights[0] = beyond;
        expect_refused([&] { powers_of(weights); }, {"weights", std::to_string(beyond).c_str(), "2^53"});
    }
    expect_refused([&] { powers_of(std::vector<std::uint64_t>{UINT64_MAX, 0, 0, 0, 0, 0}); }, {"weights", "2^53"});
}

}  // namespace
}  // namespace nearfield::test
