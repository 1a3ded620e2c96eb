// The last step of the engine with options: computes the wanted fields from the state of every cell.
#pragma once

#include "base/cuda_each.cuh"
#include "exact/gpu/ground/items.cuh"
#include "exact/half.hpp"

namespace nearfield::exact {
namespace {

/// Everything that determines values. Passed to kernels by value.
template <class V>
struct rules {
    metric<V> m;
    V limit = no_site<V>();      ///< larger values mean no site
    const V* initial = nullptr;  ///< first values of a power diagram's sites, one per cell

    /// Returns the value of the packed site `key` at the packed coordinates `own`, over axes from `first` on; `start`
    /// is the first cell of the image.
    template <class K>
    __device__ V value(K key, K own, int first, std::int64_t start = 0) const {
        if (key == no_key<K>) return no_site<V>();
        V sum = initial == nullptr ? V{0} : initial[element(key, first, start)];
        for (int axis = m.rank - 1; axis >= first; --axis)
            sum += m.between(axis, static_cast<steps<V>>(m.keys.coordinate(own, axis)),
                             static_cast<steps<V>>(m.keys.coordinate(key, axis)));
        return sum;
    }
    /// Returns the element of the site `key` in a contiguous image; axes before `first` are those of element `start`.
    template <class K>
    __device__ std::int64_t element(K key, int first, std::int64_t start) const {
        std::int64_t within = 0;
        for (int axis = first; axis < m.rank; ++axis)
            within = within * m.size[axis] + static_cast<std::int64_t>(m.keys.coordinate(key, axis));
        return start + within;
    }
};

/// Conversion of values to fields: borders, limit, sign, element types. Passed to the kernel by value.
template <class V>
struct finishing {
    grid_shape grid;
    unsigned closed = 0, open = 0;  ///< a bit per axis of the problem
    V closed_beside = no_site<V>(), open_beside = no_site<V>();
    bool limited = false, is_signed = false, inside_is_nonzero = true;
    int inside_sign = 1, outside_sign = 1;
    double unit2 = 1;  ///< square of the unit of values
    std::uint64_t whole_unit2 = 1;
    dtype distance = dtype::float32, squared = dtype::float64, index = dtype::int64;
    int image_bytes = 1;
    bool floating = false;
};

/// Makes the conversion of a call.
template <class V>
finishing<V> finishing_of(const plan& p, const grid_shape& grid, dtype image, const fields<device>& out) {
    finishing<V> how;
    how.grid = grid;
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const border beyond = p.borders[static_cast<std::size_t>(axis)];
        if (beyond == border::closed) how.closed |= 1u << axis;
        if (beyond == border::open) how.open |= 1u << axis;
    }
    how.closed_beside = p.template bound<V>(p.closed_beside);
    how.open_beside = p.template bound<V>(p.open_beside);
    how.limited = p.limit < std::numeric_limits<double>::infinity();
    how.is_signed = p.is_signed();
    how.unit2 = p.unit2;
    how.whole_unit2 = p.whole_unit2();
    how.inside_sign = p.inside_sign, how.outside_sign = p.outside_sign;
    how.inside_is_nonzero = p.inside_is_nonzero;
    how.distance = out.distance.type, how.squared = out.squared.type, how.index = out.index.type;
    how.image_bytes = static_cast<int>(size_of(image));
    how.floating = image >= dtype::float16;
    return how;
}

/// Returns the value of the nearest border among those of `axes`, or `beside`.
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

/// Stores a value, rounded once to the field's type; as bool, whether it is finite.
__device__ inline void store_floating(const target& array, std::int64_t offset, dtype type, double value) {
    switch (type) {
        case dtype::boolean: *element<std::uint8_t>(array, offset) = value < infinite(); break;
        case dtype::float16: *element<std::uint16_t>(array, offset) = half_bits(value); break;
        case dtype::float32: *element<float>(array, offset) = static_cast<float>(value); break;
        default: *element<double>(array, offset) = value;
    }
}

/// Stores a squared distance: `value` times `unit2` if that is a whole number, else `exact`.
template <class V>
__device__ void store_squared(const target& array, std::int64_t offset, dtype type, V value, std::uint64_t unit2,
                              bool found, double exact) {
    const auto whole = [&]<class T>(T none) {
        *element<T>(array, offset) = found ? static_cast<T>(static_cast<std::uint64_t>(value) * unit2) : none;
    };
    switch (type) {
        case dtype::uint16: return whole(std::uint16_t{UINT16_MAX});
        case dtype::uint32: return whole(std::uint32_t{UINT32_MAX});
        case dtype::uint64: return whole(std::uint64_t{UINT64_MAX});
        default: store_floating(array, offset, type, exact);
    }
}

/// Writes the fields of one line of the problem.
template <class V>
class finished_line {
public:
    __device__ finished_line(const rules<V>& by, const finishing<V>& how, const place_in& place, std::int64_t at)
        : by_(by), how_(how), place_(place), of_(place.of), start_(at) {
        const int last = how.grid.rank - 1;
        // The borders of the other axes give one value for all cells of the line.
        closed_ = border_value(by.m, place, at, how.closed & ~(1u << last), how.closed_beside);
        open_ = border_value(by.m, place, at, how.open & ~(1u << last), how.open_beside);
        distance_ = from(of_.distance), squared_ = from(of_.squared), index_ = from(of_.index);
        coordinates_ = from(of_.coordinates), label_ = from(of_.label), trusted_ = from(of_.trusted);
        if (how.is_signed) image_ = from(of_.image);
    }

    /// Writes cell x. `site` is packed, negative for none.
    __device__ void put(std::int64_t x, V value, std::int64_t site) const {
        const V border = with_end(how_.closed, closed_, x);
        if (border < value) value = border, site = -1;
        const bool found = value < no_site<V>() && !(value > by_.limit);
        if (!found) site = -1;
        const double sign = how_.is_signed ? sign_at(x) : 1;
        const double exact = found ? static_cast<double>(value) * how_.unit2 : infinite();
        if (of_.distance.data != nullptr)
            store_floating(of_.distance, distance_ + x * place_.step(of_.distance), how_.distance,
                           sign * __dsqrt_rn(exact));
        if (of_.squared.data != nullptr)
            store_squared(of_.squared, squared_ + x * place_.step(of_.squared), how_.squared, value, how_.whole_unit2,
                          found, sign * exact);
        put_site(x, site);
        if (of_.trusted.data == nullptr) return;
        const V open = with_end(how_.open, open_, x);
        const bool none = how_.open == 0 && !(how_.open_beside < no_site<V>());
        const bool trusted = none || (found ? !(open < value) : how_.limited && open > by_.limit);
        *element<std::uint8_t>(of_.trusted, trusted_ + x * place_.step(of_.trusted)) = trusted;
    }

private:
    [[nodiscard]] __device__ std::int64_t from(const target& array) const {
        return array.data == nullptr ? 0 : place_.offset(array, start_);
    }
    /// Returns `known`, or the distance to the ends of the line if the line's axis is one of `axes` and that is less.
    [[nodiscard]] __device__ V with_end(unsigned axes, V known, std::int64_t x) const {
        const int last = how_.grid.rank - 1;
        if ((axes >> last & 1) == 0) return known;
        return min(known, by_.m.term(last, static_cast<steps<V>>(min(x + 1, place_.length() - x))));
    }
    [[nodiscard]] __device__ double sign_at(std::int64_t x) const {
        const std::uint64_t bits = load_bits(of_.image.data, how_.image_bytes, image_ + x * place_.step(of_.image));
        const bool inside = is_zero(bits, how_.image_bytes, how_.floating) != how_.inside_is_nonzero;
        return inside ? how_.inside_sign : how_.outside_sign;
    }
    __device__ void put_site(std::int64_t x, std::int64_t site) const {
        if (of_.index.data != nullptr) {
            const std::int64_t number = site < 0 ? -1 : place_.number(site), at = index_ + x * place_.step(of_.index);
            if (how_.index == dtype::int32) *element<std::int32_t>(of_.index, at) = static_cast<std::int32_t>(number);
            else *element<std::int64_t>(of_.index, at) = number;
        }
        if (of_.coordinates.data != nullptr) {
            std::int32_t* to = element<std::int32_t>(of_.coordinates, coordinates_ + x * place_.step(of_.coordinates));
            for (int i = 0; i < of_.planes; ++i, to += of_.plane)
                *to = site < 0                ? -1
                      : of_.plane_axis[i] < 0 ? 0
                                              : static_cast<std::int32_t>(place_.coordinate(site, of_.plane_axis[i]));
        }
        if (of_.label.data != nullptr) {
            const std::uint64_t bits =
                site < 0 ? 0 : load_bits(of_.image.data, how_.image_bytes, place_.offset(of_.image, site));
            store_bits(of_.label.data, how_.image_bytes, label_ + x * place_.step(of_.label), bits);
        }
    }

    const rules<V>& by_;
    const finishing<V>& how_;
    const place_in& place_;
    const item& of_;
    std::int64_t start_;
    V closed_, open_;
    std::int64_t distance_, squared_, index_, coordinates_, label_, trusted_, image_ = 0;
};

/// Finishes cells from their packed sites (`Sites`) or their values. Several threads share a line.
template <class V, class K, bool Sites>
struct finish_cells {
    rules<V> by;
    finishing<V> how;
    items all;
    line_shares shares;
    const K* states;

    __device__ void operator()(std::int64_t thread) const {
        const auto mine = shares.of(thread);
        const std::int64_t first = mine.line * shares.length;
        std::int64_t image = 0;
        const std::int64_t at = how.grid.split(first, image);
        const place_in place(all, how.grid, image);
        if (!place.has(at)) return;
        const finished_line<V> to(by, how, place, at);
        const std::int64_t length = place.length();
        const int last = how.grid.rank - 1;
        std::int64_t x = mine.first;
        for (int i = 0; i < line_shares::cells_each && x < length; ++i, x += shares.together) {
            const K state = states[first + x];
            if constexpr (Sites) {
                const K own = static_cast<K>(how.grid.keys.with(at, last, x));
                to.put(x, by.value(state, own, how.grid.first_axis, image * how.grid.cells_of_image()), state);
            } else {
                to.put(x, state, -1);
            }
        }
    }
};

}  // namespace
}  // namespace nearfield::exact
