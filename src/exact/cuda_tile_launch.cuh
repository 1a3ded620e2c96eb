// Launches of the searches in tiles: from packed lines, or from the values of the pass before; then of what finishes
// those that they leave.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
#include "exact/cuda_far.cuh"
#include "exact/cuda_gather.cuh"
#include "exact/cuda_hard.cuh"
#include "exact/cuda_pack.cuh"
#include "exact/cuda_points.cuh"
#include "exact/cuda_post_squares.cuh"
#include "exact/cuda_post_winners.cuh"
#include "exact/cuda_tile_shift.cuh"

namespace nearfield::exact {

// Cells of volumes that are looked at for being sparse. It takes two more launches, of 128^3 2 us (0.029 to 0.031 ms at
// 10 %), which at 0.01 % brings 0.066 to 0.032 (H100, 2026-11-21).
constexpr std::int64_t least_listed = 1 << 21;

// Cells of volumes whose state has padded rows: 40x37x531 took 0.037 to 0.043 ms, 1023^3 7.6 to 6.8 (H200, 2026-11-22).
constexpr std::int64_t least_padded = 1 << 24;

/// How a pass's lines are cut into tiles.
struct tile_cut {
    int pairs;  ///< of rows, of the numbers compiled
    windows into;
};
/// Short lines: the least number of pairs that holds a line. Long ones: windows
/// of as equal a size as whole squares allow; of the two sizes of tiles the one with fewer rows in all, the rows read
/// twice included, and of equal ones the smaller, which makes more blocks.
inline tile_cut cut_lines(std::int64_t rows) {
    for (const int pairs : {32, 52, 64, 96, 128, 192, 256, 384, 512})
        if (rows <= 2 * pairs) return {pairs, {1, static_cast<int>(rows)}};
    const auto cut = [&]<int Pairs>() {
        // Lanes hold whole rows to be finished or none, and a window's squares of 32 rows are whole.
        constexpr int unit = lane_pairs<Pairs> % 16 == 0 ? square_rows : square_rows * 3;
        constexpr int most = (2 * Pairs - 2 * halo<Pairs>) / unit * unit;
        static_assert(unit % lane_pairs<Pairs> == 0 && most % unit == 0);
        const std::int64_t count = blocks_for(rows, most);
        return tile_cut{Pairs, {static_cast<int>(count), static_cast<int>(blocks_for(rows, count * unit) * unit)}};
    };
    const tile_cut large = cut.template operator()<512>(), small = cut.template operator()<384>();
    return small.into.count * small.pairs <= large.into.count * large.pairs ? small : large;
}

/// Which passes search in tiles, and the memory they need, for values in int32.
class tile_workspace {
public:
    explicit tile_workspace(const plan& p) : p_(p) {}

    [[nodiscard]] bool fits(int axis) const { return tiles_fit(p_, axis); }
    /// The first two passes are one.
    [[nodiscard]] bool words() const { return words_fit(p_); }
    /// What tiles leave is not finished in shared memory.
    [[nodiscard]] bool far(int axis) const {
        return p_.numbers != tier::int32 || (!leave_nothing(axis) && !rows_fit_shared(p_, axis));
    }
    /// Tiles finish all that they begin.
    [[nodiscard]] bool leave_nothing(int axis) const {
        return p_.numbers == tier::int32 && p_.size[static_cast<std::size_t>(axis)] <= all_rows;
    }

    /// How the state between the last two passes of a volume lies. Rows of 512 cells or more grow by 6 % at most.
    [[nodiscard]] row_padding padding() const {
        if (!words() || p_.rank - p_.first_axis != 3 || far(p_.first_axis) || far(p_.rank - 2)) return {};
        const std::int64_t width = p_.size[last_axis()], height = p_.size[last_axis() - 1],
                           pitch = blocks_for(width, cuda::warp) * cuda::warp;
        if (width < 512 || width == pitch || p_.cells < least_padded ||
            pitch * height > std::numeric_limits<std::int32_t>::max())
            return {};
        return {pitch, width, width * height};
    }
    [[nodiscard]] std::int64_t state_cells() const {
        const row_padding rows = padding();
        return rows.pitch == 0 ? p_.cells : p_.cells / rows.width * rows.pitch;
    }

    /// Volumes with few sites are searched site by site.
    [[nodiscard]] bool points() const {
        return words() && p_.rank - p_.first_axis == 3 && fits(p_.first_axis) && p_.cells >= least_listed;
    }

    void reserve(cuda::workspace& memory) {
        if (points()) {
            const point_lists lists = this->lists_of_points(memory);
            flags_ = memory.reserve<std::int32_t>(2 + volumes() * lists.lists_an_image);
            points_ = memory.reserve<listed_point>(volumes() * lists.lists_an_image * lists.capacity);
        }
        std::int64_t tiles = 0, owners = 0, ranges = 0, listed = 0;
        if (words()) {
            const packed_lines lines = this->lines(memory);
            words_ = memory.reserve<line_word>(lines.tiles * lines.rows);
            sited_ = memory.reserve<std::uint32_t>(lines.images * lines.groups());
            if (lines.stretches > 1) ends_ = memory.reserve<std::uint32_t>(lines.images * lines.stretches * lines.rows);
            tiles = lines.tiles * cut_lines(lines.rows).into.count;
            if (far(p_.rank - 2)) {
                const auto posts = this->posts<std::int32_t>(memory);
                const std::int64_t cells = posts.images * posts.posts * posts.length;
                nearest_ = memory.reserve<std::int32_t>(cells);
                winners_ = memory.reserve<std::uint16_t>(cells);
                owners = lines.images;
            }
        }
        for (int axis = p_.first_axis; axis < p_.rank - (words() ? 2 : 1); ++axis) {
            if (!fits(axis)) continue;
            const std::int64_t here = groups_of(axis), rows = p_.size[static_cast<std::size_t>(axis)];
            tiles = std::max(tiles, here * cut_lines(rows).into.count);
            if (!far(axis)) continue;
            owners = std::max(owners, here);
            ranges = std::max(ranges, here * cuda::warp * blocks_for(rows, slab_rows));
            listed = p_.cells;
        }
        if (tiles == 0) return;
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        any_ = true;
        ranges_ = memory.reserve<list_range>(ranges);
        lists_ = memory.reserve<slab_row>(listed);
        owners_ = memory.reserve<std::int32_t>(owners);
        marks_ = memory.reserve<std::uint32_t>(owners);
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
    template <class V>
    [[nodiscard]] post_lines<V> posts(const cuda::workspace& memory) const {
        const packed_lines lines = this->lines(memory);
        post_lines<V> posts;
        posts.nearest = memory.get<std::int32_t>(nearest_);
        posts.winners = memory.get<std::uint16_t>(winners_);
        posts.images = lines.images;
        posts.length = lines.length;
        posts.posts = static_cast<int>(blocks_for(lines.rows, post_rows)) + 1;
        posts.rows = static_cast<int>(lines.rows);
        posts.taken = memory.get<std::int32_t>(counts_) + last_axis();  // along which no pass counts tiles
        return posts;
    }
    [[nodiscard]] point_lists lists_of_points(const cuda::workspace& memory) const {
        point_lists lists;
        if (!points()) return lists;
        const std::int64_t planes = p_.size[last_axis() - 2];
        lists.many = memory.get<std::int32_t>(flags_);
        lists.candidates = lists.many + 1;
        lists.counts = lists.many + 2;
        lists.points = memory.get<listed_point>(points_);
        lists.capacity = static_cast<int>(blocks_for(p_.cells / volumes() / planes * list_planes, cells_a_point));
        lists.lists_an_image = static_cast<int>(blocks_for(planes, list_planes));
        lists.planes = static_cast<int>(planes);
        return lists;
    }
    [[nodiscard]] std::int64_t volumes() const {
        return p_.cells / p_.size[last_axis()] / p_.size[last_axis() - 1] / p_.size[last_axis() - 2];
    }
    void clear_points(const device& on, const cuda::workspace& memory) const {
        if (points())
            clear(on, memory.get<std::int32_t>(flags_), 2 + volumes() * lists_of_points(memory).lists_an_image);
    }
    /// Of the pass along `axis`.
    [[nodiscard]] hard_tiles hard(const cuda::workspace& memory, int axis) const {
        hard_tiles hard;
        hard.count = memory.get<std::int32_t>(counts_) + axis;
        hard.list = memory.get<std::int32_t>(list_);
        if (!far(axis)) return hard;
        hard.owner_count = hard.count + max_rank;
        hard.owners = memory.get<std::int32_t>(owners_);
        hard.marks = memory.get<std::uint32_t>(marks_);
        return hard;
    }
    /// Lists of hulls along lines of so many cells.
    [[nodiscard]] far_lists lists(const cuda::workspace& memory, std::int64_t length) const {
        return {memory.get<slab_row>(lists_), memory.get<list_range>(ranges_),
                static_cast<int>(blocks_for(length, slab_rows))};
    }
    /// What pack_lines clears.
    [[nodiscard]] tile_counts counts(const cuda::workspace& memory) const {
        const std::int64_t images = p_.cells / p_.size[last_axis()] / p_.size[last_axis() - 1];
        return {memory.get<std::int32_t>(counts_), hard(memory, p_.rank - 2).marks, far(p_.rank - 2) ? images : 0};
    }
    void clear_marks(const device& on, const cuda::workspace& memory, int axis) const {
        if (far(axis)) clear(on, memory.get<std::uint32_t>(marks_), groups_of(axis));
    }

private:
    [[nodiscard]] std::size_t last_axis() const { return static_cast<std::size_t>(p_.rank - 1); }
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        const std::int64_t cells = axis == p_.first_axis ? state_cells() : p_.cells;
        return blocks_for(cells / p_.size[static_cast<std::size_t>(axis)], cuda::warp);
    }
    template <class T>
    static void clear(const device& on, T* numbers, std::int64_t count) {
        cuda::check(cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(T), cuda::stream_of(on)),
                    "clearing counts");
    }

    const plan& p_;
    bool any_ = false;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, nearest_ = 0, winners_ = 0, list_ = 0, counts_ = 0, owners_ = 0,
                 marks_ = 0, ranges_ = 0, lists_ = 0, flags_ = 0, points_ = 0;
};

/// One pass in tiles: the tiles, then what finishes those they leave. How many these are is known on the device only:
/// as many blocks as a large GPU holds share them.
template <class V, bool Last>
class tile_search {
public:
    tile_search(const device& on, const metric<V>& m, const tile_workspace& tiles, const cuda::workspace& memory,
                int axis, const value_sink<V, Last>& to)
        : on_(on),
          m_(m),
          tiles_(tiles),
          memory_(memory),
          axis_(axis),
          rows_(m.size[axis]),
          cut_(cut_lines(rows_)),
          hard_(tiles.hard(memory, axis)),
          points_(tiles.lists_of_points(memory)),
          to_(to) {}

    /// Clears the counts of hard tiles of all passes on the way.
    void from_words(const site_bytes& image) const {
        tiles_.clear_points(on_, memory_);
        const packed_lines lines = tiles_.lines(memory_);
        pack(on_, image, lines, points_, tiles_.counts(memory_));
        if constexpr (std::is_same_v<V, std::int32_t>)
            if (tiles_.points())
                cuda::launch_overlapped(on_, count_candidates, sampled_bricks, dim3(brick_threads), 0, points_,
                                        bricks(m_, tiles_.volumes()));
        const word_lines from{lines, tiles_.padding()};
        with_pairs([&]<int Pairs>() {
            cuda::launch_overlapped(on_, search_words<Pairs, V, Last>, lines.tiles * cut_.into.count,
                                    dim3(tile_threads<Pairs>), bytes<Pairs>(), from, cut_.into, m_, hard_, points_,
                                    to_);
        });
        if (tiles_.leave_nothing(axis_)) return;
        if (tiles_.far(axis_)) return finish_by_posts(from);
        if constexpr (std::is_same_v<V, std::int32_t>)
            finish_short(with_bands([&]<int Bands>() { return search_hard_words<Last, Bands>; }), from, lines.tiles);
    }

    void from_values(const pass& g, const std::int32_t* cells) const {
        tiles_.clear_marks(on_, memory_, axis_);
        value_lines from{g, cells, tiles_.padding()};
        if (const row_padding& rows = from.padding; rows.pitch != 0) {
            from.g.inner = rows.inner / rows.width * rows.pitch;
            from.g.columns = g.columns / rows.width * rows.pitch;
        }
        const std::int64_t groups = blocks_for(from.g.columns, cuda::warp);
        with_pairs([&]<int Pairs>() {
            if constexpr (Last && tile<Pairs>::has_roots)
                if (shifts()) return search_shifted<Pairs>(from, groups);
            cuda::launch_overlapped(on_, search_tiles<Pairs, Last>, groups * cut_.into.count, dim3(tile_threads<Pairs>),
                                    bytes<Pairs>(), from, cut_.into, m_, hard_, points_, to_);
        });
        if (tiles_.far(axis_)) finish_by_hulls(from, groups);
        else if (!tiles_.leave_nothing(axis_))
            finish_short(with_bands([&]<int Bands>() { return search_hard<Last, Bands>; }), from, groups);
        if constexpr (Last)
            if (tiles_.points()) search_by_points();
    }

private:
    /// Distances in rows that begin anywhere, of lines that are one window.
    [[nodiscard]] bool shifts() const {
        return tiles_.padding().pitch != 0 && cut_.into.count == 1 && to_.out.only_distance32 && to_.out.unit2 == 1 &&
               !to_.limited && cuda::has_clusters(false);
    }
    template <int Pairs>
    void search_shifted(const value_lines& from, std::int64_t groups) const {
        const cuda::grid of{blocks_for(groups, shifted_tiles) * shifted_tiles, dim3(tile_threads<Pairs>),
                            bytes<Pairs>(), shifted_tiles};
        cuda::launch<cuda::order::overlapped>(on_, search_shifted_tiles<Pairs>, of, from, groups, hard_, points_,
                                              to_.out.distance32);
    }
    template <class Body>
    auto with_bands(const Body& body) const {
        return bands_of(rows_) == 2 ? body.template operator()<2>() : body.template operator()<1>();
    }
    template <class Kernel, class Lines>
    void finish_short(const Kernel& kernel, const Lines& from, std::int64_t tiles) const {
        const dim3 threads(cuda::warp, static_cast<unsigned>(blocks_for(rows_, band_rows * bands_of(rows_))));
        cuda::launch_overlapped(
            on_, kernel,
            std::min(tiles, (bands_of(rows_) == 2 ? 3 : 2) * multiprocessors * blocks_for(short_rows, rows_)), threads,
            posted_lines::bytes(rows_), from, m_, hard_, to_);
    }
    void finish_by_posts(const word_lines& from) const {
        const std::int64_t tiles = from.lines.tiles;
        const auto posts = tiles_.posts<V>(memory_);
        launch_posts(on_, from, hard_, posts);
        cuda::launch_overlapped(on_, finish_between<V, Last>,
                                std::min(blocks_for(tiles * blocks_for(rows_, square_rows), between_warps),
                                         between_blocks * multiprocessors),
                                dim3(between_threads), 0, from, cut_.into, m_, hard_, posts, to_);
    }
    void finish_by_hulls(const value_lines& from, std::int64_t groups) const {
        const far_lists lists = tiles_.lists(memory_, rows_);
        build_hulls<hard_groups>(from, groups, lists);
        cuda::launch_overlapped(on_, walk_far<Last, value_lines>,
                                std::min(groups * blocks_for(rows_, walk_warps * band_rows), 8 * multiprocessors),
                                dim3(cuda::warp, walk_warps), 0, from, cut_.into, m_, hard_, lists, to_);
    }
    /// Volumes with few sites; the other passes then do nothing.
    void search_by_points() const {
        const bricks all(m_, tiles_.volumes());
        cuda::launch_overlapped(on_, search_points<Last>, std::min(all.count(), 2 * multiprocessors),
                                dim3(brick_threads), 0, points_, m_, all, to_);
    }
    /// Of up to `count` groups.
    template <class Groups, class Lines>
    void build_hulls(const Lines& lines, std::int64_t count, const far_lists& lists) const {
        cuda::launch_overlapped(on_, build_far<Lines, Groups>,
                                std::min(count * lists.slabs, slab_blocks * multiprocessors),
                                dim3(cuda::warp, slab_bands), sizeof(slab_memory), lines, hard_, lists);
        if (lists.slabs > 1)
            cuda::launch_overlapped(on_, merge_far<Lines, Groups>, std::min(count, 4 * multiprocessors),
                                    dim3(cuda::warp, merge_warps), 0, lines, hard_, lists);
    }
    template <class Body>
    void with_pairs(const Body& body) const {
        switch (cut_.pairs) {
            case 32: return body.template operator()<32>();
            case 52: return body.template operator()<52>();
            case 64: return body.template operator()<64>();
            case 96: return body.template operator()<96>();
            case 128: return body.template operator()<128>();
            case 192: return body.template operator()<192>();
            case 256: return body.template operator()<256>();
            case 384: return body.template operator()<384>();
            default: return body.template operator()<512>();
        }
    }
    template <int Pairs>
    static constexpr std::size_t bytes() {
        constexpr int all = offers_all_rows<Pairs, std::int32_t> ? all_rows * cuda::warp : 0;
        return sizeof(std::uint32_t) * std::max<int>(tile<Pairs>::words, all);
    }

    const device& on_;
    const metric<V>& m_;
    const tile_workspace& tiles_;
    const cuda::workspace& memory_;
    int axis_;
    std::int64_t rows_;
    tile_cut cut_;
    hard_tiles hard_;
    point_lists points_;
    value_sink<V, Last> to_;
};

}  // namespace nearfield::exact
