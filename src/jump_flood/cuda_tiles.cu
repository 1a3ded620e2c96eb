// A round of jump flooding in tiles: a thread finds the sites of several cells that lie a step apart along each axis,
// so that it reads and unpacks a word once for all of them. Serves one site a cell in 32 bits.
#include "jump_flood/cuda_plan.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods {
namespace tiles {
namespace {

/// Blocks that a multiprocessor runs at once, as registers allow. H200, 2026-11-22, round in times the read and write
/// of all sites: 8192^2 with 4, 5, 6 blocks 1.37, 1.33, 1.28; 512^3 with 3, 4, 5 blocks 2.75, 2.53, 2.58.
template <class Tile>
constexpr int blocks_at_once = Tile::volume ? 4 : 6;
/// Resolves one row of a tile, with two numbers a cell. False if a cell is left without a site, or with one that is too
/// far for one number in the next round.
template <class Tile>
__device__ bool settle_row(const plan& p, const Key* from, Key* to, place<Tile> at, int t, std::int32_t walk) {
    using row = tile<Tile::volume, Tile::cells, 1, Tile::reach, Tile::lies>;
    at.across += t * p.step;
    if (!at.inside(p)) return true;
    at.look_along_the_row(p);
    return walker<row, separate>(p, p.in_two, place<row>(at), walk, from, to).run();
}

/// Resolves all rows of a tile, two at once. H200, 2026-11-22, randomised rounds of 512^3 and 256^3: 4.6 and 5.2 times
/// the read and write of all sites, one row at once 5.2 and 5.9.
template <class Tile>
__device__ bool settle_tile(const plan& p, const Key* from, Key* to, place<Tile> at) {
    constexpr int rows = Tile::rows < 2 ? Tile::rows : 2;
    using part = tile<Tile::volume, Tile::cells, rows, Tile::reach, Tile::lies>;
    bool near = true;
#pragma unroll 1
    for (int t = 0; t < Tile::rows && at.inside(p); t += rows) {
        place<Tile> here = at;
        here.look_along_the_row(p);
        near &= walker<part, separate>(p, p.in_two, place<part>(here), p.walk, from, to).run();
        at.across += rows * p.step;
    }
    return near;
}

/// Counts an unresolved tile for the next round, which only asks whether they are many.
__device__ void count_open(const open_tiles& left) {
    if (*static_cast<volatile std::uint32_t*>(left.count) <= left.many) atomicAdd(left.count, 1u);
}

/// True if the round before left so many tiles open that this one would too: then all take two numbers a cell at once.
__device__ bool many(const open_tiles& left) { return left.before != nullptr && *left.before > left.few; }

/// Each thread finds the sites of its tile, one number a cell, and lists the tile if a cell stays unresolved.
/// Neighbouring threads own neighbouring cells of a row up to a step, then the next tile, so that a warp's access
/// touches four cache lines.
template <class Tile>
__global__ void __launch_bounds__(threads, blocks_at_once<Tile>)
    flood(const __grid_constant__ plan p, const Key* from, Key* to, open_tiles left) {
    cuda::wait_for_kernel_before();
    if (!Tile::volume && many(left)) return;
    place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!at.inside(p)) return;
    at.look_along_the_row(p);
    if (walker<Tile, packed>(p, p.in_one, at, p.walk, from, to).run() || left.count == nullptr) return;
    if (p.in_one.all_near) return count_open(left);
    left.tile[atomicAdd(left.count, 1u)] =
        static_cast<std::int64_t>(blockIdx.x) << log_threads | (threadIdx.y * blockDim.x + threadIdx.x);
}

/// Resolves all tiles, with two numbers a cell.
template <class Tile>
__global__ void __launch_bounds__(threads)
    settle_all(const __grid_constant__ plan p, const Key* from, Key* to, open_tiles left) {
    cuda::wait_for_kernel_before();
    const place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!settle_tile(p, from, to, at) && left.count != nullptr) count_open(left);
}

/// Tile of a small volume if rounds take distance and site as two numbers: it makes twice the threads.
using small_volumes_tile = tile<true, 4, 2, 1, form::spread>;

/// Limit up to which open tiles are few. Resolving one is slow if its cells are not adjacent. H200, 2026-11-23, 4096^2,
/// 0.01 % of sites, steps 32, 16, 8, 4, 2, 1 in times the read and write of all sites: resolving open tiles takes 4.8,
/// 4.0, 2.8, 2.1, 1.9, 1.8; two numbers for all tiles take 2.5, 2.5, 2.5, 2.6, 2.3, 2.2.
std::uint32_t few_of(const plan& p, bool neighbours) {
    return static_cast<std::uint32_t>(p.tiles() / (neighbours ? 4 : 16));
}

/// Resolves the listed tiles in parts. Threads with neighbouring parts work side by side, so that none waits for a
/// thread that is done. Parts are short, because a few threads would take long.
template <class Tile>
__global__ void __launch_bounds__(threads, Tile::volume || Tile::lies == form::joined ? 4 : 5)
    settle(const __grid_constant__ plan p, const Key* from, Key* to, open_tiles left) {
    cuda::wait_for_kernel_before();
    if constexpr (!Tile::volume)
        if (many(left)) {
            const place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
            if (blockIdx.x < p.blocks() && !settle_tile(p, from, to, at)) count_open(left);
            return;
        }
    const std::int64_t tiles = *left.count;
    std::int32_t stretch = 4;
    while (stretch < p.walk && tiles * Tile::rows * ((p.walk + stretch - 1) / stretch) > left.parts) stretch *= 2;
    const std::int64_t parts = (p.walk + stretch - 1) / stretch * Tile::rows, count = tiles * parts;
    const std::uint32_t threads_of_block = blockDim.x * blockDim.y;
    for (std::int64_t k = blockIdx.x * threads_of_block + threadIdx.y * blockDim.x + threadIdx.x; k < count;
         k += gridDim.x * threads_of_block) {
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

std::int64_t tiled_rounds::run(std::int64_t step, const std::int32_t* from, std::int32_t* to) {
    const travelled now = travel(step);
    if (round_ < by_classes_) {
        run_by_classes(on_, g_, step, from, to, {left_.count, static_cast<std::int32_t>(counts_), nothing_});
        round_ = by_classes_;
        for (std::int64_t k = 1; k < by_classes_; ++k) travel(step >> k);
        return by_classes_;
    }
    if (round_ < by_offsets_) {
        const open_stretches left{left_.count, stretches_.first};
        left_.count += run_by_offsets(on_, g_, step, round_ == 0, after_classes(round_), from, to, nothing_, left);
        ++round_;
        return 1;
    }
    const auto flood_all = [&]<class Tile>(Tile) {
        const plan p = plan_of<Tile>(g_, step, now);
        open_tiles left = left_;
        left.parts = settling_parts();
        left.few = few_of(p, Tile::lies == form::joined), left.many = few_of(p, step <= 8);
        if (Tile::volume || p.in_one.all_near) left.before = nullptr;
        // No later round reads the count.
        if (Tile::volume ? !may_leave_some(p) : p.in_one.all_near_next) left.count = nullptr;
        if (left_.count != nullptr) left_.before = left_.count++;
        if (!p.in_one.usable)
            return cuda::launch_overlapped(on_, settle_all<Tile>, p.blocks(), p.block, 0, p, from, to, left);
        cuda::launch_overlapped(on_, flood<Tile>, p.blocks(), p.block, 0, p, from, to, left);
        if (!may_leave_some(p)) return;
        if constexpr (Tile::volume) {
            cuda::launch_overlapped(on_, settle<Tile>, settling_blocks(), dim3(threads), 0, p, from, to, left);
        } else {
            const std::int64_t blocks = settling_blocks() * threads / (p.block.x * p.block.y);
            cuda::launch_overlapped(on_, settle<Tile>, std::max(p.blocks(), blocks), p.block, 0, p, from, to, left);
        }
    };
    if (g_.size[0] > 1 && g_.cells() <= small_volume && now.unit < step && step > 2) flood_all(small_volumes_tile{});
    else with_tile(g_, step, flood_all);
    return 1;
}

}  // namespace nearfield::methods
