#include "cli/paths_verb.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"
#include "cli/values.hpp"
#include "nearfield/distance.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

void draw_line(picture& on, const panel& within, double y, double x, double by_y, double by_x, rgb ink) {
    const double half = std::max(1.0, 0.0025 * std::max(on.width, on.height));
    const int steps = 1 + static_cast<int>(2 * std::max(std::abs(by_y), std::abs(by_x)));
    const auto into = [](double at, int size) { return at - size * std::floor(at / size); };
    for (int s = 0; s <= steps; ++s) {
        const double at_y = within.top + into(y + by_y * s / steps, within.height),
                     at_x = within.left + into(x + by_x * s / steps, within.width);
        for (int b = static_cast<int>(at_y - half); b < at_y + half; ++b)
            for (int a = static_cast<int>(at_x - half); a < at_x + half; ++a)
                if (a >= 0 && b >= 0 && a < on.width && b < on.height) on.at(a, b) = ink;
    }
}

/// Draws a way. Steps across the end of a periodic axis continue at the other end.
void draw_way(picture& drawn, const panel& whole, const drawn_way& way, std::size_t axes) {
    const auto place = [&](std::size_t i, bool row) {
        const int axis = row ? whole.shows.row_axis : whole.shows.column_axis;
        const double cells = static_cast<double>(row ? whole.shows.rows : whole.shows.columns);
        const double at = axis < 0 ? 0 : static_cast<double>(way.cells[i + static_cast<std::size_t>(axis)]);
        const double share = (at + 0.5) / cells;
        return (row && whole.rows_up ? 1 - share : share) * (row ? whole.height : whole.width);
    };
    for (std::size_t i = axes; i < way.cells.size(); i += axes) {
        const double y = place(i - axes, true), x = place(i - axes, false);
        draw_line(drawn, whole, y, x, place(i, true) - y, place(i, false) - x, way.ink);
    }
}

}  // namespace

loaded load_obstacles(const arguments& args) {
    loaded input = load_occupancy(args.input, args);
    const auto free_where = [&](auto* cells, auto unknown) {
        std::replace_if(cells, cells + input.image.cells(), unknown, 0);
    };
    if (args.unknown == "free" && is_ros_map(args.input))
        free_where(reinterpret_cast<std::uint8_t*>(input.image.data.get()), [](int c) { return c == costmap_unknown; });
    else if (args.unknown == "free" && input.image.type == dtype::int8)
        free_where(reinterpret_cast<std::int8_t*>(input.image.data.get()), [](int c) { return c < 0; });
    return input;
}

inflation_options inflation_of(const arguments& args, const loaded& input) {
    inflation_options o;
    o.resolution = input.per_axis.front();
    if (args.inflation.empty()) return o;
    const auto numbers = parse_numbers("--inflation", args.inflation, "--inflation 0.1,0.55,10");
    if (numbers.size() != 3)
        refuse(
            fmt::format("--inflation is {}; give the inscribed radius, the inflation radius and the scaling, e.g. "
                        "--inflation 0.1,0.55,10",
                        args.inflation));
    o.inscribed_radius = numbers[0], o.inflation_radius = numbers[1], o.cost_scaling_factor = numbers[2];
    return o;
}

void check_csv(const std::string& name, const std::string& path) {
    if (path.empty() || path == "-") return;
    if (!path.ends_with(".csv")) refuse(fmt::format("{} is {}; give a CSV file, e.g. {} cells.csv", name, path, name));
    io::require_place(path);
}

void draw_ways(const arguments& args, const loaded& input, std::span<const drawn_way> ways) {
    if (args.picture.empty()) return;
    io::array distance = make_like(input.image, dtype::float32, input.image.shape);
    fields<host> out;
    out.distance = distance.out();
    distance_transform(host{static_cast<int>(args.threads), {}}, input.image.in(), out,
                       options_for(args, sites::nonzero, input));
    const sheet on = arrange(distance.shape, input.per_axis, page_of(args, input), input.rows_up);
    picture drawn = draw_distance(on, distance, {.isolines = args.isolines, .unit = input.image.unit});
    for (const panel& each : on.panels)
        for (const drawn_way& way : ways) draw_way(drawn, each, way, distance.shape.size());
    io::write(args.picture, to_array(drawn));
}

std::vector<std::int64_t> parse_cells(const std::string& name, const std::string& text,
                                      const std::vector<std::int64_t>& shape) {
    std::vector<std::int64_t> cells;
    for (const std::string& each : split(text, ';')) {
        const std::vector<std::string> coordinates = split(each, ',');
        if (coordinates.size() != shape.size())
            refuse(fmt::format("{} is {}; give {} coordinates of a cell, several cells joined by ';'", name, text,
                               shape.size()));
        for (std::size_t axis = 0; axis < shape.size(); ++axis) {
            cells.push_back(parse_integer(name, coordinates[axis], name + " 10,20"));
            if (cells.back() < 0 || cells.back() >= shape[axis])
                refuse(fmt::format("{} is {}, outside the array of shape {}; give cells of the array", name, text,
                                   text_of(shape)));
        }
    }
    return cells;
}

cell_words::cell_words(const arguments& args, const loaded& input) : shape_(input.image.shape) {
    if (!args.world) return;
    if (!is_ros_map(args.input))
        refuse(
            fmt::format("--world needs a map.yaml, and {} is not one; give the map or leave out --world", args.input));
    frame_ = frame_of(args.input, shape_[0]);
}

std::vector<std::int64_t> cell_words::cells(const std::string& name, const std::string& text) const {
    if (!frame_) return parse_cells(name, text, shape_);
    std::vector<std::int64_t> made;
    for (const std::string& each : split(text, ';')) {
        const std::vector<std::string> xy = split(each, ',');
        if (xy.size() != 2) refuse(fmt::format("{} is {}; with --world give x and y, e.g. 1.5,-2", name, text));
        for (const std::int64_t at :
             frame_->cell_at(parse_number(name, xy[0], name + " 1.5,-2"), parse_number(name, xy[1], name + " 1.5,-2")))
            made.push_back(at);
        const std::int64_t row = made[made.size() - 2], column = made.back();
        if (row < 0 || row >= shape_[0] || column < 0 || column >= shape_[1])
            refuse(fmt::format("{} is {}, outside the map; give x from {:g} to {:g} and y from {:g} to {:g}", name,
                               text, frame_->x, frame_->x + frame_->resolution * static_cast<double>(shape_[1]),
                               frame_->y, frame_->y + frame_->resolution * static_cast<double>(shape_[0])));
    }
    return made;
}

std::vector<std::int64_t> cell_words::one_cell(const std::string& name, const std::string& text) const {
    std::vector<std::int64_t> cell = cells(name, text);
    if (cell.size() > shape_.size()) refuse(fmt::format("{} is {}; give one cell", name, text));
    return cell;
}

std::string cell_words::csv(std::span<const std::int64_t> cells) const {
    const std::size_t axes = shape_.size();
    std::string text = frame_ ? "x,y" : "axis_0";
    for (std::size_t axis = 1; axis < axes && !frame_; ++axis) text += fmt::format(",axis_{}", axis);
    for (std::size_t i = 0; i < cells.size(); i += axes)
        text += frame_ ? fmt::format("\n{:.9g}", fmt::join(frame_->centre_of(cells[i], cells[i + 1]), ","))
                       : fmt::format("\n{}", fmt::join(cells.subspan(i, axes), ","));
    return text + "\n";
}

bool check_paths_outputs(const arguments& args, const std::vector<std::string>& arrays) {
    if (!args.picture.empty() && !is_png(args.picture))
        refuse(fmt::format("--picture is {}; pictures are PNG files, e.g. --picture path.png", args.picture));
    std::vector<std::string> all = arrays;
    all.push_back(args.picture);
    for (const std::string& path : all) check_destination(path);
    check_picture_size(args);
    return one_stdout(all);
}

void save_field(const arguments& args, const loaded& input, const std::string& path, const io::array& values,
                bool is_signed) {
    if (path.empty()) return;
    if (!is_png(path)) return io::write(path, values);
    const sheet on = arrange(values.shape, input.per_axis, page_of(args, input), input.rows_up);
    io::write(path, to_array(draw_distance(
                        on, values, {.isolines = args.isolines, .is_signed = is_signed, .unit = input.image.unit})));
}

}  // namespace nearfield::cli
