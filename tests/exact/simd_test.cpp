// Every instruction set of this machine and build gives the same, correct results. The other tests only run the best
// one.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include <vector>

#include "exact/call.hpp"
#include "exact/options_property.hpp"

namespace nearfield::test {
namespace {

/// Restricts dispatch to one instruction set while it lives.
class only {
public:
    explicit only(std::int64_t target) {
        hwy::SetSupportedTargetsForTest(target);
        hwy::GetChosenTarget().Update(target);
    }
    ~only() {
        hwy::SetSupportedTargetsForTest(0);
        hwy::GetChosenTarget().DeInit();
    }
    only(const only&) = delete;
    only& operator=(const only&) = delete;
};

std::vector<std::int64_t> targets() {
    std::vector<std::int64_t> found;
    for (std::int64_t left = hwy::SupportedTargets(); left != 0; left &= left - 1) found.push_back(left & -left);
    return found;
}

TEST(Simd, EveryInstructionSetGivesTheSameBits) {
    // The last two exceed 16 bits and are searched by blocks.
    const shape_t shapes[] = {{131},       {1, 67},       {45, 70},  {300, 19},   {9, 33, 37},
                              {40, 3, 21}, {4, 5, 6, 17}, {40, 700}, {3, 300, 40}};
    const fill fills[] = {fill::one, fill::circle, fill::percent, fill::tenth, fill::fifty, fill::none};
    std::uint64_t k = 0;
    for (const shape_t& shape : shapes) {
        for (fill kind : fills) {
            for (std::size_t cell : {std::size_t{0}, std::size_t{2}, spacings().size() - 4}) {
                ++k;
                if (!chosen(k)) continue;
                const solved s = solve(shape, make_fill(kind, shape, k), spacings()[cell]);
                for (const std::int64_t target : targets()) {
                    SCOPED_TRACE(hwy::TargetName(target) + (": " + text_of(shape)) + name_of(kind));
                    const only chosen_target(target);
                    ASSERT_EQ(check(host_engine(1), s, outputs::all(), dress{}), "");
                    if (test_scale() < 1 && k % 2 == 0) continue;
                    ASSERT_EQ(check(host_engine(1), s, outputs::number(1 + k % 3), dress::number(k)), "");
                }
            }
        }
    }
    RecordProperty("targets", static_cast<int>(targets().size()));
    EXPECT_GE(targets().size(), 1U);
}

/// Ratios of squared lengths from 2^49 on, where winning rows do not bound each other.
TEST(Simd, EveryInstructionSetGivesTheSameBitsAtSteepSpacings) {
    std::uint64_t k = 0;
    for (const double length : {3e-8, 1e-10, 1e-20})
        for (const double density : {0.001, 0.05}) {
            const solved s = solve({400, 11}, make_random({400, 11}, density, ++k), {{length, 1}, "steep"});
            for (const std::int64_t target : targets()) {
                SCOPED_TRACE(hwy::TargetName(target));
                const only chosen_target(target);
                ASSERT_EQ(check(host_engine(1), s, outputs::all(), dress{}), "");
                ASSERT_EQ(check(host_engine(1), s, outputs{.distance = outputs::distance_t::float64}, dress{}), "");
            }
        }
}

TEST(Simd, EveryInstructionSetServesEveryOption) {
    for (const std::int64_t target : targets()) {
        SCOPED_TRACE(hwy::TargetName(target));
        const only chosen_target(target);
        run_random_options(host_options_engine(), {.cases = scaled_cases(1000), .most_cells = 1500, .salt = 3});
    }
}

}  // namespace
}  // namespace nearfield::test
