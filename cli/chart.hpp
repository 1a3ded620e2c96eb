// Line charts as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nearfield::cli {

struct series {
    std::string name;
    std::vector<std::pair<double, double>> points;  ///< with x > 0 and y >= 0; others are left out
};

struct chart {
    std::string title, across, up;  ///< title of the chart and of its axes
    std::vector<series> lines;
};

/// Draws charts side by side with logarithmic axes, and a line for 0 below them if there are zeros. All share one
/// legend: lines of one name have one colour.
[[nodiscard]] std::string svg_of(const std::vector<chart>& charts);

}  // namespace nearfield::cli
