// On a device: a thread owns a cell, and neighbouring lanes own neighbours along the last axis.
#include "base/cuda.cuh"
#include "fill/core.hpp"

namespace nearfield::fill {
namespace {

constexpr int threads_of_block = 256;

__device__ std::int64_t own_item() { return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; }

/// A thread owns an element.
template <class Bits>
__global__ void __launch_bounds__(threads_of_block) gather_elements(const __grid_constant__ gathering g) {
    const std::int64_t i = own_item();
    if (i >= g.cells * g.channels) return;
    const std::int64_t cell = cuda::quotient(i, g.channels), source = g.source_of(cell) * g.channels + i % g.channels;
    static_cast<Bits*>(g.out.data)[g.out.at(i)] =
        g.image.data == nullptr ? Bits{0} : static_cast<const Bits*>(g.image.data)[g.image.at(source)];
}

__global__ void __launch_bounds__(threads_of_block) mark_cells(const __grid_constant__ marking m) {
    const std::int64_t i = own_item();
    if (i >= m.cells) return;
    m.marks[i] = m.lower.label(i) == m.label ? 1 : 0;
    m.marks[m.cells + i] = m.upper.label(i) == m.label ? 1 : 0;
}

/// A thread owns a cell at all positions.
__global__ void __launch_bounds__(threads_of_block) make_offers(const __grid_constant__ offer o) {
    const std::int64_t i = own_item();
    if (i >= o.cells) return;
    for (int k = 0; k < o.positions; ++k) o.make(k, i);
}

__global__ void __launch_bounds__(threads_of_block)
    read_labels(const __grid_constant__ cells_at slice, std::int64_t cells, std::int64_t* to) {
    const std::int64_t i = own_item();
    if (i < cells) to[i] = slice.label(i);
}

template <class... Parameters, class... Arguments>
void start(const device& on, void (*kernel)(Parameters...), std::int64_t items, const Arguments&... arguments) {
    cuda::launch(on, kernel, cuda::blocks_for(items, threads_of_block), dim3(threads_of_block), 0, arguments...);
}

}  // namespace

void gather(const device& on, const gathering& g) {
    const cuda::device_guard current(on);
    const std::int64_t items = g.cells * g.channels;
    switch (size_of(g.out.type)) {
        case 1: return start(on, gather_elements<std::uint8_t>, items, g);
        case 2: return start(on, gather_elements<std::uint16_t>, items, g);
        case 4: return start(on, gather_elements<std::uint32_t>, items, g);
        default: return start(on, gather_elements<std::uint64_t>, items, g);
    }
}

void mark(const device& on, const marking& m) {
    const cuda::device_guard current(on);
    start(on, mark_cells, m.cells, m);
}

void run(const device& on, const offer& o) {
    const cuda::device_guard current(on);
    start(on, make_offers, o.cells, o);
}

void read(const device& on, const cells_at& slice, std::int64_t cells, std::int64_t* to) {
    const cuda::device_guard current(on);
    cuda::workspace memory(on);
    const auto packed = memory.reserve<std::int64_t>(cells);
    memory.allocate();
    start(on, read_labels, cells, slice, cells, memory.get<std::int64_t>(packed));
    cuda::fetch(on, to, memory.get<void>(packed), 8 * cells);
}

}  // namespace nearfield::fill
