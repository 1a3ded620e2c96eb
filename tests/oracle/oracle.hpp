// Slow, independent results for the exact distance and nearest-site fields. Shares no line with src/ and includes none
// of the library's headers: it follows the documentation literally.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

namespace oracle {

struct problem {
    std::vector<std::int64_t> shape;
    std::vector<double> spacing;     ///< one value per axis, in array order
    std::vector<std::uint8_t> site;  ///< C order; 1 if the cell is a site
};

/// The unsigned type that holds all squared distances, or floating point.
enum class width { u32, u64, f64 };

inline constexpr std::uint64_t no_site = std::numeric_limits<std::uint64_t>::max();

struct answer {
    width type = width::u32;
    std::vector<std::uint64_t> exact;  ///< squared distances for u32 and u64; no_site without a site; empty for f64
    std::vector<double> squared;       ///< the same in double, +inf without a site
    std::vector<std::int64_t> index;   ///< C-order index of the nearest site, -1 without a site
};

/// The type that the contract requires for the squared distances of a grid with at least one cell.
width squared_width(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing);

/// Solves every cell against every site, in O(cells * sites). For floating point the values are those of the contract,
/// but ties that only rounding makes follow the integer rule, so `index` may differ from by_lines there.
answer by_cells(const problem& p);

/// Does by_cells for some cells of a grid that may be too large for memory: entry k of the result is that of cells[k].
answer at_cells(const std::vector<std::int64_t>& shape, const std::vector<double>& spacing,
                const std::vector<std::int64_t>& site_indices, const std::vector<std::int64_t>& cells);

/// Solves line by line, from the last axis to the first: every cell of a line against the winners of the pass before
/// that can still matter. Follows the tie rule for floating point, and equals by_cells for integers.
answer by_lines(const problem& p);

/// The coordinates of a C-order index.
std::vector<std::int64_t> coordinates_of(std::int64_t index, const std::vector<std::int64_t>& shape);

}  // namespace oracle
