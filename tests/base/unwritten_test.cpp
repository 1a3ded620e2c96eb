#include "base/unwritten.hpp"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <array>
#include <cstring>

#include "base/scratch.hpp"

namespace nearfield::test {
namespace {

constexpr std::int64_t half = std::int64_t{64} << 20;

double unwritten_mebibytes() { return static_cast<double>(unwritten_bytes()) / (1 << 20); }

/// A memory mapping, whose pages are absent until they are written.
class mapping {
public:
    mapping() : start_(mmap(nullptr, 2 * half, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)) {}
    ~mapping() { munmap(start_, 2 * half); }
    mapping(const mapping&) = delete;
    mapping& operator=(const mapping&) = delete;
    [[nodiscard]] char* get() const { return static_cast<char*>(start_); }

private:
    void* start_;
};

TEST(Unwritten, OutputsCountUntilTheyAreWritten) {
    const double before = unwritten_mebibytes();
    const mapping memory;
    {
        const any_output<host> view = any_output<host>::contiguous(memory.get(), dtype::uint8, std::array{2 * half});
        const expected_outputs outputs{view};
        if (unwritten_mebibytes() < before + 1) GTEST_SKIP() << "this system does not say which pages are absent";
        EXPECT_NEAR(unwritten_mebibytes() - before, 128, 1);
        std::memset(memory.get(), 1, half);
        EXPECT_NEAR(unwritten_mebibytes() - before, 64, 3);
    }
    EXPECT_NEAR(unwritten_mebibytes(), before, 1);
}

TEST(Unwritten, BackwardStridesCoverTheSameMemory) {
    const double before = unwritten_mebibytes();
    const mapping memory;
    any_output<host> view = any_output<host>::contiguous(memory.get(), dtype::uint8, std::array{2 * half});
    view.data = memory.get() + 2 * half - 1, view.stride[0] = -1;
    const expected_outputs outputs{view};
    if (unwritten_mebibytes() < before + 1) GTEST_SKIP() << "this system does not say which pages are absent";
    EXPECT_NEAR(unwritten_mebibytes() - before, 128, 1);
}

TEST(Unwritten, WorkspaceCountsWhileItLives) {
    const double before = unwritten_mebibytes();
    {
        const host_scratch<char> workspace(2 * half);
        if (unwritten_mebibytes() < before + 1) GTEST_SKIP() << "this system does not say which pages are absent";
        EXPECT_NEAR(unwritten_mebibytes() - before, 128, 3);
    }
    EXPECT_NEAR(unwritten_mebibytes(), before, 1);
}

TEST(Unwritten, SmallBlocksAreNotCounted) {
    const double before = unwritten_mebibytes();
    const host_scratch<char> workspace(least_counted_bytes - 1);
    EXPECT_NEAR(unwritten_mebibytes(), before, 1);
}

}  // namespace
}  // namespace nearfield::test
