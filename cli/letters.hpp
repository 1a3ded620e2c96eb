// Numbers and units written on pictures.
#pragma once

#include <string_view>

#include "cli/picture.hpp"

namespace nearfield::cli {

inline constexpr int glyph_width = 5, glyph_height = 7;

/// Width in pixels; `size` is the number of pixels along a dot of a letter.
[[nodiscard]] int text_width(std::string_view text, int size);
/// Draws text, which must lie on the picture. Leaves characters that the font lacks blank.
void draw_text(picture& image, int left, int top, std::string_view text, int size, const rgb& ink);

}  // namespace nearfield::cli
