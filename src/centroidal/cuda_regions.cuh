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

/// Sums over a region, as a device adds them.
struct added {
    std::uint64_t mass = 0;
    std::int64_t first[3] = {};
};

namespace {

__device__ void add(unsigned long long* to, std::int64_t by) {
    if (by != 0) atomicAdd(to, static_cast<unsigned long long>(by));
}

__device__ void add_to_table(const arrays& a, std::int32_t site, const added& of) {
    auto* const to = reinterpret_cast<unsigned long long*>(a.sum + site);
    add(to, static_cast<std::int64_t>(of.mass));
    for (int axis = 0; axis < 3; ++axis) add(to + 1 + axis, of.first[axis]);
}

constexpr int tile_lanes = 32, tile_rows = 16, tile_warps = threads_of_block / tile_lanes, slots = 256;

/// Sums by site of a tile, in a hash table; sites that find no slot are added to global memory at once.
struct block_table {
    std::int32_t site[slots];
    unsigned long long value[slots][4], energy[2];

    __device__ void clear() {
        if (threadIdx.x < 2) energy[threadIdx.x] = 0;
        site[threadIdx.x] = nobody;
        for (int k = 0; k < 4; ++k) value[threadIdx.x][k] = 0;
    }
    __device__ void put(const arrays& a, std::int32_t to, const added& of) {
        if (of.mass == 0) return;
        for (int probe = 0; probe < 8; ++probe) {
            const unsigned slot = (static_cast<unsigned>(to) * 2654435761u + static_cast<unsigned>(probe)) % slots;
            const std::int32_t before = atomicCAS(&site[slot], nobody, to);
            if (before != nobody && before != to) continue;
            add(&value[slot][0], static_cast<std::int64_t>(of.mass));
            for (int axis = 0; axis < 3; ++axis) add(&value[slot][1 + axis], of.first[axis]);
            return;
        }
        add_to_table(a, to, of);
    }
    __device__ void flush(const arrays& a) const {
        if (site[threadIdx.x] == nobody) return;
        auto* const to = reinterpret_cast<unsigned long long*>(a.sum + site[threadIdx.x]);
        for (int k = 0; k < 4; ++k) add(to + k, static_cast<std::int64_t>(value[threadIdx.x][k]));
    }
};
static_assert(slots == threads_of_block);

__device__ std::int64_t cell_of(const problem& p, std::int64_t z, std::int64_t y, std::int64_t x) {
    if (p.factor[0] == 1 && p.factor[1] == 1 && p.factor[2] == 1) return (z * p.size[1] + y) * p.size[2] + x;
    return (cuda::quotient(z, p.factor[0]) * p.cells_along(1) + cuda::quotient(y, p.factor[1])) * p.cells_along(2) +
           cuda::quotient(x, p.factor[2]);
}

/// Sums the regions, by tiles of 32 columns and 128 rows, where rows are numbered through all planes.
__global__ void __launch_bounds__(threads_of_block)
    measure(const __grid_constant__ problem p, const __grid_constant__ arrays a, int round) {
    __shared__ block_table table;
    if (*a.settled != 0) return;
    table.clear();
    __syncthreads();
    const std::int64_t across = cuda::blocks_for(p.size[2], tile_lanes), rows = p.size[0] * p.size[1];
    const std::int64_t down = blockIdx.x / across, x = (blockIdx.x - down * across) * tile_lanes + threadIdx.x % 32;
    const std::int64_t first = (down * tile_warps + threadIdx.x / 32) * tile_rows;
    std::int64_t low = 0, high = 0;
    added kept;
    std::int32_t part = -1, owner = 0;
    place at{};
    for (std::int64_t row = first; x < p.size[2] && row < first + tile_rows && row < rows; ++row) {
        const std::int64_t z = cuda::quotient(row, p.size[1]), y = row - z * p.size[1];
        if (const std::int32_t its = a.nearest[row * p.size[2] + x]; its != part) {
            table.put(a, owner, kept);
            kept = {}, part = its, owner = a.number[part], at = place_of(p, part);
        }
        const auto w = static_cast<std::int64_t>(a.density[cell_of(p, z, y, x)]);
        const std::int64_t d[] = {step(p, 0, at.at[0], z), step(p, 1, at.at[1], y), step(p, 2, at.at[2], x)};
        const std::int64_t term =
            w * (p.weight[0] * (d[0] * d[0]) + p.weight[1] * (d[1] * d[1]) + p.weight[2] * (d[2] * d[2]));
        kept.mass += static_cast<std::uint64_t>(w);
        for (int axis = 0; axis < 3; ++axis) kept.first[axis] += w * d[axis];
        low += term & 0xffffffff, high += term >> 32;
    }
    table.put(a, owner, kept);
    for (int by = 16; by > 0; by /= 2)
        low += __shfl_down_sync(cuda::every_lane, low, by), high += __shfl_down_sync(cuda::every_lane, high, by);
    if (threadIdx.x % 32 == 0) add(&table.energy[0], low), add(&table.energy[1], high);
    __syncthreads();
    table.flush(a);
    if (threadIdx.x < 2) add(a.energy + 2 * round + threadIdx.x, static_cast<std::int64_t>(table.energy[threadIdx.x]));
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
