// The ladder: the algorithms that solve a window of a problem, from the first that is tried to the last, which never
// declines. Calls are planned, traced, tested and documented (docs/engine.md) by this table.
#pragma once

#include <cstdint>
#include <iterator>

namespace nearfield::exact::gpu {

enum class rung : std::uint8_t { small, words, few, values, near, strips, halving, plain };

struct rung_row {
    rung which;
    const char* name;    ///< name in plans and traces
    const char* method;  ///< description in a plan
    const char* serves;
    const char* declines;  ///< condition under which it declines
};

inline constexpr rung_row ladder[] = {
    {rung::small, "small", "all axes in one kernel, by clusters of blocks",
     "plain calls of small grids in unit spacing", "a side is longer than 512 cells of an image, 64 of a volume"},
    {rung::words, "words", "words of sites", "distances or indices alone in unit spacing",
     "options, other spacings, several fields"},
    {rung::few, "few", "all sites that can win in a box of cells", "any number, key, ends; one site in 900 cells",
     "labels, signs, four axes, other fields, small grids"},
    {rung::values, "values", "near windows of values", "distances alone, whole numbers",
     "a value reaches 2^23, or rows 256"},
    {rung::near, "near", "near windows in one word", "whole numbers and sites in one word", "a value reaches the cap"},
    {rung::strips, "strips", "strips of 32 rows between winners of pivot rows", "any number, key, class, ends",
     "never, given pivots"},
    {rung::halving, "pivots", "pivots by halving", "any number, key, class, ends", "never"},
    {rung::plain, "plain", "all rows of the line", "spacings that fail the guard", "never"},
};
inline constexpr int rungs = static_cast<int>(std::size(ladder));

constexpr const rung_row& row_of(rung which) { return ladder[static_cast<int>(which)]; }

}  // namespace nearfield::exact::gpu
