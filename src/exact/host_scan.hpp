// The host's first pass: the nearest site along a contiguous line, compiled once per instruction set.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>

#include "exact/core.hpp"

namespace nearfield::exact {

/// Line buffers are read and written in whole SIMD vectors: allocate this many elements more than the line has.
inline constexpr std::int64_t line_padding = 64;
/// Positions of longer lines do not leave the room in an int32 that the vectors need.
inline constexpr std::int64_t max_simd_line = std::int64_t{1} << 29;
/// Beyond every position of such a line, in either direction, by more than the line.
inline constexpr std::int32_t no_position = 1 << 30;

/// Longer lines are worked on in pieces, so that a stop is heard between them: a piece takes less than 1 ms.
inline constexpr std::int64_t longest_whole_line = std::int64_t{1} << 20, line_piece = std::int64_t{1} << 18;

/// body(first, last) for all of a line, or for its pieces with `ask` after each.
template <class Body>
void for_each_piece(std::int64_t count, const std::function<void()>& ask, const Body& body) {
    if (count <= longest_whole_line) return body(0, count);
    for (std::int64_t first = 0; first < count; first += line_piece)
        body(first, std::min(first + line_piece, count)), ask();
}

/// nearest[x] = position of the site nearest to x (the left one of two), -1 when the line has none. `site` is 0 or 1 a
/// cell. `ask` is called between pieces of a long line, and may throw.
void nearest_in_line(const std::uint8_t* site, std::int64_t count, const std::function<void()>& ask,
                     std::int32_t* nearest);

/// Makes the line periodic: cells before the first site may be nearer to the last one, and the other way round.
void nearest_round_ends(const std::uint8_t* site, std::int64_t count, std::int32_t* nearest);

/// Squared distances of cells [first, last) of a line, or `count` packed sites, from the positions of the nearest
/// sites.
void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, std::int32_t weight,
                    std::int32_t* value);
void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, std::int64_t weight,
                    std::int64_t* value);
void values_of_line(const std::int32_t* nearest, std::int64_t first, std::int64_t last, double weight, double* value);
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int32_t* key);
void keys_of_line(const std::int32_t* nearest, std::int64_t count, int shift, std::int64_t* key);

}  // namespace nearfield::exact
