// Sums behind the rows of component_tables: exact, so that their order and the number of threads do not matter. Host
// and device share them; docs/semantics.md defines the results.
//
// A row is made in up to three steps, each over runs (consecutive cells of one label along the last axis):
//   shape_sums    cells, coordinates, box, border, in closed form per run
//   value_range   lowest and highest value
//   value_sums    of natural numbers that stand for the values (natural_of): for integers their distance from the
//                 type's lowest value; for floating point a fixed-point number whose unit comes from the row's own
//                 value_range, which therefore has to be complete before: sums of floating-point values need a second
//                 look at the image
// statistics_rows.hpp converts them to the tables' entries.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/wide.hpp"
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace nearfield::statistics {

/// Shape of a row's cells. There is room for `Axes` axes; the first `axes` are used.
template <int Axes>
struct shape_sums {
    std::uint64_t size = 0;
    std::uint64_t sum[Axes] = {};  ///< sums of coordinates
    std::int64_t first[Axes], end[Axes] = {};
    bool border = false;  ///< a cell lies at the end of an open axis

    NF_HD constexpr shape_sums() {
        for (std::int64_t& each : first) each = std::numeric_limits<std::int64_t>::max();
    }
    /// Adds `cells` cells along the last axis, the first one at `at`. Bit `axis` of `open` says that the axis has ends.
    NF_HD constexpr void add_run(const std::int64_t* at, std::int64_t cells, const std::int64_t* side, int axes,
                                 unsigned open) {
        const auto n = static_cast<std::uint64_t>(cells);
        size += n;
        for (int axis = 0; axis < axes; ++axis) {
            const bool along = axis == axes - 1;
            const std::int64_t last = at[axis] + (along ? cells - 1 : 0);
            sum[axis] += n * static_cast<std::uint64_t>(at[axis]) + (along ? sum_below(n) : 0);
            first[axis] = at[axis] < first[axis] ? at[axis] : first[axis];
            end[axis] = last + 1 > end[axis] ? last + 1 : end[axis];
            border = border || ((open >> axis & 1) != 0 && (at[axis] == 0 || last == side[axis] - 1));
        }
    }
    NF_HD constexpr void add(const shape_sums& other, int axes) {
        size += other.size;
        for (int axis = 0; axis < axes; ++axis) {
            sum[axis] += other.sum[axis];
            first[axis] = other.first[axis] < first[axis] ? other.first[axis] : first[axis];
            end[axis] = other.end[axis] > end[axis] ? other.end[axis] : end[axis];
        }
        border = border || other.border;
    }
    /// Returns 0 + 1 + ... + (n - 1): the odd one of n and n - 1 times half of the other. A branch would be
    /// mispredicted half the time.
    NF_HD static constexpr std::uint64_t sum_below(std::uint64_t n) { return ((n - 1) | 1) * (n / 2); }
};

/// True if sums of coordinates fit 64 bits in an image of these sides, for any labels.
constexpr bool sums_fit(const std::int64_t* side, int axes) {
    uint128 cells = 1;
    std::int64_t longest = 1;
    for (int axis = 0; axis < axes; ++axis) {
        cells *= static_cast<uint128>(side[axis]);
        longest = side[axis] > longest ? side[axis] : longest;
    }
    return cells * static_cast<uint128>(longest - 1) / 2 <= ~std::uint64_t{0};
}

template <class T>
using bits_of =
    std::conditional_t<sizeof(T) == 1, std::uint8_t,
                       std::conditional_t<sizeof(T) == 2, std::uint16_t,
                                          std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Maps values to natural numbers in the same order. Integers: the distance from the type's lowest value. Floating
/// point: the bits, flipped so that they ascend; -0 is below +0. NaN has no key.
template <class T>
NF_HD constexpr std::uint64_t key_of(T value) {
    constexpr auto sign = static_cast<bits_of<T>>(bits_of<T>{1} << (8 * sizeof(T) - 1));
    if constexpr (std::is_floating_point_v<T>) {
        const auto bits = std::bit_cast<bits_of<T>>(value);
        return static_cast<bits_of<T>>((bits & sign) != 0 ? ~bits : bits | sign);
    } else if constexpr (std::is_signed_v<T>) {
        return static_cast<bits_of<T>>(static_cast<bits_of<T>>(value) ^ sign);
    } else {
        return value;
    }
}

template <class T>
NF_HD constexpr T value_of(std::uint64_t key) {
    constexpr auto sign = static_cast<bits_of<T>>(bits_of<T>{1} << (8 * sizeof(T) - 1));
    const auto bits = static_cast<bits_of<T>>(key);
    if constexpr (std::is_floating_point_v<T>)
        return std::bit_cast<T>(static_cast<bits_of<T>>((bits & sign) != 0 ? bits & ~sign : ~bits));
    else if constexpr (std::is_signed_v<T>) return static_cast<T>(static_cast<bits_of<T>>(bits ^ sign));
    else return static_cast<T>(bits);
}

/// Keys below and above those of every floating-point value.
inline constexpr std::uint64_t lowest_key = 0, highest_key = ~std::uint64_t{0};

/// Smallest and largest key of a row. NaN counts as both lowest_key and highest_key; an empty row is (highest_key,
/// lowest_key). The two may be stored apart and updated by atomic minimum and maximum.
struct value_range {
    std::uint64_t lowest = highest_key, highest = lowest_key;

    template <class T>
    NF_HD constexpr void add_value(T value) {
        const bool nan = value != value;
        const std::uint64_t key = key_of(value);
        add({nan ? lowest_key : key, nan ? highest_key : key});
    }
    NF_HD constexpr void add(const value_range& other) {
        lowest = other.lowest < lowest ? other.lowest : lowest;
        highest = other.highest > highest ? other.highest : highest;
    }
    NF_HD constexpr bool is_empty() const { return lowest > highest; }
};

/// Values of a floating-point row that are not finite numbers.
struct not_finite {
    bool nan = false, below = false, above = false;
    NF_HD constexpr bool any() const { return nan || below || above; }
};
template <class T>
NF_HD constexpr not_finite find_not_finite(const value_range& range) {
    if constexpr (std::is_floating_point_v<T>) {
        constexpr T infinity = std::numeric_limits<T>::infinity();
        if (range.is_empty()) return {};
        return {range.lowest == lowest_key, range.lowest == key_of(-infinity), range.highest == key_of(infinity)};
    } else {
        return {};
    }
}

/// Bits before the point of a fixed-point number: |value| * 2^(fixed_bits - exponent) <= 2^fixed_bits.
inline constexpr int fixed_bits = 62;

/// Floating point: the smallest e of at least -1022 with |value| < 2^e for all values of the row; 0 if all are 0 or one
/// is not finite. Integers: fixed_bits, that is a unit of 1.
template <class T>
NF_HD constexpr int exponent_of(const value_range& range) {
    if constexpr (std::is_floating_point_v<T>) {
        if (range.is_empty() || find_not_finite<T>(range).any()) return 0;
        const auto a = static_cast<double>(value_of<T>(range.lowest));
        const auto b = static_cast<double>(value_of<T>(range.highest));
        const double low = a < 0 ? -a : a, high = b < 0 ? -b : b, most = low > high ? low : high;
        if (most == 0) return 0;
        return static_cast<int>(std::bit_cast<std::uint64_t>(most) >> 52 & 0x7ff) - 1022;
    } else {
        return fixed_bits;
    }
}

/// 2^(fixed_bits - exponent) as two factors, since a double has too little range for the smallest values.
/// Multiplication by them rounds no value of half a unit or more.
struct fixed_scale {
    double by = 1, then = 1;
    NF_HD static constexpr fixed_scale of(int exponent) {
        const int shift = fixed_bits - exponent, most = shift > 1000 ? 1000 : shift;
        return {power_of_two(most), power_of_two(shift - most)};
    }

private:
    NF_HD static constexpr double power_of_two(int e) {
        return std::bit_cast<double>(static_cast<std::uint64_t>(e + 1023) << 52);
    }
};

/// Returns the nearest integer, ties to even, of |x| <= 2^62.
NF_HD inline std::int64_t nearest_integer(double x) {
#if defined(__CUDA_ARCH__)
    return __double2ll_rn(x);
#elif defined(__SSE2__)
    return _mm_cvtsd_si64(_mm_set_sd(x));  // one instruction, where std::llrint is a call
#else
    return std::llrint(x);
#endif
}

/// The natural number that represents 0, among those of natural_of.
template <class T>
inline constexpr std::uint64_t natural_zero = std::is_floating_point_v<T> ? std::uint64_t{1} << fixed_bits
                                              : std::is_signed_v<T>       ? std::uint64_t{1} << (8 * sizeof(T) - 1)
                                                                          : 0;

/// Returns the natural number that represents a value in the row's sums; meaningless if the row is not finite.
template <class T>
NF_HD inline std::uint64_t natural_of(T value, [[maybe_unused]] const fixed_scale& scale) {
    if constexpr (std::is_floating_point_v<T>)
        return static_cast<std::uint64_t>(nearest_integer(static_cast<double>(value) * scale.by * scale.then)) +
               natural_zero<T>;
    else return key_of(value);
}

/// Sums of naturals and of their squares, lowest word first. Words may be stored apart and updated atomically, if the
/// thread that sees a carry adds 1 to the next word.
struct value_sums {
    std::uint64_t sum[2] = {};
    std::uint64_t square[3] = {};

    NF_HD constexpr void add_natural(std::uint64_t x) { add(x, static_cast<uint128>(x) * x); }
    /// Adds the sums of several values, each below 2^128.
    NF_HD constexpr void add(uint128 values, uint128 squares) {
        const uint128 s = (static_cast<uint128>(sum[1]) << 64 | sum[0]) + values;
        sum[0] = static_cast<std::uint64_t>(s), sum[1] = static_cast<std::uint64_t>(s >> 64);
        const uint128 low = (static_cast<uint128>(square[1]) << 64 | square[0]) + squares;
        square[0] = static_cast<std::uint64_t>(low), square[1] = static_cast<std::uint64_t>(low >> 64);
        square[2] += low < squares ? 1 : 0;
    }
    NF_HD constexpr void add(const value_sums& other) {
        add(static_cast<uint128>(other.sum[1]) << 64 | other.sum[0],
            static_cast<uint128>(other.square[1]) << 64 | other.square[0]);
        square[2] += other.square[2];
    }
};

}  // namespace nearfield::statistics
