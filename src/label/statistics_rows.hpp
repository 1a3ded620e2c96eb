// Conversion of sums to the entries of component_tables, with one rounding each, and the layout of these entries.
#pragma once

#include "label/statistics.hpp"
#include "nearfield/label.hpp"

namespace nearfield::statistics {

/// A table in the form that kernels and loops use.
struct column {
    void* data = nullptr;  ///< null if not wanted
    std::int64_t rows = 0, step = 0, inner[2] = {0, 0};
    bool integers = false;  ///< for the sum: int64 instead of float64

    NF_HD constexpr bool wanted() const { return data != nullptr; }
    NF_HD constexpr bool has(std::int64_t row) const { return data != nullptr && row < rows; }
    template <class T>
    NF_HD constexpr void put(std::int64_t row, T value, std::int64_t i = 0, std::int64_t j = 0) const {
        static_cast<T*>(data)[row * step + i * inner[0] + j * inner[1]] = value;
    }
};

template <class Place>
column column_of(const any_output<Place>& table) {
    if (!table.wanted()) return {};
    return {
        table.data, table.shape[0], table.stride[0], {table.stride[1], table.stride[2]}, table.type == dtype::int64};
}

/// Layout of all tables.
struct columns {
    column size, box, centroid, border, faces, lowest, highest, sum, mean, variance;

    template <class Place>
    static columns of(const component_tables<Place>& t) {
        return {column_of<Place>(t.size),    column_of<Place>(t.box),   column_of<Place>(t.centroid),
                column_of<Place>(t.border),  column_of<Place>(t.faces), column_of<Place>(t.lowest),
                column_of<Place>(t.highest), column_of<Place>(t.sum),   column_of<Place>(t.mean),
                column_of<Place>(t.variance)};
    }
    /// Returns the rows of the longest table: components beyond need no sums.
    [[nodiscard]] constexpr std::int64_t rows() const {
        std::int64_t most = 0;
        for (const column* each : {&size, &box, &centroid, &border, &faces, &lowest, &highest, &sum, &mean, &variance})
            if (each->wanted() && each->rows > most) most = each->rows;
        return most;
    }
    NF_HD constexpr bool want_shape() const {
        return size.wanted() || box.wanted() || centroid.wanted() || border.wanted();
    }
    /// True if only shapes are wanted, which the cells of a component determine without their neighbours.
    NF_HD constexpr bool want_shape_only() const {
        return want_shape() && !faces.wanted() && !want_range() && !want_sums();
    }
    NF_HD constexpr bool want_range() const { return lowest.wanted() || highest.wanted(); }
    NF_HD constexpr bool want_sums() const { return sum.wanted() || mean.wanted() || variance.wanted(); }
    NF_HD constexpr bool want_squares() const { return variance.wanted(); }
};

/// Writes box and centroid of a row along one axis. Without cells: zeros and NaN.
NF_HD inline void put_axis(const columns& to, std::int64_t row, int axis, std::uint64_t size, std::int64_t first,
                           std::int64_t end, std::uint64_t sum) {
    if (to.box.has(row)) {
        to.box.put(row, size == 0 ? std::int64_t{0} : first, 0, axis);
        to.box.put(row, end, 1, axis);
    }
    if (to.centroid.has(row))
        to.centroid.put(
            row,
            size == 0 ? std::numeric_limits<double>::quiet_NaN() : static_cast<double>(sum) / static_cast<double>(size),
            axis);
}

NF_HD inline void put_size_and_border(const columns& to, std::int64_t row, std::uint64_t size, bool border) {
    if (to.size.has(row)) to.size.put(row, static_cast<std::int64_t>(size));
    if (to.border.has(row)) to.border.put(row, static_cast<std::uint8_t>(border ? 1 : 0));
}

/// Writes size, box, centroid and border of a row.
template <int Axes>
NF_HD void put_shape(const columns& to, std::int64_t row, const shape_sums<Axes>& of, int axes) {
    put_size_and_border(to, row, of.size, of.border);
    for (int axis = 0; axis < axes; ++axis)
        put_axis(to, row, axis, of.size, of.first[axis], of.end[axis], of.sum[axis]);
}

/// A sum that may be negative.
struct signed_sum {
    uint128 magnitude;
    bool negative;
};
template <class T>
NF_HD constexpr signed_sum true_sum(const value_sums& sums, std::uint64_t size) {
    const uint128 natural = static_cast<uint128>(sums.sum[1]) << 64 | sums.sum[0];
    const uint128 zero = static_cast<uint128>(size) * natural_zero<T>;
    return natural < zero ? signed_sum{zero - natural, true} : signed_sum{natural - zero, false};
}

/// Returns magnitude / by^times * 2^exponent, rounded once. `by` below 2^62, `times` 0, 1 or 2.
NF_HD constexpr double rounded_quotient(const wide& magnitude, std::uint64_t by, int times, int exponent) {
    const int up = 256 - magnitude.length();
    if (up == 256) return 0;
    wide q = shifted_left(magnitude, up);
    bool more = false;
    for (int i = 0; i < times; ++i) more = divide(q, by) != 0 || more;
    return nearest_double(q, more, exponent - up);
}

inline constexpr std::uint64_t exact_in_double = std::uint64_t{1} << 53;

/// Returns the mean in units of 2^exponent.
template <class T>
NF_HD constexpr double mean_of(const value_sums& sums, std::uint64_t size, int exponent) {
    const signed_sum s = true_sum<T>(sums, size);
    double mean = 0;
    if (exponent == 0 && s.magnitude < exact_in_double && size < exact_in_double)  // one division rounds once
        mean = static_cast<double>(static_cast<std::uint64_t>(s.magnitude)) / static_cast<double>(size);
    else mean = rounded_quotient(widened(s.magnitude), size, 1, exponent);
    return s.negative ? -mean : mean;
}

/// Returns (size * squares - sum^2) / size^2, which does not depend on natural_zero.
NF_HD constexpr double variance_of(const value_sums& sums, std::uint64_t size, int exponent) {
    const wide squares{{sums.square[0], sums.square[1], sums.square[2], 0}};
    const wide d = difference(product(squares, size), squared(static_cast<uint128>(sums.sum[1]) << 64 | sums.sum[0]));
    constexpr std::uint64_t exact_squared = std::uint64_t{1} << 26;
    if (exponent == 0 && d.length() <= 53 && size < exact_squared)
        return static_cast<double>(d.limb[0]) / static_cast<double>(size * size);
    return rounded_quotient(d, size, 2, 2 * exponent);
}

/// Returns the sum and mean of a row that is not finite.
NF_HD constexpr double sum_of(const not_finite& what) {
    if (what.nan || (what.below && what.above)) return std::numeric_limits<double>::quiet_NaN();
    return what.below ? -std::numeric_limits<double>::infinity() : std::numeric_limits<double>::infinity();
}

NF_HD constexpr std::int64_t saturated(const signed_sum& s) {
    using limits = std::numeric_limits<std::int64_t>;
    if (s.magnitude > static_cast<std::uint64_t>(limits::max())) return s.negative ? limits::min() : limits::max();
    const auto value = static_cast<std::int64_t>(static_cast<std::uint64_t>(s.magnitude));
    return s.negative ? -value : value;
}

/// Writes lowest and highest of a row: NaN if it has one, 0 if it has no cells.
template <class T>
NF_HD void put_range(const columns& to, std::int64_t row, const value_range& range) {
    T low{}, high{};
    if (!range.is_empty()) low = value_of<T>(range.lowest), high = value_of<T>(range.highest);
    if (find_not_finite<T>(range).nan) low = high = std::numeric_limits<T>::quiet_NaN();
    if (to.lowest.has(row)) to.lowest.put(row, low);
    if (to.highest.has(row)) to.highest.put(row, high);
}

/// Writes sum, mean and variance of a row of `size` cells. `range` is used for floating-point values only.
template <class T>
NF_HD void put_sums(const columns& to, std::int64_t row, std::uint64_t size, const value_range& range,
                    const value_sums& sums) {
    const not_finite what = find_not_finite<T>(range);
    const int exponent = exponent_of<T>(range) - fixed_bits;
    constexpr double nan = std::numeric_limits<double>::quiet_NaN();
    if (to.sum.has(row)) {
        const signed_sum s = true_sum<T>(sums, size);
        const double sum = nearest_double(widened(s.magnitude), false, exponent);
        if (to.sum.integers) to.sum.put(row, saturated(s));
        else to.sum.put(row, what.any() ? sum_of(what) : s.negative ? -sum : sum);
    }
    if (to.mean.has(row))
        to.mean.put(row, size == 0 ? nan : what.any() ? sum_of(what) : mean_of<T>(sums, size, exponent));
    if (to.variance.has(row)) to.variance.put(row, size == 0 || what.any() ? nan : variance_of(sums, size, exponent));
}

}  // namespace nearfield::statistics
