#include "cli/parse.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "nearfield/error.hpp"

namespace nearfield::cli {
namespace {

template <class T>
T parse(const std::string& name, const std::string& text, const char* expected, const std::string& example) {
    T value{};
    const char* last = text.data() + text.size();
    const auto [end, problem] = std::from_chars(text.data(), last, value);
    if (problem == std::errc() && end == last && !text.empty()) return value;
    throw error(error_code::invalid_argument,
                fmt::format("{} is '{}'; expected {}, e.g. {}", name, text, expected, example));
}

}  // namespace

double parse_number(const std::string& name, const std::string& text, const std::string& example) {
    return parse<double>(name, text, "a number", example);
}

std::int64_t parse_integer(const std::string& name, const std::string& text, const std::string& example) {
    return parse<std::int64_t>(name, text, "a whole number", example);
}

std::uint64_t parse_unsigned(const std::string& name, const std::string& text, const std::string& example) {
    return parse<std::uint64_t>(name, text, "a whole number from 0 to 18446744073709551615", example);
}

std::vector<std::string> split(const std::string& text, char separator) {
    std::vector<std::string> items;
    std::size_t from = 0;
    for (std::size_t to; (to = text.find(separator, from)) != std::string::npos; from = to + 1)
        items.push_back(text.substr(from, to - from));
    items.push_back(text.substr(from));
    return items;
}

std::vector<double> parse_numbers(const std::string& name, const std::string& text, const std::string& example) {
    std::vector<double> values;
    for (const std::string& item : split(text, ',')) values.push_back(parse_number(name, item, example));
    return values;
}

std::int64_t parse_bytes(const std::string& name, const std::string& text) {
    const std::string_view units = "KMGT";
    const std::size_t unit = text.empty() ? std::string_view::npos : units.find(text.back());
    const bool has_unit = unit != std::string_view::npos;
    const auto count = parse<std::int64_t>(name, text.substr(0, text.size() - (has_unit ? 1 : 0)),
                                           "a number of bytes, which K, M, G or T may follow", name + " 4G");
    const int shift = has_unit ? 10 * (static_cast<int>(unit) + 1) : 0;
    if (count < 1 || count > (std::int64_t{1} << 60) >> shift)
        throw error(error_code::invalid_argument,
                    fmt::format("{} is {}; give 1 byte or more, up to 2^60, e.g. {} 4G", name, text, name));
    return count << shift;
}

std::vector<std::int64_t> parse_size(const std::string& text) {
    std::vector<std::int64_t> sizes;
    for (const std::string& item : split(text, 'x'))
        sizes.push_back(parse<std::int64_t>("--size", item, "cells along each axis", "--size 512x512"));
    return sizes;
}

std::string text_of(std::span<const std::int64_t> shape) { return fmt::format("{}", fmt::join(shape, "x")); }

std::vector<double> parse_spacing(const std::string& text, const std::vector<double>& from_file,
                                  std::span<const std::int64_t> shape, std::int64_t batch_axes) {
    const auto batch = static_cast<std::size_t>(std::clamp<std::int64_t>(batch_axes, 0, std::ssize(shape)));
    std::vector<double> values;
    if (text.empty()) {
        values = from_file.size() == shape.size() ? from_file : std::vector<double>(shape.size(), 1.0);
    } else {
        values = parse_numbers("--spacing", text, "--spacing 5,0.4,0.4");
        if (values.size() == 1) values.resize(shape.size(), values[0]);
        if (values.size() + batch == shape.size()) values.insert(values.begin(), batch, 1.0);
    }
    if (values.size() != shape.size()) {
        std::string example = shape.size() == 3 ? "5" : "0.4";
        for (std::size_t axis = batch + 1; axis < shape.size(); ++axis) example += ",0.4";
        throw error(error_code::invalid_argument, fmt::format("spacing has {} values for a {}-D array (shape {}); give "
                                                              "one per axis in array order, e.g. --spacing {}",
                                                              values.size(), shape.size(), text_of(shape), example));
    }
    std::fill_n(values.begin(), batch, 1.0);
    for (double value : values)
        if (!(value > 0) || std::isinf(value))
            throw error(error_code::invalid_argument,
                        fmt::format("spacing has the value {}; every value must be a positive, finite length", value));
    return values;
}

}  // namespace nearfield::cli
