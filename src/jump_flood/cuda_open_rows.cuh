// What rounds by offsets leave open (open_stretches), dealt out to the threads of a kernel that settles it.
#pragma once

#include "jump_flood/cuda_offsets.cuh"

namespace nearfield::methods::tiles {

inline constexpr std::int64_t settling_blocks =
    528;  ///< as many as an H200 runs at once, four on each of its multiprocessors

/// settle(place, planes) for each row of the tiles in open stretches; for each plane of one where there are threads enough, because
/// a few threads would be long at it.
template <class Tile, class Settle>
__device__ void settle_open_rows(const plan& p, const open_stretches& left, const Settle& settle) {
    using row = tile<true, Tile::cells, 1, Tile::reach, Tile::lies>;
    const std::int64_t all = gridDim.x * threads, rows = static_cast<std::int64_t>(*left.count) * Tile::rows;
    const std::int32_t length = rows * stretch <= all ? 1 : stretch, parts = stretch / length * Tile::rows;
    for (std::int64_t k = blockIdx.x * threads + threadIdx.x; k < rows * (stretch / length); k += all) {
        const std::uint32_t first = left.first[k / parts], nx = static_cast<std::uint32_t>(p.nx),
                            across = static_cast<std::uint32_t>(p.across), in_rows = first / nx;
        const auto part = static_cast<std::int32_t>(k % parts);
        place<Tile> at;
        at.x = static_cast<std::int32_t>(first - in_rows * nx);
        at.along = static_cast<std::int32_t>(in_rows / across) + part / Tile::rows * p.step;
        at.across = static_cast<std::int32_t>(in_rows % across) + part % Tile::rows * p.step;
        if (!at.inside(p)) continue;
        at.look_along_the_row(p);
        settle(place<row>(at), length);
    }
}

}  // namespace nearfield::methods::tiles
