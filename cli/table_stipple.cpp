// The verb that draws with dots: stipple.
#include "cli/table_rows.hpp"

namespace nearfield::cli {
namespace {

using namespace rows_shared;
using a = arguments;

const std::vector<option> stipple_rows{
    input("photograph to read: a gray or colour image; '-' is stdin"),
    output("where the drawing goes, by suffix: .svg, .pdf or .png; .npy has a row of y, x and diameter for each point, "
           "in cells; '-' is NPY on stdout",
           true),
    {"--points", "N", "how many (default 20000, in small images fewer)", &a::points},
    {"--dot-size", "D", "instead: as many points as dots of this diameter, in cells, have the ink of the image",
     &a::dot_size},
    {"--method",
     "NAME",
     "lloyd moves samples of the image apart; lbg, Linde-Buzo-Gray, lets points split and go until each has its share "
     "of the ink (default lloyd)",
     &a::stipple_method,
     {"lloyd", "lbg"}},
    {"--rounds", "N", "rounds at most (default 60 of lloyd, 50 of lbg); 0 of lloyd draws the samples", &a::rounds},
    seed,
    {"--invert", "", "light dots on black", &a::invert},
    {"--dots", "WHICH", "dots have the ink of their regions (default), or are all equal", &a::dots, {"ink", "equal"}},
    {"--equal-ink", "",
     "ten more rounds, which give the region of every point the same ink to 1 %; takes several times as long",
     &a::equal_ink},
    {"--dot-scale", "F", "draw diameters, or the line, so many times as wide (default 1)", &a::dot_scale},
    {"--cmyk", "", "four inks: cyan, magenta, yellow and black, each with points of its own, as layers", &a::cmyk},
    {"--line", "", "one closed line through all points, for plotters", &a::line},
    {"--mosaic", "", "fill the region of each point with the mean colour of the image there", &a::mosaic},
    {"--width", "MM", "width of the drawing on paper, of .svg and .pdf (default 200)", &a::paper_width},
    {"--picture-size", "N", "pixels along the longer side of a .png (default 1600)", &a::picture_size},
    {"--frames",
     "PATH",
     "also draw every round, in a .gif that moves, or as PNG files in a folder, which is made if it is not there",
     &a::frames,
     {},
     false,
     true},
    channel,
    max_bytes,
    allow_outside,
    overwrite,
    device,
    threads,
    json,
    quiet};

}  // namespace

verb stipple_row() {
    return {
        "stipple",
        "Draw a photograph with dots, with one line, or as a mosaic",
        "Places points as densely as the image is dark, and apart from each other, and draws them for screens, "
        "printers and plotters. The same points for a seed on every machine. docs/pictures.md shows what comes out.",
        stipple_rows,
        "nearfield sample blobs -o photo.png --size 128x128\n"
        "nearfield stipple photo.png -o dots.svg --points 500\n"
        "nearfield stipple photo.png -o line.pdf --points 500 --line",
        stipple_verb};
}

}  // namespace nearfield::cli
