// Which files a call reads and writes, and that none is lost by it.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"

namespace nearfield::cli {

/// A file and who names it: "--indices", "INPUT".
struct named_file {
    std::string option, path;
};

/// The files that the table says are read. Throws io when one of them is a folder.
[[nodiscard]] std::vector<named_file> files_read(const verb& chosen, const arguments& args);
/// Those that are written; without folders.
[[nodiscard]] std::vector<named_file> files_written(const verb& chosen, const arguments& args);

/// Throws invalid_argument when two of `written` are one file, or one of them is the file of an input and --overwrite
/// does not allow that.
void refuse_lost_files(const arguments& args, const std::vector<named_file>& written);

/// The same of the data file, by its identity, that the header `path` of an input names; empty: of none.
void refuse_lost_data(const arguments& args, const std::string& path, const std::string& identity);

/// True when -o or another output of these words is stdout; the words need not be right.
[[nodiscard]] bool writes_to_stdout(const verb& chosen, const std::vector<std::string>& words);

/// Makes a folder and those above it; throws io.
void make_folder(const std::string& path);
/// Text to a file, or to stdout for "-". Throws io.
void write_text(const std::string& path, const std::string& text);

}  // namespace nearfield::cli
