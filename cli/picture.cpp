// Draws distances as colours, with isolines.
#include "cli/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/parse.hpp"
#include "cli/slabs.hpp"
#include "cli/solid.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr int most_isolines = 1000;
constexpr rgb site_colour{243, 240, 232}, ink{20, 22, 48};

/// The distances of the cells of a plane.
struct grid {
    std::int64_t rows, columns;
    std::vector<double> value;

    [[nodiscard]] double at(std::int64_t row, std::int64_t column) const {
        row = std::clamp<std::int64_t>(row, 0, rows - 1), column = std::clamp<std::int64_t>(column, 0, columns - 1);
        return value[static_cast<std::size_t>(row * columns + column)];
    }
};

grid take_plane(const plane& shows, const io::array& values, bool squared) {
    grid taken{shows.rows, shows.columns, std::vector<double>(static_cast<std::size_t>(shows.rows * shows.columns))};
    with_elements(values.data.get(), values.type, [&]<class T>(const T* cells) {
        for_slabs(shows.rows, [&](std::int64_t begin, std::int64_t end) {
            for (std::int64_t row = begin; row < end; ++row)
                for (std::int64_t column = 0; column < shows.columns; ++column) {
                    const T cell = cells[shows.cell(row, column)];
                    double value = static_cast<double>(cell);
                    if constexpr (std::is_integral_v<T>)
                        if (cell == std::numeric_limits<T>::max()) value = INFINITY;
                    taken.value[static_cast<std::size_t>(row * shows.columns + column)] =
                        squared ? std::copysign(std::sqrt(std::abs(value)), value) : value;
                }
        });
    });
    return taken;
}

/// The four cells around the centre of a pixel, and their weights.
struct sample_point {
    std::int64_t row, column;
    double down, right;

    template <class Value>
    [[nodiscard]] double blend(const Value& value) const {
        const double upper = value(row, column) * (1 - right) + value(row, column + 1) * right;
        const double lower = value(row + 1, column) * (1 - right) + value(row + 1, column + 1) * right;
        return upper * (1 - down) + lower * down;
    }
};

sample_point locate(const panel& on, double pitch, double x, double y) {
    if (on.rows_up) y = on.height - y;
    const double row = y * pitch / on.shows.row_spacing - 0.5, column = x * pitch / on.shows.column_spacing - 0.5;
    const double r = std::floor(row), c = std::floor(column);
    return {static_cast<std::int64_t>(r), static_cast<std::int64_t>(c), row - r, column - c};
}

struct distance_painter {
    const panel& on;
    const grid& field;
    double pitch, largest;
    const std::vector<double>& levels;
    bool is_signed, flat;

    [[nodiscard]] double value(double x, double y) const {
        return locate(on, pitch, x, y).blend([&](std::int64_t r, std::int64_t c) { return field.at(r, c); });
    }

    [[nodiscard]] rgb shade(double value) const {
        const double share = largest > 0 ? value / largest : 0;
        return is_signed ? diverging(share) : ramp(share);
    }

    /// Share of a pixel that the line at `level` covers. A distance changes by a pixel's side per pixel, less across a
    /// ridge or if the plane is oblique to the nearest site; the slope's lower limit keeps a line there thin.
    [[nodiscard]] static double cover(double here, double level, double slope, double pitch, double width) {
        return std::clamp(width - std::abs(here - level) / (std::max(slope, 0.35) * pitch), 0.0, 1.0);
    }

    [[nodiscard]] rgb colour(double x, double y) const {
        if (flat) return cell_colour(x, y);
        const double here = value(x, y);
        if (!std::isfinite(here)) return unreached;
        const double right = value(x + 0.5, y) - value(x - 0.5, y), down = value(x, y + 0.5) - value(x, y - 0.5);
        // The slope beside an infinity cannot be measured; a distance has slope 1.
        const double measured = std::hypot(right, down) / pitch, slope = std::isfinite(measured) ? measured : 1;
        const double strength = 0.85 * std::clamp((slope - 0.1) * 4, 0.0, 1.0);
        rgb painted = shade(here);
        for (double level : levels) {
            const double nearest = is_signed ? std::copysign(level, here) : level;
            const bool on_dark = is_signed ? level > 0.5 * largest : level < 0.6 * largest;
            const double share = strength * cover(here, nearest, slope, pitch, 1.15);
            if (share > 0) painted = mix(painted, on_dark ? rgb{255, 255, 255} : ink, share);
        }
        if (is_signed) return mix(painted, ink, cover(here, 0, slope, pitch, 1.6));
        const double site_share = locate(on, pitch, x, y).blend([&](std::int64_t r, std::int64_t c) {
            return field.at(r, c) == 0 ? 1.0 : 0.0;
        });
        const double sharpness = std::min(on.shows.column_spacing, on.shows.row_spacing) / pitch;
        return mix(painted, site_colour, std::clamp((site_share - 0.5) * sharpness + 0.5, 0.0, 1.0));
    }

    /// The colour of the cell itself, with a line along faces where the sign changes.
    [[nodiscard]] rgb cell_colour(double x, double y) const {
        const sample_point at = locate(on, pitch, x, y);
        // locate() yields the cell whose centre is above and to the left of the point.
        const std::int64_t row = at.row + (at.down >= 0.5), column = at.column + (at.right >= 0.5);
        const double here = field.at(row, column);
        rgb painted = std::isfinite(here) ? shade(here) : unreached;
        if (!is_signed) return here == 0 ? site_colour : painted;
        const double down = (at.down >= 0.5 ? at.down - 0.5 : 0.5 - at.down) * on.shows.row_spacing / pitch,
                     right = (at.right >= 0.5 ? at.right - 0.5 : 0.5 - at.right) * on.shows.column_spacing / pitch;
        const bool changes_down = (field.at(row + (at.down >= 0.5 ? -1 : 1), column) < 0) != (here < 0),
                   changes_right = (field.at(row, column + (at.right >= 0.5 ? -1 : 1)) < 0) != (here < 0);
        // The line covers two pixels on either side of a face.
        return (changes_down && down < 1.5) || (changes_right && right < 1.5) ? ink : painted;
    }
};

/// A step of 1, 2 or 5 times a power of ten, so that about `steps` steps make up `largest`.
double round_step(double largest, double steps) {
    const double rough = largest / steps, power = std::pow(10, std::floor(std::log10(rough)));
    for (double factor : {1.0, 2.0, 5.0})
        if (factor * power >= 0.7 * rough) return factor * power;
    return 10 * power;
}

/// Draws the solid of values in their colours, to the right of the legend.
void put_solid(picture& image, const sheet& on, const io::array& values, double largest, bool squared) {
    const solid seen = see_solid(on, values, legend_room(on.legend_height));
    with_elements(values.data.get(), values.type, [&](const auto* cells) {
        seen.put(image, [&](std::size_t pixel) {
            const double value = std::abs(static_cast<double>(cells[seen.cell[pixel]]));
            if (!std::isfinite(value)) return unreached;
            return ramp(largest > 0 ? std::min((squared ? std::sqrt(value) : value) / largest, 1.0) : 0);
        });
    });
}

}  // namespace

io::array to_array(const picture& image) {
    io::array made = io::make_array(dtype::uint8, {image.height, image.width, 3});
    made.color = true;
    static_assert(sizeof(rgb) == 3);
    std::memcpy(made.data.get(), image.pixels.data(), image.pixels.size() * sizeof(rgb));
    return made;
}

std::vector<double> parse_isolines(const std::string& text, double largest) {
    if (text == "none" || text.empty()) return {};
    std::vector<double> levels;
    if (text == "auto") {
        if (!(largest > 0) || std::isinf(largest)) return levels;
        const double step = round_step(largest, 10);
        for (int i = 1; i * step < largest; ++i) levels.push_back(i * step);
        return levels;
    }
    // Every pixel is compared with every line, so their number is limited.
    if (std::count(text.begin(), text.end(), ',') >= most_isolines)
        throw error(
            error_code::invalid_argument,
            fmt::format("--isolines has more than {} distances; give fewer, or --isolines auto", most_isolines));
    levels = parse_numbers("--isolines", text, "--isolines 5,10,20 or --isolines auto");
    for (double level : levels)
        if (!(level > 0) || std::isinf(level))
            throw error(
                error_code::invalid_argument,
                fmt::format("--isolines has the distance {}; give positive distances, e.g. --isolines 5,10,20", level));
    return levels;
}

picture draw_distance(const sheet& on, const io::array& values, const distance_style& style) {
    std::vector<grid> fields;
    double largest = 0;
    for (const panel& each : on.panels) {
        fields.push_back(take_plane(each.shows, values, style.squared));
        for (double value : fields.back().value)
            if (std::isfinite(value)) largest = std::max(largest, style.is_signed ? std::abs(value) : value);
    }
    const std::vector<double> levels = parse_isolines(style.isolines, largest);
    picture image(on);
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        const distance_painter painter{
            part, fields[i], on.pitch, largest, levels, style.is_signed, style.flat || style.numbers};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
    }
    if (style.numbers) write_numbers(image, on, values);
    name_planes(image, on);
    if (style.solid) put_solid(image, on, values, largest, style.squared);
    draw_legend(image, on, largest, style.is_signed, levels, style.unit);
    return image;
}

}  // namespace nearfield::cli
