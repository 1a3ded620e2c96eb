#include "cli/paths_verb.hpp"

#include <fmt/format.h>

#include "cli/options.hpp"
#include "cli/parse.hpp"
#include "cli/picture.hpp"

namespace nearfield::cli {
namespace {

[[noreturn]] void refuse(const std::string& message) { throw error(error_code::invalid_argument, message); }

bool is_png(const std::string& path) { return path.ends_with(".png") || path.ends_with(".PNG"); }

}  // namespace

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
                refuse(fmt::format("{} is {}; give cells of an array of {}", name, text, text_of(shape)));
        }
    }
    return cells;
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
