// Tables computed with the labels, against the oracle's pass over every cell: figures, criteria, filters, batches,
// threads, types of intensity; and with make_tables.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <optional>

#include "label/call.hpp"
#include "oracle/components.hpp"
#include "oracle/tables.hpp"

namespace nearfield::test {
namespace {

/// All ten tables in guarded memory, with `rows` rows. Some calls leave out a few tables, since the computed sums
/// depend on the wanted ones.
struct table_memory {
    table_memory(std::int64_t rows, std::int64_t axes, dtype value, bool whole_sum, std::uint64_t k)
        : size(dtype::int64, {rows}, lay(k), k),
          box(dtype::int64, {rows, 2, axes}, lay(k + 1), k),
          centroid(dtype::float64, {rows, axes}, lay(k + 2), k),
          border(dtype::boolean, {rows}, lay(k + 3), k),
          faces(dtype::int64, {rows}, lay(k + 4), k),
          lowest(value, {rows}, lay(k + 5), k),
          highest(value, {rows}, lay(k + 6), k),
          sum(whole_sum ? dtype::int64 : dtype::float64, {rows}, lay(k + 7), k),
          mean(dtype::float64, {rows}, lay(k + 8), k),
          variance(dtype::float64, {rows}, lay(k + 9), k),
          seed(k) {}
    static layout lay(std::uint64_t k) { return all_layouts[mix(k) % std::size(all_layouts)]; }

    component_tables<host> fill(const any_input<host>& intensity) {
        const auto out = [](guarded& g) { return g.paint(), g.view_of<host>(static_cast<void*>(g.bytes().data())); };
        component_tables<host> t;
        if (with(0)) t.size = out(size);
        if (with(1)) t.box = out(box);
        if (with(2)) t.centroid = out(centroid);
        if (with(3)) t.border = out(border);
        if (with(4)) t.faces = out(faces);
        t.intensity = intensity;
        t.lowest = out(lowest), t.highest = out(highest), t.sum = out(sum), t.mean = out(mean),
        t.variance = out(variance);
        return t;
    }
    /// True if a table among size, box, centroid, border and faces is wanted; the others always are.
    [[nodiscard]] bool with(std::uint64_t table) const { return seed % 2 == 0 || mix(seed + 40 + table) % 3 != 0; }
    void expect_guarded() {
        for (const guarded* each : {&size, &box, &centroid, &border, &faces, &lowest, &highest, &sum, &mean, &variance})
            EXPECT_EQ(each->guards_broken(), "");
    }
    guarded size, box, centroid, border, faces, lowest, highest, sum, mean, variance;
    std::uint64_t seed;
};

/// Values that the type holds exactly; sums of floats need many bits.
std::vector<double> make_values(const shape_t& shape, dtype type, std::uint64_t seed) {
    std::vector<double> values;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::uint64_t h = mix(seed * 7919 + static_cast<std::uint64_t>(i));
        if (type == dtype::boolean) values.push_back(static_cast<double>(h % 2));
        else if (type == dtype::uint8 || type == dtype::uint64) values.push_back(static_cast<double>(h % 251));
        else if (type < dtype::float16) values.push_back(static_cast<double>(h % 60001) - 30000);
        else values.push_back(std::ldexp(static_cast<double>(h % 2001) - 1000, static_cast<int>(h >> 20) % 9));
    }
    return values;
}

template <class T>
void write_as(guarded& to, const std::vector<double>& values) {
    for (std::int64_t i = 0; i < to.cells(); ++i) {
        const T value = static_cast<T>(values[static_cast<std::size_t>(i)]);
        std::memcpy(to.element(i), &value, sizeof value);
    }
}
void write_reals(guarded& to, const std::vector<double>& values) {
    switch (to.type()) {
        case dtype::boolean:
        case dtype::uint8: return write_as<std::uint8_t>(to, values);
        case dtype::int16: return write_as<std::int16_t>(to, values);
        case dtype::int32: return write_as<std::int32_t>(to, values);
        case dtype::uint64: return write_as<std::uint64_t>(to, values);
        case dtype::float32: return write_as<float>(to, values);
        default: return write_as<double>(to, values);
    }
}

void expect_same(double got, double expected, const char* what, std::int64_t row) {
    if (std::isnan(expected)) EXPECT_TRUE(std::isnan(got)) << what << " of row " << row;
    else EXPECT_EQ(got, expected) << what << " of row " << row;
}

void expect_row(const table_memory& t, std::int64_t row, const oracle::table_row& e) {
    const auto axes = static_cast<std::int64_t>(e.first.size());
    if (t.with(0)) {
        EXPECT_EQ(t.size.get<std::int64_t>(row), e.size) << "row " << row;
    }
    if (t.with(3)) {
        EXPECT_EQ(t.border.get<std::uint8_t>(row), e.border ? 1 : 0) << "row " << row;
    }
    if (t.with(4)) {
        EXPECT_EQ(t.faces.get<std::int64_t>(row), e.faces) << "row " << row;
    }
    for (std::int64_t axis = 0; axis < axes; ++axis) {
        const auto a = static_cast<std::size_t>(axis);
        if (t.with(1)) {
            EXPECT_EQ(t.box.get<std::int64_t>(row * 2 * axes + axis), e.first[a]) << "row " << row;
        }
        if (t.with(1)) {
            EXPECT_EQ(t.box.get<std::int64_t>(row * 2 * axes + axes + axis), e.end[a]) << "row " << row;
        }
        if (t.with(2)) expect_same(t.centroid.get<double>(row * axes + axis), e.centroid[a], "centroid", row);
    }
    expect_same(value_in(t.lowest, row), e.lowest, "lowest", row);
    expect_same(value_in(t.highest, row), e.highest, "highest", row);
    if (t.sum.type() == dtype::int64)
        EXPECT_EQ(t.sum.get<std::int64_t>(row), static_cast<std::int64_t>(e.sum)) << "row " << row;
    else expect_same(t.sum.get<double>(row), static_cast<double>(e.sum), "sum", row);
    expect_same(t.mean.get<double>(row), static_cast<double>(e.mean), "mean", row);
    const auto variance = static_cast<double>(e.variance);  // the oracle's mean is rounded to 113 bits
    EXPECT_LE(std::abs(t.variance.get<double>(row) - variance), std::abs(variance) * 0x1p-52) << "row " << row;
}

constexpr dtype value_types[] = {dtype::uint8, dtype::float32, dtype::int16,  dtype::float64,
                                 dtype::int32, dtype::uint64,  dtype::boolean};

/// Labels and measures. The labels equal those of flood fill (host_test.cpp), so they define what is to be measured.
void check_measured(label_call& c, const shape_t& image_shape, std::uint64_t k) {
    const shape_t& shape = c.how.shape;
    const std::int64_t images = cells_of(shape) == 0 ? 0 : cells_of(shape) / cells_of(image_shape);
    const dtype value = value_types[mix(k + 30) % std::size(value_types)];
    guarded intensity(value, shape, table_memory::lay(k + 31), k);
    const std::vector<double> reals = make_values(shape, value, k);
    write_reals(intensity, reals);
    const auto axes = static_cast<std::int64_t>(image_shape.size());
    std::optional<table_memory> t;
    std::int64_t rows = -1;
    label_fields<host> out = c.fields();
    c.label.paint(), c.count.paint();
    out.make_tables = [&](std::int64_t n) {
        rows = n;
        t.emplace(n + static_cast<std::int64_t>(k % 2), axes, value, value <= dtype::uint32 && k % 3 == 0, k);
        return t->fill(intensity.view_of<host>(static_cast<const void*>(intensity.bytes().data())));
    };
    if (!c.steps.empty()) c.options.steps = c.steps;
    label(host{c.how.threads}, c.image.view_of<host>(static_cast<const void*>(c.image.bytes().data())), out, c.options);
    EXPECT_EQ(c.label.guards_broken(), "");
    ASSERT_TRUE(t.has_value());
    t->expect_guarded();
    std::int64_t row = 0;
    for (std::int64_t image = 0; image < images && !testing::Test::HasFailure(); ++image) {
        oracle::label_image labels{image_shape, {}};
        for (int axis = 0; axis < static_cast<int>(axes); ++axis)
            labels.periodic.push_back(c.options.border[axis] == border::periodic);
        const std::int64_t cells = cells_of(image_shape), first = image * cells;
        for (std::int64_t i = 0; i < cells; ++i)
            labels.label.push_back(static_cast<std::int64_t>(value_in(c.label, first + i)));
        const std::vector<double> values(reals.begin() + first, reals.begin() + first + cells);
        const std::int64_t count = c.count.get<std::int64_t>(image);
        for (const oracle::table_row& e : oracle::rows_of(labels, count, values)) expect_row(*t, row++, e);
    }
    EXPECT_EQ(row, rows);
}

TEST(LabelTables, EveryFigure) {
    std::uint64_t k = 0;
    for (const shape_t& shape :
         {shape_t{1}, shape_t{65}, shape_t{9, 64}, shape_t{40, 33}, shape_t{200, 5}, shape_t{70, 130}, shape_t{3, 5, 7},
          shape_t{33, 6, 20}, shape_t{4, 40, 65}, shape_t{70, 5, 3}})
        for (const figure kind : all_figures)
            for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity) {
                label_call c(dressed(shape, ++k), {.connectivity = connectivity});
                c.draw(make_figure(kind, shape, k));
                SCOPED_TRACE(text_of(shape) + ' ' + name_of(kind) + " case " + std::to_string(k));
                check_measured(c, shape, k);
                if (testing::Test::HasFailure()) return;
            }
}

/// Periodic axes, in rows processed as words of bits and as lists of runs.
TEST(LabelTables, PeriodicAxes) {
    std::uint64_t k = 5000;
    for (const shape_t& shape :
         {shape_t{1}, shape_t{2}, shape_t{64}, shape_t{65}, shape_t{1, 5}, shape_t{5, 1}, shape_t{9, 64},
          shape_t{40, 33}, shape_t{200, 5}, shape_t{90, 70}, shape_t{1, 1, 3}, shape_t{2, 1, 66}, shape_t{3, 5, 7},
          shape_t{33, 6, 20}, shape_t{4, 40, 65}, shape_t{3, 80, 7}})
        for (int round = 0; round < 24; ++round) {
            ++k;
            label_options o;
            o.criterion = std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(k) % 3];
            o.tolerance = 1;
            o.has_background = mix(k + 2) % 4 != 0;
            o.connectivity = 1 + static_cast<int>(mix(k + 4) % shape.size());
            o.smallest = static_cast<std::int64_t>(mix(k + 5) % 3);
            o.clear_border = mix(k + 8) % 4 == 0;
            std::vector<border> beyond;
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
                beyond.push_back(mix(k + 10 + axis) % 3 == 0 ? border::open : border::periodic);
            o.border = {beyond.data(), beyond.size()};
            label_call c(dressed(shape, k), o);
            c.write(over(shape, [&](const shape_t& at) {
                return static_cast<std::int64_t>(grain_value(at, 1 + static_cast<std::int64_t>(k % 3), 2 + k % 5, k));
            }));
            SCOPED_TRACE(text_of(shape) + " case " + std::to_string(k));
            check_measured(c, shape, k);
            if (testing::Test::HasFailure()) return;
        }
}

/// Filters, batches, criteria under which adjacent runs belong to one component, and steps, which another engine
/// serves.
TEST(LabelTables, CriteriaFiltersBatchesAndSteps) {
    std::uint64_t k = 1000;
    for (const shape_t& shape : {shape_t{40}, shape_t{3, 65}, shape_t{20, 50}, shape_t{90, 70}, shape_t{2, 9, 33},
                                 shape_t{12, 40, 21}, shape_t{3, 5, 6, 7}, shape_t{9, 80, 64}})
        for (int round = 0; round < 24; ++round) {
            ++k;
            label_options o;
            o.criterion = std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(k) % 3];
            o.tolerance = static_cast<int>(mix(k + 1) % 3);
            o.has_background = mix(k + 2) % 4 != 0;
            o.batch_axes = shape.size() == 4 ? 1 : static_cast<int>(mix(k + 3) % shape.size());
            const shape_t image(shape.begin() + o.batch_axes, shape.end());
            o.connectivity = 1 + static_cast<int>(mix(k + 4) % image.size());
            o.smallest = static_cast<std::int64_t>(mix(k + 5) % 5);
            if (mix(k + 6) % 3 == 0) o.keep_largest = static_cast<std::int64_t>(mix(k + 7) % 9);
            o.clear_border = mix(k + 8) % 5 == 0;
            const std::vector<std::uint8_t> steps = oracle::steps_of(static_cast<int>(image.size()), o.connectivity);
            if (mix(k + 9) % 3 == 0) o.steps = steps;
            label_call c(dressed(shape, k), o);
            c.write(over(shape, [&](const shape_t& at) {
                return static_cast<std::int64_t>(grain_value(at, 1 + static_cast<std::int64_t>(k % 3), 2 + k % 5, k));
            }));
            SCOPED_TRACE(text_of(shape) + " case " + std::to_string(k));
            check_measured(c, image, k);
            if (testing::Test::HasFailure()) return;
        }
}

/// Rows with equal runs are added together only if their labels are equal: stripes of two values, repeated or not.
TEST(LabelTables, RowsThatRepeatTheOneAbove) {
    std::uint64_t k = 3001;
    for (const shape_t& shape : {shape_t{40, 70}, shape_t{6, 9, 65}, shape_t{100, 3}})
        for (const std::int64_t high : {1, 2, 3, 50})
            for (const criterion kind : {criterion::nonzero, criterion::equal})
                for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity) {
                    label_case how = dressed(shape, k += 2);
                    how.element = dtype::uint8, how.threads = 1 + static_cast<int>(k / 2 % 3);
                    label_call c(how, {.connectivity = connectivity, .criterion = kind});
                    c.write(over(shape, [&](const shape_t& at) {
                        const std::int64_t y = at[at.size() - 2] / high;
                        return at.back() % 7 == 0 ? 0 : 1 + y % 2;
                    }));
                    SCOPED_TRACE(text_of(shape) + " case " + std::to_string(k));
                    check_measured(c, shape, k);
                    if (testing::Test::HasFailure()) return;
                }
}

/// A periodic axis has no ends, so there is no border and no face.
TEST(LabelTables, PeriodicAxesHaveNoEnds) {
    std::vector<std::uint8_t> image(5 * 7, 1);
    std::int64_t size = 0, faces = -1;
    bool border = true;
    label_fields<host> out;
    out.tables.size = view<std::int64_t, 1, host>(&size, {1});
    out.tables.faces = view<std::int64_t, 1, host>(&faces, {1});
    out.tables.border = view<bool, 1, host>(&border, {1});
    label(host{1}, view<const std::uint8_t, 2, host>(image.data(), {5, 7}), out, {.border = border::periodic});
    EXPECT_EQ(size, 35);
    EXPECT_EQ(faces, 0);
    EXPECT_FALSE(border);
}

/// A table that cannot hold the sums, and no output that tells the number of cells.
TEST(LabelTables, BoxesAloneWithGapsBetweenRows) {
    const std::vector<std::uint8_t> image{1, 1, 0, 1, 0, 1};
    std::vector<std::int64_t> box(9, -7);
    label_fields<host> out;
    out.tables.box = any_output<host>::contiguous(box.data(), dtype::int64, shape_t{3, 2, 1});
    out.tables.box.stride[0] = 3;
    label(host{1}, view<const std::uint8_t, 1, host>(image.data(), {6}), out);
    EXPECT_EQ(box, (std::vector<std::int64_t>{0, 2, -7, 3, 4, -7, 5, 6, -7}));
}

/// Rows beyond the components are not written; components beyond the rows are left out.
TEST(LabelTables, FewerAndMoreRowsThanComponents) {
    std::vector<std::uint8_t> image(1000, 0);
    for (std::size_t i = 0; i < image.size(); i += 2) image[i] = 1;
    for (const std::int64_t rows : {0, 1, 499, 500, 501})
        for (const int threads : {1, 3}) {
            std::vector<std::int64_t> size(static_cast<std::size_t>(rows + 1), -3);
            label_fields<host> out;
            out.tables.size = view<std::int64_t, 1, host>(size.data(), {rows});
            label(host{threads}, view<const std::uint8_t, 2, host>(image.data(), {250, 4}), out);
            std::int64_t filled = 0;
            for (const std::int64_t s : size) filled += s > 0;
            EXPECT_EQ(size.back(), -3);
            EXPECT_EQ(filled, std::min<std::int64_t>(rows, 2));
        }
}

}  // namespace
}  // namespace nearfield::test
