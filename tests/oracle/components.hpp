// Slow, independent connected components: flood fill from cell to cell. Shares no line with src/ and includes none of
// the library's headers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

namespace oracle {

struct component_problem {
    std::vector<std::int64_t> shape;               ///< shape of one image
    std::function<bool(std::int64_t)> foreground;  ///< tells whether the cell with this C-order index is foreground
    /// Tells whether two foreground neighbours are linked; the second lies the step of this number away.
    std::function<bool(std::int64_t, std::int64_t, std::size_t)> linked;
    std::vector<std::uint8_t> steps;     ///< 3^axes flags, C order over offsets -1, 0, 1
    std::vector<std::uint8_t> periodic;  ///< one per axis; empty: none
};

struct component_filter {
    std::int64_t smallest = 1, largest = INT64_MAX, keep_largest = INT64_MAX;
    bool clear_border = false;
};

struct component_answer {
    std::vector<std::int64_t> label;  ///< 1..count in order of the first cell; 0 is background
    std::int64_t count = 0;
};

/// The steps that change at most `changes` coordinates.
std::vector<std::uint8_t> steps_of(int axes, int changes);

component_answer flood_fill(const component_problem& p);
component_answer filtered(const component_answer& all, const component_problem& p, const component_filter& by);

}  // namespace oracle
