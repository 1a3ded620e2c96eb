// Which rows of which lines a tile owns, where lines are longer than a tile.
#pragma once

#include "exact/cuda_bits.cuh"

namespace nearfield::exact {
namespace {

/// How long lines are cut: into windows of `rows` rows, the last one maybe of fewer. Short lines are one window.
struct windows {
    int count = 1, rows = 0;
};

/// Rows beside a window that steps reach, a multiple of the rows a lane holds so that lanes count as a whole.
template <int LaneRows>
inline constexpr int halo = (cap_distance + LaneRows - 1) / LaneRows * LaneRows;

/// The rows of a tile: it reads `rows` of them from row `first` of the lines on, and finishes [from, end) of these.
struct tile_rows {
    int first, rows, from, end;
};
template <int LaneRows>
__device__ tile_rows rows_of(const windows& w, int nth, int line_rows) {
    const int top = nth * w.rows, first = max(top - halo<LaneRows>, 0), end = min(top + w.rows, line_rows);
    return {first, min(end + halo<LaneRows>, line_rows) - first, top - first, end - first};
}

/// A tile's group of 32 lines, and which window of them. Groups beside each other are numbered first, so that their tiles
/// run at the same time.
struct tile_place {
    std::int64_t group;
    int window;
};

/// Lines that packed words stand for, 32 in a group: one word column of one image.
struct word_lines {
    static constexpr bool keeps_ties = false;  ///< hulls of them drop rows that only tie
    packed_lines lines;

    __device__ std::int64_t outer_of(std::int64_t group) const { return quotient(group, lines.columns); }
    __device__ std::int32_t x_of(std::int64_t group) const {
        return static_cast<std::int32_t>(group - outer_of(group) * lines.columns) * cuda::warp;
    }
    __device__ tile_place place(const windows& cut, std::int64_t tile) const {
        const std::int64_t above = quotient(tile, lines.columns), outer = quotient(above, cut.count);
        return {outer * lines.columns + tile - above * lines.columns, static_cast<int>(above - outer * cut.count)};
    }
    __device__ int rows() const { return static_cast<int>(lines.rows); }
    __device__ std::int64_t inner() const { return lines.length; }
    __device__ int width(std::int64_t group) const {
        return min(static_cast<int>(lines.length) - x_of(group), cuda::warp);
    }
    /// Cell of row 0 of a group's line.
    __device__ std::int64_t first_cell(std::int64_t group, int lane) const {
        return outer_of(group) * lines.rows * lines.length + x_of(group) + lane;
    }
    __device__ const line_word* words(std::int64_t group) const { return lines.words + group * lines.rows; }
    /// Which rows of the group's image have sites.
    __device__ const std::uint32_t* sited(std::int64_t group) const {
        return lines.sited + outer_of(group) * lines.groups();
    }

    /// What a row of a line holds, and its value.
    class reader {
    public:
        __device__ reader(const word_lines& of, std::int64_t group, int lane) : words_(of.words(group)), bit_(lane) {}
        __device__ std::int32_t load(std::int64_t row) const {
            const line_word word = words_[row];
            return word.any() ? word.distance(bit_) : none;
        }
        __device__ static bool is_site(std::int32_t loaded) { return loaded != none; }
        template <class V>
        __device__ static V value(std::int32_t loaded) {
            return static_cast<V>(loaded) * loaded;
        }

    private:
        static constexpr std::int32_t none = -1;
        const line_word* words_;
        int bit_;
    };
};

/// Lines with the values that the passes before left.
struct value_lines {
    static constexpr bool keeps_ties = false;
    pass g;
    const std::int32_t* cells;

    __device__ std::int64_t groups() const { return (g.columns + cuda::warp - 1) / cuda::warp; }
    __device__ tile_place place(const windows&, std::int64_t tile) const {
        const std::int64_t window = quotient(tile, groups());
        return {tile - window * groups(), static_cast<int>(window)};
    }
    __device__ int rows() const { return static_cast<int>(g.rows); }
    __device__ std::int64_t inner() const { return g.inner; }
    __device__ int width(std::int64_t group) const {
        return static_cast<int>(min(g.columns - group * cuda::warp, static_cast<std::int64_t>(cuda::warp)));
    }
    __device__ std::int64_t first_cell(std::int64_t group, int lane) const {
        return g.first_cell(group * cuda::warp + lane);
    }

    class reader {
    public:
        __device__ reader(const value_lines& of, std::int64_t group, int lane)
            : cells_(of.cells + of.first_cell(group, lane)), inner_(of.g.inner) {}
        __device__ std::int32_t load(std::int64_t row) const { return cells_[row * inner_]; }
        __device__ static bool is_site(std::int32_t loaded) { return loaded < no_site<std::int32_t>(); }
        template <class V>
        __device__ static V value(std::int32_t loaded) {
            return loaded;
        }

    private:
        const std::int32_t* cells_;
        std::int64_t inner_;
    };
};

}  // namespace
}  // namespace nearfield::exact
