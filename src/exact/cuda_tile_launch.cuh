// Launches of the searches in tiles: from packed lines, or from the values of the pass before; then the hulls for what
// they leave.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
#include "exact/cuda_far.cuh"
#include "exact/cuda_gather.cuh"
#include "exact/cuda_hard.cuh"

namespace nearfield::exact {

/// A block of search_in_shared and its like.
struct block_shape {
    dim3 threads;
    std::size_t shared;
};
inline block_shape hull_block(std::int64_t rows) {
    const std::int64_t bands = blocks_for(rows, band_rows);
    return {dim3(cuda::warp, static_cast<unsigned>(bands)),
            static_cast<std::size_t>(rows * cuda::warp * 4 + bands * cuda::warp * 2)};
}

/// How a pass's lines are cut into tiles.
struct tile_cut {
    int lane_rows;  ///< of those compiled
    windows into;
};
/// Short lines: the least number of rows a lane that holds a line in the two halves of a warp's words. Long ones: windows
/// of as equal a size as whole squares allow; of the two sizes of tiles the one with fewer rows in all, the rows read twice
/// included, and of equal ones the smaller, which makes more blocks.
inline tile_cut cut_lines(std::int64_t rows) {
    for (const int lane_rows : {1, 2, 4, 8, 12, 16})
        if (rows <= 2 * cuda::warp * lane_rows) return {lane_rows, {1, static_cast<int>(rows)}};
    const auto cut = [&]<int LaneRows>() {
        // Lanes hold whole rows to be finished or none, and a window's squares of 32 rows are whole.
        constexpr int unit = LaneRows % 16 == 0 ? square_rows : square_rows * 3;
        constexpr int most = (2 * cuda::warp * LaneRows - 2 * halo<LaneRows>) / unit * unit;
        static_assert(unit % LaneRows == 0 && most % unit == 0);
        const std::int64_t count = blocks_for(rows, most);
        return tile_cut{LaneRows, {static_cast<int>(count), static_cast<int>(blocks_for(rows, count * unit) * unit)}};
    };
    const tile_cut large = cut.template operator()<16>(), small = cut.template operator()<12>();
    return small.into.count * small.lane_rows <= large.into.count * large.lane_rows ? small : large;
}

/// Which passes search in tiles, and the memory they need, for values in int32.
class tile_workspace {
public:
    explicit tile_workspace(const plan& p) : p_(p) {}

    [[nodiscard]] bool fits(int axis) const { return tiles_fit(p_, axis); }
    /// The first two passes are one.
    [[nodiscard]] bool words() const { return words_fit(p_); }
    /// What tiles leave goes to the hulls of long lines.
    [[nodiscard]] bool far(int axis) const { return !rows_fit_shared(p_, axis); }

    void reserve(cuda::workspace& memory) {
        std::int64_t tiles = 0;
        if (words()) {
            const packed_lines lines = this->lines(memory);
            words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
            sited_ = memory.reserve<std::uint32_t>(lines.images * lines.groups());
            if (lines.stretches > 1)
                ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
        }
        std::int64_t groups = 0, ranges = 0;
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis) {
            if (!fits(axis)) continue;
            const std::int64_t here = groups_of(axis), rows = p_.size[static_cast<std::size_t>(axis)];
            tiles = std::max(tiles, here * cut_lines(rows).into.count);
            if (!far(axis)) continue;
            groups = std::max(groups, here);
            ranges = std::max(ranges, here * cuda::warp * blocks_for(rows, slab_rows));
        }
        if (tiles == 0) return;
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        any_ = true;
        if (groups == 0) return;
        groups_ = memory.reserve<std::int32_t>(groups);
        marks_ = memory.reserve<std::uint32_t>(groups);
        ranges_ = memory.reserve<list_range>(ranges);
        lists_ = memory.reserve<std::uint16_t>(p_.cells);
    }

    [[nodiscard]] packed_lines lines(const cuda::workspace& memory) const {
        packed_lines lines;
        lines.words = memory.get<line_word>(words_);
        lines.sited = memory.get<std::uint32_t>(sited_);
        lines.ends = memory.get<std::uint32_t>(ends_);
        lines.length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        lines.rows = p_.size[static_cast<std::size_t>(p_.rank - 2)];
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.stretches = blocks_for(lines.length, scan_cells);
        lines.images = p_.cells / lines.length / lines.rows;
        lines.tiles = lines.images * lines.columns;
        return lines;
    }
    /// Of the pass along `axis`.
    [[nodiscard]] hard_tiles hard(const cuda::workspace& memory, int axis) const {
        hard_tiles hard;
        hard.count = memory.get<std::int32_t>(counts_) + axis;
        hard.list = memory.get<std::int32_t>(list_);
        if (!far(axis)) return hard;
        hard.group_count = hard.count + max_rank;
        hard.groups = memory.get<std::int32_t>(groups_);
        hard.marks = memory.get<std::uint32_t>(marks_);
        return hard;
    }
    [[nodiscard]] far_lists lists(const cuda::workspace& memory, int axis) const {
        return {memory.get<std::uint16_t>(lists_), memory.get<list_range>(ranges_),
                static_cast<int>(blocks_for(p_.size[static_cast<std::size_t>(axis)], slab_rows))};
    }
    /// What pack_lines clears.
    [[nodiscard]] tile_counts counts(const cuda::workspace& memory) const {
        return {memory.get<std::int32_t>(counts_), hard(memory, p_.rank - 2).marks};
    }
    void clear_counts(const device& on, const cuda::workspace& memory) const {
        if (any_) clear(on, memory.get<std::int32_t>(counts_), 2 * max_rank);
    }
    void clear_marks(const device& on, const cuda::workspace& memory, int axis) const {
        if (far(axis)) clear(on, memory.get<std::uint32_t>(marks_), groups_of(axis));
    }

private:
    /// Groups of 32 lines: of words, of one word column.
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        const std::int64_t columns = p_.cells / p_.size[static_cast<std::size_t>(axis)];
        if (!words() || axis != p_.rank - 2) return blocks_for(columns, cuda::warp);
        const std::int64_t length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        return columns / length * blocks_for(length, cuda::warp);
    }
    template <class T>
    static void clear(const device& on, T* numbers, std::int64_t count) {
        cuda::check(cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(T), cuda::stream_of(on)),
                    "clearing counts");
    }

    const plan& p_;
    bool any_ = false;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, list_ = 0, counts_ = 0, groups_ = 0, marks_ = 0, ranges_ = 0,
                 lists_ = 0;
};

/// One pass in tiles: the tiles, then the hulls for what they leave.
template <bool Last>
class tile_search {
public:
    tile_search(const device& on, const metric<std::int32_t>& m, std::int64_t rows, const hard_tiles& hard,
                const far_lists& lists, const sink<std::int32_t, std::int32_t, false, Last>& to)
        : on_(on), m_(m), rows_(rows), cut_(cut_lines(rows)), hard_(hard), lists_(lists), to_(to) {}

    /// Clears the counts of hard tiles of all passes on the way.
    void from_words(const site_bytes& image, const packed_lines& lines, const tile_counts& counts) const {
        const std::int64_t blocks = lines.images * lines.stretches * lines.groups();
        const bool sixteens = image.length % 16 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
        cuda::launch(on_, sixteens ? pack_lines<true> : pack_lines<false>, blocks, dim3(cuda::warp, pack_lines_a_block),
                     0, image, lines, counts);
        if (lines.stretches > 1)
            cuda::launch(on_, carry_stretches, blocks_for(blocks, carry_warps), dim3(cuda::warp, carry_warps), 0,
                         lines);
        const std::int64_t tiles = lines.tiles * cut_.into.count;
        const word_lines from{lines};
        with_lane_rows([&]<int LaneRows>() {
            cuda::launch(on_, search_words<LaneRows, Last>, tiles, dim3(tile_threads<LaneRows>), bytes<LaneRows>(),
                         from, cut_.into, m_, hard_, to_);
        });
        finish(search_hard_words<Last>, from, lines.tiles);
    }

    void from_values(const pass& g, const std::int32_t* cells) const {
        const std::int64_t groups = blocks_for(g.columns, cuda::warp);
        const value_lines from{g, cells};
        with_lane_rows([&]<int LaneRows>() {
            cuda::launch(on_, search_tiles<LaneRows, Last>, groups * cut_.into.count, dim3(tile_threads<LaneRows>),
                         bytes<LaneRows>(), from, cut_.into, m_, hard_, to_);
        });
        finish(search_hard<Last>, from, groups);
    }

private:
    /// The lists' lengths are known on the device only: as many blocks as a large GPU holds, and none without work.
    template <class Short, class Lines>
    void finish(const Short& short_hulls, const Lines& from, std::int64_t groups) const {
        if (hard_.groups == nullptr) {
            const block_shape block = hull_block(rows_);
            cuda::launch(on_, short_hulls, std::min(groups, 2 * multiprocessors * blocks_for(short_rows, rows_)),
                         block.threads, block.shared, from, m_, hard_, to_);
            return;
        }
        cuda::launch(on_, build_far<Lines>, std::min(groups * lists_.slabs, 2 * multiprocessors),
                     dim3(cuda::warp, slab_bands), sizeof(slab_memory), from, hard_, lists_);
        if (lists_.slabs > 1)
            cuda::launch(on_, merge_far<Lines>, std::min(groups, 4 * multiprocessors), dim3(cuda::warp, merge_warps), 0,
                         from, hard_, lists_);
        cuda::launch(on_, walk_far<Last, Lines>,
                     std::min(groups * blocks_for(rows_, walk_warps * band_rows), 8 * multiprocessors),
                     dim3(cuda::warp, walk_warps), 0, from, cut_.into, m_, hard_, lists_, to_);
    }

    template <class Body>
    void with_lane_rows(const Body& body) const {
        switch (cut_.lane_rows) {
            case 1: return body.template operator()<1>();
            case 2: return body.template operator()<2>();
            case 4: return body.template operator()<4>();
            case 8: return body.template operator()<8>();
            case 12: return body.template operator()<12>();
            default: return body.template operator()<16>();
        }
    }
    template <int LaneRows>
    static constexpr std::size_t bytes() {
        return sizeof(std::uint32_t) * tile<LaneRows>::words;
    }

    static constexpr std::int64_t multiprocessors = 132;  // of the largest GPUs

    const device& on_;
    const metric<std::int32_t>& m_;
    std::int64_t rows_;
    tile_cut cut_;
    hard_tiles hard_;
    far_lists lists_;
    sink<std::int32_t, std::int32_t, false, Last> to_;
};

}  // namespace nearfield::exact
