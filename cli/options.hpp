// From the command line's words to the library's options.
#pragma once

#include "cli/arguments.hpp"
#include "cli/load.hpp"
#include "cli/planes.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::cli {

/// What the words say by themselves, for arrays of any shape: sites, sign, half_cell, max_distance, batch_axes. Throws
/// invalid_argument naming the option.
[[nodiscard]] distance_options options_of(const arguments& args, sites otherwise);

/// The same with what needs the input: its spacing, and a border for every axis.
[[nodiscard]] distance_options options_for(const arguments& args, sites otherwise, const loaded& input);

/// Throws invalid_argument for --batch-axes that no array has.
void check_batch_axes(const arguments& args);

/// Throws invalid_argument for a --picture-size that no picture has.
void check_picture_size(const arguments& args);

/// What of an array a picture shows, by --slice, its batch axes and --picture-size.
[[nodiscard]] page page_of(const arguments& args, const loaded& input);

/// "zero", "nonzero", "other-labels"
[[nodiscard]] const char* name_of(sites which);

/// Is there a cell that `which` makes a site, of any image?
/// Among the cells where `part`, if given, is not zero.
[[nodiscard]] bool any_site(const io::array& image, sites which, const std::uint8_t* part = nullptr);

}  // namespace nearfield::cli
