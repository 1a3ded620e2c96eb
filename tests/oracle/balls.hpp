// Slow, independent results about balls: each cell against every other one. Shares no line with src/ and includes none
// of the library's headers.
#pragma once

#include <cstdint>
#include <vector>

#include "oracle/options.hpp"

namespace oracle {

/// One image.
struct ball_problem {
    std::vector<std::int64_t> shape;
    std::vector<double> spacing;      ///< one per axis
    std::vector<edge> border;         ///< one per axis
    std::vector<std::int64_t> value;  ///< C order; 0 is background
    bool labels = false;              ///< true if cells of other values end a ball, too
};

/// Squared distance from every foreground cell to the nearest cell that ends its ball, including the first cells beyond
/// closed borders; +inf if there is none, 0 for background.
std::vector<double> radii2(const ball_problem& p);

/// For every cell the largest of the squared radii `r2` of balls that contain it, 0 if there is none. A ball contains
/// the cells nearer to its centre than its radius. Cells of infinite radius keep it and contain no other cell.
std::vector<double> covered2(const ball_problem& p, const std::vector<double>& r2);

}  // namespace oracle
