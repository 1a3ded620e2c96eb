// Selects the order in which the axes of a problem are solved.
#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "exact/plan.hpp"

namespace nearfield::exact {

bool plan::any_order() const {
    if (numbers != tier::float64) return true;
    const auto last = static_cast<std::size_t>(rank - 1);
    return rank - first_axis == 2 && rows_ordered[last - 1] && rows_ordered[last];
}

void plan::put_axes(const std::array<std::size_t, max_rank>& order) {
    const plan before = *this;
    for (auto axis = static_cast<std::size_t>(first_axis); axis < static_cast<std::size_t>(rank); ++axis) {
        const std::size_t from = order[axis];
        size[axis] = before.size[from], source_axis[axis] = before.source_axis[from];
        image_stride[axis] = before.image_stride[from], weight[axis] = before.weight[from];
        borders[axis] = before.borders[from], rows_ordered[axis] = before.rows_ordered[from];
        keys.shift[axis] = before.keys.shift[from], keys.bits[axis] = before.keys.bits[from];
    }
}

template <class Place>
void plan::follow_memory(const any_input<Place>& image, const fields<Place>& out) {
    if (sites_wanted || weighted || !any_order()) return;
    std::array<std::size_t, max_rank> order{};
    std::iota(order.begin(), order.end(), std::size_t{0});
    const auto first = order.begin() + first_axis, end = order.begin() + rank;
    const auto farther_in = [&](const auto& strides) {
        return [&](std::size_t a, std::size_t b) {
            const auto step = [&](std::size_t axis) {
                return std::abs(strides[static_cast<std::size_t>(source_axis[axis])]);
            };
            return step(a) > step(b);
        };
    };
    std::stable_sort(first, end, farther_in(image.stride));
    if (std::is_sorted(first, end)) return;
    for (const any_output<Place>* field : {&out.distance, &out.squared, &out.trusted})
        if (field->wanted() && !std::is_sorted(first, end, farther_in(field->stride))) return;
    put_axes(order);
    keys = layout_for(size.data(), rank, first_axis);
}

template void plan::follow_memory(const any_input<host>&, const fields<host>&);
template void plan::follow_memory(const any_input<device>&, const fields<device>&);

}  // namespace nearfield::exact
