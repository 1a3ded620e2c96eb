// Launches of the searches in tiles: from packed lines, or from the values of the pass before; then the hulls for what
// they leave.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lines.hpp"
#include "exact/cuda_choice.hpp"
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

/// Which passes search in tiles, and the memory they need, for values in int32.
class tile_workspace {
public:
    explicit tile_workspace(const plan& p) : p_(p) {}

    [[nodiscard]] bool fits(int axis) const { return tiles_fit(p_, axis); }
    /// The first two passes are one.
    [[nodiscard]] bool words() const { return words_fit(p_); }

    void reserve(cuda::workspace& memory) {
        std::int64_t tiles = 0;
        if (words()) {
            tiles = lines(memory).tiles;
            words_ = memory.reserve<line_word>(tiles * lines(memory).rows);
        }
        for (int axis = p_.first_axis; axis < p_.rank - 1; ++axis)
            if (fits(axis))
                tiles = std::max(tiles, blocks_for(p_.cells / p_.size[static_cast<std::size_t>(axis)], cuda::warp));
        if (tiles == 0) return;
        list_ = memory.reserve<std::int32_t>(tiles);
        counts_ = memory.reserve<std::int32_t>(max_rank);
        any_ = true;
    }

    [[nodiscard]] packed_lines lines(const cuda::workspace& memory) const {
        packed_lines lines;
        lines.words = memory.get<line_word>(words_);
        lines.length = p_.size[static_cast<std::size_t>(p_.rank - 1)];
        lines.rows = p_.size[static_cast<std::size_t>(p_.rank - 2)];
        lines.columns = blocks_for(lines.length, cuda::warp);
        lines.tiles = p_.cells / lines.length / lines.rows * lines.columns;
        return lines;
    }
    /// One number for each axis.
    [[nodiscard]] std::int32_t* counts(const cuda::workspace& memory) const {
        return memory.get<std::int32_t>(counts_);
    }
    [[nodiscard]] hard_tiles hard(const cuda::workspace& memory, int axis) const {
        return {counts(memory) + axis, memory.get<std::int32_t>(list_)};
    }
    void clear_counts(const device& on, const cuda::workspace& memory) const {
        if (any_)
            cuda::check(cudaMemsetAsync(counts(memory), 0, max_rank * sizeof(std::int32_t), cuda::stream_of(on)),
                        "clearing counts");
    }

private:
    const plan& p_;
    bool any_ = false;
    std::int64_t words_ = 0, list_ = 0, counts_ = 0;
};

template <bool Last>
class tile_search {
public:
    tile_search(const device& on, const metric<std::int32_t>& m, std::int64_t rows, hard_tiles hard,
                const sink<std::int32_t, std::int32_t, false, Last>& to)
        : on_(on), m_(m), rows_(rows), hard_(hard), to_(to) {}

    /// Clears the `counts` of hard tiles of all passes on the way.
    void from_words(const site_bytes& image, const packed_lines& lines, std::int32_t* counts) const {
        const std::int64_t blocks = lines.tiles / lines.columns * blocks_for(rows_, pack_lines_a_block);
        const bool sixteens = image.length % 16 == 0 && reinterpret_cast<std::uintptr_t>(image.data) % 16 == 0;
        cuda::launch(on_, sixteens ? pack_lines<true> : pack_lines<false>, blocks, dim3(cuda::warp, pack_lines_a_block),
                     0, image, lines, counts);
        with_lane_rows([&]<int LaneRows>() {
            cuda::launch(on_, search_words<LaneRows, Last>, lines.tiles, dim3(tile_threads<LaneRows>),
                         bytes<LaneRows>(), lines, m_, hard_, to_);
        });
        const block_shape block = hull_block(rows_);
        cuda::launch(on_, search_hard_words<Last>, hard_blocks(lines.tiles), block.threads, block.shared, lines, m_,
                     hard_, to_);
    }

    void from_values(const pass& g, const std::int32_t* cells) const {
        const std::int64_t tiles = blocks_for(g.columns, cuda::warp);
        with_lane_rows([&]<int LaneRows>() {
            cuda::launch(on_, search_tiles<LaneRows, Last>, tiles, dim3(tile_threads<LaneRows>), bytes<LaneRows>(), g,
                         m_, cells, hard_, to_);
        });
        const block_shape block = hull_block(rows_);
        cuda::launch(on_, search_hard<Last>, hard_blocks(tiles), block.threads, block.shared, g, m_, cells, hard_, to_);
    }

private:
    /// The least number of rows a lane, of those compiled, that holds a line in the two halves of a warp's words.
    template <class Body>
    void with_lane_rows(const Body& body) const {
        if (rows_ <= 64) return body.template operator()<1>();
        if (rows_ <= 128) return body.template operator()<2>();
        if (rows_ <= 256) return body.template operator()<4>();
        if (rows_ <= 512) return body.template operator()<8>();
        if (rows_ <= 768) return body.template operator()<12>();
        body.template operator()<16>();
    }
    template <int LaneRows>
    static constexpr std::size_t bytes() {
        return sizeof(std::uint32_t) * tile<LaneRows>::words;
    }
    /// The list's length is known on the device only: as many blocks as a large GPU holds, and none without a tile.
    std::int64_t hard_blocks(std::int64_t tiles) const {
        return std::min(tiles, 2 * multiprocessors * blocks_for(short_rows, rows_));
    }

    static constexpr std::int64_t multiprocessors = 132;  // of the largest GPUs

    const device& on_;
    const metric<std::int32_t>& m_;
    std::int64_t rows_;
    hard_tiles hard_;
    sink<std::int32_t, std::int32_t, false, Last> to_;
};

}  // namespace nearfield::exact
