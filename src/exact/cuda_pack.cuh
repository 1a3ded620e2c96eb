// Launches of the packing of lines (cuda_bits.cuh).
#pragma once

#include <algorithm>

#include "exact/cuda_carry.cuh"

namespace nearfield::exact {

inline constexpr std::int64_t multiprocessors = 132;  // of the largest GPUs

/// As many lines a warp as its loads hold, as long as all multiprocessors have blocks.
inline pack_shape shape_for(const packed_lines& lines) {
    pack_shape shape;
    for (int log = 0; log < 5; ++log)
        if (lines.length == cuda::warp << log) shape.columns_log = log;
    while (shape.lines_log < 5 - shape.columns_log && lines.rows % (std::int64_t{2} << shape.lines_log) == 0 &&
           lines.images * lines.groups() > (2 * multiprocessors << (shape.lines_log + 1)))
        ++shape.lines_log;
    if (shape.lines_log == 0) shape.columns_log = 5;
    return shape;
}

/// `few` may be without lists.
inline void pack(const device& on, const site_bytes& image, const packed_lines& lines, const point_lists& few,
                 const tile_counts& counts) {
    const dim3 threads(cuda::warp, pack_lines_a_block);
    const bool wide = image.cell_bytes > 1,
               sixteens = !wide && image.length % 16 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
    const pack_shape shape = sixteens ? shape_for(lines) : pack_shape{};
    if (!wide && lines.length <= short_line_cells && (!sixteens || (lines.length & (lines.length - 1)) != 0)) {
        // With the cells before the first line that share its sixteen, as many bits as there are loads for.
        const std::int64_t most = (pack_threads * cuda::warp - 16) / lines.length / cuda::warp * cuda::warp;
        const auto block_lines =
            static_cast<int>(std::min({most, lines.groups() * cuda::warp, static_cast<std::int64_t>(pack_threads)}));
        cuda::launch_overlapped(on, lines.columns <= 2 ? pack_short_lines<2> : pack_short_lines<short_line_words>,
                                lines.images * blocks_for(lines.rows, block_lines), threads, 0, image, block_lines,
                                lines, few, counts);
        return;
    }
    const auto kernel = wide                     ? pack_lines<cells_by::wide, false>
                        : !sixteens              ? pack_lines<cells_by::bytes, false>
                        : shape.columns_log == 5 ? pack_lines<cells_by::sixteens, false>
                                                 : pack_lines<cells_by::sixteens, true>;
    cuda::launch_overlapped(
        on, kernel, lines.images * lines.stretches * blocks_for(lines.rows, pack_lines_a_block << shape.lines_log),
        threads, 0, image, shape, lines, few, counts);
    if (lines.stretches > 1)
        cuda::launch_overlapped(on, carry_stretches,
                                blocks_for(lines.images * lines.stretches * lines.groups(), carry_warps),
                                dim3(cuda::warp, carry_warps), 0, lines);
}

}  // namespace nearfield::exact
