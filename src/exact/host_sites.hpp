// Sites of the host's dense engine: cell numbers that are stored beside the search, and selected by its winners.
// Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "exact/room.hpp"

namespace nearfield::exact {

/// Numbering of cells: the linear index in the image, or packed coordinates.
struct cell_number {
    std::int32_t row = 0, line = 0, cell = 0;  ///< summand of a step along each of the axes
};

/// site[x] = start + toward[x] * number.row + x * number.cell: the site of each column along the first axis.
void number_sites(const std::int16_t* toward, std::int64_t count, std::int32_t start, const cell_number& number,
                  std::int32_t* site);

/// After the middle axis: column[x] = the site of the line in the low `from` bits of column x's number. Then the low
/// bits, now `to` of them, become the cell's own coordinate for the search along the last axis.
void take_lines(std::int32_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column);
void take_lines(std::int64_t* number, std::int64_t count, int from, int to, const std::int32_t* site,
                std::int64_t length, std::int32_t* column);

/// value[x] = what stands above the low `bits` bits of number[x], or no_site without one.
void values_of(const std::uint16_t* number, std::int64_t count, int bits, std::int32_t* value);
void values_of(const std::int32_t* number, std::int64_t count, int bits, std::int32_t* value);
void values_of(const std::int64_t* number, std::int64_t count, int bits, std::int32_t* value);

/// out[x] = column[low `bits` bits of number[x]], or column[absent] without one. `past_caches`: the output bypasses the
/// caches.
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int32_t* out);
void take_cells(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int64_t* out);
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int32_t* out);
void take_cells(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column,
                std::int64_t absent, bool past_caches, std::int64_t* out);

/// Turns numbers into vectors to sites. `column` holds sites as take_cells() takes them, with the row above 16 bits of
/// the line; the cells are those of line `line` of row `row`. Returns false if a vector is longer than most_way.
bool ways_of(const std::int32_t* number, std::int64_t count, int bits, const std::int32_t* column, std::int32_t row,
             std::int32_t line, const site_ways& to);
bool ways_of(const std::int64_t* number, std::int64_t count, int bits, const std::int32_t* column, std::int32_t row,
             std::int32_t line, const site_ways& to);

}  // namespace nearfield::exact
