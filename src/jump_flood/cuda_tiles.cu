// A round of jump flooding by tiles: a thread finds the sites of several cells that lie a step apart along each axis, so that
// a word is read, unpacked and turned into terms once for all of them. For one site a cell in 32 bits.
#include <algorithm>

#include "jump_flood/cuda_walk.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods {
namespace tiles {
namespace {

constexpr int threads = 128, log_threads = 7;
/// Blocks that a multiprocessor is to run at once: what the numbers of a tile's cells leave room for. H200, 2026-11-22, 8192^2 by
/// 4, 5 and 6: 1.37, 1.33 and 1.28 floors a round; 512^3 by 3, 4 and 5: 2.75, 2.53 and 2.58.
template <class Tile>
constexpr int blocks_at_once = Tile::volume ? 4 : 6;
/// Of the kernel that settles what others left: as many as an H200 runs at once, four on each of its multiprocessors. A tile is
/// settled by several threads, each with a row of it and a stretch of its walk, of 4 cells or as long as so many parts are left.
constexpr std::int64_t settling_blocks = 528, settling_parts = 2 * settling_blocks * threads;

/// Each thread finds the sites of its tile by one number a cell, and notes the tile where that leaves a cell undecided.
/// Neighbouring threads own neighbouring cells of a row up to a step, then the next tile, so that what a warp reads or writes at
/// once lies in four lines of the cache.
template <class Tile>
__global__ void __launch_bounds__(threads, blocks_at_once<Tile>)
    flood(const __grid_constant__ plan p, const Key* from, Key* to, open_tiles left) {
    place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
    if (!at.inside(p)) return;
    at.look_along_the_row(p);
    if (walker<Tile, packed>(p, p.in_one, at, p.walk, from, to).run()) return;
    left.tile[atomicAdd(left.count, 1u)] =
        static_cast<std::int64_t>(blockIdx.x) << log_threads | (threadIdx.y * blockDim.x + threadIdx.x);
}

/// One row of a tile by two numbers a cell: all rows at once would take twice the registers.
template <class Tile>
__device__ void settle_row(const plan& p, const Key* from, Key* to, place<Tile> at, int t, std::int32_t walk) {
    using row = tile<Tile::volume, Tile::cells, 1, Tile::reach, Tile::lies>;
    at.across += t * p.step;
    if (!at.inside(p)) return;
    at.look_along_the_row(p);
    walker<row, separate>(p, p.in_two, place<row>(at), walk, from, to).run();
}

/// All tiles.
template <class Tile>
__global__ void __launch_bounds__(threads) settle_all(const __grid_constant__ plan p, const Key* from, Key* to) {
    const place<Tile> at = place_of_thread<Tile>(p, blockIdx.x, threadIdx.x, threadIdx.y);
#pragma unroll 1
    for (int t = 0; t < Tile::rows; ++t) settle_row(p, from, to, at, t, p.walk);
}

/// The tiles that were left open. Their parts lie beside each other here, so that they do not keep threads waiting that are done,
/// and are short, because a few threads would be long at it.
template <class Tile>
__global__ void __launch_bounds__(threads)
    settle(const __grid_constant__ plan p, const Key* from, Key* to, open_tiles left) {
    const std::int64_t tiles = *left.count;
    std::int32_t stretch = 4;
    while (stretch < p.walk && tiles * Tile::rows * ((p.walk + stretch - 1) / stretch) > settling_parts) stretch *= 2;
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

std::int32_t ceiling(std::int64_t a, std::int64_t b) { return static_cast<std::int32_t>((a + b - 1) / b); }

/// Long walks read fewer planes twice; short ones give a small grid threads enough. H200, 2026-11-22, a round of 1 % of sites by
/// walks of 4, 8, 16, 32 and 64, in floors: 512^2 12, 15, 20, 32; 1024^2 3.9, 3.8, 5.2, 8.2; 2048^2 2.4, 2.1, 2.0, 2.1;
/// 8192^2 -, 1.63, 1.50, 1.45, 1.45; 256^3 -, 4.4, 4.2, 4.2, 4.5; 512^3 -, 4.2, 3.8, 3.7, 3.7.
std::int32_t walk_of(std::int64_t cells, int cells_a_plane, std::int32_t planes) {
    constexpr std::int64_t enough = 1 << 16;
    std::int32_t walk = 32;
    while (walk > 4 && cells / (cells_a_plane * walk) < enough) walk /= 2;
    return std::min(walk, planes);
}

template <class Tile>
plan plan_of(const grid& g, std::int64_t step, std::int64_t unit) {
    plan p{};
    p.step = static_cast<std::int32_t>(step);
    p.nx = static_cast<std::int32_t>(g.size[2]);
    p.along = static_cast<std::int32_t>(g.size[Tile::volume ? 0 : 1]);
    p.across = Tile::volume ? static_cast<std::int32_t>(g.size[1]) : 1;
    p.key_bytes = sizeof(Key);
    p.along_stride = Tile::volume ? g.size[1] * g.size[2] : g.size[2];
    p.along_shift = g.keys.shift[Tile::volume ? 0 : 1], p.across_shift = g.keys.shift[1], p.x_shift = g.keys.shift[2];
    p.along_classes = std::min(p.step, p.along), p.across_classes = std::min(p.step, p.across);
    p.walk = walk_of(g.cells(), Tile::cells * Tile::rows, ceiling(p.along, step));
    p.walks = ceiling(ceiling(p.along, step), p.walk);
    // Of pieces: cells, or fours of them.
    const std::int32_t piece = Tile::lies == form::fours ? 4 : 1, pieces = p.nx / piece, in_tile = Tile::cells / piece,
                       side = Tile::lies == form::joined ? 1 : p.step / piece;
    p.log_side = std::countr_zero(static_cast<unsigned>(side));
    const std::int64_t all = std::int64_t{in_tile} * side;
    p.x_threads = static_cast<std::int32_t>(pieces / all * side + std::min<std::int64_t>(pieces % all, side));
    p.groups = ceiling(ceiling(p.across, step), Tile::rows);
    // Rows of a class first: they read each other's.
    const std::int64_t across = std::int64_t{p.across_classes} * p.groups;
    const unsigned in_row = std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(p.x_threads)), threads);
    p.block.y = std::bit_floor(static_cast<unsigned>(std::min<std::int64_t>(across, std::max(4u, threads / in_row))));
    p.block.x = std::min<unsigned>(threads / p.block.y, in_row);
    p.across_blocks = ceiling(across, p.block.y);
    p.x_blocks = ceiling(p.x_threads, p.block.x);
    std::int64_t away[Tile::cells];
    for (int cell = 0; cell < Tile::cells; ++cell) away[cell] = Tile::away(cell, step);
    const tile_shape shape{Tile::volume, Tile::cells, Tile::rows, away};
    p.in_one = packed_of(g, step, unit, shape);
    p.in_two = separate_of(g, step, shape);
    return p;
}

/// Calls body(Tile{}) with the tile that a round goes by.
template <class Body>
auto with_tile(const grid& g, std::int64_t step, const Body& body) {
    const std::int64_t nx = g.size[2];
    if (g.size[0] > 1) {
        if (2 * step >= nx && step % 4 == 0 && nx % 4 == 0) return body(tile<true, 8, 2, 4, form::fours>{});
        if (2 * step >= g.size[1]) return body(tile<true, 4, 2, 1, form::spread>{});
        if (nx % 4 != 0 || step > 2) return body(tile<true, 4, 4, 1, form::spread>{});
        if (step == 2) return body(tile<true, 4, 4, 2, form::joined>{});
        return body(tile<true, 4, 4, 1, form::joined>{});
    }
    if (4 * step >= nx && step % 4 == 0 && nx % 4 == 0) return body(tile<false, 8, 1, 4, form::fours>{});
    if (2 * step >= nx) return body(tile<false, 2, 1, 1, form::spread>{});
    if (nx % 8 != 0 || step > 4) return body(tile<false, 8, 1, 1, form::spread>{});
    if (step == 4) return body(tile<false, 8, 1, 4, form::joined>{});
    if (step == 2) return body(tile<false, 8, 1, 2, form::joined>{});
    return body(tile<false, 8, 1, 1, form::joined>{});
}

/// Whether a round by one number a cell may leave tiles open.
bool may_leave_some(const plan& p) { return p.in_one.usable && !p.in_one.all_near; }

}  // namespace
}  // namespace tiles

using namespace tiles;

tiled_rounds::tiled_rounds(const device& on, const grid& g, const std::vector<std::int64_t>& steps)
    : on_(on), g_(g), memory_(on) {
    std::int64_t most = 0, unit = std::numeric_limits<std::int64_t>::max();
    for (const std::int64_t step : steps) {
        unit = std::min(unit, step);
        with_tile(g, step, [&]<class Tile>(Tile) {
            const plan p = plan_of<Tile>(g, step, unit);
            if (may_leave_some(p)) most = std::max(most, p.tiles());
        });
    }
    if (most == 0) return;
    const std::int64_t tiles = memory_.reserve<std::int64_t>(most),
                       counts = memory_.reserve<std::uint32_t>(std::ssize(steps));
    memory_.allocate();
    left_ = {memory_.get<std::uint32_t>(counts), memory_.get<std::int64_t>(tiles)};
    cuda::check(cudaMemsetAsync(left_.count, 0, steps.size() * sizeof(std::uint32_t), cuda::stream_of(on)),
                "clearing counts of tiles");
}

void tiled_rounds::run(std::int64_t step, const std::int32_t* from, std::int32_t* to) {
    unit_ = std::min(unit_, step);
    with_tile(g_, step, [&]<class Tile>(Tile) {
        const plan p = plan_of<Tile>(g_, step, unit_);
        if (!p.in_one.usable) return cuda::launch(on_, settle_all<Tile>, p.blocks(), p.block, 0, p, from, to);
        cuda::launch(on_, flood<Tile>, p.blocks(), p.block, 0, p, from, to, left_);
        if (!may_leave_some(p)) return;
        cuda::launch(on_, settle<Tile>, settling_blocks, dim3(threads), 0, p, from, to, left_);
        ++left_.count;
    });
}

}  // namespace nearfield::methods
