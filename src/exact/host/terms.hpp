// The number types of the row and line engine, and the terms of distances along an axis.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "base/scratch.hpp"
#include "exact/core.hpp"

namespace nearfield::exact {

/// A squared distance and its site in one float64, value * 2^bits + site: the smaller number is nearer or, at equal
/// distance, first by the tie rule. Exact while the largest value * 2^bits is below 2^53.
struct packed_site {
    double cell;
};
/// A squared distance and its site side by side, for any value and any site. A row of a tile holds the values of its
/// columns, then their sites, so that vectors can load either.
template <class V>
struct wide_site {
    V value;
    std::int64_t site;
};

/// Properties of a number type of squared distances. Vectors compare `lane`s. `infinite` means no site. In a type that
/// may be too small, results from `end` on may be wrong; terms of 32 bits end there (axis_terms). A tile has `columns`
/// neighbouring lines: at least a cache line per row.
template <class T>
struct number {
    using lane = T;
    static constexpr T infinite = no_site<T>(), end = std::is_same_v<T, std::int32_t> ? infinite - 1 : infinite;
    static constexpr int columns = 16;
    static constexpr bool sited = false, wide = false;
};
template <>
struct number<std::uint16_t> {
    using lane = std::uint16_t;
    static constexpr std::uint16_t infinite = 65535, end = infinite;
    static constexpr int columns = 32;
    static constexpr bool sited = false, wide = false;
};
template <>
struct number<packed_site> : number<double> {
    static constexpr double end = 0x1p53;
    static constexpr bool sited = true;
};
template <class V>
struct number<wide_site<V>> : number<V> {
    static constexpr bool sited = true, wide = true;
};
template <class T>
using lane_of_number = typename number<T>::lane;

/// Cost of `steps` cells along an axis: weight * reach(steps)^2, or `infinite` for more than `most` steps.
template <class T>
struct step_cost {
    T weight{};
    bool half_cell = false;
    std::int32_t most = 0;

    /// Prepares an axis of `size` cells, including the border beyond its ends: all values below infinite are in
    /// range.
    step_cost(double given, bool half, std::int64_t size) : half_cell(half) {
        constexpr double infinite = std::is_same_v<T, double> ? 0x1p60 : static_cast<double>(number<T>::infinite);
        weight = static_cast<T>(std::is_same_v<T, double> ? given : std::min(given, infinite - 1));
        auto farthest = std::is_same_v<T, double> ? 0x1p31 - 1 : std::sqrt((infinite - 1) / given);
        if (half) farthest = (farthest + 1) / 2;
        most = static_cast<std::int32_t>(
            std::min(std::floor(farthest), static_cast<double>(std::max<std::int64_t>(size - 1, 1))));
    }
    [[nodiscard]] T of(std::int64_t steps) const {
        if (steps > most) return number<T>::infinite;
        const std::int64_t cells = reach(steps, half_cell);
        return static_cast<T>(weight * static_cast<T>(cells * cells));
    }
};

/// Costs of 0, 1, 2, ... steps along an axis of the problem.
template <class T>
class axis_terms {
public:
    /// Lines are searched up to `window` steps to either side.
    axis_terms(double weight, bool half_cell, std::int64_t size, std::int64_t window)
        : cost_(weight, half_cell, size), window_(window), term_(entries(size)) {
        // Sums of two numbers without a site stay in range.
        constexpr T most = std::is_signed_v<T> && std::is_integral_v<T> ? number<T>::infinite - 1 : number<T>::infinite;
        for (std::int64_t k = 0; k < entries(size); ++k) {
            if constexpr (std::is_same_v<T, double>) term_.get()[k] = along(weight, reach(k, half_cell));
            else term_.get()[k] = k <= cost_.most ? std::min(cost_.of(k), most) : most;
        }
    }
    [[nodiscard]] const T* get() const { return term_.get(); }
    [[nodiscard]] std::int64_t window() const { return window_; }
    void limit_window(std::int64_t window) { window_ = window; }
    [[nodiscard]] const step_cost<T>& cost() const { return cost_; }
    /// Returns a number of steps beyond which no row adds less than `value`.
    [[nodiscard]] std::int64_t steps_within(T value) const {
        if (!(value < number<T>::infinite)) return beyond;
        const double ratio = static_cast<double>(value) / static_cast<double>(cost_.weight);
        const double steps = std::sqrt(ratio) * (1 + 1e-12), most = (cost_.half_cell ? (steps + 1) / 2 : steps) + 1;
        // A NaN makes the comparison false, too.
        return most < static_cast<double>(beyond) ? static_cast<std::int64_t>(most) : beyond;
    }
    /// Searches of several rows together read a few steps beyond the end.
    static std::int64_t entries(std::int64_t size) { return size + 40; }

    static constexpr std::int64_t beyond = std::int64_t{1} << 40;

private:
    step_cost<T> cost_;
    std::int64_t window_;
    host_scratch<T> term_;
};

}  // namespace nearfield::exact
