// Calls leave no memory behind, so that a program may make them for a year.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "base/child.hpp"
#include "base/every_call.hpp"

namespace nearfield::test {
namespace {

std::int64_t resident_bytes() {
    std::ifstream from("/proc/self/statm");
    std::int64_t all = 0, resident = 0;
    from >> all >> resident;
    return resident * sysconf(_SC_PAGESIZE);
}

TEST(Growth, EveryCallTakesNoMoreMemoryTheLastTime) {
    if (sanitized) GTEST_SKIP() << "sanitizers keep what was freed";
    const char* const scale = std::getenv("NEARFIELD_TEST_SCALE");
    const double share = scale != nullptr ? std::atof(scale) : 1;
    const int before_counting = std::max(16, static_cast<int>(40 * share)), repeat = static_cast<int>(120 * share);
    constexpr std::int64_t most = std::int64_t{2} << 20;
    constexpr int rounds = 3;  // a leak grows in each of them, the heap of a thread that was seldom used only in some
    for (const named_call& each : every_call(70, 1000)) {
        for (int i = 0; i < before_counting; ++i) each.run(host{2 + i % 3});
        std::int64_t grown = most;
        for (int round = 0; round < rounds && grown >= most; ++round) {
            const std::int64_t before = resident_bytes();
            for (int i = 0; i < repeat; ++i) each.run(host{2 + i % 3});
            grown = resident_bytes() - before;
        }
        EXPECT_LT(grown, most) << each.name;
    }
}

}  // namespace
}  // namespace nearfield::test
