// Kernels that measure walk an image like this: a lane walks down a column and keeps one label with its sums. So a
// cell costs a comparison, and a label's sums go to shared memory once a column. Neighbouring lanes read
// neighbouring cells. Background between two cells of one label does not flush its sums: in noise most cells share
// one label.
#pragma once

#include "components/cuda_common.cuh"

namespace nearfield::components {

inline constexpr int walk_warps = threads_of_block / cuda::warp;
inline constexpr int walk_rows = 64;     // a lane's share of a column
inline constexpr int loads_at_once = 8;  // loads that a lane has in flight
inline constexpr std::int64_t fold = 1024;

/// A tile is columns along x, walked along w, at one place of p. An image of one axis is folded into a plane: the cell
/// at (w, x) is number w * fold + x.
struct walk {
    std::int64_t size_x, size_w, size_p, step_x, step_w, step_p;
    std::int64_t folded = 0;  ///< cells of a folded line, or 0 if nothing is folded
    std::int64_t cells;       ///< cells along the last axis, before folding
    int warps_x, warps_w, axis_w, axis_p;
    bool has_w, has_p;  ///< true if the image has these axes
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
        return x < size_x && w < end ? static_cast<int>(min(end - w, std::int64_t{walk_rows})) : 0;
    }
};

/// The place at which a thread's walk begins.
struct stand {
    std::int64_t x0, w0, p;  ///< the tile's first cell
    int x, w;                ///< the thread's first cell, relative to the tile
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
};

/// Counts the faces of a column's cells towards other labels and towards the ends of the image's axes. Beyond an end
/// lies label 0, which has no row. Lanes load the labels on both sides: shuffles would leave loads to the outer lanes,
/// and one of these would wait for the other.
class face_counter {
public:
    __device__ face_counter(const walk& by, std::int64_t x, std::int64_t w, std::int64_t p) : by_(by) {
        const std::int64_t along = x + by.folded * w, most = walk_rows;
        const bool folds = by.folded != 0;
        left_from_ = along > 0 ? 0 : folds ? 1 : walk_rows;
        const std::int64_t after = (folds ? by.cells : by.size_x) - 1 - along;  // cells to the right
        right_to_ = after <= 0 ? 0 : folds ? static_cast<int>(min((after + fold - 1) / fold, most)) : walk_rows;
        above_from_ = w > 0 ? 0 : 1;
        below_to_ = static_cast<int>(max(min(by.size_w - w - 1, most), std::int64_t{0}));
        has_front_ = by.has_p && p > 0, has_behind_ = by.has_p && p < by.size_p - 1;
    }
    /// Counts for `Count` rows of the column from row `first` on. `cells` points to their first cell; the column has
    /// `rows` rows in all.
    template <int Count>
    __device__ void count(const std::uint32_t* cells, int first, int rows, const std::uint32_t (&label)[Count],
                          std::uint32_t (&faces)[Count]) const {
#pragma unroll
        for (int j = 0; j < Count; ++j) {
            const int row = first + j;
            const auto other = [&](bool is_there, std::int64_t step) {
                return row < rows && is_there ? cells[j * by_.step_w + step] : std::uint32_t{0};
            };
            const auto face_to = [&](std::uint32_t that) { return that != label[j] ? std::uint32_t{1} : 0; };
            faces[j] = face_to(other(row >= left_from_, -by_.step_x)) + face_to(other(row < right_to_, by_.step_x));
            if (by_.has_p)
                faces[j] += face_to(other(has_front_, -by_.step_p)) + face_to(other(has_behind_, by_.step_p));
            if (by_.has_w)
                faces[j] += face_to(j > 0 ? label[j - 1] : other(row >= above_from_, -by_.step_w)) +
                            face_to(j + 1 < Count ? label[j + 1] : other(row < below_to_, by_.step_w));
        }
    }

private:
    const walk& by_;
    int left_from_, right_to_, above_from_, below_to_;  ///< limits of the rows whose neighbour is in the image
    bool has_front_, has_behind_;
};

/// Calls body(row, i, faces) for the column's cells at w + i. `row` is no_row if the label has none; `faces` is 0
/// unless Faces is set.
template <bool Faces, class Body>
__device__ void walk_down(const walk& by, const labels32& labels, const stand& at, const Body& body) {
    const std::int64_t x = at.x0 + at.x, w = at.w0 + at.w;
    const int rows = by.rows_at(x, w);
    const std::uint32_t* cells = labels.data() + by.offset(x, w, at.p);
    const face_counter counter(by, x, w, at.p);
    for (int i = 0; i < rows; i += loads_at_once, cells += loads_at_once * by.step_w) {
        std::uint32_t label[loads_at_once], faces[loads_at_once] = {};
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j) label[j] = i + j < rows ? cells[j * by.step_w] : 0;
        if constexpr (Faces) counter.count(cells, i, rows, label, faces);
#pragma unroll
        for (int j = 0; j < loads_at_once; ++j)
            if (i + j < rows) body(row_of_label(label[j], labels.rows), i + j, faces[j]);
    }
}

}  // namespace nearfield::components
