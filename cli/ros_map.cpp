#include "cli/ros_map.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <filesystem>

#include "cli/file_facts.hpp"
#include "cli/files.hpp"
#include "nearfield/occupancy_map.hpp"

namespace nearfield::cli {
bool is_ros_map(const std::string& path) { return path.ends_with(".yaml") || path.ends_with(".yml"); }

loaded load_occupancy(const std::string& path, const arguments& args) {
    if (!is_ros_map(path)) {
        loaded input = load(path, args);
        note_gray(args, path, input.image, "every cell that is not zero is an obstacle");
        return input;
    }
    const map_info map = read_map_info(path);
    arguments as_it_is = args;
    as_it_is.threshold.clear();
    loaded made = load((std::filesystem::path(path).parent_path() / map.image).string(), as_it_is);
    if (made.image.type != dtype::uint8 || made.image.shape.size() != 2)
        throw error(error_code::io, fmt::format("{}: names an image that is not gray of 8 bits", path));
    grays_to_costs(
        map, {reinterpret_cast<std::uint8_t*>(made.image.data.get()), static_cast<std::size_t>(made.image.cells())});
    if (args.spacing.empty()) made.per_axis = {map.resolution, map.resolution};
    made.image.spacing = made.per_axis, made.image.unit = "m", made.rows_up = false;
    return made;
}

std::array<std::int64_t, 2> map_frame::cell_at(double at_x, double at_y) const {
    const auto up = static_cast<std::int64_t>(std::floor((at_y - y) / resolution));
    return {rows - 1 - up, static_cast<std::int64_t>(std::floor((at_x - x) / resolution))};
}

std::array<double, 2> map_frame::centre_of(std::int64_t row, std::int64_t column) const {
    return {x + resolution * (static_cast<double>(column) + 0.5),
            y + resolution * (static_cast<double>(rows - 1 - row) + 0.5)};
}

map_frame frame_of(const std::string& path, std::int64_t rows) {
    const map_info map = read_map_info(path);
    if (map.origin[2] != 0)
        throw error(
            error_code::invalid_argument,
            fmt::format("{} is rotated by {}, and --world takes maps without rotation; give cells without --world",
                        path, map.origin[2]));
    return {map.origin[0], map.origin[1], map.resolution, rows};
}

void write_ros_map(const std::string& path, const io::array& bytes, double resolution, const std::string& like) {
    const auto origin = is_ros_map(like) ? read_map_info(like).origin : std::array<double, 3>{};
    const std::filesystem::path image = std::filesystem::path(path).replace_extension(".pgm");
    io::write(image, bytes);
    write_text(path, fmt::format("image: {}\nmode: raw\nresolution: {}\norigin: [{}]\nnegate: 0\n"
                                 "occupied_thresh: 0.65\nfree_thresh: 0.196\n",
                                 image.filename().string(), resolution, fmt::join(origin, ", ")));
}

}  // namespace nearfield::cli
