// Images in which every cell has a site close by, in one kernel from the image's bytes: what its searches share. A block takes
// a tile: by bits where sites are many (cuda_close_bits.cuh), else site by site (cuda_close_points.cuh), and, should both
// leave a cell farther than they see, from all rows of the image (cuda_close_far.cuh).
#pragma once

#include "exact/cuda_bits.cuh"

namespace nearfield::exact {
namespace {

constexpr int close_columns = 128, close_rows = 64;  // of a tile
constexpr int close_words = close_columns / cuda::warp;
constexpr int close_threads = close_rows * close_words, close_warps = close_threads / cuda::warp;
constexpr int close_blocks = 4;  // on a multiprocessor, at least: 64 registers a thread

/// Images of a byte a cell, whose lines begin at multiples of 16 bytes, and one field: distances as float, or indices of nearest
/// sites in an integer.
template <class Out>
struct close_call {
    static constexpr bool sites = !std::is_same_v<Out, float>;
    site_bytes image;
    int rows = 1;  ///< of an image
    int tiles_x = 1, tiles_y = 1;
    Out* out = nullptr;
    bool many = false;                ///< bits are worth a try
    std::uint32_t* failed = nullptr;  ///< told where a tile has cells without a site close by

    [[nodiscard]] __device__ int length() const { return static_cast<int>(image.length); }
};

/// Where a block's tile is.
struct close_tile {
    std::int64_t first;  ///< cell of its image
    int x, y;            ///< its corner

    template <class Out>
    __device__ explicit close_tile(const close_call<Out>& c) {
        const auto above = static_cast<std::uint32_t>(blockIdx.x) / static_cast<std::uint32_t>(c.tiles_x),
                   image = above / static_cast<std::uint32_t>(c.tiles_y);
        first = static_cast<std::int64_t>(image) * c.rows * c.image.length;
        x = static_cast<int>(blockIdx.x - above * c.tiles_x) * close_columns;
        y = static_cast<int>(above - image * c.tiles_y) * close_rows;
    }
};

/// The tile's cells and so many rows and columns beside it, 16 a load, on their way to bits; those outside the image are no sites.
/// All loads begin before the first is waited for.
template <int Rows, int Columns>
class close_cells_read {
    static constexpr int wide = (close_columns + 2 * Columns) / 16, lanes = 16, high = close_threads / lanes;
    static constexpr int rows = close_rows + 2 * Rows, loads = rows / high;
    static_assert(Columns % 16 == 0 && wide <= lanes && loads * high == rows);

public:
    template <class Out>
    __device__ close_cells_read(const close_call<Out>& c, const close_tile& at) {
        const int row = at.y - Rows + local_row(), column = at.x - Columns + 16 * half();
        const bool within = half() < wide && column >= 0 && column < c.length();
        const std::uint8_t* const from = c.image.data + at.first + static_cast<std::int64_t>(row) * c.length() + column;
        const auto step = static_cast<std::int64_t>(high) * c.length();
        // Bytes that are no sites.
        const std::uint32_t none = c.image.zero_is_site ? 0x01010101u : 0;
        flip_ = c.image.zero_is_site ? 0xffff : 0;
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

}  // namespace
}  // namespace nearfield::exact
