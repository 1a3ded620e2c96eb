// Shapes for signed fields and effects: the coverage of an image's pixels, and files of the fields.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/compute.hpp"
#include "io/io.hpp"
#include "nearfield/effects.hpp"
#include "nearfield/sdf.hpp"

namespace nearfield::cli {

/// An image of 2 axes whose values are coverage for sdf(): by --channel, else alpha where the image has it, else
/// luminance; by --threshold 0 or 255. Throws invalid_argument for other shapes.
[[nodiscard]] io::array coverage_of(const io::array& image, const arguments& args);

/// open and periodic by --border, for rows and columns. Throws invalid_argument.
[[nodiscard]] borders ends_of(const arguments& args);

/// sdf() where --device says.
[[nodiscard]] computed make_field(const arguments& args, const io::array& coverage, io::array& field,
                                  const sdf_options& options);

}  // namespace nearfield::cli
