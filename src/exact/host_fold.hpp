// What few rows of a tile offer: those of another class above and below each row, and all rows of a short axis.
// Compiled once per instruction set and chosen at run time.
#pragma once

#include <cstdint>

#include "exact/core.hpp"
#include "exact/host_simd.hpp"

namespace nearfield::exact {

/// Steps to a row of another class that does not exist; adding the rows of a line (at most 2^31) does not overflow.
inline constexpr std::uint32_t no_row = std::uint32_t{1} << 31;

/// steps[c] = how many rows away from row `here` the nearest row of another class is, where the row next to it in that
/// direction, `there`, has `next[c]` itself: one if the classes differ, else one more. May work in place. Elements are
/// unsigned integers of 1, 2, 4 or 8 bytes.
template <class T>
void count_steps(const T* here, const T* there, std::int64_t count, const std::uint32_t* next, std::uint32_t* steps);

/// What a row's neighbours of another class offer. Of two equally far the one above, which has the smaller coordinate.
template <class V, class K>
struct fold_row {
    const std::uint32_t* above = nullptr;
    const std::uint32_t* below = nullptr;
    std::int64_t count = 0;
    std::int64_t row = 0;     ///< along the axis
    std::int64_t window = 0;  ///< farther rows do not matter
    V weight{};
    bool half_cell = false;
    const K* column_key =
        nullptr;  ///< packed coordinates of the columns along the axes that are done; null: values only
    int key_shift = 0;
    V* best = nullptr;
    K* best_key = nullptr;
};

/// best = the nearer of best and the nearest row of another class.
void offer_rows(const fold_row<std::int32_t, std::int32_t>& f);
void offer_rows(const fold_row<std::int64_t, std::int64_t>& f);
void offer_rows(const fold_row<double, std::int64_t>& f);

/// Rows of a tile up to which offering each to each takes less time than a search.
inline constexpr std::int64_t few_rows = 4;

/// search_tile() for few rows, in integers; not for repeated rows or negative values.
void relax_few_rows(const tile<std::int32_t, std::int32_t>& t);
void relax_few_rows(const tile<std::int64_t, std::int64_t>& t);

}  // namespace nearfield::exact
