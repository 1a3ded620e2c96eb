// The caller's floating-point environment changes no result, and no call changes the environment.
#include <gtest/gtest.h>

#include <cfenv>

#include "base/every_call.hpp"

#ifdef __SSE__
#include <immintrin.h>
#endif

namespace nearfield::test {
namespace {

void expect_same_bits(const char* environment, const std::function<void()>& set) {
    for (const named_call& each : every_call(70, 1000)) {
        std::fesetenv(FE_DFL_ENV);
        const std::uint64_t expected = each.run(host{1});
        for (const int threads : {1, 3}) {
            set();
            const std::uint64_t came = each.run(host{threads});
            std::fesetenv(FE_DFL_ENV);
            EXPECT_EQ(came, expected) << each.name << ", " << environment << ", " << threads << " threads";
        }
    }
}

TEST(Floats, RoundingUp) {
    expect_same_bits("upward", [] { std::fesetround(FE_UPWARD); });
}
TEST(Floats, RoundingDown) {
    expect_same_bits("downward", [] { std::fesetround(FE_DOWNWARD); });
}
TEST(Floats, RoundingToZero) {
    expect_same_bits("to zero", [] { std::fesetround(FE_TOWARDZERO); });
}

#ifdef __SSE__
constexpr unsigned flush = 0x8000, denormals_are_zero = 0x0040, all_traps = 0x1f80;

TEST(Floats, DenormalsFlushed) {
    expect_same_bits("denormals flushed", [] { _mm_setcsr(_mm_getcsr() | flush | denormals_are_zero); });
}
TEST(Floats, TrapsUnmasked) {
    expect_same_bits("traps unmasked", [] { _mm_setcsr(_mm_getcsr() & ~all_traps & ~0x3fU); });
}

TEST(Floats, TheCallersStays) {
    const unsigned before = _mm_getcsr();
    for (const named_call& each : every_call(40, 50)) {
        std::fesetround(FE_UPWARD);
        _mm_setcsr((_mm_getcsr() | flush | denormals_are_zero) & ~0x3fU);
        const unsigned mine = _mm_getcsr();
        each.run(host{2});
        EXPECT_EQ(_mm_getcsr() & ~0x3fU, mine) << each.name;
        EXPECT_EQ(std::fegetround(), FE_UPWARD) << each.name;
        std::fesetround(FE_TONEAREST);
        _mm_setcsr(before);
    }
}
#endif

}  // namespace
}  // namespace nearfield::test
