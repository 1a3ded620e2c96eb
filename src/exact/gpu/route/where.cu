#include "exact/where.hpp"

#include "base/cuda.cuh"

namespace nearfield::exact {
namespace {

constexpr int where_threads = 256;

/// Calls body(line, x) for the cell of this thread.
template <class Body>
__device__ void own_cell(const where_cells& cells, const Body& body) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * where_threads + threadIdx.x,
                       line = cuda::quotient(cell, cells.length());
    if (line < cells.lines) body(line, cell - line * cells.length());
}

/// Runs a step. A thread owns a cell.
__global__ void __launch_bounds__(where_threads) run_where_step(const __grid_constant__ where_cells cells) {
    own_cell(cells, [&](std::int64_t line, std::int64_t x) { cells.run(line, x, x + 1); });
}

/// Collects in to[0] the bits that some code has, in to[1] those that some code lacks. A thread owns a cell; a warp of
/// equal labels mostly finds them set already.
__global__ void __launch_bounds__(where_threads)
    collect_bits(const __grid_constant__ where_cells cells, unsigned long long* to) {
    own_cell(cells, [&](std::int64_t line, std::int64_t x) {
        cells.for_codes(line, x, x + 1, [&](std::uint64_t code) {
            const volatile unsigned long long* seen = to;
            if ((code & ~seen[0]) != 0) atomicOr(to, static_cast<unsigned long long>(code));
            if ((~code & ~seen[1]) != 0) atomicOr(to + 1, static_cast<unsigned long long>(~code));
        });
    });
}

std::int64_t blocks_of(const where_cells& cells) {
    return cuda::blocks_for(cells.lines * cells.length(), where_threads);
}

}  // namespace

void run_step(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::launch(on, run_where_step, blocks_of(cells), dim3(where_threads), 0, cells);
}

std::uint64_t differing_bits(const device& on, const where_cells& cells) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const std::int64_t at = memory.reserve<unsigned long long>(2);
    memory.allocate();
    auto* const there = memory.get<unsigned long long>(at);
    unsigned long long found[2] = {};
    cuda::check(cudaMemsetAsync(there, 0, sizeof found, cuda::stream_of(on)), "clearing bits of labels");
    cuda::launch(on, collect_bits, blocks_of(cells), dim3(where_threads), 0, cells, there);
    cuda::check(cudaMemcpyAsync(found, there, sizeof found, cudaMemcpyDeviceToHost, cuda::stream_of(on)),
                "fetching bits of labels");
    cuda::check(cudaStreamSynchronize(cuda::stream_of(on)), "waiting for bits of labels");
    return found[0] & found[1];
}

}  // namespace nearfield::exact
