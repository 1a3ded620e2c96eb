// Grids with short axes on the host: the choice of the scanned axis and of the axes that are searched together does not
// change the results.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
#include "exact/options_fields.hpp"
#include "nearfield/plan.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {
namespace {

call_plan plan_for(const shape_t& shape, const distance_options& options = {}) {
    fields<host> out;
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, shape);
    return plan(host{2, {}}, any_input<host>::contiguous(nullptr, dtype::uint8, shape), out, options);
}

TEST(ShortAxes, TheLongAxisIsScanned) {
    for (const shape_t& shape : {shape_t{100000, 2}, shape_t{80000, 10, 10}, shape_t{300, 31}}) {
        const call_plan p = plan_for(shape);
        EXPECT_EQ(p.passes.front().axis, 0) << p.text();
        EXPECT_EQ(p.passes.front().tile_rows, shape[0]) << p.text();
    }
    EXPECT_EQ(plan_for({5, 700, 3}).passes.front().axis, 1) << "the nearest long one";
    EXPECT_EQ(plan_for({64, 20}).passes.front().axis, 0);
    EXPECT_EQ(plan_for({63, 20}).passes.front().axis, 1) << "none is long";
    EXPECT_EQ(plan_for({700, 20, 3}, {.spacing = {0.7071, 0.6, 0.31}}).passes.front().axis, 2)
        << "double rounds in order";
    const call_plan last_two = plan_for({700, 300, 3}, {.spacing = {0.7071, 0.6, 0.31}});
    EXPECT_EQ(last_two.passes.front().axis, 1) << "but not the first sum";
    EXPECT_EQ(last_two.passes[1].axis, 2);
    EXPECT_EQ(plan_for({700, 3}, {.spacing = {0.7071, 0.6}}).passes.front().axis, 0) << "a sum of two has no order";
    EXPECT_EQ(plan_for({700, 3}, {.spacing = {1e-9, 1}}).passes.front().axis, 1) << "where it loses no step";
}

/// The last pass then writes cells that are neighbours in memory.
TEST(ShortAxes, TheLastPassIsAlongTheShortAxis) {
    EXPECT_EQ(plan_for({100, 700, 20}).passes.front().axis, 1);
    EXPECT_EQ(plan_for({100, 700, 20}).passes.back().axis, 2);
    EXPECT_EQ(plan_for({100, 700, 40}).passes.back().axis, 2) << "not turned, by planes";
    EXPECT_EQ(plan_for({5, 100, 700, 3, 9}).passes.back().axis, 4);
}

TEST(ShortAxes, MakeARowTogether) {
    const auto rows = [&](const shape_t& shape, const distance_options& options = {}) {
        const call_plan p = plan_for(shape, options);
        std::int64_t axes = 0;
        for (const pass_plan& pass : p.passes) axes += pass.method == "rows of short axes, side by side in SIMD";
        return axes == 0 ? 0 : p.passes.front().tile_rows;
    };
    EXPECT_EQ(rows({8, 8, 8, 8, 3}), 192);
    EXPECT_EQ(rows({9, 9, 9, 16}), 0) << "long enough";
    EXPECT_EQ(rows({9, 9, 9, 15}), 9 * 15);
    EXPECT_EQ(rows({9, 9, 2, 15}), 9 * 2 * 15) << "until there are 32";
    EXPECT_EQ(rows({9, 33, 7}), 0) << "too many shifts";
    EXPECT_EQ(rows({9, 32, 7}), 32 * 7);
    EXPECT_EQ(rows({5, 3}), 15) << "no axis is left";
}

TEST(ShortAxes, SeveralAreSearchedTogether) {
    const call_plan p = plan_for({2, 2, 2, 2, 2, 2, 2, 500});
    ASSERT_EQ(p.passes.size(), 8U);
    for (std::size_t k = 1; k < 8; ++k) {
        EXPECT_EQ(p.passes[k].method, "lines of 16 bits, else of 32, columns in SIMD");
        EXPECT_EQ(p.passes[k].tile_rows, 128);
    }
    EXPECT_EQ(plan_for({8, 8, 8, 8, 40}).passes.back().tile_rows, 64);
    const call_plan round_ends =
        plan_for({4, 4, 4, 500}, {.border = {border::open, border::periodic, border::open, border::open}});
    for (const pass_plan& pass : round_ends.passes) EXPECT_LE(pass.tile_rows, 500) << round_ends.text();
}

const std::vector<shape_t>& shapes() {
    static const std::vector<shape_t> list = {
        {3000, 2},          {900, 3, 5},       {2, 300, 7},  {2, 2, 2, 2, 2, 2, 2, 40},
        {400, 2, 2, 2},     {8, 8, 8, 8, 3},   {5, 5, 5, 5}, {3, 2, 4, 300, 2, 2},
        {1000, 31},         {1, 260, 1, 9, 1}, {9, 257, 9},  {4, 4, 4, 4, 4, 4},
        {17, 16, 3, 2, 15}, {129, 2, 65},      {20, 70, 17}};
    return list;
}

TEST(ShortAxes, EveryCellAgainstTheOracle) {
    std::uint64_t seed = 500;
    for (const shape_t& shape : shapes())
        for (const double cell : {1.0, 3.0, 0.7})
            for (fill kind : {fill::fifty, fill::percent, fill::one, fill::none}) {
                std::vector<double> lengths(shape.size(), cell);
                if (cell == 3.0)
                    for (std::size_t axis = 0; axis < lengths.size(); ++axis)
                        lengths[axis] = static_cast<double>(1 + axis);
                SCOPED_TRACE(text_of(shape) + ' ' + name_of(kind) + ' ' + std::to_string(cell));
                const flags_t sites = make_fill(kind, shape, ++seed);
                const auto expected = oracle::by_lines({shape, lengths, sites});
                const auto got =
                    transform(sites, shape, {.spacing = {lengths.data(), lengths.size()}, .sites = sites::nonzero});
                ASSERT_EQ(got.index, expected.index);
                if (cell != 0.7) {
                    ASSERT_EQ(got.squared, expected.squared);
                }
            }
}

/// Distances do not depend on the order of axes: not if the image gets an axis of one cell more, and not if it is
/// turned so that the long axis is last. No tie is decided here.
TEST(ShortAxes, EveryOptionGivesTheDistancesOfTheTurnedImage) {
    std::uint64_t seed = 700;
    for (const std::int64_t width : {2, 3, 31})
        for (const named_options& each : some_options()) {
            const std::int64_t length = 700;
            SCOPED_TRACE(std::string(each.name) + ", width " + std::to_string(width));
            const auto image = random_labels<std::uint16_t>({length, width}, 3, 0.3, ++seed);
            std::vector<std::uint16_t> turned(image.size());
            for (std::int64_t i = 0; i < length * width; ++i)
                turned[static_cast<std::size_t>(i % width * length + i / width)] = image[static_cast<std::size_t>(i)];
            const auto got = transform(image, {length, width}, each.options);
            const auto wanted = transform(turned, {width, length}, each.options);
            for (std::int64_t i = 0; i < length * width; ++i) {
                const auto here = static_cast<std::size_t>(i),
                           there = static_cast<std::size_t>(i % width * length + i / width);
                ASSERT_EQ(got.squared[here], wanted.squared[there]) << "cell " << i;
                ASSERT_EQ(got.distance[here], wanted.distance[there]) << "cell " << i;
                ASSERT_EQ(got.trusted[here], wanted.trusted[there]) << "cell " << i;
                ASSERT_EQ(got.index[here] < 0, wanted.index[there] < 0) << "cell " << i;
                if (got.index[here] >= 0) {
                    ASSERT_EQ(got.label[here], image[static_cast<std::size_t>(got.index[here])]) << "cell " << i;
                }
            }
        }
}

}  // namespace
}  // namespace nearfield::test
