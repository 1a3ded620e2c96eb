// Parallel banding on the host equals brute force, ties included, for any number of bands.
#include <gtest/gtest.h>

#include "methods/engines.hpp"

namespace nearfield::test {
namespace {

/// Numbers of bands with unusual boundaries: one band, as many as cells, numbers that do not divide the sides.
constexpr banding bandings[] = {{1, 1, 1}, {2, 2, 2},  {3, 5, 7},   {4, 1, 3},
                                {1, 8, 1}, {5, 3, 32}, {64, 32, 4}, {0, 0, 0}};

/// Checks every image of the shape, or the share that NEARFIELD_TEST_SCALE asks for, each with other bands. With `bits`
/// cells there are 2^bits images.
void check_all_images(const shape_t& shape, const spacing_case& cell) {
    const auto cells = static_cast<std::size_t>(cells_of(shape));
    flags_t sites(cells);
    for (std::uint64_t mask = 0; mask < std::uint64_t{1} << cells; ++mask) {
        if (!chosen(mask)) continue;
        for (std::size_t i = 0; i < cells; ++i) sites[i] = mask >> i & 1;
        const auto k = static_cast<int>(mask % 60);
        const banding how{1 + k % 4, 1 + k % 5, 1 + k % 3};
        const solved s = solve(shape, sites, cell);
        ASSERT_EQ(sites_of(how, shape, sites, s.problem.spacing), s.answer.index)
            << text_of(shape) << " image " << mask;
    }
}

TEST(Banding, EveryImageOfFourByFour) { check_all_images({4, 4}, {{}, "not given"}); }
TEST(Banding, EveryImageOfFourByThreeStretched) {
    check_all_images({4, 3}, {{2, 1}, "ties between a row and two columns"});
    check_all_images({3, 4}, {{1, 2}, "ties between a column and two rows"});
}
TEST(Banding, EveryVolumeOfThreeByTwoByTwo) {
    check_all_images({3, 2, 2}, {{}, "not given"});
    check_all_images({2, 2, 3}, {{}, "not given"});
    check_all_images({2, 3, 2}, {{}, "not given"});
}
TEST(Banding, EveryLineOfTen) { check_all_images({10}, {{}, "not given"}); }

class BandingCases : public testing::TestWithParam<shape_case> {};

TEST_P(BandingCases, EveryFillWithSomeBands) {
    const shape_case& grid = GetParam();
    if (grid.shape.size() > 3) GTEST_SKIP() << "banding works on 1 to 3 axes";
    std::uint64_t k = mix(static_cast<std::uint64_t>(cells_of(grid.shape)));
    for (fill kind : all_fills)
        for (const spacing_case& cell : {spacing_case{{}, "not given"}, spacing_case{{3}, "one for all"}}) {
            if (!chosen(++k)) continue;
            const solved s = solve(grid.shape, make_fill(kind, grid.shape, k), cell);
            for (const int threads : {1, 2, 7}) {
                const banding how = bandings[mix(++k) % std::size(bandings)];
                SCOPED_TRACE(std::string(grid.why) + ": " + name_of(kind) + ", spacing " + cell.why + ", m " +
                             std::to_string(how.m1) + ' ' + std::to_string(how.m2) + ' ' + std::to_string(how.m3));
                ASSERT_EQ(check(method_engine(how, threads), s, outputs::number(1 + k % (output_combinations - 1)),
                                dress::number(k)),
                          "");
            }
        }
}

std::string test_name(const testing::TestParamInfo<shape_case>& info) { return text_of(info.param.shape); }
INSTANTIATE_TEST_SUITE_P(Small, BandingCases, testing::ValuesIn(small_shapes()), test_name);

/// Grids large enough for several threads. Sites are sparse, since brute force takes cells times sites.
TEST(Banding, OddSidesThreadsAndBands) {
    std::uint64_t k = 0;
    for (const shape_t& shape : {shape_t{31, 1025}, shape_t{1023, 33}, shape_t{1025, 32}, shape_t{33, 31, 32}})
        for (const fill kind : {fill::none, fill::circle, fill::sparse3, fill::percent}) {
            const solved s = solve(shape, make_fill(kind, shape, 7), {{}, "not given"});
            for (const int threads : {1, 2, 7}) {
                const banding how = bandings[++k % std::size(bandings)];
                ASSERT_EQ(check(method_engine(how, threads), s, outputs::all(), dress{}), "")
                    << text_of(shape) << ' ' << name_of(kind) << ", m " << how.m1 << ' ' << how.m2 << ' ' << how.m3;
            }
        }
}

TEST(Banding, EveryCombinationOfBands) {
    for (const shape_t& shape : {shape_t{37, 41}, shape_t{9, 11, 13}})
        for (const fill kind : {fill::circle, fill::percent, fill::tenth, fill::fifty}) {
            const flags_t sites = make_fill(kind, shape, 3);
            const std::vector<std::int64_t> expected = solve(shape, sites, {{}, "not given"}).answer.index;
            for (const int m1 : {1, 2, 3, 7, 64})
                for (const int m2 : {1, 2, 3, 4, 6, 9, 16, 31, 32})
                    for (const int m3 : {1, 2, 5, 32})
                        ASSERT_EQ(sites_of(banding{m1, m2, m3}, shape, sites), expected)
                            << name_of(kind) << ' ' << text_of(shape) << ' ' << m1 << ' ' << m2 << ' ' << m3;
        }
}

/// Spacings at the limits of three kinds of numbers: 32 bits, 64 bits, and products of 128 bits.
TEST(Banding, SpacingsUpToTheLargest) {
    for (const spacing_case& cell :
         {spacing_case{{1, 2}, "32 bits"}, spacing_case{{30000, 1}, "64 bits, one axis far heavier"},
          spacing_case{{40000, 40000}, "64 bits"}, spacing_case{{1048576, 4194304}, "128 bits"}}) {
        const shape_t shape{30, 300};
        for (const fill kind : {fill::sparse3, fill::percent, fill::circle}) {
            const solved s = solve(shape, make_fill(kind, shape, 5), cell);
            for (const banding& how : bandings)
                ASSERT_EQ(sites_of(how, shape, s.problem.site, s.problem.spacing), s.answer.index) << cell.why;
        }
    }
}

TEST(Banding, ItsReportCountsPhases) {
    const shape_t image{64, 64}, volume{8, 8, 8};
    const auto stages = [](const shape_t& shape) {
        const flags_t sites = make_fill(fill::tenth, shape);
        std::vector<std::int64_t> index(sites.size());
        fields<host> out;
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
        std::vector<std::string> names;
        for (const method_stage& each :
             nearest_sites(banding{}, host{1}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape), out)
                 .stages)
            if (each.name.starts_with("phase")) names.push_back(each.name);
        return names;
    };
    using names = std::vector<std::string>;
    EXPECT_EQ(stages(image), (names{"phase 1", "phase 2", "phase 3"}));
    EXPECT_EQ(stages(volume), (names{"phase 1", "phase 2, middle axis", "phase 3, middle axis", "phase 2, last axis",
                                     "phase 3, last axis"}));
}

TEST(Banding, WrongBandsAreErrors) {
    const shape_t shape{8, 8};
    const flags_t sites = make_fill(fill::tenth, shape);
    for (const banding how : {banding{-1, 0, 0}, banding{1025, 0, 0}, banding{0, 33, 0}, banding{0, 0, 33}})
        EXPECT_THROW(static_cast<void>(sites_of(how, shape, sites)), error);
    EXPECT_THROW(static_cast<void>(sites_of(banding{}, shape, sites, {0.5, 1})), error);
}

}  // namespace
}  // namespace nearfield::test
