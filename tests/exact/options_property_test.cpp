// Random cases from the cross product of all options, on the host, against the oracle. NEARFIELD_TEST_SEED is the run's
// seed (without it a new one is drawn and printed), NEARFIELD_TEST_CASE runs one case of it, NEARFIELD_TEST_SCALE
// multiplies the number of cases.
#include <gtest/gtest.h>

#include "exact/options_property.hpp"

namespace nearfield::test {
namespace {

TEST(OptionsProperty, RandomCasesOfEveryPairOfOptions) {
    run_random_options(host_options_engine(), {.cases = scaled_cases(5000), .most_cells = 400, .every_pair = true});
}

TEST(OptionsProperty, LargerGrids) {
    run_random_options(host_options_engine(), {.cases = scaled_cases(400), .most_cells = 3000, .salt = 1});
}

TEST(OptionsProperty, GridsOfSeveralTiles) {
    run_random_options(host_options_engine(), {.cases = scaled_cases(20), .most_cells = 12000, .salt = 2});
}

TEST(OptionsProperty, TheTableNoticesAPairThatNeverOccurred) {
    pair_table table;
    dice random(1);
    table.count(draw(random));
    EXPECT_GT(table.missing().size(), 1000U);
    for (const value_pair& pair : table.missing()) {
        const choice c = draw(random, pair);
        EXPECT_EQ(c[pair.a], pair.va);
        EXPECT_EQ(c[pair.b], pair.vb);
        table.count(c);
    }
    EXPECT_EQ(table.missing().size(), 0U);
}

}  // namespace
}  // namespace nearfield::test
