// How the kernels that measure go through an image: a lane walks down a column and remembers one label with its sums,
// so that a cell costs a comparison and what a label has in a tile is added to shared memory once a column. Lanes side
// by side read cells side by side. Background between two cells of a label does not end its turn: in noise most cells
// are of one label.
#pragma once

#include "components/cuda_common.cuh"

namespace nearfield::components {

inline constexpr int walk_warps = threads_of_block / cuda::warp;
inline constexpr int walk_rows = 64;     // of a lane
inline constexpr int loads_at_once = 8;  // under way for each lane
inline constexpr std::int64_t fold = 1024;

/// A tile is columns of `x`, walked along `w`, at one place of `p`. Lines of an image of one axis are folded: cell w *
/// fold + x.
struct walk {
    std::int64_t size_x, size_w, size_p, step_x, step_w, step_p;
    std::int64_t folded = 0;  ///< fold, or 0
    std::int64_t cells;       ///< along the folded axis
    int warps_x, warps_w, axis_w, axis_p;
    bool has_w, has_p;  ///< whether these are axes of the image
    std::int64_t tiles_x, tiles_w, tiles;

    explicit walk(const array3& a, int axes) {
        // Walking along the longer one of the first two axes fills more of a tile.
        axis_w = axes == 3 && a.side[0] > a.side[1] ? 0 : 1, axis_p = 1 - axis_w;
        has_w = axes > 1, has_p = axes > 2, cells = a.side[2];
        folded = axes == 1 ? fold : 0;
        size_x = folded != 0 ? fold : a.side[2], size_w = folded != 0 ? blocks_for(cells, fold) : a.side[axis_w];
        size_p = a.side[axis_p];
        step_x = a.step[2], step_w = folded != 0 ? fold * step_x : a.step[axis_w], step_p = a.step[axis_p];
        warps_w = 1;
        while (warps_w < walk_warps && warps_w * walk_rows < size_w) warps_w *= 2;
        warps_x = walk_warps / warps_w;
        tiles_x = blocks_for(size_x, warps_x * cuda::warp), tiles_w = blocks_for(size_w, warps_w * walk_rows);
        tiles = tiles_x * tiles_w * size_p;
    }
    /// Steps of another array along the same axes.
    [[nodiscard]] walk with_steps_of(const array3& other) const {
        walk with = *this;
        with.step_x = other.step[2], with.step_w = folded != 0 ? fold * other.step[2] : other.step[axis_w];
        with.step_p = other.step[axis_p];
        return with;
    }
    __device__ std::int64_t offset(std::int64_t x, std::int64_t w, std::int64_t p) const {
        return x * step_x + w * step_w + p * step_p;
    }
    /// In a column that is there.
    __device__ bool has(std::int64_t x, std::int64_t w) const {
        return w < size_w && (folded == 0 || w * folded + x < cells);
    }
};

/// Where a thread walks.
struct stand {
    std::int64_t x0, w0, p;  ///< of the tile
    int x, w;                ///< of the thread's first cell, within the tile
    __device__ explicit stand(const walk& by) {
        const auto tile = static_cast<std::int64_t>(blockIdx.x);
        const std::int64_t row = quotient(tile, by.tiles_x);
        p = quotient(row, by.tiles_w);
        x0 = (tile - row * by.tiles_x) * by.warps_x * cuda::warp;
        w0 = (row - p * by.tiles_w) * by.warps_w * walk_rows;
        const int warp_number = static_cast<int>(threadIdx.x) / cuda::warp;
        x = warp_number % by.warps_x * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp;
        w = warp_number / by.warps_x * walk_rows;
    }
    [[nodiscard]] __device__ bool is_inside(const walk& by) const { return x0 + x < by.size_x; }
};

/// Calls body(row, i) for the cells of the column at w + i; row is no_row where the label has none.
template <class Body>
__device__ void walk_down(const walk& by, const labels32& labels, const stand& at, const Body& body) {
    if (!at.is_inside(by)) return;
    const std::int64_t x = at.x0 + at.x, w = at.w0 + at.w;
    const std::uint32_t* const column = labels.data() + by.offset(x, w, at.p);
    for (int i = 0; i < walk_rows && by.has(x, w + i); i += loads_at_once) {
        std::uint32_t label[loads_at_once];
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j) label[j] = by.has(x, w + i + j) ? column[(i + j) * by.step_w] : 0;
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j)
            if (by.has(x, w + i + j)) body(row_of_label(label[j], labels.rows), i + j);
    }
}

}  // namespace nearfield::components
