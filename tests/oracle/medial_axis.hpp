// The medial axis by its definition: all sites for every cell, all pairs of neighbours, absolute coordinates.
// Shares no line with src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <vector>

namespace oracle {

enum class axis_pruning { constant, linear, square_root, angle };
enum class axis_border { open, closed, periodic };

/// One image.
struct axis_problem {
    std::vector<std::int64_t> shape;
    std::vector<std::int64_t> value;  ///< C order; 0 is outside all shapes
    bool labels = false;              ///< true if every value is a shape of its own, else all nonzero cells are one
    std::vector<double> spacing;
    std::vector<axis_border> border;
    axis_pruning prune = axis_pruning::constant;
    double gamma = 1;
    double unit = 1;  ///< length in which square_root is measured
};

struct axis_answer {
    std::vector<std::uint8_t> axis;
    std::vector<std::int64_t> second;
    std::vector<double> squared;     ///< +inf if there is no site
    std::vector<std::uint8_t> tied;  ///< 1 if another site, or another copy, is equally near
};

axis_answer medial_axis(const axis_problem& p);

/// True if every lattice point nearer than r2 is nearer than other2 to the point `way` from here; squared distances.
bool ball_in_ball(const std::vector<std::int64_t>& way, const std::vector<double>& spacing, double r2, double other2);

}  // namespace oracle
