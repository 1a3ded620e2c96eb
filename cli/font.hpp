// Glyphs of a font as coverage in one image, by FreeType.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "io/io.hpp"

namespace nearfield::cli {

struct font_request {
    std::string path;
    std::string characters;  ///< UTF-8; of an atlas each character counts once
    double size = 48;        ///< pixels an em
    int margin = 6;          ///< pixels of the atlas around every glyph
    int supersample = 8;     ///< cells of the image a pixel
    bool as_line = false;    ///< set the characters as they stand, from left to right with kerning
};

struct glyph_atlas {
    io::array coverage;                ///< uint8, sides multiples of `supersample`
    nlohmann::ordered_json metrics;    ///< font, lines, atlas, glyphs, kerning; lengths in pixels of the atlas
    std::vector<std::string> missing;  ///< characters that the font does not have
};

/// Outlines without hints, filled exactly; glyphs stand on whole pixels, in rows by height. Throws io for a file that
/// is no font, invalid_argument for characters that are no UTF-8 or sizes that fit no image, and unsupported in a build
/// without FreeType.
[[nodiscard]] glyph_atlas draw_glyphs(const font_request& request);

}  // namespace nearfield::cli
