// Tables that tiles compute without reading labels equal the host's, byte by byte, including rows without a component
// and gaps between rows.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_test.hpp"
#include "label/device_engine.hpp"

namespace nearfield::test {
namespace {

class LabelTablesDevice : public device_test {};

constexpr int table_count = 10, first_value_table = 5;
constexpr std::byte untouched{0x5a};

/// The outputs that one call wants, and the memory of its tables.
struct shapes_call {
    shape_t shape;
    label_options options;
    /// Rows of size, box, centroid, border, faces, lowest, highest, sum, mean, variance; negative: not wanted.
    std::int64_t rows[table_count] = {};
    int gap = 0;         ///< elements between rows
    bool asked = false;  ///< true if make_tables provides the tables
    bool labels = false;
    dtype value = dtype::uint8;  ///< type of the intensity
    int apart = 1;               ///< element step from one value to the next
    bool whole_sums = false;
    std::vector<std::uint8_t> image{};

    [[nodiscard]] std::int64_t axes() const { return static_cast<std::int64_t>(shape.size()) - options.batch_axes; }
    [[nodiscard]] std::int64_t inner(int table) const { return table == 1 ? 2 * axes() : table == 2 ? axes() : 1; }
    [[nodiscard]] std::vector<std::vector<std::byte>> memory() const {
        std::vector<std::vector<std::byte>> all;
        for (int t = 0; t < table_count; ++t)
            all.emplace_back(static_cast<std::size_t>(std::max<std::int64_t>(rows[t], 0) * (inner(t) + gap) * 8),
                             untouched);
        all.emplace_back(labels ? 4 * image.size() : 0, untouched);
        return all;
    }
    [[nodiscard]] bool has_values() const {
        return std::any_of(rows + first_value_table, rows + table_count, [](std::int64_t n) { return n >= 0; });
    }
    /// The intensity's memory; if values lie apart it begins one byte after a 16-byte boundary.
    [[nodiscard]] std::vector<std::uint8_t> intensity() const {
        std::vector<std::uint8_t> all(image.size() * static_cast<std::size_t>(apart * size_of(value)) + 2);
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = static_cast<std::uint8_t>(mix(i + image.size()));
        return all;
    }
    [[nodiscard]] dtype type_of(int t) const {
        constexpr dtype of[] = {dtype::int64, dtype::int64, dtype::float64, dtype::uint8, dtype::int64};
        if (t < first_value_table) return of[t];
        if (t < first_value_table + 2) return value;
        return t == first_value_table + 2 && whole_sums ? dtype::int64 : dtype::float64;
    }
    template <class Place>
    [[nodiscard]] any_output<Place> table(int t, void* at) const {
        if (rows[t] < 0) return {};
        shape_t of{rows[t]};
        if (t == 1) of.insert(of.end(), {2, axes()});
        if (t == 2) of.push_back(axes());
        any_output<Place> v = any_output<Place>::contiguous(at, type_of(t), of);
        v.stride[0] += gap;
        return v;
    }
    template <class Place>
    void run(const Place& on, const void* cells, const void* values, const std::vector<void*>& at) const {
        component_tables<Place> t;
        t.size = table<Place>(0, at[0]), t.box = table<Place>(1, at[1]);
        t.centroid = table<Place>(2, at[2]), t.border = table<Place>(3, at[3]);
        t.faces = table<Place>(4, at[4]), t.lowest = table<Place>(5, at[5]), t.highest = table<Place>(6, at[6]);
        t.sum = table<Place>(7, at[7]), t.mean = table<Place>(8, at[8]), t.variance = table<Place>(9, at[9]);
        if (has_values()) {
            const auto* first = static_cast<const std::byte*>(values) + (apart > 1 ? size_of(value) : 0);
            t.intensity = any_input<Place>::contiguous(first, value, shape);
            for (std::int64_t& each : t.intensity.stride) each *= apart;
        }
        label_fields<Place> out;
        if (labels) out.label = any_output<Place>::contiguous(at[table_count], dtype::int32, shape);
        if (asked) out.make_tables = [&](std::int64_t) { return t; };
        else out.tables = t;
        nearfield::label(on, any_input<Place>::contiguous(cells, dtype::uint8, shape), out, options);
    }
};

std::vector<std::vector<std::byte>> on_host(const shapes_call& c) {
    auto memory = c.memory();
    std::vector<void*> at;
    for (auto& m : memory) at.push_back(m.data());
    const auto values = c.intensity();
    c.run(host{1}, c.image.data(), values.data(), at);
    return memory;
}

std::vector<std::vector<std::byte>> on_device(const shapes_call& c, bool by_graph) {
    auto memory = c.memory();
    const stream on;
    std::vector<device_memory> there;
    const auto send = [&](const void* from, std::size_t bytes) {
        there.emplace_back(bytes);
        expect_cuda(cudaMemcpyAsync(there.back().data(), from, bytes, cudaMemcpyHostToDevice, on.get()), "upload");
        return there.back().data();
    };
    std::vector<void*> at;
    for (auto& m : memory) at.push_back(send(m.data(), m.size()));
    const void* cells = send(c.image.data(), c.image.size());
    const auto intensity = c.intensity();
    const void* values = send(intensity.data(), intensity.size());
    on.wait();
    const auto run = [&] { c.run(device{on.get()}, cells, values, at); };
    if (by_graph) recorded(run, on).replay();
    else run();
    for (std::size_t i = 0; i < memory.size(); ++i)
        expect_cuda(cudaMemcpyAsync(memory[i].data(), at[i], memory[i].size(), cudaMemcpyDeviceToHost, on.get()),
                    "download");
    on.wait();
    return memory;
}

void expect_hosts(const shapes_call& c, bool by_graph) {
    const auto expected = on_host(c), came = on_device(c, by_graph);
    for (std::size_t i = 0; i < came.size(); ++i) ASSERT_EQ(came[i], expected[i]) << "table " << i;
}

/// Call number k: chooses the tables, their rows, and whether make_tables provides them.
shapes_call call_of(const shape_t& shape, std::uint64_t k, const label_options& o) {
    shapes_call c{.shape = shape, .options = o};
    const std::int64_t cells = cells_of(shape);
    for (int t = 0; t < table_count; ++t) {
        const std::uint64_t which = mix(k + 40 + static_cast<std::uint64_t>(t)) % 8;
        c.rows[t] = which == 0 ? -1 : which == 1 ? 3 : which == 2 ? cells / 3 : cells;
    }
    if (c.rows[0] < 0 && c.rows[1] < 0 && c.rows[2] < 0) c.rows[3] = cells;
    // Faces and values occur in half of the cases each, so that every path of a tile is taken.
    if (mix(k + 53) % 2 == 0) c.rows[4] = -1;
    if (mix(k + 54) % 2 == 0) std::fill(c.rows + first_value_table, c.rows + table_count, -1);
    c.value = std::array{dtype::uint8, dtype::int8, dtype::uint16, dtype::int16, dtype::int32}[mix(k + 55) % 5];
    c.apart = 1 + static_cast<int>(mix(k + 56) % 3) / 2;
    c.whole_sums = mix(k + 57) % 2 == 0;
    c.gap = static_cast<int>(mix(k + 50) % 3);
    c.asked = mix(k + 51) % 4 == 0;
    c.labels = mix(k + 52) % 2 == 0;
    return c;
}

TEST_F(LabelTablesDevice, EveryFigure) {
    std::uint64_t k = 100000;
    for (const auto* shapes : {&label_shapes(), &large_label_shapes()})
        for (const shape_case& s : *shapes)
            for (const figure kind : all_figures)
                for (int connectivity = 1; connectivity <= static_cast<int>(s.shape.size()); ++connectivity) {
                    if (!chosen(++k)) continue;
                    SCOPED_TRACE(s.why + (" " + name_of(kind)) + " connectivity " + std::to_string(connectivity) +
                                 " case " + std::to_string(k));
                    shapes_call c = call_of(s.shape, k, {.connectivity = connectivity});
                    c.image = make_figure(kind, s.shape, k);
                    expect_hosts(c, !c.asked && k % 3 == 0);
                    if (HasFatalFailure()) return;
                }
}

/// Batches, whose images follow each other in the rows; values; and calls that tiles do not serve: periodic axes and
/// filters. Rows that are a multiple of 16 bytes use other links.
TEST_F(LabelTablesDevice, BatchesCriteriaAndTheOtherWay) {
    std::uint64_t k = 200000;
    for (const shape_t& shape : {shape_t{7, 130}, shape_t{3, 40, 65}, shape_t{2, 33, 300}, shape_t{2, 3, 9, 131},
                                 shape_t{2, 17, 9, 140}, shape_t{5, 1, 1, 33}, shape_t{70, 257}, shape_t{19, 20, 129},
                                 shape_t{70, 256}, shape_t{17, 20, 128}, shape_t{2, 17, 9, 144}})
        for (int round = 0; round < 40; ++round) {
            if (!chosen(++k)) continue;
            SCOPED_TRACE(text_of(shape) + " case " + std::to_string(k));
            label_options o;
            const int most = static_cast<int>(shape.size());
            o.batch_axes = std::max(most - 3, static_cast<int>(mix(k) % static_cast<std::uint64_t>(most)));
            o.connectivity = 1 + static_cast<int>(mix(k + 1) % static_cast<std::uint64_t>(most - o.batch_axes));
            o.criterion = std::array{criterion::nonzero, criterion::equal, criterion::within}[mix(k + 2) % 3];
            o.tolerance = static_cast<int>(mix(k + 3) % 3);
            o.has_background = mix(k + 4) % 4 != 0;
            if (mix(k + 5) % 6 == 0) o.border = border::periodic;
            if (mix(k + 6) % 6 == 0) o.smallest = 3;
            shapes_call c = call_of(shape, k, o);
            const std::int64_t grain = std::array{1, 3, 20}[mix(k + 7) % 3];
            const std::uint64_t values = 2 + mix(k + 8) % 4;
            c.image = over(
                shape, [&](const shape_t& at) { return static_cast<std::uint8_t>(grain_value(at, grain, values, k)); });
            expect_hosts(c, false);
            if (HasFatalFailure()) return;
        }
}

/// More components in several tiles, with adjacent first cells, than a warp lists at a time. Their sums are cleared
/// while they are numbered, or afterwards if a filter or the caller determines the rows.
TEST_F(LabelTablesDevice, ManyInSeveralTilesSideBySide) {
    const shape_t shape{70, 4100};
    for (const int connectivity : {1, 2})
        for (const bool asked : {false, true})
            for (const std::int64_t smallest : {1, 2}) {
                SCOPED_TRACE(std::to_string(connectivity) + " " + std::to_string(asked) + " " +
                             std::to_string(smallest));
                shapes_call c{.shape = shape, .options = {.connectivity = connectivity, .smallest = smallest}};
                std::fill_n(c.rows, first_value_table, 6000);
                std::fill(c.rows + first_value_table, c.rows + table_count, -1);
                c.asked = asked, c.labels = true;
                c.image = over(shape, [](const shape_t& at) {
                    const std::int64_t y = at[0], x = at[1];
                    const bool edge = y == 31 || y == 32 || y == 63 || y == 64;
                    return static_cast<std::uint8_t>((edge && x % 2 == 0) || (y == 40 && x % 5 == 0) ? 1 : 0);
                });
                expect_hosts(c, false);
                if (HasFatalFailure()) return;
            }
}

/// Boxes of all heights, so that consecutive rows have equal columns of one component, or of two.
TEST_F(LabelTablesDevice, EqualRowsBelowEachOther) {
    const shape_t shape{190, 330};
    for (const int connectivity : {1, 2})
        for (const bool faces : {false, true}) {
            SCOPED_TRACE(std::to_string(connectivity) + " " + std::to_string(faces));
            shapes_call c{.shape = shape, .options = {.connectivity = connectivity}};
            std::fill_n(c.rows, first_value_table, 3000);
            std::fill(c.rows + (faces ? first_value_table : first_value_table - 1), c.rows + table_count, -1);
            c.labels = true;
            c.image = over(shape, [](const shape_t& at) {
                const std::int64_t height = 2 + at[1] / 33 * 4, width = 3 + at[1] / 33;
                return static_cast<std::uint8_t>(at[0] % height != 0 && at[1] % 33 % width != 0 ? 1 : 0);
            });
            expect_hosts(c, false);
            if (HasFatalFailure()) return;
        }
}

/// Each run has the host's bytes in all tables, including values whose sums are rounded.
TEST_F(LabelTablesDevice, TwentyRunsAreEqual) {
    for (const shape_t& shape : {shape_t{100, 300}, shape_t{17, 33, 65}})
        for (const dtype value : {dtype::uint8, dtype::int32}) {
            shapes_call c{.shape = shape, .options = {.connectivity = 2}};
            std::fill_n(c.rows, table_count, cells_of(shape) / 4);
            c.labels = true, c.value = value;
            c.image = make_figure(figure::percolation6, shape, 6);
            const auto expected = on_host(c);
            for (int run = 0; run < 21; ++run) ASSERT_TRUE(on_device(c, false) == expected) << text_of(shape) << run;
        }
}

/// One component that spans many tiles, whose sums exceed 32 bits.
TEST_F(LabelTablesDevice, SumsOfLargeComponents) {
    for (const shape_t& shape : {shape_t{100000}, shape_t{3, 70000}, shape_t{3, 3, 60000}})
        for (const int connectivity : {1, static_cast<int>(shape.size())}) {
            shapes_call c{.shape = shape, .options = {.connectivity = connectivity}};
            std::fill_n(c.rows, table_count, 4);
            c.image.assign(static_cast<std::size_t>(cells_of(shape)), 1);
            c.image[5] = 0;
            for (const dtype value : {dtype::int8, dtype::uint16}) {
                c.value = value;
                expect_hosts(c, false);
            }
        }
}

}  // namespace
}  // namespace nearfield::test
