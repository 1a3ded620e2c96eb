// What geodesic, path and esdf share: cells in words, outputs.
#pragma once

#include <string>
#include <vector>

#include "cli/compute.hpp"
#include "cli/load.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {

/// "10,10;500,700": coordinates in array order, one cell after the other. Throws invalid_argument naming the option.
[[nodiscard]] std::vector<std::int64_t> parse_cells(const std::string& name, const std::string& text,
                                                    const std::vector<std::int64_t>& shape);

/// Throws for a picture that is no PNG, and where nothing would be made.
[[nodiscard]] bool check_paths_outputs(const arguments& args, const std::vector<std::string>& arrays);

/// Writes an array, or draws it where the suffix is .png.
void save_field(const arguments& args, const loaded& input, const std::string& path, const io::array& values,
                bool is_signed = false);

}  // namespace nearfield::cli
