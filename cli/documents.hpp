// Help, docs/cli.md, the man page and completions, all from the table of verbs.
#pragma once

#include <string>

#include "cli/arguments.hpp"

namespace nearfield::cli {

[[nodiscard]] std::string overview();
[[nodiscard]] std::string help_of(const verb& each);
[[nodiscard]] std::string markdown();
[[nodiscard]] std::string man_page();
/// The completion script for `shell`: bash, zsh or fish.
[[nodiscard]] std::string completion_for(const std::string& shell);

}  // namespace nearfield::cli
