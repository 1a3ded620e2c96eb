// Destinations of the cells of a solved problem: the caller's arrays, of one call or of each call in a list.
//
// A list of images of similar size is solved as one batch, each image padded to a common size. An item describes one
// call: its first image in the batch, its true sizes, its arrays.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/lines.hpp"
#include "exact/core.hpp"
#include "exact/gpu/ground/common.cuh"
#include "exact/plan.hpp"
#include "nearfield/plan.hpp"

namespace nearfield::exact {

/// An array of an item, with strides in elements along the item's axes. Null if not wanted.
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
    int plane_axis[max_rank]{};  ///< the item's axis of each plane; -1 for a dropped one
};

/// The items of a problem, in the order of their images: in device memory, or a single one.
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

/// The grid of a whole problem: sizes (of the padded images), and the packing of coordinates.
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

/// Distribution of lines of the last axis over threads: a few neighbouring threads share a piece of one line, so that
/// common properties of a line's cells are computed once for several cells.
struct line_shares {
    static constexpr int cells_each = 8;
    std::int64_t length = 1, lines = 1;
    std::int64_t pieces = 1;  ///< pieces of a line
    int together = 1;         ///< threads per piece, a power of two up to a warp

    line_shares(std::int64_t length_, std::int64_t cells) : length(length_), lines(cells / length_) {
        while (together < cuda::warp && together < length) together *= 2;
        pieces = (length + together * cells_each - 1) / (together * cells_each);
    }
    [[nodiscard]] std::int64_t threads() const { return lines * pieces * together; }

    struct share {
        std::int64_t line, first;  ///< `line` is beyond the last for idle threads
    };
    /// Returns the calling thread's line, and its cells on it: first, first + together, ...
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
    /// Returns false for padding.
    __device__ bool has(std::int64_t at) const {
        for (int axis = of.first_axis; axis < of.rank; ++axis)
            if (coordinate(at, axis) >= of.size[axis]) return false;
        return true;
    }
    /// Returns the element of the cell at packed coordinates `at`; padding maps to the image's last cells.
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
    /// Returns the C-order number within the image.
    __device__ std::int64_t number(std::int64_t at) const {
        std::int64_t sum = 0;
        for (int axis = of.first_axis; axis < of.rank; ++axis) sum = sum * of.size[axis] + coordinate(at, axis);
        return sum;
    }
};

/// Loads the bits of an element of 1, 2, 4 or 8 bytes.
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
/// True if an element is zero; floats ignore their sign bit.
__device__ inline bool is_zero(std::uint64_t bits, int bytes, bool floating) {
    return (floating ? bits & ~(std::uint64_t{1} << (8 * bytes - 1)) : bits) == 0;
}

/// A problem, and the destinations of its cells.
struct option_call {
    const device& on;
    const plan& p;                     ///< plan of the problem: for a list, one batch axis and padded sizes
    const any_input<device>& image;    ///< image of the first item: its element type
    const fields<device>& out;         ///< fields of the first item: the wanted ones and their types
    const any_input<device>* weights;  ///< weights of a power diagram
    std::span<const item> list;        ///< one item is the call itself: its image is read in place
    call_plan* described = nullptr;    ///< if given, receives the passes, and nothing is started
};

/// Makes an item from a call's own plan.
item item_for(const plan& p, const any_input<device>& image, const fields<device>& out);

inline bool has_contiguous_fields(const plan& p, const item& to) {
    for (const target* field : {&to.distance, &to.squared, &to.index, &to.coordinates})
        if (field->data != nullptr && !is_contiguous(p.size.data(), field->step, p.rank)) return false;
    return to.coordinates.data == nullptr || to.planes == 1 || to.plane == p.cells;
}

inline outputs contiguous_fields(const plan& p, const item& to, const fields<device>& types) {
    outputs o;
    const auto pointer = [](const target& field, dtype is, dtype wanted) {
        return is == wanted ? field.data : nullptr;
    };
    const dtype distance = types.distance.type, squared = types.squared.type;
    o.distance32 = reinterpret_cast<float*>(pointer(to.distance, distance, dtype::float32));
    o.distance64 = reinterpret_cast<double*>(pointer(to.distance, distance, dtype::float64));
    o.distance16 = reinterpret_cast<std::uint16_t*>(pointer(to.distance, distance, dtype::float16));
    o.within = reinterpret_cast<std::uint8_t*>(pointer(to.distance, distance, dtype::boolean));
    o.squared32 = reinterpret_cast<std::uint32_t*>(pointer(to.squared, squared, dtype::uint32));
    o.squared64 = reinterpret_cast<std::uint64_t*>(pointer(to.squared, squared, dtype::uint64));
    o.squared_float = reinterpret_cast<double*>(pointer(to.squared, squared, dtype::float64));
    o.squared_float32 = reinterpret_cast<float*>(pointer(to.squared, squared, dtype::float32));
    const dtype index = types.index.type;
    o.index = reinterpret_cast<std::int64_t*>(pointer(to.index, index, dtype::int64));
    o.index32 = reinterpret_cast<std::int32_t*>(pointer(to.index, index, dtype::int32));
    o.coordinates = reinterpret_cast<std::int32_t*>(to.coordinates.data);
    o.image_rank = to.planes;
    std::copy_n(to.plane_axis, to.planes, o.problem_axis);
    for (int axis = 0; axis < p.rank; ++axis) o.step[axis] = cells_between(p.size.data(), axis + 1, p.rank);
    o.cells = p.cells;
    o.unit2 = p.unit2;
    o.unit = static_cast<float>(p.unit());
    o.whole_unit2 = p.whole_unit2();
    return o;
}

}  // namespace nearfield::exact
