// A font of a few letters, five pixels wide and seven high.
#include "cli/letters.hpp"

#include <algorithm>

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
    {'f', {6, 9, 8, 28, 8, 8, 8}},       {':', {0, 12, 12, 0, 12, 12, 0}},  {'a', {0, 0, 14, 1, 15, 17, 15}},
    {'s', {0, 0, 15, 16, 14, 1, 30}},    {'l', {12, 4, 4, 4, 4, 4, 14}},
};
constexpr int advance = 6;

}  // namespace

int text_width(std::string_view text, int size) { return (static_cast<int>(text.size()) * advance - 1) * size; }

void draw_text(picture& image, int left, int top, std::string_view text, int size, const rgb& ink) {
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto* found =
            std::find_if(std::begin(font), std::end(font), [&](const glyph& g) { return g.letter == text[i]; });
        if (found == std::end(font)) continue;
        for (int y = 0; y < glyph_height * size; ++y)
            for (int x = 0; x < glyph_width * size; ++x)
                if (found->rows[y / size] >> (glyph_width - 1 - x / size) & 1)
                    image.at(left + static_cast<int>(i) * advance * size + x, top + y) = ink;
    }
}

}  // namespace nearfield::cli
