#include "cli/command_line.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <CLI/CLI.hpp>

#include <algorithm>
#include <deque>
#include <filesystem>
#include <new>

#include "cli/documents.hpp"
#include "cli/files.hpp"
#include "cli/parse.hpp"
#include "cli/progress.hpp"
#include "cli/report.hpp"
#include "io/bytes.hpp"
#include "nearfield/system.hpp"
#include "os/process.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

/// Number of edits between two words.
std::size_t edit_distance(const std::string& a, const std::string& b) {
    std::vector<std::size_t> row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        std::size_t diagonal = std::exchange(row[0], i);
        for (std::size_t j = 1; j <= b.size(); ++j)
            diagonal = std::exchange(row[j], std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])}));
    }
    return row.back();
}

/// "; did you mean X?" if one of the names is similar, else "".
std::string guess(const std::string& typed, const std::vector<std::string>& names) {
    const auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& a, const auto& b) {
        return edit_distance(typed, a) < edit_distance(typed, b);
    });
    return nearest != names.end() && edit_distance(typed, *nearest) <= 3 ? fmt::format("; did you mean {}?", *nearest)
                                                                         : "";
}

/// The text of an option as typed; the table's member says how it is parsed.
struct typed_value {
    const option* row;
    CLI::Option* parsed = nullptr;
    std::string text;
    std::vector<std::string> texts;  ///< for a row that takes several words
    bool given = false;
};

bool is_digits(const std::string& text) {
    return !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
}

/// Throws unless the value, or every item of a list, is one of the row's choices.
void check_choices(const option& row, const std::string& name, const std::string& text) {
    if (row.choices.empty()) return;
    for (const std::string& item : row.list ? split(text, ',') : std::vector<std::string>{text}) {
        // A device may have a number (cuda:1) and a channel may be one; compute() and take_channel() check them.
        if (std::find(row.choices.begin(), row.choices.end(), item) == row.choices.end() &&
            !(name == "--device" && item.starts_with("cuda:")) && !(name == "--channel" && is_digits(item)))
            refuse(fmt::format("{} is '{}'; expected one of {}{}{}", name, text, fmt::join(row.choices, ", "),
                               row.list ? ", or several joined by commas" : "", guess(item, row.choices)));
    }
}

void store(const typed_value& value, arguments& into) {
    const option& row = *value.row;
    const std::string name = row.positional() ? row.names : row.long_name(), example = fmt::format("{} 4", name);
    check_choices(row, name, value.text);
    std::visit(
        [&]<class T>(T arguments::*field) {
            if constexpr (std::is_same_v<T, bool>) into.*field = true;
            else if constexpr (std::is_same_v<T, std::vector<std::string>>) into.*field = value.texts;
            else if constexpr (std::is_same_v<T, double>)
                into.*field = parse_number(name, value.text, fmt::format("{} 0.1", name));
            else if constexpr (std::is_same_v<T, std::int64_t>) into.*field = parse_integer(name, value.text, example);
            else if constexpr (std::is_same_v<T, std::uint64_t>)
                into.*field = parse_unsigned(name, value.text, example);
            else {
                if (value.text.empty()) refuse(fmt::format("{} is empty; expected {}", name, row.value));
                into.*field = row.file && !row.reads && value.text == "/dev/stdout" ? "-" : value.text;
            }
        },
        row.into);
}

void refuse_extras(const verb& chosen, std::vector<std::string> extras) {
    if (const auto end = std::find(extras.begin(), extras.end(), "--"); end != extras.end()) extras.erase(end);
    if (extras.empty()) return;
    const auto unknown = std::find_if(extras.begin(), extras.end(),
                                      [](const std::string& word) { return word.starts_with("-") && word != "-"; });
    if (unknown == extras.end())
        refuse(fmt::format("'{}' is one argument too many; see `nearfield help {}`", extras.front(), chosen.name));
    std::vector<std::string> names;
    for (const option& row : chosen.options)
        if (!row.positional()) names.push_back(row.long_name());
    const std::string name = unknown->substr(0, unknown->find('='));
    refuse(fmt::format("there is no option {}{}; see `nearfield help {}`", name, guess(name, names), chosen.name));
}

/// The name of an option's file that has none: that of -o, which the table names before it.
std::string beside(const std::string& name, const std::string& output) {
    const std::string made = std::filesystem::path(output).replace_extension(".png").string();
    if (output.empty() || output == "-" || made == output)
        refuse(fmt::format("{} has no name, and -o has none to take; give {} FILE.png", name, name));
    return made;
}

/// Splits words into options with CLI11. Values stay text, so that all messages are the program's own.
void parse_words(const verb& chosen, std::vector<std::string> words, arguments& into) {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::deque<typed_value> values;
    for (const option& row : chosen.options) {
        typed_value& value = values.emplace_back(typed_value{&row, nullptr, {}, {}, false});
        if (row.flag()) value.parsed = app.add_flag(row.names, value.given);
        else if (row.many()) value.parsed = app.add_option(row.names, value.texts);
        else value.parsed = app.add_option(row.names, value.text)->expected(row.beside ? 0 : 1, 1);
    }
    std::reverse(words.begin(), words.end());  // CLI11 takes words from the back
    try {
        app.parse(std::move(words));
    } catch (const CLI::ArgumentMismatch& mismatch) {
        for (const typed_value& value : values)
            if (value.parsed->count() > 1 && !value.row->many())
                refuse(fmt::format("{} is given more than once", value.row->long_name()));
        refuse(fmt::format("{}; see `nearfield help {}`", mismatch.what(), chosen.name));
    } catch (const CLI::ParseError& problem) {
        refuse(fmt::format("{}; see `nearfield help {}`", problem.what(), chosen.name));
    }
    refuse_extras(chosen, app.remaining());
    for (typed_value& value : values) {
        if (value.row->beside && value.text.empty() && value.parsed->count() > 0)
            value.text = beside(value.row->long_name(), into.output);
        if (value.parsed->count() > 0) store(value, into);
        else if (value.row->required)
            refuse(fmt::format("{} is missing: {}; see `nearfield help {}`", value.row->long_name(), value.row->help,
                               chosen.name));
    }
}

int status_of(error_code code) {
    switch (code) {
        case error_code::invalid_argument: return 2;
        case error_code::io: return 3;
        case error_code::out_of_memory: return 4;
        case error_code::unsupported:
        case error_code::device: return 5;
        case error_code::cancelled: return 130;
    }
    return 1;
}

/// The way a call reports a failure, determined before its words are parsed.
struct tongue {
    std::string verb;
    bool json = false, json_to_stderr = false;
};

tongue tongue_of(const std::vector<std::string>& words) {
    const auto end = std::find(words.begin(), words.end(), "--");
    const auto has = [&](const char* name) { return std::find(words.begin(), end, name) != end; };
    const verb* chosen = words.empty() ? nullptr : find_verb(words[0]);
    if (chosen == nullptr) return {{}, has("--json"), false};
    const bool json = std::any_of(chosen->options.begin(), chosen->options.end(),
                                  [](const option& row) { return row.names == "--json"; });
    return {chosen->name, json && has("--json"), !has("--plan") && writes_to_stdout(*chosen, words)};
}

/// A line on stderr, and with --json an error report on the stream that a report of success would use.
last_words words_of(const tongue& how, std::string message, int status) {
    message = io::printable(message);
    last_words said{status, {}, fmt::format("nearfield: {}{}{}\n", how.verb, how.verb.empty() ? "" : ": ", message)};
    if (!how.json) return said;
    json_report report;
    report["nearfield"] = NEARFIELD_VERSION;
    report["verb"] = how.verb;
    report["error"] = {{"status", status}, {"message", message}};
    (how.json_to_stderr ? said.to_stderr : said.to_stdout) = json_text(report);
    return said;
}

int fail(const tongue& how, const std::string& message, int status) {
    const last_words said = words_of(how, message, status);
    std::fputs(said.to_stdout.c_str(), stdout);
    std::fflush(stdout);
    std::fputs(said.to_stderr.c_str(), stderr);
    return status;
}

void listen_for_signals(const tongue& how) {
    std::vector<last_words> words;
    for (const int number : os::ending_signals()) {
        words.push_back(words_of(how, "cancelled", 128 + number));
        words.back().signal = number;
    }
    leave_on_signals(std::move(words));
}

/// Answers --help, --version and an empty command line; returns the exit status, or -1 if there is a verb to run.
int answer_at_once(const std::vector<std::string>& words) {
    if (words.empty()) return std::fputs(overview().c_str(), stderr), 2;
    if (words[0] == "--version") return print("nearfield " NEARFIELD_VERSION "\n"), 0;
    const auto end = std::find(words.begin(), words.end(), "--");
    if (std::none_of(words.begin(), end, [](const std::string& word) { return word == "--help" || word == "-h"; }))
        return -1;
    const verb* topic = find_verb(words[0]);
    return print(topic != nullptr ? help_of(*topic) : overview()), 0;
}

/// Runs the verb. With --plan it prints the plan only.
int run_or_tell(const verb& chosen, const arguments& args) {
    try {
        return chosen.run(args);
    } catch (const planned& told) {
        json_report said = start_report(args);
        said["plans"].push_back(describe(told.plan));
        if (args.json) finish(args, said, {});
        else print(told.plan.text());
        return 0;
    }
}

}  // namespace

arguments parse_arguments(int argc, const char* const* argv) {
    std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    std::vector<std::string> names;
    for (const verb& each : verbs()) names.push_back(each.name);
    if (words.empty()) refuse(fmt::format("a verb is missing; give one of {}", fmt::join(names, ", ")));
    const verb* chosen = find_verb(words[0]);
    if (chosen == nullptr)
        refuse(fmt::format("there is no verb '{}'{}; expected one of {}", words[0], guess(words[0], names),
                           fmt::join(names, ", ")));
    arguments args;
    args.verb = chosen->name;
    words.erase(words.begin());
    parse_words(*chosen, std::move(words), args);
    return args;
}

int run(int argc, const char* const* argv) {
    const std::vector<std::string> words(argv + std::min(argc, 1), argv + argc);
    const tongue how = tongue_of(words);
    listen_for_signals(how);
    try {
        if (const int status = answer_at_once(words); status >= 0) return status;
        const arguments args = parse_arguments(argc, argv);
        const verb& chosen = *find_verb(args.verb);
        // Several inputs write into folders; the verb checks those files itself.
        if (!args.plan && args.inputs.size() < 2) refuse_lost_files(args, files_written(chosen, args));
        return run_or_tell(chosen, args);
    } catch (const error& problem) {
        return fail(how, problem.what(), status_of(problem.code()));
    } catch (const std::bad_alloc&) {
        const std::int64_t left = free_memory().value_or(0);
        return fail(how,
                    fmt::format("out of memory: the call needs more than the {} MiB that are free; give a smaller "
                                "input or free some memory",
                                left >> 20),
                    4);
    } catch (const std::exception& problem) {
        return fail(how, problem.what(), 1);
    }
}

}  // namespace nearfield::cli
