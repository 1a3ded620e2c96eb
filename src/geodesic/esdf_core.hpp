// Mathematics of distance fields for robots that host and device share: a cell's gradient and its cost.
#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "base/divide.hpp"
#include "geodesic/cell_array.hpp"
#include "nearfield/distance.hpp"
#include "nearfield/esdf.hpp"

namespace nearfield::geodesics {

/// Returns 1 / sqrt(square) with a relative error below 2^-40.
NF_HD inline double inverse_root(double square) {
#ifdef __CUDA_ARCH__
    if (square > 0x1p-100 && square < 0x1p100) {
        const double first = rsqrtf(static_cast<float>(square));  // relative error below 2^-21
        return first * fma(-0.5 * square * first, first, 1.5);    // a step of Newton's method squares it
    }
#endif
    return 1 / std::sqrt(square);
}

/// Divides a difference of coordinates by a distance in double, the rounded root of `square`, and rounds the quotient
/// to float. `inverse` is inverse_root(square). Its product differs from the quotient by less than 2^13 units in the
/// last place of a double. That matters only for tiny numbers and near the middle between two floats, 2^28 of the 2^29
/// steps that rounding drops.
NF_HD inline float component_of(double away, double square, double inverse) {
    constexpr std::uint32_t middle = 1U << 28, slack = 1U << 13;
    const double product = away * inverse, size = product < 0 ? -product : product;
    const auto dropped = static_cast<std::uint32_t>(__builtin_bit_cast(std::uint64_t, product)) & 0x1fffffffU;
    const bool sure = dropped - (middle - slack) > 2 * slack && size >= 0x1p-120;
    return static_cast<float>(sure || away == 0 ? product : away / std::sqrt(square));
}

/// Divides integer differences of coordinates by the root of the integer `square`, both below 2^24, and gives
/// component_of()'s bits by single precision alone: a GPU converts and multiplies doubles slowly.
struct small_root {
    float square, guess, rest;  ///< guess + rest is 1 / sqrt(square) with a relative error below 2^-43

    /// `near` is 1 / sqrt(square) with a relative error of at most 2^-22, two units in the last place.
    NF_HD small_root(float square_of, float near) : square(square_of), guess(near) {
        const float twice = near * near, lost = std::fma(near, near, -twice);
        rest = 0.5F * near * std::fma(-square, lost, std::fma(-square, twice, 1.0F));
    }
    /// The sum of two floats is exact: `quotient` and what rounding dropped. If a bit more of that would not change the
    /// quotient, it is the rounded one; the other cases, one of 2^15, take doubles.
    [[nodiscard]] NF_HD float component(float away) const {
        constexpr float bit_more = 1 + 0x1p-15F;
        const float product = away * guess, low = std::fma(away, rest, std::fma(away, guess, -product));
        const float quotient = product + low, dropped = low - (quotient - product);
        return quotient + dropped * bit_more == quotient ? quotient : by_doubles(away, square);
    }

private:
    [[gnu::noinline]] NF_HD static float by_doubles(float away, float of) {
        return static_cast<float>(static_cast<double>(away) / std::sqrt(static_cast<double>(of)));
    }
};

/// Writes distances, sites and gradients of a box, from the sites within the box that was solved: their coordinates on
/// a host, their numbers on a device. It sees a grid of 3 axes, or of max_rank; missing axes are put in front and have
/// length 1.
struct field_writing {
    static constexpr int few_axes = 3;

    int rank = 0;
    std::int64_t solved_first[max_rank]{}, solved_size[max_rank]{}, first[max_rank]{}, size[max_rank]{}, cells = 1;
    divisor by_solved_size[max_rank], by_size[max_rank];  ///< unless `wide`
    double length[max_rank]{};
    const void *index = nullptr, *solved = nullptr;  ///< in C order of the solved box; null if not wanted
    cell_array found;                                ///< coordinates in the solved box; may be `site`
    bool wide = false;                               ///< the solved box has more than 2^31 - 1 cells
    bool measures = false;                           ///< distances come from the sites, which have unit lengths
    bool flat = false;                               ///< the box is the grid, and all arrays are in C order
    bool negative_inside = false;
    cell_array occupancy, distance, site, gradient;

    /// True if squared distances within the grid are integers below 2^23.
    [[nodiscard]] bool is_small() const {
        std::int64_t largest = 0;
        bool unit = true;
        for (int axis = 0; axis < axes(); ++axis) {
            unit = unit && length[axis] == 1 && size[axis] <= 4096;
            largest += (size[axis] - 1) * (size[axis] - 1);
        }
        return unit && largest < std::int64_t{1} << 23;
    }
    [[nodiscard]] int axes() const { return rank <= few_axes ? few_axes : max_rank; }

    /// Writes cell number `i` of the box. Number is std::int32_t, or std::int64_t if `wide`.
    template <int Axes, class Number>
    NF_HD void write(Number i) const {
        Number at[Axes], in = 0;
        split<Axes>(i, size, by_size, first, at);
        for (int axis = 0; axis < Axes && !flat; ++axis)
            in = in * static_cast<Number>(solved_size[axis]) + at[axis] - static_cast<Number>(solved_first[axis]);
        if (flat) in = i;
        if (solved != nullptr) {
            if (distance.type == dtype::float64) put_distance<Axes>(i, at, static_cast<const double*>(solved)[in]);
            else put_distance<Axes>(i, at, static_cast<const float*>(solved)[in]);
        }
        if (index != nullptr) write_site<Axes>(i, at, static_cast<const Number*>(index)[in]);
    }

    template <int Axes>
    struct cell_fields {
        double distance;
        std::int32_t site[Axes];
        float gradient[Axes];
    };
    /// Computes the fields of cell number `i` of the box, whose site has this number in the solved box, or -1.
    template <int Axes, class Number>
    NF_HD cell_fields<Axes> fields_of(Number i, const Number (&at)[Axes], Number number) const {
        cell_fields<Axes> c;
        Number by[Axes];
        double away[Axes], square = 0;
        const bool none = number < 0;
        split<Axes>(none ? 0 : number, solved_size, by_solved_size, solved_first, by);
        for (int axis = 0; axis < Axes; ++axis) {
            away[axis] = none ? 0 : length[axis] * static_cast<double>(at[axis] - by[axis]);
            square += away[axis] * away[axis];
            c.site[axis] = none ? -1 : static_cast<std::int32_t>(by[axis]);
        }
        c.distance = none ? std::numeric_limits<double>::infinity() : measures ? root_of(square) : 0;
        if (gradient.data == nullptr) return c;
        const bool inside = negative_inside && !occupancy.is_zero(offset(occupancy, i, at));
        const double inverse = square > 0 ? inverse_root(square) : 0;
        for (int axis = 0; axis < Axes; ++axis) {
            const float part = square > 0 ? component_of(away[axis], square, inverse) : 0.0F;
            c.gradient[axis] = inside && square > 0 ? -part : part;
        }
        return c;
    }
    /// Computes the coordinates of a box's cell.
    template <int Axes, class Number>
    NF_HD void locate(Number i, Number (&at)[Axes]) const {
        split<Axes>(i, size, by_size, first, at);
    }

private:
    /// Computes the coordinates of a box's cell.
    template <int Axes>
    NF_HD static void split(std::int32_t number, const std::int64_t* /*size*/, const divisor* by,
                            const std::int64_t* first, std::int32_t (&at)[Axes]) {
        auto rest = static_cast<std::uint32_t>(number);
        for (int axis = Axes - 1; axis >= 0; --axis) {
            const std::uint32_t above = axis == 0 ? 0 : by[axis].quotient(rest);
            at[axis] = static_cast<std::int32_t>(static_cast<std::uint32_t>(first[axis]) + rest - above * by[axis].by);
            rest = above;
        }
    }
    template <int Axes>
    NF_HD static void split(std::int64_t number, const std::int64_t* size, const divisor* /*by*/,
                            const std::int64_t* first, std::int64_t (&at)[Axes]) {
        for (int axis = Axes - 1; axis >= 0; --axis) {
            const std::int64_t above = axis == 0 ? 0 : quotient(number, size[axis]);
            at[axis] = first[axis] + number - above * size[axis], number = above;
        }
    }

    /// Returns the offset of the box's cell number `i` in a caller's array.
    template <int Axes, class Number>
    NF_HD std::int64_t offset(const cell_array& of, Number i, const Number (&at)[Axes]) const {
        return flat ? i : of.at<Axes>(at);
    }
    template <int Axes, class Number>
    NF_HD void put_distance(Number i, const Number (&at)[Axes], double value) const {
        const std::int64_t to = offset(distance, i, at);
        if (distance.type == dtype::float64) static_cast<double*>(distance.data)[to] = value;
        else static_cast<float*>(distance.data)[to] = static_cast<float>(value);
    }
    /// Roots of integers below 2^24 have the same float when they are rounded to double first.
    NF_HD double root_of(double square) const {
        const bool small = distance.type == dtype::float32 && square < 0x1p24;
        return small ? static_cast<double>(std::sqrt(static_cast<float>(square))) : std::sqrt(square);
    }

    template <int Axes, class Number>
    NF_HD void write_site(Number i, const Number (&at)[Axes], Number number) const {
        const cell_fields<Axes> c = fields_of<Axes>(i, at, number);
        if (measures) put_distance(i, at, c.distance);
        if (site.data != nullptr) {
            auto* const to = static_cast<std::int32_t*>(site.data) + offset(site, i, at);
            for (int axis = 0, k = rank - Axes; axis < Axes; ++axis, ++k)
                if (k >= 0) to[k * site.component] = c.site[axis];
        }
        if (gradient.data == nullptr) return;
        auto* const to = static_cast<float*>(gradient.data) + offset(gradient, i, at);
        for (int axis = 0, k = rank - Axes; axis < Axes; ++axis, ++k)
            if (k >= 0) to[k * gradient.component] = c.gradient[axis];
    }
};

/// A costmap of rows * columns, and the costs near obstacles.
struct inflating {
    cell_array from, to;
    std::int64_t rows = 0, columns = 0;
    std::uint8_t* lethal = nullptr;          ///< in C order; after the search, costs by squared distance if `has_table`
    const std::uint32_t* squared = nullptr;  ///< squared distances in cells, in C order
    std::int32_t farthest[costmap_unknown]{};  ///< by cost: largest squared distance with this cost or more; -1 if none
    bool inflate_unknown = false, around_unknown = false;

    [[nodiscard]] NF_HD std::int64_t cells() const { return rows * columns; }
    /// Number of costs in the table: one for each squared distance that has a cost.
    [[nodiscard]] NF_HD std::int64_t costs() const { return std::int64_t{farthest[1]} + 1; }
    /// True if the table takes the place of the lethal cells: it fits and costs little beside a pass over the cells.
    [[nodiscard]] NF_HD bool has_table() const { return costs() <= cells() / 8; }

    [[nodiscard]] NF_HD std::int64_t offset(const cell_array& of, std::int64_t y, std::int64_t x) const {
        return y * of.step[0] + x * of.step[1];
    }
    [[nodiscard]] NF_HD std::uint8_t old_cost(std::int64_t y, std::int64_t x) const {
        return static_cast<const std::uint8_t*>(from.data)[offset(from, y, x)];
    }
    [[nodiscard]] NF_HD std::uint8_t is_lethal(std::uint8_t cost) const { return is_lethal(cost, around_unknown); }
    [[nodiscard]] NF_HD static std::uint8_t is_lethal(std::uint8_t cost, bool around_unknown) {
        return cost == costmap_lethal || (around_unknown && cost == costmap_unknown) ? 1 : 0;
    }
    /// The cost of a cell that had the cost `old`, from the cost that obstacles give it.
    [[nodiscard]] NF_HD std::uint8_t raised(std::uint8_t old, std::uint8_t cost) const {
        return raised(old, cost, least_of_unknown());
    }
    [[nodiscard]] NF_HD static std::uint8_t raised(std::uint8_t old, std::uint8_t cost, std::uint8_t least) {
        return (old == costmap_unknown && cost >= least) || cost > old ? cost : old;
    }
    /// The least cost that a cell of unknown cost takes over.
    [[nodiscard]] NF_HD std::uint8_t least_of_unknown() const { return inflate_unknown ? 1 : costmap_inscribed; }
    NF_HD void put(std::int64_t y, std::int64_t x, std::uint8_t cost) const {
        static_cast<std::uint8_t*>(to.data)[offset(to, y, x)] = raised(old_cost(y, x), cost);
    }
};

/// The largest cost at this squared distance, by bisection of `farthest`.
NF_HD constexpr std::uint8_t cost_at(const std::int32_t* farthest, std::uint32_t squared) {
    if (static_cast<std::int64_t>(squared) > farthest[1]) return costmap_free;
    int low = 1, high = costmap_unknown;
    while (high - low > 1) {
        const int middle = (low + high) / 2;
        if (farthest[middle] >= static_cast<std::int64_t>(squared)) low = middle;
        else high = middle;
    }
    return static_cast<std::uint8_t>(low);
}

/// Throws nearfield::error if a value is not allowed.
void check_inflation(const inflation_options& o);

void write_fields(const host& on, const field_writing& w);
void write_fields(const device& on, const field_writing& w);
void mark_lethal(const device& on, const inflating& w);
void write_costs(const device& on, const inflating& w);
/// Inflates a costmap tile by tile.
void spread_costs(const host& on, const inflating& w, std::int64_t reach);

/// Finds squared distances of up to reach^2 to the cells that are not 0, in cells.
template <class Place>
void find_squared(const Place& on, const std::uint8_t* lethal, std::uint32_t* squared, const std::int64_t (&shape)[2],
                  std::int64_t reach) {
    fields<Place> wanted;
    wanted.squared = any_output<Place>::contiguous(squared, dtype::uint32, shape);
    distance_options d;
    d.sites = sites::nonzero, d.max_distance = static_cast<double>(reach);
    distance_transform(on, any_input<Place>::contiguous(lethal, dtype::uint8, shape), wanted, d);
}

}  // namespace nearfield::geodesics
