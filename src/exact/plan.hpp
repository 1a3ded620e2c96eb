// From the arguments of a call to a checked problem that a backend can solve.
#pragma once

#include <array>
#include <cstdint>

#include "exact/core.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// A checked call. Axes of length 1 are dropped from `size` and from the strides of the image; `source_axis` says which
/// axis of the caller's arrays each remaining one is.
struct plan {
    int image_rank = 1;  ///< of the caller's arrays
    int rank = 1;        ///< of the problem
    std::array<std::int64_t, max_rank> size{};
    std::array<int, max_rank> source_axis{};
    std::array<std::int64_t, max_rank> image_stride{};  ///< of the kept axes, in elements
    std::int64_t cells = 0;

    tier numbers = tier::int32;
    bool sites_wanted = false;              ///< carry packed sites, not only values
    std::array<double, max_rank> weight{};  ///< spacing^2, rounded to double; integral unless numbers is float64
    key_layout keys;
    /// Winning rows along an axis bound those between them. Always true in integers; in double as long as the smallest step between
    /// two parabolas, 2 * weight, exceeds the rounding of the largest value.
    std::array<bool, max_rank> rows_ordered{};
    double largest = 0;  ///< bound of all squared distances

    template <class V>
    [[nodiscard]] metric<V> as_metric() const {
        metric<V> m;
        m.rank = rank;
        m.keys = keys;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
            m.size[axis] = size[axis];
            m.weight[axis] = static_cast<V>(weight[axis]);
        }
        return m;
    }
};

/// Checks every argument and chooses the numbers. Throws invalid_argument; starts nothing.
template <class Place>
plan make_plan(const any_input<Place>& image, const fields<Place>& out, const distance_options& options);

}  // namespace nearfield::exact
