// nearfield::plan predicts how a call runs.
#include <gtest/gtest.h>

#include <algorithm>

#include "exact/options_fields.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

struct plan_case {
    shape_t shape;
    dtype image;
    distance_options options;
};

fields<host> every_field(const plan_case& c) {
    fields<host> out;
    const auto of = [&](dtype type) { return any_output<host>::contiguous(nullptr, type, c.shape); };
    out.squared = of(dtype::float64), out.distance = of(dtype::float16), out.index = of(dtype::int64);
    out.label = of(c.image), out.trusted = of(dtype::boolean);
    shape_t with_axes = c.shape;
    with_axes.insert(with_axes.begin(), static_cast<std::int64_t>(c.shape.size()) - c.options.batch_axes);
    out.coordinates = any_output<host>::contiguous(nullptr, dtype::int32, with_axes);
    return out;
}

const std::vector<plan_case>& plan_cases() {
    static const std::vector<plan_case> list = {
        {{700}, dtype::uint8, {}},
        {{60, 70}, dtype::int64, {.sites = sites::other_labels}},
        {{4, 60, 70}, dtype::float32, {.batch_axes = 1}},
        {{20, 30, 40}, dtype::uint16, {.spacing = 0.3, .border = border::periodic}},
        {{1300, 40}, dtype::boolean, {.sign = sign::inside_negative, .half_cell = true, .max_distance = 10}},
        {{3, 4, 5, 6}, dtype::int8, {.border = border::closed}},
    };
    return list;
}

TEST(OptionsPlan, CountsTheCallersBytesAndNeedsNoData) {
    for (const plan_case& c : plan_cases()) {
        const auto cells = cells_of(c.shape);
        const auto image = any_input<host>::contiguous(nullptr, c.image, c.shape);
        const auto searched = static_cast<std::int64_t>(c.shape.size()) - c.options.batch_axes;
        host on;
        on.threads = 3;
        const call_plan p = plan(on, image, every_field(c), c.options);
        EXPECT_EQ(p.place, "host");
        EXPECT_EQ(p.cells, cells);
        EXPECT_EQ(p.input_bytes, cells * size_of(c.image));
        EXPECT_EQ(p.output_bytes, cells * (8 + 2 + 8 + size_of(c.image) + 1 + 4 * searched));
        EXPECT_GE(p.workspace_bytes, 0);
        EXPECT_GE(p.threads, 1);
        EXPECT_TRUE(p.numbers == "int32" || p.numbers == "int64" || p.numbers == "float64") << p.numbers;
        std::vector<int> axes;
        for (const pass_plan& pass : p.passes) {
            EXPECT_FALSE(pass.method.empty());
            EXPECT_GE(pass.tiles, 1);
            EXPECT_GE(pass.tile_rows, 1);
            EXPECT_GE(pass.tile_columns, 1);
            EXPECT_LT(pass.axis, static_cast<int>(c.shape.size()));
            axes.push_back(pass.axis);
        }
        for (int axis = c.options.batch_axes; axis < static_cast<int>(c.shape.size()); ++axis)
            EXPECT_NE(std::find(axes.begin(), axes.end(), axis), axes.end()) << "no pass along axis " << axis;
        for (int axis = 0; axis < c.options.batch_axes; ++axis)
            EXPECT_EQ(std::find(axes.begin(), axes.end(), axis), axes.end()) << "a pass along batch axis " << axis;
    }
}

TEST(OptionsPlan, TextHasALineForEachPass) {
    for (const plan_case& c : plan_cases()) {
        const call_plan p =
            plan(host{}, any_input<host>::contiguous(nullptr, c.image, c.shape), every_field(c), c.options);
        const std::string text = p.text();
        EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), static_cast<std::ptrdiff_t>(p.passes.size()) + 1);
        EXPECT_NE(text.find("host"), std::string::npos);
        EXPECT_NE(text.find(p.numbers), std::string::npos);
        for (const pass_plan& pass : p.passes) EXPECT_NE(text.find(pass.method), std::string::npos);
    }
}

TEST(OptionsPlan, NumbersFollowTheGrid) {
    const auto numbers = [](const shape_t& shape, const distance_options& options) {
        fields<host> out;
        out.distance = any_output<host>::contiguous(nullptr, dtype::float32, shape);
        return plan(host{}, any_input<host>::contiguous(nullptr, dtype::uint8, shape), out, options).numbers;
    };
    EXPECT_EQ(numbers({100, 100}, {}), "int32");
    EXPECT_EQ(numbers({100000, 100}, {}), "int64");
    EXPECT_EQ(numbers({100, 100}, {.spacing = {0.7, 0.6}}), "int32") << "multiples of 0.1";
    EXPECT_EQ(numbers({100, 100}, {.spacing = {1.0 / 3, 0.1}}), "int32") << "multiples of a thirtieth";
    EXPECT_EQ(numbers({100, 100}, {.spacing = {0.7071, 0.6}}), "float64") << "of no thousandth";
    EXPECT_EQ(numbers({9000, 900}, {.spacing = {0.997, 0.6}}), "int64") << "numbers beyond int32";
    EXPECT_EQ(numbers({100, 100}, {.spacing = {0.5, 1}}), "int32") << "squares are quarters, and few";
    EXPECT_EQ(numbers({100, 100}, {.spacing = {1.25, 0.75}, .half_cell = true}), "int32");
    EXPECT_EQ(numbers({30000, 100}, {.spacing = {0.5, 1}}), "int32");
    EXPECT_EQ(numbers({40000, 100}, {.spacing = {0.5, 1}}), "int64") << "quarters beyond int32";
    EXPECT_EQ(numbers({100, 100}, {.spacing = {1e9, 1}}), "float64");
    for (const double length : {0.5, 0.7, 3.0, 1e9, 1e12, 1e-30}) {
        EXPECT_EQ(numbers({100, 100}, {.spacing = length}), "int32") << "cells are counted";
        EXPECT_EQ(numbers({40000, 100}, {.spacing = length}), "int64") << "as many as in unit spacing";
        EXPECT_EQ(numbers({20000, 100}, {.spacing = length, .half_cell = true}), "int64") << "quarters of them";
        EXPECT_EQ(numbers({9, 100, 100}, {.spacing = {7, length, length}, .batch_axes = 1}), "int32");
        EXPECT_EQ(numbers({67108865, 1}, {.spacing = length}), length == 3 ? "int64" : "float64") << "2^52 and more";
    }
    EXPECT_EQ(numbers({100000, 9, 9}, {.batch_axes = 1}), "int32") << "images are small, however many";
}

/// Grids that need no data, with a distance each.
template <class Place>
std::vector<job<Place>> jobs_of(const std::vector<shape_t>& shapes) {
    std::vector<job<Place>> jobs;
    for (const shape_t& shape : shapes) {
        job<Place> one;
        one.image = any_input<Place>::contiguous(nullptr, dtype::uint8, shape);
        one.out.distance = any_output<Place>::contiguous(nullptr, dtype::float32, shape);
        jobs.push_back(one);
    }
    return jobs;
}

TEST(OptionsPlan, ListsSayHowTheyAreShared) {
    const auto jobs = jobs_of<host>({{100, 200}, {1500, 1500}, {0, 4}, {30, 20}});
    const call_plan p = plan(host{2, {}}, std::span<const job<host>>(jobs));
    EXPECT_EQ(p.cells, 100 * 200 + 1500 * 1500 + 30 * 20);
    EXPECT_EQ(p.output_bytes, 4 * p.cells);
    ASSERT_EQ(p.passes.size(), 2U);
    EXPECT_EQ(p.passes[0].tiles, 1) << p.text();
    EXPECT_EQ(p.passes[1].tiles, 2) << p.text();
    EXPECT_GT(p.workspace_bytes, 0);
    EXPECT_EQ(p.numbers, "int32");
    EXPECT_TRUE(plan(host{}, std::span<const job<host>>()).passes.empty());
}

TEST(OptionsPlan, PowerDiagramsHaveOneOfTheirOwn) {
    const shape_t shape{200, 300};
    fields<host> out;
    out.index = any_output<host>::contiguous(nullptr, dtype::int64, shape);
    const auto seeds = any_input<host>::contiguous(nullptr, dtype::uint8, shape);
    const auto weights = [&](dtype type) { return any_input<host>::contiguous(nullptr, type, shape); };
    const call_plan whole = plan_power_diagram(host{}, seeds, weights(dtype::int32), out);
    EXPECT_EQ(whole.numbers, "int64");
    EXPECT_EQ(whole.input_bytes, 200 * 300 * 5);
    EXPECT_GE(whole.workspace_bytes, 200 * 300 * 8);
    EXPECT_EQ(plan_power_diagram(host{}, seeds, weights(dtype::float32), out).numbers, "float64");
    EXPECT_EQ(plan_power_diagram(host{}, seeds, weights(dtype::int64), out).numbers, "int64");
    EXPECT_THROW((void)plan_power_diagram(host{}, seeds, weights(dtype::boolean), out), error);
}

TEST(OptionsPlan, HugeAndEmptyGrids) {
    const shape_t huge{100000, 200000};
    fields<host> out;
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, huge);
    const call_plan p = plan(host{}, any_input<host>::contiguous(nullptr, dtype::uint8, huge), out);
    EXPECT_EQ(p.cells, 20000000000);
    EXPECT_EQ(p.input_bytes, 20000000000);
    EXPECT_EQ(p.output_bytes, 80000000000);
    const shape_t none{5, 0};
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, none);
    const call_plan q = plan(host{}, any_input<host>::contiguous(nullptr, dtype::uint8, none), out);
    EXPECT_EQ(q.cells, 0);
    EXPECT_EQ(q.workspace_bytes, 0);
    EXPECT_FALSE(q.text().empty());
}

}  // namespace
}  // namespace nearfield::test
