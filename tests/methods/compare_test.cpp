// Fields of sites against the exact ones: which cells count as wrong.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "methods/engines.hpp"

namespace nearfield::test {
namespace {

TEST(CompareSites, CountsWrongOnesTiesAndMissingOnes) {
    // Sites lie at both ends of five cells, so the middle cell ties.
    const flags_t sites{1, 0, 0, 0, 1};
    const shape_t shape{5};
    const auto compare = [&](std::vector<std::int64_t> index) { return errors_of(index, shape, sites); };
    method_errors e = compare({0, 0, 0, 4, 4});
    EXPECT_EQ(e.cells, 5);
    EXPECT_EQ(e.wrong_sites + e.other_ties + e.missing, 0);
    e = compare({0, 0, 4, 4, 4});
    EXPECT_EQ(e.other_ties, 1);
    EXPECT_EQ(e.wrong_sites, 0);
    e = compare({0, 4, -1, 4, 0});
    EXPECT_EQ(e.wrong_sites, 2);
    EXPECT_EQ(e.missing, 1);
    EXPECT_EQ(e.mean_error, (2.0 + 4.0) / 2);
    EXPECT_EQ(e.largest_error, 4);
    EXPECT_EQ(e.largest_relative_error, 2);
}

TEST(CompareSites, TheErrorFieldIsTheDistanceLessTheRightOne) {
    const flags_t sites{1, 0, 0, 0, 1, 0};
    const std::vector<std::int32_t> index{0, 4, 0, -1, 4, 0};
    std::vector<float> error(6, -1);
    const shape_t shape{2, 3};
    distance_options options{.spacing = {2.0, 1.0}, .sites = sites::nonzero};
    const method_errors e = compare_sites(host{1}, any_input<host>::contiguous(sites.data(), dtype::uint8, shape),
                                          any_input<host>::contiguous(index.data(), dtype::int32, shape),
                                          any_output<host>::contiguous(error.data(), dtype::float32, shape), options);
    EXPECT_EQ(e.wrong_sites, 2);  // cell 1 is 1 away from site 0 and 2 from site 4; cell 5 is 1 away from site 4
    EXPECT_EQ(error, (std::vector<float>{0, 1, 0, INFINITY, 0, static_cast<float>(std::sqrt(8.0) - 1)}));
}

/// (3, 4) and (5, 0) are equally far from (0, 0), however squares are rounded.
TEST(CompareSites, OneSpacingIsCountedInCells) {
    const shape_t shape{6, 6};
    flags_t sites(36, 0);
    sites[3 * 6 + 4] = sites[5 * 6] = 1;
    for (const double length : {0.1, 0.3, 1.0 / 3, 0.65, 0.7}) {
        const distance_options options{.spacing = length, .sites = sites::nonzero};
        const auto image = any_input<host>::contiguous(sites.data(), dtype::uint8, shape);
        std::vector<std::int64_t> index(36);
        fields<host> out;
        out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
        distance_transform(host{1}, image, out, options);
        index[0] = 3 * 6 + 4;
        const method_errors e =
            compare_sites(host{1}, image, any_input<host>::contiguous(index.data(), dtype::int64, shape), {}, options);
        EXPECT_EQ(e.wrong_sites, 0) << length;
        EXPECT_EQ(e.other_ties, 1) << length;
    }
}

/// (4, 0) and (0, 3) are equally far from (0, 0) if rows are 0.3 apart and columns 0.4.
TEST(CompareSites, MultiplesOfOneLengthAreCounted) {
    const shape_t shape{6, 6};
    flags_t sites(36, 0);
    sites[3] = sites[4 * 6] = 1;
    const distance_options options{.spacing = {0.3, 0.4}, .sites = sites::nonzero};
    std::vector<std::int64_t> index(36);
    fields<host> out;
    out.index = any_output<host>::contiguous(index.data(), dtype::int64, shape);
    const auto image = any_input<host>::contiguous(sites.data(), dtype::uint8, shape);
    distance_transform(host{1}, image, out, options);
    EXPECT_EQ(index[0], 4 * 6) << "the tie rule: the smaller last coordinate";
    index[0] = 3;
    const method_errors e =
        compare_sites(host{1}, image, any_input<host>::contiguous(index.data(), dtype::int64, shape), {}, options);
    EXPECT_EQ(e.wrong_sites, 0);
    EXPECT_EQ(e.other_ties, 1);
}

TEST(CompareSites, IndicesThatAreNone) {
    const flags_t sites{1, 0};
    EXPECT_THROW(static_cast<void>(errors_of({0, 2}, {2}, sites)), error);
    EXPECT_THROW(static_cast<void>(errors_of({0, -2}, {2}, sites)), error);
}

TEST(CompareSites, TheFirstWrongIndexIsNamedWhateverTheThreads) {
    const shape_t shape{300, 400};
    const flags_t sites(120000, 1);
    std::vector<std::int64_t> index(sites.size(), -1);
    index[50000] = 120001, index[100000] = 120002;
    for (int turn = 0; turn < 10; ++turn) {
        try {
            static_cast<void>(errors_of(index, shape, sites));
            ADD_FAILURE() << "an index beyond the image was taken";
        } catch (const error& e) {
            EXPECT_NE(std::string(e.what()).find("120001"), std::string::npos) << e.what();
        }
    }
}

/// Collects the reported shares; stops the call at report number `most`.
std::vector<double> reports_of_comparison(std::size_t most) {
    const shape_t shape{512, 512};
    flags_t flags(512 * 512, 0);
    flags[1000] = 1;
    const std::vector<std::int64_t> index(flags.size(), 1000);
    std::vector<double> shares;
    const host on{1, [&](double share) {
                      shares.push_back(share);
                      return shares.size() < most;
                  }};
    try {
        static_cast<void>(compare_sites(on, any_input<host>::contiguous(flags.data(), dtype::uint8, shape),
                                        any_input<host>::contiguous(index.data(), dtype::int64, shape), {},
                                        {.sites = sites::nonzero}));
        EXPECT_GT(most, shares.size()) << "was not stopped";
    } catch (const error& e) {
        EXPECT_EQ(e.code(), error_code::cancelled) << e.what();
        EXPECT_EQ(shares.size(), most) << "went on";
    }
    return shares;
}

TEST(CompareSites, StopIsHeardInEveryPhase) {
    const auto shares = reports_of_comparison(1U << 20);
    EXPECT_GE(std::count(shares.begin(), shares.end(), 0.0), 16) << "while indices are checked";
    EXPECT_GE(std::count(shares.begin(), shares.end(), 1.0), 16) << "while wrong sites are counted";
    EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
    for (std::size_t most = 1; most <= shares.size(); ++most) reports_of_comparison(most);
}

}  // namespace
}  // namespace nearfield::test
