// Inputs of signed fields and effects: the coverage of an image's pixels, and the fields made of it.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.hpp"
#include "cli/compute.hpp"
#include "cli/font.hpp"
#include "io/io.hpp"
#include "nearfield/effects.hpp"
#include "nearfield/sdf.hpp"

namespace nearfield::cli {

/// Coverage of a 2-D image for sdf(): the --channel, else alpha if the image has it, else luminance; with --threshold 0
/// or 255. Throws invalid_argument for other shapes.
[[nodiscard]] io::array coverage_of(const io::array& image, const arguments& args);

/// Borders of rows and columns by --border, open or periodic. Throws invalid_argument.
[[nodiscard]] borders ends_of(const arguments& args);

/// Runs draw_glyphs(), in one thread on the CPU whatever --device names, and notes characters that the font lacks.
[[nodiscard]] computed draw_text(const arguments& args, const font_request& request, glyph_atlas& made);

/// Runs sdf() on the device that --device names.
[[nodiscard]] computed make_field(const arguments& args, const io::array& coverage, io::array& field,
                                  const sdf_options& options);

}  // namespace nearfield::cli
