// Distance fields for robots: distance, nearest obstacle and gradient in one call, updates of a box, inflated costmaps.
#pragma once

#include <cstdint>
#include <limits>
#include <span>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

struct esdf_options {
    nearfield::spacing spacing{};  ///< length of a cell along each axis, in array order; positive, finite
    double max_distance = std::numeric_limits<double>::infinity();  ///< farther cells have no obstacle
    bool negative_inside = false;  ///< obstacle cells get minus the distance to the nearest free cell
};

/// The outputs of one call; at least one is required. Any strides; they overlap nothing.
template <class Place>
struct esdf_fields {
    any_output<Place> distance{};  ///< float32 or float64, shape of the grid; +inf (obstacles: -inf) without a site
    any_output<Place> site{};      ///< int32, (axes, ...shape): coordinates of the nearest obstacle; -1 without one
    /// float32, (axes, ...shape): the direction in which the distance grows fastest, of length 1: away from the site,
    /// within obstacles towards it. 0 if there is no site or the distance is 0.
    any_output<Place> gradient{};
};

/// Computes Euclidean distances to obstacles as distance_transform does, their sites, and the gradient from the sites:
/// the vector from the site to the cell, divided by the distance. Each component is exact to one rounding, whereas
/// differences of a distance field are off by up to half a cell. On the medial axis, where several sites are equally
/// near, the gradient is that of the site with the smallest coordinates, the last axis first.
///
///   on         host: returns when done; device: the work is ordered on its stream, and can be captured in a graph
///   occupancy  1 to 8 axes, any element type, any strides; what is not zero is an obstacle
///
/// Time: a distance_transform with sites, and the writing of the fields. Workspace: that; if `site` or `gradient` is
/// wanted, 4 bytes a cell on a device, and on a host 4 bytes a cell and axis, or none if all of `site` is filled.
/// Throws nearfield::error before any work is started.
void esdf(const host& on, const any_input<host>& occupancy, const esdf_fields<host>& out,
          const esdf_options& options = {});
void esdf(const device& on, const any_input<device>& occupancy, const esdf_fields<device>& out,
          const esdf_options& options = {});

/// Updates fields after changes of `occupancy` within a box: the result equals that of esdf() for the whole grid, bit
/// for bit. The call writes cells within max_distance of the box and reads those within twice that distance; without a
/// max_distance it reads and writes all cells.
///
///   first, end  corners of the box, a coordinate for each axis; `end` is exclusive
///   out         fields that esdf() has filled with the same options
void update_esdf(const host& on, const any_input<host>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<host>& out, const esdf_options& options = {});
void update_esdf(const device& on, const any_input<device>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<device>& out, const esdf_options& options = {});

/// Names of a costmap's bytes, as in ROS.
inline constexpr std::uint8_t costmap_free = 0, costmap_inscribed = 253, costmap_lethal = 254, costmap_unknown = 255;

struct inflation_options {
    double resolution = 0.05;         ///< length of a cell
    double inscribed_radius = 0.1;    ///< inscribed radius of the robot's footprint
    double inflation_radius = 0.55;   ///< reach of the costs from obstacles, rounded up to whole cells
    double cost_scaling_factor = 10;  ///< decay of the costs, in 1 / length
    bool inflate_unknown = false;     ///< unknown cells take any cost but 0; else only costs of at least 253
    bool around_unknown = false;      ///< unknown cells count as obstacles
};

/// Writes costs near obstacles, as the inflation layer of ROS nav2 defines them. At a distance d from the nearest
/// lethal cell the cost is 254 if d = 0, 253 if d <= inscribed_radius, else floor(252 exp(-cost_scaling_factor (d -
/// inscribed_radius))), and nothing beyond inflation_radius. A cell keeps its own cost if that is larger.
///
///   on       host: returns when done; device: the work is ordered on its stream, and can be captured in a graph
///   costmap  2 axes, uint8 in the bytes of ROS, any strides
///   out      shape of the costmap, uint8, any strides; no overlap
///
/// Time of a distance_transform with max_distance; on a host tiles without an obstacle in reach are only copied.
/// Workspace: that, and 5 bytes a cell; on a host of a tile a thread, which has 512 cells a side or 8 times the reach,
/// and what is in reach. Throws nearfield::error before any work is started.
void inflate_costmap(const host& on, const any_input<host>& costmap, const any_output<host>& out,
                     const inflation_options& options = {});
void inflate_costmap(const device& on, const any_input<device>& costmap, const any_output<device>& out,
                     const inflation_options& options = {});

}  // namespace nearfield
