// Maps of ROS: a .yaml file that names an image and says what its grays mean.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cli/load.hpp"

namespace nearfield::cli {

[[nodiscard]] bool is_ros_map(const std::string& path);

/// An occupancy grid: of a map.yaml as map_server reads it in its trinary mode, int8 of -1 (unknown), 0 (free) and 100
/// (occupied), spaced by its resolution in metres, the image's first row first; of any other file as load() has it.
/// Throws io for a map that is not what it claims, invalid_argument for other modes.
[[nodiscard]] loaded load_occupancy(const std::string& path, const arguments& args);

/// Where a map lies: metres of the lower left corner of its image.
struct map_frame {
    double x = 0, y = 0, resolution = 1;
    std::int64_t rows = 0;

    [[nodiscard]] std::array<std::int64_t, 2> cell_at(double at_x, double at_y) const;
    [[nodiscard]] std::array<double, 2> centre_of(std::int64_t row, std::int64_t column) const;
};
/// By the origin of a map.yaml. Throws io where it has none, invalid_argument where it is turned.
[[nodiscard]] map_frame frame_of(const std::string& path, std::int64_t rows);

/// Writes an array of two axes, uint8, as a PGM beside `path`, and the map.yaml in raw mode that names it, with the
/// origin of `like` where that is a map.yaml.
void write_ros_map(const std::string& path, const io::array& bytes, double resolution, const std::string& like);

}  // namespace nearfield::cli
