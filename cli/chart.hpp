// Line charts as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nearfield::cli {

struct series {
    std::string name;
    std::vector<std::pair<double, double>> points;  ///< the first above 0, the second 0 or more; others are left out
};

struct chart {
    std::string title, across, up;  ///< and what the axes show
    std::vector<series> lines;
};

/// Charts side by side, both axes logarithmic, with a line for 0 below where there is one; one legend for all: a line
/// of one name has one colour everywhere.
[[nodiscard]] std::string svg_of(const std::vector<chart>& charts);

}  // namespace nearfield::cli
