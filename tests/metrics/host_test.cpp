// Surfaces of segmentations on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "metrics/cases.hpp"
#include "metrics/core.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

std::vector<surface_distances> on_host(const surface_case& c, int threads) {
    const std::vector<std::byte> a = c.packed(0), b = c.packed(1);
    return compare_surfaces(host{threads, {}}, any_input<host>::contiguous(a.data(), c.type[0], c.shape),
                            any_input<host>::contiguous(b.data(), c.type[1], c.shape), c.labels, c.options);
}

TEST(Metrics, RandomCases) {
    check_surfaces([](const surface_case& c) { return on_host(c, 1 + static_cast<int>(c.shape[0] % 3)); }, 0, 600);
}

TEST(Metrics, AreasOfElements) {
    constexpr double lengths[][3] = {{1, 1, 1}, {1, 2, 3}, {0.7, 2.9, 1.3}, {5, 0.5, 0.5}};
    for (const auto& length : lengths) {
        metrics::weights w;
        metrics::set_areas(length, w);
        for (unsigned cells = 1; cells < 255; ++cells)
            EXPECT_NEAR(w.area[cells], element_area(cells, length), 1e-13 * w.area[cells]) << cells;
    }
    metrics::weights unit;
    metrics::set_areas({1, 1, 1}, unit);
    EXPECT_DOUBLE_EQ(unit.area[1], std::sqrt(3) / 8);
    EXPECT_DOUBLE_EQ(unit.area[15], 1);
}

/// Boxes of many lines, enough labels for several groups, and codes of more than one byte.
TEST(Metrics, ThreadsAndBatchesDoNotShow) {
    for (const surface kind : {surface::cells, surface::elements}) {
        surface_case c = spheres({40, 50, 61}, 9, 3);
        c.options.surface = kind, c.options.spacing = {1.5, 1, 0.7}, c.options.percentiles = {50, 95};
        const std::vector<surface_distances> one = on_host(c, 1);
        ASSERT_EQ(one.size(), 9U);
        expect_same(on_host(c, 3), one);
        surface_case many = c;
        for (std::int64_t label = 1; label <= 300; ++label) many.labels.push_back(label);
        std::vector<surface_distances> some = on_host(many, 2);
        EXPECT_TRUE(std::isnan(some[20].dice));
        some.resize(9);
        expect_same(some, one);
        surface_case batch = c;
        batch.shape.insert(batch.shape.begin(), 2), batch.options.batch_axes = 1;
        batch.options.spacing = {1, 1.5, 1, 0.7};
        for (auto& value : batch.value) value.insert(value.end(), value.begin(), value.end());
        std::vector<surface_distances> twice = on_host(batch, 2);
        ASSERT_EQ(twice.size(), 18U);
        for (std::size_t i = 9; i < 18; ++i) {
            EXPECT_EQ(twice[i].image, 1);
            twice[i].image = 0;
        }
        expect_same({twice.begin(), twice.begin() + 9}, one);
        expect_same({twice.begin() + 9, twice.end()}, one);
    }
}

TEST(Metrics, StridesDoNotShow) {
    surface_case c = spheres({12, 17, 19}, 3, 5);
    std::vector<std::int64_t> spread(c.value[0].size() * 2);
    for (std::size_t i = 0; i < c.value[0].size(); ++i) spread[2 * i] = c.value[0][i];
    const view<const std::int64_t, 3, host> a{spread.data(), extent{12, 17, 19}, {2 * 17 * 19, 2 * 19, 2}};
    const std::vector<std::byte> b = c.packed(1);
    expect_same(compare_surfaces(host{2, {}}, a, any_input<host>::contiguous(b.data(), c.type[1], c.shape)),
                on_host(c, 1));
}

TEST(Metrics, NothingToCompare) {
    const std::int8_t none[1] = {};
    const view<const std::int8_t, 2, host> empty{none, extent{0, 5}}, zero{none, extent{1, 1}};
    EXPECT_TRUE(compare_surfaces(host{}, empty, empty).empty());
    EXPECT_TRUE(compare_surfaces(host{}, zero, zero).empty());
    const std::int64_t labels[] = {0, 7};
    const std::vector<surface_distances> rows = compare_surfaces(host{}, zero, zero, labels);
    ASSERT_EQ(rows.size(), 2U);
    EXPECT_EQ(rows[0].dice, 1);
    EXPECT_EQ(rows[0].hausdorff, 0);
    EXPECT_TRUE(std::isnan(rows[1].hausdorff) && std::isnan(rows[1].surface_dice[0]));
}

TEST(Metrics, Refusals) {
    const std::int32_t value[4] = {1, -2, 0, 70000};
    const float real[4] = {};
    const view<const std::int32_t, 2, host> a{value, extent{2, 2}};
    const auto call = [&](const surface_options& o, std::vector<std::int64_t> labels = {1}) {
        return [=] { static_cast<void>(compare_surfaces(host{}, a, a, labels, o)); };
    };
    const auto with = [](auto change) {
        surface_options o;
        change(o);
        return o;
    };
    expect_refused(call({}, {}), {"65535", "name the labels"});
    expect_refused(call({}, {2, 1, 2}), {"labels", "2 twice"});
    expect_refused(
        [] {
            const std::uint8_t bytes[2] = {1, 2};
            const view<const std::uint8_t, 1, host> image{bytes, extent{2}};
            static_cast<void>(compare_surfaces(host{}, image, image, std::vector<std::int64_t>{2, 1, 2}));
        },
        {"labels", "2 twice"});
    expect_refused(call({{1, -1}}), {"spacing"});
    expect_refused(call({1e200}), {"spacing"});
    expect_refused(call(with([](auto& o) { o.percentiles = {101}; })), {"percentiles", "101"});
    expect_refused(call(with([](auto& o) { o.tolerances = {-1}; })), {"tolerances", "-1"});
    expect_refused(call(with([](auto& o) { o.tolerances.resize(17); })), {"tolerances", "16"});
    expect_refused(call(with([](auto& o) { o.batch_axes = 2; })), {"batch_axes is 2"});
    expect_refused(
        [&] { static_cast<void>(compare_surfaces(host{}, a, view<const float, 2, host>{real, extent{2, 2}})); },
        {"b has element type float32"});
    expect_refused(
        [&] { static_cast<void>(compare_surfaces(host{}, a, view<const std::int32_t, 1, host>{value, extent{4}})); },
        {"b"});
    EXPECT_THROW(
        static_cast<void>(compare_surfaces(host{1, [](double) { return false; }}, a, a, std::vector<std::int64_t>{1})),
        error);
}

}  // namespace
}  // namespace nearfield::test
