#include "exact/bounds.hpp"

#include "base/cuda.cuh"
#include "exact/gpu/route/route.hpp"

namespace nearfield::exact {
namespace {

constexpr int bound_threads = 256;

/// Applies the bounds. A thread owns a cell.
__global__ void __launch_bounds__(bound_threads) apply_bounds(const __grid_constant__ bounded_cells cells) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * bound_threads + threadIdx.x,
                       line = cuda::quotient(cell, cells.length()), x = cell - line * cells.length();
    if (line < cells.lines) cells.finish(line, x, x + 1);
}

}  // namespace

void run_bounded(const device& on, const any_input<device>& image, const any_input<device>& bounds,
                 const fields<device>& out, const distance_options& options) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    fields<device> searched = out;
    searched.distance = found_distances(image, out);
    if (searched.distance.data == nullptr) {
        const std::int64_t at = memory.reserve<double>(image.cells());
        memory.allocate();
        searched.distance.data = memory.get<double>(at);
    }
    run(on, make_plan(image, searched, {options}), {image, searched});
    cuda::launch(on, apply_bounds, cuda::blocks_for(image.cells(), bound_threads), dim3(bound_threads), 0,
                 bounded_cells_of(image, bounds, out, searched.distance));
}

}  // namespace nearfield::exact
