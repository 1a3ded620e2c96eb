// Where the cells of a solved problem go: the caller's arrays, of one call or of each call in a list.
//
// A list of images of similar size is solved as one batch, each image padded to a common size. An item says what
// belongs to a call: its first image in the batch, its true sizes, its arrays.
#pragma once

#include <cstddef>
#include <cstdint>

#include "exact/core.hpp"
#include "exact/cuda_common.cuh"

namespace nearfield::exact {

/// An array of an item, with element steps along the item's axes. Null is not wanted.
struct target {
    std::byte* data = nullptr;
    std::int64_t step[max_rank]{};
};

struct item {
    std::int64_t first_image = 0;  ///< number of its first image among those of the problem
    int rank = 1;                  ///< axes of length 1 are dropped
    int first_axis = 0;            ///< axes before it number the item's images
    std::int64_t size[max_rank]{};
    target image, distance, squared, index, coordinates, label, trusted;
    std::int64_t plane = 0;  ///< elements between the planes of `coordinates`
    int planes = 0;
    int plane_axis[max_rank]{};  ///< the item's axis that each plane is for; -1 for a dropped one
};

/// The items of a problem, in the order of their images: in device memory, or one only.
struct items {
    const item* table = nullptr;
    std::int64_t count = 1;
    item only;

    __device__ const item& of(std::int64_t image) const {
        if (table == nullptr) return only;
        std::int64_t low = 0, high = count - 1;
        while (low < high) {
            const std::int64_t middle = (low + high + 1) / 2;
            if (table[middle].first_image <= image) low = middle;
            else high = middle - 1;
        }
        return table[low];
    }
};

/// A grid of whole problems: sizes (of the padded images), and how coordinates pack.
struct grid_shape {
    int rank = 1;
    int first_axis = 0;
    std::int64_t size[max_rank]{};
    key_layout keys;

    [[nodiscard]] __device__ std::int64_t cells_of_image() const {
        std::int64_t cells = 1;
        for (int axis = first_axis; axis < rank; ++axis) cells *= size[axis];
        return cells;
    }

    /// Splits a cell into the number of its image and its coordinates, packed.
    __device__ std::int64_t split(std::int64_t cell, std::int64_t& image) const {
        std::int64_t at = 0;
        for (int axis = rank - 1; axis > first_axis; --axis) {
            const std::int64_t rest = quotient(cell, size[axis]);
            at = keys.with(at, axis, cell - rest * size[axis]);
            cell = rest;
        }
        image = first_axis == 0 ? 0 : quotient(cell, size[first_axis]);
        return keys.with(at, first_axis, cell - image * size[first_axis]);
    }
};

/// How threads share lines of the last axis: a few neighbours take a piece of one line, so that what the cells of a
/// line have in common is worked out once for several cells.
struct line_shares {
    static constexpr int cells_each = 8;
    std::int64_t length = 1, lines = 1;
    std::int64_t pieces = 1;  ///< of a line
    int together = 1;         ///< threads on a piece, a power of two up to a warp

    line_shares(std::int64_t length_, std::int64_t cells) : length(length_), lines(cells / length_) {
        while (together < cuda::warp && together < length) together *= 2;
        pieces = (length + together * cells_each - 1) / (together * cells_each);
    }
    [[nodiscard]] std::int64_t threads() const { return lines * pieces * together; }

    struct share {
        std::int64_t line, first;  ///< `line` is beyond the last for threads without work
    };
    /// The calling thread's line, and where on it: cells first, first + together, ...
    __device__ share of(std::int64_t thread) const {
        const std::int64_t nth = quotient(thread, together), line = quotient(nth, pieces);
        return {line, (nth - line * pieces) * together * cells_each + (thread - nth * together)};
    }
};

/// An image of an item.
struct place_in {
    const item& of;
    const key_layout& keys;
    int shift;  ///< axes of the problem before the item's axis 0
    std::int64_t image;

    __device__ place_in(const items& all, const grid_shape& grid, std::int64_t number)
        : of(all.of(number)), keys(grid.keys), shift(grid.rank - of.rank), image(number - of.first_image) {}

    __device__ std::int64_t coordinate(std::int64_t at, int axis) const { return keys.coordinate(at, axis + shift); }
    [[nodiscard]] __device__ std::int64_t length() const { return of.size[of.rank - 1]; }
    [[nodiscard]] __device__ std::int64_t step(const target& array) const { return array.step[of.rank - 1]; }
    /// False for padding.
    __device__ bool has(std::int64_t at) const {
        for (int axis = of.first_axis; axis < of.rank; ++axis)
            if (coordinate(at, axis) >= of.size[axis]) return false;
        return true;
    }
    /// Element of the cell at packed coordinates `at`; those beyond the image's ends mean its last cells.
    __device__ std::int64_t offset(const target& array, std::int64_t at) const {
        std::int64_t sum = 0;
        for (int axis = of.first_axis; axis < of.rank; ++axis)
            sum += min(coordinate(at, axis), of.size[axis] - 1) * array.step[axis];
        std::int64_t rest = image;
        for (int axis = of.first_axis - 1; axis >= 0; --axis) {
            const std::int64_t before = axis == 0 ? 0 : quotient(rest, of.size[axis]);
            sum += (rest - before * of.size[axis]) * array.step[axis];
            rest = before;
        }
        return sum;
    }
    /// C-order number within the image.
    __device__ std::int64_t number(std::int64_t at) const {
        std::int64_t sum = 0;
        for (int axis = of.first_axis; axis < of.rank; ++axis) sum = sum * of.size[axis] + coordinate(at, axis);
        return sum;
    }
};

/// Bits of an element of 1, 2, 4 or 8 bytes.
__device__ inline std::uint64_t load_bits(const std::byte* data, int bytes, std::int64_t element) {
    switch (bytes) {
        case 1: return reinterpret_cast<const std::uint8_t*>(data)[element];
        case 2: return reinterpret_cast<const std::uint16_t*>(data)[element];
        case 4: return reinterpret_cast<const std::uint32_t*>(data)[element];
        default: return reinterpret_cast<const std::uint64_t*>(data)[element];
    }
}
__device__ inline void store_bits(std::byte* data, int bytes, std::int64_t element, std::uint64_t bits) {
    switch (bytes) {
        case 1: reinterpret_cast<std::uint8_t*>(data)[element] = static_cast<std::uint8_t>(bits); break;
        case 2: reinterpret_cast<std::uint16_t*>(data)[element] = static_cast<std::uint16_t>(bits); break;
        case 4: reinterpret_cast<std::uint32_t*>(data)[element] = static_cast<std::uint32_t>(bits); break;
        default: reinterpret_cast<std::uint64_t*>(data)[element] = bits;
    }
}
/// Floats are zero whatever their sign bit.
__device__ inline bool is_zero(std::uint64_t bits, int bytes, bool floating) {
    return (floating ? bits & ~(std::uint64_t{1} << (8 * bytes - 1)) : bits) == 0;
}

}  // namespace nearfield::exact
