// Sums over regions on a device: a thread walks down a column of a tile and sums a run of one site; a block merges the
// runs by site in shared memory, then adds each site once to the table in global memory.
#pragma once

#include "base/cuda.cuh"
#include "centroidal/core.hpp"

namespace nearfield::centroidal {

constexpr int threads_of_block = 256;
constexpr std::int32_t nobody = 0x7f7f7f7f;  ///< a value that memset can write

/// Arrays of a call on a device.
struct arrays {
    std::uint16_t* density;  ///< one per cell
    std::uint8_t* seed;      ///< one per part
    std::int32_t *nearest, *number, *site, *target;
    sums* sum;
    unsigned long long* energy;  ///< two per round: sums of the terms' low 32 bits, and of the rest
    std::int32_t* settled;       ///< the round after which nothing changes; 0: none yet
};

namespace {

__device__ void add(unsigned long long* to, std::int64_t by) {
    if (by != 0) atomicAdd(to, static_cast<unsigned long long>(by));
}

constexpr int tile_lanes = 32, tile_rows = 16, tile_warps = threads_of_block / tile_lanes, slots = 256;

/// A sum of a tile in two words, which shared memory adds natively, unlike words of 8 bytes. Terms of a thread are
/// below 2^36, and of a tile below 2^44, so that the low 16 bits of all terms and the rest of all terms each fit.
struct split_sum {
    std::uint32_t low;
    std::int32_t high;

    __device__ void add(std::int64_t by) {
        if (by == 0) return;
        atomicAdd(&low, static_cast<std::uint32_t>(by) & 0xffffU);
        atomicAdd(&high, static_cast<std::int32_t>(by >> 16));
    }
    [[nodiscard]] __device__ std::int64_t value() const { return (std::int64_t{high} << 16) + low; }
};

/// Sums by site of a tile, in a hash table; sites that find no slot are added to global memory at once.
struct block_table {
    std::int32_t site[slots];
    std::uint32_t mass[slots];
    split_sum first[3][slots];

    __device__ void clear() {
        site[threadIdx.x] = nobody, mass[threadIdx.x] = 0;
        for (auto& each : first) each[threadIdx.x] = {};
    }
    __device__ void put(const arrays& a, std::int32_t to, std::uint32_t its, const std::int64_t (&moment)[3]) {
        if (its == 0) return;
        for (int probe = 0; probe < 8; ++probe) {
            const unsigned slot = (static_cast<unsigned>(to) * 2654435761u + static_cast<unsigned>(probe)) % slots;
            const std::int32_t before = atomicCAS(&site[slot], nobody, to);
            if (before != nobody && before != to) continue;
            atomicAdd(&mass[slot], its);
            for (int axis = 0; axis < 3; ++axis) first[axis][slot].add(moment[axis]);
            return;
        }
        add_to_region(a, to, its, moment);
    }
    __device__ void flush(const arrays& a) const {
        const auto slot = threadIdx.x;
        if (site[slot] == nobody) return;
        const std::int64_t moment[] = {first[0][slot].value(), first[1][slot].value(), first[2][slot].value()};
        add_to_region(a, site[slot], mass[slot], moment);
    }

private:
    __device__ static void add_to_region(const arrays& a, std::int32_t site, std::int64_t mass,
                                         const std::int64_t (&moment)[3]) {
        auto* const to = reinterpret_cast<unsigned long long*>(a.sum + site);
        add(to, mass);
        for (int axis = 0; axis < 3; ++axis) add(to + 1 + axis, moment[axis]);
    }
};
static_assert(slots == threads_of_block);

/// Returns the cell of a part.
__device__ std::int64_t cell_of(const problem& p, std::int64_t z, std::int64_t y, std::int64_t x) {
    return (cuda::quotient(z, p.factor[0]) * p.cells_along(1) + cuda::quotient(y, p.factor[1])) * p.cells_along(2) +
           cuda::quotient(x, p.factor[2]);
}

/// A row of parts, numbered through all planes: its coordinates, and the cell where it begins. Steps do not divide.
struct row_of_parts {
    std::int64_t z, y, cell, cells;  ///< cells: length of a row
    std::int64_t in_cell;            ///< number of the row in its cells

    __device__ row_of_parts(const problem& p, std::int64_t row)
        : z(cuda::quotient(row, p.size[1])), y(row - z * p.size[1]), cells(p.cells_along(2)) {
        find_cell(p);
    }
    __device__ void next(const problem& p) {
        if (++y == p.size[1]) ++z, y = 0, find_cell(p);
        else if (++in_cell == p.factor[1]) in_cell = 0, cell += cells;
    }

private:
    __device__ void find_cell(const problem& p) {
        cell = cell_of(p, z, y, 0), in_cell = y - cuda::quotient(y, p.factor[1]) * p.factor[1];
    }
};

/// Parts of one site in a thread's column: sums of their density, and of that times the way along axis 1. The ways
/// along the other axes are the same for all of them.
struct run_of_parts {
    std::int32_t part = -1, owner = 0;
    std::uint32_t mass = 0;
    std::int64_t along = 0, at = 0, depth = 0, across = 0, square = 0;  ///< square: of ways along axes 0 and 2

    __device__ void start(const problem& p, const arrays& a, std::int32_t its, std::int64_t z, std::int64_t x) {
        const place site = place_of(p, its);
        part = its, owner = a.number[its], mass = 0, along = 0, at = site.at[1];
        depth = step(p, 0, site.at[0], z), across = step(p, 2, site.at[2], x);
        square = p.weight[0] * (depth * depth) + p.weight[2] * (across * across);
    }
    /// Adds a part; returns its term of the energy.
    __device__ std::int64_t add(const problem& p, std::uint32_t density, std::int64_t y) {
        const std::int64_t by = step(p, 1, at, y);
        mass += density, along += density * by;
        return density * (square + p.weight[1] * (by * by));
    }
    __device__ void put(block_table& table, const arrays& a) const {
        table.put(a, owner, mass, {depth * mass, along, across * mass});
    }
};

/// Sums the regions, by tiles of 32 columns and 128 rows, where rows are numbered through all planes.
__global__ void __launch_bounds__(threads_of_block)
    measure(const __grid_constant__ problem p, const __grid_constant__ arrays a, int round) {
    __shared__ block_table table;
    __shared__ std::int64_t energy[2][tile_warps];
    if (*a.settled != 0) return;
    table.clear();
    __syncthreads();
    const std::int64_t tiles = cuda::blocks_for(p.size[2], tile_lanes), rows = p.size[0] * p.size[1];
    const std::int64_t down = blockIdx.x / tiles, x = (blockIdx.x - down * tiles) * tile_lanes + threadIdx.x % 32;
    const std::int64_t first = (down * tile_warps + threadIdx.x / 32) * tile_rows;
    const std::int64_t column = cuda::quotient(x, p.factor[2]);
    std::int64_t low = 0, high = 0;
    run_of_parts run;
    row_of_parts at(p, first);
    for (std::int64_t row = first; x < p.size[2] && row < first + tile_rows && row < rows; ++row, at.next(p)) {
        if (const std::int32_t its = a.nearest[row * p.size[2] + x]; its != run.part || at.y == 0)
            run.put(table, a), run.start(p, a, its, at.z, x);
        const std::int64_t term = run.add(p, a.density[at.cell + column], at.y);
        low += term & 0xffffffff, high += term >> 32;
    }
    run.put(table, a);
    for (int by = 16; by > 0; by /= 2)
        low += __shfl_down_sync(cuda::every_lane, low, by), high += __shfl_down_sync(cuda::every_lane, high, by);
    if (threadIdx.x % 32 == 0) energy[0][threadIdx.x / 32] = low, energy[1][threadIdx.x / 32] = high;
    __syncthreads();
    table.flush(a);
    if (threadIdx.x > 1) return;
    for (int warp = 1; warp < tile_warps; ++warp) energy[threadIdx.x][0] += energy[threadIdx.x][warp];
    add(a.energy + 2 * round + threadIdx.x, energy[threadIdx.x][0]);
}

__device__ inline uint128 energy_at(const arrays& a, int round) {
    return (static_cast<uint128>(a.energy[2 * round + 1]) << 32) + a.energy[2 * round];
}

/// Marks the call as settled if the round before `round` lowered the energy too little. Runs in one thread.
__global__ void __launch_bounds__(1)
    settle(const __grid_constant__ problem p, const __grid_constant__ arrays a, int round) {
    if (*a.settled == 0 && has_settled(p, energy_at(a, round - 1), energy_at(a, round))) *a.settled = round;
}

/// Computes each site's target, one thread per site. If several sites want one part, the smallest number gets it,
/// unless a site is already there.
__global__ void __launch_bounds__(threads_of_block)
    choose(const __grid_constant__ problem p, const __grid_constant__ arrays a, std::int64_t relax) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites || *a.settled != 0) return;
    const std::int32_t to = target_of(p, place_of(p, a.site[i]), a.sum[i], relax);
    a.target[i] = to, a.sum[i] = {};
    atomicMin(a.number + to, static_cast<std::int32_t>(p.sites + i));
}

__global__ void __launch_bounds__(threads_of_block)
    move(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites || *a.settled != 0) return;
    const std::int32_t to = a.target[i], from = a.site[i];
    if (a.number[to] != p.sites + i) return;
    a.number[to] = static_cast<std::int32_t>(i), a.seed[to] = 1;
    a.number[from] = nobody, a.seed[from] = 0;
    a.site[i] = to;
}

/// Writes where each site is, one thread per site.
__global__ void __launch_bounds__(threads_of_block)
    put(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites) return;
    atomicMin(a.number + a.site[i], static_cast<std::int32_t>(i));
    a.seed[a.site[i]] = 1;
}

}  // namespace
}  // namespace nearfield::centroidal
