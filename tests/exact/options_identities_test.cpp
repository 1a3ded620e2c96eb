// Options expressed by calls without them: a tiling, a padding, a mask for each label, the difference of two calls.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "exact/options_fields.hpp"
#include "oracle/oracle.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

/// The image three times along each periodic axis; `middle` lists the cells of the tile with a tile on every side.
std::vector<std::uint16_t> tiling(const std::vector<std::uint16_t>& image, const shape_t& shape,
                                  const std::vector<border>& borders, shape_t& tiled,
                                  std::vector<std::size_t>& middle) {
    tiled = shape;
    for (std::size_t axis = 0; axis < shape.size(); ++axis) tiled[axis] *= borders[axis] == border::periodic ? 3 : 1;
    std::vector<std::uint16_t> all;
    middle.resize(image.size());
    for (std::int64_t i = 0; i < cells_of(tiled); ++i) {
        const shape_t at = oracle::coordinates_of(i, tiled);
        std::size_t from = 0;
        bool inside = true;
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            const std::int64_t tile = at[axis] / shape[axis];
            inside = inside && tile == (borders[axis] == border::periodic ? 1 : 0);
            from = from * static_cast<std::size_t>(shape[axis]) + static_cast<std::size_t>(at[axis] % shape[axis]);
        }
        if (inside) middle[from] = static_cast<std::size_t>(i);
        all.push_back(image[from]);
    }
    return all;
}

void check_tiling(const shape_t& shape, const std::vector<border>& borders, distance_options options, double zeros) {
    const auto image = random_labels<std::uint16_t>(shape, 5, zeros, 3);
    options.border = {borders.data(), borders.size()};
    const auto periodic = transform(image, shape, options);
    shape_t tiled;
    std::vector<std::size_t> middle;
    const auto all = tiling(image, shape, borders, tiled, middle);
    std::vector<border> unrolled = borders;
    std::replace(unrolled.begin(), unrolled.end(), border::periodic, border::open);
    options.border = {unrolled.data(), unrolled.size()};
    const auto open = transform(all, tiled, options);
    for (std::size_t i = 0; i < middle.size(); ++i) {
        ASSERT_EQ(periodic.squared[i], open.squared[middle[i]]) << "cell " << i;
        ASSERT_EQ(periodic.distance[i], open.distance[middle[i]]) << "cell " << i;
    }
}

TEST(OptionsMeaning, PeriodicIsTheCropOfATiling) {
    constexpr border o = border::open, c = border::closed, p = border::periodic;
    const std::pair<shape_t, std::vector<border>> grids[] = {
        {{1}, {p}},
        {{2}, {p}},
        {{3}, {p}},
        {{40}, {p}},
        {{1201}, {p}},
        {{30, 41}, {p, p}},
        {{30, 41}, {p, o}},
        {{30, 41}, {o, p}},
        {{30, 41}, {c, p}},
        {{1, 33}, {p, p}},
        {{600, 4}, {p, p}},
        {{4, 600}, {p, p}},
        {{2, 2}, {p, p}},
        {{9, 10, 11}, {p, p, p}},
        {{9, 10, 11}, {p, o, p}},
        {{9, 10, 11}, {c, p, o}},
        {{3, 1, 40}, {p, p, p}},
        {{3, 4, 5, 6}, {p, p, p, p}},
    };
    for (const auto& [shape, borders] : grids) {
        for (const named_options& each : some_options()) {
            for (double zeros : {0.0, 0.004, 0.3, 0.99}) {
                SCOPED_TRACE(std::string(each.name) + ", " + std::to_string(shape.size()) + "-D of " +
                             std::to_string(cells_of(shape)) + " cells, zeros " + std::to_string(zeros));
                check_tiling(shape, borders, each.options, zeros);
                if (HasFatalFailure()) return;
            }
        }
    }
}

TEST(OptionsMeaning, SignedIsOutsideMinusInside) {
    for (const shape_t& shape : {shape_t{300}, shape_t{37, 53}, shape_t{11, 12, 13}}) {
        for (double zeros : {0.0, 0.01, 0.5, 1.0}) {
            const auto image = random_labels<std::uint8_t>(shape, 9, zeros, 4);
            for (double cell : {1.0, 0.31}) {
                for (border beyond : {border::open, border::closed, border::periodic}) {
                    distance_options options{.spacing = cell, .border = beyond, .max_distance = zeros == 0.5 ? 2 : inf};
                    const auto inside = transform(image, shape, options);
                    options.sites = sites::nonzero;
                    const auto outside = transform(image, shape, options);
                    for (sites rule : {sites::zero, sites::nonzero}) {
                        options.sites = rule, options.sign = sign::inside_negative;
                        const auto both = transform(image, shape, options);
                        const double turn = rule == sites::zero ? 1 : -1;
                        for (std::size_t i = 0; i < image.size(); ++i) {
                            ASSERT_EQ(both.distance[i], turn * (outside.distance[i] - inside.distance[i]));
                            ASSERT_EQ(both.squared[i], turn * (outside.squared[i] - inside.squared[i]));
                            ASSERT_EQ(both.index[i], image[i] == 0 ? outside.index[i] : inside.index[i]);
                        }
                        options.sign = sign::outside_negative;
                        auto turned = transform(image, shape, options);
                        for (double& v : turned.distance) v = -v;
                        ASSERT_EQ(both.distance, turned.distance);
                    }
                }
            }
        }
    }
}

/// The values of one label equal those of its mask alone, for labels that differ in any way.
template <class T>
void check_masks(const std::vector<T>& labels, const shape_t& shape, const distance_options& with) {
    distance_options options = with;
    options.sites = sites::other_labels;
    const auto all = transform(labels, shape, options);
    options.sites = sites::zero;
    std::map<T, std::vector<std::size_t>> cells;
    for (std::size_t i = 0; i < labels.size(); ++i) cells[labels[i]].push_back(i);
    for (const auto& [label, where] : cells) {
        std::vector<std::uint8_t> mask(labels.size());
        if (label != T{0}) {
            for (std::size_t i : where) mask[i] = 1;
        }
        const auto one = transform(mask, shape, options, 1);
        for (std::size_t i : where) {
            ASSERT_EQ(all.squared[i], label == T{0} ? 0 : one.squared[i]);
            ASSERT_EQ(all.index[i], label == T{0} ? static_cast<std::int64_t>(i) : one.index[i]);
            ASSERT_EQ(all.label[i], all.index[i] < 0 ? T{0} : labels[static_cast<std::size_t>(all.index[i])]);
        }
    }
}

TEST(OptionsMeaning, LabelsAreOneMaskAfterTheOther) {
    for (const shape_t& shape : {shape_t{500}, shape_t{40, 43}, shape_t{10, 12, 11}, shape_t{1100, 3}}) {
        for (double zeros : {0.0, 0.1, 0.7}) {
            for (const distance_options& options : {distance_options{}, distance_options{.border = border::closed},
                                                    distance_options{.spacing = 0.7, .max_distance = 2}}) {
                check_masks(random_labels<std::int16_t>(shape, 30, zeros, 5), shape, options);
                check_masks(random_labels<std::uint8_t>(shape, 2, zeros, 6), shape, options);
            }
        }
    }
}

/// Labels that differ in one byte only, for each byte.
TEST(OptionsMeaning, LabelsDifferInAnyByte) {
    const shape_t shape{24, 31};
    for (int byte = 0; byte < 8; ++byte) {
        std::vector<std::uint64_t> labels;
        for (std::uint64_t v : random_labels<std::uint64_t>(shape, 3, 0.02, 7))
            labels.push_back(v == 0 ? 0 : 0x8040201008040201u ^ v << 8 * byte);
        check_masks(labels, shape, {});
        check_masks(std::vector<std::int64_t>(labels.begin(), labels.end()), shape, {});
        if (byte >= 4) continue;
        std::vector<std::uint32_t> narrow;
        for (std::uint64_t v : labels) narrow.push_back(static_cast<std::uint32_t>(v));
        check_masks(narrow, shape, {});
    }
}

TEST(OptionsMeaning, EveryCellItsOwnLabel) {
    const shape_t shape{300, 400};
    std::vector<std::int32_t> labels(120000);
    for (std::size_t i = 0; i < labels.size(); ++i) labels[i] = static_cast<std::int32_t>(mix(i) | 1u);
    const auto all = transform(labels, shape, {.spacing = {2, 1}, .sites = sites::other_labels});
    for (std::size_t i = 0; i < labels.size(); ++i) {
        ASSERT_EQ(all.squared[i], 1);
        ASSERT_EQ(all.index[i], static_cast<std::int64_t>(i % 400 > 0 ? i - 1 : i + 1));
    }
}

/// A limit cuts the full result; whether a value equal to the limit stays depends on one bit.
TEST(OptionsMeaning, ALimitCutsTheFullAnswer) {
    for (const shape_t& shape : {shape_t{3000}, shape_t{150, 200}, shape_t{1300, 7}, shape_t{24, 25, 26}}) {
        for (double cell : {1.0, 0.31}) {
            for (double zeros : {0.001, 0.02}) {
                const auto image = random_labels<std::uint8_t>(shape, 3, zeros, 8);
                const distance_options full{.spacing = cell};
                const auto whole = transform(image, shape, full);
                for (double squares : {0.0, 1.0, 2.0, 5.0, 13.0, 100.0, 101.0, 1e4}) {
                    for (double limit : {std::sqrt(squares) * cell, std::nextafter(std::sqrt(squares) * cell, 0.0)}) {
                        distance_options some = full;
                        some.max_distance = limit;
                        const auto cut = transform(image, shape, some);
                        for (std::size_t i = 0; i < image.size(); ++i) {
                            const bool within = whole.distance[i] <= limit;
                            ASSERT_EQ(cut.squared[i], within ? whole.squared[i] : inf);
                            ASSERT_EQ(cut.index[i], within ? whole.index[i] : -1);
                            ASSERT_EQ(cut.coordinates[i], within ? whole.coordinates[i] : -1);
                        }
                    }
                }
            }
        }
    }
}

/// A result is trusted exactly if a frame of sites around the image would not change it.
TEST(OptionsMeaning, TrustedIsWhatAFrameOfSitesLeavesAlone) {
    const shape_t shape{23, 29}, framed{25, 31};
    for (double zeros : {0.0, 0.01, 0.05, 0.4}) {
        const auto image = random_labels<std::uint8_t>(shape, 1, zeros, 9);
        std::vector<std::uint8_t> frame(25 * 31, 0);
        for (std::size_t i = 0; i < image.size(); ++i) frame[(i / 29 + 1) * 31 + i % 29 + 1] = image[i];
        for (distance_options options : {distance_options{}, distance_options{.spacing = {0.7, 0.31}},
                                         distance_options{.half_cell = true}, distance_options{.max_distance = 4}}) {
            const auto alone = transform(image, shape, options), with = transform(frame, framed, options);
            for (std::size_t i = 0; i < image.size(); ++i) {
                const double there = with.squared[(i / 29 + 1) * 31 + i % 29 + 1];
                ASSERT_EQ(alone.trusted[i], alone.squared[i] == there ? 1 : 0) << "cell " << i;
            }
        }
    }
}

TEST(OptionsMeaning, ExpandLabelsAsInScikitImage) {
    // Expected values by skimage.segmentation.expand_labels, version 0.26, distance 1.
    const shape_t line{7};
    const std::vector<std::int32_t> seeds{0, 1, 0, 0, 0, 0, 2};
    std::vector<std::int32_t> grown(7, -5);
    const auto out = any_output<host>::contiguous(grown.data(), dtype::int32, line);
    expand_labels(host{}, input_of(seeds, line), out, {.max_distance = 1});
    EXPECT_EQ(grown, (std::vector<std::int32_t>{1, 1, 1, 0, 0, 2, 2}));
    const shape_t square{3, 4};
    const std::vector<std::int32_t> corner{0, 0, 0, 0, 0, 0, 3, 0, 2, 0, 0, 0};
    std::vector<std::int32_t> field(12, -5);
    expand_labels(host{}, input_of(corner, square), any_output<host>::contiguous(field.data(), dtype::int32, square),
                  {.max_distance = 1});
    EXPECT_EQ(field, (std::vector<std::int32_t>{0, 0, 3, 0, 2, 3, 3, 3, 2, 2, 3, 0}));
}

/// The distance is just above the middle of two float16 neighbours; rounding to float32 first would give the middle.
TEST(OptionsMeaning, Float16IsRoundedOnce) {
    const shape_t shape{2};
    const std::vector<std::uint8_t> image{0, 1};
    std::vector<std::uint16_t> distance(2, 0x5555);
    fields<host> out;
    out.distance = any_output<host>::contiguous(distance.data(), dtype::float16, shape);
    for (const auto& [cell, bits] : {std::pair{1 + 0x1p-11 + 0x1p-40, 0x3c01},
                                     {1 + 0x1p-11 - 0x1p-40, 0x3c00},
                                     {1 + 0x3p-11 + 0x1p-40, 0x3c02},
                                     {1 + 0x3p-11 - 0x1p-40, 0x3c01},
                                     {0x1.8p-24 + 0x1p-60, 2},
                                     {0x1.8p-25, 1},
                                     {65503.0, 0x7bff}}) {
        distance_transform(host{}, input_of(image, shape), out, {.spacing = cell});
        EXPECT_EQ(distance[1], bits) << cell;
        distance_transform(host{}, input_of(image, shape), out, {.spacing = cell, .sign = sign::outside_negative});
        EXPECT_EQ(distance[0], 0x8000 | bits) << cell;
    }
}

}  // namespace
}  // namespace nearfield::test
