// Runs a verb from argv, and turns its errors into an exit status.
#pragma once

#include <ostream>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// Parses `argv`. Throws invalid_argument for a word that the table does not know, with the most similar one that it
/// knows.
[[nodiscard]] arguments parse_arguments(int argc, const char* const* argv);

/// Runs the whole program and returns the exit status. Never throws; an error is one line on stderr.
int run(int argc, const char* const* argv);

}  // namespace nearfield::cli
