// Distance fields for robots on a device. A thread owns a cell.
#include "base/cuda.cuh"
#include "geodesic/esdf_core.hpp"

namespace nearfield::geodesics {
namespace {

constexpr int threads_of_block = 256, cells_of_thread = 4;  ///< for a costmap

template <int Axes>
__global__ void __launch_bounds__(threads_of_block) write_cells(const __grid_constant__ field_writing w) {
    const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    if (i < w.cells) w.write<Axes>(i);
}

/// Calls use(row, column, number) for a thread's cells; neighbouring lanes own neighbouring cells.
template <class Use>
__device__ void for_own_cells(const inflating& w, const Use& use) {
    const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * threads_of_block * cells_of_thread + threadIdx.x;
    for (int k = 0; k < cells_of_thread; ++k) {
        const std::int64_t i = first + k * threads_of_block;
        if (i >= w.cells()) return;
        const std::int64_t y = quotient(i, w.columns);
        use(y, i - y * w.columns, i);
    }
}

__global__ void __launch_bounds__(threads_of_block) mark_cells(const __grid_constant__ inflating w) {
    for_own_cells(w, [&](std::int64_t y, std::int64_t x, std::int64_t) { w.mark(y, x); });
}

__global__ void __launch_bounds__(threads_of_block) put_costs(const __grid_constant__ inflating w) {
    __shared__ std::int32_t farthest[threads_of_block];
    if (threadIdx.x < costmap_unknown) farthest[threadIdx.x] = w.farthest[threadIdx.x];
    __syncthreads();
    for_own_cells(
        w, [&](std::int64_t y, std::int64_t x, std::int64_t i) { w.put(y, x, cost_at(farthest, w.squared[i])); });
}

void start(const device& on, void (*kernel)(inflating), const inflating& w) {
    const cuda::device_guard current(on);
    cuda::launch(on, kernel, cuda::blocks_for(w.cells(), threads_of_block * cells_of_thread), dim3(threads_of_block), 0,
                 w);
}

}  // namespace

void write_fields(const device& on, const field_writing& w) {
    const cuda::device_guard current(on);
    const auto kernel =
        w.axes() == field_writing::few_axes ? write_cells<field_writing::few_axes> : write_cells<max_rank>;
    cuda::launch(on, kernel, cuda::blocks_for(w.cells, threads_of_block), dim3(threads_of_block), 0, w);
}
void mark_lethal(const device& on, const inflating& w) { start(on, mark_cells, w); }
void write_costs(const device& on, const inflating& w) { start(on, put_costs, w); }

}  // namespace nearfield::geodesics
