// The last step of the engine with options: from the state of every cell to the fields that are wanted.
#pragma once

#include "exact/cuda_options_common.cuh"
#include "exact/half.hpp"

namespace nearfield::exact {
namespace {

constexpr int finish_threads = 256;

/// What becomes of values: borders, limit, sign, element types. Passed to the kernel by value.
template <class V>
struct finishing {
    grid_shape grid;
    unsigned closed = 0, open = 0;  ///< a bit an axis of the problem
    V closed_beside = no_site<V>(), open_beside = no_site<V>();
    bool limited = false, is_signed = false, inside_is_nonzero = true;
    int inside_sign = 1, outside_sign = 1;
    dtype distance = dtype::float32, squared = dtype::float64, index = dtype::int64;
    int image_bytes = 1;
    bool floating = false;
};

/// Value of the nearest border among those of `axes`, or `beside`.
template <class V>
__device__ V border_value(const metric<V>& m, const place_in& place, std::int64_t at, unsigned axes, V beside) {
    V nearest = beside;
    for (; axes != 0; axes &= axes - 1) {
        const int axis = __ffs(static_cast<int>(axes)) - 1;
        const auto q = static_cast<steps<V>>(place.keys.coordinate(at, axis));
        const auto n = static_cast<steps<V>>(place.of.size[axis - place.shift]);
        nearest = min(nearest, m.term(axis, min(static_cast<steps<V>>(q + 1), static_cast<steps<V>>(n - q))));
    }
    return nearest;
}

__device__ inline double infinite() { return __longlong_as_double(0x7ff0000000000000); }

template <class T>
__device__ T* element(const target& array, std::int64_t offset) {
    return reinterpret_cast<T*>(array.data) + offset;
}

/// Rounded once to the field's type.
__device__ inline void store_floating(const target& array, std::int64_t offset, dtype type, double value) {
    switch (type) {
        case dtype::float16: *element<std::uint16_t>(array, offset) = half_bits(value); break;
        case dtype::float32: *element<float>(array, offset) = static_cast<float>(value); break;
        default: *element<double>(array, offset) = value;
    }
}

template <class V>
__device__ void store_squared(const target& array, std::int64_t offset, dtype type, V value, bool found, double exact) {
    switch (type) {
        case dtype::uint16:
            *element<std::uint16_t>(array, offset) = found ? static_cast<std::uint16_t>(value) : UINT16_MAX;
            break;
        case dtype::uint32:
            *element<std::uint32_t>(array, offset) = found ? static_cast<std::uint32_t>(value) : UINT32_MAX;
            break;
        case dtype::uint64:
            *element<std::uint64_t>(array, offset) = found ? static_cast<std::uint64_t>(value) : UINT64_MAX;
            break;
        default: store_floating(array, offset, type, exact);
    }
}

/// Index, coordinates and label of the site at packed coordinates `site`; none when negative.
template <class V>
__device__ void store_site(const finishing<V>& how, const place_in& place, std::int64_t at, std::int64_t site) {
    const item& of = place.of;
    if (of.index.data != nullptr) {
        const std::int64_t number = site < 0 ? -1 : place.number(site), offset = place.offset(of.index, at);
        if (how.index == dtype::int32) *element<std::int32_t>(of.index, offset) = static_cast<std::int32_t>(number);
        else *element<std::int64_t>(of.index, offset) = number;
    }
    if (of.coordinates.data != nullptr) {
        std::int32_t* to = element<std::int32_t>(of.coordinates, place.offset(of.coordinates, at));
        for (int i = 0; i < of.planes; ++i, to += of.plane)
            *to = site < 0                ? -1
                  : of.plane_axis[i] < 0 ? 0
                                         : static_cast<std::int32_t>(place.coordinate(site, of.plane_axis[i]));
    }
    if (of.label.data != nullptr) {
        const std::uint64_t bits =
            site < 0 ? 0 : load_bits(of.image.data, how.image_bytes, place.offset(of.image, site));
        store_bits(of.label.data, how.image_bytes, place.offset(of.label, at), bits);
    }
}

/// A thread a cell.
template <class V, class K, bool Keyed>
__global__ void __launch_bounds__(finish_threads)
    finish(const rules<V> by, const finishing<V> how, const items all, std::int64_t cells, std::int64_t image_cells,
           const state_of<V, K, Keyed>* states) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * finish_threads + threadIdx.x;
    if (cell >= cells) return;
    std::int64_t image = 0;
    const std::int64_t at = how.grid.split(cell, image);
    const place_in place(all, how.grid, image);
    if (!place.has(at)) return;
    const auto state = states[cell];
    V value;
    std::int64_t site = -1;
    if constexpr (Keyed) {
        value = by.value(state, static_cast<K>(at), how.grid.first_axis, image * image_cells);
        site = state;
    } else {
        value = state;
    }
    const V border = border_value(by.m, place, at, how.closed, how.closed_beside);
    if (border < value) value = border, site = -1;
    const bool found = value < no_site<V>() && !(value > by.limit);
    if (!found) site = -1;

    const item& of = place.of;
    double sign = 1;
    if (how.is_signed) {
        const std::uint64_t bits = load_bits(of.image.data, how.image_bytes, place.offset(of.image, at));
        const bool inside = is_zero(bits, how.image_bytes, how.floating) != how.inside_is_nonzero;
        sign = inside ? how.inside_sign : how.outside_sign;
    }
    const double exact = found ? static_cast<double>(value) * (by.m.half_cell ? 0.25 : 1.0) : infinite();
    if (of.distance.data != nullptr)
        store_floating(of.distance, place.offset(of.distance, at), how.distance, sign * __dsqrt_rn(exact));
    if (of.squared.data != nullptr)
        store_squared(of.squared, place.offset(of.squared, at), how.squared, value, found, sign * exact);
    store_site(how, place, at, site);
    if (of.trusted.data != nullptr) {
        const V open = border_value(by.m, place, at, how.open, how.open_beside);
        const bool none = how.open == 0 && !(how.open_beside < no_site<V>());
        const bool trusted = none || (found ? !(open < value) : how.limited && open > by.limit);
        *element<std::uint8_t>(of.trusted, place.offset(of.trusted, at)) = trusted;
    }
}

}  // namespace
}  // namespace nearfield::exact
