// Slow, independent answers for distances counted in steps: the cheapest path from every cell to every site, one site
// after the other. Shares no line with src/ and includes none of the library's headers.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

inline constexpr std::int64_t no_path = std::numeric_limits<std::int64_t>::max();

struct step_problem {
    std::vector<std::int64_t> shape;
    std::vector<std::uint8_t> site;    ///< C order; 1 where the cell is a site
    std::vector<std::int64_t> weight;  ///< 3^axes prices, C order over offsets -1, 0, 1; 0: no such step
};

struct step_answer {
    std::vector<std::int64_t> distance;  ///< no_path where no path leads to a site
    std::vector<std::int64_t> index;     ///< C-order index of the nearest site, -1 without one
};

/// Ties by last axis, then by the axis before it, and so on. O(sites * cells * steps).
step_answer cheapest_paths(const step_problem& p);

/// Cell by cell forward, then backward, again until nothing changes; what is found first stays. O(cells * steps) a
/// pass.
step_answer found_first(const step_problem& p);

}  // namespace oracle
