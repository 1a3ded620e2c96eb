// Conversion of a call's arguments to a checked problem that a backend can solve.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "exact/core.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Largest size of an integral weight of 8 bytes in a power diagram: up to it a double is exact. The host rejects
/// larger weights; on a device, which cannot report them, their seeds own no cell.
inline constexpr std::int64_t most_wide_weight = std::int64_t{1} << 53;

/// Classes of cells, which determine the sites of a cell.
enum class classes : std::uint8_t {
    none,    ///< sites are sites for all cells
    zero,    ///< zero and not zero, in a signed field: the sites of a cell are the cells of the other class
    values,  ///< every value is a class
};

/// A checked call. Axes of length 1 are dropped from `size` and from the strides of the image. For values alone the
/// other axes are ordered as in memory; `source_axis` names the axis of the caller's arrays for each one.
struct plan {
    int image_rank = 1;  ///< axes of the caller's arrays
    int batch_axes = 0;  ///< leading ones of these, which number images
    int rank = 1;        ///< axes of the problem
    int first_axis = 0;  ///< axes of the problem before it number images and are not searched
    std::array<std::int64_t, max_rank> size{};
    std::array<int, max_rank> source_axis{};
    std::array<std::int64_t, max_rank> image_stride{};  ///< strides of the kept axes, in elements
    std::int64_t cells = 0;

    tier numbers = tier::int32;
    bool sites_wanted = false;  ///< passes carry packed sites, not only values
    /// Factor of a squared number of cells along an axis: 1 if all axes have the same spacing; the square of an integer
    /// if all spacings are multiples of one length; else spacing^2, rounded to double. Integral unless numbers is
    /// float64.
    std::array<double, max_rank> weight{};
    double unit2 = 1;  ///< unit of values: a squared distance is unit2 * value, rounded once
    key_layout keys;
    /// Winning rows along an axis bound those between them. Always true for integers. A power diagram's weights are not
    /// considered here.
    std::array<bool, max_rank> rows_ordered{};
    double largest = 0;  ///< bound of all values, which are squared distances in units of unit2

    // ---- options ----------------------------------------------------------------------------------------------------
    // Their defaults are those of an engine that supports sites only.
    sites rule = sites::zero;
    classes by = classes::none;  ///< set for other_labels and for signed fields
    bool background = false;     ///< zero cells are sites for all, whatever their class
    int inside_sign = 1;         ///< factor of distances of inside cells
    int outside_sign = 1;        ///< factor of distances of all other cells
    bool inside_is_nonzero = true;
    bool half_cell = false;  ///< distances end at faces; values are then in quarters, or in fractions of these
    bool weighted = false;   ///< a power diagram: the first value of a site is minus its weight
    std::array<border, max_rank> borders{};
    /// Values of the nearest closed and open border along dropped axes, at which all cells lie.
    double closed_beside = std::numeric_limits<double>::infinity();
    double open_beside = std::numeric_limits<double>::infinity();
    double limit = std::numeric_limits<double>::infinity();  ///< larger values mean no site

    /// Host: the negative half of a signed field, which does not write cells that are sites.
    bool negative_side = false;
    bool turned = false;  ///< host: a long axis follows shorter ones that are closer in memory

    bool plain_outputs = true;  ///< no fields or types beyond float32/64, uint32/64 and float64, int32/64, int32

    /// True if the engines without options suffice: sites for all cells, open borders, no limit, no unusual field.
    [[nodiscard]] bool plain() const;
    [[nodiscard]] bool is_signed() const { return inside_sign != outside_sign; }
    /// Treats labels as a mask, if one is zero and all others are equal: zero is the site of all cells or, in a signed
    /// field, the other class.
    void take_as_mask();
    /// True if values do not depend on the order of the axes: always for integers; for doubles with two axes, because a
    /// sum of two terms has no order, if no step is lost in it.
    [[nodiscard]] bool any_order() const;
    /// Reorders the axes: axis i becomes the former axis order[i].
    void put_axes(const std::array<std::size_t, max_rank>& order);
    /// Orders the axes as in memory, the closest last, if that is the same for the image and all fields: an image in
    /// Fortran order is solved as its transpose in C order. With sites the axes stay, since ties depend on them.
    template <class Place>
    void follow_memory(const any_input<Place>& image, const fields<Place>& out);
    [[nodiscard]] bool any(border which) const;
    /// Returns the root of unit2 if that is a power of two, by which roots of any type may be multiplied; else 0.
    [[nodiscard]] double unit() const;
    /// Returns the factor of squared distances that are whole numbers, which are then below 2^62.
    [[nodiscard]] std::uint64_t whole_unit2() const {
        return unit2 >= 1 && unit2 < 0x1p62 ? static_cast<std::uint64_t>(unit2) : 1;
    }

    template <class V>
    [[nodiscard]] metric<V> as_metric() const {
        metric<V> m;
        m.rank = rank;
        m.keys = keys;
        m.first_axis = first_axis;
        m.half_cell = half_cell;
        for (std::size_t axis = 0; axis < static_cast<std::size_t>(rank); ++axis) {
            m.size[axis] = size[axis];
            m.weight[axis] = bound<V>(weight[axis]);
            m.periodic[axis] = borders[axis] == border::periodic;
        }
        return m;
    }
    /// Returns a bound in the numbers of the problem: no_site if there is none.
    template <class V>
    [[nodiscard]] static V bound(double value) {
        return value < static_cast<double>(no_site<V>()) ? static_cast<V>(value) : no_site<V>();
    }
};

/// In double, winners bound each other if the smallest step between two parabolas, 2 * weight, exceeds the error of
/// comparing two values, which is at most 2^-50 of the largest.
NF_HD constexpr bool rows_ordered(double largest, double weight) { return largest / weight < 562949953421312.0; }

/// True if all fields and types are supported by the engines without options.
template <class Place>
bool has_plain_types(const fields<Place>& out);

/// The arrays of one call.
template <class Place>
struct arrays {
    const any_input<Place>& image;
    const fields<Place>& out;
    const any_input<Place>* weights = nullptr;  ///< for a power diagram
};

/// Arguments of make_plan.
struct request {
    const distance_options& options;
    bool reads_data = true;  ///< false: views may have no data
    bool weighted = false;
    dtype weight_type = dtype::float64;
};

/// Checks every argument and selects the number type. Throws invalid_argument; starts nothing.
template <class Place>
plan make_plan(const any_input<Place>& image, const fields<Place>& out, const request& wanted);

}  // namespace nearfield::exact
