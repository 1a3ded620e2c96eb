// Computes one short line through all points.
#pragma once

#include <vector>

#include "cli/drawing.hpp"

namespace nearfield::cli {

/// Returns the numbers of the points in the order of Hilbert's curve through a square.
[[nodiscard]] std::vector<std::size_t> along_curve(const std::vector<point2>& points, double width, double height);

/// Shortens a closed tour until no steps cross, and neither an exchange of the ends of two steps near each other nor a
/// move of up to three neighbours shortens it further.
///
/// Bentley, "Fast algorithms for geometric traveling salesman problems", ORSA Journal on Computing 4(4), 1992.
[[nodiscard]] std::vector<std::size_t> short_tour(const std::vector<point2>& points, std::vector<std::size_t> order);

/// Returns the convex region of each point within a rectangle: it is cut once for each pair in `neighbours`.
[[nodiscard]] std::vector<std::vector<point2>> cells_around(const std::vector<point2>& points,
                                                            const std::vector<std::array<std::size_t, 2>>& neighbours,
                                                            double width, double height);

}  // namespace nearfield::cli
