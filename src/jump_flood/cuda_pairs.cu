// A round of jump flooding in tiles with two sites a cell, in 32 bits.
#include <algorithm>

#include "jump_flood/cuda_pair_walk.cuh"
#include "jump_flood/cuda_plan.cuh"

namespace nearfield::methods {
namespace tiles {
namespace {

/// Finds the thread's words along its row. A cell without a neighbour reads its own word instead.
template <class Tile>
__device__ void look_along_the_row(const plan& p, place<Tile>& at) {
    at.look_along_the_row(p);
    at.before = at.after = true;
}

/// Each thread finds the sites of its tile, one number a site, and lists the tile if a cell stays unresolved.
template <class Tile>
__global__ void __launch_bounds__(threads, pair_blocks_at_once<Tile>)
    flood_pairs(const __grid_constant__ plan p, const __grid_constant__ factors by, both<const Key> from, both<Key> to,
                open_tiles left) {
    cuda::wait_for_kernel_before();
    place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!at.inside(p)) return;
    look_along_the_row(p, at);
    if (pair_walker<Tile, packed_pairs>(p, packed_pairs{p.in_one, by}, at, p.walk, from, to).run() || p.in_one.all_near)
        return;
    left.tile[atomicAdd(left.count, 1u)] =
        static_cast<std::int64_t>(blockIdx.x) << log_threads | (threadIdx.y * blockDim.x + threadIdx.x);
}

/// Resolves one row of a tile, with two numbers a site.
template <class Tile>
__device__ void settle_row(const plan& p, const both<const Key>& from, const both<Key>& to, place<Tile> at, int t,
                           std::int32_t walk) {
    using row = tile<Tile::volume, Tile::cells, 1, Tile::reach, Tile::lies>;
    at.across += t * p.step;
    if (!at.inside(p)) return;
    look_along_the_row(p, at);
    pair_walker<row, separate_pairs>(p, separate_pairs{p.in_two}, place<row>(at), walk, from, to).run();
}

/// Resolves all tiles, with two numbers a site.
template <class Tile>
__global__ void __launch_bounds__(threads)
    settle_all_pairs(const __grid_constant__ plan p, both<const Key> from, both<Key> to) {
    cuda::wait_for_kernel_before();
    const place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
#pragma unroll 1
    for (int t = 0; t < Tile::rows; ++t) settle_row(p, from, to, at, t, p.walk);
}

/// Resolves the listed tiles, each in several parts, with two numbers a site.
template <class Tile>
__global__ void __launch_bounds__(threads)
    settle_pairs(const __grid_constant__ plan p, both<const Key> from, both<Key> to, open_tiles left) {
    cuda::wait_for_kernel_before();
    const std::int64_t tiles = *left.count;
    std::int32_t stretch = 4;
    while (stretch < p.walk && tiles * Tile::rows * ((p.walk + stretch - 1) / stretch) > left.parts) stretch *= 2;
    const std::int64_t parts = (p.walk + stretch - 1) / stretch * Tile::rows, count = tiles * parts;
    for (std::int64_t k = blockIdx.x * threads + threadIdx.x; k < count; k += gridDim.x * threads) {
        const std::int64_t tile = left.tile[k / parts];
        const auto thread = static_cast<std::uint32_t>(tile & (threads - 1));
        const auto part = static_cast<std::int32_t>(k % parts);
        place<Tile> at = place_of_thread<Tile>(p, static_cast<std::uint32_t>(tile >> log_threads), thread % p.block.x,
                                               thread / p.block.x);
        at.along += part / Tile::rows * stretch * p.step;
        settle_row(p, from, to, at, part % Tile::rows, stretch);
    }
}

}  // namespace

}  // namespace tiles

using namespace tiles;

void tiled_rounds::run(std::int64_t step, const both<const Key>& from, const both<Key>& to) {
    const travelled now = travel(step);
    if (round_ < by_offsets_) {
        const open_stretches left{left_.count, stretches_.first};
        left_.count += run_pairs_by_offsets(on_, g_, step, round_++ == 0, from, to, left);
        return;
    }
    with_pair_tile(g_, step, [&]<class Tile>(Tile) {
        const plan p = plan_of<Tile>(g_, step, now, true);
        if (!p.in_one.usable)
            return cuda::launch_overlapped(on_, settle_all_pairs<Tile>, p.blocks(), p.block, 0, p, from, to);
        cuda::launch_overlapped(on_, flood_pairs<Tile>, p.blocks(), p.block, 0, p, factors{1, 0xffffffffu}, from, to,
                                left_);
        if (!may_leave_some(p)) return;
        left_.parts = settling_parts();
        cuda::launch_overlapped(on_, settle_pairs<Tile>, settling_blocks(), dim3(threads), 0, p, from, to, left_);
        ++left_.count;
    });
}

}  // namespace nearfield::methods
