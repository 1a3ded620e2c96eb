// Connected components on the device against flood fill: figures, shapes, connectivities, criteria, types, layouts,
// batches, borders; plain and recorded as a graph.
#include <gtest/gtest.h>

#include <numeric>

#include "label/device_cases.hpp"

namespace nearfield::test {
namespace {

using LabelDevice = DeviceTest;

void check_figures(const std::vector<shape_case>& shapes, std::uint64_t k) {
    for (const shape_case& s : shapes)
        for (const figure kind : all_figures)
            for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity) {
                if (!chosen(++k)) continue;
                SCOPED_TRACE(s.why + (" " + name_of(kind)) + " connectivity " + std::to_string(connectivity));
                label_call c(dressed_for(s.shape, k), {.connectivity = connectivity});
                c.draw(make_figure(kind, s.shape, k));
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
                label_call plain(plain_for(s.shape), {.connectivity = connectivity});
                plain.draw(make_figure(kind, s.shape, k));
                expect_right(plain, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST_F(LabelDevice, EveryFigureOnEveryShape) { check_figures(label_shapes(), 0); }
TEST_F(LabelDevice, LargeShapes) { check_figures(large_label_shapes(), 5000); }

void check_criteria(const std::vector<shape_case>& shapes, std::uint64_t k, int rounds) {
    for (const shape_case& s : shapes)
        for (const criterion kind : {criterion::equal, criterion::within})
            for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity)
                for (int round = 0; round < rounds; ++round) {
                    if (!chosen(++k)) continue;
                    SCOPED_TRACE(s.why);
                    const label_case how = round % 2 == 0 ? dressed_for(s.shape, k) : plain_for(s.shape);
                    label_call c(how, options_of(k, kind, connectivity));
                    c.write(values_of(s.shape, k), mix(k) % 4 == 0);
                    expect_right(c, k);
                    if (testing::Test::HasFatalFailure()) return;
                }
}

TEST_F(LabelDevice, EqualAndWithinOnEveryShape) { check_criteria(label_shapes(), 20000, 8); }
TEST_F(LabelDevice, EqualAndWithinOnLargeShapes) { check_criteria(large_label_shapes(), 30000, 4); }

/// Differences and tolerances that need one bit more than the values have.
TEST_F(LabelDevice, TolerancesAtTheEndsOfTypes) {
    std::uint64_t k = 35000;
    for (const shape_t& shape : {shape_t{9, 64}, shape_t{40, 131}, shape_t{11, 12, 70}})
        for (const dtype element :
             {dtype::int8, dtype::uint8, dtype::int16, dtype::uint16, dtype::int32, dtype::uint32, dtype::float32})
            for (int which = 0; which < 7; ++which) {
                if (!chosen(++k)) continue;
                const std::int64_t half = std::int64_t{1} << (8 * size_of(element) - 1);
                const std::array<std::int64_t, 7> ends{0, 1, half - 1, half, half + 1, 2 * half - 2, 2 * half - 1};
                label_case how = k % 2 == 0 ? dressed_for(shape, k) : plain_for(shape);
                how.element = element;
                label_options o{.connectivity = 1 + static_cast<int>(k % shape.size()),
                                .criterion = criterion::within,
                                .tolerance = ends[static_cast<std::size_t>(which)]};
                o.background = ends[mix(k) % 7], o.has_background = k % 3 != 0;
                SCOPED_TRACE(text_of(shape) + ' ' + std::string(name_of(element)) + " case " + std::to_string(k));
                label_call c(how, o);
                c.write(over(shape, [&](const shape_t& at) { return ends[grain_value(at, 1 + k % 3, 7, k)]; }));
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST_F(LabelDevice, Colours) {
    std::uint64_t k = 40000;
    for (const shape_t& image : {shape_t{1}, shape_t{65}, shape_t{9, 64}, shape_t{13, 17}, shape_t{4, 5, 33}})
        for (const dtype element : {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64})
            for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
                for (const colour_norm norm : {colour_norm::maximum, colour_norm::sum, colour_norm::euclidean})
                    for (std::int64_t channels = 1; channels <= 4; ++channels) {
                        if (!chosen(++k)) continue;
                        shape_t shape = image;
                        shape.push_back(channels);
                        label_options o = options_of(k, kind, 1 + static_cast<int>(mix(k) % image.size()));
                        o.channels = true, o.norm = norm;
                        label_case how = dressed_for(shape, k);
                        how.element = element;
                        label_call c(how, o);
                        c.write(values_of(shape, k), mix(k) % 4 == 0);
                        expect_right(c, k);
                        if (testing::Test::HasFatalFailure()) return;
                    }
}

void check_periodic(const std::vector<shape_case>& shapes, std::uint64_t k) {
    for (const shape_case& s : shapes)
        for (int connectivity = 1; connectivity <= axes_of(s.shape); ++connectivity)
            for (int round = 0; round < 6; ++round) {
                if (!chosen(++k)) continue;
                SCOPED_TRACE(s.why);
                const criterion kind = std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(k) % 3];
                label_options o = options_of(k, kind, connectivity);
                std::vector<border> beyond;
                for (std::size_t axis = 0; axis < s.shape.size(); ++axis)
                    beyond.push_back(mix(k + axis) % 3 == 0 ? border::open : border::periodic);
                o.border = {beyond.data(), beyond.size()};
                label_call c(round % 2 == 0 ? dressed_for(s.shape, k) : plain_for(s.shape), o);
                c.write(values_of(s.shape, k), mix(k) % 4 == 0);
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

TEST_F(LabelDevice, PeriodicAxes) { check_periodic(label_shapes(), 60000); }
TEST_F(LabelDevice, PeriodicAxesOfLargeShapes) { check_periodic(large_label_shapes(), 65000); }

TEST_F(LabelDevice, Batches) {
    std::uint64_t k = 70000;
    for (const shape_t& shape : {shape_t{3, 40}, shape_t{2, 9, 21}, shape_t{2, 3, 12, 65}, shape_t{0, 5},
                                 shape_t{3, 0, 5}, shape_t{2, 2, 7, 8, 9}, shape_t{3, 5, 64}, shape_t{2, 3, 5, 7, 32}})
        for (int batch = std::max(0, static_cast<int>(shape.size()) - 3); batch < static_cast<int>(shape.size());
             ++batch)
            for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()) - batch; ++connectivity)
                for (int round = 0; round < 4; ++round) {
                    if (!chosen(++k)) continue;
                    label_options o =
                        options_of(k, std::array{criterion::nonzero, criterion::equal}[k % 2], connectivity);
                    o.batch_axes = batch;
                    label_call c(round % 2 == 0 ? dressed_for(shape, k) : plain_for(shape), o);
                    c.write(values_of(shape, k));
                    expect_right(c, k);
                    if (testing::Test::HasFatalFailure()) return;
                }
}

TEST_F(LabelDevice, Filters) {
    std::uint64_t k = 80000;
    for (const shape_t& shape : {shape_t{3, 40}, shape_t{2, 9, 21}, shape_t{2, 3, 12, 65}, shape_t{0, 5},
                                 shape_t{3, 0, 5}, shape_t{2, 2, 7, 8, 9}, shape_t{61, 64}})
        for (int batch = std::max(0, static_cast<int>(shape.size()) - 3); batch < static_cast<int>(shape.size());
             ++batch)
            for (int round = 0; round < 12; ++round) {
                if (!chosen(++k)) continue;
                label_options o = options_of(k, std::array{criterion::nonzero, criterion::equal}[k % 2], 1);
                o.batch_axes = batch;
                o.smallest = static_cast<std::int64_t>(mix(k + 20) % 6);
                if (mix(k + 21) % 3 == 0) o.largest = static_cast<std::int64_t>(mix(k + 22) % 20);
                if (mix(k + 23) % 2 == 0) o.keep_largest = static_cast<std::int64_t>(mix(k + 24) % 6);
                o.clear_border = mix(k + 25) % 3 == 0;
                if (mix(k + 26) % 4 == 0) o.border = border::periodic;
                label_call c(round % 2 == 0 ? dressed_for(shape, k) : plain_for(shape), o);
                c.write(values_of(shape, k));
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

/// More components than a block of threads reads, most of them equally large, so that ties are decided across
/// blocks.
TEST_F(LabelDevice, TheLargestOfThousands) {
    std::uint64_t k = 90000;
    const shape_t shape{2, 60, 320};
    for (const std::int64_t keep : {0, 1, 200, 700, 1500, 1000000}) {
        ++k;
        label_options o{.connectivity = 1, .batch_axes = 1, .keep_largest = keep};
        label_call c(plain_for(shape), o);
        std::vector<std::int64_t> values(static_cast<std::size_t>(cells_of(shape)));
        for (std::size_t i = 0; i < values.size(); ++i) values[i] = mix(i) % 5 == 0 ? 1 : 0;
        c.write(values);
        expect_right(c, k);
        if (testing::Test::HasFatalFailure()) return;
    }
}

/// Tables with more rows than there can be components, as bytes: the extra rows must keep their contents.
std::vector<std::vector<std::byte>> tables_on(bool on_device, const shape_t& shape,
                                              const std::vector<std::uint8_t>& image,
                                              const std::vector<float>& intensity, const label_options& o,
                                              std::int64_t rows) {
    const auto axes = static_cast<std::int64_t>(shape.size()) - o.batch_axes;
    std::vector<std::vector<std::byte>> made;
    const std::int64_t sizes[] = {8, 16 * axes, 8 * axes, 1, 8, 4, 4, 8, 8, 8};
    for (const std::int64_t bytes : sizes) made.emplace_back(static_cast<std::size_t>(bytes * rows), std::byte{0x5a});
    const auto fill = [&]<class Place>(const Place& on, const std::vector<void*>& at, const void* cells,
                                       const void* values) {
        label_fields<Place> out;
        const auto put = [&](any_output<Place>& table, std::size_t i, dtype type, const shape_t& of) {
            table = any_output<Place>::contiguous(at[i], type, of);
        };
        component_tables<Place>& t = out.tables;
        put(t.size, 0, dtype::int64, {rows}), put(t.box, 1, dtype::int64, {rows, 2, axes});
        put(t.centroid, 2, dtype::float64, {rows, axes}), put(t.border, 3, dtype::uint8, {rows});
        put(t.faces, 4, dtype::int64, {rows}), put(t.lowest, 5, dtype::float32, {rows});
        put(t.highest, 6, dtype::float32, {rows}), put(t.sum, 7, dtype::float64, {rows});
        put(t.mean, 8, dtype::float64, {rows}), put(t.variance, 9, dtype::float64, {rows});
        t.intensity = any_input<Place>::contiguous(values, dtype::float32, shape);
        nearfield::label(on, any_input<Place>::contiguous(cells, dtype::uint8, shape), out, o);
    };
    std::vector<void*> at;
    if (!on_device) {
        for (auto& table : made) at.push_back(table.data());
        fill(host{1}, at, image.data(), intensity.data());
        return made;
    }
    const stream on;
    std::vector<device_memory> memory;
    const auto send = [&](const void* from, std::size_t bytes) {
        memory.emplace_back(bytes);
        expect_cuda(cudaMemcpyAsync(memory.back().data(), from, bytes, cudaMemcpyHostToDevice, on.get()), "upload");
        return memory.back().data();
    };
    for (auto& table : made) at.push_back(send(table.data(), table.size()));
    fill(device{on.get()}, at, send(image.data(), image.size()),
         send(intensity.data(), intensity.size() * sizeof(float)));
    for (std::size_t i = 0; i < made.size(); ++i)
        expect_cuda(cudaMemcpyAsync(made[i].data(), at[i], made[i].size(), cudaMemcpyDeviceToHost, on.get()),
                    "download");
    on.wait();
    return made;
}

TEST_F(LabelDevice, TablesAreTheHosts) {
    std::uint64_t k = 90000;
    for (const shape_t& shape :
         {shape_t{67}, shape_t{19, 64}, shape_t{7, 9, 33}, shape_t{3, 12, 21}, shape_t{2, 2, 5, 6, 7}})
        for (int round = 0; round < 8; ++round) {
            ++k;
            label_options o = options_of(k, std::array{criterion::nonzero, criterion::equal}[k % 2], 1);
            o.batch_axes = std::max(static_cast<int>(round % 2), static_cast<int>(shape.size()) - 3);
            if (o.batch_axes == static_cast<int>(shape.size())) continue;
            if (round % 3 == 1) o.border = border::periodic;
            if (round % 4 == 2) o.smallest = 3;
            std::vector<std::uint8_t> image;
            std::vector<float> intensity;
            for (const std::int64_t v : values_of(shape, k)) {
                image.push_back(static_cast<std::uint8_t>(v % 3));
                intensity.push_back(static_cast<float>(mix(k + image.size()) % 1000) * 0.37F - 100);
            }
            const auto rows = static_cast<std::int64_t>(round < 4 ? image.size() : 5);
            const auto expected = tables_on(false, shape, image, intensity, o, rows);
            const auto came = tables_on(true, shape, image, intensity, o, rows);
            for (std::size_t i = 0; i < came.size(); ++i)
                ASSERT_EQ(came[i], expected[i]) << "table " << i << " case " << k;
        }
}

}  // namespace
}  // namespace nearfield::test
