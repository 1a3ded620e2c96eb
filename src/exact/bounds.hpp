// Epilogue for per-cell bounds: a cell whose distance exceeds its own bound becomes a cell without a site. Host and
// device both search with distances in float64, then run these functions over the fields.
#pragma once

#include <cstdint>
#include <limits>

#include "base/annotate.hpp"
#include "exact/half.hpp"
#include "nearfield/distance_bounds.hpp"

namespace nearfield::exact {

/// An array of a call, with strides along the axes of its image.
struct bounded_array {
    std::byte* data = nullptr;
    std::int64_t step[max_rank]{};
    dtype type = dtype::uint8;
    std::uint64_t none = 0;  ///< bits of an element without a site

    template <class T>
    NF_HD T& at(std::int64_t element) const {
        return reinterpret_cast<T*>(data)[element];
    }
    /// Returns an element of float32 or float64.
    [[nodiscard]] NF_HD double value(std::int64_t element) const {
        return type == dtype::float32 ? static_cast<double>(at<float>(element)) : at<double>(element);
    }
    /// Stores a distance, rounded once; as bool, whether it is finite.
    NF_HD void store(std::int64_t element, double distance) const {
        constexpr double endless = std::numeric_limits<double>::infinity();
        switch (type) {
            case dtype::boolean: at<std::uint8_t>(element) = distance < endless ? 1 : 0; break;
            case dtype::float16: at<std::uint16_t>(element) = half_bits(distance); break;
            case dtype::float32: at<float>(element) = static_cast<float>(distance); break;
            default: at<double>(element) = distance;
        }
    }
    NF_HD void clear(std::int64_t element, bool negative) const {
        const auto put = [&]<class T>(T bits) {
            constexpr T sign = static_cast<T>(T{1} << (8 * sizeof(T) - 1));
            at<T>(element) = static_cast<T>(negative && type >= dtype::float16 ? bits | sign : bits);
        };
        switch (bytes) {
            case 1: return put(static_cast<std::uint8_t>(none));
            case 2: return put(static_cast<std::uint16_t>(none));
            case 4: return put(static_cast<std::uint32_t>(none));
            default: return put(none);
        }
    }
    int bytes = 1;  ///< bytes of an element
};

/// A solved call, whose distances lie in `found`. Passed to kernels by value.
struct bounded_cells {
    int rank = 1, fields = 0;
    std::int64_t size[max_rank]{}, lines = 1;
    bounded_array bounds, found, distance;  ///< `distance` is the caller's array, without data if it is not wanted
    bounded_array field[3 + max_rank];      ///< the caller's other fields

    [[nodiscard]] NF_HD std::int64_t length() const { return size[rank - 1]; }
    /// Returns the element of the first cell of a line along the last axis.
    [[nodiscard]] NF_HD std::int64_t start(const bounded_array& of, std::int64_t line) const {
        std::int64_t at = 0;
        for (int axis = rank - 2; axis >= 0; --axis) {
            const std::int64_t above = line / size[axis];
            at += (line - above * size[axis]) * of.step[axis];
            line = above;
        }
        return at;
    }
    /// Writes cells [from, to) of a line.
    NF_HD void run(std::int64_t line, std::int64_t from, std::int64_t to) const {
        constexpr double endless = std::numeric_limits<double>::infinity();
        const int last = rank - 1;
        const std::int64_t bound_at = start(bounds, line), found_at = start(found, line),
                           distance_at = start(distance, line);
        for (std::int64_t x = from; x < to; ++x) {
            const double d = found.value(found_at + x * found.step[last]);
            const bool negative = d < 0, within = (negative ? -d : d) <= bounds.value(bound_at + x * bounds.step[last]);
            const double kept = within ? d : negative ? -endless : endless;
            if (distance.data != nullptr) distance.store(distance_at + x * distance.step[last], kept);
            for (int i = 0; i < (within ? 0 : fields); ++i)
                field[i].clear(start(field[i], line) + x * field[i].step[last], negative);
        }
    }
};

template <class Place>
bounded_array bounded_array_of(const any_input<Place>& of, int leading_axes = 0) {
    bounded_array to;
    // Inputs are never written.
    to.data = static_cast<std::byte*>(const_cast<void*>(of.data)), to.type = of.type;
    to.bytes = static_cast<int>(size_of(of.type));
    for (int axis = leading_axes; axis < of.rank; ++axis)
        to.step[axis - leading_axes] = of.stride[static_cast<std::size_t>(axis)];
    return to;
}

/// Array for the distances in float64: the caller's field, or one whose memory is still to be allocated.
template <class Place>
any_output<Place> found_distances(const any_input<Place>& image, const fields<Place>& out) {
    if (out.distance.wanted() && out.distance.type == dtype::float64) return out.distance;
    any_output<Place> found;
    std::int64_t step = 1;
    found.type = dtype::float64, found.rank = image.rank, found.shape = image.shape;
    for (int axis = image.rank; axis-- > 0; step *= image.shape[static_cast<std::size_t>(axis)])
        found.stride[static_cast<std::size_t>(axis)] = step;
    return found;
}

template <class Place>
bounded_cells bounded_cells_of(const any_input<Place>& image, const any_input<Place>& bounds, const fields<Place>& out,
                               const any_output<Place>& found) {
    bounded_cells b;
    b.rank = image.rank;
    for (int axis = 0; axis < image.rank; ++axis) b.size[axis] = image.shape[static_cast<std::size_t>(axis)];
    b.lines = image.cells() / b.length();
    b.bounds = bounded_array_of<Place>(bounds), b.found = bounded_array_of<Place>(found);
    if (out.distance.wanted()) b.distance = bounded_array_of<Place>(out.distance);
    const auto add = [&](const any_output<Place>& field, std::uint64_t none) {
        if (!field.wanted()) return;
        b.field[b.fields] = bounded_array_of<Place>(field), b.field[b.fields++].none = none;
    };
    const dtype squared = out.squared.type;
    add(out.squared, squared == dtype::float16   ? 0x7c00
                     : squared == dtype::float32 ? 0x7f800000
                     : squared == dtype::float64 ? 0x7ff0000000000000
                                                 : ~std::uint64_t{0});
    add(out.index, ~std::uint64_t{0});
    add(out.label, 0);
    const auto& planes = out.coordinates;
    for (std::int64_t plane = 0; plane < (planes.wanted() ? planes.shape[0] : 0); ++plane) {
        bounded_array& to = b.field[b.fields++] = bounded_array_of<Place>(planes, 1);
        to.data += plane * planes.stride[0] * static_cast<std::int64_t>(sizeof(std::int32_t));
        to.none = ~std::uint64_t{0};
    }
    return b;
}

/// Solves a checked call that has cells.
void run_bounded(const host& on, const any_input<host>& image, const any_input<host>& bounds, const fields<host>& out,
                 const distance_options& options);
void run_bounded(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                 const fields<device>& out, const distance_options& options);

}  // namespace nearfield::exact
