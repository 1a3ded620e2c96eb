// The INPUT of verbs that make a sample without one.
#pragma once

#include "cli/load.hpp"

namespace nearfield::cli {

/// What --kind, --size and the like say where there is no INPUT.
[[nodiscard]] loaded load_or_sample(const arguments& args, const std::vector<std::int64_t>& usual_size);

}  // namespace nearfield::cli
