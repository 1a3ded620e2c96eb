// Every instruction set that this machine and this build have gives the same, right answers. The other tests see only the
// best one.
#include <gtest/gtest.h>

#include <hwy/targets.h>

#include "exact/call.hpp"

namespace nearfield::test {
namespace {

/// Dispatches to one instruction set while it lives.
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

TEST(Simd, EveryInstructionSetGivesTheSameBits) {
    // The last two leave 16 bits and search by blocks.
    const shape_t shapes[] = {{131},       {1, 67},       {45, 70},  {300, 19},   {9, 33, 37},
                              {40, 3, 21}, {4, 5, 6, 17}, {40, 700}, {3, 300, 40}};
    const fill fills[] = {fill::one, fill::circle, fill::percent, fill::tenth, fill::fifty, fill::none};
    std::int64_t left = hwy::SupportedTargets();
    int targets = 0;
    while (left != 0) {
        const std::int64_t target = left & -left;
        left ^= target;
        ++targets;
        SCOPED_TRACE(hwy::TargetName(target));
        const only chosen_target(target);
        std::uint64_t k = 0;
        for (const shape_t& shape : shapes) {
            for (fill kind : fills) {
                for (std::size_t cell : {std::size_t{0}, std::size_t{2}, spacings().size() - 4}) {
                    const solved s = solve(shape, make_fill(kind, shape, ++k), spacings()[cell]);
                    ASSERT_EQ(check(host_engine(1), s, outputs::all(), dress{}), "") << text_of(shape) << name_of(kind);
                    ASSERT_EQ(check(host_engine(1), s, outputs::number(1 + k % 3), dress::number(k)), "")
                        << text_of(shape) << name_of(kind);
                }
            }
        }
    }
    RecordProperty("targets", targets);
    EXPECT_GE(targets, 1);
}

}  // namespace
}  // namespace nearfield::test
