// Which of the device's ways serves a problem; decided before anything runs, so that a plan can say it.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/lines.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

// A line of up to this many rows, with its values, fits the words of shared memory: 10 bits of row, 22 of height.
inline constexpr int row_bits = 10;
inline constexpr int short_rows = 1 << row_bits;
inline constexpr std::int32_t packed_none = 3 << 20;        // value of a row without a site, above all real ones
inline constexpr std::int32_t short_largest = packed_none;  // squared distances must stay below
inline constexpr std::int32_t short_reach2 = 1 << 20;       // and weight * (rows - 1)^2 below this
inline constexpr int band_rows = 32;                        // of a line, by a warp
inline constexpr int bit_rows = 1024;                       // of a tile, at most
inline constexpr std::int64_t most_packed = 65536;  // cells of a packed line, and rows of lines that tiles share
inline constexpr double largest_narrow = 1 << 30;   // values below are int32 in all searches
// Values of tiles in 16 bits end here.
inline constexpr std::int32_t cap_distance = 31;
inline constexpr std::int32_t cap = cap_distance * cap_distance;  // values from here on are not told apart

/// Whether lines along an axis fit the searches in shared memory; in int32 numbers.
inline bool rows_fit_shared(const plan& p, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    const double reach = static_cast<double>(p.size[i] - 1);
    return p.size[i] <= short_rows && p.largest < short_largest && p.weight[i] * reach * reach < short_reach2;
}

/// Whether a pass may search tiles of small values by steps of one cell; in int32 numbers.
inline bool tiles_fit(const plan& p, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return p.weight[i] == 1 && p.size[i] <= most_packed &&
           cells_between(p.size.data(), axis + 1, p.rank) <= std::numeric_limits<std::int32_t>::max();
}

/// Whether the first two passes are one, from packed words of sites. In 64 bits, when there is no third.
inline bool words_fit(const plan& p) {
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const int searched = p.rank - p.first_axis;
    return (p.numbers == tier::int32 || (p.numbers == tier::int64 && searched == 2)) && !p.sites_wanted &&
           searched > 1 && p.size[last] <= most_packed && p.weight[last] == 1 && tiles_fit(p, p.rank - 2);
}

inline constexpr std::int64_t far_offsets = 1 << 14;  // of a site along the last axis, in the state of site_words.cuh

// Of a plane of a volume whose cells an int32 does not count: 127 planes are as far as a word's offset leads.
inline constexpr std::int64_t most_plane_cells = 1 << 24;

/// Whether nearest sites are searched in words of 32 bits (site_words.cuh): of images and volumes in unit spacing. Of
/// more axes a word has no room for the offsets. Words hold offsets and small values, so the packed sites and, of
/// images, the values of the problem may need 64 bits.
inline bool site_words_fit(const plan& p) {
    const int searched = p.rank - p.first_axis;
    const auto last = static_cast<std::size_t>(p.rank - 1);
    if (p.numbers == tier::float64 || !p.sites_wanted || searched < 2 || searched > 3) return false;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis)
        if (!tiles_fit(p, axis)) return false;
    if (p.weight[last] != 1 || p.size[last] > (searched == 2 ? most_packed : far_offsets)) return false;
    return searched == 2 || (p.largest < largest_narrow && (cells_between(p.size.data(), p.first_axis, p.rank) <=
                                                                std::numeric_limits<std::int32_t>::max() ||
                                                            p.size[last - 1] * p.size[last] <= most_plane_cells));
}

// Small images and volumes, in one kernel (cluster.cuh).
inline constexpr int whole_blocks = 8;           // of a cluster
inline constexpr int whole_width = 512;          // of an image, at most, and its height
inline constexpr int whole_side = 64;            // of a volume
inline constexpr std::int64_t most_whole = 264;  // blocks: two on each multiprocessor of a large GPU

/// Clusters that each image takes; 0 where the kernel does not serve a problem.
inline std::int64_t whole_clusters(const plan& p) {
    const int searched = p.rank - p.first_axis;
    if (p.numbers != tier::int32 || searched < 2 || searched > 3 || p.cells == 0) return 0;
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        if (p.weight[i] != 1 || p.size[i] > (searched == 2 ? whole_width : whole_side)) return 0;
    }
    // A block, or of a volume a cluster, has four columns.
    const std::int64_t width = p.size[static_cast<std::size_t>(p.rank - 1)], columns = searched == 2 ? 32 : 4;
    return (width + columns - 1) / columns;
}

/// Whether a GPU that has clusters searches all axes of a problem in one kernel: all its blocks should run at the same
/// time.
inline bool whole_fits(const plan& p) {
    const std::int64_t clusters = whole_clusters(p);
    if (clusters == 0) return false;
    return p.cells / cells_between(p.size.data(), p.first_axis, p.rank) * clusters * whole_blocks <= most_whole;
}

/// Whether the engine for plain sites serves a problem: with a limit or without. What the tiles of distances leave
/// goes between posts along the axis before the last; along others lines are finished in shared memory, or are of 64
/// rows at most.
inline bool serves_plainly(const plan& p) {
    constexpr std::int64_t all_rows = 64;
    plan without = p;
    without.limit = std::numeric_limits<double>::infinity();
    if (!without.plain()) return false;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis) {
        if (!tiles_fit(p, axis)) return false;
        if (!p.sites_wanted && axis < p.rank - 2 && p.size[static_cast<std::size_t>(axis)] > all_rows &&
            !rows_fit_shared(p, axis))
            return false;
    }
    return p.sites_wanted ? site_words_fit(p) : p.numbers == tier::int32 && words_fit(p);
}

}  // namespace nearfield::exact
