// Wrong calls of methods: each throws an error that names the fix, before a byte is written.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "nearfield/methods.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

/// A correct call on a 4x6 grid, which each test makes wrong in one way.
struct attempt {
    std::array<std::uint8_t, 24> image_memory{};
    std::array<float, 24> distance_memory{};
    std::array<std::int64_t, 24> index_memory{};
    any_input<host> image = view<const std::uint8_t, 2, host>(image_memory.data(), {4, 6});
    fields<host> out;
    distance_options options;
    host on{1};
    method by = jump_flood{};

    attempt() {
        image_memory.fill(1);
        image_memory[9] = 0;
        distance_memory.fill(-5), index_memory.fill(-7);
        out.distance = view<float, 2, host>(distance_memory.data(), {4, 6});
        out.index = view<std::int64_t, 2, host>(index_memory.data(), {4, 6});
    }
    attempt(const attempt&) = delete;
    attempt& operator=(const attempt&) = delete;

    void refused(std::initializer_list<const char*> words) {
        expect_refused([&] { static_cast<void>(nearest_sites(by, on, image, out, options)); }, words);
        EXPECT_EQ(std::count(distance_memory.begin(), distance_memory.end(), -5), 24);
        EXPECT_EQ(std::count(index_memory.begin(), index_memory.end(), -7), 24);
    }
};

void refuse(method by, std::initializer_list<const char*> words) {
    attempt a;
    a.by = std::move(by);
    a.refused(words);
}

TEST(MethodArguments, TheUnspoiltCallIsFineByEveryMethod) {
    for (const method& by : {method{exact_method{}}, method{jump_flood{}}, method{brushfire{}},
                             method{brushfire{.parallel = true}}, method{chamfer_method{}}}) {
        attempt a;
        const method_report report = nearest_sites(by, a.on, a.image, a.out);
        EXPECT_EQ(a.index_memory[0], 9) << name_of(by);
        EXPECT_FALSE(report.stages.empty());
        EXPECT_GT(report.bytes, 0);
    }
}
TEST(MethodArguments, SwitchesOutOfRange) {
    refuse(jump_flood{.rounds_before = -1}, {"rounds_before", "-1"});
    refuse(jump_flood{.rounds_after = 99}, {"rounds_after", "99"});
    refuse(jump_flood{.sites_per_cell = 3}, {"sites_per_cell", "3", "1 to 2"});
    refuse(jump_flood{.runs = 0}, {"runs", "0"});
    refuse(jump_flood{.sites_per_cell = 2, .randomised = true}, {"randomised", "sites_per_cell = 1"});
    refuse(jump_flood{.seed = 3}, {"seed", "3", "randomised"});
    refuse(jump_flood{.steps = static_cast<jump_flood::order>(2)}, {"steps"});
    refuse(banding{.m1 = -1}, {"m1", "-1"});
    refuse(plane_sweep{.launch = plane_sweep::form::cooperative}, {"launch", "automatic"});
    refuse(chamfer_method{.weights = {3, -4}}, {"weights[1]", "-4"});
    refuse(chamfer_method{.weights = {3, 0, 5}}, {"weights[2]", "5", "after a 0"});
}
TEST(MethodArguments, SwitchesAtTheirOtherEnds) {
    refuse(jump_flood{.rounds_before = 17}, {"rounds_before", "17", "0 to 16"});
    refuse(jump_flood{.rounds_after = -1}, {"rounds_after", "-1", "0 to 16"});
    refuse(jump_flood{.sites_per_cell = 0}, {"sites_per_cell", "0"});
    refuse(jump_flood{.runs = 9}, {"runs", "9", "1 to 8"});
    refuse(banding{.m2 = 33}, {"m2", "33"});
    refuse(banding{.m3 = -2}, {"m3", "-2"});
    refuse(banding{.m1 = 1025}, {"m1", "1025"});
    refuse(chamfer_method{.weights = {(1 << 20) + 1}}, {"weights[0]", "1048577"});
}
/// Switches that only one place or one kind of grid supports.
TEST(MethodArguments, SwitchesThatDoNotGoTogether) {
    for (const auto form : {plane_sweep::form::cooperative, plane_sweep::form::banded, plane_sweep::form::shuffled})
        refuse(plane_sweep{.independent = true, .launch = form}, {"launch", "devices", "automatic"});
    refuse(plane_sweep{.launch = static_cast<plane_sweep::form>(4)}, {"launch", "none of"});
    attempt volume;
    volume.by = plane_sweep{.launch = plane_sweep::form::shuffled};
    volume.image = view<const std::uint8_t, 3, host>(volume.image_memory.data(), {2, 3, 4});
    volume.out.distance = view<float, 3, host>(volume.distance_memory.data(), {2, 3, 4});
    volume.out.index = {};
    volume.refused({"shuffled", "one or two axes", "banded"});
    attempt line;
    line.by = chamfer_method{.weights = {3, 4}};
    line.image = view<const std::uint8_t, 1, host>(line.image_memory.data(), {24});
    line.out.distance = view<float, 1, host>(line.distance_memory.data(), {24});
    line.out.index = {};
    line.refused({"weights", "2 values", "1-D", "at most 1"});
}
TEST(MethodArguments, PricesThatLeaveTheIntegers) {
    const std::vector<std::uint8_t> image(16000);
    std::vector<float> distance(16000);
    attempt a;
    a.by = chamfer_method{.weights = {1 << 20, 1 << 20}};
    a.image = view<const std::uint8_t, 2, host>(image.data(), {4, 4000});
    a.out = {};
    a.out.distance = view<float, 2, host>(distance.data(), {4, 4000});
    a.refused({"weights", "1048576", "2^31", "smaller"});
}
TEST(MethodArguments, OptionsOfTheExactEngineAlone) {
    const auto spoil = [](auto&& change, const char* word) {
        attempt a;
        change(a.options);
        a.refused({word, "exact"});
    };
    spoil([](distance_options& o) { o.sites = sites::other_labels; }, "sites");
    spoil([](distance_options& o) { o.sign = sign::inside_negative; }, "sign");
    spoil([](distance_options& o) { o.half_cell = true; }, "half_cell");
    spoil([](distance_options& o) { o.batch_axes = 1; }, "batch_axes");
    spoil([](distance_options& o) { o.border = {border::open, border::periodic}; }, "border");
    for (const double limit : {-1.0, std::nan("")}) {
        attempt a;
        a.options.max_distance = limit;
        a.refused({"max_distance"});
    }
}
/// Every method refuses these options, not only the one that is tried above.
TEST(MethodArguments, EveryMethodKnowsTheSameOptions) {
    for (const method& by : {method{banding{}}, method{jump_flood{}}, method{plane_sweep{}}, method{brushfire{}},
                             method{chamfer_method{}}}) {
        attempt a;
        a.by = by;
        a.options.sign = sign::outside_negative;
        a.refused({"sign", name_of(by)});
        attempt b;
        b.by = by;
        b.options.border = {border::closed, border::open};
        b.refused({"border", name_of(by)});
        attempt c;
        c.by = by;
        c.options.batch_axes = 1;
        c.refused({"batch_axes", name_of(by)});
        attempt d;
        d.by = by;
        d.options.sites = sites::other_labels;
        d.refused({"other_labels", name_of(by)});
    }
}
TEST(MethodArguments, SpacingThatAMethodCannotTake) {
    attempt a;
    a.by = chamfer_method{};
    a.options.spacing = {1, 2};
    a.refused({"spacing", "chamfer"});
    attempt b;
    b.by = banding{};
    b.options.spacing = {1, 0.3};
    b.refused({"spacing", "integral", "exact"});
    attempt c;
    c.options.spacing = {1, 2, 3};
    c.refused({"spacing", "3 values"});
}
// Over 40 lines because every case is three or four.
TEST(MethodArguments, Fields) {
    attempt a;
    a.out = {};
    a.refused({"out", "distance", "label"});
    attempt b;
    b.out.distance.type = dtype::int32;
    b.refused({"out.distance", "int32", "float32"});
    attempt c;
    c.out.label = c.out.index;
    c.refused({"out.label", "int64", "uint8"});
    attempt d;
    d.out.trusted = view<std::uint8_t, 2, host>(d.image_memory.data(), {4, 6});
    d.refused({"out.trusted"});
    attempt e;
    std::array<float, 24> floats{};
    e.out.squared = view<float, 2, host>(floats.data(), {4, 6});
    e.refused({"out.squared", "float32"});
    attempt f;
    f.out.distance.shape[0] = 3;
    f.refused({"out.distance", "3x6", "4x6"});
    attempt g;
    g.out.index.data = g.distance_memory.data();
    g.refused({"out.index overlaps out.distance"});
    attempt i;
    std::array<std::uint8_t, 24> bytes{};
    i.out.index = view<std::uint8_t, 2, host>(bytes.data(), {4, 6});
    i.refused({"out.index", "uint8", "int64"});
    attempt j;
    std::array<std::int64_t, 48> wide{};
    j.out.coordinates = view<std::int64_t, 3, host>(wide.data(), {2, 4, 6});
    j.refused({"out.coordinates", "int64", "int32"});
    attempt k;
    std::array<std::int32_t, 48> pairs{};
    k.out.coordinates = view<std::int32_t, 3, host>(pairs.data(), {3, 4, 4});
    k.refused({"out.coordinates", "3x4x4"});
    attempt l;
    std::array<std::uint32_t, 24> narrow{};
    l.options.spacing = {65536, 65536};
    l.out.squared = view<std::uint32_t, 2, host>(narrow.data(), {4, 6});
    l.refused({"out.squared", "uint32", "uint64"});
    attempt m;
    m.out.index.data = nullptr;
    m.refused({"out.index"});
    attempt h;
    h.by = chamfer_method{};
    std::array<double, 24> squares{};
    h.out.squared = view<double, 2, host>(squares.data(), {4, 6});
    h.refused({"squared", "chamfer"});
}
TEST(MethodArguments, GridsThatAreTooLarge) {
    attempt a;
    a.image.rank = 4;
    a.image.shape = {1, 1, 4, 6};
    a.refused({"image", "4 axes", "jump-flood"});
    attempt b;
    b.image.shape[0] = std::int64_t{1} << 30;
    b.refused({"image", "cells", "exact"});
    attempt c;
    c.on.threads = -1;
    c.refused({"threads"});
}
TEST(MethodArguments, NamesOfMethods) {
    EXPECT_STREQ(name_of(method{exact_method{}}), "exact");
    EXPECT_STREQ(name_of(method{chamfer_method{}}), "chamfer");
    EXPECT_STREQ(name_of(method{plane_sweep{}}), "plane-sweep");
}

}  // namespace
}  // namespace nearfield::test
