// Occupancy maps of ROS: a .yaml file beside a PGM image, read and written.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

/// Contents of a map's .yaml file, with map_server's defaults.
struct map_info {
    std::string image{};             ///< file of the image, as the .yaml names it: relative to the .yaml's folder
    std::string mode = "trinary";    ///< how grays become costs: trinary, scale or raw
    double resolution = 0.05;        ///< length of a cell in metres
    std::array<double, 3> origin{};  ///< x and y of the image's lower left corner in metres, and the map's rotation
    bool negate = false;             ///< true if white is occupied
    double occupied = 0.65, free = 0.196;  ///< a cell is occupied or free if its gray is above or below these shares
};

/// Reads a map's .yaml file: pairs of a key and a value, one on a line. Throws nearfield::error with error_code::io if
/// it cannot be read, names no image or no resolution, or has a value that is not a finite number; with
/// invalid_argument for an unknown mode.
[[nodiscard]] map_info read_map_info(const std::string& path);

/// Turns grays of a map's image into costs, in place. A gray's share is (255 - gray) / 255, or gray / 255 if `negate`.
/// trinary: shares above `occupied` become costmap_lethal, those below `free` costmap_free, others costmap_unknown.
/// scale: the others become rint(100 s) 254 / 100, rounded down, where s leads from 0 at `free` to 1 at `occupied`, as
/// map_server and nav2's static layer (trinary_costmap: false) make of them. raw: grays are costs.
void grays_to_costs(const map_info& info, std::span<std::uint8_t> grays);

/// A map as a costmap: what inflate_costmap(), esdf() and plan_path() take.
struct occupancy_map {
    map_info info;
    std::int64_t rows = 0, columns = 0;
    /// A byte for each cell, the image's first row first, which is the upper end of the map: see grays_to_costs().
    std::vector<std::uint8_t> costs;

    /// Describes `costs`; valid while they live.
    [[nodiscard]] any_input<host> view() const;
};

/// Reads a map by its .yaml file, or a PGM image with the defaults of map_info. The image is a binary PGM (P5) of 8
/// bits. Throws nearfield::error with error_code::io for a malformed file, and what read_map_info() throws.
[[nodiscard]] occupancy_map read_map(const std::string& path);

/// Writes a costmap as `path`, a .yaml file in mode raw, with the PGM image of the same name beside it. Of `map.info`
/// it takes the resolution and the origin. Throws nearfield::error.
void write_map(const std::string& path, const occupancy_map& map);

}  // namespace nearfield
