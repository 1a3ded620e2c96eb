// Packing (cuda_bits.cuh) of lines of 1025 to 4096 cells, whole: sites are carried from stretch to stretch in
// registers, where lines that are packed in stretches need a second kernel.
#pragma once

#include "exact/cuda_bits.cuh"
#include "exact/cuda_close_left.cuh"

namespace nearfield::exact {
namespace {

constexpr int whole_line_warps = 8;  // of a block, a line each
constexpr int whole_line_stretches = 4;

/// Words of a block's lines on their way from rows to columns, and which lines have sites.
template <int Stretches>
struct whole_lines {
    line_word words[Stretches * cuda::warp][whole_line_warps + 1];
    bool sited[whole_line_warps];
};

/// A distance and so many cells more.
__device__ inline std::uint32_t farther(std::uint32_t distance, std::uint32_t cells) {
    return distance == nowhere_beside ? nowhere_beside : distance + cells;
}

/// A warp's line to column `nth` of `to`; whether it has a site. All loads come before the first use.
template <bool Sixteens, int Stretches>
__device__ bool pack_whole_line(const site_bytes& image, std::int64_t line, whole_lines<Stretches>& to, int nth) {
    const int lane = threadIdx.x, length = static_cast<int>(image.length);
    const std::uint8_t* const from = image.data + line * image.length;
    std::uint32_t word[Stretches];
    if constexpr (Sixteens) {
        uint4 sixteen[2 * Stretches]{};
#pragma unroll
        for (int i = 0; i < 2 * Stretches; ++i)
            if (i * scan_cells / 2 + 16 * lane < length)
                sixteen[i] = __ldcs(reinterpret_cast<const uint4*>(from) + i * cuda::warp + lane);
#pragma unroll
        for (int s = 0; s < Stretches; ++s)
            word[s] = word_of_sixteens(sixteen[2 * s], sixteen[2 * s + 1], length - s * scan_cells, image.zero_is_site);
    } else {
#pragma unroll
        for (int s = 0; s < Stretches; ++s) {
            const int cells = min(length - s * scan_cells, scan_cells);
            word[s] = cells > 0 ? word_anywhere(image, from + s * scan_cells, cells) : 0;
        }
    }
    line_word mine[Stretches];
    std::uint32_t filled[Stretches], any = 0, before = nowhere_beside, after = nowhere_beside;
#pragma unroll
    for (int s = 0; s < Stretches; ++s) {
        filled[s] = __ballot_sync(cuda::every_lane, word[s] != 0);
        any |= filled[s];
        mine[s] = word_among(word[s], filled[s]);
        if ((mine[s].beside & 0xffff) == nowhere_beside)
            mine[s].beside = (mine[s].beside & 0xffff0000u) | farther(before, lane * cuda::warp);
        before = filled[s] != 0 ? (ends_of(word[s], filled[s]).last() + 1) : farther(before, scan_cells);
    }
#pragma unroll
    for (int s = Stretches - 1; s >= 0; --s) {
        if (mine[s].beside >> 16 == nowhere_beside)
            mine[s].beside = (mine[s].beside & 0xffff) | farther(after, (cuda::warp - 1 - lane) * cuda::warp) << 16;
        after = filled[s] != 0 ? ends_of(word[s], filled[s]).first() + 1 : farther(after, scan_cells);
        to.words[s * cuda::warp + lane][nth] = mine[s];
    }
    return any != 0;
}

/// A block eight neighbouring lines of an image, of which eight rows of a column of words are neighbours in memory.
/// Also clears `counts`, and does no more where nothing is `left`.
template <bool Sixteens, int Stretches>
__global__ void __launch_bounds__(whole_line_warps* cuda::warp)
    pack_whole_lines(const site_bytes image, const packed_lines to, const tile_counts counts, const left_tiles left) {
    cuda::wait_for_kernel_before();
    __shared__ whole_lines<Stretches> lines;
    constexpr int eights = cuda::warp / whole_line_warps;
    const int lane = threadIdx.x, nth = threadIdx.y, thread = nth * cuda::warp + lane;
    const std::int64_t an_image = to.groups() * eights, outer = quotient(blockIdx.x, an_image),
                       eight = blockIdx.x - outer * an_image, first = eight * whole_line_warps;
    counts.clear(thread, whole_line_warps * cuda::warp);
    if (left.none(thread, whole_line_warps * cuda::warp)) return;
    const bool sited =
        first + nth < to.rows && pack_whole_line<Sixteens>(image, outer * to.rows + first + nth, lines, nth);
    if (lane == 0) lines.sited[nth] = sited;
    __syncthreads();
    for (int i = thread; i < static_cast<int>(to.columns) * whole_line_warps; i += whole_line_warps * cuda::warp) {
        const int column = i / whole_line_warps, row = i % whole_line_warps;
        if (first + row < to.rows)
            to.words[(outer * to.columns + column) * to.rows + first + row] = lines.words[column][row];
    }
    if (nth != 0) return;
    // Of a word of 32 lines the bytes lie in order.
    const std::uint32_t eight_sited =
        __ballot_sync(cuda::every_lane, lane < whole_line_warps && lines.sited[lane % whole_line_warps]);
    if (lane == 0) reinterpret_cast<std::uint8_t*>(to.sited)[blockIdx.x] = static_cast<std::uint8_t>(eight_sited);
}

}  // namespace
}  // namespace nearfield::exact
