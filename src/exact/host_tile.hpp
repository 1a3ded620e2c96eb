// A tile of the host engine: neighbouring lines of one axis, where they lie in memory, and a thread's buffers for them.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/scratch.hpp"
#include "exact/core.hpp"
#include "exact/host_simd.hpp"

namespace nearfield::exact {

// Tiles stay within a core's second-level cache, and a tile's rows span a few cache lines so that address translation
// and prefetching are paid once for several lines.
inline constexpr std::int64_t tile_bytes = 128 * 1024;
inline constexpr std::int64_t tile_row_bytes = 256;
/// Of short axes a tile takes more lines, so that what a tile costs is shared by this many bytes of cells.
inline constexpr std::int64_t least_tile_bytes = 16 * 1024;

/// The lines of one axis: `inner` apart, numbered so that neighbours are neighbours in memory wherever `inner` allows.
struct sweep {
    int axis = 0;
    std::int64_t size = 1, inner = 1, columns = 1;
    std::int64_t halo = 0;    ///< rows repeated before the first and behind the last one of a periodic axis
    std::int64_t window = 0;  ///< rows to either side that may matter
    std::int64_t width = 1;   ///< lines of a tile

    [[nodiscard]] std::int64_t rows() const { return size + 2 * halo; }
    /// Row of the grid that row i of a tile shows.
    [[nodiscard]] std::int64_t source(std::int64_t i) const {
        const std::int64_t row = i - halo;
        return row < 0 ? row + size : row >= size ? row - size : row;
    }
    [[nodiscard]] std::int64_t tiles() const { return (columns + width - 1) / width; }
};

/// Width of the tiles of a sweep whose rows and columns are set.
inline std::int64_t tile_width(const sweep& s, std::int64_t element_bytes, std::int64_t row = tile_row_bytes) {
    const std::int64_t least = tile_align / element_bytes;
    const std::int64_t row_bytes = std::max(row, least_tile_bytes / s.rows());
    auto width = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(row_bytes / element_bytes)));
    while (width > least && (width * s.rows() * element_bytes > tile_bytes || width > s.columns)) width /= 2;
    return width;
}

/// Neighbouring columns of a tile that are neighbours in memory as well: `offset` is the cell of their first row.
struct run_of_columns {
    std::int64_t column, offset, count;
};

inline std::vector<run_of_columns> runs_of(const sweep& s, std::int64_t column, std::int64_t count) {
    std::vector<run_of_columns> runs;
    for (std::int64_t at = column; at < column + count;) {
        const std::int64_t outer = at / s.inner, within = at - outer * s.inner;
        const std::int64_t length = std::min(s.inner - within, column + count - at);
        runs.push_back({at - column, outer * s.size * s.inner + within, length});
        at += length;
    }
    return runs;
}

/// The columns of one tile.
struct tile_place {
    std::int64_t column = 0, count = 0;  ///< first one, and how many the grid has
    std::vector<run_of_columns> runs;
    /// All of them lie side by side and fill the tile's width.
    [[nodiscard]] bool whole(const sweep& s) const { return runs.size() == 1 && count == s.width; }
};

/// A thread's workspace.
template <class V, class K>
struct tile_buffers {
    host_scratch<V> value, best, winner;
    host_scratch<K> key, best_key, column_key;
    host_scratch<std::int64_t> coordinate;
    host_scratch<std::uint8_t> site;
    host_scratch<std::int32_t> nearest;
    host_scratch<std::uint32_t> above, below;  ///< steps to rows of another class
    std::int64_t rows = 0, width = 0;          ///< that the tile buffers were made for

    void prepare(const sweep& s, bool keyed, bool classes_wanted) {
        if (rows == s.rows() && width == s.width) return;
        rows = s.rows(), width = s.width;
        const std::int64_t cells = rows * width;
        value = host_scratch<V>(cells);
        best = host_scratch<V>(cells);
        winner = host_scratch<V>(cells);
        if (classes_wanted) {
            above = host_scratch<std::uint32_t>(cells);
            below = host_scratch<std::uint32_t>(width);
        }
        if (!keyed) return;
        coordinate = host_scratch<std::int64_t>(max_rank * width);
        column_key = host_scratch<K>(width);
        key = host_scratch<K>(cells);
        best_key = host_scratch<K>(cells);
    }
    /// What prepare() takes.
    static std::int64_t bytes(const sweep& s, bool keyed, bool classes_wanted) {
        const std::int64_t of_cell =
            static_cast<std::int64_t>(3 * sizeof(V) + (classes_wanted ? 4 : 0) + (keyed ? 2 * sizeof(K) : 0));
        return s.rows() * s.width * of_cell;
    }
};

}  // namespace nearfield::exact
