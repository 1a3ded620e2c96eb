// The colour bar of a sheet, with a few letters of its own.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "cli/picture.hpp"

namespace nearfield::cli {
namespace {

struct glyph {
    char letter;
    /// Seven rows of five pixels from the top; the lowest bit is the rightmost pixel.
    unsigned char rows[7];
};
constexpr glyph font[] = {
    {'0', {14, 17, 19, 21, 25, 17, 14}}, {'1', {4, 12, 4, 4, 4, 4, 14}},    {'2', {14, 17, 1, 2, 4, 8, 31}},
    {'3', {31, 2, 4, 2, 1, 17, 14}},     {'4', {2, 6, 10, 18, 31, 2, 2}},   {'5', {31, 16, 30, 1, 1, 17, 14}},
    {'6', {6, 8, 16, 30, 17, 17, 14}},   {'7', {31, 1, 2, 4, 8, 8, 8}},     {'8', {14, 17, 17, 14, 17, 17, 14}},
    {'9', {14, 17, 17, 15, 1, 2, 12}},   {'.', {0, 0, 0, 0, 0, 12, 12}},    {'-', {0, 0, 0, 31, 0, 0, 0}},
    {'+', {0, 4, 4, 31, 4, 4, 0}},       {'e', {0, 0, 14, 17, 31, 16, 14}}, {'m', {0, 0, 26, 21, 21, 17, 17}},
    {'u', {0, 0, 17, 17, 17, 19, 13}},   {'n', {0, 0, 22, 25, 17, 17, 17}}, {'c', {0, 0, 14, 16, 16, 17, 14}},
    {'i', {4, 0, 12, 4, 4, 4, 14}},      {'p', {0, 0, 30, 17, 30, 16, 16}}, {'x', {0, 0, 17, 10, 4, 10, 17}},
};
constexpr rgb text_colour{70, 70, 82};
constexpr int glyph_width = 5, glyph_height = 7, advance = 6;

int text_width(std::string_view text, int size) { return static_cast<int>(text.size()) * advance * size; }

void draw_text(picture& image, int left, int top, std::string_view text, int size) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto* found =
            std::find_if(std::begin(font), std::end(font), [&](const glyph& g) { return g.letter == text[i]; });
        if (found == std::end(font)) continue;
        for (int y = 0; y < glyph_height * size; ++y)
            for (int x = 0; x < glyph_width * size; ++x)
                if (found->rows[y / size] >> (glyph_width - 1 - x / size) & 1)
                    image.at(left + static_cast<int>(i) * advance * size + x, top + y) = text_colour;
    }
}

/// Numbers to write beside the bar: the isolines, or about five round ones.
std::vector<double> marks_of(double largest, std::vector<double> levels) {
    if (levels.empty()) levels = parse_isolines("auto", largest);
    std::erase_if(levels, [&](double level) { return level > largest; });
    const std::size_t every = (levels.size() + 9) / 10;
    std::vector<double> marks{0};
    for (std::size_t i = every - (every > 0); i < levels.size(); i += every) marks.push_back(levels[i]);
    return marks;
}

}  // namespace

void draw_legend(picture& image, const sheet& on, double largest, const std::vector<double>& levels,
                 const std::string& unit) {
    const int size = std::clamp(on.legend_height / 220, 1, 3), margin = 10 * size;
    const int bar_width = 14 * size, bar_height = on.legend_height - 4 * margin, left = on.legend_left + margin,
              top = on.legend_top + 2 * margin;
    if (!(largest > 0) || bar_height < 40 || on.legend_width < bar_width + 60 * size) return;
    for (int y = 0; y < bar_height; ++y)
        for (int x = 0; x < bar_width; ++x) image.at(left + x, top + y) = ramp(1 - (y + 0.5) / bar_height);
    for (double mark : marks_of(largest, levels)) {
        const int y = top + bar_height - 1 - static_cast<int>(mark / largest * (bar_height - 1));
        for (int x = 0; x < 4 * size; ++x)
            for (int t = 0; t < size; ++t) image.at(left + bar_width + 2 * size + x, y - t / 2) = text_colour;
        std::string label = fmt::format("{:.6g}", mark);
        if (mark == 0 && !unit.empty()) label += " " + unit;
        if (text_width(label, size) < on.legend_width - bar_width - 3 * margin)
            draw_text(image, left + bar_width + 9 * size, y - glyph_height * size / 2, label, size);
    }
}

}  // namespace nearfield::cli
