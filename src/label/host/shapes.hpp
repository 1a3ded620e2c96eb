// What the runs of a row add to the columns of where components lie. Compiled once per instruction set, since it finds
// bits.
#pragma once

#include <cstdint>

#include "label/host/expand.hpp"

namespace nearfield::labelling {

/// Sums of coordinates lie as integers in tables of doubles until they are divided there.
#if defined(__GNUC__)
using shared_sum [[gnu::may_alias]] = std::uint64_t;
#else
using shared_sum = std::uint64_t;
#endif

/// Columns of components that follow one another; null where one is not wanted.
struct shape_memory {
    std::int64_t* size = nullptr;
    std::int64_t* box = nullptr;  ///< first cell along each axis, then one past the last
    shared_sum* sum = nullptr;
    std::uint8_t* border = nullptr;
    std::int64_t* faces = nullptr;
};

/// Rows of plane z with the same runs, one below the other.
struct rows_alike {
    const std::uint64_t *foreground = nullptr, *starts = nullptr;  ///< no starts: where the foreground starts
    std::int64_t words = 0, cells = 0, runs = 0;                   ///< of a row
    const std::uint32_t* label = nullptr;                          ///< of the first row's runs
    std::int64_t z = 0, y = 0, rows = 1;                           ///< of the first row, and how many
    bool at_end = false;                                           ///< of an axis that is not the last
    bool periodic = false;                                         ///< along the last one
    int beside = 0;                                                ///< rows with faces towards a single row
    const std::uint64_t* beside_words[4] = {};                     ///< their foreground
};

/// Adds the runs whose label lies in [lowest, lowest + count), the first of them to the first component of the columns.
/// Rows come in raster order; `begun` is the highest label that an earlier one had, lowest - 1 at first: higher ones
/// begin in here. All other runs go to `others`, which has room for them, with their labels; returns how many.
std::int64_t add_shapes(int axes, const shape_memory& to, const rows_alike& rows, std::int64_t lowest,
                        std::int64_t count, std::int64_t& begun, row_run* others);

/// Sums become means, as double(sum) / double(size); `sums_below_2_63` makes it faster.
void divide_sums(int axes, shared_sum* sum, const std::int64_t* size, std::int64_t components, bool sums_below_2_63);

}  // namespace nearfield::labelling
