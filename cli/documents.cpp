// Help for terminals, and docs/cli.md.
#include "cli/documents.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/parse.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {
namespace {

constexpr std::size_t columns = 100, help_column = 30;

/// Wraps `text` into lines of at most `columns`; indents all but the first.
std::string wrapped(const std::string& text, std::size_t indent, std::size_t used) {
    std::string lines;
    for (const std::string& word : split(text, ' ')) {
        if (used + word.size() + 1 > columns && used > indent) {
            lines += "\n" + std::string(indent, ' ');
            used = indent;
        } else if (!lines.empty()) {
            lines += ' ', ++used;
        }
        lines += word, used += word.size();
    }
    return lines;
}

std::string choices_of(const option& each) {
    return each.choices.empty() ? "" : fmt::format(": {}", fmt::join(each.choices, ", "));
}

std::string names_of(const option& each) {
    std::string names = each.names;
    if (const auto comma = names.find(','); comma != std::string::npos) names.insert(comma + 1, " ");
    return each.flag() || each.positional() ? names : names + " " + each.value;
}

std::string usage_of(const verb& each) {
    std::string usage = "nearfield " + each.name;
    bool any_option = false;
    for (const option& row : each.options) {
        const std::string word = row.names + (row.many() ? "..." : "");
        if (row.positional()) usage += row.required ? " " + word : " [" + word + "]";
        else if (row.required) usage += fmt::format(" {} {}", row.names.substr(0, row.names.find(',')), row.value);
        else any_option = true;
    }
    return usage + (any_option ? " [options]" : "");
}

}  // namespace

std::string overview() {
    std::string text = "nearfield " NEARFIELD_VERSION
                       ": exact distance fields, Voronoi cells and components of images and volumes\n\nusage: "
                       "nearfield VERB [options]\n\n";
    for (const verb& each : verbs()) text += fmt::format("  {:<12} {}\n", each.name, each.summary);
    return text +
           "\n`nearfield help VERB` explains a verb and gives an example; `nearfield --version` prints the version.\n";
}

std::string help_of(const verb& each) {
    std::string text = fmt::format("{}\n\nusage: {}\n\n{}\n", each.summary, usage_of(each), wrapped(each.about, 0, 0));
    if (!each.options.empty()) text += "\n";
    for (const option& row : each.options) {
        std::string line = "  " + names_of(row);
        line += line.size() + 2 > help_column ? "\n" + std::string(help_column, ' ')
                                              : std::string(help_column - line.size(), ' ');
        text += line + wrapped(row.help + choices_of(row), help_column, help_column) + "\n";
    }
    text += "\nexample:\n";
    for (const std::string& line : split(each.example, '\n')) text += "  " + line + "\n";
    return text;
}

std::string markdown() {
    std::string text =
        "# The command line\n\n<!-- Made by `nearfield man --markdown`; change cli/table*.cpp instead. -->\n\n";
    text += "`nearfield VERB [options]`. `nearfield help VERB` prints what stands here.\n\n| verb | |\n| --- | --- |\n";
    for (const verb& each : verbs()) text += fmt::format("| [{}](#{}) | {} |\n", each.name, each.name, each.summary);
    for (const verb& each : verbs()) {
        text += fmt::format("\n## {}\n\n{}.\n\n    {}\n\n{}\n", each.name, each.summary, usage_of(each), each.about);
        if (!each.options.empty()) text += "\n| option | |\n| --- | --- |\n";
        for (const option& row : each.options)
            text += fmt::format("| `{}` | {}{} |\n", names_of(row), row.help, choices_of(row));
        text += fmt::format("\n```sh run\n{}\n```\n", each.example);
    }
    text += "\n## Exit status\n\n| status | meaning |\n| --- | --- |\n";
    for (const exit_status& each : exit_statuses()) text += fmt::format("| {} | {} |\n", each.code, each.meaning);
    return text +
           "\nAn error is one line on stderr, `nearfield: VERB: what is wrong and what to do`. With `--json` it is "
           "also an "
           "object `error` with its `status` and `message`, on the stream where the report would have gone. Ctrl-C, a "
           "closed terminal and `kill` end the program at once and leave no half-written file; signals that are "
           "ignored when it starts, as under `nohup`, stay ignored.\n";
}

int help_verb(const arguments& args) {
    const verb* topic = find_verb(args.topic);
    if (!args.topic.empty() && topic == nullptr)
        throw error(error_code::invalid_argument,
                    fmt::format("there is no verb '{}'; `nearfield help` lists them", args.topic));
    print(topic != nullptr ? help_of(*topic) : overview());
    return 0;
}

int man_verb(const arguments& args) {
    print(args.markdown ? markdown() : man_page());
    return 0;
}

}  // namespace nearfield::cli
