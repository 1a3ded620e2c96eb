// Numbers and units on pictures.
#pragma once

#include <string_view>

#include "cli/picture.hpp"

namespace nearfield::cli {

inline constexpr int glyph_width = 5, glyph_height = 7;

/// In pixels; `size` is how many a dot of a letter takes.
[[nodiscard]] int text_width(std::string_view text, int size);
/// Letters that there are not are left blank. All of it must lie on the picture.
void draw_text(picture& image, int left, int top, std::string_view text, int size, const rgb& ink);

}  // namespace nearfield::cli
