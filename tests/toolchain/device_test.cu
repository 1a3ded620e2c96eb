// Statements that nvcc 13.0 compiles wrongly, and the replacements that our kernels use. tests/house/device_code.py
// keeps the former out of src/. If a newer toolchain compiles them correctly, the test says so and the house rule can
// be dropped.
#include <cuda_runtime.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <iostream>
#include <vector>

namespace {

enum result { minimum, maximum, half, instead_maximum, instead_clamp, instead_half, results };

/// Runs with one thread. `a` is read at run time, so that nothing is constant.
__global__ void compute(const std::int32_t* a, const std::uint32_t* halves, std::int32_t* out) {
    out[minimum] = min(min(a[0], -a[1]), a[2]);
    out[maximum] = max(max(a[3], -a[4]), a[5]);
    // Wrong only if the half is stored alone.
    *reinterpret_cast<std::uint16_t*>(out + half) = static_cast<std::uint16_t>(__vneg2(halves[0]));
    out[instead_maximum] = -min(a[1], a[4]);
    out[instead_clamp] = max(a[5] + a[1], 0) - a[1];
    out[instead_half] = static_cast<std::uint16_t>(-static_cast<std::int32_t>(halves[0] & 0xffff));
}

std::vector<std::int32_t> computed() {
    const std::vector<std::int32_t> a{100, -1, 50, -100, 1, -50};
    const std::uint32_t halves = 0x00050007;
    std::int32_t *in = nullptr, *out = nullptr;
    std::uint32_t* packed = nullptr;
    std::vector<std::int32_t> host(results);
    EXPECT_EQ(cudaMalloc(&in, a.size() * sizeof(a[0])), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&packed, sizeof halves), cudaSuccess);
    EXPECT_EQ(cudaMalloc(&out, host.size() * sizeof(host[0])), cudaSuccess);
    EXPECT_EQ(cudaMemset(out, 0, host.size() * sizeof(host[0])), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(in, a.data(), a.size() * sizeof(a[0]), cudaMemcpyHostToDevice), cudaSuccess);
    EXPECT_EQ(cudaMemcpy(packed, &halves, sizeof halves, cudaMemcpyHostToDevice), cudaSuccess);
    compute<<<1, 1>>>(in, packed, out);
    EXPECT_EQ(cudaMemcpy(host.data(), out, host.size() * sizeof(host[0]), cudaMemcpyDeviceToHost), cudaSuccess);
    cudaFree(in), cudaFree(packed), cudaFree(out);
    return host;
}

class Toolchain : public testing::Test {
protected:
    void SetUp() override {
        int devices = 0;
        if (cudaGetDeviceCount(&devices) != cudaSuccess || devices == 0) GTEST_SKIP() << "no GPU";
        found_ = computed();
    }
    /// Expects the right result, or the known wrong one, and says which it is.
    void is_known(result which, const char* line, std::int32_t right, std::int32_t wrong) const {
        EXPECT_TRUE(found_[which] == right || found_[which] == wrong) << line << " is " << found_[which];
        std::cout << "nvcc " << __CUDACC_VER_MAJOR__ << '.' << __CUDACC_VER_MINOR__ << '.' << __CUDACC_VER_BUILD__
                  << ": " << line << (found_[which] == right ? " is right" : " is wrong, as known") << '\n';
    }
    std::vector<std::int32_t> found_;
};

TEST_F(Toolchain, MinimaOfNegatedOperandsAreRightOrKnown) {
    is_known(minimum, "min(min(100, -(-1)), 50)", 1, -1);
    is_known(maximum, "max(max(-100, -(1)), -50)", -1, 1);
}

TEST_F(Toolchain, HalvesOfNegatedPairsAreRightOrKnown) { is_known(half, "low half of __vneg2(7)", 65529, 65528); }

TEST_F(Toolchain, WhatKernelsWriteInsteadIsRight) {
    EXPECT_EQ(found_[instead_maximum], 1);
    EXPECT_EQ(found_[instead_clamp], 1);
    EXPECT_EQ(found_[instead_half], 65529);
}

}  // namespace
