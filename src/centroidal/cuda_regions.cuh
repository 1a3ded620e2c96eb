// Sums over regions on a device: a block copies a tile to shared memory, where each thread walks down a column, run by
// run of one site. The block merges the runs by site, then adds each site once to the table in global memory.
#pragma once

#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "centroidal/core.hpp"

namespace nearfield::centroidal {

constexpr int threads_of_block = 256;
constexpr std::int32_t nobody = 0x7f7f7f7f;  ///< a number of a site that memset can write
constexpr std::int32_t no_part = -1;

/// A map of the sites of an image, for cuda_plane.cuh. `columns` is null if the rounds do not use it.
struct site_map {
    static constexpr int side = 32;
    std::uint32_t* columns;  ///< by square and column: a bit for each row that has a site
    std::int32_t* count;     ///< by square: number of sites
    std::int32_t* reach;     ///< by square: how far away to look for sites at first; 0: not known
    int across, down;        ///< squares

    __device__ std::int64_t square_of(int x, int y) const { return std::int64_t{y / side} * across + x / side; }
    __device__ void put(const place& at) const {
        const std::int64_t square = square_of(at.at[2], at.at[1]);
        atomicOr(columns + square * side + at.at[2] % side, 1U << (at.at[1] % side)), atomicAdd(count + square, 1);
    }
    __device__ void take(const place& at) const {
        const std::int64_t square = square_of(at.at[2], at.at[1]);
        atomicAnd(columns + square * side + at.at[2] % side, ~(1U << (at.at[1] % side))), atomicAdd(count + square, -1);
    }
};

/// Arrays of a call on a device.
struct arrays {
    std::uint16_t* density;  ///< one per cell
    std::uint8_t* seed;      ///< one per part, for find()
    std::int32_t *nearest, *number, *site, *target;
    site_map map;
    sums* sum;
    unsigned long long* energy;  ///< two per round: sums of the terms' low 32 bits, and of the rest
    std::int32_t* settled;       ///< the round after which nothing changes; 0: none yet
};

namespace {

/// A caller's strided array.
struct strided {
    void* data;
    dtype type;
    int rank;
    std::int64_t size[3], stride[3];

    template <class View>
    static strided of(const View& v) {
        strided s{const_cast<void*>(static_cast<const void*>(v.data)), v.type, v.rank, {}, {}};
        for (int axis = 0; axis < v.rank; ++axis)
            s.size[axis] = v.shape[static_cast<std::size_t>(axis)],
            s.stride[axis] = v.stride[static_cast<std::size_t>(axis)];
        return s;
    }
    __device__ std::int64_t at(std::int64_t i) const { return offset_of(i, size, stride, rank); }
    /// Returns element `i` of an image.
    __device__ std::uint16_t number_at(std::int64_t i) const {
        return type == dtype::uint16 ? static_cast<const std::uint16_t*>(data)[at(i)]
                                     : static_cast<const std::uint8_t*>(data)[at(i)];
    }
};

__device__ void add(unsigned long long* to, std::int64_t by) {
    if (by != 0) atomicAdd(to, static_cast<unsigned long long>(by));
}

/// Adds to the sums of a site.
__device__ inline void add_to_region(const arrays& a, std::int32_t site, std::int64_t mass,
                                     const std::int64_t (&moment)[3]) {
    auto* const to = reinterpret_cast<unsigned long long*>(a.sum + site);
    add(to, mass);
    for (int axis = 0; axis < 3; ++axis) add(to + 1 + axis, moment[axis]);
}

constexpr int tile_columns = 128, tile_rows = 32, column_rows = tile_rows * tile_columns / threads_of_block,
              slots = 256;

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

/// Sums by site of a tile, in a hash table. Sites, given by their parts, that find no slot are added to global memory
/// at once.
struct block_table {
    std::int32_t site[slots];
    std::uint32_t mass[slots];
    split_sum first[3][slots];

    __device__ void clear() {
        site[threadIdx.x] = no_part, mass[threadIdx.x] = 0;
        for (auto& each : first) each[threadIdx.x] = {};
    }
    __device__ void put(const arrays& a, std::int32_t to, std::uint32_t its, const std::int64_t (&moment)[3]) {
        if (its == 0) return;
        for (int probe = 0; probe < 8; ++probe) {
            const unsigned slot = (static_cast<unsigned>(to) * 2654435761u + static_cast<unsigned>(probe)) % slots;
            const std::int32_t before = atomicCAS(&site[slot], no_part, to);
            if (before != no_part && before != to) continue;
            atomicAdd(&mass[slot], its);
            for (int axis = 0; axis < 3; ++axis) first[axis][slot].add(moment[axis]);
            return;
        }
        add_to_region(a, a.number[to], its, moment);
    }
    __device__ void flush(const arrays& a) const {
        const auto slot = threadIdx.x;
        if (site[slot] == no_part) return;
        const std::int64_t moment[] = {first[0][slot].value(), first[1][slot].value(), first[2][slot].value()};
        add_to_region(a, a.number[site[slot]], mass[slot], moment);
    }
};
static_assert(slots == threads_of_block);

/// Returns the cell of a part.
__device__ std::int64_t cell_of(const problem& p, std::int64_t z, std::int64_t y, std::int64_t x) {
    return (cuda::quotient(z, p.factor[0]) * p.cells_along(1) + cuda::quotient(y, p.factor[1])) * p.cells_along(2) +
           cuda::quotient(x, p.factor[2]);
}

/// The parts of a tile. A warp takes every fourth column, so that few of its lanes add to one site at a time.
struct tile_parts {
    static constexpr int apart = 4, stride = 40;  ///< a row has no bank conflicts, nor has every fourth part of it
    std::int32_t site[tile_rows][apart * stride];
    std::uint16_t density[tile_rows][apart * stride];

    __device__ static int place_of_column(int column) { return column % apart * stride + column / apart; }

    std::int64_t cell[tile_rows];  ///< where the cells of a row begin; -1 beyond the last row

    /// Reads the tile. All threads of the block call it.
    __device__ void read(const problem& p, const arrays& a, std::int64_t first_row, std::int64_t first_column) {
        const auto own = static_cast<int>(threadIdx.x), column = own % tile_columns, to = place_of_column(column);
        if (own < tile_rows) {
            const std::int64_t row = first_row + own, z = cuda::quotient(row, p.size[1]);
            cell[own] = z < p.size[0] ? cell_of(p, z, row - z * p.size[1], 0) : -1;
        }
        __syncthreads();
        const std::int64_t x = first_column + column, beside = cuda::quotient(x, p.factor[2]);
#pragma unroll 4
        for (int r = own / tile_columns; r < tile_rows; r += threads_of_block / tile_columns) {
            const bool inside = x < p.size[2] && cell[r] >= 0;
            site[r][to] = inside ? a.nearest[(first_row + r) * p.size[2] + x] : no_part;
            density[r][to] = inside ? a.density[cell[r] + beside] : 0;
        }
        __syncthreads();
    }
};

/// Parts of one site, one below the other: sums of density, of that times the number of the part, and times its square.
struct run_of_parts {
    std::uint32_t mass = 0, first = 0, second = 0;
    int parts = 0;

    __device__ run_of_parts(const tile_parts& in, int row, int column, std::int32_t its, int most) {
        do {
            const std::uint32_t density = in.density[row + parts][column],
                                moment = density * static_cast<std::uint32_t>(parts);
            mass += density, first += moment, second += moment * static_cast<std::uint32_t>(parts);
        } while (++parts < most && in.site[row + parts][column] == its);
    }
};

/// Sums a thread's column of parts by site; adds its energy to `low` and `high`.
__device__ inline void sum_column(const problem& p, const arrays& a, const tile_parts& in, block_table& table,
                                  std::int64_t first_row, std::int64_t first_column, std::int64_t& low,
                                  std::int64_t& high) {
    const auto warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const int column = lane * tile_parts::apart + warp % tile_parts::apart, at = tile_parts::place_of_column(column);
    const int begin = warp / tile_parts::apart * column_rows;
    std::int64_t z = cuda::quotient(first_row + begin, p.size[1]), y = first_row + begin - z * p.size[1];
    for (int row = begin; row < begin + column_rows;) {
        const std::int32_t its = in.site[row][at];
        if (its == no_part) return;
        const place site = place_of(p, its);
        const std::int64_t by[] = {step(p, 0, site.at[0], z), step(p, 1, site.at[1], y),
                                   step(p, 2, site.at[2], first_column + column)};
        // Steps along axis 1 grow by 1 a part up to the border, or up to half of an axis that wraps.
        const std::int64_t rest = p.size[1] - y, half = p.size[1] / 2 - by[1] + 1, left = begin + column_rows - row;
        std::int64_t most = rest < left ? rest : left;
        if (p.wraps[1] && half < most) most = half;
        const run_of_parts run(in, row, at, its, static_cast<int>(most));
        const std::int64_t mass = run.mass, square = p.weight[0] * (by[0] * by[0]) + p.weight[2] * (by[2] * by[2]) +
                                                     p.weight[1] * (by[1] * by[1]);
        const std::int64_t energy = mass * square + p.weight[1] * (2 * by[1] * run.first + run.second);
        low += energy & 0xffffffff, high += energy >> 32;
        table.put(a, its, run.mass, {by[0] * mass, by[1] * mass + run.first, by[2] * mass});
        row += run.parts, y += run.parts;
        if (y == p.size[1]) y = 0, ++z;
    }
}

/// Sums the regions, by tiles of 128 columns and 32 rows, where rows are numbered through all planes.
__global__ void __launch_bounds__(threads_of_block)
    measure(const __grid_constant__ problem p, const __grid_constant__ arrays a, int round) {
    constexpr int warps = threads_of_block / cuda::warp;
    __shared__ block_table table;
    __shared__ tile_parts parts;
    __shared__ std::int64_t energy[2][warps];
    if (*a.settled != 0) return;
    const std::int64_t tiles = cuda::blocks_for(p.size[2], tile_columns), down = blockIdx.x / tiles;
    const std::int64_t row = down * tile_rows, column = (blockIdx.x - down * tiles) * tile_columns;
    table.clear();
    parts.read(p, a, row, column);
    std::int64_t low = 0, high = 0;
    sum_column(p, a, parts, table, row, column, low, high);
    for (int by = 16; by > 0; by /= 2)
        low += __shfl_down_sync(cuda::every_lane, low, by), high += __shfl_down_sync(cuda::every_lane, high, by);
    if (threadIdx.x % 32 == 0) energy[0][threadIdx.x / 32] = low, energy[1][threadIdx.x / 32] = high;
    __syncthreads();
    table.flush(a);
    if (threadIdx.x > 1) return;
    for (int warp = 1; warp < warps; ++warp) energy[threadIdx.x][0] += energy[threadIdx.x][warp];
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
    cuda::wait_for_kernel_before();
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites || *a.settled != 0) return;
    const std::int32_t to = target_of(p, place_of(p, a.site[i]), a.sum[i], relax);
    a.target[i] = to, a.sum[i] = {};
    atomicMin(a.number + to, static_cast<std::int32_t>(p.sites + i));
}

__global__ void __launch_bounds__(threads_of_block)
    move(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    cuda::wait_for_kernel_before();
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites || *a.settled != 0) return;
    const std::int32_t to = a.target[i], from = a.site[i];
    if (a.number[to] != p.sites + i) return;
    a.number[to] = static_cast<std::int32_t>(i);
    a.number[from] = nobody;
    a.site[i] = to;
    if (a.map.columns != nullptr) a.map.put(place_of(p, to)), a.map.take(place_of(p, from));
    else a.seed[to] = 1, a.seed[from] = 0;
}

/// Writes where each site is, one thread per site.
__global__ void __launch_bounds__(threads_of_block)
    put(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i >= p.sites) return;
    atomicMin(a.number + a.site[i], static_cast<std::int32_t>(i));
    if (a.map.columns != nullptr) a.map.put(place_of(p, a.site[i]));
    else a.seed[a.site[i]] = 1;
}

/// Sets the seeds of all sites that have a part, one thread per site.
__global__ void __launch_bounds__(threads_of_block)
    put_seeds(const __grid_constant__ problem p, const __grid_constant__ arrays a) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < p.sites && a.number[a.site[i]] == i) a.seed[a.site[i]] = 1;
}

}  // namespace
}  // namespace nearfield::centroidal
