// Images of up to 512x512 and volumes of up to 64x64x64 cells in one kernel, without workspace. Eight neighbouring
// blocks are a cluster, which finishes a few columns: each block reads an eighth of the image, and shares what the
// others need through shared memory. No cluster waits for another, so every cluster reads the whole image from the
// second-level cache, which is fast for small images.
//
// Rows become words of bits, in which the nearest site of a cell in the wanted columns takes a few operations. The rest
// of the work is sums and minima.
#pragma once

#include "base/cluster.cuh"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/rows/words.cuh"

namespace nearfield::exact {
namespace {

constexpr int own_columns = 4;
constexpr int read_bytes = whole_side * whole_side * whole_side / whole_blocks;  // largest number of bytes per block
static_assert(read_bytes == whole_width * whole_width / whole_blocks);
constexpr int read_words =
    read_bytes / cuda::warp + 4;  // words of bits: with those before the first cell in the same 16 bytes

/// The problem: `images` images, each solved by `clusters` clusters, and its outputs.
struct whole_call {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    int depth = 1, height = 1, width = 1;
    std::int64_t images = 1;
    int clusters = 1;
    int rank = 2;            ///< axes of the problem
    std::int32_t limit = 0;  ///< larger values mean no site
    outputs out;

    [[nodiscard]] NF_HD std::int64_t image_cells() const { return std::int64_t{depth} * height * width; }
};

/// Reads cells [first, first + cells) as bits, with all threads of a block. Returns the number of bits before them:
/// those in the same sixteen bytes as the first one.
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

/// Returns bits [at, at + 32), of which the first `cells` count.
__device__ inline std::uint32_t bits_from(const std::uint32_t* bits, int at, int cells) {
    if (cells <= 0) return 0;
    const std::uint32_t word = __funnelshift_r(bits[at / 32], bits[at / 32 + 1], at % 32);
    return cells < cuda::warp ? word & ((1u << cells) - 1) : word;
}

/// Number of cells to the nearest site up to each of `own_columns` columns of a row, and from each column on.
struct beside_columns {
    int before[own_columns], after[own_columns];

    /// Bit i of `own`: column i is a site. `left` and `right` are the cells from the first column back, and from the
    /// last one on, to the nearest site outside of these columns.
    __device__ beside_columns(std::uint32_t own, int left, int right) {
#pragma unroll
        for (int i = 0; i < own_columns; ++i) before[i] = left = (own >> i & 1) != 0 ? 0 : i == 0 ? left : left + 1;
#pragma unroll
        for (int i = own_columns - 1; i >= 0; --i)
            after[i] = right = (own >> i & 1) != 0 ? 0 : i == own_columns - 1 ? right : right + 1;
    }
    __device__ int distance(int i) const { return min(before[i], after[i]); }
    /// Returns the column of the nearest site, the left one of two; `first` is the first column.
    __device__ int site(int first, int i) const { return first + i + (before[i] <= after[i] ? -before[i] : after[i]); }
};

/// Writes all the caller's fields of a cell; index -1 is no site.
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

template <bool Sites>
struct volume_words {
    static constexpr int threads = Sites ? 512 : 256;
    static constexpr int shift = Sites ? 18 : 0;
    static constexpr int of_row = Sites ? own_columns : own_columns / 2;  ///< words of a row's columns
    static constexpr int lanes = 8 * of_row;                              ///< words of 8 rows
    static constexpr int cells = 4;                                       ///< cells of a thread, along a line
    static constexpr std::uint32_t largest = 3 * (whole_side - 1) * (whole_side - 1);
    // Value of no site: exceeds every square, also in sums.
    static constexpr std::uint32_t none2 = Sites ? 12000 : 20000;
    static constexpr std::uint32_t none = Sites ? none2 << shift : none2 | none2 << 16;
    static_assert(none2 > largest && none2 + (whole_side - 1) * (whole_side - 1) < (Sites ? 1 << 14 : 1 << 16));
    static_assert(threads / lanes * cells == whole_side, "all cells of all lines have a thread");

    static __device__ std::uint32_t sum_min(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        if constexpr (Sites) return __viaddmin_u32(a, b, c);
        else return __viaddmin_u16x2(a, b, c);
    }
    static __device__ std::uint32_t square(int e) {
        const auto e2 = static_cast<std::uint32_t>(e * e);
        return Sites ? e2 << shift : e2 | e2 << 16;
    }
};

}  // namespace
}  // namespace nearfield::exact
