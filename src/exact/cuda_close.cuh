// What the searches of a tile share (cuda_close.hpp): by bits where sites are many (cuda_close_bits.cuh), else site by
// site (cuda_close_points.cuh).
#pragma once

#include "exact/cuda_bits.cuh"
#include "exact/cuda_close.hpp"

namespace nearfield::exact {
namespace {

constexpr int close_words = close_columns / cuda::warp;
constexpr int close_threads = close_rows * close_words, close_warps = close_threads / cuda::warp;
constexpr int close_blocks = 4;  // on a multiprocessor, at least: 64 registers a thread

template <class Index>
struct close_call {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    int length = 1, rows = 1, tiles_x = 1, tiles_y = 1;
    std::int64_t lines = 1;  ///< of all images
    Index* out = nullptr;
    std::uint8_t* left = nullptr;
};

/// Where a block's tile is.
struct close_tile {
    std::int64_t first;  ///< cell of its image
    int x, y;            ///< its corner

    template <class Index>
    __device__ explicit close_tile(const close_call<Index>& c) {
        const auto above = static_cast<std::uint32_t>(blockIdx.x) / static_cast<std::uint32_t>(c.tiles_x),
                   image = above / static_cast<std::uint32_t>(c.tiles_y);
        first = static_cast<std::int64_t>(image) * c.rows * c.length;
        x = static_cast<int>(blockIdx.x - above * c.tiles_x) * close_columns;
        y = static_cast<int>(above - image * c.tiles_y) * close_rows;
    }
};

/// The tile's cells and so many rows and columns beside it, 16 a load, on their way to bits; those outside the image
/// are no sites. All loads begin before the first is waited for.
template <int Rows, int Columns>
class close_cells_read {
    static constexpr int wide = (close_columns + 2 * Columns) / 16, lanes = 16, high = close_threads / lanes;
    static constexpr int rows = close_rows + 2 * Rows, loads = rows / high;
    static_assert(Columns % 16 == 0 && wide <= lanes && loads * high == rows);

public:
    template <class Index>
    __device__ close_cells_read(const close_call<Index>& c, const close_tile& at) : flip_(c.zero_is_site ? 0xffff : 0) {
        const int row = at.y - Rows + local_row(), column = at.x - Columns + 16 * half();
        const bool within = half() < wide && column >= 0 && column < c.length;
        const std::uint8_t* const from = c.data + at.first + static_cast<std::int64_t>(row) * c.length + column;
        const auto step = static_cast<std::int64_t>(high) * c.length;
        const std::uint32_t none = c.zero_is_site ? 0x01010101u : 0;
#pragma unroll
        for (int i = 0; i < loads; ++i) {
            sixteens_[i] = {none, none, none, none};
            if (within && row + i * high >= 0 && row + i * high < c.rows)
                sixteens_[i] = __ldg(reinterpret_cast<const uint4*>(from + i * step));
        }
    }
    template <int Pitch>
    __device__ void put(std::uint16_t (*halves)[Pitch]) const {
        static_assert(Pitch >= wide);
        if (half() >= wide) return;
#pragma unroll
        for (int i = 0; i < loads; ++i)
            halves[local_row() + i * high][half()] = static_cast<std::uint16_t>(nonzero_bytes(sixteens_[i]) ^ flip_);
    }

private:
    static __device__ int half() { return static_cast<int>(threadIdx.x) % lanes; }
    static __device__ int local_row() { return static_cast<int>(threadIdx.x) / lanes; }

    uint4 sixteens_[loads];
    std::uint32_t flip_;
};

// Pieces of 8 rows of 64 columns, all over the images, that every block looks at. Of random sites of 1 % one in 170
// has none, of 0.5 % one in 13, of 0.3 % one in 5. With more that have none, the image is left alone: a tile in vain
// takes up to 20 us, and the passes then take their time.
constexpr int looked_pieces = 32, most_empty_pieces = 4, piece_rows = 8, piece_sixteens = 4;
constexpr int pieces_a_warp = looked_pieces / close_warps;
static_assert(piece_rows * piece_sixteens == cuda::warp && pieces_a_warp * close_warps == looked_pieces);

/// A warp's pieces, on their way.
class close_pieces_read {
public:
    template <class Index>
    __device__ explicit close_pieces_read(const close_call<Index>& c) : zero_is_site_(c.zero_is_site) {
        const auto lane = threadIdx.x % cuda::warp, warp = threadIdx.x / cuda::warp;
#pragma unroll
        for (unsigned i = 0; i < pieces_a_warp; ++i) {
            constexpr unsigned golden = 40503;  // of 65536
            const unsigned nth = warp * pieces_a_warp + i,
                           sixteen =
                               (nth * golden % 65536 * (static_cast<unsigned>(c.length) / 16 - piece_sixteens + 1)) >>
                               16;
            const std::int64_t line = nth * (c.lines - piece_rows) / (looked_pieces - 1) + lane / piece_sixteens;
            sixteens_[i] =
                __ldg(reinterpret_cast<const uint4*>(c.data + line * c.length) + sixteen + lane % piece_sixteens);
        }
    }
    /// Those without a site.
    [[nodiscard]] __device__ int empty() const {
        const std::uint32_t flip = zero_is_site_ ? 0xffff : 0;
        int count = 0;
#pragma unroll
        for (const uint4& sixteen : sixteens_)
            count += __any_sync(cuda::every_lane, (nonzero_bytes(sixteen) ^ flip) != 0) ? 0 : 1;
        return count;
    }

private:
    uint4 sixteens_[pieces_a_warp];
    bool zero_is_site_;
};

}  // namespace
}  // namespace nearfield::exact
