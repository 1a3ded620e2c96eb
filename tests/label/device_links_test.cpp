// Links between cells of any type; a device leaves out links that others imply.
#include <gtest/gtest.h>

#include <functional>
#include <numeric>

#include "label/device_cases.hpp"

namespace nearfield::test {
namespace {

using LabelLinksDevice = DeviceTest;

/// Criteria use links, from which implied ones are left out. Shapes are such that strips, tiles and chunks of planes
/// end at different cells, and values connect in all ways.
void check_links(const std::function<dtype(std::uint64_t)>& element, std::uint64_t k) {
    for (const shape_t& shape : {shape_t{70, 48}, shape_t{33, 560}, shape_t{300, 64}, shape_t{35, 20, 32},
                                 shape_t{18, 9, 144}, shape_t{2, 140, 80}, shape_t{3, 1, 64}, shape_t{17, 33, 16}})
        for (const criterion kind : {criterion::equal, criterion::within})
            for (int connectivity = 1; connectivity <= axes_of(shape); ++connectivity)
                for (const std::int64_t grain : {1, 2, 3, 8, 20}) {
                    if (!chosen(++k)) continue;
                    label_options o{.connectivity = connectivity, .criterion = kind, .tolerance = 1 + mix(k) % 2};
                    o.has_background = k % 3 != 0;
                    std::vector<border> beyond;
                    for (std::size_t axis = 0; axis < shape.size(); ++axis)
                        beyond.push_back(k % 2 == 0 || mix(k + axis) % 2 == 0 ? border::open : border::periodic);
                    o.border = {beyond.data(), beyond.size()};
                    label_case how = plain_for(shape);
                    how.element = element(k);
                    SCOPED_TRACE(text_of(shape) + ' ' + std::string(name_of(how.element)) + " case " +
                                 std::to_string(k));
                    label_call c(how, o);
                    c.write(over(shape, [&](const shape_t& at) {
                        return static_cast<std::int64_t>(grain_value(at, grain, kind == criterion::equal ? 3 : 7, k));
                    }));
                    expect_right(c, k);
                    if (testing::Test::HasFatalFailure()) return;
                }
}

TEST_F(LabelLinksDevice, LinksOfPlainBytes) {
    check_links([](std::uint64_t) { return dtype::uint8; }, 70000);
}
TEST_F(LabelLinksDevice, LinksOfWiderValues) {
    constexpr dtype wider[] = {dtype::uint16, dtype::int32, dtype::float32, dtype::int64, dtype::float64};
    check_links([&](std::uint64_t k) { return wider[k % std::size(wider)]; }, 71000);
}

/// Given graphs, whose links imply no others: there are no equal values and no order. Whole tiles and lines, strided,
/// periodic, batches, filtered.
TEST_F(LabelLinksDevice, GivenLinks) {
    std::uint64_t k = 72000;
    for (const shape_t& shape :
         {shape_t{70, 48}, shape_t{33, 560}, shape_t{300, 64}, shape_t{35, 20, 32}, shape_t{18, 9, 144},
          shape_t{2, 140, 80}, shape_t{3, 1, 64}, shape_t{17, 33, 16}, shape_t{40, 41, 43}, shape_t{129},
          shape_t{7, 13}, shape_t{3, 5, 7}, shape_t{2, 3, 12, 65}})
        for (int connectivity = 1; connectivity <= std::min<std::int64_t>(3, axes_of(shape)); ++connectivity)
            for (int round = 0; round < 10; ++round) {
                if (!chosen(++k)) continue;
                label_options o{.connectivity = connectivity, .criterion = criterion::links};
                o.batch_axes = static_cast<int>(axes_of(shape) / 4);
                std::vector<border> beyond;
                for (std::size_t axis = static_cast<std::size_t>(o.batch_axes); axis < shape.size(); ++axis)
                    beyond.push_back(k % 2 == 0 || mix(k + axis) % 2 == 0 ? border::open : border::periodic);
                o.border = {beyond.data(), beyond.size()};
                if (k % 4 == 0) o.smallest = 2;
                label_case how = dressed_graph(shape, connectivity, k);
                if (how.label == dtype::uint16 && k % 2 != 0) how.label = dtype::int32;
                if (round % 2 == 0) how.image_layout = how.label_layout = layout::tight;
                SCOPED_TRACE(text_of(shape) + ' ' + std::string(name_of(how.element)) + " case " + std::to_string(k));
                label_call c(how, o);
                c.write(graph_of(shape, k));
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

/// The last word of a row holds one cell, whose neighbours before and after it, across the periodic end, are two
/// different cells.
TEST_F(LabelLinksDevice, WordsOfOneCell) {
    std::uint64_t k = 72400;
    for (const shape_t& shape : {shape_t{12, 65}, shape_t{3, 12, 33}, shape_t{1, 12, 65}})
        for (const criterion kind : {criterion::within, criterion::links})
            for (int round = 0; round < 60; ++round) {
                if (!chosen(++k)) continue;
                const int axes = static_cast<int>(axes_of(shape)), connectivity = 1 + round % axes;
                label_options o{.connectivity = connectivity, .criterion = kind, .tolerance = 1};
                std::vector<border> beyond(shape.size(), round % 3 == 0 ? border::periodic : border::open);
                beyond.back() = border::periodic;
                o.border = {beyond.data(), beyond.size()};
                const bool graph = kind == criterion::links;
                label_case how = graph ? dressed_graph(shape, connectivity, k) : plain_for(shape);
                if (!graph) how.element = round % 2 == 0 ? dtype::int32 : dtype::uint8;
                how.label = dtype::int32;
                SCOPED_TRACE(text_of(shape) + ' ' + std::string(name_of(how.element)) + " case " + std::to_string(k));
                label_call c(how, o);
                if (graph) c.write(graph_of(shape, k));
                else
                    c.write(over(
                        shape, [&](const shape_t& at) { return static_cast<std::int64_t>(grain_value(at, 1, 7, k)); }));
                expect_right(c, k);
                if (testing::Test::HasFatalFailure()) return;
            }
}

/// Planes equal to the plane in front take its links: the first plane of a tile must not, nor all planes around a
/// periodic image. Noise makes cells meet at corners; sometimes one cell of a plane differs.
TEST_F(LabelLinksDevice, PlanesAsInFront) {
    std::uint64_t k = 77000;
    for (const shape_t& shape : {shape_t{20, 34, 64}, shape_t{8, 40, 144}, shape_t{25, 17, 70}, shape_t{3, 33, 48}})
        for (const dtype element : {dtype::uint8, dtype::uint16, dtype::float32, dtype::float64})
            for (const criterion kind : {criterion::equal, criterion::within})
                for (const int connectivity : {1, 2, 3})
                    for (const bool round : {false, true}) {
                        if (!chosen(++k)) continue;
                        label_options o{.connectivity = connectivity, .criterion = kind, .tolerance = 1};
                        const border beyond[] = {round ? border::periodic : border::open, border::open,
                                                 k % 3 == 0 ? border::periodic : border::open};
                        o.border = {beyond, 3};
                        label_case how = plain_for(shape);
                        how.element = element;
                        SCOPED_TRACE(text_of(shape) + ' ' + std::string(name_of(element)) + " case " +
                                     std::to_string(k));
                        label_call c(how, o);
                        c.write(over(shape, [&](const shape_t& at) {
                            const bool other = k % 2 == 0 && mix(k + static_cast<std::uint64_t>(at[0])) % 3 == 0 &&
                                               at[1] == static_cast<std::int64_t>(mix(k) % 17) &&
                                               at[2] == static_cast<std::int64_t>(31 + mix(k) % 3);
                            return other ? std::int64_t{9}
                                         : static_cast<std::int64_t>(2 * grain_value({at[1], at[2]}, 1, 4, k));
                        }));
                        expect_right(c, k);
                        if (testing::Test::HasFatalFailure()) return;
                    }
}

/// Words that form one area, whose rows share nodes, beside words that touch them in some rows or planes only.
TEST_F(LabelLinksDevice, WordsThatShareNodes) {
    for (const shape_t& shape : {shape_t{40, 144}, shape_t{18, 17, 144}, shape_t{16, 16, 64}})
        for (int connectivity = 1; connectivity <= axes_of(shape); ++connectivity)
            for (const std::size_t along : {std::size_t{0}, shape.size() - 2}) {
                label_call c(plain_for(shape), {.connectivity = connectivity, .criterion = criterion::equal});
                c.write(over(shape, [&](const shape_t& at) {
                    const bool reaches = at.back() % 64 >= 24 && at[along] % 8 > 1 && at[along] % 8 < 6;
                    return std::int64_t{at.back() % 64 >= 32 || reaches ? 3 : 1};
                }));
                expect_right(c, 1);
            }
}

/// Slanted links where no straight link connects: checkerboards, of which all cells or every other cell is
/// foreground.
TEST_F(LabelLinksDevice, CheckerboardsOfBytes) {
    std::uint64_t k = 75000;
    for (const shape_t& shape : {shape_t{70, 144}, shape_t{18, 17, 144}, shape_t{9, 40, 64}})
        for (const criterion kind : {criterion::equal, criterion::within})
            for (const std::int64_t other : {0, 12})
                for (const std::uint64_t values : {1, 2, 3}) {
                    if (!chosen(++k)) continue;
                    label_call c(
                        plain_for(shape),
                        {.connectivity = static_cast<int>(axes_of(shape) - k % 2), .criterion = kind, .tolerance = 5});
                    c.write(over(shape, [&](const shape_t& at) {
                        const bool odd = std::accumulate(at.begin(), at.end(), std::int64_t{0}) % 2 != 0;
                        const auto value = 3 * static_cast<std::int64_t>(grain_value(at, 1, values, k));
                        return odd && other == 0 ? 0 : (odd ? other : 1) + value;
                    }));
                    expect_right(c, k);
                }
}

/// Noise in volumes has more links in a tile than its list can hold; the rest is processed in turns.
TEST_F(LabelLinksDevice, MoreLinksThanATileLists) {
    const shape_t shape{17, 16, 130};
    for (const figure kind : {figure::percolation8, figure::half, figure::percolation4})
        for (const int connectivity : {2, 3}) {
            label_call c(plain_for(shape), {.connectivity = connectivity});
            c.draw(make_figure(kind, shape, 7));
            expect_right(c, 1);
        }
    for (const std::uint64_t values : {2, 3}) {
        label_call c(plain_for(shape), {.connectivity = 3, .criterion = criterion::equal, .has_background = false});
        c.write(
            over(shape, [&](const shape_t& at) { return static_cast<std::int64_t>(grain_value(at, 1, values, 7)); }));
        expect_right(c, 1);
    }
}

}  // namespace
}  // namespace nearfield::test
