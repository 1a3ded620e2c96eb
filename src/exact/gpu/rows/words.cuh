// The first pass where the pass after it can do without its result: lines become words of 32 sites, with how far the
// nearest site to either side of each word is, a quarter of a byte a cell. The pass along the next axis works out the
// first pass's values from them as it loads its tiles (tile.cuh, gather.cuh); a state of four bytes a cell is
// neither written nor read.
//
// Words lie where the tiles want them: those of one word column of one image after another, row by row. Lines of more
// than 1024 cells are packed in stretches of as many; a second, small kernel carries sites between them
// (pack.cuh).
#pragma once

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/image.cuh"

namespace nearfield::exact {
namespace {

constexpr int pack_lines_a_block = 32;
constexpr int pack_threads = pack_lines_a_block * cuda::warp;
constexpr int short_line_words = 8;  // of lines that pack_short_lines takes
constexpr int short_line_cells = short_line_words * cuda::warp;
constexpr std::uint32_t nowhere_beside = 0xffff;  // to one side of a word or a stretch there is no site

/// 32 neighbouring cells of a line of up to 65536: no real distance from an end of a word is `nowhere_beside`.
struct line_word {
    std::uint32_t sites;   ///< bit i: cell i is one
    std::uint32_t beside;  ///< distances, as uint16: first cell to the nearest site before the word; << 16: last, after

    /// Cells from the word's first one back to the nearest site before the word.
    __device__ std::int32_t before() const { return static_cast<std::int32_t>(beside & 0xffff); }
    /// Cells from the word's last one, be it within the line or not, on to the nearest site after the word.
    __device__ std::int32_t after() const { return static_cast<std::int32_t>(beside >> 16); }
    /// The line has a site.
    __device__ bool any() const { return sites != 0 || beside != (nowhere_beside | nowhere_beside << 16); }

    /// Cells between cell `bit` and the nearest site up to it, or from it on; 65535 or more where there is none.
    __device__ std::int32_t to_left(int bit) const {
        const std::uint32_t upto = sites << (31 - bit);
        return upto ? __clz(static_cast<int>(upto)) : before() + bit;
    }
    __device__ std::int32_t to_right(int bit) const {
        const std::uint32_t from = sites >> bit;
        return from ? __ffs(static_cast<int>(from)) - 1 : after() + (31 - bit);
    }
    /// Cells between cell `bit` and the line's nearest site; holds when there is any.
    __device__ std::int32_t distance(int bit) const { return min(to_left(bit), to_right(bit)); }
};
static_assert(sizeof(line_word) == 8);

__device__ inline line_word word_without_sites() { return {0, nowhere_beside | nowhere_beside << 16}; }

/// Lines as words: `tiles` tiles, one for each word column of each image, of `rows` words each.
struct packed_lines {
    line_word* words = nullptr;
    std::uint32_t* sited = nullptr;  ///< bit i of word w of an image: line 32 * w + i has a site
    std::uint32_t* ends = nullptr;   ///< of stretches, where lines have several: see stretch_ends
    std::int64_t rows = 1;
    std::int64_t length = 1;     ///< cells of a line
    std::int64_t columns = 1;    ///< words of a line
    std::int64_t stretches = 1;  ///< of 1024 cells, in a line
    std::int64_t images = 1;
    std::int64_t tiles = 1;

    /// Groups of 32 lines of an image.
    NF_HD std::int64_t groups() const { return (rows + pack_lines_a_block - 1) / pack_lines_a_block; }
};

constexpr std::uint32_t no_ends = nowhere_beside | nowhere_beside << 16;

/// Of a stretch of a line, as uint16: cells from its first one to the first site and << 16 from its last one, be it
/// within the line or not, back to the last site. Those of one stretch of one image follow each other row by row.
struct stretch_ends {
    std::uint32_t bits;

    __device__ std::uint32_t first() const { return bits & 0xffff; }
    __device__ std::uint32_t last() const { return bits >> 16; }
};

/// A site of a volume.
struct listed_point {
    std::uint32_t xy;  ///< x, and y << 16
    std::int32_t z;

    __device__ std::int32_t x() const { return static_cast<std::int32_t>(xy & 0xffff); }
    __device__ std::int32_t y() const { return static_cast<std::int32_t>(xy >> 16); }
};

constexpr int list_planes = 32;      // of a volume that share a list
constexpr int patch_sites = 6;       // of 32 x 32 cells of a plane: with more anywhere, sites are not few
constexpr int cells_a_point = 1024;  // a list has room for a point for as many cells
/// The sites of volumes, for search_few_sites; all null where nobody wants them.
struct point_lists {
    std::int32_t* many = nullptr;    ///< not 0: sites are not few, the lists not complete
    std::int32_t* counts = nullptr;  ///< of each list
    listed_point* points = nullptr;
    int capacity = 0;        ///< of a list
    int lists_an_image = 0;  ///< an image being a volume
    int planes = 0;          ///< of an image

    /// Whether all passes are search_few_sites's.
    __device__ bool complete() const { return many != nullptr && *many == 0; }
};

/// The four bytes that are not zero, as the highest bits: 3 operations make 0x80 of each, a product moves them
/// together.
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
