// Line charts as SVG.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace nearfield::cli {

struct series {
    std::string name;
    std::vector<std::pair<double, double>> points;  ///< both above 0 where they are drawn; others are left out
};

struct chart {
    std::string title, across, up;  ///< and what the axes show
    std::vector<series> lines;
};

/// Charts side by side, both axes logarithmic, one legend for all: a line of one name has one colour everywhere.
[[nodiscard]] std::string svg_of(const std::vector<chart>& charts);

}  // namespace nearfield::cli
