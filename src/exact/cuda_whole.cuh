// Images of up to 512x512 and volumes of up to 64x64x64 cells in one kernel, without workspace. Eight neighbouring
// blocks are a cluster, which finishes a few columns: each of them reads an eighth of the image, and tells the others
// in shared memory what they need of it. No cluster waits for another, so that every cluster reads the whole image:
// from the second level's cache, which is quick where images are small.
//
// Rows become words of bits, in which the nearest site of a cell in one of the columns wanted is a few operations away.
// What is left are sums and minima.
#pragma once

#include "base/cluster.cuh"
#include "exact/cuda_bits.cuh"
#include "exact/cuda_choice.hpp"

namespace nearfield::exact {
namespace {

constexpr int own_columns = 4;
constexpr int read_bytes = whole_side * whole_side * whole_side / whole_blocks;  // of a block, at most
static_assert(read_bytes == whole_width * whole_width / whole_blocks);
constexpr int read_words =
    read_bytes / cuda::warp + 4;  // of bits: with those before the first cell that share its sixteen

/// What there is to search: `images` images, each by `clusters` clusters, and what becomes of it.
struct whole_call {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    int depth = 1, height = 1, width = 1;
    std::int64_t images = 1;
    int clusters = 1;
    int rank = 2;            ///< of the problem
    std::int32_t limit = 0;  ///< larger values mean no site
    outputs out;

    [[nodiscard]] NF_HD std::int64_t image_cells() const { return std::int64_t{depth} * height * width; }
};

/// Cells [first, first + cells) as bits, by all threads of a block. Returns how many come before: those that share the
/// sixteen bytes of the first one.
template <int Threads>
__device__ int read_bits(const whole_call& c, const std::uint8_t* first, int cells, std::uint32_t* bits) {
    constexpr int rounds = read_bytes / 16 / Threads + 1;
    const int skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 16),
              count = cells > 0 ? (skipped + cells + 15) / 16 : 0;
    const std::uint8_t *const from = first - skipped, *const end = c.data + c.images * c.image_cells();
    const auto within = [&](int nth) {
        return nth < count && from + 16 * nth >= c.data && from + 16 * nth + 16 <= end;
    };
    const int thread = static_cast<int>(threadIdx.x);
    uint4 read[rounds];
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int nth = thread + i * Threads;
        read[i] = {};
        if (within(nth)) read[i] = __ldg(reinterpret_cast<const uint4*>(from) + nth);
    }
    auto* const halves = reinterpret_cast<std::uint16_t*>(bits);
    const std::uint32_t flip = c.zero_is_site ? 0xffff : 0;
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int nth = thread + i * Threads;
        if (nth >= count) break;
        std::uint32_t mine = 0;
        if (within(nth)) {
            mine = nonzero_bytes(read[i]);
        } else {
            for (int k = 0; k < 16; ++k) {
                const std::uint8_t* const at = from + 16 * nth + k;
                if (at >= c.data && at < end && *at != 0) mine |= 1u << k;
            }
        }
        halves[nth] = static_cast<std::uint16_t>(mine ^ flip);
    }
    return skipped;
}

/// Bits [at, at + 32), of which `cells` count.
__device__ inline std::uint32_t bits_from(const std::uint32_t* bits, int at, int cells) {
    if (cells <= 0) return 0;
    const std::uint32_t word = __funnelshift_r(bits[at / 32], bits[at / 32 + 1], at % 32);
    return cells < cuda::warp ? word & ((1u << cells) - 1) : word;
}

/// Of a row and `own_columns` columns of it: cells to the nearest site up to each column, and from it on.
struct beside_columns {
    int before[own_columns], after[own_columns];

    /// Bit i of `own`: column i is a site. `left` and `right` are the cells from the first column back, and from the
    /// last one on, to the nearest site that is none of them.
    __device__ beside_columns(std::uint32_t own, int left, int right) {
#pragma unroll
        for (int i = 0; i < own_columns; ++i) before[i] = left = (own >> i & 1) != 0 ? 0 : i == 0 ? left : left + 1;
#pragma unroll
        for (int i = own_columns - 1; i >= 0; --i)
            after[i] = right = (own >> i & 1) != 0 ? 0 : i == own_columns - 1 ? right : right + 1;
    }
    __device__ int distance(int i) const { return min(before[i], after[i]); }
    /// Of the nearest site, the left one of two, when the first column is `first`.
    __device__ int site(int first, int i) const { return first + i + (before[i] <= after[i] ? -before[i] : after[i]); }
};

/// All the caller's fields of a cell; index -1 is no site.
__device__ inline void put_site_fields(const whole_call& c, std::int64_t cell, std::int32_t square, std::int32_t index,
                                       std::int32_t z, std::int32_t y, std::int32_t x) {
    const outputs& out = c.out;
    out.put_value(cell, square, c.limit);
    if (out.index) out.index[cell] = index;
    if (out.index32) out.index32[cell] = index;
    if (!out.coordinates) return;
    for (int source = 0; source < out.image_rank; ++source) {
        const int axis = out.problem_axis[source];
        const std::int32_t at = axis < 0 ? 0 : axis == c.rank - 1 ? x : axis == c.rank - 2 ? y : z;
        out.coordinates[source * out.cells + cell] = index < 0 ? -1 : at;
    }
}

}  // namespace
}  // namespace nearfield::exact
