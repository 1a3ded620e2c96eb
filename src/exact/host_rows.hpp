// Searches of the host's dense engine, with neighbouring cells of a line in the lanes of a vector. Compiled once per
// instruction set and chosen at run time.
#pragma once

#include <cstdint>
#include <type_traits>

#include "exact/core.hpp"
#include "exact/host_steps.hpp"

namespace nearfield::exact {

/// Lines are searched in whole vectors; the search does not serve shorter lines than this.
inline constexpr std::int64_t least_line = 32;
/// Elements before the first and behind the last cell of a line's values, all without a site.
inline constexpr std::int64_t row_padding = 64;

// The number types of a search. Values alone: 16 bits whose sums saturate, or 32 if those do not suffice. With sites a
// number is a value above the coordinate of the winner along the axis, in its low bits, so that the least number is the
// nearest site with the smallest coordinate, and the same search applies: 32 bits, or 64.

/// The number of a site that does not exist.
template <class N>
inline constexpr N none = sizeof(N) == 2   ? static_cast<N>(no_site16)
                          : sizeof(N) == 4 ? static_cast<N>(no_site<std::int32_t>())
                                           : static_cast<N>(no_site<std::int64_t>());
/// Numbers from here on mean that the search needs a wider type. Terms are limited to it, so that sums do not overflow.
template <class N>
inline constexpr N unknown = sizeof(N) == 2 ? static_cast<N>(no_site16) : none<N> - 1;

template <class N>
using narrower = std::conditional_t<sizeof(N) == 8, std::int32_t, std::uint16_t>;

/// Rows of a plane, `pitch` apart, and the row whose winners are searched.
template <class N>
struct fold_of_rows {
    const N* value = nullptr;  ///< values of the plane's first row
    std::int64_t rows = 0, pitch = 0, count = 0;
    std::int64_t row = 0;
    std::int64_t window = 0;  ///< rows to either side that are searched
    const N* term = nullptr;  ///< term of a distance of that many rows
    N* best = nullptr;
};
/// best(x) = min over the rows r of the window of value(r, x) + term(|r - row|).
void fold_rows(const fold_of_rows<std::uint16_t>& f);
void fold_rows(const fold_of_rows<std::int32_t>& f);

template <class N>
struct line_search {
    const N* value = nullptr;  ///< padded by row_padding on both sides with `none`
    const N* term = nullptr;   ///< terms of that many cells; from -(count + row_padding) to count + row_padding
    const N* gap = nullptr;    ///< block_gaps(); the same
    N limit{};                 ///< larger results need not be exact, only larger than this
    std::int64_t count = 0;
    N* least = nullptr;  ///< scratch of count + row_padding elements
    N* best = nullptr;
    /// Results of a search in narrower numbers, of which those up to `known_up_to` are right; null if there was none.
    const narrower<N>* known = nullptr;
    narrower<N> known_up_to = 0;
};
/// best(x) = min over the line's cells p of value(p) + term(p - x). Returns the largest of them.
std::uint16_t search_line(const line_search<std::uint16_t>& s);
std::int32_t search_line(const line_search<std::int32_t>& s);
std::int64_t search_line(const line_search<std::int64_t>& s);

/// Computes gap[k], the least term of a distance of k blocks of as many cells as a vector has, from any cell to any
/// cell.
void block_gaps(const std::uint16_t* term, std::int64_t count, std::uint16_t* gap);
void block_gaps(const std::int32_t* term, std::int64_t count, std::int32_t* gap);
void block_gaps(const std::int64_t* term, std::int64_t count, std::int64_t* gap);

}  // namespace nearfield::exact
