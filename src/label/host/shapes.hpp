// Adds the runs of a row to the columns of component shapes. Compiled once per instruction set, since it finds
// bits.
#pragma once

#include <cstdint>

#include "label/host/expand.hpp"

namespace nearfield::labelling {

/// Sums of coordinates are stored as integers in tables of doubles until they are divided there.
#if defined(__GNUC__)
using shared_sum [[gnu::may_alias]] = std::uint64_t;
#else
using shared_sum = std::uint64_t;
#endif

/// Columns of consecutive components; null if not wanted.
struct shape_memory {
    std::int64_t* size = nullptr;
    std::int64_t* box = nullptr;  ///< first cell along each axis, then one past the last
    shared_sum* sum = nullptr;
    std::uint8_t* border = nullptr;
    std::int64_t* faces = nullptr;
};

/// Rows of plane z with the same runs, one below the other.
struct rows_alike {
    const std::uint64_t *foreground = nullptr, *starts = nullptr;  ///< null starts: at the starts of the foreground
    std::int64_t words = 0, cells = 0, runs = 0;                   ///< of a row
    const std::uint32_t* label = nullptr;                          ///< labels of the first row's runs
    std::int64_t z = 0, y = 0, rows = 1;                           ///< position of the first row, and number of rows
    bool at_end = false;                                           ///< at the end of an axis other than the last
    bool periodic = false;                                         ///< along the last axis
    int beside = 0;                                                ///< number of rows with faces towards a single row
    const std::uint64_t* beside_words[4] = {};                     ///< their foreground
};

/// Adds the runs whose label lies in [lowest, lowest + count), with `lowest` at the first component of the columns.
/// Rows come in raster order; `begun` is the highest label of earlier rows, lowest - 1 at first: higher ones begin
/// here. All other runs go to `others`, which has room for them, with their labels; returns their number.
std::int64_t add_shapes(int axes, const shape_memory& to, const rows_alike& rows, std::int64_t lowest,
                        std::int64_t count, std::int64_t& begun, row_run* others);

/// Replaces sums by means, double(sum) / double(size); `sums_below_2_63` makes it faster.
void divide_sums(int axes, shared_sum* sum, const std::int64_t* size, std::int64_t components, bool sums_below_2_63);

}  // namespace nearfield::labelling
