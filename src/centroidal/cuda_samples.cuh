// Ink of an image and samples of it, on a device.
//
// Samples are placed at once, with the result of placing one after the other. A part belongs to the smallest number of
// all samples that have asked for it; a sample that loses its part asks for the next one of its attempts.
#pragma once

#include "base/cuda_scan.cuh"
#include "centroidal/cuda_regions.cuh"
#include "centroidal/samples.hpp"

namespace nearfield::centroidal {
namespace {

/// Reads the ink of all cells, and the density that `table` has for it; adds up the ink, and the cells that have some.
__global__ void __launch_bounds__(threads_of_block)
    read_ink(const __grid_constant__ strided image, std::int64_t cells, const std::uint16_t* table, int full,
             bool invert, std::uint16_t* ink, std::uint16_t* density, cuda::word* totals) {
    __shared__ cuda::word held[threads_of_block / cuda::warp];
    cuda::word sum = 0, some = 0, all = 0;
    const std::int64_t step = std::int64_t{gridDim.x} * threads_of_block;
    for (std::int64_t i = std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x; i < cells; i += step) {
        const int value = image.number_at(i), own = invert ? value : full - value;
        ink[i] = static_cast<std::uint16_t>(own), density[i] = table[own];
        sum += static_cast<cuda::word>(own), some += own > 0 ? 1 : 0;
    }
    cuda::sum_before(sum, held, all);
    if (threadIdx.x == 0) atomicAdd(totals, all);
    cuda::sum_before(some, held, all);
    if (threadIdx.x == 0) atomicAdd(totals + 1, all);
}

struct sampling {
    tile_grid grid;
    const std::uint16_t* density;
    std::int64_t count, keys;  ///< samples; places along the curve
    std::uint64_t seed;
    cuda::word* before;    ///< by place: the tile's mass, and after summing that of all tiles before it
    cuda::word* all;       ///< mass of all tiles
    std::int32_t* tile;    ///< by place
    std::int32_t* number;  ///< by part: the sample that has it, or `nobody`
    std::int32_t* site;    ///< by sample: its part
    std::uint64_t* lost;   ///< set to 1 if a sample has none

    __device__ void place(std::int64_t number_of_tile, std::int64_t* first) const {
        const std::int64_t row = number_of_tile / grid.along(2), plane = row / grid.along(1);
        first[0] = plane * grid.side, first[1] = (row - plane * grid.along(1)) * grid.side;
        first[2] = (number_of_tile - row * grid.along(2)) * grid.side;
    }
    __device__ std::int32_t part_at(const problem& p, std::int64_t i, std::uint64_t k) const {
        const attempt at = attempt::of(i, count, k, seed, *all);
        std::int64_t low = 0, first[3];
        for (std::int64_t high = keys; high - low > 1;) {
            const std::int64_t middle = (low + high) / 2;
            (before[middle] <= at.mass ? low : high) = middle;
        }
        place(tile[low], first);
        return part_in(p, grid.cell_at(first, density, at.mass - before[low]), at.choice);
    }
};

/// Sums the mass of a tile, one warp per tile.
__global__ void __launch_bounds__(threads_of_block) sum_tiles(const __grid_constant__ sampling s) {
    const std::int64_t number = (std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x) / cuda::warp;
    if (number >= s.grid.count()) return;
    std::int64_t first[3], size[3];
    s.place(number, first);
    for (int k = 0; k < 3; ++k) {
        const std::int64_t rest = s.grid.cells[k] - first[k];
        size[k] = rest < s.grid.side ? rest : s.grid.side;
    }
    cuda::word mass = 0;
    for (std::int64_t i = cuda::lane_of_thread(); i < size[0] * size[1] * size[2]; i += cuda::warp) {
        const std::int64_t row = cuda::quotient(i, size[2]), plane = cuda::quotient(row, size[1]);
        mass += s.density[((first[0] + plane) * s.grid.cells[1] + first[1] + row - plane * size[1]) * s.grid.cells[2] +
                          first[2] + i - row * size[2]];
    }
    for (int by = cuda::warp / 2; by > 0; by /= 2) mass += __shfl_xor_sync(cuda::every_lane, mass, by);
    if (cuda::lane_of_thread() != 0) return;
    const std::uint64_t key = s.grid.key_of(first);
    s.before[key] = mass, s.tile[key] = static_cast<std::int32_t>(number);
}

/// Places the samples, one thread per sample, which goes on with the sample that it drives away.
__global__ void __launch_bounds__(threads_of_block)
    draw(const __grid_constant__ problem p, const __grid_constant__ sampling s) {
    std::int64_t i = std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x;
    if (i >= s.count) return;
    for (std::uint64_t k = 0; k < attempt::most; ++k) {
        const std::int32_t part = s.part_at(p, i, k), before = atomicMin(s.number + part, static_cast<std::int32_t>(i));
        if (before == nobody) return;
        if (before < i) continue;
        i = before;
        for (k = 0; s.part_at(p, i, k) != part;) ++k;
    }
    *s.lost = 1;
}

/// Lists the samples' parts, one thread per part.
__global__ void __launch_bounds__(threads_of_block)
    list_samples(const __grid_constant__ problem p, const __grid_constant__ sampling s) {
    const std::int64_t part = std::int64_t{blockIdx.x} * threads_of_block + threadIdx.x;
    if (part < p.parts() && s.number[part] != nobody) s.site[s.number[part]] = static_cast<std::int32_t>(part);
}

}  // namespace
}  // namespace nearfield::centroidal
