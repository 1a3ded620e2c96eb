// Searches of the host's dense engine, with neighbouring cells of a line in the lanes of a vector. Compiled once per
// instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "exact/host_steps.hpp"

namespace nearfield::exact {

/// Lines are searched in whole vectors: shorter ones than this are not.
inline constexpr std::int64_t least_line = 32;
/// Elements before the first and behind the last cell of a line's values, all without a site.
inline constexpr std::int64_t row_padding = 64;

/// Rows of a plane, `pitch` apart, and the one that is searched for.
struct fold_of_rows {
    const std::uint16_t* value = nullptr;  ///< of the plane's first row
    std::int64_t rows = 0, pitch = 0, count = 0;
    std::int64_t row = 0;
    std::int64_t window = 0;              ///< rows to either side that are looked at
    const std::uint16_t* term = nullptr;  ///< what a distance of that many rows adds
    std::uint16_t* best = nullptr;
};
/// best(x) = min over the rows r of the window of value(r, x) + term(|r - row|).
void fold_rows(const fold_of_rows& f);

/// A line of values, in 16 bits (no_site16 and saturated sums) or in 32 (no_site<int32>).
template <class N>
struct line_search {
    const N* value = nullptr;  ///< padded by row_padding on both sides
    const N* term = nullptr;   ///< what that many cells add; from -(count + row_padding) to count + row_padding
    N limit{};                 ///< larger values need not be right, only larger than this
    std::int64_t count = 0;
    const N* gap = nullptr;  ///< block_gaps(); from -(count + row_padding) to count + row_padding
    N* least = nullptr;      ///< scratch of count + row_padding elements
    N* best = nullptr;
};
/// best(x) = min over the line's cells p of value(p) + term(p - x). Returns the largest of them.
std::uint16_t search_line(const line_search<std::uint16_t>& s);
std::int32_t search_line(const line_search<std::int32_t>& s);

/// gap[k]: what a distance of k blocks, each of as many cells as a vector has, adds at least, from any cell to any cell.
void block_gaps(const std::uint16_t* term, std::int64_t count, std::uint16_t* gap);
void block_gaps(const std::int32_t* term, std::int64_t count, std::int32_t* gap);

}  // namespace nearfield::exact
