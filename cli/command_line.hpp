// From argv to a verb's run, and from its errors to an exit status.
#pragma once

#include <ostream>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// What `argc` and `argv` ask for. Throws invalid_argument for anything that the table does not know, with the nearest
/// name that it does.
[[nodiscard]] arguments parse_arguments(int argc, const char* const* argv);

/// The whole program: never throws; errors are one line on stderr. Returns the exit status.
int run(int argc, const char* const* argv);

}  // namespace nearfield::cli
