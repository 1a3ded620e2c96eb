// Sites that a warp relaxes 32 rows of 32 lines with, numbered in the order of the tie rule. A cell's word is its
// squared distance above the number of its site, so that one unsigned minimum decides ties.
#pragma once

#include "exact/gpu/sites/search.cuh"

namespace nearfield::exact {
namespace {

constexpr int square_side = 32;
constexpr std::int32_t unbounded = 0x7fffffff;

/// Candidates for 32 rows i of a lane's line: value - i^2 + bias, linear in i for each site, above the site's number.
struct site_candidates {
    static constexpr std::int32_t bias = square_side * square_side;
    int number_bits;
    std::uint32_t best[square_side];

    /// Starts with `count` sites. The bits of a word above their numbers must hold every value, which is slightly above
    /// twice the bound at most.
    __device__ void begin(int count) {
        number_bits = 32 - __clz(count - 1);
#pragma unroll
        for (auto& one : best) one = 0xffffffffu;
    }
    __device__ bool fit(std::int32_t bound) const {
        return static_cast<std::uint32_t>(bound) + 16384 < 1u << min(31 - number_bits, 30);
    }
    __device__ int number_in(std::uint32_t word) const { return static_cast<int>(word & ((1u << number_bits) - 1)); }
    __device__ std::int32_t value(std::uint32_t word, int i) const {
        return static_cast<std::int32_t>(word >> number_bits) - bias + i * i;
    }

    /// Candidates of a site `e` rows before the first one, from the square of its distance along the other axes.
    struct line {
        std::uint32_t start, step;
    };
    __device__ line line_of(int number, std::int32_t apart2, std::int32_t e) const {
        return {static_cast<std::uint32_t>(apart2 + e * e + bias) << number_bits | static_cast<std::uint32_t>(number),
                static_cast<std::uint32_t>(e) << (number_bits + 1)};
    }
    /// Takes two sites at once, so that one minimum of three serves both.
    __device__ void take(const line& a, const line& b) {
#pragma unroll
        for (std::uint32_t i = 0; i < square_side; ++i)
            best[i] = __vimin3_u32(best[i], a.start + i * a.step, b.start + i * b.step);
    }
};

}  // namespace
}  // namespace nearfield::exact
