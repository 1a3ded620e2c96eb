// On a device: a thread owns a cell, a corner or a pixel.
#include "base/cuda.cuh"
#include "sdf/outline.hpp"

namespace nearfield::signed_field {
namespace {

constexpr int threads_of_block = 256;

/// Place of item `i` in a loop over images of rows * columns; false after the last item.
struct item {
    std::int64_t which, y, x;
    bool exists;

    __device__ item(const work& w, std::int64_t rows, std::int64_t columns) {
        const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
        const std::int64_t row = cuda::quotient(i, columns);
        which = cuda::quotient(row, rows), y = row - which * rows, x = i - row * columns;
        exists = which < w.images;
    }
};

__global__ void __launch_bounds__(threads_of_block) trace_cells(const __grid_constant__ work w) {
    const item at(w, w.rows, w.columns);
    if (at.exists) trace(w, plane(w, at.which), at.y, at.x, (at.which * w.rows + at.y) * w.columns + at.x);
}

constexpr int cells_of_block = 8192;

/// Looks for the corners of unclear cells. A block lists those among its cells, as a rule few; its threads share them.
__global__ void __launch_bounds__(threads_of_block) find_corners_of_cells(const __grid_constant__ work w) {
    __shared__ std::uint16_t listed[cells_of_block];
    __shared__ int count;
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * cells_of_block,
                       rest = w.images * w.rows * w.columns - first;
    const int cells = rest < cells_of_block ? static_cast<int>(rest) : cells_of_block;
    if (threadIdx.x == 0) count = 0;
    __syncthreads();
#pragma unroll 8
    for (int k = static_cast<int>(threadIdx.x); k < cells; k += threads_of_block)
        if (w.mark[first + k] == unclear) listed[atomicAdd(&count, 1)] = static_cast<std::uint16_t>(k);
    __syncthreads();
    for (int k = static_cast<int>(threadIdx.x); k < count; k += threads_of_block) {
        const std::int64_t i = first + listed[k], row = cuda::quotient(i, w.columns),
                           which = cuda::quotient(row, w.rows);
        find_corner(w, plane(w, which), which * w.rows * w.columns, row - which * w.rows, i - row * w.columns);
    }
}

__global__ void __launch_bounds__(threads_of_block) touch_cells(const __grid_constant__ work w) {
    const item at(w, w.corner_rows(), w.corner_columns());
    if (!at.exists) return;
    touch(w, plane(w, at.which), at.y, at.x, (at.which * w.corner_rows() + at.y) * w.corner_columns() + at.x);
}

template <class Number>
__global__ void __launch_bounds__(threads_of_block) write_cells(const __grid_constant__ work w) {
    const item at(w, w.out_rows(), w.out_columns());
    if (at.exists) write<Number>(w, plane(w, at.which), at.which, w.start_of(at.which, w.out_step), at.y, at.x);
}

void run(const device& on, void (*kernel)(work), const work& w, std::int64_t items) {
    const cuda::device_guard current(on);
    cuda::launch(on, kernel, cuda::blocks_for(items, threads_of_block), dim3(threads_of_block), 0, w);
}

}  // namespace

void trace_outline(const device& on, const work& w) { run(on, trace_cells, w, w.images * w.rows * w.columns); }
void find_corners(const device& on, const work& w) {
    run(on, find_corners_of_cells, w,
        cuda::blocks_for(w.images * w.rows * w.columns, cells_of_block) * threads_of_block);
}
void touch_corners(const device& on, const work& w) {
    run(on, touch_cells, w, w.images * w.corner_rows() * w.corner_columns());
}
void write_pixels(const device& on, const work& w) {
    run(on, w.wide ? write_cells<std::int64_t> : write_cells<std::int32_t>, w,
        w.images * w.out_rows() * w.out_columns());
}

}  // namespace nearfield::signed_field
