// Outputs of calls with several inputs: files named after the inputs, in the folders that the outputs name.
#pragma once

#include <string>

#include "cli/arguments.hpp"

namespace nearfield::cli {

[[nodiscard]] bool is_folder(const std::string& path);

/// The output's path: "folder/a.npy" for the input "there/a.nii.gz" and the suffix ".npy".
[[nodiscard]] std::string file_for(const std::string& input, const std::string& folder, const std::string& suffix);

/// Throws invalid_argument if two inputs would have outputs of one name, or if one is stdin, which has no name.
void check_names(const arguments& args);

/// Throws invalid_argument if the option names stdout or a file instead of a folder.
void check_folder(const std::string& option, const std::string& path);

}  // namespace nearfield::cli
