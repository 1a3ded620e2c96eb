// Neighbours within a skeleton. Shared by the graph and its text formats.
#pragma once

#include <cstdlib>
#include <span>

#include "nearfield/skeleton_graph.hpp"

namespace nearfield::skeleton {

using place = std::array<std::int64_t, 3>;

inline place place_of(const skeleton_cells& cells, std::int64_t linear) {
    place at{};
    for (int axis = cells.axes - 1; axis >= 0; --axis) {
        const auto k = static_cast<std::size_t>(axis);
        at[k] = linear % cells.shape[k], linear /= cells.shape[k];
    }
    return at;
}

/// Returns the step from one cell to a neighbour; across the end if the axis is periodic.
inline place step_between(const skeleton_cells& cells, std::int64_t from, std::int64_t to) {
    const place a = place_of(cells, cells.at[static_cast<std::size_t>(from)]),
                b = place_of(cells, cells.at[static_cast<std::size_t>(to)]);
    place step{};
    for (std::size_t k = 0; k < 3; ++k) {
        step[k] = b[k] - a[k];
        if (std::abs(step[k]) > 1) step[k] = step[k] > 0 ? -1 : 1;
    }
    return step;
}

/// Lists the neighbours of each cell by number, ascending.
class neighbours {
public:
    explicit neighbours(const skeleton_cells& cells);

    [[nodiscard]] std::span<const std::int64_t> operator[](std::int64_t cell) const {
        const auto k = static_cast<std::size_t>(cell);
        return {near_.data() + start_[k], near_.data() + start_[k + 1]};
    }
    [[nodiscard]] std::size_t degree(std::int64_t cell) const { return (*this)[cell].size(); }

private:
    std::vector<std::size_t> start_;
    std::vector<std::int64_t> near_;
};

}  // namespace nearfield::skeleton
