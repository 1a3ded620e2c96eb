// The cells of a call on a device: bits in padded rows, and neighbours of cells.
#pragma once

#include <type_traits>

#include "base/cuda.cuh"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {

/// Coordinates of a cell.
template <class Index>
struct place {
    Index image, at[3];
};

/// Stores cells as bits of 32-bit words. At least one empty bit follows each row, an empty row each plane, and an empty
/// plane each image of several planes. So neighbours lie at constant bit offsets, and those beyond an end are empty.
/// `Index` is unsigned; differences wrap around.
template <class Index>
struct cell_grid {
    Index images, size[3];
    bool wraps[3];
    int turns[3];
    Index words;         // words per row
    Index rows, planes;  // rows per plane and planes per image, with the empty ones
    Index first;         // bit of the first cell

    explicit cell_grid(const shape_of_call& shape) : images(static_cast<Index>(shape.images)) {
        for (int axis = 0; axis < 3; ++axis) {
            size[axis] = static_cast<Index>(shape.size[axis]);
            wraps[axis] = shape.wraps[axis], turns[axis] = shape.turns(axis);
        }
        words = size[2] / 32 + 1, rows = size[1] + 1, planes = is_flat() ? 1 : size[0] + 1;
        first = step(is_flat() ? 0 : 1, 1, 1) - 1 + 32;
    }
    /// Returns the number of bits in floating point, for the test whether 32-bit indices suffice.
    static double bits_of(const shape_of_call& shape) {
        const double z = static_cast<double>(shape.size[0]), y = static_cast<double>(shape.size[1]);
        const double row = static_cast<double>(shape.size[2] / 32 + 1) * 32;
        return row * (y + 1) * (static_cast<double>(shape.images) * (z == 1 ? 1 : z + 1) + 1) + 2 * row + 64;
    }

    NF_HD bool is_flat() const { return size[0] == 1; }
    NF_HD bool wraps_somewhere() const { return wraps[0] || wraps[1] || wraps[2]; }
    NF_HD Index row_bits() const { return words * 32; }
    NF_HD Index plane_bits() const { return rows * words * 32; }
    NF_HD Index all_words() const { return first / 32 + images * planes * rows * words + words + 2; }
    NF_HD Index step(int dz, int dy, int dx) const {
        return static_cast<Index>(dz) * plane_bits() + static_cast<Index>(dy) * row_bits() + static_cast<Index>(dx);
    }
    /// Returns the bit offset of neighbour n, numbered like the bits of a neighbourhood.
    NF_HD Index step(int n) const { return step(n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1); }

    __device__ Index bit_of(const place<Index>& p) const {
        return first + ((p.image * planes + p.at[0]) * rows + p.at[1]) * row_bits() + p.at[2];
    }
    __device__ place<Index> place_of(Index bit) const {
        const Index row = (bit - first) / row_bits(), plane = row / rows, image = plane / planes;
        return {image, {plane - image * planes, row - plane * rows, bit - first - row * row_bits()}};
    }
    /// Returns a cell's index in C order, without the padding.
    __device__ std::int64_t number_of(const place<Index>& p) const {
        return ((static_cast<std::int64_t>(p.image) * size[0] + p.at[0]) * size[1] + p.at[1]) * size[2] + p.at[2];
    }
    /// Finds neighbour n of a cell; returns false if it lies beyond an open end.
    __device__ bool neighbour(const place<Index>& p, int n, place<Index>& other) const {
        const int to[] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        other.image = p.image;
        bool inside = true;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis) {
            Index at = p.at[axis] + static_cast<Index>(to[axis]);
            if (wraps[axis] && p.at[axis] == 0 && to[axis] < 0) at = size[axis] - 1;
            if (wraps[axis] && at == size[axis]) at = 0;
            inside = inside && at < size[axis];
            other.at[axis] = at;
        }
        return inside;
    }
    /// Returns the set of neighbours that lie within the ends of all axes.
    __device__ word existing(const place<Index>& p) const {
        constexpr word z_first = 0x1ff;
        word some = round_middle;
        if (p.at[0] == 0) some &= ~z_first;
        if (p.at[0] + 1 == size[0]) some &= ~(z_first << 18);
        if (p.at[1] == 0) some &= ~y_first;
        if (p.at[1] + 1 == size[1]) some &= ~y_last;
        if (p.at[2] == 0) some &= ~x_first;
        if (p.at[2] + 1 == size[2]) some &= ~x_last;
        return some;
    }
    __device__ int turn_along(int axis, Index at) const {
        return turns[axis] == 3 && at == size[axis] - 1 ? 2 : static_cast<int>(at & 1);
    }
    __device__ int turn_of(const place<Index>& p) const {
        return (turn_along(0, p.at[0]) * turns[1] + turn_along(1, p.at[1])) * turns[2] + turn_along(2, p.at[2]);
    }
    /// Returns whether a neighbour lies across a periodic end, or has a subfield that its parity does not tell.
    __device__ bool is_on_seam(const place<Index>& p) const {
        bool seam = false;
#pragma unroll
        for (int axis = 0; axis < 3; ++axis)
            seam = seam || (wraps[axis] && (p.at[axis] == 0 || p.at[axis] + 1 == size[axis] ||
                                            (turns[axis] == 3 && p.at[axis] + 2 == size[axis])));
        return seam;
    }
};

/// Position of three neighbours along the last axis, which are row k of a neighbourhood, in the bit array.
struct bits_of_row {
    std::uint32_t at;  ///< bit of the first one in its word; bits from 32 on are in the next word
    __device__ bool crosses() const { return at > 29; }
    __device__ std::uint32_t in_first(word three) const { return three << at; }
    __device__ std::uint32_t in_second(word three) const { return three >> (32 - at); }
};

/// Reads the neighbourhood of a cell whose neighbours lie at constant offsets. Other multiprocessors change these words
/// while the kernel runs, so the loads bypass this one's L1 cache.
template <class Index>
__device__ word neighbourhood(const cell_grid<Index>& where, const std::uint32_t* bits, Index cell) {
    const Index corner = cell - 1;
    const bits_of_row row{static_cast<std::uint32_t>(corner & 31)};
    const bool flat = where.is_flat();
    std::uint32_t low[9]{}, high[9]{};
#pragma unroll
    for (int k = 0; k < 9; ++k)
        if (!flat || k / 3 == 1) low[k] = __ldcg(bits + ((corner + where.step(k / 3 - 1, k % 3 - 1, 0)) >> 5));
    if (row.crosses()) {
#pragma unroll
        for (int k = 0; k < 9; ++k)
            if (!flat || k / 3 == 1) high[k] = __ldcg(bits + ((corner + where.step(k / 3 - 1, k % 3 - 1, 0)) >> 5) + 1);
    }
    word found = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) found |= (__funnelshift_r(low[k], high[k], row.at) & 7) << 3 * k;
    return found;
}

template <class Index>
__device__ bool has_bit(const std::uint32_t* bits, Index cell) {
    return (__ldcg(bits + (cell >> 5)) >> (cell & 31) & 1) != 0;
}
template <class Index>
__device__ void set_bit(std::uint32_t* bits, Index cell) {
    atomicOr(bits + (cell >> 5), std::uint32_t{1} << (cell & 31));
}
template <class Index>
__device__ bool clear_bit(std::uint32_t* bits, Index cell) {
    const std::uint32_t bit = std::uint32_t{1} << (cell & 31);
    return (atomicAnd(bits + (cell >> 5), ~bit) & bit) != 0;
}

}  // namespace nearfield::skeleton
