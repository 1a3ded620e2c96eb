// The colour bar of a sheet.
#include <fmt/format.h>

#include <algorithm>

#include "cli/letters.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb text_colour{70, 70, 82};

/// Numbers beside the bar: those of the isolines, or about five round ones.
std::vector<double> marks_of(double largest, std::vector<double> levels, bool is_signed) {
    if (levels.empty()) levels = parse_isolines("auto", largest);
    std::erase_if(levels, [&](double level) { return level > largest; });
    const std::size_t every = (levels.size() + 9) / 10 * (is_signed ? 2 : 1);
    std::vector<double> marks{0};
    for (std::size_t i = every - (every > 0); i < levels.size(); i += every) {
        marks.push_back(levels[i]);
        if (is_signed) marks.push_back(-levels[i]);
    }
    return marks;
}

}  // namespace

void name_planes(picture& image, const sheet& on) {
    if (on.panels.size() != 3 || on.panels[0].top < glyph_height + 2) return;
    for (const panel& each : on.panels) {
        std::string text;
        for (int axis = 0; axis < static_cast<int>(each.shows.at.size()); ++axis)
            if (axis != each.shows.row_axis && axis != each.shows.column_axis)
                text += fmt::format("{}{}:{}", text.empty() ? "" : " ", axis,
                                    each.shows.at[static_cast<std::size_t>(axis)]);
        if (text_width(text, 1) <= each.width)
            draw_text(image, each.left, each.top - glyph_height - 2, text, 1, text_colour);
    }
}

void draw_legend(picture& image, const sheet& on, double largest, bool is_signed, const std::vector<double>& levels,
                 const std::string& unit) {
    const int size = legend_letters(on.legend_height), margin = 10 * size;
    const int bar_width = 14 * size, bar_height = on.legend_height - 4 * margin, left = on.legend_left + margin,
              top = on.legend_top + 2 * margin;
    if (!(largest > 0) || bar_height < 40 || on.legend_width < bar_width + 60 * size) return;
    const double least = is_signed ? -largest : 0;
    for (int y = 0; y < bar_height; ++y) {
        const double share = 1 - (y + 0.5) / bar_height;
        for (int x = 0; x < bar_width; ++x)
            image.at(left + x, top + y) = is_signed ? diverging(2 * share - 1) : ramp(share);
    }
    for (double mark : marks_of(largest, levels, is_signed)) {
        const int y = top + bar_height - 1 - static_cast<int>((mark - least) / (largest - least) * (bar_height - 1));
        for (int x = 0; x < 4 * size; ++x)
            for (int t = 0; t < size; ++t) image.at(left + bar_width + 2 * size + x, y - t / 2) = text_colour;
        std::string label = fmt::format("{:.6g}", mark);
        if (mark == 0 && !unit.empty()) label += " " + unit;
        if (text_width(label, size) < on.legend_width - bar_width - 3 * margin)
            draw_text(image, left + bar_width + 9 * size, y - glyph_height * size / 2, label, size, text_colour);
    }
}

}  // namespace nearfield::cli
