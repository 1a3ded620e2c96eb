// Tallies for the filters of components, from the bits and nodes of tiles: the number of cells of each component, and
// whether it reaches the end of an axis.
#pragma once

#include "label/gpu/after.hpp"
#include "label/gpu/tiles/tables.cuh"

namespace nearfield::labelling {

/// Number of cells of a part, summed by lanes.
struct part_cells {
    state cells = 0;
    __device__ void reduce() {
        for (int by = cuda::warp / 2; by > 0; by /= 2) cells += __shfl_xor_sync(cuda::every_lane, cells, by);
    }
};

/// The axes that have ends.
struct open_axes {
    bool of[3];
};
// A block owns a tile, a thread a bundle, then a part. Over 40 lines because its steps share a thread's registers.
template <class Tiling>
__global__ void __launch_bounds__(Tiling::threads)
    tally_parts(narrow_lattice g, tile_store from, component_numbers numbers, open_axes open, component_tallies to) {
    using bundle = typename Tiling::bundle;
    constexpr std::uint32_t room = 2048, none = 0xffffffffU;
    __shared__ std::uint32_t held[room];  ///< cells twice, plus 1 if one is at an end
    cuda::wait_for_kernel_before();
    const tile_place<Tiling> at(g, static_cast<int>(blockIdx.x));
    const tile_bundle<Tiling> b(static_cast<int>(threadIdx.x));
    const std::uint32_t begin = static_cast<std::uint32_t>(at.number) * Tiling::nodes, count = from.counts[at.number];
    const int w = at.word + b.w;
    word ends = 0;  // columns
    if (open.of[2] && w == 0) ends |= 1U;
    if (open.of[2] && w == g.words - 1) ends |= 1U << (g.size[2] - 1) % word_cells;
    const auto is_end = [&](int axis, int c) { return open.of[axis] && (c == 0 || c == g.size[axis] - 1); };
    for (std::uint32_t first = 0; first < count; first += room) {
        const std::uint32_t here = min(count - first, room);
        for (std::uint32_t i = threadIdx.x; i < here; i += Tiling::threads) held[i] = 0;
        __syncthreads();
        each_node(at, from, b, [&](std::uint32_t node, word columns, const word* cells) {
            const std::uint32_t part = from.node_part[begin + node] - first;
            if (part >= room) return;
            std::uint32_t many = 0;
            bool border = false;
#pragma unroll
            for (int r = 0; r < bundle::count; ++r) {
                const word row = cells[r] & columns;
                many += static_cast<std::uint32_t>(__popc(row));
                border |=
                    (row & ends) != 0 || (row != 0 && (is_end(1, at.y + b.line(r)) || is_end(0, at.z + b.plane(r))));
            }
            atomicAdd(held + part, 2 * many);
            if (border) atomicOr(held + part, 1U);
        });
        __syncthreads();
        for (std::uint32_t i = threadIdx.x; i - threadIdx.x < here; i += Tiling::threads) {  // whole warps take part
            std::uint32_t which = none;
            part_cells mine;
            if (i < here) {
                which = numbers.of(static_cast<std::uint32_t>(from.parts[begin + first + i] >> 32)) - 1;
                mine.cells = held[i] / 2;
                if (to.border != nullptr && held[i] % 2 != 0) to.border[which] = 1;
            }
            cuda::put_by_warp(which, none, mine,
                              [&](std::uint32_t of, const part_cells& c) { atomicAdd(to.cells + of, c.cells); });
        }
        __syncthreads();
    }
}

}  // namespace nearfield::labelling
