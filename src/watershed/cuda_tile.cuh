// Tiles of cells, and pointers that are shortened within them.
#pragma once

#include "watershed/cuda_grid.cuh"

namespace nearfield::watersheds {

inline constexpr int cells_of_tile = 1024;

/// The tile of a block: 4 x 8 x 32 cells, 32 x 32 of an image, 1024 of a line.
struct tile {
    int bits[most_axes];  ///< sides are powers of two
    std::int32_t first[most_axes];

    NF_HD static void sides(const grid3& where, int* bits) {
        const int axes = where.size[0] > 1 ? 3 : where.size[1] > 1 ? 2 : 1;
        bits[0] = axes == 3 ? 2 : 0, bits[1] = axes == 3 ? 3 : axes == 2 ? 5 : 0, bits[2] = 10 - bits[0] - bits[1];
    }
    static std::int64_t count(const grid3& where) {
        int bits[most_axes];
        sides(where, bits);
        std::int64_t all = 1;
        for (int axis = 0; axis < most_axes; ++axis)
            all *= cuda::blocks_for(where.size[axis], std::int64_t{1} << bits[axis]);
        return all;
    }
    __device__ explicit tile(const grid3& where) {
        sides(where, bits);
        std::uint32_t rest = blockIdx.x;
        for (int axis = most_axes - 1; axis >= 0; --axis) {
            const std::uint32_t tiles = (static_cast<std::uint32_t>(where.size[axis]) - 1 >> bits[axis]) + 1;
            first[axis] = static_cast<std::int32_t>(rest % tiles << bits[axis]), rest /= tiles;
        }
    }
    /// Returns the number in the tile of the i-th of the calling thread's four cells, which follow each other along the
    /// slowest axis: planes of a volume, rows of an image.
    [[nodiscard]] __device__ int own(int i) const {
        const int thread = static_cast<int>(threadIdx.x);
        return bits[0] > 0 ? thread + i * threads_of_block : ((thread & ~31) << 2) + (i << 5) + (thread & 31);
    }
    /// Returns the place of cell k of the tile, or nowhere if it lies beyond the image.
    __device__ std::int32_t place(const grid3& where, int k) const {
        std::int32_t at[most_axes];
        locate(k, at);
        if (at[2] >= where.size[2] || at[1] >= where.size[1] || at[0] >= where.size[0]) return nowhere;
        return where.base + at[0] * where.pitch[0] + at[1] * where.pitch[1] + at[2];
    }
    /// Returns the number of a place in the tile, or nowhere if it lies outside.
    __device__ std::int32_t number_of(const grid3& where, std::int32_t place) const {
        std::int32_t at[most_axes];
        where.locate(place, at);
        std::int32_t number = 0;
        for (int axis = 0; axis < most_axes; ++axis) {
            const std::int32_t there = at[axis] - first[axis];
            if (there < 0 || there >> bits[axis] != 0) return nowhere;
            number = number << bits[axis] | there;
        }
        return number;
    }
    /// Writes the coordinates of cell k.
    __device__ void locate(int k, std::int32_t* at) const {
        at[0] = first[0] + (k >> bits[1] + bits[2]), at[1] = first[1] + (k >> bits[2] & (1 << bits[1]) - 1);
        at[2] = first[2] + (k & (1 << bits[2]) - 1);
    }
    /// Returns the number of the neighbour of cell k that lies so far along the axes, or nowhere.
    [[nodiscard]] __device__ std::int32_t beside(int k, int z, int y, int x) const {
        const int at[most_axes] = {(k >> bits[1] + bits[2]) + z, (k >> bits[2] & (1 << bits[1]) - 1) + y,
                                   (k & (1 << bits[2]) - 1) + x};
        for (int axis = 0; axis < most_axes; ++axis)
            if (at[axis] < 0 || at[axis] >> bits[axis] != 0) return nowhere;
        return k + x + (y << bits[2]) + (z << bits[1] + bits[2]);
    }
};

inline constexpr int cells_of_thread = cells_of_tile / threads_of_block;

/// What the threads of a tile know of their own cells: a pointer or a code, and the number in the tile of the cell to
/// which a pointer within the tile leads, or the cell's own number.
struct pointers {
    std::int32_t code[cells_of_thread];
    int next[cells_of_thread];
};

/// Replaces pointers to other cells of the tile by the last entry of the way through the tile. Pointers are doubled in
/// shared memory.
__device__ inline void shorten(const tile& area, pointers& of) {
    __shared__ std::int32_t code[cells_of_tile];
    __shared__ std::uint16_t next[cells_of_tile];
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i)
        code[area.own(i)] = of.code[i], next[area.own(i)] = static_cast<std::uint16_t>(of.next[i]);
    for (bool more = true; more;) {
        __syncthreads();
        more = false;
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i) {
            const int beyond = next[of.next[i]];
            more |= beyond != of.next[i], of.next[i] = beyond;
        }
        more = __syncthreads_or(more ? 1 : 0) != 0;
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i) next[area.own(i)] = static_cast<std::uint16_t>(of.next[i]);
    }
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) of.code[i] = code[of.next[i]];
}

}  // namespace nearfield::watersheds
