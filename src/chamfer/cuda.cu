// Chamfer distances on a device, iterated as in the literature: every cell gathers from its neighbours, from one array
// into another, until nothing changes.
//
// Tian, Situ, Chen, Han, "3D distance transform on GPU", Application Research of Computers 25(9), 2008.
#include "base/cuda.cuh"
#include "chamfer/steps.hpp"
#include "methods/rounds.cuh"

namespace nearfield::methods {
namespace {

constexpr int threads = 256;

struct place {
    std::int32_t z, y, x;
};
__device__ inline place place_of(const grid& g, std::int64_t cell) {
    const auto nx = static_cast<std::uint32_t>(g.size[2]), ny = static_cast<std::uint32_t>(g.size[1]);
    const std::uint32_t row = static_cast<std::uint32_t>(cell) / nx;
    return {static_cast<std::int32_t>(row / ny), static_cast<std::int32_t>(row % ny),
            static_cast<std::int32_t>(static_cast<std::uint32_t>(cell) - row * nx)};
}
__device__ inline std::int64_t own_cell() { return static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x; }

template <class Key>
__global__ void __launch_bounds__(threads) start_at_sites(grid g, const Key* site, state* to) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const place at = place_of(g, cell);
    to[cell] = site[cell] < 0 ? unreached : state_of(0, number_of(g.size, at.z, at.y, at.x));
}

/// A thread owns a cell; neighbouring threads own neighbouring cells of a row, so that each of a warp's reads touches
/// one or two cache lines.
__global__ void __launch_bounds__(threads)
    take_cheapest(grid g, step_list steps, const state* from, state* to, int* changed) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const place at = place_of(g, cell);
    const state held = from[cell];
    state best = held;
    for (int k = 0; k < steps.count; ++k) {
        const step& by = steps.at[k];
        const std::int32_t z = at.z + by.z, y = at.y + by.y, x = at.x + by.x;
        if (z < 0 || z >= g.size[0] || y < 0 || y >= g.size[1] || x < 0 || x >= g.size[2]) continue;
        const state offer = from[(z * g.size[1] + y) * g.size[2] + x] + state_of(by.price, 0);
        best = offer < best ? offer : best;
    }
    to[cell] = best;
    if (best != held) *changed = 1;
}

template <class Key>
__global__ void __launch_bounds__(threads) finish_states(grid g, const state* from, Key* site, std::int32_t* price) {
    const std::int64_t cell = own_cell();
    if (cell >= g.cells()) return;
    const state held = from[cell];
    const bool reached = held < unreached;
    site[cell] = reached ? key_of<Key>(g.keys, g.size, static_cast<std::uint32_t>(held)) : none<Key>;
    price[cell] = reached ? static_cast<std::int32_t>(held >> 32) : -1;
}

}  // namespace

void solve(const device& on, const grid& g, const chamfer_method& how, buffers& site, std::int32_t* price,
           stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>&, Key) {
        cuda::workspace memory(on);
        const std::int64_t first = memory.reserve<state>(g.cells()), second = memory.reserve<state>(g.cells());
        memory.allocate();
        state *now = memory.get<state>(first), *next = memory.get<state>(second);
        const std::int64_t blocks = cuda::blocks_for(g.cells(), threads);
        const step_list steps = steps_of(how, g.rank);
        cuda::launch(on, start_at_sites<Key>, blocks, dim3(threads), 0, g, site.in<Key>(), now);
        const std::int64_t rounds = until_nothing_changes(on, [&](int* changed) {
            cuda::launch(on, take_cheapest, blocks, dim3(threads), 0, g, steps, now, next, changed);
            std::swap(now, next);
        });
        cuda::launch(on, finish_states<Key>, blocks, dim3(threads), 0, g, now, site.in<Key>(), price);
        report.done("rounds", rounds, 2 * rounds * g.cells() * static_cast<std::int64_t>(sizeof(state)));
    });
}

}  // namespace nearfield::methods
