// Texts of options to values, with messages that say what was expected. All throw invalid_argument.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nearfield/grid.hpp"

namespace nearfield::cli {

/// `name` is the option as the user typed it, for the message: "--threads". Numbers do not depend on the locale.
[[nodiscard]] double parse_number(const std::string& name, const std::string& text, const std::string& example);
[[nodiscard]] std::int64_t parse_integer(const std::string& name, const std::string& text, const std::string& example);
[[nodiscard]] std::uint64_t parse_unsigned(const std::string& name, const std::string& text,
                                           const std::string& example);
/// "5,10,20"; no item may be empty.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& name, const std::string& text,
                                                const std::string& example);
[[nodiscard]] std::vector<std::string> split(const std::string& text, char separator);
/// "1000", "300M": K, M, G and T are powers of 1024.
[[nodiscard]] std::int64_t parse_bytes(const std::string& name, const std::string& text);
/// "512x512"
[[nodiscard]] std::vector<std::int64_t> parse_size(const std::string& text);

/// "64x512x512"
[[nodiscard]] std::string text_of(std::span<const std::int64_t> shape);

/// One value per axis of `shape`: from the option's text, else from the file, else ones. The first `batch_axes` are 1:
/// they number images and have no length; the text may leave them out.
[[nodiscard]] std::vector<double> parse_spacing(const std::string& text, const std::vector<double>& from_file,
                                                std::span<const std::int64_t> shape, std::int64_t batch_axes = 0);

}  // namespace nearfield::cli
