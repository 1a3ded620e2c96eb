// Geodesic distances by Dijkstra's algorithm with a heap, cell by cell.
#pragma once

#include <cstdint>
#include <vector>

#include "exact/fills.hpp"
#include "nearfield/geodesic.hpp"

namespace nearfield::test {

/// A call; arrays are in C order.
struct geodesic_case {
    shape_t shape;
    std::vector<std::uint8_t> mask;
    std::vector<std::int64_t> seeds, cost;  ///< cost is empty if there is none
    std::vector<priced_step> steps;
    std::vector<border> ends;
    int batch_axes = 0;
    bool cut_corners = true;
    cost_rule rule = cost_rule::entered;
    double max_cost = 1e300;

    [[nodiscard]] geodesic_options options() const;
    [[nodiscard]] std::int64_t cells() const { return static_cast<std::int64_t>(mask.size()); }
};

struct geodesic_result {
    std::vector<std::int64_t> cost, index, label;  ///< -1, -1 and 0 if there is no path
    friend bool operator==(const geodesic_result&, const geodesic_result&) = default;
};

geodesic_result expected(const geodesic_case& c);

/// True if the line from the centre of 0 to that of v meets cell c: tests points at all events and between them.
bool line_meets(const std::vector<int>& v, const std::vector<int>& c, bool touching);

}  // namespace nearfield::test
