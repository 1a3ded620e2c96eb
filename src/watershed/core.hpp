// The mathematics of watersheds: ordered integer keys of values, cells of a padded array, and the test of a height.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/annotate.hpp"
#include "base/wide.hpp"
#include "base/with_integer.hpp"
#include "nearfield/watershed.hpp"

namespace nearfield::watersheds {

inline constexpr int height_bits = 16;  ///< h of roots is a multiple of 2^-16

/// Values of at most 32 bits get 32-bit keys, all others 64-bit keys.
template <class Value>
using key_of = std::conditional_t<sizeof(Value) <= 4, std::int32_t, std::int64_t>;

/// The key of a place that holds no cell; for some types it is also the key of the largest value.
template <class Key>
inline constexpr Key outside = std::numeric_limits<Key>::max();

template <class Value>
NF_HD constexpr bool is_number(Value v) {
    if constexpr (std::is_floating_point_v<Value>) return v == v;
    else return true;
}

/// Maps a value to an integer key in the same order; equal values get equal keys.
template <class Key, class Value>
NF_HD constexpr Key ordered(Value v) {
    using own = key_of<Value>;
    using bits = std::make_unsigned_t<own>;
    if constexpr (std::is_floating_point_v<Value>) {
        const own i = std::bit_cast<own>(v + Value{0});  // -0 and 0 are one value
        return i ^ (i < 0 ? std::numeric_limits<own>::max() : own{0});
    } else if constexpr (std::is_unsigned_v<Value> && sizeof(Value) == sizeof(own)) {
        if constexpr (sizeof(Key) > sizeof(Value)) return static_cast<Key>(v);
        else return static_cast<own>(static_cast<bits>(v) ^ (bits{1} << (8 * sizeof(own) - 1)));
    } else {
        return static_cast<Key>(v);
    }
}

/// Maps a key back to its value.
template <class Value, class Key>
NF_HD constexpr Value value_of(Key key) {
    using own = key_of<Value>;
    using bits = std::make_unsigned_t<own>;
    if constexpr (std::is_floating_point_v<Value>) {
        const auto k = static_cast<own>(key);
        return std::bit_cast<Value>(static_cast<own>(k ^ (k < 0 ? std::numeric_limits<own>::max() : own{0})));
    } else if constexpr (std::is_unsigned_v<Value> && sizeof(Value) == sizeof(Key)) {
        return static_cast<Value>(static_cast<bits>(key) ^ (bits{1} << (8 * sizeof(own) - 1)));
    } else {
        return static_cast<Value>(key);
    }
}

/// Reverses the order of keys if maxima are sought, so that every algorithm looks for minima.
template <class Key>
NF_HD constexpr Key turned(Key key, bool maxima) {
    return maxima ? static_cast<Key>(~key) : key;
}

/// Returns sqrt(a) - sqrt(b) for a >= b, rounded a few times; NaN if both are 0.
NF_HD inline double roots_apart(std::uint64_t a, std::uint64_t b) {
    return static_cast<double>(a - b) / (std::sqrt(static_cast<double>(a)) + std::sqrt(static_cast<double>(b)));
}
/// A limit that rounded numbers are compared with: between these two the roundings may decide.
struct limits_beside {
    double below, above;
    NF_HD constexpr explicit limits_beside(double limit) : below(limit * (1 - 0x1p-40)), above(limit * (1 + 0x1p-40)) {}
};
/// Exact test of sqrt(a) - sqrt(b) >= p / 2^16 by squaring: with D = 2^32 (a - b) - p^2, D >= 2^17 p sqrt(b).
NF_HD constexpr bool roots_differ(std::uint64_t a, std::uint64_t b, std::uint64_t p) {
    if (a < b) return false;
    if (!std::is_constant_evaluated()) {  // roots in floating point decide unless they are close
        const double apart = roots_apart(a, b);
        const limits_beside least(static_cast<double>(p) / (1 << height_bits));
        if (apart > least.above) return true;
        if (apart < least.below) return false;
    }
    const uint128 first = static_cast<uint128>(a - b) << (2 * height_bits), p2 = static_cast<uint128>(p) * p;
    if (first < p2) return false;
    const wide left = squared(first - p2), right = shifted_left(product(widened(p2), b), 2 * height_bits + 2);
    for (int i = 3; i >= 0; --i)
        if (left.limb[i] != right.limb[i]) return left.limb[i] > right.limb[i];
    return true;
}

/// Tests whether the pass that a minimum's water leaves over lies high enough above the minimum.
struct height {
    double h = 0;
    std::uint64_t p = 0;  ///< h in units of 2^-16
    bool roots = false, maxima = false;

    template <class Value, class Key>
    NF_HD constexpr bool reached(Key minimum, Key pass) const {
        if (pass <= minimum) return false;
        if (!(h > 0)) return true;
        const auto a = value_of<Value>(turned(minimum, maxima)), b = value_of<Value>(turned(pass, maxima));
        const Value more = maxima ? a : b, less = maxima ? b : a;
        if constexpr (std::is_floating_point_v<Value>) {
            if (roots) return std::sqrt(static_cast<double>(more)) - std::sqrt(static_cast<double>(less)) >= h;
            return static_cast<double>(more) - static_cast<double>(less) >= h;
        } else {
            if (roots) return roots_differ(static_cast<std::uint64_t>(more), static_cast<std::uint64_t>(less), p);
            const std::uint64_t apart = static_cast<std::uint64_t>(more) - static_cast<std::uint64_t>(less);
            if (!(h < 0x1p64)) return false;
            const auto whole = static_cast<std::uint64_t>(h);
            return apart >= whole + (static_cast<double>(whole) < h ? 1 : 0);
        }
    }
    /// Returns how far a pass lies above a minimum, rounded, and the limit to compare it with.
    template <class Value, class Key>
    NF_HD double apart(Key minimum, Key pass) const {
        const auto a = value_of<Value>(turned(minimum, maxima)), b = value_of<Value>(turned(pass, maxima));
        const Value more = maxima ? a : b, less = maxima ? b : a;
        if constexpr (std::is_floating_point_v<Value>)
            return roots ? std::sqrt(static_cast<double>(more)) - std::sqrt(static_cast<double>(less))
                         : static_cast<double>(more) - static_cast<double>(less);
        else
            return roots ? roots_apart(static_cast<std::uint64_t>(more), static_cast<std::uint64_t>(less))
                         : static_cast<double>(static_cast<std::uint64_t>(more) - static_cast<std::uint64_t>(less));
    }
    template <class Value>
    [[nodiscard]] NF_HD double limit() const {
        return roots && !std::is_floating_point_v<Value> ? static_cast<double>(p) / (1 << height_bits) : h;
    }
    /// Returns the greatest key of a value that is no such pass; all passes above it are.
    template <class Value, class Key>
    NF_HD constexpr Key last_below(Key minimum) const {
        using limits = std::numeric_limits<Value>;
        using bits = std::make_unsigned_t<Key>;
        constexpr Value most = limits::has_infinity ? limits::infinity() : limits::max(),
                        least = limits::has_infinity ? -limits::infinity() : limits::lowest();
        Key low = minimum, high = turned(ordered<Key>(maxima ? least : most), maxima);
        while (low < high) {
            const Key middle = high - static_cast<Key>((static_cast<bits>(high) - static_cast<bits>(low)) / 2);
            if (reached<Value>(minimum, middle)) high = middle - 1;
            else low = middle;
        }
        return low;
    }
};

/// Addresses an image's cells in a padded array: one place that holds no cell follows every line of an axis, so that
/// every neighbour of a cell has a place. Axes of length 1 are left out.
struct frame {
    int axes = 0;
    std::int64_t size[max_rank]{}, pitch[max_rank]{};
    bool wraps[max_rank]{}, any_wraps = false;
    std::int64_t base = 0;  ///< place of the first cell
    std::int64_t rows = 0, row_pitch = 0, places = 0;

    [[nodiscard]] NF_HD std::int64_t row_size() const { return size[axes - 1]; }
    NF_HD void locate(std::int64_t place, std::int64_t* at) const {
        place -= base;
        for (int axis = 0; axis < axes; ++axis) at[axis] = place / pitch[axis], place -= at[axis] * pitch[axis];
    }
    /// Writes the coordinates of a row's first cell; returns false if the row is padding.
    NF_HD bool locate_row(std::int64_t row, std::int64_t* at) const {
        locate(base + row * row_pitch, at);
        bool inside = true;
        for (int axis = 0; axis < axes; ++axis) inside = inside && at[axis] < size[axis];
        return inside;
    }
    /// Returns whether a cell has neighbours across a periodic end of the first `axes_looked_at` axes.
    NF_HD bool at_end(const std::int64_t* at, int axes_looked_at) const {
        for (int axis = 0; axis < axes_looked_at; ++axis)
            if (wraps[axis] && (at[axis] == 0 || at[axis] == size[axis] - 1)) return true;
        return false;
    }
    /// Returns the place of the neighbour at offset `by`, or -1 if the image has none there.
    NF_HD std::int64_t neighbour(const std::int64_t* at, const std::int8_t* by) const {
        std::int64_t place = base;
        for (int axis = 0; axis < axes; ++axis) {
            std::int64_t there = at[axis] + by[axis];
            if (there < 0 || there >= size[axis]) {
                if (!wraps[axis]) return -1;
                there = there < 0 ? size[axis] - 1 : 0;
            }
            place += there * pitch[axis];
        }
        return place;
    }
    /// Compares two places by the last coordinate, then by the one before, and so on; ties are decided in this order.
    [[nodiscard]] NF_HD bool before(std::int64_t a, std::int64_t b) const {
        std::int64_t of_a[max_rank]{}, of_b[max_rank]{};
        locate(a, of_a), locate(b, of_b);
        for (int axis = axes - 1; axis >= 0; --axis)
            if (of_a[axis] != of_b[axis]) return of_a[axis] < of_b[axis];
        return false;
    }
};

/// An offset to a neighbour.
struct step {
    std::int8_t by[max_rank]{};
    std::int32_t offset = 0;
};

/// A caller's array of the image's shape; its strides are listed by the frame's axes.
template <class Void>
struct array {
    Void* data = nullptr;
    dtype type = dtype::uint8;
    std::int64_t stride[max_rank]{};

    [[nodiscard]] NF_HD std::int64_t offset(const std::int64_t* at, int axes) const {
        std::int64_t sum = 0;
        for (int axis = 0; axis < axes; ++axis) sum += at[axis] * stride[axis];
        return sum;
    }
};
using source = array<const void>;
using target = array<void>;

/// Reads an integer of any type as int64.
NF_HD inline std::int64_t integer_at(const source& a, std::int64_t offset) {
    switch (a.type) {
        case dtype::int8: return static_cast<const std::int8_t*>(a.data)[offset];
        case dtype::int16: return static_cast<const std::int16_t*>(a.data)[offset];
        case dtype::uint16: return static_cast<const std::uint16_t*>(a.data)[offset];
        case dtype::int32: return static_cast<const std::int32_t*>(a.data)[offset];
        case dtype::uint32: return static_cast<const std::uint32_t*>(a.data)[offset];
        case dtype::int64:
        case dtype::uint64: return static_cast<const std::int64_t*>(a.data)[offset];
        default: return static_cast<const std::uint8_t*>(a.data)[offset];
    }
}

namespace self_check {
static_assert(ordered<std::int32_t>(-1.5F) < ordered<std::int32_t>(-0.5F) &&
              ordered<std::int32_t>(-0.0F) == ordered<std::int32_t>(0.0F) &&
              ordered<std::int32_t>(0.0F) < ordered<std::int32_t>(1e-40F));
static_assert(ordered<std::int32_t>(0U) < ordered<std::int32_t>(0xffffffffU) &&
              value_of<std::uint32_t>(ordered<std::int32_t>(7U)) == 7 &&
              value_of<std::uint32_t>(ordered<std::int64_t>(0xffffffffU)) == 0xffffffffU &&
              value_of<float>(ordered<std::int32_t>(-2.5F)) == -2.5F);
// These rest on 5 - 3 = 2 and sqrt(2) < 1.5 < sqrt(3).
static_assert(roots_differ(25, 9, 2 << height_bits) && !roots_differ(25, 9, (2 << height_bits) + 1) &&
              !roots_differ(2, 0, 3 << (height_bits - 1)) && roots_differ(3, 0, 3 << (height_bits - 1)) &&
              !roots_differ(8, 9, 0));
static_assert(height{2.5, 0, false, false}.last_below<std::uint8_t>(std::int32_t{7}) == 9 &&
              height{300, 0, false, true}.last_below<std::uint8_t>(std::int32_t{~200}) == ~0 &&
              height{0, 0, false, false}.last_below<std::int64_t>(std::int64_t{-4}) == -4);
}  // namespace self_check

}  // namespace nearfield::watersheds
