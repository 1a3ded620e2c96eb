// Calls of many images equal a loop over the images; power diagrams equal simpler results.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>

#include "exact/options_fields.hpp"
#include "scale.hpp"

namespace nearfield::test {
namespace {

void check_batch(const shape_t& shape, int batch_axes, const distance_options& with, double zeros) {
    const auto image = random_labels<std::uint16_t>(shape, 6, zeros, 11);
    distance_options options = with;
    options.batch_axes = batch_axes;
    const shape_t inner(shape.begin() + batch_axes, shape.end());
    const auto cells = static_cast<std::size_t>(cells_of(inner));
    for (int threads : {1, 3}) {
        const auto all = transform(image, shape, options, threads);
        for (std::size_t k = 0; k < image.size() / std::max<std::size_t>(cells, 1); ++k) {
            const auto first = image.begin() + static_cast<std::ptrdiff_t>(k * cells);
            const std::vector<std::uint16_t> one(first, first + static_cast<std::ptrdiff_t>(cells));
            ASSERT_EQ(all.image(k, inner).differs(transform(one, inner, with)), "") << "image " << k;
        }
    }
}

TEST(OptionsBatch, LeadingAxesAreALoop) {
    const std::pair<shape_t, int> grids[] = {
        {{9, 40}, 1},
        {{5, 23, 31}, 1},
        {{3, 4, 60}, 2},
        {{2, 3, 17, 19}, 2},
        {{300, 5, 7}, 1},
        {{1, 33, 35}, 1},
        {{4, 1, 33}, 1},
        {{4, 33, 1}, 1},
        {{4, 8, 9, 10}, 1},
        {{3, 1, 2, 5, 6, 7}, 3},
        {{2, 2, 2, 2, 30}, 4},
        {{3, 1100, 4}, 1},
        {{3, 4, 1100}, 1},
        {{40, 2, 2}, 1},
        {{0, 5, 6}, 1},
        {{3, 0, 6}, 1},
        {{2, 2, 2, 2, 2, 2, 2, 9}, 7},
    };
    for (const auto& [shape, batch_axes] : grids) {
        for (const named_options& each : some_options()) {
            for (double zeros : {0.02, 0.6}) {
                SCOPED_TRACE(std::string(each.name) + ", " + std::to_string(batch_axes) + " of " +
                             std::to_string(shape.size()) + " axes");
                check_batch(shape, batch_axes, each.options, zeros);
                if (HasFatalFailure()) return;
            }
        }
    }
}

/// Spacing and borders of a batch axis have no effect.
TEST(OptionsBatch, WhatStandsAtABatchAxisDoesNotMatter) {
    const shape_t shape{6, 20, 21};
    const auto image = random_labels<std::uint8_t>(shape, 1, 0.05, 12);
    const auto expected = transform(image, shape, {.spacing = {1, 2, 3}, .batch_axes = 1});
    for (border beyond : {border::open, border::closed, border::periodic}) {
        const distance_options options{
            .spacing = {0.3, 2, 3}, .border = {beyond, border::open, border::open}, .batch_axes = 1};
        EXPECT_EQ(transform(image, shape, options).differs(expected), "");
        EXPECT_EQ(squared_distance_type(shape.data(), 3, options), dtype::uint32);
    }
}

template <class T>
void check_list(const std::vector<shape_t>& shapes, const distance_options& options, std::uint64_t seed) {
    std::vector<std::vector<T>> images;
    std::vector<all_fields<T>> answers;
    std::vector<job<host>> jobs;
    for (const shape_t& shape : shapes) {
        ++seed;
        images.push_back(random_labels<T>(shape, 6, mix(seed) % 3 == 0 ? 0.01 : 0.3, seed));
        answers.emplace_back(shape, options.batch_axes);
    }
    for (std::size_t k = 0; k < shapes.size(); ++k)
        jobs.push_back({input_of(images[k], shapes[k]), answers[k].views()});
    for (int threads : {1, 2, 7}) {
        host on;
        on.threads = threads;
        distance_transform(on, std::span<const job<host>>(jobs), options);
        for (std::size_t k = 0; k < shapes.size(); ++k)
            ASSERT_EQ(answers[k].differs(transform(images[k], shapes[k], options)), "") << "job " << k;
    }
}

TEST(OptionsBatch, AListOfShapesIsALoop) {
    const std::vector<std::vector<shape_t>> lists = {
        {},
        {{5}},
        {{0}},
        {{0, 7}, {7, 0}},
        {{5}, {0}, {1}, {1200}, {3}, {64}, {1}, {33}},
        {{5, 6}, {0, 9}, {1, 1}, {40, 41}, {1, 50}, {50, 1}, {33, 32}, {300, 3}, {3, 1100}, {8, 0}, {1100, 5}},
        {{3, 4, 5}, {12, 13, 14}, {1, 1, 9}, {9, 0, 2}, {2, 30, 31}, {31, 2, 1}, {1, 1, 1}},
        {{2, 3, 4, 5}, {5, 4, 3, 2}, {1, 9, 1, 9}},
    };
    for (const auto& shapes : lists) {
        for (const named_options& each : some_options()) {
            SCOPED_TRACE(std::string(each.name) + ", " + std::to_string(shapes.size()) + " jobs");
            check_list<std::uint16_t>(shapes, each.options, 13);
            check_list<std::int64_t>(shapes, each.options, 14);
            distance_options batched = each.options;
            batched.batch_axes = 1;
            if (!shapes.empty() && shapes[0].size() > 1) check_list<std::uint8_t>(shapes, batched, 15);
            if (HasFatalFailure()) return;
        }
    }
}

TEST(OptionsBatch, ManyTinyImages) {
    std::vector<shape_t> shapes;
    for (std::uint64_t k = 0; k < 500; ++k)
        shapes.push_back({static_cast<std::int64_t>(mix(k) % 12), static_cast<std::int64_t>(mix(k) / 16 % 12)});
    check_list<std::uint8_t>(shapes, {.border = border::periodic}, 16);
}

// ---- power diagrams -------------------------------------------------------------------------------------------------

struct power_answer {
    std::vector<double> power;
    std::vector<std::int64_t> index;
    std::vector<std::int32_t> label;
};

template <class W>
power_answer power(const std::vector<std::int32_t>& seeds, const std::vector<W>& weights, const shape_t& shape,
                   const distance_options& options = {}) {
    power_answer a{std::vector<double>(seeds.size(), -5), std::vector<std::int64_t>(seeds.size(), -5),
                   std::vector<std::int32_t>(seeds.size(), -5)};
    fields<host> out;
    out.squared = any_output<host>::contiguous(a.power.data(), dtype::float64, shape);
    out.index = any_output<host>::contiguous(a.index.data(), dtype::int64, shape);
    out.label = any_output<host>::contiguous(a.label.data(), dtype::int32, shape);
    power_diagram(host{}, input_of(seeds, shape), input_of(weights, shape), out, options);
    return a;
}

template <class W>
void check_equal_weights(W weight) {
    for (const shape_t& shape : {shape_t{700}, shape_t{60, 71}, shape_t{1100, 6}, shape_t{12, 13, 14}}) {
        const auto seeds = random_labels<std::int32_t>(shape, 1000, 0.97, 21);
        for (const distance_options& options :
             {distance_options{}, distance_options{.border = border::periodic}, distance_options{.spacing = 0.5}}) {
            distance_options plain = options;
            plain.sites = sites::nonzero;
            const auto expected = transform(seeds, shape, plain);
            const auto got = power(seeds, std::vector<W>(seeds.size(), weight), shape, options);
            ASSERT_EQ(got.index, expected.index);
            ASSERT_EQ(got.label, expected.label);
            for (std::size_t i = 0; i < seeds.size(); ++i)
                ASSERT_EQ(got.power[i], expected.squared[i] - static_cast<double>(weight));
        }
    }
}

TEST(OptionsPower, EqualWeightsAreTheVoronoiDiagram) {
    check_equal_weights<std::uint8_t>(0);
    check_equal_weights<std::int8_t>(-100);
    check_equal_weights<std::uint16_t>(40000);
    check_equal_weights<std::int32_t>(std::numeric_limits<std::int32_t>::min());
    check_equal_weights<std::uint32_t>(std::numeric_limits<std::uint32_t>::max());
    check_equal_weights<float>(0.0F);
    check_equal_weights<float>(-2.5F);
    check_equal_weights<double>(1024.0);
}

/// Compares with all sites, whose least (power, site) along each row come before those of all rows.
template <class W>
void check_all_sites(const shape_t& shape, std::uint64_t sparse, const std::vector<W>& weights, double spacing) {
    const std::int64_t rows = shape.front(), n = shape.back();
    std::vector<std::int32_t> seeds(weights.size());
    for (std::size_t i = 0; i < seeds.size(); ++i) seeds[i] = mix(i + 7) % sparse == 0 ? 1 : 0;
    const auto got = power(seeds, weights, shape, {.spacing = {1, spacing}});
    using candidate = std::tuple<double, std::int64_t, std::int64_t>;  // power, the site's column and row
    for (std::int64_t x = 0; x < n; ++x) {
        const candidate none{std::numeric_limits<double>::infinity(), -1, -1};
        std::vector<candidate> own(static_cast<std::size_t>(rows), none);
        for (std::int64_t i = 0; i < rows * n; ++i)
            if (seeds[static_cast<std::size_t>(i)] != 0) {
                candidate& row = own[static_cast<std::size_t>(i / n)];
                const double w = -static_cast<double>(weights[static_cast<std::size_t>(i)]);
                row = std::min(row,
                               {w + spacing * spacing * static_cast<double>((x - i % n) * (x - i % n)), i % n, i / n});
            }
        for (std::int64_t y = 0; y < rows; ++y) {
            candidate best = none;
            for (const auto& [value, c, r] : own)
                best = std::min(best, {value + static_cast<double>((y - r) * (y - r)), c, r});
            const auto& [value, c, r] = best;
            const auto i = static_cast<std::size_t>(y * n + x);
            ASSERT_EQ(got.power[i], value) << rows << " x " << n << " at " << i << ", 1 site in " << sparse;
            ASSERT_EQ(got.index[i], c < 0 ? -1 : r * n + c) << rows << " x " << n << " at " << i;
        }
    }
}

/// Up to 7 rows are solved one after the other, and more if at most one cell in 32 is a site.
TEST(OptionsPower, RowsHaveTheAnswerOfAllSites) {
    std::uint64_t k = 0;
    for (const std::int64_t rows : {1, 2, 7, 8, 17, 33})
        for (const std::int64_t n : {2, 15, 16, 17, 33, 200})
            for (const std::uint64_t sparse : {1, 3, 40})
                for (const double most : {2., 50., 4096., 1e6, 1e13}) {
                    // Under AddressSanitizer the loop over all sites takes half a minute for all cases.
                    if (test_scale() < 0.1 && mix(++k) % 8 != 0) continue;
                    const auto cells = static_cast<std::size_t>(rows * n);
                    std::vector<std::int64_t> whole(cells);
                    std::vector<double> real(cells);
                    for (std::size_t i = 0; i < cells; ++i) {
                        real[i] = most * (static_cast<double>(mix(i + 99) % 4096) / 4096 - 0.25);
                        whole[i] = static_cast<std::int64_t>(real[i]);
                    }
                    const shape_t shape{rows, n};
                    check_all_sites(shape, sparse, whole, 1);
                    check_all_sites(shape, sparse, whole, 3);
                    check_all_sites(shape, sparse, real, 1);
                    check_all_sites(shape, sparse, real, 0.3);
                }
}

/// A cell of weight r^2 is a ball of radius r: the power is negative exactly inside the union of the balls.
TEST(OptionsPower, SquaredRadiiMakeBalls) {
    const shape_t shape{50, 64};
    std::vector<std::int32_t> seeds(3200), inside(3200);
    std::vector<double> weights(3200, 1e30);  // read at sites only
    for (const auto& [y, x, r] : {std::array{10, 12, 7}, {30, 40, 13}, {30, 41, 1}, {48, 1, 0}}) {
        seeds[static_cast<std::size_t>(64 * y + x)] = r + 1;
        weights[static_cast<std::size_t>(64 * y + x)] = r * r;
        for (int i = 0; i < 3200; ++i) {
            if ((i / 64 - y) * (i / 64 - y) + (i % 64 - x) * (i % 64 - x) < r * r)
                inside[static_cast<std::size_t>(i)] = 1;
        }
    }
    const auto got = power(seeds, weights, shape);
    for (std::size_t i = 0; i < 3200; ++i) ASSERT_EQ(got.power[i] < 0, inside[i] == 1) << i;
    EXPECT_EQ(std::count(got.label.begin(), got.label.end(), 2), 0) << "a site may own no cell, not even its own";
}

TEST(OptionsPower, NanOwnsNothing) {
    const shape_t shape{3, 5};
    std::vector<std::int32_t> seeds(15, 0);
    seeds[4] = 7, seeds[10] = 8;
    std::vector<float> weights(15, 0);
    weights[4] = std::nanf("");
    EXPECT_EQ(power(seeds, weights, shape).index, std::vector<std::int64_t>(15, 10));
    weights[10] = -std::numeric_limits<float>::infinity();
    const auto none = power(seeds, weights, shape);
    EXPECT_EQ(none.index, std::vector<std::int64_t>(15, -1));
    EXPECT_EQ(none.label, std::vector<std::int32_t>(15, 0));
    EXPECT_EQ(none.power, std::vector<double>(15, std::numeric_limits<double>::infinity()));
}

}  // namespace
}  // namespace nearfield::test
