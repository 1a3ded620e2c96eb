// Steps of calls that search the grid with options of fewer kinds, then go over their cells: a bound for each cell
// (exact/bounds.hpp), and searches of some cells only (exact/where.hpp). A thread owns a cell.
#include "base/cuda.cuh"
#include "exact/bounds.hpp"
#include "exact/gpu/route/route.hpp"
#include "exact/where.hpp"

namespace nearfield::exact {
namespace {

constexpr int cell_threads = 256;

/// Calls body(line, x) for the cell of this thread.
template <class Cells, class Body>
__device__ void own_cell(const Cells& cells, const Body& body) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * cell_threads + threadIdx.x,
                       line = cuda::quotient(cell, cells.length());
    if (line < cells.lines) body(line, cell - line * cells.length());
}

template <class Cells>
__global__ void __launch_bounds__(cell_threads) run_cells(const __grid_constant__ Cells cells) {
    own_cell(cells, [&](std::int64_t line, std::int64_t x) { cells.run(line, x, x + 1); });
}

/// Collects in to[0] the bits that some code has, in to[1] those that some code lacks. A warp of equal labels mostly
/// finds them set already.
__global__ void __launch_bounds__(cell_threads)
    collect_bits(const __grid_constant__ where_cells cells, unsigned long long* to) {
    own_cell(cells, [&](std::int64_t line, std::int64_t x) {
        cells.for_codes(line, x, x + 1, [&](std::uint64_t code) {
            const volatile unsigned long long* seen = to;
            if ((code & ~seen[0]) != 0) atomicOr(to, static_cast<unsigned long long>(code));
            if ((~code & ~seen[1]) != 0) atomicOr(to + 1, static_cast<unsigned long long>(~code));
        });
    });
}

template <class Cells>
std::int64_t blocks_of(const Cells& cells) {
    return cuda::blocks_for(cells.lines * cells.length(), cell_threads);
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
    const bounded_cells cells = bounded_cells_of(image, bounds, out, searched.distance);
    cuda::launch(on, run_cells<bounded_cells>, blocks_of(cells), dim3(cell_threads), 0, cells);
}

void run_step(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::launch(on, run_cells<where_cells>, blocks_of(cells), dim3(cell_threads), 0, cells);
}

std::uint64_t differing_bits(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<unsigned long long>(2);
    memory.allocate();
    auto* const there = memory.get<unsigned long long>(at);
    unsigned long long found[2] = {};
    cuda::check(cudaMemsetAsync(there, 0, sizeof found, cuda::stream_of(on)), "clearing bits of labels");
    cuda::launch(on, collect_bits, blocks_of(cells), dim3(cell_threads), 0, cells, there);
    cuda::check(cudaMemcpyAsync(found, there, sizeof found, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                "fetching bits of labels");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for bits of labels");
    return found[0] & found[1];
}

}  // namespace nearfield::exact
