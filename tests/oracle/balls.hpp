// Slow, independent answers about balls: each cell against each other one. Shares no line with src/ and includes none
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
    bool labels = false;              ///< cells of other values end a ball, too
};

/// Squared distance of every cell that is not background to the nearest cell that ends its ball, the first cells beyond
/// closed borders included; +inf where there is none. 0 for background.
std::vector<double> radii2(const ball_problem& p);

/// For every cell the largest of the squared radii `r2` of balls that hold it, 0 where none does: a ball holds the
/// cells nearer to its centre than its radius. Cells of infinite radius keep it and hold no other cell.
std::vector<double> covered2(const ball_problem& p, const std::vector<double>& r2);

}  // namespace oracle
