// Slow, independent results for watersheds: Dijkstra's algorithm on pairs of a level and a number of steps, then labels
// by the definition. Shares no line with src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

struct watershed_problem {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> wraps;  ///< 1 for each periodic axis
    int changes = 1;                  ///< number of coordinates that a step may change
    std::vector<double> value;        ///< C order; NaN marks a cell that is left out
    std::vector<std::int64_t> marker;
    bool lines = false;
};

struct watershed_answer {
    std::vector<double> level;  ///< infinite if no marker reaches the cell
    std::vector<std::int64_t> label;
};

watershed_answer flooded(const watershed_problem& p);

/// The first cell of a minimum, and the lowest pass to a lower minimum; infinite if there is none.
struct minimum {
    std::int64_t cell;
    double saddle;
};
/// `strict`: a minimum of equal value does not count as lower, whichever comes first.
std::vector<minimum> minima_of(const watershed_problem& p, bool strict);

/// For each cell the minimum over paths of the largest value on the path, and of `start` at the path's first cell.
std::vector<double> lowest_paths(const watershed_problem& p, const std::vector<double>& start);

/// The cells of the plateau on which a cell lies.
std::vector<std::int64_t> plateau_of(const watershed_problem& p, std::int64_t cell);

/// Computes where regions end as water rises, by the definition: at every level of the image, of the lakes below it
/// that connect at the level, all end but the one with the largest amount.
enum class measured { height, area, volume };
struct ending {
    std::int64_t cell;  ///< cell of the minimum
    double amount;      ///< infinite if the region never ends
    std::int64_t into;  ///< minimum of the region that continues; -1 if there is none
};
std::vector<ending> endings_of(const watershed_problem& p, measured by);

/// Takes cells in their order, except those that are nearer than `apart` to one taken before; returns their positions.
std::vector<std::size_t> apart_from_all_before(const std::vector<std::int64_t>& cells,
                                               const std::vector<std::int64_t>& shape, double apart);

}  // namespace oracle
