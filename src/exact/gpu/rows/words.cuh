// Words of 32 sites from cells of any width.
//
// Pass 1 for calls whose pass 2 recomputes its values on the fly: lines become words of 32 sites, with the distances to
// the nearest site on either side of each word, 1/4 byte a cell. The pass along the next axis computes the values of
// pass 1 from them when it loads its tiles (tile.cuh). A state of four bytes a cell is neither written nor
// read.
//
// Words lie in the order of the tiles: those of one word column of one image after another, row by row. Lines of
// more than 1024 cells are packed in stretches of 1024; a second, small kernel carries sites between them
// (pack.cuh).
#pragma once

#include <algorithm>

#include "base/lines.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {
namespace {

constexpr int scan_cells = 1024;

/// The image as bytes: one per cell, line after line.
struct site_bytes {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    std::int64_t length = 1;  ///< cells of a line
    std::int64_t lines = 1;
    std::int64_t stretches = 1;  ///< stretches of 1024 cells in a line
    int cell_bytes = 1;          ///< 1 except in kernels that pack lines
    bool floating = false;       ///< floating point: the sign of such cells is ignored

    void read(const void* cells, dtype type) {
        data = static_cast<const std::uint8_t*>(cells);
        cell_bytes = static_cast<int>(size_of(type)), floating = type >= dtype::float16;
    }
};

/// Returns a word of up to 1024 cells: bit i of lane l says that cell 32 * l + i is a site. Called by whole warps; in
/// turn, each lane reads one cell of each word.
template <class Bits>
__device__ std::uint32_t word_by_cells(const site_bytes& image, std::int64_t first, int cells) {
    const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
    const Bits* const from = reinterpret_cast<const Bits*>(image.data) + first;
    const int lane = threadIdx.x;
    std::uint32_t mine = 0;
#pragma unroll 8
    for (int w = 0; w < (cells + cuda::warp - 1) / cuda::warp; ++w) {
        const int at = w * cuda::warp + lane;
        const bool site = at < cells && ((__ldcs(from + at) & keep) == 0) == image.zero_is_site;
        const std::uint32_t bits = __ballot_sync(cuda::every_lane, site);
        if (lane == w) mine = bits;
    }
    return mine;
}
/// Does the same with loads of 16 bytes: a lane reads 8 neighbouring cells in each of 4 turns; cells are aligned.
template <class Bits>
__device__ std::uint32_t word_by_eights(const site_bytes& image, std::int64_t first, int cells) {
    constexpr int each = 16 / sizeof(Bits), loads = 8 / each;
    const Bits keep = static_cast<Bits>(image.floating ? static_cast<Bits>(~Bits{0}) >> 1 : ~Bits{0});
    const auto* const from = reinterpret_cast<const uint4*>(reinterpret_cast<const Bits*>(image.data) + first);
    const int lane = threadIdx.x;
    std::uint32_t bytes = 0;
#pragma unroll 2
    for (int turn = 0; turn < 4; ++turn) {
        const int at = turn * 8 * cuda::warp + 8 * lane;
        if (at >= cells) continue;
        uint4 read[loads];
#pragma unroll
        for (int i = 0; i < loads; ++i) read[i] = __ldcs(from + at / each + i);
        Bits cell[8];
        memcpy(cell, read, sizeof(cell));
        std::uint32_t sites = image.zero_is_site ? 0xff : 0;
#pragma unroll
        for (int i = 0; i < 8; ++i) sites ^= ((cell[i] & keep) != 0 ? 1u : 0u) << i;
        bytes |= sites << 8 * turn;
    }
    std::uint32_t mine = 0;
#pragma unroll
    for (int i = 0; i < 4; ++i)
        mine |= (__shfl_sync(cuda::every_lane, bytes, lane % 8 * 4 + i) >> lane / 8 * 8 & 0xff) << 8 * i;
    return mine;
}

template <class Bits>
__device__ std::uint32_t word_of(const site_bytes& image, std::int64_t first, int cells) {
    const bool eights = image.length % 8 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
    return eights ? word_by_eights<Bits>(image, first, cells) : word_by_cells<Bits>(image, first, cells);
}
__device__ inline std::uint32_t word_of_wide(const site_bytes& image, std::int64_t first, int cells) {
    if (image.cell_bytes == 2) return word_of<std::uint16_t>(image, first, cells);
    if (image.cell_bytes == 4) return word_of<std::uint32_t>(image, first, cells);
    return word_of<unsigned long long>(image, first, cells);
}

constexpr int pack_lines_a_block = 32;
constexpr int pack_threads = pack_lines_a_block * cuda::warp;
constexpr std::uint32_t nowhere_beside = 0xffff;  // there is no site on one side of a word or a stretch

/// A word: 32 neighbouring cells of a line of up to 65536. No real distance from an end of a word is `nowhere_beside`.
struct line_word {
    std::uint32_t sites;   ///< bit i: cell i is a site
    std::uint32_t beside;  ///< distances, as uint16: first cell to the nearest site before the word; << 16: last, after

    /// Returns the cells from the word's first one back to the nearest site before the word.
    __device__ std::int32_t before() const { return static_cast<std::int32_t>(beside & 0xffff); }
    /// Returns the cells from the word's last one, within the line or not, on to the nearest site after the word.
    __device__ std::int32_t after() const { return static_cast<std::int32_t>(beside >> 16); }
    /// True if the line has a site.
    __device__ bool any() const { return sites != 0 || beside != (nowhere_beside | nowhere_beside << 16); }

    /// Returns the cells from cell `bit` back to the nearest site, itself included; 65535 or more if there is none.
    __device__ std::int32_t to_left(int bit) const {
        const std::uint32_t upto = sites << (31 - bit);
        return upto ? __clz(static_cast<int>(upto)) : before() + bit;
    }
    __device__ std::int32_t to_right(int bit) const {
        const std::uint32_t from = sites >> bit;
        return from ? __ffs(static_cast<int>(from)) - 1 : after() + (31 - bit);
    }
    /// Returns the cells between cell `bit` and the line's nearest site; valid if there is one.
    __device__ std::int32_t distance(int bit) const { return min(to_left(bit), to_right(bit)); }
    /// Returns the same, negative if that site is to the left; of two equally near ones the left one is taken.
    __device__ std::int32_t to_site(int bit) const {
        const std::int32_t left = to_left(bit), right = to_right(bit);
        // Without a site to the left, `left` may equal the 65535 cells to one at the other end of the line.
        return left <= right && left - bit < static_cast<std::int32_t>(nowhere_beside) ? -left : right;
    }
};
static_assert(sizeof(line_word) == 8);

__device__ inline line_word word_without_sites() { return {0, nowhere_beside | nowhere_beside << 16}; }

/// Lines as words: `tiles` tiles, one for each word column of each image, of `rows` words each.
///
/// A site `k` columns and `t` rows before a cell costs k^2 + t^2. If `half` is 1 it costs k (k + 1) + t (t + 1), for
/// k >= 0 and any t: then the sites of row e lie on the line between rows e - 1 and e (route/cells.cu).
struct packed_lines {
    line_word* words = nullptr;
    std::uint32_t* ends = nullptr;  ///< ends of stretches, if lines have several: see stretch_ends
    std::int64_t rows = 1;
    std::int64_t length = 1;     ///< cells of a line
    std::int64_t columns = 1;    ///< words of a line
    std::int64_t stretches = 1;  ///< stretches of 1024 cells in a line
    std::int64_t images = 1;
    std::int64_t tiles = 1;
    int half = 0;

    /// Returns the number of groups of 32 lines of an image.
    NF_HD std::int64_t groups() const { return (rows + pack_lines_a_block - 1) / pack_lines_a_block; }
};

constexpr std::uint32_t no_ends = nowhere_beside | nowhere_beside << 16;

/// Ends of a stretch of a line, as uint16: cells from its first one to the first site and, << 16, from its last one,
/// within the line or not, back to the last site. Those of one stretch of one image follow each other row by row.
struct stretch_ends {
    std::uint32_t bits;

    __device__ std::uint32_t first() const { return bits & 0xffff; }
    __device__ std::uint32_t last() const { return bits >> 16; }
};

constexpr int patch_sites = 64;   // most sites in 32 x 32 cells of a plane; with more anywhere, sites are not few
constexpr int block_sites = 192;  // the same for the cells of a block, at most 32768

/// The list of sites that packing makes for lines/few.cu, if wanted.
struct packed_sites : gpu::few_sites<std::int32_t> {
    int planes = 0;  ///< planes of a volume; 0: images

    /// True if the list is wanted and has not been given up.
    [[nodiscard]] __device__ bool is_open() const {
        return sites != nullptr && *static_cast<const volatile std::int32_t*>(many) == 0;
    }
};

/// Returns which of four bytes are not zero, as the highest bits: 3 operations make 0x80 of each such byte, a product
/// moves these bits together.
__device__ inline std::uint32_t nonzero_bytes(std::uint32_t four) {
    return ((((four & 0x7f7f7f7fu) + 0x7f7f7f7fu) | four) & 0x80808080u) * 0x00204081u;
}
__device__ inline std::uint32_t nonzero_bytes(uint4 sixteen) {
    std::uint32_t bits = nonzero_bytes(sixteen.w) >> 28;
    bits = __funnelshift_l(nonzero_bytes(sixteen.z), bits, 4);
    bits = __funnelshift_l(nonzero_bytes(sixteen.y), bits, 4);
    return __funnelshift_l(nonzero_bytes(sixteen.x), bits, 4);
}

}  // namespace
}  // namespace nearfield::exact
