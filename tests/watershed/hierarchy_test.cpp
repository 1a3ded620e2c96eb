// Cuts of the hierarchy of regions by height, area and volume, against an oracle that floods the image level by level.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "refused.hpp"
#include "scale.hpp"
#include "watershed/cases.hpp"

namespace nearfield::test {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();
constexpr attribute all[] = {attribute::height, attribute::area, attribute::volume};

oracle::measured measured_by(attribute by) {
    return by == attribute::height ? oracle::measured::height
           : by == attribute::area ? oracle::measured::area
                                   : oracle::measured::volume;
}

/// Draws a case without markers, whose amounts a double holds exactly.
watershed_case drawn(std::uint64_t seed) {
    watershed_case c = drawn_case(seed, 3);
    c.marker.clear(), c.options.roots = false, c.options.lines = false, c.options.h = 0;
    for (double& v : c.value)
        if (std::abs(v) > 1e6) v = v > 0 ? 120 : 0;
    return c;
}

std::vector<std::int64_t> cut_of(const watershed_case& c, const cut_options& options) {
    std::vector<std::int32_t> label(c.value.size(), -1);
    basins_of(c).cut(host{1 + static_cast<int>(c.value.size() % 2), {}},
                     any_output<host>::contiguous(label.data(), dtype::int32, c.shape), options);
    return {label.begin(), label.end()};
}

/// The watershed from all minima, whose regions merge until each ends with a large enough amount.
std::vector<std::int64_t> expected_cut(const watershed_case& c, const std::vector<oracle::ending>& ends,
                                       const cut_options& cut) {
    std::vector<const oracle::ending*> kept;
    for (const auto& each : ends) kept.push_back(&each);
    const oracle::watershed_problem p = problem_of(c);
    const auto more = [&](const oracle::ending* a, const oracle::ending* b) {
        const double of_a = p.value[static_cast<std::size_t>(a->cell)],
                     of_b = p.value[static_cast<std::size_t>(b->cell)];
        return std::tuple(-a->amount, of_a, a->cell) < std::tuple(-b->amount, of_b, b->cell);
    };
    std::sort(kept.begin(), kept.end(), more);
    const auto ended = std::find_if(kept.begin(), kept.end(), [&](const oracle::ending* each) {
        const auto before = std::find(kept.begin(), kept.end(), each) - kept.begin();
        return each->amount < inf && (cut.regions > 0 ? before >= cut.regions : each->amount < cut.least);
    });
    kept.erase(ended, kept.end());
    std::map<std::int64_t, std::int64_t> into, number;
    for (const auto& each : ends) into[each.cell] = each.into;
    for (const auto* each : kept) number[each->cell] = 0;
    std::int64_t count = 0;
    for (auto& each : number) each.second = ++count;
    std::vector<std::int64_t> label = expected(c).label;
    for (std::int64_t& each : label) {
        if (each == 0) continue;
        std::int64_t cell = ends[static_cast<std::size_t>(each - 1)].cell;
        while (number.count(cell) == 0) cell = into[cell];
        each = number[cell];
    }
    return label;
}

TEST(Hierarchy, EndsAndCutsAreTheOracles) {
    for (std::uint64_t seed = 60000; seed < share(60000, 60900) && !testing::Test::HasFailure(); ++seed) {
        const watershed_case c = drawn(seed);
        const attribute by = all[seed % 3];
        const auto want = oracle::endings_of(problem_of(c), measured_by(by));
        const auto got = basins_of(c).extinctions(by);
        ASSERT_EQ(got.size(), want.size()) << c.text() << ", seed " << seed;
        double some = 0;
        for (std::size_t i = 0; i < want.size(); ++i) {
            EXPECT_EQ(got[i].cell, want[i].cell) << c.text() << ", seed " << seed;
            EXPECT_EQ(got[i].amount, want[i].amount) << c.text() << ", seed " << seed;
            const std::int64_t into = got[i].into < 0 ? -1 : got[static_cast<std::size_t>(got[i].into)].cell;
            EXPECT_EQ(into, want[i].into) << c.text() << ", seed " << seed;
            if (want[i].amount < inf && i % 2 == 0) some = want[i].amount;
        }
        for (const cut_options& cut : {cut_options{by, 0, 0, false}, cut_options{by, some, 0, false},
                                       cut_options{by, some + 0.125, 0, false}, cut_options{by, 0, 3, false}})
            EXPECT_EQ(cut_of(c, cut), expected_cut(c, want, cut)) << c.text() << ", seed " << seed;
    }
}

TEST(Hierarchy, HandCases) {
    watershed_case c;  // lakes: cells 0-2 have depth 1, cell 4 has depth 6, cells 6-7 have depth 3
    c.shape = {9}, c.value = {7, 7, 7, 8, 2, 8, 5, 5, 9}, c.type = dtype::uint16;
    const auto amounts = [&](attribute by) {
        std::vector<double> found;
        for (const extinction& each : basins_of(c).extinctions(by)) found.push_back(each.amount);
        return found;
    };
    EXPECT_EQ(amounts(attribute::height), (std::vector<double>{1, inf, 3}));
    EXPECT_EQ(amounts(attribute::area), (std::vector<double>{inf, 1, 2}));
    EXPECT_EQ(amounts(attribute::volume), (std::vector<double>{3, inf, 6}));
    EXPECT_EQ(cut_of(c, {attribute::area, 2, 0, false}), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 2, 2, 2}));
    EXPECT_EQ(cut_of(c, {attribute::height, 0, 2, false}), (std::vector<std::int64_t>{1, 1, 1, 1, 1, 1, 2, 2, 2}));
    c.options.maxima = true;  // negates the landscape
    for (double& v : c.value) v = 100 - v;
    EXPECT_EQ(amounts(attribute::area), (std::vector<double>{inf, 1, 2}));
}

/// The same values in other types give the same hierarchy, with any number of threads.
TEST(Hierarchy, DependsOnNothing) {
    for (std::uint64_t seed = 0; seed < 3; ++seed) {
        watershed_case c = landscape({300, 400}, seed, dtype::uint8);
        c.marker.clear();
        std::vector<std::vector<std::int64_t>> cuts;
        for (const dtype type : {dtype::uint8, dtype::int64, dtype::float32, dtype::float64}) {
            c.type = type;
            std::vector<std::int64_t> both;
            for (const attribute by : all) {
                const auto some = cut_of(c, {by, 0, 20, false}), more = cut_of(c, {by, 0, 60, false});
                std::map<std::int64_t, std::int64_t> part;  // cuts are nested
                for (std::size_t i = 0; i < some.size(); ++i)
                    ASSERT_EQ(part.emplace(more[i], some[i]).first->second, some[i]);
                EXPECT_EQ(*std::max_element(some.begin(), some.end()), 20);
                both.insert(both.end(), some.begin(), some.end());
            }
            cuts.push_back(both);
        }
        for (const auto& each : cuts) EXPECT_EQ(each, cuts.front());
    }
}

TEST(Hierarchy, WrongArgumentsAreRefused) {
    std::vector<std::uint8_t> image(12, 1);
    std::vector<std::int32_t> out(12, 7);
    const shape_t shape{3, 4}, other{4, 3};
    const basins kept(host{}, any_input<host>::contiguous(image.data(), dtype::uint8, shape));
    const auto to = any_output<host>::contiguous(out.data(), dtype::int32, shape);
    const auto refused = [&](const any_output<host>& where, const cut_options& cut,
                             std::initializer_list<const char*> words) {
        expect_refused([&] { kept.cut(host{}, where, cut); }, words);
    };
    refused(to, {attribute::height, -1, 0, false}, {"least is -1"});
    refused(to, {attribute::area, std::nan(""), 0, false}, {"least"});
    refused(to, {attribute::area, 0, -2, false}, {"regions is -2"});
    refused(to, {attribute::volume, 1, 0, true}, {"roots"});
    refused(any_output<host>::contiguous(out.data(), dtype::int32, other), {}, {"out", "4x3"});
    refused(any_output<host>::contiguous(image.data(), dtype::uint8, shape), {}, {"out", "uint8"});
    EXPECT_EQ(out, std::vector<std::int32_t>(12, 7));
}

}  // namespace
}  // namespace nearfield::test
