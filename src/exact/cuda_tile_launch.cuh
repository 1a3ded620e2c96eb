// Launches of the searches in tiles: from packed lines, or from the values of the pass before; then of what finishes
// those that they leave.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
#include "exact/cuda_gather.cuh"
#include "exact/cuda_hard.cuh"
#include "exact/cuda_pack.cuh"
#include "exact/cuda_post_squares.cuh"
#include "exact/cuda_post_winners.cuh"
#include "exact/cuda_tile_state.cuh"

namespace nearfield::exact {

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

    void reserve(cuda::workspace& memory) {
        std::int64_t tiles = 0, owners = 0;
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
        }
        if (tiles == 0) return;
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(2 * max_rank);
        any_ = true;
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
    /// What pack_lines clears.
    [[nodiscard]] tile_counts counts(const cuda::workspace& memory) const {
        const std::int64_t images = p_.cells / p_.size[last_axis()] / p_.size[last_axis() - 1];
        return {memory.get<std::int32_t>(counts_), hard(memory, p_.rank - 2).marks, far(p_.rank - 2) ? images : 0};
    }

private:
    [[nodiscard]] std::size_t last_axis() const { return static_cast<std::size_t>(p_.rank - 1); }
    [[nodiscard]] std::int64_t groups_of(int axis) const {
        return blocks_for(p_.cells / p_.size[static_cast<std::size_t>(axis)], cuda::warp);
    }
    template <class T>
    static void clear(const device& on, T* numbers, std::int64_t count) {
        cuda::check(cudaMemsetAsync(numbers, 0, static_cast<std::size_t>(count) * sizeof(T), cuda::stream_of(on)),
                    "clearing counts");
    }

    const plan& p_;
    bool any_ = false;
    std::int64_t words_ = 0, sited_ = 0, ends_ = 0, nearest_ = 0, winners_ = 0, list_ = 0, counts_ = 0, owners_ = 0,
                 marks_ = 0;
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
          to_(to) {}

    /// Clears the counts of hard tiles of all passes on the way.
    void from_words(const site_bytes& image) const {
        const packed_lines lines = tiles_.lines(memory_);
        pack(on_, image, lines, {}, tiles_.counts(memory_));
        const word_lines from{lines};
        with_pairs([&]<int Pairs>() {
            cuda::launch_overlapped(on_, search_words<Pairs, V, Last>, lines.tiles * cut_.into.count,
                                    dim3(tile_threads<Pairs>), bytes<Pairs>(), from, cut_.into, m_, hard_, to_);
        });
        if (tiles_.leave_nothing(axis_)) return;
        if (tiles_.far(axis_)) return finish_by_posts(from);
        if constexpr (std::is_same_v<V, std::int32_t>)
            finish_short(with_bands([&]<int Bands>() { return search_hard_words<Last, Bands>; }), from, lines.tiles);
    }

    void from_values(const pass& g, const std::int32_t* cells) const {
        const value_lines from{g, cells};
        const std::int64_t groups = blocks_for(from.g.columns, cuda::warp);
        with_pairs([&]<int Pairs>() {
            cuda::launch_overlapped(on_, search_tiles<Pairs, Last>, groups * cut_.into.count, dim3(tile_threads<Pairs>),
                                    bytes<Pairs>(), from, cut_.into, m_, hard_, to_);
        });
        if (!tiles_.leave_nothing(axis_))
            finish_short(with_bands([&]<int Bands>() { return search_hard<Last, Bands>; }), from, groups);
    }

private:
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
    value_sink<V, Last> to_;
};

}  // namespace nearfield::exact
