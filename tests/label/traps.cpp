#include "label/traps.hpp"

#include <cstring>
#include <limits>

namespace nearfield::test {
namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

void expect_right(const label_engine& engine, const label_call& c, const std::string& what) {
    EXPECT_EQ(check(engine, c), "") << what;
}

void expect_figures(const label_engine& engine, std::initializer_list<figure> kinds,
                    std::initializer_list<shape_t> shapes, std::uint64_t seeds = 1) {
    for (const shape_t& shape : shapes)
        for (const figure kind : kinds)
            for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity)
                for (std::uint64_t seed = 1; seed <= seeds; ++seed) {
                    label_call c({.shape = shape, .threads = 3}, {.connectivity = connectivity});
                    c.draw(make_figure(kind, shape, seed));
                    expect_right(engine, c, text_of(shape) + ' ' + name_of(kind));
                }
}

template <class T>
void set(label_call& c, std::int64_t i, T value) {
    std::memcpy(c.image.element(i), &value, sizeof value);
}

// ---- widths and words -----------------------------------------------------------------------------------------------

/// 65535 components are numbered; one more gives an error that says so.
void sixteen_bits(const label_engine& engine) {
    for (const std::int64_t components : {65535, 65536}) {
        const shape_t shape{2 * components};
        label_call c({.shape = shape, .label = dtype::uint16, .threads = 2}, {});
        c.draw(make_figure(figure::stripes, shape));
        if (components == 65535) {
            expect_right(engine, c, "65535 components");
            continue;
        }
        try {
            engine(c);
            ADD_FAILURE() << "65536 components were numbered in 16 bits";
        } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find("65536"), std::string::npos) << e.what();
        }
    }
}

/// Vector stores and loads must stop at the end of a row, because the memory behind it must not change.
void odd_widths(const label_engine& engine) {
    for (std::int64_t width = 1; width <= 70; ++width)
        for (const dtype label : {dtype::uint16, dtype::int32, dtype::int64}) {
            const shape_t shape{3, width};
            label_call c({.shape = shape, .label = label}, {.connectivity = 8});
            c.draw(make_figure(figure::dense, shape, static_cast<std::uint64_t>(width)));
            expect_right(engine, c, text_of(shape));
        }
}

/// Two cells on both sides of a word's end, in one row or diagonal, in both directions; and full rows.
void word_ends(const label_engine& engine) {
    for (const std::int64_t end : {16, 32, 64, 128})
        for (const std::int64_t width : {end, end + 1, end + 2})
            for (int connectivity = 1; connectivity <= 2; ++connectivity)
                for (const auto& [above, below] : {std::pair{end - 1, end}, {end, end - 1}, {end - 1, end - 1}}) {
                    const shape_t shape{2, width};
                    label_call c({.shape = shape}, {.connectivity = connectivity});
                    flags_t cells(static_cast<std::size_t>(2 * width), 0);
                    if (above < width) cells[static_cast<std::size_t>(above)] = 1;
                    if (below < width) cells[static_cast<std::size_t>(width + below)] = 1;
                    c.draw(cells);
                    expect_right(engine, c, text_of(shape));
                    c.draw(flags_t(cells.size(), 1));
                    expect_right(engine, c, text_of(shape) + " full");
                }
}

// ---- values ---------------------------------------------------------------------------------------------------------

void nan_is_never_linked(const label_engine& engine) {
    for (const dtype element : {dtype::float32, dtype::float64})
        for (const criterion kind : {criterion::equal, criterion::within}) {
            const shape_t shape{5, 67};
            label_call c({.shape = shape, .element = element},
                         {.connectivity = 2, .criterion = kind, .tolerance = 1e30});
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                if (element == dtype::float32) set(c, i, std::numeric_limits<float>::quiet_NaN());
                else set(c, i, std::numeric_limits<double>::quiet_NaN());
            }
            expect_right(engine, c, "NaN alone");
            engine(c);
            EXPECT_EQ(c.count.get<std::int64_t>(0), cells_of(shape));
        }
}

/// With an infinite tolerance everything but NaN is linked, even opposite infinities.
void infinite_tolerance(const label_engine& engine) {
    for (const dtype element : {dtype::float32, dtype::float64, dtype::uint8, dtype::int32, dtype::uint64})
        for (const shape_t& shape : {shape_t{9, 65}, shape_t{4, 5, 33}})
            for (int connectivity = 1; connectivity <= static_cast<int>(shape.size()); ++connectivity)
                for (const bool background : {false, true}) {
                    label_call c({.shape = shape, .element = element, .threads = 2}, {.connectivity = connectivity,
                                                                                      .criterion = criterion::within,
                                                                                      .tolerance = infinity,
                                                                                      .has_background = background});
                    c.write(over(shape, [](const shape_t& at) { return std::int64_t(grain_value(at, 1, 4, 7)); }),
                            true);
                    expect_right(engine, c, text_of(shape));
                }
}

/// |a - b| does not fit the type of a and b.
template <class T>
void ends_of(const label_engine& engine, dtype element) {
    using limits = std::numeric_limits<T>;
    const auto apart = static_cast<std::make_unsigned_t<T>>(-1);
    for (const scalar& tolerance : {scalar(apart), scalar(static_cast<decltype(apart)>(apart - 1)), scalar(1)})
        for (const shape_t& shape : {shape_t{3, 66}, shape_t{2, 3, 65}}) {
            label_call c(
                {.shape = shape, .element = element},
                {.connectivity = 2, .criterion = criterion::within, .tolerance = tolerance, .has_background = false});
            for (std::int64_t i = 0; i < cells_of(shape); ++i)
                set(c, i, grain_value({i}, 1, 2, 3) == 0 ? limits::lowest() : limits::max());
            expect_right(engine, c, text_of(shape));
        }
}
void wide_differences(const label_engine& engine) {
    ends_of<std::int8_t>(engine, dtype::int8), ends_of<std::uint8_t>(engine, dtype::uint8);
    ends_of<std::int16_t>(engine, dtype::int16), ends_of<std::uint16_t>(engine, dtype::uint16);
    ends_of<std::int32_t>(engine, dtype::int32), ends_of<std::uint32_t>(engine, dtype::uint32);
    ends_of<std::int64_t>(engine, dtype::int64), ends_of<std::uint64_t>(engine, dtype::uint64);
}

// ---- figures --------------------------------------------------------------------------------------------------------

void giant(const label_engine& engine) {
    expect_figures(engine, {figure::full, figure::giant}, {{129, 131}, {33, 34, 35}});
}
void most_runs(const label_engine& engine) {
    expect_figures(engine, {figure::checkerboard, figure::stripes}, {{131, 130}, {17, 18, 65}});
}
void longest_chains(const label_engine& engine) {
    expect_figures(engine, {figure::comb, figure::comb_down, figure::spiral, figure::u_shapes},
                   {{140, 141}, {12, 33, 34}});
}
void percolation(const label_engine& engine) {
    expect_figures(engine, {figure::percolation4, figure::percolation8, figure::percolation6},
                   {{90, 129}, {20, 21, 66}}, 3);
}

/// The most components: for 4 and 6 neighbours every second cell, for 8 and 26 one cell of a block, for 18 two of one,
/// by values every cell. No image with even sides has more.
void most_components_are_numbered(const label_engine& engine) {
    const struct {
        shape_t shape;
        int connectivity;
        figure kind;
    } cases[] = {{{34, 66}, 4, figure::checkerboard},
                 {{34, 66}, 8, figure::apart},
                 {{6, 10, 34}, 6, figure::checkerboard},
                 {{6, 10, 34}, 18, figure::parity},
                 {{6, 10, 34}, 26, figure::apart}};
    for (const auto& each : cases) {
        const auto axes = static_cast<int>(each.shape.size());
        label_options o{.connectivity = each.connectivity};
        label_call c({.shape = each.shape}, o);
        c.draw(make_figure(each.kind, each.shape));
        expect_right(engine, c, text_of(each.shape));
        engine(c);
        EXPECT_EQ(c.count.get<std::int64_t>(0), most_components(each.shape.data(), axes, o)) << each.connectivity;
        o.criterion = criterion::equal, o.has_background = false;
        label_call values({.shape = each.shape, .element = dtype::int32}, o);
        for (std::int64_t i = 0; i < cells_of(each.shape); ++i) set(values, i, static_cast<std::int32_t>(i));
        engine(values);
        EXPECT_EQ(values.count.get<std::int64_t>(0), cells_of(each.shape));
        EXPECT_EQ(most_components(each.shape.data(), axes, o), cells_of(each.shape));
    }
}

/// Every pattern of a block of cells, each with one of the choices. In one image, blocks lie a cell of
/// background apart and begin `shift` cells from the corner, so that patterns lie at all places within words and
/// tiles.
template <class T>
std::pair<shape_t, std::vector<T>> every_pattern(const shape_t& block, const std::vector<T>& choices,
                                                 const shape_t& shift) {
    std::int64_t patterns = 1, blocks = 1;
    for (std::int64_t i = 0; i < cells_of(block); ++i) patterns *= static_cast<std::int64_t>(choices.size());
    const auto enough = [&] { return cells_of(shape_t(block.size(), blocks)) >= patterns; };
    while (!enough()) ++blocks;
    shape_t shape;
    for (std::size_t axis = 0; axis < block.size(); ++axis) shape.push_back(blocks * (block[axis] + 1) + shift[axis]);
    return {shape, over(shape, [&](const shape_t& at) {
                std::int64_t pattern = 0, cell = 0;
                for (std::size_t axis = 0; axis < block.size(); ++axis) {
                    const std::int64_t x = at[axis] - shift[axis], inside = x % (block[axis] + 1);
                    if (x < 0 || inside == block[axis]) return T{};
                    pattern = pattern * blocks + x / (block[axis] + 1), cell = cell * block[axis] + inside;
                }
                if (pattern >= patterns) return T{};
                for (; cell > 0; --cell) pattern /= static_cast<std::int64_t>(choices.size());
                return choices[static_cast<std::size_t>(pattern) % choices.size()];
            })};
}

/// Two cells of a 2x2 block need not be connected: not with 4, 6 and 18 neighbours, nor if values decide.
void blocks_of_cells(const label_engine& engine) {
    for (const shape_t& shift : {shape_t{0, 0}, shape_t{0, 1}, shape_t{1, 0}, shape_t{1, 1}}) {
        const auto [shape, cells] = every_pattern<std::uint8_t>({3, 3}, {0, 1}, shift);
        for (const int connectivity : {4, 8}) {
            label_call c({.shape = shape, .image_layout = layout::tight}, {.connectivity = connectivity});
            c.draw(cells);
            expect_right(engine, c, "3x3 from " + text_of(shift));
        }
    }
    for (const std::int64_t z : {0, 1}) {
        const auto [shape, cells] = every_pattern<std::uint8_t>({2, 2, 3}, {0, 1}, {z, 0, 0});
        for (const int connectivity : {6, 18, 26}) {
            label_call c({.shape = shape, .image_layout = layout::tight}, {.connectivity = connectivity});
            c.draw(cells);
            expect_right(engine, c, "2x2x3 from " + std::to_string(z));
        }
    }
    for (const dtype element : {dtype::uint8, dtype::int16, dtype::float32}) {
        const auto [shape, values] = every_pattern<std::int64_t>({2, 3}, {0, 1, 2}, {1, 1});
        for (const int connectivity : {4, 8}) {
            label_call c({.shape = shape, .element = element, .image_layout = layout::tight},
                         {.connectivity = connectivity, .criterion = criterion::equal});
            c.write(values);
            expect_right(engine, c, "equal values, 2x3");
        }
    }
}

/// North may touch north-west, and this cell both or only one of them: a link by a criterion implies no other.
void criteria_are_not_transitive(const label_engine& engine) {
    for (const dtype element : {dtype::uint8, dtype::int16, dtype::float32}) {
        const auto [shape, values] = every_pattern<std::int64_t>({2, 3}, {1, 2, 3, 4}, {0, 1});
        for (const int connectivity : {4, 8}) {
            label_call c({.shape = shape, .element = element, .image_layout = layout::tight, .threads = 2},
                         {.connectivity = connectivity, .criterion = criterion::within, .tolerance = 1});
            c.write(values);
            expect_right(engine, c, "within 1, 2x3");
        }
    }
    for (const int connectivity : {6, 18, 26}) {
        const auto [shape, values] = every_pattern<std::int64_t>({2, 2, 2}, {1, 2, 3}, {1, 1, 1});
        label_call c({.shape = shape, .image_layout = layout::tight, .threads = 2},
                     {.connectivity = connectivity, .criterion = criterion::within, .tolerance = 1});
        c.write(values);
        expect_right(engine, c, "within 1, 2x2x2");
    }
}

/// The axis of length 1 may be anywhere, for any criterion.
void one_plane(const label_engine& engine) {
    const shape_t image{23, 66};
    for (const criterion kind : {criterion::nonzero, criterion::equal, criterion::within})
        for (int changes = 1; changes <= 3; ++changes) {
            label_options o{.connectivity = std::min(changes, 2), .criterion = kind, .tolerance = 1};
            label_call flat({.shape = image}, o);
            const auto values = over(image, [](const shape_t& at) { return std::int64_t(grain_value(at, 2, 3, 5)); });
            flat.write(values);
            engine(flat);
            o.connectivity = changes;
            for (const shape_t& shape : {shape_t{1, 23, 66}, shape_t{23, 1, 66}, shape_t{23, 66, 1}}) {
                label_call volume({.shape = shape}, o);
                volume.write(values);
                engine(volume);
                EXPECT_EQ(volume.label.cells(), flat.label.cells());
                for (std::int64_t i = 0; i < flat.label.cells(); ++i)
                    ASSERT_EQ(volume.label.get<std::int32_t>(i), flat.label.get<std::int32_t>(i)) << text_of(shape);
                EXPECT_EQ(volume.count.get<std::int64_t>(0), flat.count.get<std::int64_t>(0));
            }
        }
}

/// Numbers follow the components' first cells, whichever thread comes first.
void numbers_do_not_depend_on_who_is_first(const label_engine& engine) {
    const shape_t shape{150, 70};
    label_call c({.shape = shape, .threads = 7}, {.connectivity = 1});
    c.draw(make_figure(figure::half, shape, 2));
    for (int round = 0; round < 10; ++round) expect_right(engine, c, "round " + std::to_string(round));
}

/// find() reads entries that other threads write and lower. Teeth that meet late are roots of their own until then, so
/// that all threads lower the same few roots. Runs the same image repeatedly.
void roots_that_others_lower(const label_engine& engine) {
    for (const shape_t& shape : {shape_t{200, 330}, shape_t{36, 37, 66}})
        for (const figure kind : {figure::comb, figure::u_shapes, figure::spiral, figure::percolation4})
            for (const criterion by : {criterion::nonzero, criterion::equal}) {
                label_call c({.shape = shape, .image_layout = layout::tight, .threads = 7},
                             {.connectivity = 1, .criterion = by});
                c.draw(make_figure(kind, shape, 3));
                expect_right(engine, c, text_of(shape) + ' ' + name_of(kind));
                engine(c);
                const std::vector<std::byte> first = c.label.bytes();
                const int times = test_scale() < 1 ? 2 : 20;  // on the stand-in, threads meet in one order only
                for (int again = 0; again < times; ++again) {
                    engine(c);
                    ASSERT_TRUE(c.label.bytes() == first) << text_of(shape) << ' ' << name_of(kind);
                }
            }
}

/// All threads of a block must reach a barrier, also those without a row, a word or a cell: images end anywhere within
/// a tile.
void barriers_where_threads_have_nothing(const label_engine& engine) {
    std::uint64_t k = 0;
    for (const std::int64_t rows : {1, 2, 5, 17, 33, 65})
        for (const std::int64_t width : {1, 16, 33, 129, 257})
            for (const criterion by : {criterion::nonzero, criterion::equal, criterion::within})
                for (const std::int64_t planes : {0, 1, 3, 9}) {
                    const shape_t shape = planes == 0 ? shape_t{rows, width} : shape_t{planes, rows, width};
                    if (cells_of(shape) > 20000 || !chosen(++k)) continue;
                    label_call c({.shape = shape, .image_layout = layout::tight},
                                 {.connectivity = 1 + static_cast<int>(k % shape.size()),
                                  .criterion = by,
                                  .tolerance = 1,
                                  .smallest = k % 4 == 0 ? 3 : 1});
                    c.write(values_of(shape, k));
                    expect_right(engine, c, text_of(shape));
                }
}

}  // namespace

const std::vector<trap>& traps() {
    static const std::vector<trap> list = {
        {"SixteenBitsThatOverflow", sixteen_bits},
        {"VectorsOnOddWidths", odd_widths},
        {"ShiftsAtTheEndsOfWords", word_ends},
        {"NanIsNeverLinked", nan_is_never_linked},
        {"InfiniteToleranceAndNan", infinite_tolerance},
        {"DifferencesWiderThanTheType", wide_differences},
        {"OneGiantComponent", giant},
        {"CheckerboardsHaveMostRuns", most_runs},
        {"CombsAndSpiralsHaveTheLongestChains", longest_chains},
        {"PercolationDensities", percolation},
        {"MostComponentsThereCanBe", most_components_are_numbered},
        {"AVolumeOfOnePlaneIsTheImage", one_plane},
        {"BlocksOfCellsNeedNotHangTogether", blocks_of_cells},
        {"LinksOfACriterionAreNotTransitive", criteria_are_not_transitive},
        {"RootsThatOthersLowerWhileWaysAreShortened", roots_that_others_lower},
        {"BarriersWhereThreadsHaveNothingToDo", barriers_where_threads_have_nothing},
        {"NumbersDoNotDependOnWhoIsFirst", numbers_do_not_depend_on_who_is_first},
    };
    return list;
}

}  // namespace nearfield::test
