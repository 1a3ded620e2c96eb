// Brushfire on a device, naively: one thread a cell, all cells at once from one array into another, until nothing
// changes.
#include "base/cuda.cuh"
#include "brushfire/core.hpp"
#include "methods/rounds.cuh"

namespace nearfield::methods {
namespace {

constexpr int threads = 256;

/// Each thread asks the cells round its own for their sites. Neighbouring threads own neighbouring cells of a row, so
/// that every one of the 27 reads of a warp is a line.
template <class V, class Key>
__global__ void __launch_bounds__(threads) ask_neighbours(grid g, metric<V> m, const Key* from, Key* to, int* changed) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * threads + threadIdx.x;
    if (cell >= g.cells()) return;
    const auto nx = static_cast<std::uint32_t>(g.size[2]), ny = static_cast<std::uint32_t>(g.size[1]);
    const std::uint32_t row = static_cast<std::uint32_t>(cell) / nx;
    const auto z = static_cast<std::int32_t>(row / ny), y = static_cast<std::int32_t>(row % ny);
    const auto x = static_cast<std::int32_t>(static_cast<std::uint32_t>(cell) - row * nx);
    const Key held = from[cell];
    Key best = held;
    V d = best < 0 ? no_site<V>() : m.between(best, z, y, x);
    each_neighbour(g.size, z, y, x, [&](std::int32_t oz, std::int32_t oy, std::int32_t ox) {
        const Key offered = from[(oz * g.size[1] + oy) * g.size[2] + ox];
        if (offered < 0 || offered == best) return;
        const V other = m.between(offered, z, y, x);
        if (nearer(other, offered, d, best)) d = other, best = offered;
    });
    to[cell] = best;
    if (best != held) *changed = 1;
}

}  // namespace

void solve(const device& on, const grid& g, const brushfire&, buffers& site, stages& report) {
    with_types(g, [&]<class V, class Key>(const metric<V>& m, Key) {
        const std::int64_t rounds = until_nothing_changes(on, [&](int* changed) {
            cuda::launch(on, ask_neighbours<V, Key>, cuda::blocks_for(g.cells(), threads), dim3(threads), 0, g, m,
                         site.in<Key>(), site.out<Key>(), changed);
            site.exchange();
        });
        report.done("rounds", rounds, 2 * rounds * g.cells() * g.key_bytes());
    });
}

}  // namespace nearfield::methods
