// The final message of a verb: a line on stderr, or JSON.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/arguments.hpp"
#include "cli/compute.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

using json_report = nlohmann::ordered_json;

/// Makes a report with the fields that all reports have: "nearfield" (version) and "verb".
[[nodiscard]] json_report start_report(const arguments& args);
[[nodiscard]] json_report describe(const io::array& values);
[[nodiscard]] json_report describe(const computed& run, std::int64_t cells);
[[nodiscard]] json_report describe(const call_plan& plan);

[[nodiscard]] std::string json_text(const json_report& report);
/// Writes a time as in "12.3 ms" or "1962 ms".
[[nodiscard]] std::string text_of_ms(double ms);

/// Ends a verb. With --json writes the report, to stdout unless that carries data. Otherwise, unless --quiet, writes
/// `line` to stderr. Throws io if the report cannot be written.
void finish(const arguments& args, const json_report& report, const std::string& line,
            bool stdout_carries_data = false);
/// Writes "nearfield: VERB: note: ..." to stderr, unless --quiet.
void note(const arguments& args, const std::string& text);

/// Throws, before any work is done, if `path` has an unknown suffix or cannot be written.
void check_destination(const std::string& path);
/// Throws invalid_argument if more than one output is stdout. True if one is.
bool one_stdout(const std::vector<std::string>& paths);
/// Writes text to a stream; throws io if that fails.
void print(const std::string& text, std::FILE* to = stdout);

/// Writes a size as in "1.2 MB".
[[nodiscard]] std::string text_of_bytes(std::int64_t bytes);

}  // namespace nearfield::cli
