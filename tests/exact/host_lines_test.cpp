// The host's engine of rows and lines against all pairs of cells, on shapes that each reach one of its paths. The plan
// has to name rows and lines, so that no case takes another path.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "exact/cases.hpp"
#include "exact/host/layout.hpp"
#include "exact/options_call.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::test {
namespace {

struct lines_case {
    shape_t shape;
    const char* why;
};

const std::vector<lines_case>& lines_cases() {
    static const std::vector<lines_case> list = {
        {{400, 20}, "results beyond 16 bits, and pivots"},
        {{4, 90, 17}, "planes, and a last tile of one cell"},
        {{90, 4, 33}, "more planes than threads take one by one"},
        {{17, 2, 3, 2, 19}, "short axes together"},
        {{3, 2, 2, 2, 2, 2, 40}, "all axes but the last in one tile"},
        {{600, 3}, "rows of cells that lie apart"},
        {{9, 5, 6}, "rows of two axes"},
        {{4, 90, 5}, "volumes in doubles whose last two axes change places"},
        {{4, 7}, "one row of all axes"},
        {{2, 9000}, "rows in pieces, and steps beyond bytes"},
        {{130, 65}, "three tiles of 32 columns"},
    };
    return list;
}

struct lines_options {
    const char* name;
    distance_options options;
};

const std::vector<lines_options>& lines_options_list() {
    static const std::vector<lines_options> list = {
        {"labels", {.sites = sites::other_labels}},
        {"labels, closed", {.sites = sites::other_labels, .border = border::closed}},
        {"labels, periodic", {.sites = sites::other_labels, .border = border::periodic}},
        {"signed labels to faces", {.sites = sites::other_labels, .sign = sign::inside_negative, .half_cell = true}},
        {"labels within 7", {.sites = sites::other_labels, .max_distance = 7}},
        {"periodic", {.border = border::periodic}},
        {"plain, with sites", {}},
        {"closed, with sites", {.half_cell = true, .border = border::closed}},
        {"labels, with sites", {.sites = sites::other_labels}},
        {"labels, periodic, with sites", {.sites = sites::other_labels, .border = border::periodic}},
        {"signed, periodic, with sites", {.sign = sign::inside_negative, .border = border::periodic}},
        {"within 5, with sites", {.max_distance = 5}},
        {"signed, periodic", {.sign = sign::outside_negative, .border = border::periodic}},
    };
    return list;
}

/// Blocks of up to four labels, of zero alone, or of two labels with single cells between them.
codes_t blocks(const shape_t& shape, int kind, std::uint64_t seed) {
    codes_t codes;
    const std::int64_t length = shape.back();
    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
        const auto block = static_cast<std::uint64_t>(i / length / 9 * 100 + i % length / 40);
        const std::uint64_t bits = mix(mix(seed) + block), own = mix(seed + 7 + static_cast<std::uint64_t>(i));
        if (kind == 0) codes.push_back(static_cast<std::uint32_t>(bits % 4));
        else if (kind == 1) codes.push_back(i == cells_of(shape) / 3 ? 2 : 1);
        else
            codes.push_back(own % 50 == 0 ? static_cast<std::uint32_t>(own % 3)
                                          : 1 + static_cast<std::uint32_t>(bits % 2));
    }
    return codes;
}

/// The plan's names for the rows of a call, and for its lines along the axis before.
std::pair<std::string, std::string> methods(const shape_t& shape, const distance_options& options, bool sited) {
    fields<host> out;
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, shape);
    if (sited) out.index = any_output<host>::contiguous(nullptr, dtype::int64, shape);
    const auto image = any_input<host>::contiguous(nullptr, dtype::uint16, shape);
    const call_plan p = plan(host{2, {}}, image, out, options);
    return {p.passes.front().method, p.passes.back().method};
}

int key_bits(const shape_t& shape) {
    int bits = 0;
    for (const std::int64_t n : shape) bits += static_cast<int>(std::bit_width(static_cast<std::uint64_t>(n - 1)));
    return bits;
}

class HostLines : public testing::TestWithParam<lines_case> {};

TEST_P(HostLines, EveryCellAgainstEverySite) {
    std::uint64_t seed = 0;
    const shape_t& shape = GetParam().shape;
    for (const lines_options& each : lines_options_list())
        for (const int spacing : {0, 1, 2, 3}) {
            const bool sited = std::string_view(each.name).ends_with("sites");
            const int kind = static_cast<int>(++seed % 3);
            if (sited && cells_of(shape) > 9000) continue;
            // All pairs grow with the square of the cells, so the largest grids run every eighth call only.
            if (!chosen(seed) || (cells_of(shape) > 5000 && mix(seed) % 8 != 0)) continue;
            SCOPED_TRACE(GetParam().why + (std::string(", ") + each.name) + ", spacing " + std::to_string(spacing));
            option_call c;
            c.options = each.options, c.threads = 1 + static_cast<int>(seed % 3);
            std::vector<double> lengths;
            for (std::size_t axis = 0; axis < shape.size(); ++axis)
                lengths.push_back(spacing == 1 ? 1.0 + static_cast<double>(axis % 3)
                                               : 2.718281828 + 0.1 * static_cast<double>(axis));
            if (spacing == 3)
                for (std::size_t axis = 0; axis < shape.size(); ++axis) lengths[axis] = axis == 0 ? 2.5 : 0.7;
            if (spacing > 0) c.options.spacing = {lengths.data(), lengths.size()};
            wanted_fields wanted;
            wanted.distance = seed % 4 == 0 ? dtype::float64 : dtype::float32;
            if (seed % 5 == 0) wanted.squared = dtype::float64, wanted.trusted = dtype::boolean;
            if (sited) wanted.index = dtype::int64, wanted.coordinates = seed % 2 == 0, wanted.label = seed % 3 == 0;
            c.items.emplace_back(shape, dtype::uint16, blocks(shape, kind, seed), c.options, wanted, seed);
            c.items.front().solve();
            const std::string rows = methods(shape, c.options, sited).first;
            // Plain masks with open and closed ends may use the engine of planes.
            const bool lines_only =
                each.options.sites == sites::other_labels || each.options.border[0] == border::periodic;
            if (!sited || lines_only || spacing == 2) {
                EXPECT_TRUE(rows.starts_with("rows")) << rows;
            }
            ASSERT_EQ(check(host_options_engine(), c), "");
        }
}

/// Rows leave steps of 16 bits where a value takes more: in 32 bits, in float64 and in both, with an odd number of
/// tiles, rows without a site, steps beyond bytes, a tile that starts before the row, and more than two passes.
TEST(HostRows, LeaveStepsOf16Bits) {
    const double sets[][3] = {{12.5, 0.7, 0.7}, {2.5, 1.4142135623730951, 0.7}, {250, 7.1, 0.7}};
    const distance_options kinds[] = {{},
                                      {.half_cell = true},
                                      {.border = border::closed},
                                      {.border = border::periodic},
                                      {.max_distance = 30},
                                      {.sites = sites::other_labels},
                                      {.sites = sites::other_labels, .border = border::periodic},
                                      {.sign = sign::inside_negative}};
    std::uint64_t seed = 0;
    for (const shape_t& shape : {shape_t{40, 49}, shape_t{7, 600}, shape_t{5, 9, 81}, shape_t{3, 512},
                                 shape_t{2, 64, 33}, shape_t{3, 4, 40, 17}})
        for (const auto& lengths : sets)
            for (const distance_options& kind : kinds) {
                if (!chosen(++seed)) continue;
                option_call c;
                std::vector<double> spacing;
                for (std::size_t axis = 0; axis < shape.size(); ++axis)
                    spacing.push_back(lengths[std::min<std::size_t>(axis, 2)]);
                c.options = kind, c.options.spacing = {spacing.data(), spacing.size()};
                const std::string rows = methods(shape, c.options, false).first;
                ASSERT_EQ(rows, "rows, steps of 16 bits by doubling in SIMD") << text_of(shape);
                codes_t codes = blocks(shape, static_cast<int>(seed % 3), seed);
                const wanted_fields wanted{.distance = seed % 4 == 0 ? dtype::float64 : dtype::float32};
                c.items.emplace_back(shape, dtype::uint16, codes, c.options, wanted, seed);
                c.items.front().solve();
                ASSERT_EQ(check(host_options_engine(), c), "") << text_of(shape) << ", case " << seed;
            }
}

/// Sites end 70050 cells before the rows do. Most tiles fit 32 bits, which are tried first, so that these go on.
TEST(HostRows, LeaveStepsOf32BitsInLongRowsOfDoubles) {
    constexpr std::int64_t length = 200000, apart = 50, last = 129950;
    const double real[] = {2.5, 0.7}, irrational[] = {1.4142135623730951, 0.7};
    const shape_t shape{2, length};
    std::vector<std::uint8_t> mask(2 * length);
    for (std::int64_t i = 0; i < 2 * length; ++i)
        mask[static_cast<std::size_t>(i)] = i % length > last || i % length % apart != 0;
    for (const auto& spacing : {real, irrational}) {
        const distance_options options{.spacing = {spacing, 2}};
        EXPECT_EQ(methods(shape, options, false).first, "rows, steps by doubling in SIMD");
        std::vector<float> found(mask.size());
        fields<host> out;
        out.distance = any_output<host>::contiguous(found.data(), dtype::float32, shape);
        distance_transform(host{2, {}}, any_input<host>::contiguous(mask.data(), dtype::uint8, shape), out, options);
        for (std::int64_t i = 0; i < 2 * length; ++i) {
            const std::int64_t x = i % length, steps = x > last ? x - last : std::min(x % apart, apart - x % apart);
            ASSERT_FLOAT_EQ(found[static_cast<std::size_t>(i)], static_cast<float>(0.7 * static_cast<double>(steps)))
                << i;
        }
    }
}

TEST(HostSites, PackUpTo53Bits) {
    // Coordinates take 12 bits, so 39^2 a^2 + 49^2 b^2 must stay below 2^41.
    const double fits[] = {23679, 23678}, wide[] = {23680, 23679};
    std::uint64_t seed = 0;
    for (const auto& spacing : {fits, wide})
        for (const sites rule : {sites::zero, sites::other_labels})
            for (const border ends : {border::open, border::periodic}) {
                option_call c;
                c.options = {.spacing = {spacing, 2}, .sites = rule, .border = ends};
                const shape_t shape{40, 50};
                const std::string lines = methods(shape, c.options, true).second;
                const bool packed = lines == "lines, value and site in one double, in SIMD";
                // The farthest distance along a periodic axis is half a period.
                EXPECT_EQ(packed, spacing == fits || ends == border::periodic) << lines;
                const wanted_fields wanted{.squared = dtype::float64, .index = dtype::int32, .coordinates = true};
                for (int kind = 0; kind < 3; ++kind) {
                    c.items.clear();
                    c.items.emplace_back(shape, dtype::uint16, blocks(shape, kind, ++seed), c.options, wanted, seed);
                    c.items.front().solve();
                    ASSERT_EQ(check(host_options_engine(), c), "");
                }
            }
}

/// Calls whose largest possible value does not fit first try numbers that hold 32 cells, and solve the other tiles
/// again. Here the tile of the first columns is near its sites, and the last one is not.
TEST(HostNumbers, TilesThatDoNotFitAreSolvedAgain) {
    std::uint64_t seed = 0;
    for (const bool sited : {false, true})
        for (const shape_t& shape : {shape_t{80, 60}, shape_t{40, 100}, shape_t{60, 2, 55}})
            for (const border ends : {border::open, border::closed, border::periodic})
                for (int form = 0; form < 4; ++form) {
                    if (!chosen(++seed)) continue;
                    const int bits = sited ? key_bits(shape) : 23;  // 53 bits with sites, 30 without
                    const double cell = std::floor(std::exp2((53 - bits) / 2.0 - 5)),
                                 lengths[] = {cell - 1, cell - 3, cell - 2};
                    option_call c;
                    c.options = {.spacing = {lengths, shape.size()}, .border = ends};
                    if (form == 1) c.options.sites = sites::other_labels;
                    if (form == 2) c.options.sign = sign::inside_negative;
                    if (form == 3) c.options.max_distance = 35 * cell;
                    const std::string lines = methods(shape, c.options, sited).second;
                    EXPECT_NE(lines.find(", else "), std::string::npos) << lines;
                    codes_t codes;
                    for (std::int64_t i = 0; i < cells_of(shape); ++i) {
                        const bool near =
                            i % shape.back() < 14 && mix(seed * 10000 + static_cast<std::uint64_t>(i)) % 9 == 0;
                        codes.push_back(near ? static_cast<std::uint32_t>(i % 2 * 7) : 5);
                    }
                    wanted_fields wanted;
                    wanted.distance = seed % 2 == 0 ? dtype::float64 : dtype::float32;
                    if (seed % 3 == 0) wanted.squared = dtype::float64, wanted.trusted = dtype::boolean;
                    if (sited) wanted.index = dtype::int32, wanted.coordinates = true, wanted.label = seed % 3 == 0;
                    c.items.emplace_back(shape, dtype::uint16, codes, c.options, wanted, seed);
                    c.items.front().solve();
                    ASSERT_EQ(check(host_options_engine(), c), "") << text_of(shape) << ", form " << form;
                }
}

/// Terms of one axis vanish in the sum with those of another, so that the end of a run and a site of the cell's own
/// label seem equally near.
TEST(HostSites, KeepToOtherLabelsWhereStepsAreLost) {
    const double spacing[] = {1e12, 3};
    for (std::uint64_t seed = 1; seed <= 20; ++seed)
        for (const border ends : {border::open, border::periodic}) {
            option_call c;
            c.options = {.spacing = {spacing, 2}, .sites = sites::other_labels, .border = ends};
            codes_t codes;
            for (int i = 0; i < 13 * 40; ++i)
                codes.push_back(static_cast<std::uint32_t>(mix(seed * 1000 + i) % 5 / 3 + 1));
            const wanted_fields wanted{.squared = dtype::float64, .index = dtype::int32};
            c.items.emplace_back(shape_t{13, 40}, dtype::uint16, codes, c.options, wanted, seed);
            c.items.front().solve();
            ASSERT_EQ(check(host_options_engine(), c), "") << seed;
        }
}

/// The tiles' rows start at cache lines of the caller's distances, wherever these start.
TEST(HostLead, DistancesStartAnywhereInALine) {
    constexpr std::int64_t line = 16;  // cells
    const double real[] = {2.5, 0.7, 0.7};
    const struct {
        distance_options options;
        bool real = false;
    } forms[] = {{{.sites = sites::other_labels}},
                 {{.border = border::closed}},
                 {{}, true},
                 {{.border = border::periodic}},
                 {{.sites = sites::other_labels, .sign = sign::inside_negative}, true},
                 {{.sign = sign::outside_negative, .half_cell = true, .border = border::periodic}}};
    std::uint64_t seed = 0;
    for (const shape_t& shape : {shape_t{60, 512}, shape_t{5, 7, 544}, shape_t{40, 700}})
        for (const auto& each : forms)
            for (std::int64_t apart = 0; apart < line; ++apart) {
                if (!chosen(++seed)) continue;
                distance_options form = each.options;
                if (each.real) form.spacing = {real, shape.size()};
                const codes_t codes = blocks(shape, static_cast<int>(seed % 3), seed);
                const std::vector<std::uint16_t> image(codes.begin(), codes.end());
                const auto in = any_input<host>::contiguous(image.data(), dtype::uint16, shape);
                const std::int64_t cells = cells_of(shape);
                std::vector<float> room(static_cast<std::size_t>(cells + 3 * line), -7);
                const auto past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(room.data()) / 4 % 16);
                const std::int64_t from = 2 * line - past + apart - (past == 0 ? line : 0);
                fields<host> out;
                out.distance = any_output<host>::contiguous(room.data() + from, dtype::float32, shape);
                const exact::plan p = exact::make_plan(in, out, {.options = form});
                EXPECT_EQ(exact::lead_of(p, {in, out}), shape.back() % 32 == 0 ? apart : 0);
                distance_transform(host{1 + static_cast<int>(seed % 3), {}}, in, out, form);
                std::vector<double> wanted(static_cast<std::size_t>(cells));
                fields<host> doubles;
                doubles.distance = any_output<host>::contiguous(wanted.data(), dtype::float64, shape);
                distance_transform(host{1, {}}, in, doubles, form);
                for (std::int64_t i = 0; i < cells + 3 * line; ++i) {
                    const bool cell = i >= from && i < from + cells;
                    const float right = cell ? static_cast<float>(wanted[static_cast<std::size_t>(i - from)]) : -7;
                    ASSERT_EQ(room[static_cast<std::size_t>(i)], right) << text_of(shape) << ", cell " << i - from;
                }
            }
}

std::string test_name(const testing::TestParamInfo<lines_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(All, HostLines, testing::ValuesIn(lines_cases()), test_name);

}  // namespace
}  // namespace nearfield::test
