// Maps of ROS: a .yaml file that names an image and defines what its grays mean.
#pragma once

#include <array>
#include <cstdint>
#include <string>

#include "cli/load.hpp"

namespace nearfield::cli {

[[nodiscard]] bool is_ros_map(const std::string& path);

/// Loads an occupancy grid. A map.yaml becomes the costs of grays_to_costs(), spaced by its resolution in metres, the
/// image's first row first. Other files are read by load(). Throws io for a malformed map.
[[nodiscard]] loaded load_occupancy(const std::string& path, const arguments& args);

/// Position of a map: the lower left corner of its image, in metres.
struct map_frame {
    double x = 0, y = 0, resolution = 1;
    std::int64_t rows = 0;

    [[nodiscard]] std::array<std::int64_t, 2> cell_at(double at_x, double at_y) const;
    [[nodiscard]] std::array<double, 2> centre_of(std::int64_t row, std::int64_t column) const;
};
/// The frame of a map.yaml. Throws io if it has no origin, invalid_argument if the origin is rotated.
[[nodiscard]] map_frame frame_of(const std::string& path, std::int64_t rows);

/// Writes a 2-D uint8 array as a PGM beside `path`, and the map.yaml in raw mode that names it, with the origin of
/// `like` if that is a map.yaml.
void write_ros_map(const std::string& path, const io::array& bytes, double resolution, const std::string& like);

}  // namespace nearfield::cli
