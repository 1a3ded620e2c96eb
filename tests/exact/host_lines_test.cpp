// The host's engine of rows and lines against a search over all pairs of cells, on shapes that each take one of its
// turns. The plan has to name the engine, so that no case passes by another one.
#include <gtest/gtest.h>

#include "exact/cases.hpp"
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

std::string first_method(const option_item& item, const distance_options& options) {
    fields<host> out;
    out.distance = any_output<host>::contiguous(nullptr, dtype::float32, item.problem.shape);
    const auto image = any_input<host>::contiguous(nullptr, dtype::uint16, item.problem.shape);
    return plan(host{2, {}}, image, out, options).passes.front().method;
}

class HostLines : public testing::TestWithParam<lines_case> {};

TEST_P(HostLines, EveryCellAgainstEverySite) {
    std::uint64_t seed = 0;
    const shape_t& shape = GetParam().shape;
    for (const lines_options& each : lines_options_list())
        for (const int spacing : {0, 1, 2, 3}) {
            const int kind = static_cast<int>(++seed % 3);
            if (!chosen(seed)) continue;
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
            c.items.emplace_back(shape, dtype::uint16, blocks(shape, kind, seed), c.options, wanted, seed);
            c.items.front().solve();
            // Real numbers keep the order of the axes, in which some of these rows are too short.
            if (spacing != 2 || shape.back() >= 16) {
                EXPECT_EQ(first_method(c.items.front(), c.options), "rows, steps by doubling in SIMD");
            }
            ASSERT_EQ(check(host_options_engine(), c), "");
        }
}

std::string test_name(const testing::TestParamInfo<lines_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(All, HostLines, testing::ValuesIn(lines_cases()), test_name);

}  // namespace
}  // namespace nearfield::test
