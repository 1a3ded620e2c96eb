// What calls with several inputs write: files of the inputs' names, in the folders that the outputs name.
#pragma once

#include <string>

#include "cli/arguments.hpp"

namespace nearfield::cli {

[[nodiscard]] bool is_folder(const std::string& path);

/// "folder/a.npy" for the input "there/a.nii.gz" and the suffix ".npy".
[[nodiscard]] std::string file_for(const std::string& input, const std::string& folder, const std::string& suffix);

/// Throws invalid_argument when two inputs would have files of one name, or one is stdin, which has no name.
void check_names(const arguments& args);

/// Throws invalid_argument when what the option names is stdout or a file.
void check_folder(const std::string& option, const std::string& path);

}  // namespace nearfield::cli
