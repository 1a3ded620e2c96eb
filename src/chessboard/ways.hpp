// The ways of a call on a device: which are tried, and which one solved a call.
#pragma once

#include <cstdint>

namespace nearfield::chessboard {

/// When ways are tried, which tests change.
struct way_limits {
    bool small = true;  ///< small grids have ways of their own, and middling images chunks instead of sweeps
    std::int64_t least_of_sets = std::int64_t{1} << 17;  ///< cells; launches take longer than smaller problems gain
    std::int64_t cells_a_site = 3000;                    ///< the least number where the sites of a volume are few
    int sites_of_box = 2048;                             ///< most sites that can be nearest in a coarse box
    bool few_rows = true;                                ///< few rows with sites are compared with an image's cells
    bool sweeps = true;  ///< sweeps solve the last two axes if neither few sites nor sets do
};
inline way_limits limit_of_ways;

/// The device's decisions in a call.
struct ways {
    bool small = false;   ///< a small grid: one kernel for each axis solved it
    bool cube = false;    ///< a volume: one kernel for all axes
    bool image = false;   ///< an image: one kernel for both axes
    bool few = false;     ///< few sites were compared with all cells
    bool sets = false;    ///< sets of cells solved it
    int rounds = 0;       ///< of sets that ran
    bool rows = false;    ///< few rows were compared with all cells of an image
    bool chunks = false;  ///< lines of a middling image were solved in chunks
    bool swept = false;   ///< sweeps solved the last two axes
};
/// Set by a test, for the calls of its thread: those of two or three axes without a ring wait, and say their way here.
inline thread_local ways* watched = nullptr;

}  // namespace nearfield::chessboard
