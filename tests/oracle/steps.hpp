// Slow, independent results for distances in steps: the cheapest path from every cell to every site, one site after the
// other. Shares no line with src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

inline constexpr std::int64_t no_path = std::numeric_limits<std::int64_t>::max();

struct step_problem {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> site;    ///< C order; 1 if the cell is a site
    std::vector<std::int64_t> weight;  ///< 3^axes prices, C order over offsets -1, 0, 1; 0 means no such step
};

struct step_answer {
    std::vector<std::int64_t> distance;  ///< no_path if no path leads to a site
    std::vector<std::int64_t> index;     ///< C-order index of the nearest site, -1 without one
};

/// Decides ties by the last axis, then by the axis before it, and so on. O(sites * cells * steps).
step_answer cheapest_paths(const step_problem& p);

/// Passes over the cells forwards, then backwards, until nothing changes; the site found first stays. O(cells * steps)
/// for each pass.
step_answer found_first(const step_problem& p);

}  // namespace oracle
