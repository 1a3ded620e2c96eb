// Large blocks that are freed serve later calls, as long as the process has no limit of its own.
#include "os/kept.hpp"

#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>

#include "base/child.hpp"
#include "base/scratch.hpp"

namespace nearfield::test {
namespace {

using namespace os;

constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

TEST(Kept, AFreedBlockServesTheNextOfItsSize) {
    if (sanitized) GTEST_SKIP() << "sanitizers have to see where a block ends";
    constexpr std::int64_t bytes = 20 * mebibyte;
    large_block* const first = allocate_large(bytes);
    ASSERT_NE(first, nullptr);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(first->start) % 64, 0u);
    std::memset(first->start, 1, bytes);
    free_large(first);
    large_block* const larger = allocate_large(bytes + 1);
    EXPECT_NE(larger, first);
    large_block* const smaller = allocate_large(bytes - bytes / 10);
    EXPECT_EQ(smaller, first);
    EXPECT_EQ(smaller->bytes, bytes);
    std::memset(smaller->start, 2, bytes);
    free_large(smaller), free_large(larger);
    const host_scratch<std::uint8_t> scratch(bytes + 1);
    EXPECT_EQ(scratch.get(), larger->start);
    large_block* const half = allocate_large(bytes / 2);
    EXPECT_NE(half, first);
    free_large(half);
}

TEST(Kept, TheOldestGoBeyondAGibibyte) {
    if (sanitized) GTEST_SKIP() << "sanitizers have to see where a block ends";
    free_large(allocate_large(300 * mebibyte));
    EXPECT_GE(kept_bytes(), 300 * mebibyte);
    free_large(allocate_large(900 * mebibyte));
    EXPECT_GE(kept_bytes(), 900 * mebibyte);
    EXPECT_LE(kept_bytes(), 1024 * mebibyte);
    const std::int64_t before = kept_bytes();
    free_large(allocate_large(1025 * mebibyte));
    EXPECT_EQ(kept_bytes(), before);
}

TEST(Kept, NothingIsKeptWithALimitOfAddressSpace) {
    if (sanitized) GTEST_SKIP() << "sanitizers take address space themselves";
    const int status = in_child([] {
        const std::int64_t before = kept_bytes();
        const rlimit limit{std::uint64_t{64} << 30, std::uint64_t{64} << 30};
        if (setrlimit(RLIMIT_AS, &limit) != 0) return false;
        free_large(allocate_large(37 * mebibyte));
        return kept_bytes() == before;
    });
    EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace nearfield::test
