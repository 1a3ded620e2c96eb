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

__global__ void __launch_bounds__(threads_of_block) find_corners_of_cells(const __grid_constant__ work w) {
    const item at(w, w.rows, w.columns);
    if (at.exists) find_corner(w, plane(w, at.which), at.which * w.rows * w.columns, at.y, at.x);
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
void find_corners(const device& on, const work& w) { run(on, find_corners_of_cells, w, w.images * w.rows * w.columns); }
void touch_corners(const device& on, const work& w) {
    run(on, touch_cells, w, w.images * w.corner_rows() * w.corner_columns());
}
void write_pixels(const device& on, const work& w) {
    run(on, w.wide ? write_cells<std::int64_t> : write_cells<std::int32_t>, w,
        w.images * w.out_rows() * w.out_columns());
}

}  // namespace nearfield::signed_field
