// Tiles of cells, and pointers that are shortened within them.
#pragma once

#include "watershed/cuda_grid.cuh"

namespace nearfield::watersheds {

inline constexpr int cells_of_thread = cells_of_tile / threads_of_block;

/// A tile, by default that of the block. If the neighbours are known, so are its sides, and shifts by them are
/// constants.
template <nearby Which = nearby::listed>
struct tile {
    std::int32_t first[most_axes];
    int bits[most_axes];

    __device__ explicit tile(const grid3& where, std::uint32_t number = blockIdx.x) {
        constexpr int axes = Which == nearby::sides2 || Which == nearby::corners2 ? 2 : 3;
        for (int axis = 0; axis < most_axes; ++axis)
            bits[axis] = Which == nearby::listed ? where.tile_bits[axis] : sides_of(axes).bits[axis];
        const std::uint32_t plane = where.tiles_of_plane.quotient(number),
                            in_plane = number - plane * where.tiles_of_plane.by,
                            row = where.tiles_of_row.quotient(in_plane);
        first[0] = static_cast<std::int32_t>(plane << bits[0]), first[1] = static_cast<std::int32_t>(row << bits[1]);
        first[2] = static_cast<std::int32_t>(in_plane - row * where.tiles_of_row.by << bits[2]);
    }
    /// Writes the coordinates of cell k.
    __device__ void locate(int k, std::int32_t* at) const {
        at[0] = first[0] + (k >> bits[1] + bits[2]), at[1] = first[1] + (k >> bits[2] & (1 << bits[1]) - 1);
        at[2] = first[2] + (k & (1 << bits[2]) - 1);
    }
    __device__ std::int32_t place(const grid3& where, int k) const {
        std::int32_t at[most_axes];
        locate(k, at);
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
    /// Returns the number of the neighbour of cell k that lies so far along the axes, plus 1 each, or nowhere. A byte
    /// per axis holds the side of the tile plus the coordinate: two of its bits say whether it lies inside.
    [[nodiscard]] __device__ std::int32_t beside(int k, int z, int y, int x) const {
        const auto bytes = [](int a, int b, int c) { return a << 16 | b << 8 | c; };
        const int side[most_axes] = {1 << bits[0], 1 << bits[1], 1 << bits[2]};
        const int first = bytes(side[0] - 1, side[1] - 1, side[2] - 1),
                  at = bytes(k >> bits[1] + bits[2], k >> bits[2] & side[1] - 1, k & side[2] - 1) + first;
        const bool inside =
            (at + bytes(z, y, x) & 3 * bytes(side[0], side[1], side[2])) == bytes(side[0], side[1], side[2]);
        return inside ? k + x - 1 + (y - 1 << bits[2]) + (z - 1 << bits[1] + bits[2]) : nowhere;
    }
};

/// Up to four cells that follow each other along the last axis: a thread's share in kernels that look at no neighbours.
struct quad {
    std::int32_t at[most_axes], place, count = 0;

    __device__ explicit quad(const grid3& where) {
        const std::int64_t number = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
        const std::uint32_t row = where.quads_of_row.quotient(static_cast<std::uint32_t>(number));
        at[2] = cells_of_thread *
                static_cast<std::int32_t>(static_cast<std::uint32_t>(number) - row * where.quads_of_row.by);
        at[0] = static_cast<std::int32_t>(where.rows_of_plane.quotient(row));
        at[1] = static_cast<std::int32_t>(row - static_cast<std::uint32_t>(at[0]) * where.rows_of_plane.by);
        place = where.base + at[0] * where.pitch[0] + at[1] * where.pitch[1] + at[2];
        if (number < where.quads) count = min(where.size[2] - at[2], cells_of_thread);
    }
    /// Calls use(i) for each cell; the loop is unrolled.
    template <class Use>
    __device__ void each(const Use& use) const {
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i)
            if (i < count) use(i);
    }
    /// The place of cell i in a caller's array.
    template <class Void>
    __device__ std::int64_t offset(const array3<Void>& of, int i = 0) const {
        return of.offset(at) + i * of.stride[2];
    }
    /// Reads the cells' elements, all four at once if they follow each other at an address that allows it.
    template <class T>
    __device__ void read(const T* from, T (&to)[cells_of_thread], std::int64_t apart = 1) const {
        if (together(from, apart)) {
            const four<T> all = *reinterpret_cast<const four<T>*>(from);
#pragma unroll
            for (int i = 0; i < cells_of_thread; ++i) to[i] = all.of[i];
        } else {
            each([&](int i) { to[i] = from[i * apart]; });
        }
    }
    template <class T>
    __device__ void read(const array3<const void>& from, T (&to)[cells_of_thread]) const {
        read(static_cast<const T*>(from.data) + offset(from), to, from.stride[2]);
    }
    template <class T>
    __device__ void put(T* to, const T (&from)[cells_of_thread], std::int64_t apart) const {
        if (together(to, apart)) {
            four<T> all;
#pragma unroll
            for (int i = 0; i < cells_of_thread; ++i) all.of[i] = from[i];
            *reinterpret_cast<four<T>*>(to) = all;
        } else {
            each([&](int i) { to[i * apart] = from[i]; });
        }
    }
    /// Writes the elements of the cells' places.
    template <class T>
    __device__ void write(T* to, const T (&from)[cells_of_thread]) const {
        put(to + place, from, 1);
    }
    template <class T>
    __device__ void write(const array3<void>& to, const T (&from)[cells_of_thread]) const {
        put(static_cast<T*>(to.data) + offset(to), from, to.stride[2]);
    }

private:
    template <class T>
    struct alignas(cells_of_thread * sizeof(T)) four {
        T of[cells_of_thread];
    };
    template <class T>
    __device__ bool together(const T* at, std::int64_t apart) const {
        return count == cells_of_thread && apart == 1 && reinterpret_cast<std::uintptr_t>(at) % sizeof(four<T>) == 0;
    }
};

/// The calling thread's cells of a tile, at most four of the image: they follow each other along the slowest axis, in
/// planes of a volume and rows of an image; those of a line are 32 apart. Threads of a warp have consecutive cells.
struct own_cells {
    std::int32_t at[most_axes];  ///< coordinates of the first
    int axis, apart;
    int count;
    std::int32_t place, place_by;
    int number, number_by;

    template <nearby Which>
    __device__ own_cells(const tile<Which>& area, const grid3& where) {
        const int thread = static_cast<int>(threadIdx.x);
        axis = area.bits[0] > 0 ? 0 : area.bits[1] > 0 ? 1 : 2, apart = axis == 2 ? 32 : 1;
        number = axis == 0 ? thread : ((thread & ~31) << 2) + (thread & 31);
        number_by = axis == 0 ? threads_of_block : 32;
        area.locate(number, at);
        const bool inside = at[2] < where.size[2] && at[1] < where.size[1] && at[0] < where.size[0];
        const int left = where.size[axis] - at[axis];
        count = inside ? min(axis == 2 ? (left + 31) / 32 : left, cells_of_thread) : 0;
        place = where.base + at[0] * where.pitch[0] + at[1] * where.pitch[1] + at[2];
        place_by = axis == 2 ? apart : where.pitch[axis];
    }
    /// The place of the first cell in a caller's array, if there is one.
    template <class Void>
    __device__ std::int64_t offset(const array3<Void>& of) const {
        return of.data == nullptr ? 0 : of.offset(at);
    }
    /// Elements from one cell to the next in a caller's array.
    template <class Void>
    __device__ std::int64_t stride(const array3<Void>& of) const {
        return of.stride[axis] * apart;
    }
    /// Calls use(i, place) for each cell; the loop is unrolled.
    template <class Use>
    __device__ void each(const Use& use) const {
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i)
            if (i < count) use(i, place + i * place_by);
    }
};

/// Calls use(number, place) for the tile's cells of which wanted(i, place) is true, dividing them evenly among threads.
template <class Tile, class Wanted, class Use>
__device__ void each_of_tile(const work& w, const Tile& area, const own_cells& own, const Wanted& wanted,
                             const Use& use) {
    __shared__ std::uint16_t list[cells_of_tile];
    __shared__ int count;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
    own.each([&](int i, std::int32_t place) {
        if (wanted(i, place)) list[atomicAdd(&count, 1)] = static_cast<std::uint16_t>(own.number + i * own.number_by);
    });
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads_of_block)
        use(list[i], area.place(w.where, list[i]));
}

/// A thread's knowledge about its cells: a pointer or a code, and the number in the tile of the cell to which a pointer
/// within the tile leads, or the cell's own number.
struct pointers {
    std::int32_t code[cells_of_thread];
    int next[cells_of_thread];

    __device__ explicit pointers(const own_cells& own) {
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i) code[i] = nowhere, next[i] = own.number + i * own.number_by;
    }
};

/// Rounds of shorten() end if so few threads have a longer way.
inline constexpr int few_threads = 32;

/// Replaces pointers to other cells of the tile by the last entry of the way through the tile, or by one far along a
/// long way that few threads have. Pointers are doubled in shared memory.
__device__ inline void shorten(const own_cells& own, pointers& of) {
    __shared__ std::int32_t code[cells_of_tile];
    __shared__ std::uint16_t next[cells_of_tile];
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        const int k = own.number + i * own.number_by;
        code[k] = of.code[i], next[k] = static_cast<std::uint16_t>(of.next[i]);
    }
    for (int going = threads_of_block; going > few_threads;) {
        __syncthreads();
        bool more = false;
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i) {
            const int beyond = next[of.next[i]];
            more |= beyond != of.next[i], of.next[i] = beyond;
        }
        going = __syncthreads_count(more ? 1 : 0);
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i)
            next[own.number + i * own.number_by] = static_cast<std::uint16_t>(of.next[i]);
    }
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) of.code[i] = code[of.next[i]];
}

/// Follows the pointers of a thread's cells to the codes at their ends, several at a time. Chains that are long are
/// shortened for other threads.
__device__ inline void follow_all(std::int32_t* to, const own_cells& own, std::int32_t (&code)[cells_of_thread]) {
    constexpr int hops = 6;
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) code[i] = i < own.count ? to[own.place + i * own.place_by] : nowhere;
    bool more = true;
    for (int hop = 0; hop < hops && more; ++hop) {
        more = false;
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i)
            if (code[i] >= 0) code[i] = to[code[i]], more = true;
    }
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i)
        if (code[i] >= 0) code[i] = follow(to, own.place + i * own.place_by);
}

}  // namespace nearfield::watersheds
