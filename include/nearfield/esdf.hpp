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
    bool negative_inside = false;  ///< obstacles get distances too: to the nearest cell that is none, negative
};

/// The fields one call fills; at least one. Any strides; they overlap nothing.
template <class Place>
struct esdf_fields {
    any_output<Place> distance{};  ///< float32 or float64, shape of the grid; +inf (obstacles: -inf) without a site
    any_output<Place> site{};      ///< int32, (axes, ...shape): coordinates of the nearest obstacle; -1 without one
    /// float32, (axes, ...shape): the direction in which the distance grows fastest, of length 1: away from the site,
    /// within obstacles towards it. 0 without a site and where the distance is 0.
    any_output<Place> gradient{};
};

/// Euclidean distances to obstacles as distance_transform has them, their sites, and the gradient by these: the vector
/// from the site to the cell, divided by the distance. It is exact to a rounding of each component, where differences
/// of a distance field are off by up to half a cell. On the medial axis, where several sites are equally near, it is
/// that of the site with the smallest coordinates, the last axis first.
///
///   on         host: returns when done; a device: the work is ordered on its stream, and can be captured in a graph
///   occupancy  1 to 8 axes, any element type, any strides; what is not zero is an obstacle
///
/// Time of a distance_transform with indices, and of writing the fields. Workspace: that, and 4 bytes a cell where
/// `site` or `gradient` is wanted (8 beyond 2^31 cells). Throws nearfield::error before any work is started.
void esdf(const host& on, const any_input<host>& occupancy, const esdf_fields<host>& out,
          const esdf_options& options = {});
void esdf(const device& on, const any_input<device>& occupancy, const esdf_fields<device>& out,
          const esdf_options& options = {});

/// Brings fields up to date after changes of `occupancy` within a box: what esdf() would make of the whole, to the bit.
/// Cells within max_distance of the box are written, and those within twice as far are read; without a max_distance
/// all are.
///
///   first, end  corners of the box, a coordinate for each axis; `end` is not of the box
///   out         fields that esdf() has filled with the same options
void update_esdf(const host& on, const any_input<host>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<host>& out, const esdf_options& options = {});
void update_esdf(const device& on, const any_input<device>& occupancy, std::span<const std::int64_t> first,
                 std::span<const std::int64_t> end, const esdf_fields<device>& out, const esdf_options& options = {});

/// Names of a costmap's bytes, as ROS has them.
inline constexpr std::uint8_t costmap_free = 0, costmap_inscribed = 253, costmap_lethal = 254, costmap_unknown = 255;

struct inflation_options {
    double resolution = 0.05;         ///< length of a cell
    double inscribed_radius = 0.1;    ///< of the robot's footprint
    double inflation_radius = 0.55;   ///< how far from obstacles costs reach, rounded up to whole cells
    double cost_scaling_factor = 10;  ///< how fast costs fall, in 1 / length
    bool inflate_unknown = false;     ///< unknown cells take any cost but 0; else only those of at least 253
    bool around_unknown = false;      ///< unknown cells count as obstacles
};

/// Costs near obstacles, as the inflation layer of ROS nav2 defines them. At a distance d from the nearest lethal cell:
/// 254 where d = 0, 253 where d <= inscribed_radius, else floor(252 exp(-cost_scaling_factor (d - inscribed_radius)));
/// nothing beyond inflation_radius. A cell keeps its own cost where that is larger.
///
///   on       host: returns when done; a device: the work is ordered on its stream, and can be captured in a graph
///   costmap  2 axes, uint8 in the bytes of ROS, any strides
///   out      shape of the costmap, uint8, any strides; no overlap
///
/// Time of a distance_transform with max_distance. Workspace: that, and 5 bytes a cell. Throws nearfield::error before
/// any work is started.
void inflate_costmap(const host& on, const any_input<host>& costmap, const any_output<host>& out,
                     const inflation_options& options = {});
void inflate_costmap(const device& on, const any_input<device>& costmap, const any_output<device>& out,
                     const inflation_options& options = {});

}  // namespace nearfield
