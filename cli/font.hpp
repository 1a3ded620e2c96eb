// Renders the glyphs of a font as coverage in one image, with FreeType.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/io.hpp"

namespace nearfield::cli {

struct font_request {
    std::string path;
    std::string characters;  ///< UTF-8; an atlas drops repeated characters
    double size = 48;        ///< pixels in an em
    int margin = 6;          ///< pixels of the atlas around every glyph
    int supersample = 8;     ///< cells of the image in a pixel
    bool as_line = false;    ///< true to set the text from left to right, with kerning
};

struct glyph_atlas {
    io::array coverage;                ///< uint8, sides multiples of `supersample`
    nlohmann::ordered_json metrics;    ///< font, lines, atlas, glyphs, kerning; lengths in pixels of the atlas
    std::vector<std::string> missing;  ///< characters that the font lacks
};

/// Fills unhinted outlines exactly; glyphs start on whole pixels, in rows by height. Throws io for a file that is no
/// font, invalid_argument for invalid UTF-8 or for sizes that fit no image, and unsupported in a build without
/// FreeType.
[[nodiscard]] glyph_atlas draw_glyphs(const font_request& request);

}  // namespace nearfield::cli
