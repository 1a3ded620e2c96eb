// Defines the verbs of pictures: sdf, effect.
#include "cli/effect_words.hpp"
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const option open_or_periodic{"--border",
                              "LIST",
                              "what lies beyond the ends of an axis (default open): nothing, or the other end, for "
                              "images that tile; give one for both axes, or one for rows and one for columns",
                              &a::border,
                              {"open", "periodic"},
                              false,
                              false,
                              true};
const option shape_channel{"--channel",
                           "NAME",
                           "value of a colour image that is the shape (default alpha if there is one, else luminance), "
                           "or the number of a channel, from 0",
                           &a::channel,
                           {"luminance", "alpha", "red", "green", "blue"}};

const std::vector<option> sdf_rows{
    {"INPUT",
     "INPUT",
     "image of one or more shapes, as coverage: full is inside; '-' is stdin",
     &a::input,
     {},
     false,
     true,
     false,
     true},
    output("file for the field, by suffix: .png .tif .npy .nrrd .pgm; '-' is NPY on stdout", true),
    {"--radius", "R", "number of pixels that the whole range of an integer type spans (default 8)", &a::radius},
    {"--cutoff", "F", "share of the range that lies above the outline's value (default 0.25)", &a::cutoff},
    {"--supersample", "N", "number of cells of the image along each axis that make a pixel (default 1)",
     &a::supersample},
    {"--mask", "",
     "treat the image as a mask whose cells that are not zero are inside: distances to their edges are exact (default "
     "for images of bits)",
     &a::mask},
    {"--dtype", "TYPE", "type of the field (default uint8)", &a::dtype, {"uint8", "uint16", "float32"}},
    {"--font",
     "FILE",
     "draw glyphs of a font (.ttf, .otf) instead of reading an image",
     &a::font,
     {},
     false,
     true,
     false,
     true},
    {"--characters", "TEXT", "characters to draw, in UTF-8, or @FILE (default: those that ASCII prints)",
     &a::characters},
    {"--size", "N", "pixels an em of the font (default 48)", &a::size},
    {"--metrics",
     "FILE",
     "write positions and typesetting measures of the glyphs, as JSON; '-' is stdout",
     &a::metrics,
     {},
     false,
     true},
    open_or_periodic};

const std::vector<option> effect_rows{
    {"EFFECTS",
     "EFFECTS",
     "effects as NAME[:KEY=VALUE,...]; join several by +, the lowest first",
     &a::effects,
     {},
     true},
    {"INPUT",
     "INPUT",
     "image of a shape, as coverage or as its alpha channel; '-' is stdin",
     &a::input,
     {},
     false,
     true,
     false,
     true},
    output("file for the picture, by suffix: .png .tif .ppm; '-' is NPY on stdout", true),
    {"--font",
     "FILE",
     "paint a line of text in this font (.ttf, .otf) instead of an image",
     &a::font,
     {},
     false,
     true,
     false,
     true},
    {"--text", "WORDS", "text to paint, in UTF-8; needs --font", &a::characters},
    {"--size", "N", "pixels an em of the font (default 48)", &a::size},
    {"--fill", "COLOR", "colour of the shape (default its own colours, else white), or none", &a::fill},
    {"--background", "COLOR", "colour behind everything (default transparent; white for halftone)", &a::background},
    {"--margin", "N", "number of pixels to add around the image", &a::margin},
    open_or_periodic};

std::vector<option> and_where(std::vector<option> rows) {
    for (const option* each :
         {&threshold, &shape_channel, &max_bytes, &allow_outside, &overwrite, &device, &threads, &json, &quiet})
        rows.push_back(*each);
    return rows;
}

}  // namespace

verb sdf_row() {
    return {
        "sdf",
        "Make a signed distance field of glyphs, icons or a font",
        "Reads an image of shapes, or draws glyphs of a font, and writes the signed distance to the outline, positive "
        "inside. In antialiased images the outline runs between pixels; distances to masks and glyphs are exact. "
        "Integers hold floor(most * (1 - cutoff + d / radius) + 0.5). docs/effects.md has the definition and figures.",
        and_where(sdf_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield sdf blobs.png -o atlas.png --radius 16 --supersample 4",
        sdf_verb};
}

verb effect_row() {
    return {
        "effect",
        "Paint outlines, glows, shadows, light; pad textures",
        "Reads an image of a shape and paints effects that follow its signed distance field, in linear light. Keys of "
        "the effects: " +
            text_of_effects() +
            ". All but pad also take color (#f80, #ff8800, #ff8800cc) and blend (over, under, add). What lies outside "
            "the shape is painted behind it, what lies inside in front. halftone and pad are used without other "
            "effects: halftone draws dots for the tones of an image, and pad grows islands of a texture with alpha "
            "into its gaps. docs/effects.md explains them.",
        and_where(effect_rows),
        "nearfield sample blobs -o blobs.png --size 256x256\n"
        "nearfield effect shadow:down=9,right=9,blur=9+glow:radius=20,color=#ff2d95 blobs.png -o neon.png",
        effect_verb};
}

}  // namespace nearfield::cli
