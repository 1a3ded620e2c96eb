// The cells of a call on a device: bits in padded rows, and neighbours of cells.
#pragma once

#include <type_traits>

#include "base/cuda.cuh"
#include "skeleton/core.hpp"

namespace nearfield::skeleton {

/// State of 32 cells, one bit each. x has the shape in its lower half and in its upper half the candidates, which were
/// tested, are in the shape and neither held nor waiting in a list. y has cells that were removed, in the lower half,
/// and their round in the upper one. A test that needs all four waits for one load.
using state = ulonglong2;

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

__device__ inline std::uint32_t shape_of(const state& s) { return static_cast<std::uint32_t>(s.x); }
__device__ inline std::uint32_t candidates_of(const state& s) { return static_cast<std::uint32_t>(s.x >> 32); }
/// Returns the cells of a word that were removed in this round.
__device__ inline std::uint32_t gone_of(const state& s, std::uint32_t round) {
    return static_cast<std::uint32_t>(s.y >> 32) == round ? static_cast<std::uint32_t>(s.y) : 0;
}

template <class Index>
__device__ std::uint32_t bit_at(Index cell) {
    return std::uint32_t{1} << (cell & 31);
}

}  // namespace nearfield::skeleton
