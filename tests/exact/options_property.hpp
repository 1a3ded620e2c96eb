// Runs random cases of the options, for every engine.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

#include "exact/cases.hpp"
#include "exact/options_call.hpp"

namespace nearfield::test {

struct random_run {
    int cases = 0;
    std::int64_t most_cells = 0;
    bool every_pair = false;  ///< true to go on until every allowed pair of values has occurred, and to print the table
    std::uint64_t salt = 0;   ///< changes the cases of a seed
    bool partly = false;      ///< true for calls of one image in which some cells are excluded
};

inline int scaled_cases(int cases) { return std::max(1, static_cast<int>(cases * test_scale())); }

/// The seed of this process: NEARFIELD_TEST_SEED, or a new one.
inline std::uint64_t run_seed() {
    static const std::uint64_t seed = [] {
        const char* text = std::getenv("NEARFIELD_TEST_SEED");
        return text != nullptr ? std::strtoull(text, nullptr, 0) : std::uint64_t{std::random_device{}()};
    }();
    return seed;
}

/// The value of NEARFIELD_TEST_CASE, or -1 for all cases.
inline long wanted_case() {
    const char* text = std::getenv("NEARFIELD_TEST_CASE");
    return text != nullptr ? std::atol(text) : -1;
}

inline void run_random_options(const option_engine& run, const random_run& how) {
    const std::uint64_t seed = run_seed();
    std::printf("NEARFIELD_TEST_SEED=%llu\n", static_cast<unsigned long long>(seed));
    pair_table table;
    std::vector<value_pair> missing;
    int failures = 0, done = 0;
    for (;; ++done) {
        if (done >= how.cases) missing = how.every_pair ? table.missing() : std::vector<value_pair>{};
        if (done >= how.cases && missing.empty()) break;
        if (done >= 4 * how.cases + 4000) break;
        // A case depends on the seed and its number; with every_pair also on the cases before it.
        dice random(mix(seed + how.salt) + static_cast<std::uint64_t>(done));
        const choice c = draw(random, missing.empty() ? std::nullopt : std::optional(missing.front()));
        table.count(c);
        if (wanted_case() >= 0 && done != wanted_case()) continue;
        option_call call = make_case(c, random, how.most_cells);
        if (how.partly) {
            if (call.form != form_value::call) continue;
            call.items[0].leave_out(static_cast<layout>(c[dim::image_layout]), random.bits());
            call.items[0].solve();
        }
        const std::string bad = check(run, call);
        if (bad.empty()) continue;
        ADD_FAILURE() << bad << "\n  repeat with NEARFIELD_TEST_SEED=" << seed << " NEARFIELD_TEST_CASE=" << done;
        if (++failures >= 5) {
            ADD_FAILURE() << "stopped after five wrong cases, of " << done + 1;
            return;
        }
    }
    std::printf("%d cases\n", done);
    if (!how.every_pair) return;
    std::fputs(table.text().c_str(), stdout);
    EXPECT_TRUE(table.missing().empty()) << table.missing().size() << " pairs of options never occurred";
}

}  // namespace nearfield::test
