#include "cli/report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "cli/parse.hpp"
#include "io/bytes.hpp"
#include "os/files.hpp"

namespace nearfield::cli {

json_report start_report(const arguments& args) {
    json_report report;
    report["nearfield"] = NEARFIELD_VERSION;
    report["verb"] = args.verb;
    return report;
}

json_report describe(const io::array& values) {
    json_report report;
    report["shape"] = values.shape;
    report["dtype"] = name_of(values.type);
    constexpr const char* kinds[] = {"space", "time", "channel", "list", "vector", "unknown"};
    for (const io::axis_kind kind : values.axes) report["axes"].push_back(kinds[static_cast<int>(kind)]);
    if (!values.spacing.empty()) report["spacing"] = values.spacing;
    if (!values.unit.empty()) report["unit"] = values.unit;
    if (values.place.known()) report["place"] = io::text_of(values.place);
    if (!values.place.no_data.empty()) report["no_data"] = values.place.no_data;
    return report;
}

json_report describe(const computed& run, std::int64_t cells) {
    json_report report;
    report["device"] = run.device;
    report["name"] = run.name;
    if (run.threads > 0) report["threads"] = run.threads;
    report["compute_ms"] = run.median_ms();
    if (run.device == "cuda") report["copy_ms"] = run.copy_ms;
    report["mcells_per_s"] = run.median_ms() > 0 ? static_cast<double>(cells) / run.median_ms() / 1e3 : 0.0;
    if (!run.note.empty()) report["note"] = run.note;
    return report;
}

std::string json_text(const json_report& report) {
    // File names may be invalid UTF-8; a report with replacement characters is better than none. It is pure ASCII,
    // because some letters beyond it control terminals, too (U+009B).
    return report.dump(2, ' ', true, json_report::error_handler_t::replace) + "\n";
}

std::string text_of_ms(double ms) { return ms < 999.5 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.0f} ms", ms); }

void finish(const arguments& args, const json_report& report, const std::string& line, bool stdout_carries_data) {
    if (args.json) print(json_text(report), stdout_carries_data ? stderr : stdout);
    else if (!args.quiet) std::fputs((io::printable(line) + "\n").c_str(), stderr);
}

void note(const arguments& args, const std::string& text) {
    if (!args.quiet)
        std::fputs(fmt::format("nearfield: {}: note: {}\n", args.verb, io::printable(text)).c_str(), stderr);
}

void check_destination(const std::string& path) {
    if (path.empty() || path == "-") return;
    static_cast<void>(io::format_of(path));
    io::require_place(path);
}

namespace {

/// Returns true for "-", or another name of the pipe that stdout is, such as /dev/stdout.
bool is_stdout(const std::string& path) {
    if (path == "-") return true;
    const auto named = os::facts_of(path), out = os::facts_of(os::standard_output);
    return named && out && io::is_pipe(path) && named->volume == out->volume && named->number == out->number;
}

}  // namespace

bool one_stdout(const std::vector<std::string>& paths) {
    const auto count = std::count_if(paths.begin(), paths.end(), is_stdout);
    if (count > 1) throw error(error_code::invalid_argument, "more than one output is '-'; stdout can carry only one");
    if (count == 1 && os::is_terminal(os::standard_output))
        throw error(error_code::invalid_argument,
                    "output is '-' but stdout is a terminal; send it to a file or a pipe: ... -o - > distance.npy");
    return count == 1;
}

void print(const std::string& text, std::FILE* to) {
    if (std::fputs(text.c_str(), to) < 0 || std::fflush(to) != 0)
        throw error(error_code::io,
                    fmt::format("cannot write to {}: {}", to == stdout ? "stdout" : "stderr", std::strerror(errno)));
}

std::string text_of_bytes(std::int64_t bytes) {
    if (bytes < 10'000) return fmt::format("{} B", bytes);
    double amount = static_cast<double>(bytes);
    const char* units[] = {"B", "kB", "MB", "GB", "TB", "PB"};
    int unit = 0;
    while (amount >= 1000 && unit < 5) amount /= 1000, ++unit;
    return fmt::format("{:.1f} {}", amount, units[unit]);
}

json_report describe(const call_plan& p) {
    json_report said{{"place", p.place},
                     {"numbers", p.numbers},
                     {"cells", p.cells},
                     {"input_bytes", p.input_bytes},
                     {"output_bytes", p.output_bytes},
                     {"workspace_bytes", p.workspace_bytes}};
    if (p.threads > 0) said["threads"] = p.threads;
    said["passes"] = json_report::array();
    for (const pass_plan& each : p.passes)
        said["passes"].push_back({{"axis", each.axis},
                                  {"method", each.method},
                                  {"tiles", each.tiles},
                                  {"tile_rows", each.tile_rows},
                                  {"tile_columns", each.tile_columns}});
    return said;
}

}  // namespace nearfield::cli
