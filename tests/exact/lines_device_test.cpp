// Rows and lines on the device equal the host's bit for bit: near windows on both sides of their limits, strips between
// near and far pivots, lines with and without staging, narrow and wide keys, all number types.
#include <gtest/gtest.h>

#include <algorithm>

#include "device_test.hpp"
#include "exact/cases.hpp"
#include "exact/gpu/ground/ladder.hpp"
#include "exact/options_device_engine.hpp"
#include "exact/options_fields.hpp"
#include "exact/orders.hpp"

namespace nearfield::test {
namespace {

class DeviceLines : public device_test {};

/// One row of sites among `rows`; the last row is as far from it as winners may be, or farther.
codes_t one_row(const shape_t& shape, std::int64_t row) {
    codes_t codes(static_cast<std::size_t>(cells_of(shape)), 1);
    const std::int64_t inner = cells_of(shape) / shape[0];
    for (std::int64_t i = 0; i < inner; i += 3) codes[static_cast<std::size_t>(row * inner + i)] = 0;
    return codes;
}

const std::vector<wanted_fields>& line_fields() {
    static const std::vector<wanted_fields> list = {
        {.distance = dtype::float32},
        {.distance = dtype::float32, .index = dtype::int32, .coordinates = true},
        {.squared = dtype::float64, .distance = dtype::float64, .index = dtype::int64},
        {.coordinates = true, .output_layout = layout::stepping},
    };
    return list;
}

void check(const shape_t& shape, const codes_t& codes, const distance_options& options, std::uint64_t k) {
    ASSERT_EQ(differs(shape, k % 2 == 0 ? dtype::uint8 : dtype::int32, codes, options,
                      line_fields()[k % line_fields().size()]),
              "")
        << text_of(shape) << ", case " << k;
}

TEST_F(DeviceLines, WinnersRoundTheReachOfNearWindows) {
    std::uint64_t k = 0;
    for (const std::int64_t rows : {8, 9, 100, 127, 128, 129, 240})
        for (const std::int64_t row : {std::int64_t{0}, rows / 2, rows - 1})
            for (const double weight : {1.0, 2.0, 7.0})
                check({rows, 35}, one_row({rows, 35}, row), {.spacing = {weight, 2}}, ++k);
    for (const std::int64_t rows : {9, 89, 92, 130})
        for (const std::int64_t row : {std::int64_t{0}, rows - 1})
            check({rows, 3, 34}, one_row({rows, 3, 34}, row), {.spacing = {1, 2, 1}}, ++k);
}

/// A column of sites: offsets along the last axis are clamped at 128 cells, and larger values cannot be told apart.
TEST_F(DeviceLines, OffsetsThatWordsCut) {
    std::uint64_t k = 0;
    for (const double weight : {1.0, 2.0, 3.0, 7.0})
        for (const shape_t& shape : {shape_t{70, 300}, shape_t{20, 3, 300}}) {
            codes_t codes(static_cast<std::size_t>(cells_of(shape)), 1);
            for (std::int64_t i = 0; i < cells_of(shape); i += 300) codes[static_cast<std::size_t>(i)] = 0;
            distance_options options{.spacing = {weight, 1}};
            if (shape.size() == 3) options.spacing = {weight, 2, 1};
            check(shape, codes, options, ++k);
        }
}

/// The fields of words have as many bits as the weights of the axes ask for.
TEST_F(DeviceLines, WordsOfManyWeights) {
    static const double lengths[][3] = {{1, 1, 1}, {2.5, 0.7, 0.7}, {10, 1, 1}, {1, 3, 2}, {1, 1, 9}, {0.4, 1, 0.1}};
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{70, 95}, shape_t{300, 64}, shape_t{21, 24, 64}})
        for (const auto& length : lengths)
            for (const double zeros : {0.2, 0.02, 0.002})
                for (const sites of : {sites::zero, sites::other_labels}) {
                    const codes_t codes = random_labels<std::uint32_t>(shape, of == sites::zero ? 1 : 3, zeros, ++k);
                    check(shape, codes, {.spacing = {length + 3 - shape.size(), shape.size()}, .sites = of}, k);
                    if (HasFailure()) return;
                }
}

/// Values that only double holds, but not those of near sites.
TEST_F(DeviceLines, WholeNumbersInDouble) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{40, 20000}, shape_t{600, 7000}})
        for (const double zeros : {0.02, 0.0005})
            for (const int by : {0, 1, 2}) {
                const codes_t codes = random_labels<std::uint32_t>(shape, by == 1 ? 3 : 1, zeros, ++k);
                distance_options options{.spacing = {2.5, 0.7}};
                if (by == 1) options.sites = sites::other_labels;
                if (by == 2) options.sign = sign::inside_negative;
                check(shape, codes, options, by == 2 ? 0 : k);
                if (HasFailure()) return;
            }
}

TEST_F(DeviceLines, BothSidesOfThinVolumes) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{1, 5, 1, 7}, shape_t{1, 40, 50}, shape_t{1, 3, 1, 1}, shape_t{2, 1, 9, 1}})
        for (const double zeros : {0.0, 0.3, 1.0}) {
            const codes_t codes = random_labels<std::uint32_t>(shape, 3, zeros, ++k);
            const distance_options options{.sign = sign::outside_negative};
            ASSERT_EQ(differs(shape, dtype::uint8, codes, options, {.distance = dtype::float32, .index = dtype::int32}),
                      "")
                << text_of(shape) << ", case " << k;
        }
}

TEST_F(DeviceLines, BothSidesOfImages) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{40, 50}, shape_t{300, 700}, shape_t{70, 1100}, shape_t{2, 150, 130}})
        for (const double zeros : {0.0, 0.0002, 0.3, 0.999, 1.0})
            for (const sign of : {sign::inside_negative, sign::outside_negative}) {
                const codes_t codes = random_labels<std::uint32_t>(shape, 3, zeros, ++k);
                const distance_options options{
                    .spacing = k % 2 == 0 ? 1.0 : 0.3, .sign = of, .batch_axes = static_cast<int>(shape.size()) - 2};
                const dtype type = std::array{dtype::uint8, dtype::float32, dtype::uint16}[k % 3];
                ASSERT_EQ(differs(shape, type, codes, options,
                                  {.distance = k % 5 == 0 ? dtype::float64 : dtype::float32,
                                   .output_layout = k % 4 == 0 ? layout::transposed : layout::contiguous}),
                          "")
                    << text_of(shape) << ", case " << k;
            }
}

TEST_F(DeviceLines, LinesRoundWhatBlocksStage) {
    static const double real[] = {1.4142135623730951, 0.7, 1}, whole[] = {2, 3, 1};
    std::uint64_t k = 0;
    for (const shape_t& shape :
         {shape_t{1023, 33}, shape_t{1025, 33}, shape_t{2100, 5}, shape_t{513, 2, 33}, shape_t{3, 1030, 5},
          shape_t{257, 2, 2, 9}, shape_t{33, 1}, shape_t{1, 700}, shape_t{5000}})
        for (const double zeros : {0.0, 0.0005, 0.02, 0.5})
            for (const double* lengths : {real, whole})
                for (const border beyond : {border::open, border::closed, border::periodic}) {
                    std::vector<double> length(shape.size());
                    for (std::size_t axis = 0; axis < shape.size(); ++axis) length[axis] = lengths[axis % 3];
                    const codes_t codes = random_labels<std::uint32_t>(shape, 1, zeros, ++k);
                    check(shape, codes, {.spacing = {length.data(), length.size()}, .border = beyond}, k);
                    if (HasFailure()) return;
                }
}

/// Marks are noted in stretches of at least 1024 cells, pivots are found in spans of 16384 rows. These lines have
/// several of each, with sites near, far, all in one stretch, or none.
TEST_F(DeviceLines, LinesOfManyStretches) {
    static const double real[] = {1.4142135623730951, 1};
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{70001}, shape_t{3, 70000}, shape_t{70000, 3}, shape_t{40000, 1, 2}})
        for (const double zeros : {0.0, 0.00003, 0.01})
            for (const border beyond : {border::open, border::periodic})
                for (const sites of : {sites::zero, sites::other_labels}) {
                    if (++k % 3 != 0) continue;
                    codes_t codes = random_labels<std::uint32_t>(shape, of == sites::zero ? 1 : 2, zeros, k);
                    // Long runs of labels, and a row of sites alone at one end.
                    for (std::size_t i = 0; i < codes.size() && of != sites::zero; ++i)
                        codes[i] = codes[i] == 0 ? 0 : 1 + static_cast<std::uint32_t>(i / 27001 % 3);
                    if (zeros == 0.0 && k % 2 == 0) codes[codes.size() - 5] = 0;
                    std::vector<double> length(shape.size(), 1);
                    if (k % 2 == 0) std::copy_n(real, std::min<std::size_t>(2, shape.size()), length.begin());
                    check(shape, codes, {.spacing = {length.data(), length.size()}, .sites = of, .border = beyond}, k);
                    if (HasFailure()) return;
                }
}

TEST_F(DeviceLines, AxesInAnyOrderOfMemory) {
    check_orders([](const shape_t& shape, const codes_t& codes, const distance_options& options,
                    const wanted_fields& wanted) { return differs(shape, dtype::uint8, codes, options, wanted); });
}

/// Windows resolve every strip of a line but one; on a periodic line the last strip ends at the first pivot.
TEST_F(DeviceLines, OneStripIsLeftOfALine) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{128, 70}, shape_t{110, 70}, shape_t{1120, 33}, shape_t{128, 9, 40}})
        for (const border beyond : {border::open, border::periodic})
            for (std::int64_t left = 0; left < shape[0]; left += shape[0] < 1000 ? 32 : 544) {
                codes_t codes;
                const std::int64_t inner = cells_of(shape) / shape[0];
                for (std::int64_t i = 0; i < cells_of(shape); ++i) codes.push_back(i / inner / 32 == left / 32);
                std::vector<double> length(shape.size(), 1);
                length[0] = 20;
                ASSERT_EQ(differs(shape, dtype::uint8, codes,
                                  {.spacing = {length.data(), length.size()}, .border = beyond}, line_fields()[0]),
                          "")
                    << text_of(shape) << ", strip " << left / 32 << ", case " << ++k;
            }
}

/// A last window of one row or five solves seven or three rows of the window before with them. A row of sites that only
/// these reach wins in them; everywhere else the sites of the first column do, which are nearer than the cap.
TEST_F(DeviceLines, LastWindowsShareRowsWithTheOnesBefore) {
    struct {
        shape_t shape;
        std::size_t axis;
        std::vector<double> length;
        std::int64_t reach;
        wanted_fields wanted;
    } const cases[] = {
        {{0, 23}, 0, {0.7, 0.31}, 11, line_fields()[1]},
        {{2, 0, 23}, 1, {0.31, 0.7, 0.31}, 11, line_fields()[1]},
        {{0, 2, 16}, 0, {0.7, 0.31, 0.31}, 8, line_fields()[1]},
        {{0, 94}, 0, {0.7, 0.31}, 41, line_fields()[0]},
        {{2, 0, 94}, 1, {0.31, 0.7, 0.31}, 41, line_fields()[0]},
        {{0, 176}, 0, {2, 1}, 87, line_fields()[0]},
    };
    for (const auto& one : cases)
        for (const std::int64_t rows : {513, 517})
            for (const border ends : {border::open, border::periodic}) {
                shape_t shape = one.shape;
                shape[one.axis] = rows;
                const std::int64_t columns = shape.back(), inner = one.axis + 2 == shape.size() ? columns : 2 * columns;
                codes_t codes;
                for (std::int64_t i = 0; i < cells_of(shape); ++i)
                    codes.push_back(i % columns != 0 && i / inner % rows != 511 - one.reach);
                std::vector<border> borders(shape.size(), border::open);
                borders[one.axis] = ends;
                EXPECT_EQ(differs(shape, dtype::uint8, codes,
                                  {.spacing = {one.length.data(), one.length.size()},
                                   .border = {borders.data(), borders.size()}},
                                  one.wanted),
                          "")
                    << text_of(shape) << (ends == border::open ? ", open" : ", periodic");
            }
}

/// A wide run whose last strip is unresolved ends in the pivot behind it, whose own nearest cell is the run's last one.
TEST_F(DeviceLines, ARunEndsInThePivotBehindAStrip) {
    const shape_t shape{1500, 300};
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const std::int64_t y = i / shape[1], x = i % shape[1];
        const bool within = 940 <= y && y < 1024 && 20 <= x && x < 280;
        codes.push_back(!within && (y < 1024 ? x / 3 + y / 3 : y / 2) % 2 == 0);
    }
    static const double real[] = {2.5, 0.7};
    for (const border beyond : {border::open, border::periodic})
        ASSERT_EQ(differs(shape, dtype::uint8, codes,
                          {.spacing = {real, 2}, .sign = sign::inside_negative, .border = beyond}, line_fields()[0]),
                  "");
}

/// Blocks of labels whose ends are nearer and farther than near windows reach.
TEST_F(DeviceLines, RunsOfLabels) {
    std::uint64_t k = 0;
    for (const std::int64_t block : {1, 7, 40, 111, 112, 113, 200})
        for (const bool is_signed : {false, true}) {
            const shape_t shape{420, 37};
            codes_t codes;
            for (std::int64_t i = 0; i < cells_of(shape); ++i)
                codes.push_back(static_cast<std::uint32_t>(mix(i / 37 / block * 7 + i % 37 / 19) % 4 +
                                                           (is_signed ? 0 : i % 3 == 0)));
            distance_options options{.spacing = {2, 1}, .sites = sites::other_labels};
            if (is_signed) options.sign = sign::inside_negative;
            check(shape, codes, options, ++k);
        }
}

/// Boundary bits read four labels at a time, two of 64 bits, or one by one.
TEST_F(DeviceLines, RunsOfLabelsOfEveryType) {
    for (const dtype type : {dtype::uint8, dtype::int16, dtype::int32, dtype::int64})
        for (const std::int64_t columns : {35, 36, 38, 40}) {
            codes_t codes;
            for (std::int64_t i = 0; i < 100 * columns; ++i)
                codes.push_back(static_cast<std::uint32_t>(mix(i / columns / 7 * 5 + i % columns / 12) % 4));
            const wanted_fields tight{.distance = dtype::float32, .image_layout = layout::tight};
            ASSERT_EQ(differs({100, columns}, type, codes, {.sites = sites::other_labels}, tight), "") << columns;
        }
}

/// Blocks of labels, `block` cells a side.
codes_t blocks_of_labels(const shape_t& shape, std::int64_t block) {
    codes_t codes;
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        std::uint64_t of = 0;
        for (std::int64_t axis = std::ssize(shape) - 1, rest = i; axis >= 0; --axis) {
            const std::int64_t n = shape[static_cast<std::size_t>(axis)];
            of = of * 31 + static_cast<std::uint64_t>(rest % n / block), rest /= n;
        }
        codes.push_back(static_cast<std::uint32_t>(mix(of) % 4));
    }
    return codes;
}

/// Windows of values take the ends of runs from bits. Rows note these eight cells at a time if they are aligned; a
/// kernel notes them for others, for short rows and for a third axis. Windows stage them by bytes or one by one.
TEST_F(DeviceLines, WindowsKnowWhereRunsBegin) {
    constexpr dtype types[] = {dtype::uint8, dtype::int32, dtype::int16, dtype::int64, dtype::float32};
    std::uint64_t k = 0;
    for (const shape_t& shape :
         {shape_t{40, 136}, shape_t{1030, 128}, shape_t{9, 17, 192}, shape_t{20, 33, 131}, shape_t{14, 16, 100},
          shape_t{9, 6, 32}, shape_t{12, 8, 10}, shape_t{5, 6, 7, 136}, shape_t{17, 1100}})
        for (const border beyond : {border::open, border::closed, border::periodic})
            for (const bool is_signed : {false, true})
                for (const layout of : {layout::tight, layout::contiguous, layout::stepping}) {
                    ++k;
                    distance_options options{.sites = sites::other_labels, .border = beyond};
                    if (is_signed) options.sites = sites::zero, options.sign = sign::inside_negative;
                    options.half_cell = is_signed && k % 4 == 0;
                    const dtype type = types[k % (is_signed ? 5 : 4)];
                    exact::gpu::trace counted;
                    ASSERT_EQ(differs(shape, type, blocks_of_labels(shape, 1 + static_cast<std::int64_t>(k % 9)),
                                      options, {.distance = dtype::float32, .image_layout = of}),
                              "")
                        << text_of(shape) << ", case " << k;
                    // Signed images are two plain searches, and short joined lines have no windows.
                    const bool is_short = *std::ranges::min_element(shape) < 8;
                    if (beyond == border::periodic ? is_short : is_signed && shape.size() == 2) continue;
                    EXPECT_GT(counted.solved()[static_cast<std::size_t>(exact::gpu::rung::values)], 0)
                        << text_of(shape) << ", case " << k << ": " << counted.text();
                }
}

/// Windows solve some columns and leave others, whose runs alone are marked.
TEST_F(DeviceLines, ColumnsThatWindowsLeaveAreMarked) {
    for (const shape_t& shape : {shape_t{1300, 700}, shape_t{700, 3, 420}})
        for (const bool is_signed : {false, true}) {
            codes_t codes;
            for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                const std::int64_t x = i % shape.back(), y = i / (cells_of(shape) / shape[0]);
                codes.push_back(x >= shape.back() - 60 ? static_cast<std::uint32_t>(mix(y / 5 * 97 + x / 5) % 3)
                                                       : static_cast<std::uint32_t>(y / 640 % 2));
            }
            distance_options options{.sites = sites::other_labels, .border = border::periodic};
            if (is_signed) options.sites = sites::zero, options.sign = sign::inside_negative;
            exact::gpu::trace counted;
            ASSERT_EQ(differs(shape, dtype::int32, codes, options, {.distance = dtype::float32}), "") << text_of(shape);
            const auto& solved = counted.solved();
            const auto of = [&](exact::gpu::rung which) { return solved[static_cast<std::size_t>(which)]; };
            EXPECT_GT(of(exact::gpu::rung::values), 0) << counted.text();
            EXPECT_GT(of(exact::gpu::rung::strips) + of(exact::gpu::rung::halving), 0) << counted.text();
        }
}

/// A warp has several rows of less than 128 cells, and a row of more: for sites, labels and signs, open and periodic.
TEST_F(DeviceLines, RowsOfEveryLength) {
    constexpr dtype types[] = {dtype::uint8, dtype::int16, dtype::int32, dtype::int64, dtype::uint8};
    std::uint64_t k = 0;
    for (const std::int64_t length : {2, 3, 4, 5, 7, 8, 31, 32, 33, 40, 63, 64, 65, 96, 97, 100, 126, 127, 128, 129})
        for (const border beyond : {border::open, border::periodic})
            for (const int by : {0, 1, 2}) {
                ++k;
                const shape_t shape = k % 2 == 0 ? shape_t{83, length} : shape_t{9, 11, length};
                const codes_t codes = random_labels<std::uint32_t>(shape, by == 1 ? 3 : 1, k % 3 == 0 ? 0.02 : 0.3, k);
                distance_options options{.spacing = shape.size() == 2 ? spacing{2, 1} : spacing{1, 2, 1},
                                         .border = beyond};
                options.half_cell = k % 5 == 0;
                if (by == 1) options.sites = sites::other_labels;
                if (by == 2) options.sign = sign::inside_negative;
                ASSERT_EQ(differs(shape, types[k % std::size(types)], codes, options,
                                  k % 4 == 0 ? line_fields()[1] : line_fields()[0]),
                          "")
                    << text_of(shape) << ", case " << k;
            }
}

/// Rows of 15000 to 16384 cells, and windows of 384 rows, take nearly all or all of the 48 KB that blocks have without
/// asking, besides which kernels have variables. Only a GPU refuses such a launch.
TEST_F(DeviceLines, BlocksMemoryIsNearlyFull) {
    for (const shape_t& shape : {shape_t{9, 10500}, shape_t{9, 14001}, shape_t{9, 16383}, shape_t{9, 16384},
                                 shape_t{9, 32767}, shape_t{384, 70}, shape_t{3, 384, 40}})
        for (const bool labels : {false, true})
            for (const wanted_fields& wanted : line_fields()) {
                const codes_t codes = random_labels<std::uint32_t>(shape, labels ? 3 : 1, 0.01, 5);
                const double lengths[] = {2, 1, 1};
                distance_options options{.spacing = {lengths, shape.size()}};
                if (labels) options.sites = sites::other_labels;
                ASSERT_EQ(differs(shape, dtype::uint8, codes, options, wanted), "") << text_of(shape);
            }
}

/// A block of windows has eight rows, most of which do not exist in a line of fewer.
TEST_F(DeviceLines, LinesOfFewRows) {
    std::uint64_t k = 0;
    for (const std::int64_t rows : {2, 3, 4, 7, 8, 9, 16, 17})
        for (const shape_t& shape : {shape_t{rows, 310}, shape_t{rows, 9, 70}, shape_t{9, rows, 70}})
            for (const int by : {0, 1, 2})
                for (const border beyond : {border::open, border::closed, border::periodic}) {
                    ++k;
                    const codes_t codes =
                        random_labels<std::uint32_t>(shape, by == 1 ? 3 : 1, k % 3 == 0 ? 0.01 : 0.2, k);
                    distance_options options{.spacing = k % 2 == 0 ? spacing{0.3} : spacing{2, 1, 1}, .border = beyond};
                    if (shape.size() == 2) options.spacing = k % 2 == 0 ? spacing{0.3} : spacing{2, 1};
                    options.half_cell = k % 5 == 0;
                    if (k % 7 == 0) options.max_distance = 2;
                    if (by == 1) options.sites = sites::other_labels;
                    if (by == 2) options.sign = sign::inside_negative;
                    check(shape, codes, options, by == 2 ? 0 : k);
                    if (HasFailure()) return;
                }
}

}  // namespace
}  // namespace nearfield::test
