// Functions that the kernels of all rooms share, on a device: running sums, launches, limits.
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "base/cuda_scan.cuh"

namespace nearfield::test {
namespace {

constexpr int block_threads = 256;

/// Each thread writes the sum before it and the sum of all.
__global__ void sum_up(const std::uint32_t* counts, std::uint32_t* before, std::uint32_t* all) {
    __shared__ std::uint32_t held[block_threads / cuda::warp];
    before[threadIdx.x] = cuda::sum_before(counts[threadIdx.x], held, all[threadIdx.x]);
}

template <class Count>
std::vector<Count> some_counts(std::int64_t n) {
    std::vector<Count> counts(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < counts.size(); ++i) counts[i] = static_cast<Count>(i * 2654435761u >> 13 & 1023);
    return counts;
}

class BaseDevice : public testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
    }
    template <class T>
    void copy(T* to, const T* from, std::int64_t n, cudaMemcpyKind kind) const {
        cuda::check(cudaMemcpyAsync(to, from, static_cast<std::size_t>(n) * sizeof(T), kind, cuda::stream_of(on_)),
                    "copying");
        cuda::check(cudaStreamSynchronize(cuda::stream_of(on_)), "copying");
    }
    /// Host and device compute the same sums of n counts, also clipped to `most`.
    template <class Count>
    void check_sums(std::int64_t n, Count most) const {
        const std::vector<Count> counts = some_counts<Count>(n);
        cuda::workspace memory(on_);
        const std::int64_t at = memory.reserve<Count>(n + 1);
        memory.allocate();
        auto* const there = memory.get<Count>(at);
        copy(there, counts.data(), n, cudaMemcpyHostToDevice);
        cuda::launch_sums(on_, there, n, there + n, most);
        std::vector<Count> found(counts.size() + 1), expected(counts.size() + 1);
        copy(found.data(), there, n + 1, cudaMemcpyDeviceToHost);
        std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), Count{0});
        expected.back() = std::min(most, std::accumulate(counts.begin(), counts.end(), Count{0}));
        EXPECT_EQ(found, expected) << n << " counts of " << sizeof(Count) << " bytes, at most " << most;
    }

    const device on_{nullptr};
};

TEST_F(BaseDevice, SumsOfABlock) {
    const auto counts = some_counts<std::uint32_t>(block_threads);
    cuda::workspace memory(on_);
    const auto in = memory.reserve<std::uint32_t>(block_threads), out = memory.reserve<std::uint32_t>(block_threads),
               totals = memory.reserve<std::uint32_t>(block_threads);
    memory.allocate();
    copy(memory.get<std::uint32_t>(in), counts.data(), block_threads, cudaMemcpyHostToDevice);
    cuda::launch(on_, sum_up, 1, dim3(block_threads), 0, memory.get<std::uint32_t>(in), memory.get<std::uint32_t>(out),
                 memory.get<std::uint32_t>(totals));
    std::vector<std::uint32_t> before(block_threads), all(block_threads), expected(block_threads);
    copy(before.data(), memory.get<std::uint32_t>(out), block_threads, cudaMemcpyDeviceToHost);
    copy(all.data(), memory.get<std::uint32_t>(totals), block_threads, cudaMemcpyDeviceToHost);
    std::exclusive_scan(counts.begin(), counts.end(), expected.begin(), 0u);
    EXPECT_EQ(before, expected);
    EXPECT_EQ(all, std::vector<std::uint32_t>(block_threads, expected.back() + counts.back()));
}

TEST_F(BaseDevice, SumsOfLists) {
    for (const std::int64_t n : {0, 1, 31, 32, 33, 1023, 1024, 1025, 5000}) {
        check_sums<std::uint32_t>(n, 0xffffffffu);
        check_sums<unsigned long long>(n, 70000);
        check_sums<std::int64_t>(n, std::int64_t{1} << 40);
    }
}

TEST_F(BaseDevice, LaunchesOfTooManyBlocks) {
    const auto refused = [&](std::int64_t blocks) {
        try {
            cuda::launch(on_, sum_up, blocks, dim3(block_threads), 0, nullptr, nullptr, nullptr);
        } catch (const error& e) {
            EXPECT_EQ(e.code(), error_code::unsupported);
            return std::string(e.what()).find(std::to_string(blocks) + " blocks") != std::string::npos;
        }
        return false;
    };
    EXPECT_TRUE(refused(std::int64_t{1} << 31));
    EXPECT_TRUE(refused((std::int64_t{1} << 32) + 1));  // would be one block if cut to 32 bits
    EXPECT_TRUE(refused(-1));
    cuda::launch(on_, sum_up, 0, dim3(block_threads), 0, nullptr, nullptr, nullptr);
}

TEST_F(BaseDevice, LimitsAreAskedOnce) {
    const cuda::device_limits& here = cuda::limits();
    EXPECT_EQ(&here, &cuda::limits());
    EXPECT_GE(here.multiprocessors, 1);
    EXPECT_GE(here.shared_bytes, std::size_t{48} * 1024);
}

}  // namespace
}  // namespace nearfield::test
