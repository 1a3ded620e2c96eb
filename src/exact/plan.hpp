// From the arguments of a call to a checked problem that a backend can solve.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "exact/core.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::exact {

/// Size of an integral weight of 8 bytes in a power diagram, at most: up to it a double is exact. A power diagram on
/// the host refuses larger ones, whose seeds own no cell on a device, which cannot.
inline constexpr std::int64_t most_wide_weight = std::int64_t{1} << 53;

/// What a cell is compared with to find its sites.
enum class classes : std::uint8_t {
    none,    ///< sites are sites for all cells
    zero,    ///< zero and not zero, in a signed field: the sites of a cell are the cells of the other class
    values,  ///< every value is a class
};

/// A checked call. Axes of length 1 are dropped from `size` and from the strides of the image, and the others of values
/// alone stand as they lie in memory; `source_axis` says which axis of the caller's arrays each one is.
struct plan {
    int image_rank = 1;  ///< of the caller's arrays
    int batch_axes = 0;  ///< of them, number images
    int rank = 1;        ///< of the problem
    int first_axis = 0;  ///< axes of the problem before it number images and are not searched
    std::array<std::int64_t, max_rank> size{};
    std::array<int, max_rank> source_axis{};
    std::array<std::int64_t, max_rank> image_stride{};  ///< of the kept axes, in elements
    std::int64_t cells = 0;

    tier numbers = tier::int32;
    bool sites_wanted = false;  ///< carry packed sites, not only values
    /// Factor of a squared number of cells along an axis: 1 where all axes have the same spacing; the square of an
    /// integer where all spacings are multiples of one length; else spacing^2, rounded to double. Integral unless
    /// numbers is float64.
    std::array<double, max_rank> weight{};
    double unit2 = 1;  ///< what values are counted in: a squared distance is unit2 * value, rounded once
    key_layout keys;
    /// Winning rows along an axis bound those between them. Always true in integers. A power diagram's weights are not
    /// considered here.
    std::array<bool, max_rank> rows_ordered{};
    double largest = 0;  ///< bound of all values, which are squared distances in units of unit2

    // ---- options. In each of them the defaults are what an engine for sites alone need not know about.
    // ----------------
    sites rule = sites::zero;
    classes by = classes::none;  ///< set for other_labels and for signed fields
    bool background = false;     ///< zero cells are sites for all, whatever their class
    int inside_sign = 1;         ///< factor of distances of inside cells
    int outside_sign = 1;        ///< and of the others
    bool inside_is_nonzero = true;
    bool half_cell = false;  ///< distances end at faces; values are counted in quarters then, or in parts of these
    bool weighted = false;   ///< a power diagram: sites start from minus their weight
    std::array<border, max_rank> borders{};
    /// Values of the nearest closed and open border along dropped axes, whose cells all are at the border.
    double closed_beside = std::numeric_limits<double>::infinity();
    double open_beside = std::numeric_limits<double>::infinity();
    double limit = std::numeric_limits<double>::infinity();  ///< larger values mean no site

    /// Host: the negative half of a signed field, which leaves cells that are sites as they are.
    bool negative_side = false;
    bool turned = false;  ///< host: a long axis stands behind shorter ones that lie closer in memory

    bool plain_outputs = true;  ///< no field or type beyond float32/64, uint32/64 and float64, int32/64, int32

    /// The engines without options suffice: sites for all cells, open borders, no limit, no unusual field.
    [[nodiscard]] bool plain() const;
    [[nodiscard]] bool is_signed() const { return inside_sign != outside_sign; }
    /// Labels of which one is zero and the others are alike: zero is the site of all, or in a signed field the other
    /// class.
    void take_as_mask();
    /// Values are the same whatever the order of the axes: always in integers; in doubles for two axes, as a sum of two
    /// terms has no order, where no step is lost in it.
    [[nodiscard]] bool any_order() const;
    /// Axis i becomes what axis order[i] was.
    void put_axes(const std::array<std::size_t, max_rank>& order);
    /// Puts the axes as they lie in memory, the closest last, where that is the same for the image and all fields: an
    /// image in Fortran order is solved as its transpose in C order. Sites keep the axes, as ties follow them.
    template <class Place>
    void follow_memory(const any_input<Place>& image, const fields<Place>& out);
    [[nodiscard]] bool any(border which) const;
    /// Root of unit2 where that is a power of two, with which roots in any type may be multiplied; else 0.
    [[nodiscard]] double unit() const;
    /// Factor of squared distances that are whole numbers, which then are below 2^62.
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
    /// A bound in the numbers of the problem: no_site where there is none.
    template <class V>
    [[nodiscard]] static V bound(double value) {
        return value < static_cast<double>(no_site<V>()) ? static_cast<V>(value) : no_site<V>();
    }
};

/// In double, winners bound each other as long as the smallest step between two parabolas, 2 * weight, exceeds the
/// error of comparing two values, at most 2^-50 of the largest.
NF_HD constexpr bool rows_ordered(double largest, double weight) { return largest / weight < 562949953421312.0; }

/// No field or type that the engines without options do not know.
template <class Place>
bool has_plain_types(const fields<Place>& out);

/// The arrays of one call.
template <class Place>
struct arrays {
    const any_input<Place>& image;
    const fields<Place>& out;
    const any_input<Place>* weights = nullptr;  ///< of a power diagram
};

/// What make_plan is asked for.
struct request {
    const distance_options& options;
    bool reads_data = true;  ///< false: views may come without data
    bool weighted = false;
    dtype weight_type = dtype::float64;
};

/// Checks every argument and chooses the numbers. Throws invalid_argument; starts nothing.
template <class Place>
plan make_plan(const any_input<Place>& image, const fields<Place>& out, const request& wanted);

}  // namespace nearfield::exact
