// Kernels that measure values walk an image like this: a lane walks down a column and keeps one label with its sums.
// So a cell costs a comparison, and a label's sums go to shared memory once a column. Neighbouring lanes read
// neighbouring cells. Background between two cells of one label does not flush its sums: in noise most cells share
// one label. Shapes take the same tiles in another way; see cuda_shapes.cuh.
#pragma once

#include "components/cuda_common.cuh"

namespace nearfield::components {

inline constexpr int walk_warps = threads_of_block / cuda::warp;
inline constexpr int walk_rows = 64;     // a lane's share of a column
inline constexpr int loads_at_once = 8;  // loads that a lane has in flight
inline constexpr std::int64_t fold = 1024;

/// A tile is columns along x, walked along w, at one place of p, or at `warps_p` of them, each of which has its warps.
/// An image of one axis is folded into a plane: the cell at (w, x) is number w * fold + x.
struct walk {
    std::int64_t size_x, size_w, size_p, step_x, step_w, step_p;
    std::int64_t folded = 0;  ///< cells of a folded line, or 0 if nothing is folded
    std::int64_t cells;       ///< cells along the last axis, before folding
    int rows;                 ///< a lane's share of a column
    int warps_x, warps_w, warps_p = 1, axis_w, axis_p;
    bool has_w, has_p;  ///< true if the image has these axes
    std::int64_t tiles_x, tiles_w, tiles;

    explicit walk(const array3& a, int axes, int rows_of_lane = walk_rows, bool deep = false) : rows(rows_of_lane) {
        // Walking along the longer one of the first two axes fills more of a tile.
        axis_w = axes == 3 && a.side[0] > a.side[1] ? 0 : 1, axis_p = 1 - axis_w;
        has_w = axes > 1, has_p = axes > 2, cells = a.side[2];
        folded = axes == 1 ? fold : 0;
        size_x = folded != 0 ? fold : a.side[2], size_w = folded != 0 ? blocks_for(cells, fold) : a.side[axis_w];
        size_p = a.side[axis_p];
        step_x = a.step[2], step_w = folded != 0 ? fold * step_x : a.step[axis_w], step_p = a.step[axis_p];
        while (deep && warps_p < walk_warps && warps_p < size_p) warps_p *= 2;
        warps_w = 1;
        while (warps_w * warps_p < walk_warps && warps_w * rows < size_w) warps_w *= 2;
        warps_x = walk_warps / (warps_w * warps_p);
        tiles_x = blocks_for(size_x, warps_x * cuda::warp), tiles_w = blocks_for(size_w, warps_w * rows);
        tiles = tiles_x * tiles_w * blocks_for(size_p, warps_p);
    }
    /// This walk with the strides of another array of the same shape.
    [[nodiscard]] walk with_steps_of(const array3& other) const {
        walk with = *this;
        with.step_x = other.step[2], with.step_w = folded != 0 ? fold * other.step[2] : other.step[axis_w];
        with.step_p = other.step[axis_p];
        return with;
    }
    __device__ std::int64_t offset(std::int64_t x, std::int64_t w, std::int64_t p) const {
        return x * step_x + w * step_w + p * step_p;
    }
    /// Number of rows from w on that a lane walks in column x; 0 outside the image.
    __device__ int rows_at(std::int64_t x, std::int64_t w) const {
        const std::int64_t end = folded == 0 ? size_w : (cells - x + fold - 1) / fold;
        return x < size_x && w < end ? static_cast<int>(min(end - w, std::int64_t{rows})) : 0;
    }
};

/// The place at which a thread's walk begins.
struct stand {
    std::int64_t x0, w0, p;  ///< the tile's first cell
    int x, w, deep;          ///< the thread's first cell along x, w and p, relative to the tile
    __device__ explicit stand(const walk& by) {
        const auto tile = static_cast<std::int64_t>(blockIdx.x);
        const std::int64_t row = quotient(tile, by.tiles_x), layer = quotient(row, by.tiles_w);
        x0 = (tile - row * by.tiles_x) * by.warps_x * cuda::warp;
        w0 = (row - layer * by.tiles_w) * by.warps_w * by.rows;
        p = layer * by.warps_p;
        const int warp_number = static_cast<int>(threadIdx.x) / cuda::warp, line = warp_number / by.warps_x;
        x = warp_number % by.warps_x * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp;
        w = line % by.warps_w * by.rows, deep = line / by.warps_w;
    }
};

/// Calls body(row, i) for the column's cells at w + i. `row` is no_row if the label has none.
template <class Body>
__device__ void walk_down(const walk& by, const labels32& labels, const stand& at, const Body& body) {
    const std::int64_t x = at.x0 + at.x, w = at.w0 + at.w;
    const int rows = by.rows_at(x, w);
    const std::uint32_t* cells = labels.data() + by.offset(x, w, at.p);
    for (int i = 0; i < rows; i += loads_at_once, cells += loads_at_once * by.step_w) {
        std::uint32_t label[loads_at_once];
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j) label[j] = i + j < rows ? cells[j * by.step_w] : 0;
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j)
            if (i + j < rows) body(row_of_label(label[j], labels.rows), i + j);
    }
}

}  // namespace nearfield::components
