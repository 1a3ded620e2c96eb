// The INPUT of verbs that make a sample if there is none.
#pragma once

#include "cli/load.hpp"

namespace nearfield::cli {

/// Loads the INPUT; without one makes the sample that --kind, --size and the like describe.
[[nodiscard]] loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size);

/// The path of the INPUT, or a description of the sample.
[[nodiscard]] std::string input_name(const arguments& args);

}  // namespace nearfield::cli
