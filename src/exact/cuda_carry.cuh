// Lines that were packed in stretches (cuda_bits.cuh): sites are carried from stretch to stretch.
#pragma once

#include "exact/cuda_bits.cuh"

namespace nearfield::exact {
namespace {

constexpr int carry_warps = 8;

/// A thread a stretch of a line, a warp 32 lines: sites of the stretches before and after it come to those of its words
/// that have none between. In a dense image that is one word at either end.
__global__ void __launch_bounds__(carry_warps* cuda::warp) carry_stretches(const packed_lines lines) {
    cuda::wait_for_kernel_before();
    const std::int64_t nth = static_cast<std::int64_t>(blockIdx.x) * carry_warps + threadIdx.y, groups = lines.groups(),
                       above = quotient(nth, groups), outer = quotient(above, lines.stretches);
    if (outer >= lines.images) return;
    const auto stretch = static_cast<int>(above - outer * lines.stretches);
    const std::int64_t group = nth - above * groups, row = group * pack_lines_a_block + threadIdx.x;
    const bool within = row < lines.rows;
    const std::uint32_t* const ends = lines.ends + outer * lines.stretches * lines.rows + (within ? row : 0);
    const stretch_ends own{ends[stretch * lines.rows]};
    std::uint32_t before = nowhere_beside, after = nowhere_beside;
    for (int s = stretch - 1; s >= 0 && before == nowhere_beside; --s) {
        const std::uint32_t last = stretch_ends{ends[s * lines.rows]}.last();
        if (last != nowhere_beside) before = (stretch - s - 1) * scan_cells + last + 1;
    }
    for (int s = stretch + 1; s < lines.stretches && after == nowhere_beside; ++s) {
        const std::uint32_t first = stretch_ends{ends[s * lines.rows]}.first();
        if (first != nowhere_beside) after = (s - stretch - 1) * scan_cells + first + 1;
    }
    if (stretch == 0) {
        const bool any = own.first() != nowhere_beside || after != nowhere_beside;
        const std::uint32_t sited = __ballot_sync(cuda::every_lane, within && any);
        if (threadIdx.x == 0) lines.sited[outer * groups + group] = sited;
    }
    if (!within) return;
    const std::int64_t first_column = static_cast<std::int64_t>(stretch) * cuda::warp;
    const int columns = min(cuda::warp, static_cast<int>(lines.columns - first_column));
    auto* const beside = reinterpret_cast<std::uint16_t*>(
        &lines.words[(outer * lines.columns + first_column) * lines.rows + row].beside);
    const std::int64_t step = lines.rows * static_cast<std::int64_t>(sizeof(line_word) / sizeof(std::uint16_t));
    if (before != nowhere_beside) {
        const int end = own.first() == nowhere_beside ? columns : static_cast<int>(own.first()) / cuda::warp + 1;
        for (int c = 0; c < end; ++c) beside[c * step] = static_cast<std::uint16_t>(before + c * cuda::warp);
    }
    if (after != nowhere_beside) {
        const int from = own.last() == nowhere_beside ? 0 : 31 - static_cast<int>(own.last()) / cuda::warp;
        for (int c = from; c < columns; ++c)
            beside[c * step + 1] = static_cast<std::uint16_t>(after + (31 - c) * cuda::warp);
    }
}

}  // namespace
}  // namespace nearfield::exact
