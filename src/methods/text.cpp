// Reads and writes methods as text: "jump-flood:order=doubling,after=1".
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <functional>
#include <string_view>
#include <type_traits>
#include <vector>

#include "base/check.hpp"
#include "nearfield/methods.hpp"

namespace nearfield {
namespace {

/// One switch of a method: how its value is read, and how it is written ("" for the default).
template <class Method>
struct switch_row {
    std::string name, value;  ///< "order", "halving or doubling"
    std::function<bool(Method&, std::string_view)> read;
    std::function<std::string(const Method&)> write;
};

template <class T>
bool read_number(std::string_view text, T& to) {
    const auto [end, problem] = std::from_chars(text.data(), text.data() + text.size(), to);
    return problem == std::errc{} && end == text.data() + text.size();
}

template <class Method, class T>
switch_row<Method> number(const char* name, T Method::*field) {
    return {name, "a number", [field](Method& m, std::string_view text) { return read_number(text, m.*field); },
            [field](const Method& m) { return m.*field == Method{}.*field ? "" : fmt::format("{}", m.*field); }};
}

template <class Method>
switch_row<Method> flag(const char* name, bool Method::*field) {
    return {name, "yes or no, or the word alone",
            [field](Method& m, std::string_view text) {
                m.*field = text != "no";
                return text.empty() || text == "yes" || text == "no";
            },
            [field](const Method& m) { return m.*field ? "yes" : ""; }};
}

template <class Method, class Choice>
switch_row<Method> choice(const char* name, Choice Method::*field, std::vector<std::string> words) {
    return {name, fmt::format("{}", fmt::join(words, " or ")),
            [field, words](Method& m, std::string_view text) {
                for (std::size_t k = 0; k < words.size(); ++k)
                    if (words[k] == text) return m.*field = static_cast<Choice>(k), true;
                return false;
            },
            [field, words](const Method& m) {
                return m.*field == Choice{} ? "" : words[static_cast<std::size_t>(m.*field)];
            }};
}

bool read_weights(chamfer_method& m, std::string_view text) {
    m.weights = {};
    for (std::int32_t& weight : m.weights) {
        const std::size_t end = text.find('/');
        if (!read_number(text.substr(0, end), weight) || weight < 1) return false;
        if (end == std::string_view::npos) return true;
        text.remove_prefix(end + 1);
    }
    return false;
}

std::string write_weights(const chamfer_method& m) {
    std::string text;
    for (std::int32_t weight : m.weights)
        if (weight != 0) text += fmt::format("{}{}", text.empty() ? "" : "/", weight);
    return text;
}

template <class Method>
std::vector<switch_row<Method>> switches() {
    using M = Method;
    if constexpr (std::is_same_v<M, banding>) return {number("m1", &M::m1), number("m2", &M::m2), number("m3", &M::m3)};
    else if constexpr (std::is_same_v<M, jump_flood>)
        return {choice("order", &M::steps, {"halving", "doubling"}),
                number("before", &M::rounds_before),
                number("after", &M::rounds_after),
                number("sites", &M::sites_per_cell),
                number("runs", &M::runs),
                flag("randomised", &M::randomised),
                number("seed", &M::seed)};
    else if constexpr (std::is_same_v<M, plane_sweep>)
        return {flag("independent", &M::independent),
                choice("launch", &M::launch, {"automatic", "cooperative", "banded", "shuffled"})};
    else if constexpr (std::is_same_v<M, brushfire>) return {flag("parallel", &M::parallel)};
    else if constexpr (std::is_same_v<M, chamfer_method>)
        return {{"weights", "numbers such as 3/4/5", read_weights, write_weights}, flag("iterated", &M::iterated)};
    else return {};
}

std::vector<std::string_view> split(std::string_view text, char at) {
    std::vector<std::string_view> parts;
    for (std::size_t end = 0; end != std::string_view::npos;) {
        end = text.find(at);
        parts.push_back(text.substr(0, end));
        if (end != std::string_view::npos) text.remove_prefix(end + 1);
    }
    return parts;
}

template <class Method>
void read(Method& m, std::string_view all) {
    const auto known = switches<Method>();
    std::vector<std::string> names;
    for (const auto& row : known) names.push_back(row.name);
    const char* name = name_of(method{m});
    std::vector<std::string_view> given;
    for (std::string_view word : split(all, ',')) {
        const std::size_t equals = word.find('=');
        const std::string_view key = word.substr(0, equals),
                               value = equals == std::string_view::npos ? std::string_view{} : word.substr(equals + 1);
        const auto row = std::find_if(known.begin(), known.end(), [&](const auto& r) { return r.name == key; });
        if (row == known.end())
            fail(fmt::format("method {} has no switch '{}'; {}", name, key,
                             names.empty() ? "it has none" : fmt::format("it has {}", fmt::join(names, ", "))));
        if (std::find(given.begin(), given.end(), key) != given.end())
            fail(fmt::format("{} of method {} is given twice; give it once", key, name));
        given.push_back(key);
        if (!row->read(m, value)) fail(fmt::format("{} of method {} is '{}'; give {}", key, name, value, row->value));
    }
}

template <std::size_t At = 0>
bool read_named(method& into, std::string_view name) {
    if constexpr (At == std::variant_size_v<method>) return false;
    else {
        into.emplace<At>();
        return name == name_of(into) || read_named<At + 1>(into, name);
    }
}

}  // namespace

method method_from(const std::string& text) {
    method by;
    const std::size_t colon = text.find(':');
    if (!read_named(by, std::string_view(text).substr(0, colon)))
        fail(
            fmt::format("method is '{}'; give exact, banding, jump-flood, plane-sweep, brushfire or chamfer, and "
                        "switches if any, as in jump-flood:order=doubling,after=1",
                        text));
    if (colon != std::string::npos) std::visit([&](auto& m) { read(m, std::string_view(text).substr(colon + 1)); }, by);
    return by;
}

std::string text_of(const method& by) {
    std::string text = name_of(by);
    std::visit(
        [&]<class Method>(const Method& m) {
            char before = ':';
            for (const auto& row : switches<Method>())
                if (const std::string value = row.write(m); !value.empty()) {
                    text += fmt::format("{}{}={}", before, row.name, value);
                    before = ',';
                }
        },
        by);
    return text;
}

}  // namespace nearfield
