// Rows and lines of a tile, for lines that are longer than a tile, and the workspace of the searches from packed lines:
// the words, lists of unresolved tiles, and the winners of pivot rows.
#pragma once

#include <algorithm>

#include "exact/gpu/rows/pack.cuh"

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

/// 32 lines: one word column of one image, its first cell at x; or 32 neighbouring columns of a pass.
struct line_group {
    std::int64_t number;
    std::int64_t outer;  ///< the image; in a pass over values the same as `number`
    std::int32_t x;
};

/// A tile's group of 32 lines, and its window of them. Adjacent groups are numbered first, so that their tiles run at
/// the same time.
struct tile_place {
    line_group group;
    int window;
};

/// Lines in the form of packed words.
struct word_lines {
    packed_lines lines;
    std::int64_t pitch;  ///< cells from row to row of what the pass writes

    __device__ line_group group_of(std::int64_t number) const {
        const std::int64_t outer = quotient(number, lines.columns);
        return {number, outer, static_cast<std::int32_t>(number - outer * lines.columns) * cuda::warp};
    }
    __device__ tile_place place(const windows& cut, std::int64_t tile) const {
        if (cut.count == 1) return {group_of(tile), 0};
        const std::int64_t above = quotient(tile, lines.columns), outer = quotient(above, cut.count),
                           column = tile - above * lines.columns;
        return {{outer * lines.columns + column, outer, static_cast<std::int32_t>(column) * cuda::warp},
                static_cast<int>(above - outer * cut.count)};
    }
    __device__ int rows() const { return static_cast<int>(lines.rows); }
    __device__ std::int64_t inner() const { return pitch; }
    __device__ int width(const line_group& g) const { return min(static_cast<int>(lines.length) - g.x, cuda::warp); }
    /// Returns the cell of row 0 of a line.
    __device__ std::int64_t first_cell(const line_group& g, int lane) const {
        return g.outer * lines.rows * pitch + g.x + lane;
    }
    __device__ const line_word* words(const line_group& g) const { return lines.words + g.number * lines.rows; }
};

/// Lines of a pass over a state, whose rows may be longer than those of the fields (see state_pitch).
struct pass_lines {
    pass g;                              ///< of the state
    std::int64_t pitch = 1, length = 1;  ///< cells of a row along the last axis: of the state, of the fields
    std::int64_t field_inner = 1;        ///< `g.inner` in the fields

    __device__ line_group group_of(std::int64_t number) const { return {number, number, 0}; }
    __device__ tile_place place(const windows& cut, std::int64_t tile) const {
        if (cut.count == 1) return {group_of(tile), 0};
        const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp, window = quotient(tile, groups);
        return {group_of(tile - window * groups), static_cast<int>(window)};
    }
    __device__ int rows() const { return static_cast<int>(g.rows); }
    __device__ std::int64_t inner() const { return field_inner; }
    __device__ int width(const line_group& of) const {
        const std::int64_t first = of.number * cuda::warp,
                           end = pitch == length ? g.columns : quotient(first, pitch) * pitch + length;
        return static_cast<int>(min(end - first, static_cast<std::int64_t>(cuda::warp)));
    }
    /// Returns the cell of row 0 of a line, in the state.
    __device__ std::int64_t state_cell(const line_group& of, int lane) const {
        return g.first_cell(of.number * cuda::warp + lane);
    }
    /// Returns the number without the cells that only the state has.
    __device__ std::int64_t in_fields(std::int64_t cell) const {
        return pitch == length ? cell : cell - quotient(cell, pitch) * (pitch - length);
    }
    /// Returns the cell of row 0 of a line, in the fields.
    __device__ std::int64_t first_cell(const line_group& of, int lane) const { return in_fields(state_cell(of, lane)); }
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
        __device__ reader(const value_lines& of, const line_group& group, int lane)
            : cells_(of.cells + of.state_cell(group, lane)), inner_(of.g.inner) {}
        __device__ std::int32_t value(int row) const { return cells_[row * inner_]; }

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

constexpr int pivot_step = 32;

/// Results at the pivot rows of all images.
struct pivot_lines {
    std::int32_t* nearest = nullptr;   ///< row of the nearest site in a column, or -1: by pivot row, then column
    std::uint16_t* winners = nullptr;  ///< row that wins, by pivot row, then column; row 0 if there is no site
    std::int32_t* taken = nullptr;     ///< number of squares between pivot rows that warps have taken; initially 0
    std::int64_t images = 1;
    std::int64_t length = 1;
    int pivots = 1;
    int rows = 1;
    bool wide = false;  ///< squares in 64 bits, which are not kept in shared memory
    int half = 0;       ///< see packed_lines

    NF_HD int row_of(int pivot) const { return pivot < pivots - 1 ? pivot * pivot_step : rows - 1; }
    __device__ std::int64_t first_cell(std::int64_t image, int pivot) const {
        return (image * pivots + pivot) * length;
    }
};

}  // namespace

class word_workspace {
public:
    explicit word_workspace(const plan& p) : p_(p) {}

    /// `tiles`: the most tiles of a pass; `pivots`: unresolved tiles of the axis before the last are solved between
    /// pivot rows; `groups`: the most groups of 32 lines of a pass that lists groups, else 0.
    void reserve(cuda::workspace& memory, std::int64_t tiles, bool pivots, std::int64_t groups) {
        pivots_ = pivots;
        const packed_lines lines = this->lines(memory);
        words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
        if (lines.stretches > 1) ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        mark_count_ = pivots ? lines.images : groups;
        marks_ = memory.reserve<std::uint32_t>(mark_count_);
        if (!pivots) return;
        const pivot_lines rows = this->pivots(memory);
        const std::int64_t cells = rows.images * rows.pivots * rows.length;
        nearest_ = memory.reserve<std::int32_t>(cells);
        winners_ = memory.reserve<std::uint16_t>(cells);
        owners_ = memory.reserve<std::int32_t>(lines.images);
    }

    [[nodiscard]] packed_lines lines(const cuda::workspace& memory) const {
        packed_lines lines;
        lines.words = memory.get<line_word>(words_);
        lines.ends = memory.get<std::uint32_t>(ends_);
        lines.length = p_.size[last_axis()];
        lines.rows = p_.size[last_axis() - 1];
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.stretches = blocks_for(lines.length, scan_cells);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        lines.half = p_.half_cell ? 1 : 0;
        return lines;
    }
    [[nodiscard]] pivot_lines pivots(const cuda::workspace& memory) const {
        const packed_lines lines = this->lines(memory);
        pivot_lines pivots;
        pivots.nearest = memory.get<std::int32_t>(nearest_);
        pivots.winners = memory.get<std::uint16_t>(winners_);
        pivots.images = lines.images;
        pivots.length = lines.length;
        pivots.pivots = static_cast<int>(blocks_for(lines.rows, pivot_step)) + 1;
        pivots.rows = static_cast<int>(lines.rows);
        pivots.wide = pivots_are_wide(p_), pivots.half = lines.half;
        pivots.taken = memory.get<std::int32_t>(counts_) + last_axis();  // the last axis, where no pass counts tiles
        return pivots;
    }
    /// True if unresolved tiles of the pass along `axis` are solved between pivot rows.
    [[nodiscard]] bool uses_pivots(int axis) const { return pivots_ && axis == p_.rank - 2; }
    /// Returns the list of unresolved tiles of the pass along `axis`, which is empty once lines are packed.
    [[nodiscard]] unresolved_tiles unresolved(const cuda::workspace& memory, int axis) const {
        unresolved_tiles unresolved;
        unresolved.count = memory.get<std::int32_t>(counts_) + axis;
        unresolved.list = memory.get<std::int32_t>(list_);
        if (mark_count_ == 0 || pivots_ != uses_pivots(axis)) return unresolved;
        unresolved.marks = memory.get<std::uint32_t>(marks_), unresolved.mark = static_cast<std::uint32_t>(axis) + 1;
        if (!pivots_) return unresolved;
        unresolved.owner_count = unresolved.count + max_rank;
        unresolved.owners = memory.get<std::int32_t>(owners_);
        return unresolved;
    }
    /// Returns the counters that packing clears.
    [[nodiscard]] tile_counts counts(const cuda::workspace& memory) const {
        return {memory.get<std::int32_t>(counts_), memory.get<std::uint32_t>(marks_), mark_count_};
    }

private:
    [[nodiscard]] std::size_t last_axis() const { return static_cast<std::size_t>(p_.rank - 1); }

    const plan& p_;
    bool pivots_ = false;
    std::int64_t words_ = 0, ends_ = 0, nearest_ = 0, winners_ = 0, list_ = 0, counts_ = 0, owners_ = 0, marks_ = 0,
                 mark_count_ = 0;
};

}  // namespace nearfield::exact
