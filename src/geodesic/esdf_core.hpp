// Mathematics of distance fields for robots that host and device share: a cell's gradient and its cost.
#pragma once

#include <cmath>
#include <cstdint>

#include "geodesic/cell_array.hpp"
#include "nearfield/esdf.hpp"

namespace nearfield::geodesics {

/// Writes distances, sites and gradients of a box, from the sites' numbers within the box that was solved. It sees a
/// grid of 3 axes, or of max_rank; missing axes are put in front and have length 1.
struct field_writing {
    static constexpr int few_axes = 3;

    int rank = 0;
    std::int64_t solved_first[max_rank]{}, solved_size[max_rank]{}, first[max_rank]{}, size[max_rank]{}, cells = 1;
    double length[max_rank]{};
    const void *index = nullptr, *solved = nullptr;  ///< in C order of the solved box; null if not wanted
    bool wide = false, negative_inside = false;
    cell_array occupancy, distance, site, gradient;

    [[nodiscard]] int axes() const { return rank <= few_axes ? few_axes : max_rank; }

    /// Writes cell number `i` of the box.
    template <int Axes>
    NF_HD void write(std::int64_t i) const {
        std::int64_t at[Axes], in = 0;
        for (int axis = Axes - 1; axis >= 0; --axis) {
            const std::int64_t rest = quotient(i, size[axis]);
            at[axis] = first[axis] + i - rest * size[axis], i = rest;
        }
        for (int axis = 0; axis < Axes; ++axis) in = in * solved_size[axis] + at[axis] - solved_first[axis];
        if (solved != nullptr) {
            const std::int64_t to = distance.at<Axes>(at);
            if (distance.type == dtype::float64)
                static_cast<double*>(distance.data)[to] = static_cast<const double*>(solved)[in];
            else static_cast<float*>(distance.data)[to] = static_cast<const float*>(solved)[in];
        }
        if (index != nullptr)
            write_site<Axes>(
                at, wide ? static_cast<const std::int64_t*>(index)[in] : static_cast<const std::int32_t*>(index)[in]);
    }

private:
    template <int Axes>
    NF_HD void write_site(const std::int64_t* at, std::int64_t number) const {
        std::int64_t by[Axes];
        double away[Axes], square = 0;
        const bool none = number < 0;
        for (int axis = Axes - 1; axis >= 0; --axis) {
            const std::int64_t rest = none ? 0 : quotient(number, solved_size[axis]);
            by[axis] = none ? -1 : solved_first[axis] + number - rest * solved_size[axis], number = rest;
        }
        for (int axis = 0; axis < Axes; ++axis) {
            away[axis] = none ? 0 : length[axis] * static_cast<double>(at[axis] - by[axis]);
            square += away[axis] * away[axis];
        }
        if (site.data != nullptr) {
            auto* const to = static_cast<std::int32_t*>(site.data) + site.at<Axes>(at);
            for (int axis = Axes - rank; axis < Axes; ++axis)
                to[(axis - Axes + rank) * site.component] = static_cast<std::int32_t>(by[axis]);
        }
        if (gradient.data == nullptr) return;
        const bool inside = negative_inside && !occupancy.is_zero(occupancy.at<Axes>(at));
        const double distance_to = std::sqrt(square) * (inside ? -1 : 1);
        auto* const to = static_cast<float*>(gradient.data) + gradient.at<Axes>(at);
        for (int axis = Axes - rank; axis < Axes; ++axis)
            to[(axis - Axes + rank) * gradient.component] =
                square > 0 ? static_cast<float>(away[axis] / distance_to) : 0.0F;
    }
};

/// A costmap of rows * columns, and the costs near obstacles.
struct inflating {
    cell_array from, to;
    std::int64_t rows = 0, columns = 0;
    std::uint8_t* lethal = nullptr;            ///< in C order
    const std::uint32_t* squared = nullptr;    ///< squared distances in cells, in C order
    std::int32_t farthest[costmap_unknown]{};  ///< by cost: largest squared distance with this cost or more; -1 if none
    bool inflate_unknown = false, around_unknown = false;

    [[nodiscard]] NF_HD std::int64_t cells() const { return rows * columns; }
    [[nodiscard]] NF_HD std::uint8_t old_cost(std::int64_t y, std::int64_t x) const {
        return static_cast<const std::uint8_t*>(from.data)[y * from.step[0] + x * from.step[1]];
    }
    NF_HD void mark(std::int64_t y, std::int64_t x) const {
        const std::uint8_t cost = old_cost(y, x);
        lethal[y * columns + x] = cost == costmap_lethal || (around_unknown && cost == costmap_unknown) ? 1 : 0;
    }
    NF_HD void put(std::int64_t y, std::int64_t x, std::uint8_t cost) const {
        const std::uint8_t old = old_cost(y, x), least_of_unknown = inflate_unknown ? 1 : costmap_inscribed;
        static_cast<std::uint8_t*>(to.data)[y * to.step[0] + x * to.step[1]] =
            (old == costmap_unknown && cost >= least_of_unknown) || cost > old ? cost : old;
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

void write_fields(const host& on, const field_writing& w);
void write_fields(const device& on, const field_writing& w);
void mark_lethal(const host& on, const inflating& w);
void mark_lethal(const device& on, const inflating& w);
void write_costs(const host& on, const inflating& w);
void write_costs(const device& on, const inflating& w);

}  // namespace nearfield::geodesics
