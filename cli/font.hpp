// Signed distance fields of the glyphs of a font, whose outlines FreeType reads.
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
    bool as_line = false;    ///< true to set the text from left to right, with kerning
    bool down = false;       ///< true if a line repeats along rows' axis
    bool across = false;     ///< true if it repeats along that of columns
};

struct glyph_atlas {
    io::array field;                   ///< float32, pixels, positive inside; -inf between cells
    nlohmann::ordered_json metrics;    ///< font, lines, atlas, glyphs, kerning; lengths in pixels of the atlas
    std::vector<std::string> missing;  ///< characters that the font lacks
};

/// Measures distances to unhinted outlines (cli/outlines.hpp), in an atlas to those of the cell's own glyph. Glyphs
/// start on whole pixels, in rows by height. Throws io for a file that is no font, invalid_argument for invalid UTF-8,
/// and unsupported in a build without FreeType.
[[nodiscard]] glyph_atlas draw_glyphs(const font_request& request);

}  // namespace nearfield::cli
