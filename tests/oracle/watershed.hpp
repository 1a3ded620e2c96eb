// Slow, independent answers for watersheds: Dijkstra's algorithm on pairs of a level and a number of steps, then labels
// by the letter of the definition. Shares no line with src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

struct watershed_problem {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> wraps;  ///< by axis
    int changes = 1;                  ///< coordinates that a step may change
    std::vector<double> value;        ///< C order; NaN is no cell
    std::vector<std::int64_t> marker;
    bool lines = false;
};

struct watershed_answer {
    std::vector<double> level;  ///< infinite where no marker leads
    std::vector<std::int64_t> label;
};

watershed_answer flooded(const watershed_problem& p);

/// Cells that are the first of a minimum, and the lowest pass to a lower one: infinite where there is none.
struct minimum {
    std::int64_t cell;
    double saddle;
};
/// `strict`: one of equal value is no lower one, whichever comes first.
std::vector<minimum> minima_of(const watershed_problem& p, bool strict);

/// Least over paths to each cell of the largest value on the path and of `start` where it begins.
std::vector<double> lowest_paths(const watershed_problem& p, const std::vector<double>& start);

/// Cells of the plateau that a cell lies on.
std::vector<std::int64_t> plateau_of(const watershed_problem& p, std::int64_t cell);

/// When regions end as water rises, by the letter: at every level of the image, of the lakes below it that hang
/// together at it, all but the one of the largest amount.
enum class measured { height, area, volume };
struct ending {
    std::int64_t cell;  ///< of the minimum
    double amount;      ///< infinite where it does not end
    std::int64_t into;  ///< cell of the minimum whose region goes on; -1: none
};
std::vector<ending> endings_of(const watershed_problem& p, measured by);

}  // namespace oracle
