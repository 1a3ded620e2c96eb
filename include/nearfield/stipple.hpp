// Stippling: an image as dots of ink.
#pragma once

#include <cmath>
#include <cstdint>
#include <functional>
#include <numbers>
#include <vector>

#include "nearfield/grid.hpp"

namespace [[gnu::visibility("default")]] nearfield {

enum class stipple_method : std::uint8_t {
    lloyd,  ///< Lloyd: a fixed number of points, samples of the image, moved by centroidal_voronoi
    lbg,    ///< Linde-Buzo-Gray: from one point on, points split and vanish until each has its share of ink
};

/// The points after some rounds: parts of cells as in centroidal_voronoi.
struct stipple_state {
    int axes = 2;
    int supersample = 1;
    std::vector<std::int32_t> parts;  ///< (n, axes)

    [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(parts.size()) / axes; }
    /// Returns a coordinate in cells; centres of cells are at integers.
    [[nodiscard]] double coordinate(std::int64_t point, int axis) const {
        return (parts[static_cast<std::size_t>(point * axes + axis)] + 0.5) / supersample - 0.5;
    }
};

struct stipple_options {
    std::int64_t points = 0;  ///< number of points; 0: as many as dots of `size` need for the ink of the image
    double size = 0;          ///< diameter of a dot, in cells; 0: derived from `points`
    stipple_method method = stipple_method::lloyd;
    int rounds = -1;  ///< largest number of rounds of the method; -1: 60 of Lloyd's, 50 of Linde-Buzo-Gray
    std::uint64_t seed = 0;
    bool invert = false;  ///< ink is light
    int supersample = 0;  ///< as in centroidal_options; 0: 1 to 4, by the distance of points
    nearfield::spacing spacing{};
    borders border{};
    /// Called after each round, from the calling thread. Rounds then take twice as long.
    std::function<void(const stipple_state&)> watch{};
};

struct stipples : stipple_state {
    /// Ink of the region of each point; a black part has full_ink.
    std::vector<std::int64_t> weights;
    std::int64_t full_ink = 255;  ///< ink of a black part
    /// Energies of the last rounds of centroidal_voronoi: high and low 64 bits of each.
    std::vector<std::uint64_t> energy;

    /// Returns the diameter in cells of a dot that has the ink of its region: a disc, in 3-D a ball, in 1-D a length.
    [[nodiscard]] double diameter(std::int64_t point) const {
        double parts_of_cell = 1;
        for (int axis = 0; axis < axes; ++axis) parts_of_cell *= supersample;
        const double cells = static_cast<double>(weights[static_cast<std::size_t>(point)]) /
                             static_cast<double>(full_ink) / parts_of_cell;
        if (axes == 1) return cells;
        return axes == 2 ? std::sqrt(4 / std::numbers::pi * cells) : std::cbrt(6 / std::numbers::pi * cells);
    }
};

/// Makes points that lie as densely as an image is dark, and apart from each other.
///
/// The ink of a cell is the largest value of the type, which is white, minus its value. With `invert` it is the
/// value minus black. If there are many sites, centroidal diagrams place them as densely as the power axes / (axes
/// + 2) of the density. Rounds of centroidal_voronoi therefore take the inverse power of the ink, in 2-D its
/// square.
///
/// Lloyd's: samples of the ink, rounds / 2 of centroidal_voronoi at whole cells, then rounds / 2 in parts.
/// Linde-Buzo-Gray: each round drops every other point whose region has less than 1 - h / 2 of its share of the ink,
/// splits those with more than 1 + h / 2 along the main axis of their region, and moves all others to its centroid; h
/// is 0.6 at first and grows by 0.01 a round. Rounds end when no point is dropped or split. With `points` the smallest
/// are dropped or the largest split to reach that number. Ten rounds of centroidal_voronoi follow.
///
///   on     host or device; the call waits on both
///   image  1 to 3 axes, bool, uint8 or uint16, any strides; not changed
///
/// Host and device make the same points, for any number of threads.
///
/// Time: rounds * that of distance_transform of all parts. Workspace: that of centroidal_voronoi, and on the host 2
/// bytes a cell and 1 bit a part.
///
/// Throws nearfield::error before any work is started: as centroidal_voronoi; points and size given, or neither; more
/// points than parts with ink.
///
/// Secord, "Weighted Voronoi stippling", NPAR 2002. Deussen, Spicker, Zheng, "Weighted Linde-Buzo-Gray stippling", ACM
/// TOG 36(6), 2017.
[[nodiscard]] stipples stipple(const host& on, const any_input<host>& image, const stipple_options& options);
[[nodiscard]] stipples stipple(const device& on, const any_input<device>& image, const stipple_options& options);

}  // namespace nearfield
