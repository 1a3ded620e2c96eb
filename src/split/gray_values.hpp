// Reads gray values of any element type as doubles.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "base/lines.hpp"
#include "base/with_integer.hpp"
#include "nearfield/grid.hpp"

namespace nearfield::splitting {

/// Calls use(offset in elements) for all cells of an array, in raster order.
template <class Use>
void each_cell(const any_input<host>& array, const Use& use) {
    const std::int64_t last = array.rank - 1, n = array.shape[static_cast<std::size_t>(last)],
                       step = array.stride[static_cast<std::size_t>(last)];
    if (n == 0) return;
    const cell_offsets at(array.shape.data(), array.stride.data(), array.rank);
    for (std::int64_t cell = 0, cells = array.cells(); cell < cells; cell += n) {
        const std::int64_t first = at.of(cell);
        for (std::int64_t x = 0; x < n; ++x) use(first + x * step);
    }
}

/// Value of an IEEE binary16.
inline double value_of_half(std::uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
    if (exponent == 31) value = fraction != 0 ? NAN : INFINITY;
    return bits >> 15 != 0 ? -value : value;
}

/// Calls use(value) for all cells of an image, in raster order.
template <class Use>
void each_value(const any_input<host>& image, const Use& use) {
    if (image.type == dtype::float16)
        return each_cell(
            image, [&](std::int64_t at) { use(value_of_half(static_cast<const std::uint16_t*>(image.data)[at])); });
    with_number(image.type, [&]<class T>(T) {
        each_cell(image, [&](std::int64_t at) { use(static_cast<double>(static_cast<const T*>(image.data)[at])); });
    });
}

/// Least and largest finite value; least > largest if there is none. `values` calls its argument with every value.
template <class Values>
std::pair<double, double> finite_range(const Values& values) {
    double least = INFINITY, largest = -INFINITY;
    values([&](double each) {
        if (std::isfinite(each)) least = std::min(least, each), largest = std::max(largest, each);
    });
    return {least, largest};
}

/// Counts of finite values in bins of equal width between the least and the largest one.
struct histogram {
    double least = 0, largest = 0, width = 0;  ///< the width of a bin is 0 if all values are equal
    std::vector<double> count;

    /// `values` calls its argument with every value, here twice. If they are `whole` and less than 2^16 apart, a bin
    /// holds one integer; else there are 1024.
    template <class Values>
    explicit histogram(const Values& values, bool whole = false) {
        std::tie(least, largest) = finite_range(values);
        if (!(least < largest)) return;
        const bool single = whole && largest - least < 65536;
        const std::size_t bins = single ? static_cast<std::size_t>(largest - least) + 1 : 1024;
        width = single ? 1 : largest / 1024 - least / 1024;
        if (!(width > 0)) return;
        count.resize(bins);
        values([&](double each) {
            if (std::isfinite(each))
                ++count[std::min(bins - 1, static_cast<std::size_t>(each / width - least / width))];
        });
    }

    /// Otsu's threshold, an edge between two bins; the largest value if all are equal.
    [[nodiscard]] double otsu() const;
};

}  // namespace nearfield::splitting
