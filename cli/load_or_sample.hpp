// The INPUT of verbs that make a sample without one.
#pragma once

#include "cli/load.hpp"

namespace nearfield::cli {

/// What --kind, --size and the like say where there is no INPUT.
[[nodiscard]] loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size);

/// The path of the INPUT, or which sample takes its place.
[[nodiscard]] std::string input_name(const arguments& args);

}  // namespace nearfield::cli
