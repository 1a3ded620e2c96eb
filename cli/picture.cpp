// Distances as colours, with isolines.
#include "cli/picture.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/parse.hpp"
#include "cli/slabs.hpp"
#include "cli/values.hpp"

namespace nearfield::cli {
namespace {

constexpr rgb paper{250, 249, 246}, site_colour{243, 240, 232}, unreached{128, 128, 128};

/// Distances of the cells of one plane.
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
                        squared ? std::sqrt(value) : value;
                }
        });
    });
    return taken;
}

/// Where a pixel's middle lies on a plane, in cells, and the weights of the four cells around it.
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

    [[nodiscard]] double value(double x, double y) const {
        return locate(on, pitch, x, y).blend([&](std::int64_t r, std::int64_t c) { return field.at(r, c); });
    }

    [[nodiscard]] rgb colour(double x, double y) const {
        const double here = value(x, y);
        if (!std::isfinite(here)) return unreached;
        const double right = value(x + 0.5, y) - value(x - 0.5, y), down = value(x, y + 0.5) - value(x, y - 0.5);
        // A distance changes by a pixel's side from pixel to pixel, less across a ridge or where the plane is oblique to
        // the nearest site; a line there must not swell into a patch.
        const double slope = std::hypot(right, down) / pitch, per_pixel = std::max(slope, 0.35) * pitch;
        const double strength = 0.85 * std::clamp((slope - 0.1) * 4, 0.0, 1.0);
        rgb painted = ramp(largest > 0 ? here / largest : 0);
        for (double level : levels) {
            const double cover = std::clamp(1.15 - std::abs(here - level) / per_pixel, 0.0, 1.0);
            if (cover > 0)
                painted = mix(painted, level < 0.6 * largest ? rgb{255, 255, 255} : rgb{20, 22, 48}, strength * cover);
        }
        const double site_share = locate(on, pitch, x, y).blend([&](std::int64_t r, std::int64_t c) {
            return field.at(r, c) == 0 ? 1.0 : 0.0;
        });
        const double sharpness = std::min(on.shows.column_spacing, on.shows.row_spacing) / pitch;
        return mix(painted, site_colour, std::clamp((site_share - 0.5) * sharpness + 0.5, 0.0, 1.0));
    }
};

/// 1, 2 or 5 times a power of ten, so that about `steps` of them make up `largest`.
double round_step(double largest, double steps) {
    const double rough = largest / steps, power = std::pow(10, std::floor(std::log10(rough)));
    for (double factor : {1.0, 2.0, 5.0})
        if (factor * power >= 0.7 * rough) return factor * power;
    return 10 * power;
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
            if (std::isfinite(value)) largest = std::max(largest, value);
    }
    const std::vector<double> levels = parse_isolines(style.isolines, largest);
    picture image{on.width, on.height,
                  std::vector<rgb>(static_cast<std::size_t>(on.width) * static_cast<std::size_t>(on.height), paper)};
    for (std::size_t i = 0; i < on.panels.size(); ++i) {
        const panel& part = on.panels[i];
        const distance_painter painter{part, fields[i], on.pitch, largest, levels};
        for_slabs(part.height, [&](std::int64_t begin, std::int64_t end) {
            for (int y = static_cast<int>(begin); y < end; ++y)
                for (int x = 0; x < part.width; ++x)
                    image.at(part.left + x, part.top + y) = painter.colour(x + 0.5, y + 0.5);
        });
    }
    draw_legend(image, on, largest, levels, style.unit);
    return image;
}

}  // namespace nearfield::cli
