// Which sweeps the host makes over the grid, with which tiles, and what cells hold between them.
#pragma once

#include <cmath>
#include <cstring>

#include "base/lines.hpp"
#include "exact/host_tile.hpp"
#include "exact/plan.hpp"

namespace nearfield::exact {

/// What a cell holds between passes: its squared distance so far, or its packed site.
enum class carry : std::uint8_t { values, sites };

/// Cells a thread takes at a time when it scans lines.
inline constexpr std::int64_t scan_cells = 1 << 16;
/// Lines below this length are scanned many at a time, about so many cells.
inline constexpr std::int32_t most_short = 32;
inline constexpr std::int64_t short_cells = 4096;

inline std::int64_t number_bytes(const plan& p) { return p.numbers == tier::int32 ? 4 : 8; }

/// One pass needs none.
inline bool needs_state(const plan& p) { return p.rank - p.first_axis > 1; }

inline sweep sweep_of(const plan& p, int axis, std::int64_t element_bytes) {
    const auto i = static_cast<std::size_t>(axis);
    sweep s;
    s.axis = axis;
    s.size = p.size[i];
    s.inner = cells_between(p.size.data(), axis + 1, p.rank);
    s.columns = p.cells / s.size;
    const bool periodic = p.borders[i] == border::periodic;
    s.window = periodic ? s.size / 2 : s.size - 1;
    if (std::isfinite(p.limit) && !p.weighted) {
        // One more than the limit allows makes up for rounding here.
        const double rows = std::sqrt(p.limit / p.weight[i]);
        const double reach = p.half_cell ? (rows + 1) / 2 : rows;
        if (reach + 1 < static_cast<double>(s.window)) s.window = static_cast<std::int64_t>(reach) + 1;
    }
    s.halo = periodic ? s.window : 0;
    s.width = tile_width(s, element_bytes);
    return s;
}

/// Cells of axes that are searched together: with more, a tile's rows leave the first-level caches.
inline constexpr std::int64_t most_together = 128;
/// Bytes of these tiles' rows: results leave row by row, which costs as much as a hundred cells where they lie apart.
inline constexpr std::int64_t row_bytes_together = 1024;

/// The first of the axes up to `axis` that one sweep searches: (2,)*7 + (62500,) takes one instead of seven.
inline int first_together(const plan& p, int axis) {
    const auto suits = [&](int k) { return p.borders[static_cast<std::size_t>(k)] != border::periodic; };
    if (p.numbers == tier::float64 || p.weighted || p.by != classes::none || !suits(axis)) return axis;
    int first = axis;
    for (std::int64_t rows = p.size[static_cast<std::size_t>(axis)]; first > p.first_axis && suits(first - 1);
         --first) {
        rows *= p.size[static_cast<std::size_t>(first - 1)];
        if (rows > most_together) break;
    }
    return first;
}

/// The sweep over the lines of axes [first, axis].
inline sweep sweep_together(const plan& p, int first, int axis, std::int64_t element_bytes) {
    sweep s;
    s.axis = axis;
    s.size = cells_between(p.size.data(), first, axis + 1);
    s.inner = cells_between(p.size.data(), axis + 1, p.rank);
    s.columns = p.cells / s.size;
    s.width = tile_width(s, element_bytes, row_bytes_together);
    return s;
}

/// body(row, run) for `rows` rows of a tile; with lines that are contiguous themselves, line by line.
template <class Body>
void for_each_row(const sweep& s, const tile_place& at, std::int64_t rows, const Body& body) {
    if (at.runs.size() == 1 || s.inner == 1) {
        for (const run_of_columns& run : at.runs)
            for (std::int64_t r = 0; r < rows; ++r) body(r, run);
    } else {
        for (std::int64_t r = 0; r < rows; ++r)
            for (const run_of_columns& run : at.runs) body(r, run);
    }
}

/// The tile's columns out of a field of all cells. Lines beyond the grid's are searched like all others: one that
/// behaves like its neighbours costs least.
template <class T>
void copy_rows(const sweep& s, const tile_place& at, const T* field, T* tile) {
    for_each_row(s, at, s.rows(), [&](std::int64_t i, const run_of_columns& run) {
        std::memcpy(tile + i * s.width + run.column, field + run.offset + s.source(i) * s.inner,
                    static_cast<std::size_t>(run.count) * sizeof(T));
    });
    if (at.count == s.width) return;
    for (std::int64_t i = 0; i < s.rows(); ++i)
        std::fill(tile + i * s.width + at.count, tile + (i + 1) * s.width, tile[i * s.width + at.count - 1]);
}

}  // namespace nearfield::exact
