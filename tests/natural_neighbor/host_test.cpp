// Natural neighbours on the host.
#include <gtest/gtest.h>

#include <cmath>

#include "natural_neighbor/cases.hpp"
#include "refused.hpp"

namespace nearfield::test {
namespace {

std::vector<double> on_host(const natural_case& c, int threads) {
    const std::vector<std::byte> values = c.packed();
    std::vector<double> out(c.value.size(), 7);
    natural_neighbor(
        host{threads, {}}, any_input<host>::contiguous(values.data(), c.type, c.shape),
        c.known.empty() ? any_input<host>{} : any_input<host>::contiguous(c.known.data(), dtype::uint8, c.shape),
        any_output<host>::contiguous(out.data(), dtype::float64, c.shape), c.options());
    return out;
}

TEST(NaturalNeighbor, RandomCases) {
    check_natural([](const natural_case& c) { return on_host(c, 1 + static_cast<int>(c.value.size() % 3)); }, 0, 800);
}

TEST(NaturalNeighbor, ThreadsAndLayoutsDoNotShow) {
    natural_case c;
    c.shape = {60, 70};
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) {
        const std::uint64_t bits = mix(static_cast<std::uint64_t>(i));
        c.value.push_back(bits % 40 == 0 ? std::ldexp(static_cast<double>(bits >> 11), -53) : NAN);
    }
    const std::vector<double> one = on_host(c, 1);
    EXPECT_EQ(one, on_host(c, 3));
    for (std::size_t i = 0; i < one.size(); ++i)
        ASSERT_TRUE(std::isnan(c.value[i]) || std::abs(one[i] - c.value[i]) < 1e-13);
    std::vector<double> spread(2 * c.value.size()), out(2 * c.value.size());
    for (std::size_t i = 0; i < one.size(); ++i) spread[2 * i] = c.value[i];
    const view<const double, 2, host> from{spread.data(), extent{60, 70}, {140, 2}};
    natural_neighbor(host{2, {}}, from, {}, view<double, 2, host>{out.data(), extent{60, 70}, {140, 2}});
    for (std::size_t i = 0; i < one.size(); ++i) ASSERT_EQ(out[2 * i], one[i]);
}

/// Parts of planes and of rows, whose sums have padded rows from 64 cells on; balls that reach into several parts, with
/// kept shapes and, from squared radii of 400 on, without.
TEST(NaturalNeighbor, PartsOfTheGridAreTheDefinition) {
    struct {
        shape_t shape;
        std::uint64_t one_in;
    } const cases[] = {{{8, 5, 66}, 7}, {{2, 20, 64}, 60}, {{21, 15, 5}, 7}, {{37, 67}, 2000}};
    for (const auto& [shape, one_in] : cases) {
        natural_case c;
        c.shape = shape;
        for (std::int64_t i = 0; i < cells_of(shape); ++i) {
            const std::uint64_t bits = mix(static_cast<std::uint64_t>(i) + one_in);
            c.value.push_back(bits % one_in == 0 || i == 70 ? static_cast<double>(bits >> 40) : NAN);
        }
        const std::vector<double> wanted = expected(c);
        for (const int threads : {1, 4}) EXPECT_EQ(on_host(c, threads), wanted) << shape[0] << ' ' << one_in;
    }
}

/// Between two lines of equal values lies a ramp, except beside a line, where no ball of the other one reaches.
TEST(NaturalNeighbor, RampBetweenLines) {
    natural_case c;
    c.shape = {40, 41}, c.ends = {border::periodic, border::open};
    for (std::int64_t i = 0; i < cells_of(c.shape); ++i) c.value.push_back(i % 41 == 0 ? 0 : i % 41 == 40 ? 320 : NAN);
    const std::vector<double> found = on_host(c, 2);
    for (std::size_t i = 0; i < found.size(); ++i) {
        EXPECT_NEAR(found[i], 8 * static_cast<double>(i % 41), 18) << i;
        EXPECT_EQ(found[i], found[i % 41]);
    }
}

/// Integers whose sums fit int64 are exact; very large and very small values keep their relative weight.
TEST(NaturalNeighbor, HugeAndTinyValues) {
    for (const double unit : {1e300, 1e-300, 5e-324, 1.7976931348623157e308}) {
        natural_case c;
        c.shape = {9}, c.value = {unit, NAN, NAN, NAN, unit, INFINITY, NAN, NAN, -unit};
        const std::vector<double> found = on_host(c, 1);
        EXPECT_EQ(found[2], unit);
        EXPECT_EQ(found[7], 0);
    }
    std::int64_t value[] = {std::int64_t{1} << 58, 0, 0};
    const std::uint8_t known[] = {1, 0, 0};
    double out[3];
    const extent shape{3};
    natural_neighbor(host{}, view<const std::int64_t, 1, host>{value, shape},
                     view<const std::uint8_t, 1, host>{known, shape}, view<double, 1, host>{out, shape});
    EXPECT_EQ(out[2], static_cast<double>(value[0]));
}

TEST(NaturalNeighbor, Refusals) {
    double value[4] = {}, out[4];
    const view<const double, 2, host> from{value, extent{2, 2}};
    const view<double, 2, host> to{out, extent{2, 2}};
    const auto call = [&](const natural_neighbor_options& o, any_output<host> where) {
        return [=] { natural_neighbor(host{}, from, {}, where, o); };
    };
    expect_refused(call({{}, border::closed}, to), {"closed", "open or periodic"});
    expect_refused(call({{}, {}, 2}, to), {"batch_axes is 2"});
    expect_refused(call({-1.0}, to), {"spacing"});
    expect_refused(call({}, {}), {"out"});
    expect_refused(call({}, view<double, 1, host>{out, extent{4}}), {"out"});
    expect_refused(call({}, view<double, 2, host>{value, extent{2, 2}}), {"overlap"});
    expect_refused([&] { natural_neighbor(host{-1, {}}, from, {}, to); }, {"threads"});
    EXPECT_THROW(natural_neighbor(host{1, [](double) { return false; }}, from, {}, to), error);
}

}  // namespace
}  // namespace nearfield::test
