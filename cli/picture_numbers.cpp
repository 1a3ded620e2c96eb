// Writes values into their cells.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "cli/letters.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr double least_width = 24, least_height = 12;

std::string text_of_cell(const io::array& values, std::int64_t cell) {
    return with_elements(values.data.get(), values.type, [&]<class T>(const T* cells) -> std::string {
        if constexpr (std::is_integral_v<T>)
            return cells[cell] == std::numeric_limits<T>::max() ? "inf" : fmt::format("{}", cells[cell]);
        else {
            const auto value = static_cast<double>(cells[cell]);
            return value == std::round(value) ? fmt::format("{:.0f}", value) : fmt::format("{:.2f}", value);
        }
    });
}

}  // namespace

void require_room_for_numbers(const sheet& on) {
    for (const panel& each : on.panels)
        if (each.shows.column_spacing < least_width * on.pitch || each.shows.row_spacing < least_height * on.pitch)
            throw error(
                error_code::invalid_argument,
                fmt::format("--numbers needs cells of {}x{} pixels and these get {:.0f}x{:.0f}; take fewer cells or "
                            "give a larger --picture-size",
                            least_height, least_width, each.shows.row_spacing / on.pitch,
                            each.shows.column_spacing / on.pitch));
}

void write_numbers(picture& image, const sheet& on, const io::array& values) {
    for (const panel& part : on.panels) {
        const plane& shows = part.shows;
        const double width = shows.column_spacing / on.pitch, height = shows.row_spacing / on.pitch;
        std::vector<std::string> texts;
        int widest = 1;
        for (std::int64_t row = 0; row < shows.rows; ++row)
            for (std::int64_t column = 0; column < shows.columns; ++column) {
                texts.push_back(text_of_cell(values, shows.cell(row, column)));
                widest = std::max(widest, text_width(texts.back(), 1));
            }
        const int size =
            static_cast<int>(std::clamp(std::min(0.885 * width / widest, 0.8 * height / glyph_height), 1.0, 3.0));
        for (std::int64_t row = 0; row < shows.rows; ++row)
            for (std::int64_t column = 0; column < shows.columns; ++column) {
                const std::string& text = texts[static_cast<std::size_t>(row * shows.columns + column)];
                if (text_width(text, size) > width) continue;
                const double down = static_cast<double>(part.rows_up ? shows.rows - 1 - row : row) + 0.5;
                const int x = part.left + static_cast<int>((static_cast<double>(column) + 0.5) * width),
                          y = part.top + static_cast<int>(down * height);
                const bool dark = to_oklab(image.at(x, y)).lightness < 0.6;
                draw_text(image, x - text_width(text, size) / 2, y - glyph_height * size / 2, text, size,
                          dark ? rgb{255, 255, 255} : rgb{20, 22, 48});
            }
    }
}

}  // namespace nearfield::cli
