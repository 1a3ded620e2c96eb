// From the words of label to the library's options.
#pragma once

#include "cli/arguments.hpp"
#include "cli/load.hpp"
#include "nearfield/link_propagation.hpp"

namespace nearfield::cli {

/// What the words say by themselves, for arrays of any shape: all but `border` and `channels`. Throws invalid_argument
/// naming the option.
[[nodiscard]] label_options label_options_of(const arguments& args);

/// The same with what needs the input, which may have kept its colour.
[[nodiscard]] label_options label_options_for(const arguments& args, const loaded& input);

/// The image as float32 where it is float16, which the library does not compare; else an array without shape.
[[nodiscard]] io::array comparable(const io::array& image);

/// What --method propagation does. Throws invalid_argument for what it has not, and for its options without it.
[[nodiscard]] propagation_options propagation_of(const arguments& args);

/// A whole number keeps all its digits, up to 64 bits. Throws invalid_argument.
[[nodiscard]] scalar parse_scalar(const std::string& name, const std::string& text, const std::string& example);

}  // namespace nearfield::cli
