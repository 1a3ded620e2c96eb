// Checks that the room's entries share.
#pragma once

#include <fmt/format.h>

#include "base/check.hpp"
#include "components/core.hpp"

namespace nearfield::components {

inline constexpr auto integers = {dtype::boolean, dtype::int8,   dtype::uint8, dtype::int16, dtype::uint16,
                                  dtype::int32,   dtype::uint32, dtype::int64, dtype::uint64};

inline void check_place(const host& on) {
    if (on.threads < 0) fail("threads is negative; give 0 for every core or a number of threads");
}
inline void check_place(const device&) {}

template <class Place>
void check_labels(const any_input<Place>& labels) {
    check_image<Place>("labels", labels, most_cells_a_side);
    if (labels.rank > most_axes)
        fail(fmt::format("labels has {} axes; give an array of 1 to {} axes", labels.rank, most_axes));
    check_type("labels", labels.type, integers);
}

template <class Place>
void check_memory(std::initializer_list<named_view<Place>> views, std::size_t inputs) {
    const std::span<const named_view<Place>> all(views.begin(), views.size());
    check_data<Place>(all);
    check_apart<Place>(all, inputs);
}

}  // namespace nearfield::components
