// The first pass where the pass after it can do without its result: lines of up to 1024 cells become words of 32 sites,
// with the nearest site to either side of each word, a quarter of a byte a cell. The pass along the next axis works out
// the first pass's values from them as it loads its tiles (cuda_tile.cuh, cuda_gather.cuh); a state of four bytes a
// cell is neither written nor read.
//
// Words lie where the tiles want them: those of one word column of one image after another, row by row.
#pragma once

#include "exact/cuda_choice.hpp"
#include "exact/cuda_scan.cuh"

namespace nearfield::exact {
namespace {

constexpr int pack_lines_a_block = 32;
constexpr int pack_threads = pack_lines_a_block * cuda::warp;
// Where there is no site to one side it is taken to be here: farther than any, its square still below 2^30.
constexpr std::int32_t no_site_before = -30000, no_site_after = 30000;
constexpr std::int32_t too_far = 20000;  // distances from here on are to no site

/// 32 neighbouring cells of a line.
struct line_word {
    std::uint32_t sites;   ///< bit i: cell i is one
    std::uint32_t beside;  ///< nearest site before the word, as int16, and after it << 16

    __device__ std::int32_t before() const { return static_cast<std::int16_t>(beside & 0xffff); }
    __device__ std::int32_t after() const { return static_cast<std::int32_t>(beside >> 16); }

    /// Cells between cell `bit`, at x, and the line's nearest site.
    __device__ std::int32_t distance(int bit, std::int32_t x) const {
        const std::uint32_t upto = sites << (31 - bit), from = sites >> bit;
        const std::int32_t left = upto ? __clz(static_cast<int>(upto)) : x - before();
        const std::int32_t right = from ? __ffs(static_cast<int>(from)) - 1 : after() - x;
        return min(left, right);
    }
};
static_assert(sizeof(line_word) == 8);

__device__ inline line_word word_without_sites() {
    return {0, (static_cast<std::uint32_t>(no_site_before) & 0xffff) | static_cast<std::uint32_t>(no_site_after) << 16};
}

/// Lines as words: `tiles` tiles, one for each word column of each image, of `rows` words each.
struct packed_lines {
    line_word* words = nullptr;
    std::int64_t rows = 1;
    std::int64_t length = 1;   ///< cells of a line
    std::int64_t columns = 1;  ///< words of a line
    std::int64_t tiles = 1;
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

/// Bit i of lane l: cell 32 * l + i of a line of up to 1024 cells is a site; 16 cells with each of two loads a lane.
/// Lines begin and end at multiples of 16 bytes.
__device__ inline std::uint32_t word_by_sixteen(const site_bytes& image, std::int64_t line) {
    const auto* from = reinterpret_cast<const uint4*>(image.data + line * image.length);
    const int lane = threadIdx.x, sixteens = static_cast<int>(image.length) / 16;
    const bool has_low = lane < sixteens, has_high = lane + cuda::warp < sixteens;
    uint4 low{}, high{};
    if (has_low) low = __ldcs(from + lane);
    if (has_high) high = __ldcs(from + cuda::warp + lane);
    const std::uint32_t flip = image.zero_is_site ? 0xffff : 0;
    std::uint32_t mine = has_low ? nonzero_bytes(low) ^ flip : 0;
    if (has_high) mine |= (nonzero_bytes(high) ^ flip) << 16;
    const std::uint32_t even = __shfl_sync(cuda::every_lane, mine, 2 * lane % cuda::warp);
    const std::uint32_t odd = __shfl_sync(cuda::every_lane, mine, 2 * lane % cuda::warp + 1);
    return __byte_perm(even, odd, lane < cuda::warp / 2 ? 0x5410 : 0x7632);
}

/// A warp a line, a block 32 lines of one image, turned round in shared memory so that rows are neighbours in memory.
/// Also clears `counts`, which the kernels after it count in.
template <bool Sixteens>
__global__ void __launch_bounds__(pack_threads)
    pack_lines(const site_bytes image, const packed_lines to, std::int32_t* counts) {
    __shared__ line_word turned[pack_lines_a_block][cuda::warp + 1];
    if (blockIdx.x == 0 && threadIdx.y == 0 && threadIdx.x < max_rank) counts[threadIdx.x] = 0;
    const std::int64_t groups = (to.rows + pack_lines_a_block - 1) / pack_lines_a_block;
    const std::int64_t outer = quotient(blockIdx.x, groups);
    const std::int64_t first_row = (blockIdx.x - outer * groups) * pack_lines_a_block;
    const int lane = threadIdx.x, nth = threadIdx.y;
    if (first_row + nth < to.rows) {
        const std::int64_t line = outer * to.rows + first_row + nth;
        const std::uint32_t word = Sixteens ? word_by_sixteen(image, line) : image.word(line, 0);
        const std::uint32_t filled = __ballot_sync(cuda::every_lane, word != 0);
        const std::uint32_t lower = filled & ((1u << lane) - 1), upper = filled & ~((2u << lane) - 1);
        const std::int32_t last = last_in(word, lane * cuda::warp);
        const auto first = static_cast<std::int32_t>(first_in(word, lane * cuda::warp));
        std::int32_t before = __shfl_sync(cuda::every_lane, last, 31 - __clz(static_cast<int>(lower)));
        std::int32_t after = __shfl_sync(cuda::every_lane, first, __ffs(static_cast<int>(upper)) - 1);
        if (lower == 0) before = no_site_before;
        if (upper == 0) after = no_site_after;
        turned[nth][lane] = {word, (static_cast<std::uint32_t>(before) & 0xffff) | static_cast<std::uint32_t>(after)
                                                                                       << 16};
    }
    __syncthreads();
    const std::int64_t row = first_row + lane;
    if (nth < to.columns && row < to.rows) to.words[(outer * to.columns + nth) * to.rows + row] = turned[lane][nth];
}

}  // namespace
}  // namespace nearfield::exact
