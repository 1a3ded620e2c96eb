// The man page and the completion scripts.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/documents.hpp"
#include "cli/parse.hpp"
#include "cli/report.hpp"

namespace nearfield::cli {
namespace {

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

/// Escapes text for roff, where backslashes, hyphens and leading dots have a meaning.
std::string roff(const std::string& text) {
    std::string safe = replaced(replaced(text, "\\", "\\e"), "-", "\\-");
    return safe.starts_with(".") || safe.starts_with("'") ? "\\&" + safe : safe;
}

std::vector<std::string> verb_names() {
    std::vector<std::string> names;
    for (const verb& each : verbs()) names.push_back(each.name);
    return names;
}

/// Words that complete an option's value or a positional; empty for file names.
std::vector<std::string> words_of(const option& each) { return each.names == "VERB" ? verb_names() : each.choices; }

std::string bash() {
    std::string text =
        "# bash completion for nearfield; source <(nearfield completion bash)\n_nearfield() {\n"
        "    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} verb=${COMP_WORDS[1]} words=\n"
        "    COMPREPLY=()\n";
    text += fmt::format(
        "    if ((COMP_CWORD == 1)); then\n        COMPREPLY=($(compgen -W '{} --help --version' -- \"$word\"))\n      "
        "  return\n    fi\n    case $verb in\n",
        fmt::join(verb_names(), " "));
    for (const verb& each : verbs()) {
        text += fmt::format("    {})\n        case $before in\n", each.name);
        std::vector<std::string> offered{"--help"};
        for (const option& row : each.options) {
            if (row.positional()) {
                for (const std::string& word : words_of(row)) offered.push_back(word);
                continue;
            }
            offered.push_back(row.long_name());
            if (row.flag()) continue;
            const std::string action =
                row.file ? "compopt -o filenames 2>/dev/null; COMPREPLY=($(compgen -f -- \"$word\")); "
                         : fmt::format("COMPREPLY=($(compgen -W '{}' -- \"$word\")); ", fmt::join(row.choices, " "));
            text += fmt::format("        {}) {}return ;;\n", replaced(row.names, ",", "|"), action);
        }
        text += fmt::format("        esac\n        words='{}' ;;\n", fmt::join(offered, " "));
    }
    return text +
           "    esac\n"
           "    if [[ $word == -* ]]; then\n        COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n        "
           "return\n    fi\n"
           "    local choice\n    for choice in $words; do\n        [[ $choice != -* && $choice == \"$word\"* ]] && "
           "COMPREPLY+=(\"$choice\")\n    done\n"
           "    if ((${#COMPREPLY[@]} == 0)); then\n        compopt -o filenames 2>/dev/null\n        "
           "COMPREPLY=($(compgen -f -- \"$word\"))\n    fi\n"
           "}\ncomplete -F _nearfield nearfield\n";
}

std::string zsh_text(const std::string& text) {
    return replaced(replaced(replaced(replaced(text, "'", "'\\''"), "[", "\\["), "]", "\\]"), ":", "\\:");
}

std::string zsh() {
    std::string text =
        "#compdef nearfield\n# zsh completion for nearfield; nearfield completion zsh > "
        "\"${fpath[1]}/_nearfield\"\n_nearfield() {\n    local -a verbs\n    verbs=(\n";
    for (const verb& each : verbs()) text += fmt::format("        '{}:{}'\n", each.name, zsh_text(each.summary));
    text +=
        "    )\n    if ((CURRENT == 2)); then\n        _describe verb verbs\n        return\n    fi\n    local "
        "verb=$words[2]\n    shift words\n    ((CURRENT--))\n    case $verb in\n";
    for (const verb& each : verbs()) {
        text += fmt::format("    {})\n        _arguments", each.name);
        int place = 0;
        for (const option& row : each.options) {
            const auto words = words_of(row);
            const std::string action = row.file        ? "_files"
                                       : words.empty() ? " "
                                                       : fmt::format("({})", fmt::join(words, " "));
            if (row.positional()) {
                ++place;
                text += fmt::format(" \\\n            '{}{}:{}:{}'", row.many() ? "*" : std::to_string(place),
                                    row.required || row.many() ? "" : ":", zsh_text(row.value), action);
                continue;
            }
            for (const std::string& name : split(row.names, ','))
                text += fmt::format(" \\\n            '{}[{}]{}'", name, zsh_text(row.help),
                                    row.flag() ? "" : fmt::format(":{}:{}", zsh_text(row.value), action));
        }
        text += " ;;\n";
    }
    return text +
           "    esac\n}\nif [[ $funcstack[1] == _nearfield ]]; then\n    _nearfield \"$@\"\nelse\n    compdef "
           "_nearfield nearfield\nfi\n";
}

std::string fish_text(const std::string& text) { return replaced(replaced(text, "\\", "\\\\"), "'", "\\'"); }

std::string fish() {
    std::string text =
        "# fish completion for nearfield; nearfield completion fish > ~/.config/fish/completions/nearfield.fish\n";
    for (const verb& each : verbs())
        text += fmt::format("complete -c nearfield -n __fish_use_subcommand -f -a {} -d '{}'\n", each.name,
                            fish_text(each.summary));
    for (const verb& each : verbs())
        for (const option& row : each.options) {
            const auto words = words_of(row);
            std::string line = fmt::format("complete -c nearfield -n '__fish_seen_subcommand_from {}'", each.name);
            if (row.positional()) {
                if (words.empty()) continue;
                line += fmt::format(" -f -a '{}'", fmt::join(words, " "));
            } else {
                for (const std::string& name : split(row.names, ','))
                    line += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
                if (!row.flag())
                    line += row.file        ? " -r -F"
                            : words.empty() ? " -x"
                                            : fmt::format(" -x -a '{}'", fmt::join(words, " "));
                line += fmt::format(" -d '{}'", fish_text(row.help));
            }
            text += line + "\n";
        }
    return text;
}

}  // namespace

std::string man_page() {
    std::string text = ".TH NEARFIELD 1 \"\" \"nearfield " NEARFIELD_VERSION
                       "\" \"User Commands\"\n.SH NAME\nnearfield \\- exact distance fields, Voronoi cells and "
                       "components of images and volumes\n"
                       ".SH SYNOPSIS\n.B nearfield\n.I VERB\n.RI [ options ]\n.SH VERBS\n";
    for (const verb& each : verbs()) {
        text += fmt::format(".SS {}\n{}.\n.PP\n{}\n", each.name, roff(each.summary), roff(each.about));
        for (const option& row : each.options) {
            text += fmt::format(".TP\n.B {}{}\n", roff(replaced(row.names, ",", ", ")),
                                row.flag() || row.positional() ? "" : " " + roff(row.value));
            text += roff(row.help) +
                    (row.choices.empty() ? "" : roff(fmt::format(": {}", fmt::join(row.choices, ", ")))) + "\n";
        }
        text += fmt::format(".PP\nExample:\n.PP\n.nf\n.RS\n{}\n.RE\n.fi\n", roff(each.example));
    }
    text += ".SH EXIT STATUS\n";
    for (const exit_status& each : exit_statuses())
        text += fmt::format(".TP\n.B {}\n{}\n", each.code, roff(each.meaning));
    return text;
}

std::string completion_for(const std::string& shell) {
    return shell == "bash" ? bash() : shell == "zsh" ? zsh() : fish();
}

int completion_verb(const arguments& args) {
    print(completion_for(args.topic));
    return 0;
}

}  // namespace nearfield::cli
