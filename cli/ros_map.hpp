// Maps of ROS: a .yaml file that names an image and says what its grays mean.
#pragma once

#include <string>

#include "cli/load.hpp"

namespace nearfield::cli {

[[nodiscard]] bool is_ros_map(const std::string& path);

/// An occupancy grid: of a map.yaml as map_server reads it in its trinary mode, int8 of -1 (unknown), 0 (free) and 100
/// (occupied), spaced by its resolution in metres, the image's first row first; of any other file as load() has it.
/// Throws io for a map that is not what it claims, invalid_argument for other modes.
[[nodiscard]] loaded load_occupancy(const std::string& path, const arguments& args);

/// Writes an array of two axes, uint8, as a PGM beside `path`, and the map.yaml in raw mode that names it.
void write_ros_map(const std::string& path, const io::array& bytes, double resolution);

}  // namespace nearfield::cli
