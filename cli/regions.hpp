// Finds regions by the watershed of the distance, for pores; and checks outputs that include a table, for split too.
#pragma once

#include <string>
#include <vector>

#include "cli/mask_verb.hpp"

namespace nearfield::cli {

/// A run whose result has a label for each region.
struct region_run : mask_run {
    io::array mask;     ///< 1 inside the shape
    io::array squared;  ///< squared distances to the background
    double height = 0;
};

/// Does check_mask_outputs() for a verb that also writes a table by this option.
[[nodiscard]] bool check_outputs_with_table(const arguments& args, const std::string& option);

/// The value of --height, else the shortest length of a cell.
[[nodiscard]] double height_of(const arguments& args, const std::vector<double>& per_axis);

/// Fills mask, squared and the allocated result: distances to the background, and the watershed of these from peaks.
[[nodiscard]] computed find_regions(const arguments& args, region_run& run, int connectivity);

}  // namespace nearfield::cli
