// Slow, independent answers for the exact distance and nearest-site fields. Shares no line with src/ and includes none
// of the library's headers: what it says is what the documentation promises, read literally.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

struct problem {
    std::vector<std::int64_t> shape;
    std::vector<double> spacing;     ///< one value per axis, in array order
    std::vector<std::uint8_t> site;  ///< C order; 1 where the cell is a site
};

/// Unsigned type in which all squared distances fit, or floating point.
enum class width { u32, u64, f64 };

inline constexpr std::uint64_t no_site = std::numeric_limits<std::uint64_t>::max();

struct answer {
    width type = width::u32;
    std::vector<std::uint64_t> exact;  ///< squared distances for u32 and u64, no_site without a site; empty for f64
    std::vector<double> squared;       ///< the same in double, +inf without a site
    std::vector<std::int64_t> index;   ///< C-order index of the nearest site, -1 without a site
};

/// What the contract says about the type of the squared distances of a grid with at least one cell.
width squared_width(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing);

/// Every cell against every site: O(cells * sites). For floating point the values are those of the contract, but a tie
/// that only rounding makes is broken by the flat rule, so that `index` may differ from by_lines there.
answer by_cells(const problem& p);

/// by_cells for some cells of a grid that may be too large to hold: entry k of the answer is that of cells[k].
answer at_cells(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                const std::vector<std::int64_t>& site_indices, const std::vector<std::int64_t>& cells);

/// Line by line, from the last axis to the first, every cell of a line against the winners of the pass before that can
/// still matter: the tie rule as it is defined for floating point, and equal to by_cells for integers.
answer by_lines(const problem& p);

/// The coordinates of a C-order index.
std::vector<std::int64_t> coordinates_of(std::int64_t index, const std::vector<std::int64_t>& shape);

}  // namespace oracle
