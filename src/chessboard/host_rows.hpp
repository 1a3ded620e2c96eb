// The loops that a sweep runs over a row. Compiled once for each instruction set.
#pragma once

#include <cstdint>

namespace nearfield::chessboard {

/// Loops over `count` cells. Arrays do not overlap, except those that are shifts of one another.
template <class T>
struct row_loops {
    /// to = min(first, second, third); `to` may be `first`.
    void (*least_of)(const T* first, const T* second, const T* third, std::int64_t count, T* to);
    void (*step)(const T* from, std::int64_t count, T* to);  ///< to = min(to, from + 1)
    /// to = min(to, min(left, middle, right) + 1)
    void (*step_beside)(const T* left, const T* middle, const T* right, std::int64_t count, T* to);
    /// to[x] = min(from[x], min(from[x - by], from[x + by]) + by). Returns the largest.
    T (*spread)(const T* from, std::int64_t by, std::int64_t count, T* to);
    /// Writes written() of core.hpp.
    void (*write)(const T* from, std::int64_t count, std::uint32_t limit, std::uint32_t none, std::uint32_t* to);
};

/// Instantiated for 16 and 32 bits.
template <class T>
const row_loops<T>& rows();

}  // namespace nearfield::chessboard
