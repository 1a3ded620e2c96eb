// The list of cases on the host equals the oracle.
#include <gtest/gtest.h>

#include "exact/call.hpp"

namespace nearfield::test {
namespace {

/// Runs a problem with one thread and all outputs, and with 2 and 7 threads in other layouts and types. Each result
/// must equal the oracle bit for bit, so all of them are equal.
void check_on_host(const solved& s, std::uint64_t k) {
    EXPECT_EQ(check(host_engine(1), s, outputs::all(), dress{}), "");
    EXPECT_EQ(check(host_engine(2), s, outputs::number(1 + k % (output_combinations - 1)), dress::number(k)), "");
    EXPECT_EQ(
        check(host_engine(7), s, outputs::number(1 + mix(k) % (output_combinations - 1)), dress::number(mix(k) % 4096)),
        "");
}

class SmallShapes : public testing::TestWithParam<shape_case> {};
class MediumShapes : public testing::TestWithParam<shape_case> {};
class LongShapes : public testing::TestWithParam<shape_case> {};

/// Runs all fills of a shape, each with the spacings that `spacings_of(k)` returns for its number k.
template <class Fills, class SpacingsOf>
void check_fills(const shape_case& c, const Fills& fills, const SpacingsOf& spacings_of) {
    std::uint64_t k = mix(static_cast<std::uint64_t>(cells_of(c.shape))) % 1000;
    for (fill kind : fills) {
        const flags_t sites = make_fill(kind, c.shape, 7 + k);
        for (const spacing_case& cell : spacings_of(k)) {
            if (!chosen(++k)) continue;
            SCOPED_TRACE(c.why + (": " + name_of(kind)) + ", spacing " + cell.why);
            check_on_host(solve(c.shape, sites, cell), k);
            if (testing::Test::HasFailure()) return;
        }
    }
}

TEST_P(SmallShapes, EveryFillWithEverySpacing) {
    check_fills(GetParam(), all_fills, [](std::uint64_t) { return spacings(); });
}

/// The unit spacing, and one of the others in turn.
std::vector<spacing_case> two_spacings(std::uint64_t k) {
    return {spacings()[0], spacings()[2 + k % (spacings().size() - 2)]};
}

TEST_P(MediumShapes, EveryFillWithSomeSpacings) { check_fills(GetParam(), all_fills, two_spacings); }
/// All spacings but the last two, whose ratios are slow in double.
std::vector<spacing_case> spacings_of_long(std::uint64_t k) {
    return {spacings()[0], spacings()[2 + k % (spacings().size() - 4)]};
}
TEST_P(LongShapes, SomeFillsWithSomeSpacings) { check_fills(GetParam(), long_fills, spacings_of_long); }

std::string test_name(const testing::TestParamInfo<shape_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(Host, SmallShapes, testing::ValuesIn(small_shapes()), test_name);
INSTANTIATE_TEST_SUITE_P(Host, MediumShapes, testing::ValuesIn(medium_shapes()), test_name);
INSTANTIATE_TEST_SUITE_P(Host, LongShapes, testing::ValuesIn(long_shapes()), test_name);

/// A few shapes on which all combinations are tried.
const shape_t probe_shapes[] = {{37}, {19, 35}, {7, 18, 33}, {3, 4, 5, 6}};

TEST(HostOutputs, EveryCombinationInOneCall) {
    std::uint64_t number = 0;
    for (const shape_t& shape : probe_shapes) {
        for (const spacing_case& cell : spacings()) {
            const solved s = solve(shape, make_fill(fill::tenth, shape, 3), cell);
            for (std::uint64_t k = 1; k < output_combinations; ++k) {
                for (layout how : all_layouts) {
                    if (!chosen(++number)) continue;
                    dress d;
                    d.output_layout = how;
                    d.seed = k;
                    ASSERT_EQ(check(host_engine(1), s, outputs::number(k), d), "");
                }
            }
        }
    }
}

TEST(HostOutputs, WithoutASiteEveryCombinationSaysSo) {
    for (const shape_t& shape : probe_shapes) {
        for (const spacing_case& cell : {spacings()[0], spacings()[9], spacings()[7]}) {
            const solved s = solve(shape, make_fill(fill::none, shape), cell);
            for (std::uint64_t k = 1; k < output_combinations; ++k) {
                ASSERT_EQ(check(host_engine(2), s, outputs::number(k), dress::number(k)), "");
            }
        }
    }
}

TEST(HostImages, EveryTypeInEveryLayout) {
    std::uint64_t number = 0;
    for (const shape_t& shape : probe_shapes) {
        for (fill kind : {fill::tenth, fill::ninety, fill::balls}) {
            const solved s = solve(shape, make_fill(kind, shape, 5), spacings()[0]);
            for (std::uint64_t k = 0; k < 144; ++k) {
                if (!chosen(++number)) continue;
                dress d = dress::number(k % 72);
                d.sites_are_nonzero = k >= 72;
                ASSERT_EQ(check(host_engine(1), s, outputs::all(), d), "");
            }
        }
    }
}

TEST(HostImages, BroadcastAlongEachAxis) {
    for (const shape_t& shape : {shape_t{17, 35}, shape_t{5, 18, 33}, shape_t{3, 4, 5, 6}}) {
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            shape_t one_slice = shape;
            one_slice[axis] = 1;
            const flags_t slice = make_fill(fill::tenth, one_slice, 11 + axis);
            flags_t sites(static_cast<std::size_t>(cells_of(shape)));
            for (std::size_t i = 0; i < sites.size(); ++i) {
                shape_t at = oracle::coordinates_of(static_cast<std::int64_t>(i), shape);
                at[axis] = 0;
                std::int64_t from = 0;
                for (std::size_t a = 0; a < shape.size(); ++a) from = from * one_slice[a] + at[a];
                sites[i] = slice[static_cast<std::size_t>(from)];
            }
            for (dtype type : {dtype::boolean, dtype::uint8, dtype::int32, dtype::float32, dtype::float64}) {
                const solved s = solve(shape, sites, spacings()[2]);
                dress d;
                d.image = type;
                call c(s, outputs::all(), d);
                c.image = guarded::broadcast(type, shape, axis);
                write_image(c.image, sites, false);
                const call before = c;
                host_engine(2)(c);
                ASSERT_EQ(verdict(c, before, s), "") << text_of(shape) << " along axis " << axis;
            }
        }
    }
}

/// Grids with more than one tile, strip and task along every axis, in all three kinds of arithmetic. If
/// NEARFIELD_TEST_SCALE asks for less, each shape, fill and spacing occurs once.
TEST(HostThreads, LargerGridsGiveTheSameBits) {
    const shape_t shapes[] = {{300, 517}, {70, 75, 81}, {11, 23, 19, 37}};
    const fill fills[] = {fill::sparse4, fill::tenth, fill::shells};
    const std::size_t spacing_numbers[] = {0, 7, 9};
    for (std::size_t k = 0; k < 27; ++k) {
        const std::size_t a = k / 9, b = k / 3 % 3, c = k % 3;
        if (test_scale() < 1 && (a != b || b != c)) continue;
        const solved s = solve(shapes[a], make_fill(fills[b], shapes[a], 23), spacings()[spacing_numbers[c]]);
        for (int threads : {1, 2, 7}) ASSERT_EQ(check(host_engine(threads), s, outputs::all(), dress{}), "");
    }
}

}  // namespace
}  // namespace nearfield::test
