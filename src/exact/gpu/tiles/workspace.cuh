// Workspace of the searches from packed lines: the words, lists of unresolved tiles, and the winners of pivot rows.
#pragma once

#include <algorithm>

#include "exact/gpu/rows/pack.cuh"
#include "exact/gpu/tiles/posts.cuh"

namespace nearfield::exact {

class word_workspace {
public:
    explicit word_workspace(const plan& p) : p_(p) {}

    /// `tiles`: the most tiles of a pass; `pivots`: unresolved tiles of the axis before the last are solved between
    /// pivot rows; `swept`: the most groups of 32 lines of a pass, if only sweeps finish one of the passes.
    void reserve(cuda::workspace& memory, std::int64_t tiles, bool pivots, std::int64_t swept) {
        pivots_ = pivots;
        const packed_lines lines = this->lines(memory);
        words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
        if (lines.stretches > 1) ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        mark_count_ = pivots ? lines.images : swept;
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
