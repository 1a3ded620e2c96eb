// Connected components on the host against flood fill: figures, shapes, connectivities, criteria, types, layouts,
// threads.
#include <gtest/gtest.h>

#include "label/call.hpp"

namespace nearfield::test {
namespace {

/// Varies a call, but keeps uint16 labels from images with more components than they can number.
label_case dressed_for(const shape_t& shape, std::uint64_t k) {
    label_case how = dressed(shape, k);
    if (how.label == dtype::uint16 && cells_of(shape) > 65535) how.label = dtype::int32;
    return how;
}

std::int64_t axes_of(const shape_t& shape) { return static_cast<std::int64_t>(shape.size()); }

TEST(LabelHost, EveryFigureOnEveryShape) {
    std::uint64_t k = 0;
    for (const shape_case& s : label_shapes())
        for (const figure kind : all_figures)
            for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity) {
                label_call c(dressed_for(s.shape, ++k), {.connectivity = connectivity});
                c.draw(make_figure(kind, s.shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << s.why << ' ' << name_of(kind) << " case " << k;
            }
}

TEST(LabelHost, LargeShapes) {
    std::uint64_t k = 5000;
    for (const shape_case& s : large_label_shapes())
        for (const figure kind : all_figures)
            for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity) {
                if (!chosen(++k) || mix(k) % 3 != 0) continue;
                label_call c(dressed_for(s.shape, k), {.connectivity = connectivity});
                c.draw(make_figure(kind, s.shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << s.why << ' ' << name_of(kind) << " case " << k;
            }
}

/// More threads than cores, and bands of few rows: components that only later bands join, and winding ones.
TEST(LabelHost, BandsOfManyThreads) {
    std::uint64_t k = 10000;
    for (const shape_t& shape : {shape_t{260, 21}, shape_t{40, 9, 17}, shape_t{3, 130, 11}})
        for (const figure kind : all_figures)
            for (const int threads : {3, 9})
                for (int connectivity = 1; connectivity <= axes_of(shape); ++connectivity) {
                    if (!chosen(++k)) continue;
                    label_case how = dressed_for(shape, k);
                    how.threads = threads;
                    label_options o{.connectivity = connectivity};
                    if (k % 5 == 0) o.smallest = 4;
                    if (k % 7 == 0) o.batch_axes = 1, o.connectivity = 1;
                    label_call c(how, o);
                    c.draw(make_figure(kind, shape, k));
                    ASSERT_EQ(check(label_on_host, c), "") << name_of(kind) << " case " << k;
                }
}

TEST(LabelHost, EqualAndWithinOnEveryShape) {
    std::uint64_t k = 20000;
    for (const shape_case& s : label_shapes())
        for (const criterion kind : {criterion::equal, criterion::within})
            for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity)
                for (int round = 0; round < 8; ++round) {
                    ++k;
                    label_call c(dressed_for(s.shape, k), options_of(k, kind, connectivity));
                    c.write(values_of(s.shape, k), mix(k) % 4 == 0);
                    ASSERT_EQ(check(label_on_host, c), "") << s.why << " case " << k;
                }
}

TEST(LabelHost, Colours) {
    std::uint64_t k = 40000;
    for (const shape_t& image : {shape_t{1}, shape_t{65}, shape_t{9, 64}, shape_t{13, 17}, shape_t{4, 5, 33}})
        for (const dtype element : {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64})
            for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
                for (const colour_norm norm : {colour_norm::maximum, colour_norm::sum, colour_norm::euclidean})
                    for (std::int64_t channels = 1; channels <= 4; ++channels) {
                        shape_t shape = image;
                        shape.push_back(channels);
                        ++k;
                        label_options o = options_of(k, kind, 1 + static_cast<int>(mix(k) % image.size()));
                        o.channels = true, o.norm = norm;
                        label_case how = dressed(shape, k);
                        how.element = element;
                        label_call c(how, o);
                        c.write(values_of(shape, k), mix(k) % 4 == 0);
                        ASSERT_EQ(check(label_on_host, c), "") << "case " << k;
                    }
}

TEST(LabelHost, PeriodicAxes) {
    std::uint64_t k = 60000;
    for (const shape_case& s : label_shapes())
        for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity)
            for (int round = 0; round < 6; ++round) {
                const criterion kind =
                    std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(++k) % 3];
                label_options o = options_of(k, kind, connectivity);
                std::vector<border> beyond;
                for (std::size_t axis = 0; axis < s.shape.size(); ++axis)
                    beyond.push_back(mix(k + axis) % 3 == 0 ? border::open : border::periodic);
                o.border = {beyond.data(), beyond.size()};
                o.clear_border = mix(k + 5) % 4 == 0;
                label_call c(dressed_for(s.shape, k), o);
                c.write(values_of(s.shape, k), mix(k) % 4 == 0);
                ASSERT_EQ(check(label_on_host, c), "") << s.why << " case " << k;
            }
}

/// Several bands for each thread, also in batches, with periodic axes.
TEST(LabelHost, PeriodicAxesInBands) {
    std::uint64_t k = 65000;
    for (const shape_t& shape : {shape_t{257, 255}, shape_t{500, 3}, shape_t{40, 41, 43}, shape_t{130, 65, 3}})
        for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
            for (int round = 0; round < 6; ++round) {
                ++k;
                label_options o = options_of(k, kind, 1);
                o.batch_axes = static_cast<int>(mix(k + 1) % (shape.size() - 1));
                o.connectivity =
                    1 + static_cast<int>(mix(k + 2) % (shape.size() - static_cast<std::size_t>(o.batch_axes)));
                o.border = border::periodic;
                label_case how = dressed_for(shape, k);
                how.threads = std::array{1, 2, 7}[round % 3];
                label_call c(how, o);
                c.write(values_of(shape, k), mix(k) % 4 == 0);
                ASSERT_EQ(check(label_on_host, c), "") << text_of(shape) << " case " << k;
            }
}

TEST(LabelHost, BatchesAndFilters) {
    std::uint64_t k = 70000;
    for (const shape_t& shape : {shape_t{3, 40}, shape_t{2, 9, 21}, shape_t{2, 3, 12, 65}, shape_t{0, 5},
                                 shape_t{3, 0, 5}, shape_t{2, 2, 7, 8, 9}})
        for (int batch = 0; batch < static_cast<int>(shape.size()); ++batch)
            for (int round = 0; round < 12; ++round) {
                ++k;
                label_options o = options_of(k, std::array{criterion::nonzero, criterion::equal}[k % 2], 1);
                o.batch_axes = batch;
                o.smallest = static_cast<std::int64_t>(mix(k + 20) % 6);
                if (mix(k + 21) % 3 == 0) o.largest = static_cast<std::int64_t>(mix(k + 22) % 20);
                if (mix(k + 23) % 2 == 0) o.keep_largest = static_cast<std::int64_t>(mix(k + 24) % 6);
                o.clear_border = mix(k + 25) % 3 == 0;
                label_call c(dressed_for(shape, k), o);
                c.write(values_of(shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << "case " << k;
            }
}

TEST(LabelHost, LinksOnEveryShape) {
    std::uint64_t k = 75000;
    for (const shape_case& s : label_shapes())
        for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity)
            for (int round = 0; round < 12; ++round) {
                label_options o{.connectivity = connectivity, .criterion = criterion::links};
                std::vector<border> beyond;
                for (std::size_t axis = 0; axis < s.shape.size(); ++axis)
                    beyond.push_back(mix(++k) % 3 != 0 || round % 3 != 0 ? border::open : border::periodic);
                o.border = {beyond.data(), beyond.size()};
                o.smallest = static_cast<std::int64_t>(mix(k + 20) % 3);
                label_call c(dressed_graph(s.shape, connectivity, k), o);
                c.write(graph_of(s.shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << s.why << " case " << k;
            }
}

TEST(LabelHost, LinksOfLargeShapesAndBatches) {
    std::uint64_t k = 77000;
    for (const shape_t& shape : {shape_t{257, 255}, shape_t{40, 41, 43}, shape_t{3, 65, 130}, shape_t{2, 3, 12, 65}})
        for (int batch = std::max(0, static_cast<int>(shape.size()) - 3); batch < 2; ++batch)
            for (int round = 0; round < 8; ++round) {
                ++k;
                const int axes = static_cast<int>(shape.size()) - batch;
                label_options o{.connectivity = 1 + static_cast<int>(mix(k) % static_cast<unsigned>(axes)),
                                .criterion = criterion::links,
                                .batch_axes = batch};
                if (round % 3 == 0) o.border = border::periodic;
                label_case how = dressed_graph(shape, o.connectivity, k);
                how.threads = std::array{1, 2, 7}[round % 3];
                label_call c(how, o);
                c.write(graph_of(shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << text_of(shape) << " case " << k;
            }
}

/// Any steps, with or without the one to the west; more axes than a device takes.
/// Rows of a few cells and many axes, with more cells than a task has, so that tasks meet within an image and images
/// within a task.
/// Masks whose cells touch all around them are linked by blocks, an axis at a time.
TEST(LabelHost, CornersOfManyAxes) {
    std::uint64_t k = 95000;
    for (const shape_t& shape : {shape_t{3, 2, 3, 2, 2, 3, 2, 3}, shape_t{2, 2, 2, 1, 3, 67}, shape_t{5, 6, 7, 66},
                                 shape_t{2, 3, 64, 2, 2}, shape_t{9, 4, 5, 3, 1}})
        for (const figure kind : all_figures)
            for (const int threads : {1, 3}) {
                if (!chosen(++k)) continue;
                label_case how = dressed_for(shape, k);
                how.threads = threads;
                label_options o{.connectivity = static_cast<int>(shape.size())};
                if (k % 5 == 0) o.batch_axes = 1, --o.connectivity;
                label_call c(how, o);
                c.draw(make_figure(kind, shape, k));
                ASSERT_EQ(check(label_on_host, c), "") << text_of(shape) << ' ' << name_of(kind) << " case " << k;
            }
}

TEST(LabelHost, ShortRowsAndManyAxes) {
    std::uint64_t k = 90000;
    for (const shape_t& shape : {shape_t{20000, 2}, shape_t{20001, 1}, shape_t{3, 7000, 3}, shape_t{90, 70, 5},
                                 shape_t{700, 31}, shape_t{9, 66, 47}, shape_t{70, 8, 32}, shape_t{5, 5, 5, 6, 6, 7},
                                 shape_t{2, 2, 2, 2, 1, 3, 501}, shape_t{3, 3, 3, 3, 3, 3, 3, 3}})
        for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
            for (const int threads : {1, 3})
                for (int round = 0; round < 3; ++round) {
                    if (!chosen(++k) || mix(k) % 2 != 0) continue;
                    label_case how = dressed_for(shape, k);
                    how.threads = threads;
                    const auto axes = static_cast<int>(shape.size()) - (round == 2 ? 1 : 0);
                    const int most = kind == criterion::nonzero || axes < 6 ? axes : 2;
                    label_options o =
                        options_of(k, kind, 1 + static_cast<int>(mix(k) % static_cast<std::uint64_t>(most)));
                    if (round == 2) o.batch_axes = 1;
                    label_call c(how, o);
                    c.write(values_of(shape, k), mix(k) % 4 == 0);
                    ASSERT_EQ(check(label_on_host, c), "") << text_of(shape) << " case " << k;
                }
}

TEST(LabelHost, EmptyImagesOfABatch) {
    std::vector<std::int64_t> count(3, 7);
    const std::vector<std::uint8_t> steps(9, 1);
    for (const bool any_steps : {false, true}) {
        label_fields<host> out;
        out.count = view<std::int64_t, 1, host>(count.data(), {3});
        label_options o{.batch_axes = 1};
        if (any_steps) o.steps = steps;
        label(host{2}, view<const std::uint8_t, 3, host>(nullptr, {3, 0, 4}), out, o);
        EXPECT_EQ(count, std::vector<std::int64_t>(3, 0));
        count.assign(3, 7);
    }
}

TEST(LabelHost, AnyStepsAndAnyRank) {
    std::uint64_t k = 80000;
    for (const shape_t& shape : {shape_t{67}, shape_t{12, 66}, shape_t{5, 6, 35}, shape_t{3, 4, 5, 6},
                                 shape_t{3, 2, 3, 2, 5}, shape_t{2, 2, 2, 2, 2, 2, 2, 3}})
        for (int round = 0; round < 20; ++round) {
            std::size_t count = 1;
            for (std::size_t axis = 0; axis < shape.size(); ++axis) count *= 3;
            std::vector<std::uint8_t> steps(count);
            for (std::size_t i = 0; i < count / 2; ++i)
                steps[i] = steps[count - 1 - i] = static_cast<std::uint8_t>(mix(k * 1000 + i) % 3 == 0 ? 1 + i % 5 : 0);
            steps[count / 2] = round % 2 != 0;
            ++k;
            label_options o = options_of(k, std::array{criterion::nonzero, criterion::within}[k % 2],
                                         1 + static_cast<int>(mix(k) % shape.size()));
            if (round % 4 != 0) o.steps = steps;
            label_call c(dressed_for(shape, k), o);
            c.write(values_of(shape, k));
            ASSERT_EQ(check(label_on_host, c), "") << "case " << k;
            if (shape.size() > 3) continue;
            o.criterion = criterion::links;
            label_call graph(dressed_graph(shape, 3, k), o);
            graph.write(graph_of(shape, k));
            ASSERT_EQ(check(label_on_host, graph), "") << "case " << k;
        }
}

}  // namespace
}  // namespace nearfield::test
