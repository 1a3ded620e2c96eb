// Drawings of dots, of one line, or of facets, as SVG, PDF, or pixels.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "cli/colour.hpp"
#include "cli/picture.hpp"

namespace nearfield::cli {

using point2 = std::array<double, 2>;  ///< x to the right, y down, in cells; (0, 0) is the corner of the first cell

struct dot {
    point2 at{};
    double diameter = 0;
};

/// Dots of one ink.
struct ink_layer {
    std::string name;
    rgb colour{};                  ///< on a screen
    std::array<double, 4> cmyk{};  ///< in print
    std::vector<dot> dots;
};

/// A convex polygon of one colour.
struct facet {
    rgb colour{};
    std::vector<point2> corners;
};

struct drawing {
    double width = 0, height = 0;  ///< in cells
    double millimetres = 0;        ///< width on paper
    rgb paper{255, 255, 255};
    std::vector<ink_layer> layers;  ///< transparent to the layers below
    std::vector<point2> line;       ///< closed
    double line_width = 0;
    rgb line_colour{};
    std::vector<facet> facets;
};

[[nodiscard]] std::string svg_of(const drawing& d);
/// Returns a PDF file of one page.
[[nodiscard]] std::string pdf_of(const drawing& d);
/// Draws with `longest` pixels along the longer side, each the mean of 16 samples.
[[nodiscard]] picture pixels_of(const drawing& d, int longest);

}  // namespace nearfield::cli
