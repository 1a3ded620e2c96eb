// Parses texts of options, with messages that say what was expected. All functions throw invalid_argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nearfield/grid.hpp"

namespace nearfield::cli {

/// `name` is the option as the user typed it, for the message: "--threads". Numbers ignore the locale.
[[nodiscard]] double parse_number(const std::string& name, const std::string& text, const std::string& example);
[[nodiscard]] std::int64_t parse_integer(const std::string& name, const std::string& text, const std::string& example);
[[nodiscard]] std::uint64_t parse_unsigned(const std::string& name, const std::string& text,
                                           const std::string& example);
/// Parses numbers as in "5,10,20"; no item may be empty.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& name, const std::string& text,
                                                const std::string& example);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);
/// Parses bytes as in "1000" or "300M"; K, M, G and T are powers of 1024.
[[nodiscard]] std::int64_t parse_bytes(const std::string& name, const std::string& text);
/// Parses a size as in "512x512".
[[nodiscard]] std::vector<std::int64_t> parse_size(const std::string& text);

/// Writes a shape as in "64x512x512".
[[nodiscard]] std::string text_of(std::span<const std::int64_t> shape);

/// Spacing of each axis of `shape`: from the option's text, else from the file, else 1. The first `batch_axes` number
/// images and get 1; the text may omit them.
[[nodiscard]] std::vector<double> parse_spacing(const std::string& text, const std::vector<double>& from_file,
                                                std::span<const std::int64_t> shape, std::int64_t batch_axes = 0);

}  // namespace nearfield::cli
