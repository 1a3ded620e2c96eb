// Rows and lines of a tile, for lines that are longer than a tile.
#pragma once

#include "exact/gpu/rows/words.cuh"

namespace nearfield::exact {
namespace {

/// Partition of long lines: into windows of `rows` rows, the last one possibly shorter. Short lines are one window.
struct windows {
    int count = 1, rows = 0;
};

/// Lanes per line in a tile of `Pairs` pairs of rows. A step takes two instructions per pair and eight per lane, so
/// that lanes have as many pairs as registers hold.
template <int Pairs>
inline constexpr int line_lanes = Pairs <= 32    ? 32
                                  : Pairs <= 64  ? 4
                                  : Pairs <= 128 ? 8
                                  : Pairs <= 256 ? 16
                                                 : 32;
template <int Pairs>
inline constexpr int lane_pairs = Pairs / line_lanes<Pairs>;

/// Rows beside a window that steps reach, rounded up to whole lanes.
template <int Pairs>
inline constexpr int halo = (cap_distance + lane_pairs<Pairs> - 1) / lane_pairs<Pairs> * lane_pairs<Pairs>;

/// The rows of a tile: it reads `rows` of them from row `first` of the lines on, and finishes [from, end) of these.
struct tile_rows {
    int first, rows, from, end;
    int half = 0;  ///< see packed_lines
};
template <int Pairs>
__device__ tile_rows rows_of(const windows& w, int nth, int line_rows) {
    const int top = nth * w.rows, first = max(top - halo<Pairs>, 0), end = min(top + w.rows, line_rows);
    return {first, min(end + halo<Pairs>, line_rows) - first, top - first, end - first};
}

/// 32 lines: one word column of one image, its first cell at x.
struct word_group {
    std::int64_t number;
    std::int64_t outer;
    std::int32_t x;
};
/// 32 neighbouring columns of a pass.
struct value_group {
    std::int64_t number;
};

/// A tile's group of 32 lines, and its window of them. Adjacent groups are numbered first, so that their tiles run at
/// the same time.
template <class Group>
struct tile_place {
    Group group;
    int window;
};

/// Lines in the form of packed words.
struct word_lines {
    packed_lines lines;
    std::int64_t pitch;  ///< cells from row to row of what the pass writes

    __device__ word_group group_of(std::int64_t number) const {
        const std::int64_t outer = quotient(number, lines.columns);
        return {number, outer, static_cast<std::int32_t>(number - outer * lines.columns) * cuda::warp};
    }
    __device__ tile_place<word_group> place(const windows& cut, std::int64_t tile) const {
        if (cut.count == 1) return {group_of(tile), 0};
        const std::int64_t above = quotient(tile, lines.columns), outer = quotient(above, cut.count),
                           column = tile - above * lines.columns;
        return {{outer * lines.columns + column, outer, static_cast<std::int32_t>(column) * cuda::warp},
                static_cast<int>(above - outer * cut.count)};
    }
    __device__ int rows() const { return static_cast<int>(lines.rows); }
    __device__ std::int64_t inner() const { return pitch; }
    __device__ int width(const word_group& g) const { return min(static_cast<int>(lines.length) - g.x, cuda::warp); }
    /// Returns the cell of row 0 of a line.
    __device__ std::int64_t first_cell(const word_group& g, int lane) const {
        return g.outer * lines.rows * pitch + g.x + lane;
    }
    __device__ const line_word* words(const word_group& g) const { return lines.words + g.number * lines.rows; }

    /// Loads the distance of a line from its nearest site in a row.
    class reader {
    public:
        __device__ reader(const word_lines& of, const word_group& g, int lane) : words_(of.words(g)), bit_(lane) {}
        __device__ std::int32_t load(std::int64_t row) const {
            const line_word word = words_[row];
            return word.any() ? word.distance(bit_) : none;
        }
        __device__ static bool is_site(std::int32_t loaded) { return loaded != none; }

    private:
        static constexpr std::int32_t none = -1;
        const line_word* words_;
        int bit_;
    };
};

/// Lines of a pass over a state, whose rows may be longer than those of the fields (see state_pitch).
struct pass_lines {
    pass g;                              ///< of the state
    std::int64_t pitch = 1, length = 1;  ///< cells of a row along the last axis: of the state, of the fields
    std::int64_t field_inner = 1;        ///< `g.inner` in the fields

    __device__ value_group group_of(std::int64_t number) const { return {number}; }
    __device__ tile_place<value_group> place(const windows& cut, std::int64_t tile) const {
        if (cut.count == 1) return {{tile}, 0};
        const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp, window = quotient(tile, groups);
        return {{tile - window * groups}, static_cast<int>(window)};
    }
    __device__ int rows() const { return static_cast<int>(g.rows); }
    __device__ std::int64_t inner() const { return field_inner; }
    __device__ int width(const value_group& of) const {
        const std::int64_t first = of.number * cuda::warp,
                           end = pitch == length ? g.columns : quotient(first, pitch) * pitch + length;
        return static_cast<int>(min(end - first, static_cast<std::int64_t>(cuda::warp)));
    }
    /// Returns the cell of row 0 of a line, in the state.
    __device__ std::int64_t state_cell(const value_group& of, int lane) const {
        return g.first_cell(of.number * cuda::warp + lane);
    }
    /// Returns the number without the cells that only the state has.
    __device__ std::int64_t in_fields(std::int64_t cell) const {
        return pitch == length ? cell : cell - quotient(cell, pitch) * (pitch - length);
    }
    /// Returns the cell of row 0 of a line, in the fields.
    __device__ std::int64_t first_cell(const value_group& of, int lane) const {
        return in_fields(state_cell(of, lane));
    }
};

/// Describes the lines along an axis before the last two.
inline pass_lines lines_of_state(const plan& p, int axis) {
    pass_lines lines;
    lines.length = p.size[static_cast<std::size_t>(p.rank - 1)], lines.pitch = state_pitch(p);
    lines.g.axis = axis, lines.g.rows = p.size[static_cast<std::size_t>(axis)];
    lines.g.columns = state_columns(p, axis);
    lines.field_inner = cells_between(p.size.data(), axis + 1, p.rank);
    lines.g.inner = lines.field_inner / lines.length * lines.pitch;
    return lines;
}

/// Lines with the values of the passes before.
struct value_lines : pass_lines {
    const std::int32_t* cells;

    class reader {
    public:
        __device__ reader(const value_lines& of, const value_group& group, int lane)
            : cells_(of.cells + of.state_cell(group, lane)), inner_(of.g.inner) {}
        __device__ std::int32_t load(std::int64_t row) const { return cells_[row * inner_]; }
        __device__ static bool is_site(std::int32_t loaded) { return loaded < no_site<std::int32_t>(); }

    private:
        const std::int32_t* cells_;
        std::int64_t inner_;
    };
};

/// List of unresolved tiles and, if tiles are not finished separately, of their owners: the image or, if a state is
/// read, the group of 32 lines.
struct unresolved_tiles {
    std::int32_t* count = nullptr;  ///< number of tiles
    std::int32_t* list = nullptr;
    std::int32_t* owner_count = nullptr;
    std::int32_t* owners = nullptr;  ///< null if tiles are finished separately
    std::uint32_t* marks = nullptr;  ///< one per owner, initially 0; without `owners`, one tile of each is listed
    std::uint32_t mark = 1;          ///< number of the pass

    __device__ void add(std::int64_t owner) const {
        if (threadIdx.x != 0) return;
        const bool is_new = marks != nullptr && atomicExch(marks + owner, mark) != mark;
        if (marks == nullptr || owners != nullptr || is_new)
            list[atomicAdd(count, 1)] = static_cast<std::int32_t>(blockIdx.x);
        if (owners != nullptr && is_new) owners[atomicAdd(owner_count, 1)] = static_cast<std::int32_t>(owner);
    }
};

}  // namespace
}  // namespace nearfield::exact
