// Turns the words of a command line into the library's options.
#pragma once

#include "cli/arguments.hpp"
#include "cli/load.hpp"
#include "cli/planes.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::cli {

/// Options that need no input, for arrays of any shape: sites, sign, half_cell, max_distance, batch_axes. Throws
/// invalid_argument with the option's name.
[[nodiscard]] distance_options options_of(const arguments& args, sites otherwise);

/// Returns all options, including those that need the input: its spacing, and a border for every axis.
[[nodiscard]] distance_options options_for(const arguments& args, sites otherwise, const loaded& input);

/// Throws invalid_argument if no array has so many --batch-axes.
void check_batch_axes(const arguments& args);

/// Throws invalid_argument if no picture has this --picture-size.
void check_picture_size(const arguments& args);

/// The part of an array that a picture shows, by --slice, its batch axes and --picture-size.
[[nodiscard]] page page_of(const arguments& args, const loaded& input);

/// The rule's word: "zero", "nonzero" or "other-labels".
[[nodiscard]] const char* name_of(sites which);

/// True if `which` makes some cell of any image a site.
/// If `part` is given, only cells where it is not zero count.
[[nodiscard]] bool any_site(const io::array& image, sites which, const std::uint8_t* part = nullptr);

}  // namespace nearfield::cli
