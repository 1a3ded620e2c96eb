#include "cli/picture.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "cli/sample.hpp"
#include "cli/solid.hpp"
#include "nearfield/nearfield.hpp"

namespace nearfield::cli {
namespace {

TEST(Ramp, RisesInLightnessInEqualSteps) {
    double least = 1, most = 0;
    for (int i = 0; i + 8 < 256; i += 8) {
        const oklab a = to_oklab(ramp(i / 255.0)), b = to_oklab(ramp((i + 8) / 255.0));
        EXPECT_GT(b.lightness, a.lightness) << i;
        least = std::min(least, difference(a, b)), most = std::max(most, difference(a, b));
    }
    EXPECT_LT(most / least, 1.35);
    EXPECT_EQ(ramp(-1), ramp(0));
    EXPECT_EQ(ramp(2), ramp(1));
}

TEST(Oklab, GoesThereAndBack) {
    for (int r = 0; r < 256; r += 15)
        for (int g = 0; g < 256; g += 15)
            for (int b = 0; b < 256; b += 15) {
                const rgb colour{static_cast<std::uint8_t>(r), static_cast<std::uint8_t>(g),
                                 static_cast<std::uint8_t>(b)};
                ASSERT_EQ(to_rgb(to_oklab(colour)), colour);
            }
}

TEST(SpreadColours, NeighboursDiffer) {
    // A 40 by 40 board where every square touches eight others.
    std::vector<std::array<std::int64_t, 2>> pairs;
    const auto at = [](int r, int c) { return std::int64_t{r} * 40 + c; };
    for (int r = 0; r < 40; ++r)
        for (int c = 0; c < 40; ++c)
            for (const auto& [dr, dc] : {std::pair{0, 1}, {1, 0}, {1, 1}, {1, -1}})
                if (r + dr < 40 && c + dc >= 0 && c + dc < 40) pairs.push_back({at(r, c), at(r + dr, c + dc)});
    const std::vector<oklab> colours = spread_colours(1600, pairs);
    for (const auto& [a, b] : pairs)
        ASSERT_GT(difference(colours[static_cast<std::size_t>(a)], colours[static_cast<std::size_t>(b)]), 0.06);
}

TEST(Arrange, ChoosesPlanesAndSquarePixels) {
    const sheet flat = arrange({900, 1000}, {1, 1}, {}, false);
    EXPECT_EQ(flat.width, 1000);
    EXPECT_EQ(flat.height, 900);
    const sheet wide = arrange({100, 1000}, {2, 1}, {}, false);
    EXPECT_EQ(wide.height, 200);
    EXPECT_EQ(arrange({100, 100}, {1, 1}, {}, false).width, 800);
    const sheet sliced = arrange({64, 900, 1000}, {1, 1, 1}, {"0:-1"}, false);
    ASSERT_EQ(sliced.panels.size(), 1U);
    EXPECT_EQ(sliced.panels[0].shows.offset, std::int64_t{63} * 900 * 1000);
    EXPECT_EQ(arrange({64, 90, 100}, {1, 1, 1}, {}, false).panels.size(), 3U);
    EXPECT_EQ(arrange({3, 64, 90, 100}, {1, 1, 1, 1}, {"0:1,1:5"}, false).panels.size(), 1U);
    EXPECT_GE(arrange({5}, {1}, {}, false).height, 40);
    EXPECT_LE(arrange({1, 1'000'000}, {1, 1}, {}, false).width, 8192);
}

TEST(Arrange, RefusesWhatDoesNotFit) {
    const auto refused = [](const std::vector<std::int64_t>& shape, const char* slice) {
        EXPECT_THROW(static_cast<void>(arrange(shape, std::vector<double>(shape.size(), 1.0), {slice}, false)), error)
            << slice;
    };
    for (const char* slice : {"0", "3:0", "-1:0", "0:5", "0:-6", "0:a", ":", "0:1,", "0:1,1:1,2:1"})
        refused({5, 5, 5}, slice);
    refused({5, 5, 5, 5}, "");
    refused({5, 0}, "");
    refused({}, "");
}

io::array distance_of(const io::array& image, const spacing& cell = {}) {
    io::array made = io::make_array(dtype::float32, image.shape);
    distance(host{}, image.in(), made.out(), {.spacing = cell, .sites = sites::nonzero});
    return made;
}

io::array one_site(std::int64_t side) {
    io::array image = io::make_array(dtype::uint8, {side, side});
    std::fill_n(reinterpret_cast<std::uint8_t*>(image.data.get()), side * side, std::uint8_t{0});
    reinterpret_cast<std::uint8_t*>(image.data.get())[side / 2 * side + side / 2] = 1;
    return image;
}

TEST(DistancePicture, IsolinesLieAtTheirDistance) {
    constexpr int side = 1001, middle = side / 2;
    const sheet on = arrange({side, side}, {1, 1}, {}, false);
    const io::array field = distance_of(one_site(side));
    picture with = draw_distance(on, field, {.isolines = "100,300"}), without = draw_distance(on, field, {});
    for (int x = middle + 5; x < side; ++x) {
        const int off = x - middle;
        const bool on_line = off == 100 || off == 300, near = std::abs(off - 100) <= 2 || std::abs(off - 300) <= 2;
        if (on_line) {
            EXPECT_NE(with.at(x, middle), without.at(x, middle)) << off;
        }
        if (!near) {
            EXPECT_EQ(with.at(x, middle), without.at(x, middle)) << off;
        }
    }
}

TEST(DistancePicture, SquaredGivesTheSameColours) {
    const io::array image = make_sample(sample_kind::random, {{90, 900}, 1, 0.001, 0, false});
    io::array squared = io::make_array(dtype::uint32, image.shape);
    squared_distance(host{}, image.in(), squared.out(), {.spacing = {}, .sites = sites::nonzero});
    const sheet on = arrange(image.shape, {1, 1}, {}, false);
    EXPECT_TRUE(std::ranges::equal(draw_distance(on, distance_of(image), {}).pixels,
                                   draw_distance(on, squared, {.squared = true}).pixels,
                                   [](const rgb& a, const rgb& b) { return std::abs(a.green - b.green) <= 4; }));
}

TEST(DistancePicture, WithoutSitesItIsGray) {
    io::array field = io::make_array(dtype::float32, {10, 900});
    std::fill_n(reinterpret_cast<float*>(field.data.get()), field.cells(), INFINITY);
    for (const rgb& pixel : draw_distance(arrange(field.shape, {1, 1}, {}, false), field, {.isolines = "auto"}).pixels)
        ASSERT_EQ(pixel, unreached);
}

TEST(DistancePicture, OfAVolumeHasALegend) {
    const io::array image = make_sample(sample_kind::circle, {{60, 70, 80}, 1, 0, 0, false});
    const sheet on = arrange(image.shape, {1, 1, 1}, {}, false);
    picture drawn = draw_distance(on, distance_of(image), {.isolines = "auto", .unit = "mm"});
    std::set<int> greens;
    for (int y = on.legend_top; y < on.legend_top + on.legend_height; ++y)
        greens.insert(drawn.at(on.legend_left + 20, y).green);
    EXPECT_GT(greens.size(), 50U);
}

TEST(Isolines, AutoIsRound) {
    EXPECT_EQ(parse_isolines("auto", 50), (std::vector<double>{5, 10, 15, 20, 25, 30, 35, 40, 45}));
    EXPECT_TRUE(parse_isolines("auto", 0).empty());
    EXPECT_TRUE(parse_isolines("none", 9).empty());
    EXPECT_EQ(parse_isolines("5,2.5", 1), (std::vector<double>{5, 2.5}));
    for (const char* bad : {"0", "-1", "nan", "inf", "5,", "x"})
        EXPECT_THROW(static_cast<void>(parse_isolines(bad, 9)), error) << bad;
}

struct drawn_cells {
    picture image;
    std::size_t colours;
};

drawn_cells voronoi_of(const io::array& seeds) {
    io::array nearest = io::make_array(dtype::int64, seeds.shape);
    voronoi(host{}, seeds.in(), nearest.out());
    const std::vector<double> ones(seeds.shape.size(), 1.0);
    drawn_cells made{draw_voronoi(arrange(seeds.shape, ones, {}, false), nearest, ones, group_seeds(seeds, false)), 0};
    std::map<std::array<int, 3>, int> counts;
    for (const rgb& pixel : made.image.pixels) ++counts[{pixel.red, pixel.green, pixel.blue}];
    made.colours =
        static_cast<std::size_t>(std::ranges::count_if(counts, [](const auto& each) { return each.second > 500; }));
    return made;
}

io::array two_pairs(std::uint8_t left, std::uint8_t right) {
    io::array seeds = io::make_array(dtype::uint8, {100, 900});
    auto* cells = reinterpret_cast<std::uint8_t*>(seeds.data.get());
    std::fill_n(cells, seeds.cells(), std::uint8_t{0});
    for (std::int64_t r : {30, 70}) cells[r * 900 + 200] = left, cells[r * 900 + 699] = right;
    return seeds;
}

TEST(VoronoiPicture, LabelsShareAColourAndSitesWithoutLabelsDoNot) {
    EXPECT_EQ(voronoi_of(two_pairs(1, 2)).colours, 2U);
    EXPECT_EQ(voronoi_of(two_pairs(1, 1)).colours, 4U);
}

TEST(VoronoiPicture, TheBorderIsThinAndInTheMiddle) {
    picture image = voronoi_of(two_pairs(1, 2)).image;
    const rgb left = image.at(300, 50), right = image.at(600, 50);
    EXPECT_GT(difference(to_oklab(left), to_oklab(right)), 0.1);
    int dark = 0;
    for (int x = 250; x < 650; ++x)
        if (image.at(x, 50) != left && image.at(x, 50) != right) {
            ++dark;
            EXPECT_NEAR(x + 0.5, 450, 2);
        }
    EXPECT_GE(dark, 1);
    EXPECT_LE(dark, 3);
}

TEST(VoronoiPicture, OddShapes) {
    for (const std::vector<std::int64_t>& shape : {std::vector<std::int64_t>{7}, {1, 1}, {9, 1}, {4, 5, 6}})
        EXPECT_FALSE(voronoi_of(make_sample(sample_kind::random, {shape, 1, 0.5, 0, false})).image.pixels.empty());
    const io::array none = make_sample(sample_kind::one, {{1, 1}, 1, 0, 0, true});
    EXPECT_EQ(voronoi_of(none).image.at(0, 0), unreached);
}

template <class T>
io::array array_of(std::vector<std::int64_t> shape, const std::vector<T>& values) {
    io::array made = io::make_array(dtype_of<T>(), std::move(shape));
    std::copy(values.begin(), values.end(), reinterpret_cast<T*>(made.data.get()));
    return made;
}

TEST(Diverging, IsAlikeOnBothSidesAndDarkensAwayFromZero) {
    for (int i = 15; i <= 255; i += 16) {
        const oklab plus = to_oklab(diverging(i / 255.0)), minus = to_oklab(diverging(-i / 255.0));
        EXPECT_NEAR(plus.lightness, minus.lightness, 0.01) << i;
        EXPECT_GT(plus.a, minus.a);
        EXPECT_GT(difference(plus, minus), 0.05) << i;
        EXPECT_LT(plus.lightness, to_oklab(diverging((i - 15) / 255.0)).lightness);
    }
    EXPECT_EQ(diverging(3), diverging(1));
}

TEST(SignedPicture, HasTwoColoursAndALineBetween) {
    std::vector<float> values;
    for (int r = 0; r < 900; ++r)
        for (int c = 0; c < 900; ++c) values.push_back(static_cast<float>(c) - 449.5F);
    picture drawn =
        draw_distance(arrange({900, 900}, {1, 1}, {}, false), array_of({900, 900}, values), {.is_signed = true});
    EXPECT_EQ(drawn.at(10, 450), diverging((10 - 449.5) / 449.5));
    EXPECT_GT(drawn.at(890, 450).red, drawn.at(890, 450).blue);
    EXPECT_LT(to_oklab(drawn.at(449, 450)).lightness, 0.4);
    EXPECT_GT(to_oklab(drawn.at(440, 450)).lightness, 0.9);
}

TEST(Numbers, NeedRoomAndAreWritten) {
    const std::vector<float> values{-1.5F, 2, INFINITY, 0.25F};
    const io::array field = array_of<float>({2, 2}, values);
    const sheet on = arrange({2, 2}, {1, 1}, {.size = 100}, false);
    EXPECT_NO_THROW(require_room_for_numbers(on));
    EXPECT_THROW(require_room_for_numbers(arrange({200, 200}, {1, 1}, {}, false)), error);
    picture drawn = draw_distance(on, field, {.is_signed = true, .numbers = true});
    for (int cell = 0; cell < 4; ++cell) {
        std::set<std::array<int, 3>> colours;
        for (int y = 5; y < 45; ++y)
            for (int x = 5; x < 45; ++x) {
                const rgb& pixel = drawn.at(x + 50 * (cell % 2), y + 50 * (cell / 2));
                colours.insert({pixel.red, pixel.green, pixel.blue});
            }
        EXPECT_EQ(colours.size(), 2U) << cell;
    }
}

TEST(Batch, ImagesLieSideBySideAndVolumesShowTheFirst) {
    const sheet images = arrange({3, 40, 50}, {1, 1, 1}, {.batch_axes = 1}, false);
    ASSERT_EQ(images.panels.size(), 3U);
    EXPECT_EQ(images.panels[2].shows.first, 2 * 40 * 50);
    for (const panel& each : images.panels) {
        EXPECT_LE(each.left + each.width, images.width);
        EXPECT_LE(each.top + each.height, images.height);
    }
    EXPECT_EQ(arrange({100, 4, 5}, {1, 1, 1}, {.batch_axes = 1}, false).panels.size(), 16U);
    EXPECT_EQ(arrange({100, 4, 5}, {1, 1, 1}, {.slice = "0:7", .batch_axes = 1}, false).panels.size(), 1U);
    EXPECT_EQ(arrange({2, 4, 5, 6}, {1, 1, 1, 1}, {.batch_axes = 1}, false).panels.size(), 3U);
    EXPECT_EQ(arrange({5, 9}, {1, 1}, {.batch_axes = 1}, false).panels.size(), 5U);
    // Seeds of an image are adjacent in memory to those of the next one, but form groups of their own.
    const io::array seeds = array_of<std::uint8_t>({2, 1, 2}, {0, 1, 0, 1});
    EXPECT_NE(group_seeds(seeds, false, 1)(1), group_seeds(seeds, false, 1)(3));
    EXPECT_EQ(group_seeds(seeds, false)(1), group_seeds(seeds, false)(3));
}

TEST(VoronoiPicture, BordersLimitsAndWeightsMoveTheLines) {
    const io::array seeds = two_pairs(1, 2);
    const std::vector<double> ones{1, 1};
    const sheet on = arrange(seeds.shape, ones, {}, false);
    const auto drawn = [&](const distance_options& options, const voronoi_style& style) {
        io::array nearest = io::make_array(dtype::int32, seeds.shape);
        fields<host> out;
        out.index = nearest.out();
        voronoi(host{}, seeds.in(), out, options);
        return draw_voronoi(on, nearest, ones, group_by_value(seeds), style);
    };
    distance_options options;
    picture open = drawn(options, {});
    EXPECT_EQ(open.at(5, 50), open.at(300, 50));
    options.border = border::periodic;
    // Seeds lie at 200 and 699 of 900; across the periodic end the middle is at 899.5.
    picture periodic = drawn(options, {.borders = {border::periodic, border::periodic}});
    EXPECT_EQ(periodic.at(5, 50), periodic.at(300, 50));
    EXPECT_LT(to_oklab(periodic.at(899, 50)).lightness, to_oklab(periodic.at(890, 50)).lightness);
    options.border = border::closed;
    EXPECT_EQ(drawn(options, {.borders = {border::closed, border::closed}}).at(200, 3), unreached);
    options.border = border::open, options.max_distance = 20;
    picture limited = drawn(options, {.max_distance = 20});
    EXPECT_EQ(limited.at(225, 30), unreached);
    EXPECT_EQ(limited.at(218, 30), limited.at(200, 45));
}

TEST(LabelPicture, NeighboursHaveOtherColoursAndBackgroundIsBlack) {
    // 30 by 30 labels side by side, with a row of background below them.
    constexpr int side = 30;
    io::array labels = io::make_array(dtype::int32, {side + 1, side});
    auto* cells = reinterpret_cast<std::int32_t*>(labels.data.get());
    for (int i = 0; i < side * (side + 1); ++i) cells[i] = i < side * side ? i + 1 : 0;
    const sheet on = arrange(labels.shape, {1, 1}, {.size = 31 * 8}, false);
    picture drawn = draw_labels(on, labels);
    const int cell = drawn.width / side, half = cell / 2;
    const auto middle = [&](int row, int column) {
        return to_oklab(drawn.at(column * cell + half, row * cell + half));
    };
    double least = 1;
    for (int row = 0; row + 1 < side; ++row)
        for (int column = 0; column + 1 < side; ++column)
            least = std::min({least, difference(middle(row, column), middle(row, column + 1)),
                              difference(middle(row, column), middle(row + 1, column))});
    EXPECT_GT(least, 0.1);
    EXPECT_LT(middle(side, 3).lightness, 0.25);
    // Between cells of this size there is a line, but none towards the background.
    EXPECT_LT(to_oklab(drawn.at(cell, half)).lightness, middle(0, 1).lightness);
    EXPECT_EQ(drawn.at(half, side * cell - 1), drawn.at(half, (side - 1) * cell + half));
}

TEST(LabelPicture, OutlinesLieOverAPhotograph) {
    constexpr int side = 40;
    io::array photo = io::make_array(dtype::uint8, {side, side}), labels = io::make_array(dtype::uint8, {side, side});
    for (int i = 0; i < side * side; ++i) {
        const int row = i / side, column = i % side;
        const bool inside = row >= 10 && row < 30 && column >= 10 && column < 30;
        photo.data[static_cast<std::size_t>(i)] = std::byte{100};
        labels.data[static_cast<std::size_t>(i)] = std::byte{inside ? std::uint8_t{7} : std::uint8_t{0}};
    }
    const sheet on = arrange(labels.shape, {1, 1}, {.size = side}, false);
    picture drawn = draw_labels(on, labels, {&photo}), numbered = draw_labels(on, labels, {&photo, true});
    ASSERT_EQ(drawn.width, side);
    EXPECT_EQ(drawn.at(2, 2), (rgb{100, 100, 100}));
    EXPECT_NE(drawn.at(20, 20), drawn.at(2, 2));
    EXPECT_NE(drawn.at(10, 20), drawn.at(20, 20));
    EXPECT_EQ(drawn.at(10, 20), drawn.at(29, 12));
    EXPECT_EQ(std::count(numbered.pixels.begin(), numbered.pixels.end(), rgb{255, 255, 255}), 11);  // dots of a 7
}

TEST(LabelPicture, TakesEveryTypeAndNumbersOfABatchApart) {
    for (const dtype type : {dtype::uint16, dtype::int64, dtype::uint64}) {
        io::array labels = io::make_array(type, {2, 3});
        std::fill_n(labels.data.get(), labels.bytes(), std::byte{0});
        labels.data[0] = std::byte{7};
        const sheet on = arrange(labels.shape, {1, 1}, {}, false);
        picture drawn = draw_labels(on, labels);
        EXPECT_GT(to_oklab(drawn.at(0, 0)).lightness, 0.5);
        EXPECT_LT(to_oklab(drawn.at(drawn.width - 1, drawn.height - 1)).lightness, 0.25);
    }
    const io::array batch = array_of<std::uint8_t>({2, 1, 2}, {1, 1, 1, 1});
    const sheet on = arrange(batch.shape, {1, 1, 1}, {.batch_axes = 1}, false);
    picture drawn = draw_labels(on, batch);
    const panel& first = on.panels[0];
    const panel& second = on.panels[1];
    EXPECT_NE(drawn.at(first.left, first.top), drawn.at(second.left, second.top));
}

/// Two slabs, one above the other. What the rays of the solid meet agrees with what render() draws.
TEST(Solid, StandsInTheFreeCornerAsThePlanesDo) {
    for (const bool rows_up : {false, true}) {
        io::array slabs = io::make_array(dtype::uint8, {40, 50, 60});
        auto* const cells = reinterpret_cast<std::uint8_t*>(slabs.data.get());
        for (std::int64_t i = 0; i < slabs.cells(); ++i) {
            const std::int64_t z = i / 3000, x = i % 60;
            cells[i] = x < 10 || x >= 50 ? 0 : z >= 5 && z < 15 ? 1 : z >= 25 && z < 35 ? 2 : 0;
        }
        const sheet on = arrange(slabs.shape, {2, 1, 1}, {}, rows_up);
        const solid seen = see_solid(on, slabs);
        ASSERT_EQ(seen.width, on.legend_width);
        double height[3] = {}, count[3] = {}, disagree = 0;
        for (std::size_t i = 0; i < seen.cell.size(); ++i) {
            const int value = seen.cell[i] < 0 ? 0 : cells[seen.cell[i]];
            ASSERT_TRUE(value != 0 || seen.cell[i] < 0);
            height[value] += static_cast<double>(i) / seen.width, count[value] += 1;
            disagree += (seen.light[i] == rgb{250, 249, 246}) == (value != 0);
        }
        EXPECT_GT(count[1], 0.02 * static_cast<double>(seen.cell.size()));
        EXPECT_GT(count[2], 0.02 * static_cast<double>(seen.cell.size()));
        EXPECT_EQ(height[1] / count[1] > height[2] / count[2], rows_up);
        EXPECT_LT(disagree, 0.03 * (count[1] + count[2]));
        picture image(on);
        seen.put(image, [&](std::size_t) { return rgb{200, 0, 0}; });
        const auto first =
            std::find_if(seen.cell.begin(), seen.cell.end(), [](std::int64_t cell) { return cell >= 0; });
        const auto at = static_cast<int>(first - seen.cell.begin());
        const rgb painted = image.at(seen.left + at % seen.width, seen.top + at / seen.width);
        EXPECT_TRUE(painted.green == 0 && painted.blue == 0) << "the solid is white, times the colour";
    }
    const io::array volume = io::make_array(dtype::uint8, {4, 5, 6});
    EXPECT_EQ(see_solid(arrange({4, 5}, {1, 1}, {}, false), volume).width, 0) << "an image has no corner";
}

TEST(TrustPicture, HasAColourForEach) {
    picture drawn = draw_trust(arrange({1, 2}, {1, 1}, {}, false), array_of<std::uint8_t>({1, 2}, {1, 0}));
    EXPECT_NE(drawn.at(0, 0), drawn.at(drawn.width - 1, 0));
}

}  // namespace
}  // namespace nearfield::cli
