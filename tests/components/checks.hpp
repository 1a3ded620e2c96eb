// Checks of every backend against the oracle. A `Runner` brings arrays to a place, makes a call there, and brings them
// back: run(arrays, [](const auto& on, const auto& at) { ... at(array) ... }).
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <optional>

#include "components/cases.hpp"
#include "exact/cases.hpp"
#include "nearfield/components.hpp"
#include "oracle/components.hpp"

namespace nearfield::test {

struct host_runner {
    int threads = 1;

    template <class Call>
    void operator()(const std::vector<guarded*>&, const Call& call) const {
        call(host{threads, {}},
             [](guarded& array) { return array.view_of<host>(static_cast<void*>(array.bytes().data())); });
    }
};

struct drawn {
    pattern kind;
    shape_t shape;
    dtype type;
    std::uint64_t seed;

    [[nodiscard]] layout how(std::uint64_t which) const {
        return all_layouts[mix(seed + which) % std::size(all_layouts)];
    }
    [[nodiscard]] guarded array(dtype of, const shape_t& sides, std::uint64_t which) const {
        guarded made(of, sides, how(which), seed);
        made.paint();
        return made;
    }
    [[nodiscard]] std::string text() const {
        std::string sides;
        for (const std::int64_t side : shape) sides += std::to_string(side) + " ";
        return name_of(kind) + " of " + sides + nearfield::name_of(type) + ", seed " + std::to_string(seed);
    }
};

inline void expect_guarded(const std::vector<guarded*>& arrays) {
    for (const guarded* each : arrays) EXPECT_EQ(each->guards_broken(), "");
}

/// A variance may differ by one ulp, because the oracle's mean is itself rounded to 113 bits.
inline void expect_near(double got, oracle::quad expected, const char* what, std::int64_t row) {
    const auto rounded = static_cast<double>(expected);
    if (std::isnan(rounded)) EXPECT_TRUE(std::isnan(got)) << what << " of row " << row;
    else EXPECT_LE(std::abs(got - rounded), std::abs(rounded) * 0x1p-52) << what << " of row " << row;
}

inline void expect_same(double got, double expected, const char* what, std::int64_t row) {
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << what << " of row " << row;
    else EXPECT_EQ(got, expected) << what << " of row " << row;
}

/// Checks all tables in one call, with room for three rows more than the longest expected table if the seed is odd. If
/// the number of rows is not `known`, the call finds the largest label; that of some images exceeds the rows of its
/// first pass. Over 40 lines because it goes through the columns of one table.
template <class Runner>
void check_tables(const Runner& run, const drawn& d, std::optional<dtype> value_type, bool known = true) {
    SCOPED_TRACE(d.text() + (value_type ? std::string(", values of ") + nearfield::name_of(*value_type) : ""));
    const auto axes = static_cast<std::int64_t>(d.shape.size());
    oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    if (!known && d.seed % 3 == 0 && !image.label.empty()) image.label[image.label.size() / 2] = 1 << 20;
    const std::int64_t rows =
        d.kind == pattern::each ? cells_of(d.shape) / 2 + 1 : 70 + static_cast<std::int64_t>(d.seed % 5);
    const dtype value = value_type.value_or(dtype::uint8);
    guarded labels = d.array(d.type, d.shape, 1), values = d.array(value, d.shape, 2);
    write_integers(labels, image.label);
    std::vector<double> reals;
    if (value_type) write_reals(values, reals = make_values(d.shape, value, d.seed));
    const bool whole_sum = value <= dtype::uint32 && d.seed % 2 == 0;
    guarded size = d.array(dtype::int64, {rows}, 3), box = d.array(dtype::int64, {rows, 2, axes}, 4),
            centroid = d.array(dtype::float64, {rows, axes}, 5), border = d.array(dtype::uint8, {rows}, 6),
            faces = d.array(dtype::int64, {rows}, 7), lowest = d.array(value, {rows}, 8),
            highest = d.array(value, {rows}, 9), sum = d.array(whole_sum ? dtype::int64 : dtype::float64, {rows}, 10),
            mean = d.array(dtype::float64, {rows}, 11), variance = d.array(dtype::float64, {rows}, 12);
    const std::vector<guarded*> arrays{&labels, &values, &size,    &box, &centroid, &border,
                                       &faces,  &lowest, &highest, &sum, &mean,     &variance};
    run(arrays, [&](const auto& on, const auto& at) {
        component_tables<std::remove_cvref_t<decltype(on)>> t;
        t.size = at(size), t.box = at(box), t.centroid = at(centroid), t.border = at(border), t.faces = at(faces);
        if (value_type) {
            t.intensity = at(values), t.lowest = at(lowest), t.highest = at(highest), t.sum = at(sum);
            t.mean = at(mean), t.variance = at(variance);
        }
        if constexpr (std::is_same_v<std::remove_cvref_t<decltype(on)>, device>) {
            if (known) return component_statistics(on, at(labels), t);
            std::int64_t most = 0;
            for (const std::int64_t each : image.label) most = std::max(most, each);
            component_statistics(on, at(labels), [&](std::int64_t largest) {
                EXPECT_EQ(largest, most);
                return t;
            });
        } else {
            component_statistics(on, at(labels), t);
        }
    });
    expect_guarded(arrays);
    const auto expected = oracle::rows_of(image, rows, reals);
    for (std::int64_t row = 0; row < rows && !testing::Test::HasFailure(); ++row) {
        const oracle::table_row& e = expected[static_cast<std::size_t>(row)];
        EXPECT_EQ(size.get<std::int64_t>(row), e.size) << "row " << row;
        EXPECT_EQ(border.get<std::uint8_t>(row), e.border ? 1 : 0) << "row " << row;
        EXPECT_EQ(faces.get<std::int64_t>(row), e.faces) << "row " << row;
        for (std::int64_t axis = 0; axis < axes; ++axis) {
            const auto a = static_cast<std::size_t>(axis);
            EXPECT_EQ(box.get<std::int64_t>(row * 2 * axes + axis), e.first[a]) << "row " << row;
            EXPECT_EQ(box.get<std::int64_t>(row * 2 * axes + axes + axis), e.end[a]) << "row " << row;
            expect_same(centroid.get<double>(row * axes + axis), e.centroid[a], "centroid", row);
        }
        if (!value_type) continue;
        expect_same(read_real(lowest, row), e.lowest, "lowest", row);
        expect_same(read_real(highest, row), e.highest, "highest", row);
        if (whole_sum) EXPECT_EQ(sum.get<std::int64_t>(row), static_cast<std::int64_t>(e.sum)) << "row " << row;
        else expect_same(sum.get<double>(row), static_cast<double>(e.sum), "sum", row);
        expect_same(mean.get<double>(row), static_cast<double>(e.mean), "mean", row);
        expect_near(variance.get<double>(row), e.variance, "variance", row);
    }
}

template <class Runner>
void check_lists(const Runner& run, const drawn& d, list_of what) {
    SCOPED_TRACE(d.text() + (what == list_of::runs ? ", runs" : ", cells"));
    const oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    const std::int64_t rows = d.kind == pattern::each ? cells_of(d.shape) / 2 + 1 : 60;
    const bool runs = what == list_of::runs;
    const auto expected = oracle::lists_of(image, rows, runs);
    std::int64_t all = 0;
    for (const auto& list : expected) all += static_cast<std::int64_t>(list.size()) / (runs ? 2 : 1);
    guarded labels = d.array(d.type, d.shape, 1), offsets = d.array(dtype::int64, {rows + 1}, 2);
    const shape_t sides = runs ? shape_t{all, 2} : shape_t{all};
    guarded entries = d.array(d.seed % 2 == 0 ? dtype::int32 : dtype::int64, sides, 3);
    write_integers(labels, image.label);
    const std::vector<guarded*> arrays{&labels, &offsets, &entries};
    run(arrays, [&](const auto& on, const auto& at) {
        label_list_offsets(on, at(labels), at(offsets), what);
        label_lists(on, at(labels), at(offsets), at(entries), what);
    });
    expect_guarded(arrays);
    std::int64_t place = 0, number = 0;
    for (std::int64_t row = 0; row < rows && !testing::Test::HasFailure(); ++row) {
        EXPECT_EQ(offsets.get<std::int64_t>(row), place) << "row " << row;
        for (const std::int64_t entry : expected[static_cast<std::size_t>(row)])
            EXPECT_EQ(read_integer(entries, number++), entry) << "row " << row;
        place += static_cast<std::int64_t>(expected[static_cast<std::size_t>(row)].size()) / (runs ? 2 : 1);
    }
    EXPECT_EQ(offsets.get<std::int64_t>(rows), all);
}

template <class Runner>
void check_relabel(const Runner& run, const drawn& d, dtype to) {
    SCOPED_TRACE(d.text() + ", to " + nearfield::name_of(to));
    const oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    guarded labels = d.array(d.type, d.shape, 1), out = d.array(to, d.shape, 2), count = d.array(dtype::int64, {1}, 3);
    write_integers(labels, image.label);
    const std::vector<guarded*> arrays{&labels, &out, &count};
    const std::vector<std::int64_t> expected = oracle::numbered(image);
    const std::int64_t values = expected.empty() ? 0 : *std::max_element(expected.begin(), expected.end());
    const auto call = [&] {
        run(arrays, [&](const auto& on, const auto& at) { relabel(on, at(labels), at(out), at(count)); });
    };
    if (to == dtype::uint16 && values > 65535) {
        EXPECT_THROW(call(), error);
        return;
    }
    call();
    expect_guarded(arrays);
    EXPECT_EQ(count.get<std::int64_t>(0), values);
    for (std::int64_t cell = 0; cell < image.cells() && !testing::Test::HasFailure(); ++cell)
        EXPECT_EQ(read_integer(out, cell), expected[static_cast<std::size_t>(cell)]) << "cell " << cell;
}

template <class Runner>
void check_contacts(const Runner& run, const drawn& d, int connectivity) {
    SCOPED_TRACE(d.text() + ", connectivity " + std::to_string(connectivity));
    const oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    guarded labels = d.array(d.type, d.shape, 1);
    write_integers(labels, image.label);
    const std::vector<double> lengths = std::vector<double>{2.5, 0.5, 3},
                              used(lengths.end() - static_cast<std::ptrdiff_t>(d.shape.size()), lengths.end());
    std::vector<contact> got;
    run({&labels}, [&](const auto& on, const auto& at) {
        got = contacts(on, at(labels), connectivity, spacing(used.data(), used.size()));
    });
    const auto expected = oracle::touching(image, connectivity, used);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t k = 0; k < got.size() && !testing::Test::HasFailure(); ++k) {
        EXPECT_EQ(got[k].a, expected[k].a) << "contact " << k;
        EXPECT_EQ(got[k].b, expected[k].b) << "contact " << k;
        EXPECT_EQ(got[k].pairs, expected[k].pairs) << "contact " << k;
        EXPECT_EQ(got[k].area, expected[k].area) << "contact " << k;
    }
}

/// Checks remove_small() and count_components() on small integers, by any criterion, in place for some seeds.
template <class Runner>
void check_remove(const Runner& run, const drawn& d) {
    SCOPED_TRACE(d.text());
    const oracle::label_image image = make_labels(d.kind, d.shape, d.type, d.seed);
    const auto value = [&](std::int64_t cell) { return image.label[static_cast<std::size_t>(cell)]; };
    const bool equal = d.seed % 2 == 0;
    const std::int64_t background = equal && d.seed % 4 == 0 ? 1 : 0,
                       smallest = 1 + static_cast<std::int64_t>(d.seed % 7);
    label_options options;
    options.connectivity = 1 + static_cast<int>(d.seed % d.shape.size());
    options.criterion = equal ? criterion::equal : criterion::nonzero;
    options.background = background;
    oracle::component_problem problem;
    problem.shape = d.shape;
    problem.foreground = [&](std::int64_t cell) { return value(cell) != background; };
    problem.linked = [&](std::int64_t a, std::int64_t b, std::size_t) { return !equal || value(a) == value(b); };
    problem.steps = oracle::steps_of(static_cast<int>(d.shape.size()), options.connectivity);
    oracle::component_filter filter;
    filter.smallest = smallest;
    const oracle::component_answer kept = oracle::filtered(oracle::flood_fill(problem), problem, filter);

    guarded from = d.array(d.type, d.shape, 1), out = d.array(d.type, d.shape, 2);
    write_integers(from, image.label);
    const bool in_place = d.seed % 3 == 0;
    std::int64_t count = -1;
    run({&from, &out}, [&](const auto& on, const auto& at) {
        label_options with = options;
        with.smallest = smallest;
        count = count_components(on, at(from), with);
        remove_small(on, at(from), in_place ? at(from) : at(out), smallest, options);
    });
    expect_guarded({&from, &out});
    EXPECT_EQ(count, kept.count);
    for (std::int64_t cell = 0; cell < image.cells() && !testing::Test::HasFailure(); ++cell)
        EXPECT_EQ(read_integer(in_place ? from : out, cell),
                  kept.label[static_cast<std::size_t>(cell)] == 0 ? background : value(cell))
            << "cell " << cell;
}

/// Calls check(drawn) for shapes, patterns and types; each pair of shape and pattern occurs once.
template <class Check>
void for_each_drawn(const std::vector<shape_t>& shapes, const Check& check) {
    std::uint64_t seed = 0;
    for (const shape_t& shape : shapes)
        for (const pattern kind : all_patterns) {
            if (!chosen(++seed)) continue;
            check(drawn{kind, shape, integer_types[seed % std::size(integer_types)], seed});
            if (testing::Test::HasFailure()) return;
        }
}

}  // namespace nearfield::test
