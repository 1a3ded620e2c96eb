// What split and pores share: the watershed of the distance, and a table beside it.
#pragma once

#include <string>
#include <vector>

#include "cli/mask_verb.hpp"

namespace nearfield::cli {

/// A run whose result has a label for each region.
struct region_run : mask_run {
    io::array mask;     ///< 1 in the shape
    io::array squared;  ///< distances to the background
    double height = 0;
};

/// check_mask_outputs() of a verb that also writes a table by this option.
[[nodiscard]] bool check_outputs_with_table(const arguments& args, const std::string& option);

/// --height, else the shortest length of a cell.
[[nodiscard]] double height_of(const arguments& args, const std::vector<double>& per_axis);

/// Fills mask, squared and result, which is there: distances to the background, and their watershed upside down.
[[nodiscard]] computed find_regions(const arguments& args, region_run& run, int connectivity);

}  // namespace nearfield::cli
