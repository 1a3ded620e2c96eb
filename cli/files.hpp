// The files that a call reads and writes, and checks that none is lost.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// A file, and the option that names it: "--indices", "INPUT".
struct named_file {
    std::string option, path;
};

/// The files that the verb reads, by the table. Throws io if one of them is a folder.
[[nodiscard]] std::vector<named_file> files_read(const verb& chosen, const arguments& args);
/// The files that the verb writes, without folders.
[[nodiscard]] std::vector<named_file> files_written(const verb& chosen, const arguments& args);

/// Throws invalid_argument if two of `written` are the same file, or if one of them is an input and --overwrite does
/// not allow that.
void refuse_lost_files(const arguments& args, const std::vector<named_file>& written);

/// Makes the same check for the data file that an input's header `path` names, by its identity; empty: there is none.
void refuse_lost_data(const arguments& args, const std::string& path, const std::string& identity);

/// True if -o or another output in these words is stdout. The words need not be valid.
[[nodiscard]] bool writes_to_stdout(const verb& chosen, const std::vector<std::string>& words);

/// Makes a folder and its parents; throws io.
void make_folder(const std::string& path);
/// Writes text to a file, or to stdout for "-". Throws io.
void write_text(const std::string& path, const std::string& text);

}  // namespace nearfield::cli
