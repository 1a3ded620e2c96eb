// Turns the options of label into the library's options.
#pragma once

#include "cli/arguments.hpp"
#include "cli/load.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield::cli {

/// Options that need no input, for arrays of any shape: all but `border` and `channels`. Throws invalid_argument with
/// the option's name.
[[nodiscard]] label_options label_options_of(const arguments& args);

/// Returns all options, including those that need the input, which may have kept its colour.
[[nodiscard]] label_options label_options_for(const arguments& args, const loaded& input);

/// Converts float16, which the library does not compare, to float32; for other types returns an array without shape.
[[nodiscard]] io::array comparable(const io::array& image);

/// Options of --method propagation. Throws invalid_argument for unknown ones, and for its options without it.
[[nodiscard]] propagation_options propagation_of(const arguments& args);

/// Parses a number; an integer keeps all its digits, up to 64 bits. Throws invalid_argument.
[[nodiscard]] scalar parse_scalar(const std::string& name, const std::string& text, const std::string& example);

}  // namespace nearfield::cli
