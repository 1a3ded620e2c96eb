// The host's first pass: the nearest site along a contiguous line, compiled once per instruction set.
#pragma once

#include <cstdint>

#include "exact/core.hpp"

namespace nearfield::exact {

/// Line buffers are read and written in whole SIMD vectors: allocate this many elements more than the line has.
inline constexpr std::int64_t line_padding = 64;
/// Positions of longer lines do not leave the room in an int32 that the vectors need.
inline constexpr std::int64_t max_simd_line = std::int64_t{1} << 29;

/// nearest[x] = position of the site nearest to x (the left one of two), -1 when the line has none. `site` is 0 or 1 a cell.
void nearest_in_line(const std::uint8_t* site, std::int64_t count, std::int32_t* nearest);

/// Makes the line periodic: cells before the first site may be nearer to the last one, and the other way round.
void nearest_round_ends(const std::uint8_t* site, std::int64_t count, std::int32_t* nearest);

/// Squared distances, or packed sites, from the positions of the nearest sites.
void values_of_line(const std::int32_t* nearest, std::int64_t count, std::int32_t weight, std::int32_t* value);
void values_of_line(const std::int32_t* nearest, std::int64_t count, std::int64_t weight, std::int64_t* value);
void values_of_line(const std::int32_t* nearest, std::int64_t count, double weight, double* value);
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int32_t* key);
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int64_t* key);

}  // namespace nearfield::exact
