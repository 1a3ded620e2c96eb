// Selects the device algorithms that serve a problem before anything runs, so that plan() can report them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "base/cuda.cuh"
#include "base/lines.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

// A line of up to this many rows, with its values, fits the words of shared memory: 10 bits of row, 22 of height.
inline constexpr int row_bits = 10;
inline constexpr int short_rows = 1 << row_bits;
inline constexpr std::int32_t packed_none = 3 << 20;        // value of a row without a site, above all real ones
inline constexpr std::int32_t short_largest = packed_none;  // squared distances must stay below
inline constexpr std::int32_t short_reach2 = 1 << 20;       // weight * (rows - 1)^2 must stay below
inline constexpr int band_rows = 32;                        // rows of a line per warp
inline constexpr int bit_rows = 1024;                       // largest number of rows of a tile
inline constexpr std::int64_t most_packed = 65536;  // cells of a packed line, and rows of lines that tiles share
inline constexpr double largest_narrow = 1 << 30;   // values below are int32 in all searches
// Limit of the 16-bit values in tiles.
inline constexpr std::int32_t cap_distance = 31;
inline constexpr std::int32_t cap = cap_distance * cap_distance;  // values from here on are indistinguishable

/// True if the current device gives a block this much memory.
inline bool fits_shared(std::size_t bytes) { return bytes <= cuda::limits().shared_bytes; }
/// Returns the memory of a block that holds 32 lines of so many rows and the winners at their pivots, 4 bytes each, in
/// rows of 33 words, so that lanes access different banks along a row and along a line.
inline std::size_t bytes_of_lines(std::int64_t rows) {
    return static_cast<std::size_t>((rows + 1 + cuda::blocks_for(rows, band_rows) + 1) * (cuda::warp + 1) * 4);
}
/// True if lines along an axis fit the searches in shared memory; for int32 numbers. GPUs with 64 KB a block hold 477
/// rows, those with 99 KB 740.
inline bool rows_fit_shared(const plan& p, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    const double reach = static_cast<double>(p.size[i] - 1);
    return p.size[i] <= short_rows && p.largest < short_largest && p.weight[i] * reach * reach < short_reach2 &&
           fits_shared(bytes_of_lines(p.size[i]));
}

/// True if a pass may search tiles of small values by steps of one cell; for int32 numbers.
inline bool tiles_fit(const plan& p, int axis) {
    const auto i = static_cast<std::size_t>(axis);
    return p.weight[i] == 1 && p.size[i] <= most_packed &&
           cells_between(p.size.data(), axis + 1, p.rank) <= std::numeric_limits<std::int32_t>::max();
}

/// True if the first two passes are one, from packed words of sites. In 64 bits only without a third pass.
inline bool words_fit(const plan& p) {
    const auto last = static_cast<std::size_t>(p.rank - 1);
    const int searched = p.rank - p.first_axis;
    return (p.numbers == tier::int32 || (p.numbers == tier::int64 && searched == 2)) && !p.sites_wanted &&
           searched > 1 && p.size[last] <= most_packed && p.weight[last] == 1 && tiles_fit(p, p.rank - 2);
}

inline constexpr std::int64_t far_offsets = 1 << 14;  // offsets along the last axis, in the state of site_words.cuh

/// True if lines (gpu/lines) search the first axis of a volume for distances, because it is too long for shared memory.
inline bool lines_finish(const plan& p) {
    return p.rank - p.first_axis == 3 && !p.sites_wanted && !rows_fit_shared(p, p.first_axis);
}

inline constexpr std::int64_t most_swept_rows = 2048;
// Fewest groups of 32 lines for which sweeps are used. 256^3 has 2048, where sweeps take as long as hulls.
inline constexpr std::int64_t groups_for_sweeps = 4096;
/// True if a volume has so many lines along an axis that sweeps (sites/unresolved.cuh) can solve all that words leave
/// unresolved, with values of 30 bits.
inline bool sweeps_suffice(const plan& p, int axis) {
    const std::int64_t rows = p.size[static_cast<std::size_t>(axis)];
    return rows <= most_swept_rows && p.cells / rows >= groups_for_sweeps * cuda::warp && p.largest < largest_narrow;
}

/// True if nearest sites are searched in words of 32 bits (site_words.cuh): in images and volumes in unit spacing. With
/// more axes a word has no room for the offsets. What words leave unresolved is searched between pivot rows in images,
/// in volumes in shared memory or, in large ones, by sweeps. Words hold offsets, so the packed sites and,
/// in images, the values may need 64 bits.
inline bool site_words_fit(const plan& p) {
    const int searched = p.rank - p.first_axis;
    const auto last = static_cast<std::size_t>(p.rank - 1);
    if (p.numbers == tier::float64 || !p.sites_wanted || searched < 2 || searched > 3) return false;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis)
        if (!tiles_fit(p, axis) || (searched == 3 && !rows_fit_shared(p, axis) && !sweeps_suffice(p, axis)))
            return false;
    if (p.weight[last] != 1 || p.size[last] > (searched == 2 ? most_packed : far_offsets)) return false;
    // Steps along the first axis add up to 127 planes to a cell in 32 bits.
    constexpr std::int64_t most_plane = 1 << 24;
    return searched == 2 ||
           cells_between(p.size.data(), p.first_axis, p.rank) <= std::numeric_limits<std::int32_t>::max() ||
           cells_between(p.size.data(), p.first_axis + 1, p.rank) <= most_plane;
}

inline constexpr std::int64_t least_padded = 1 << 24;  // cells; 250^3, which the cache holds, gained nothing
/// Returns the cells from row to row of the state between the last two passes of a volume. A row of a tile that does
/// not begin at a multiple of 32 bytes shares sectors with other blocks, and memory is read before such a sector is
/// written: writing 1023^3 cells takes 3.5 ms instead of 1.2 (H200, 2026-11-30). So rows of large volumes begin at
/// multiples of 128 bytes, unless that takes more than a sixteenth of the memory.
inline std::int64_t state_pitch(const plan& p) {
    constexpr std::int64_t sector_cells = 8, line_cells = 32, most_plane = 1 << 30;
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)],
                       padded = cuda::blocks_for(length, line_cells) * line_cells;
    const bool pays = p.rank - p.first_axis == 3 && !lines_finish(p) && p.cells >= least_padded &&
                      length % sector_cells != 0 && (padded - length) * 16 <= length &&
                      cells_between(p.size.data(), p.first_axis + 1, p.rank) <= most_plane;
    return pays ? padded : length;
}
/// Returns the lines along an axis before the last two, those of cells that only the state has included.
inline std::int64_t state_columns(const plan& p, int axis) {
    const std::int64_t length = p.size[static_cast<std::size_t>(p.rank - 1)];
    return p.cells / p.size[static_cast<std::size_t>(axis)] / length * state_pitch(p);
}

// Small images and volumes that one kernel solves (small/small.cu).
inline constexpr int whole_blocks = 8;           // blocks of a cluster
inline constexpr int whole_width = 512;          // largest width and height of an image
inline constexpr int whole_side = 64;            // largest side of a volume
inline constexpr std::int64_t most_whole = 264;  // blocks: two on each multiprocessor of a large GPU

/// Returns the clusters that each image takes; 0 if the kernel does not serve the problem.
inline std::int64_t whole_clusters(const plan& p) {
    const int searched = p.rank - p.first_axis;
    if (p.numbers != tier::int32 || searched < 2 || searched > 3 || p.cells == 0) return 0;
    for (int axis = p.first_axis; axis < p.rank; ++axis) {
        const auto i = static_cast<std::size_t>(axis);
        if (p.weight[i] != 1 || p.size[i] > (searched == 2 ? whole_width : whole_side)) return 0;
    }
    // A block, or in a volume a cluster, owns four columns.
    const std::int64_t width = p.size[static_cast<std::size_t>(p.rank - 1)], columns = searched == 2 ? 32 : 4;
    return (width + columns - 1) / columns;
}

/// True if a GPU with clusters searches all axes of a problem in one kernel, whose image has a byte a cell: all its
/// blocks should run at the same time.
inline bool whole_fits(const plan& p, dtype image) {
    const std::int64_t clusters = whole_clusters(p);
    if (clusters == 0 || size_of(image) != 1) return false;
    return p.cells / cells_between(p.size.data(), p.first_axis, p.rank) * clusters * whole_blocks <= most_whole;
}
struct outputs;
/// Searches all axes of such a problem. Requires cuda::kernels_overlap(). Uses no workspace.
void search_whole(const device& on, const plan& p, const std::uint8_t* image, bool zero_is_site, const outputs& out);

/// True if what a search along the axis before the last leaves unresolved is searched between pivot rows.
inline bool needs_pivots(const plan& p) {
    return p.sites_wanted ? p.rank - p.first_axis == 2 : !rows_fit_shared(p, p.rank - 2);
}
/// Returns the memory of a block that searches a pivot row of so many cells, the results of its 32 warps included.
inline std::size_t bytes_of_pivot_row(std::int64_t length, bool wide) {
    return static_cast<std::size_t>((wide ? cuda::warp * 16 : (length + 3) / 4 * 16 + cuda::warp * 8) +
                                    (cuda::blocks_for(length, cuda::warp) + 2) * 4);
}
/// True if pivot rows are searched in 64 bits, from the second-level cache: some value has more than 30 bits, or a row
/// does not fit shared memory.
inline bool pivots_are_wide(const plan& p) {
    return p.largest >= largest_narrow ||
           !fits_shared(bytes_of_pivot_row(p.size[static_cast<std::size_t>(p.rank - 1)], false));
}

/// True if the engine for plain sites serves a problem, with or without a limit. Windows that the tiles of distances
/// leave unresolved are searched between pivot rows along the axis before the last. Along other axes lines are finished
/// in shared memory; the first axis of a volume may be longer.
inline bool serves_plainly(const plan& p) {
    plan without = p;
    without.limit = std::numeric_limits<double>::infinity();
    if (!without.plain()) return false;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis) {
        if (!tiles_fit(p, axis)) return false;
        if (!p.sites_wanted && axis < p.rank - 2 && !rows_fit_shared(p, axis) && !lines_finish(p)) return false;
    }
    return p.sites_wanted ? site_words_fit(p) : words_fit(p);
}

}  // namespace nearfield::exact
