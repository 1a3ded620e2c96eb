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
    /// Returns the place of cell k of the tile, or nowhere if it lies beyond the image.
    __device__ std::int32_t place(const grid3& where, int k) const {
        const std::int32_t x = first[2] + (k & (1 << bits[2]) - 1), y = first[1] + (k >> bits[2] & (1 << bits[1]) - 1),
                           z = first[0] + (k >> bits[1] + bits[2]);
        if (x >= where.size[2] || y >= where.size[1] || z >= where.size[0]) return nowhere;
        return where.base + z * where.pitch[0] + y * where.pitch[1] + x;
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
};

/// Writes find(place) for each cell of the block's tile to `to`; in place of a pointer to another cell of the tile, the
/// last entry of the way through the tile. Pointers are doubled in shared memory.
template <class Find>
__device__ void shorten(const work& w, std::int32_t* to, const Find& find) {
    constexpr int cells = cells_of_tile / threads_of_block;
    __shared__ std::int32_t code[cells_of_tile];
    __shared__ std::uint16_t next[cells_of_tile];
    const tile area(w.where);
    for (int i = 0; i < cells; ++i) {
        const int k = static_cast<int>(threadIdx.x) + i * threads_of_block;
        const std::int32_t place = area.place(w.where, k), found = place == nowhere ? nowhere : find(place);
        const std::int32_t inner = found < 0 ? nowhere : area.number_of(w.where, found);
        code[k] = found, next[k] = static_cast<std::uint16_t>(inner == nowhere ? k : inner);
    }
    for (bool more = true; more;) {
        __syncthreads();
        std::uint16_t beyond[cells];
        more = false;
        for (int i = 0; i < cells; ++i) {
            const std::uint16_t here = next[threadIdx.x + i * threads_of_block];
            beyond[i] = next[here], more |= beyond[i] != here;
        }
        more = __syncthreads_or(more ? 1 : 0) != 0;
        for (int i = 0; i < cells; ++i) next[threadIdx.x + i * threads_of_block] = beyond[i];
    }
    for (int i = 0; i < cells; ++i) {
        const int k = static_cast<int>(threadIdx.x) + i * threads_of_block;
        if (const std::int32_t place = area.place(w.where, k); place != nowhere) to[place] = code[next[k]];
    }
}

}  // namespace nearfield::watersheds
