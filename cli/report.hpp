// What a verb says when it is done: a line on stderr, or JSON.
#pragma once

#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "cli/arguments.hpp"
#include "cli/compute.hpp"
#include "io/io.hpp"

namespace nearfield::cli {

using json_report = nlohmann::ordered_json;

/// A report with the fields that all have: "nearfield" (version) and "verb".
[[nodiscard]] json_report start_report(const arguments& args);
[[nodiscard]] json_report describe(const io::array& values);
[[nodiscard]] json_report describe(const computed& run, std::int64_t cells);
[[nodiscard]] json_report describe(const call_plan& plan);

[[nodiscard]] std::string json_text(const json_report& report);
/// "12.3 ms", "1962 ms"
[[nodiscard]] std::string text_of_ms(double ms);

/// --json: the report, to stdout unless stdout carries data. Otherwise, unless --quiet, `line` to stderr. Throws io
/// when the report cannot be written.
void finish(const arguments& args, const json_report& report, const std::string& line,
            bool stdout_carries_data = false);
/// "nearfield: VERB: note: ..." on stderr, unless --quiet.
void note(const arguments& args, const std::string& text);

/// Throws, before any work is done, when `path` has an unknown suffix or could not be written.
void check_destination(const std::string& path);
/// At most one output can be stdout; throws invalid_argument else. True when one is.
bool one_stdout(const std::vector<std::string>& paths);
/// Text to a stream; throws io when it cannot be written.
void print(const std::string& text, std::FILE* to = stdout);

/// "1.2 MB"
[[nodiscard]] std::string text_of_bytes(std::int64_t bytes);

}  // namespace nearfield::cli
