// Chooses the tile of a round of jump flooding, and divides the grid among blocks and threads.
#pragma once

#include <algorithm>
#include <bit>
#include <limits>

#include "jump_flood/cuda_walk.cuh"
#include "jump_flood/tiles.hpp"

namespace nearfield::methods::tiles {

inline constexpr int threads = 128, log_threads = 7;

inline std::int32_t ceiling(std::int64_t a, std::int64_t b) { return static_cast<std::int32_t>((a + b - 1) / b); }

/// Long walks read fewer planes twice; short ones give small grids enough threads. H200, 2026-11-22, 1 % of sites, time
/// over a copy's for walks of 4, 8, 16, 32, 64: 512^2 12, 15, 20, 32; 1024^2 3.9, 3.8, 5.2, 8.2; 2048^2 2.4, 2.1, 2.0,
/// 2.1; 8192^2 -, 1.63, 1.50, 1.45, 1.45; 256^3 -, 4.4, 4.2, 4.2, 4.5; 512^3 -, 4.2, 3.8, 3.7, 3.7.
inline std::int32_t walk_of(std::int64_t cells, int cells_a_plane, std::int32_t planes) {
    constexpr std::int64_t enough = 1 << 16;
    std::int32_t walk = 32;
    while (walk > 4 && cells / (cells_a_plane * walk) < enough) walk /= 2;
    return std::min(walk, planes);
}

/// Blocks that a multiprocessor runs at once if cells hold two sites. H200, 2026-11-22, 8192^2 with 3 and 4: a round
/// takes 1.69 and 1.72 times the read and write of all sites.
template <class Tile>
constexpr int pair_blocks_at_once = Tile::volume ? 5 : 3;

/// Blocks of a kernel that resolves listed tiles: four for each multiprocessor, as many as run at once.
inline std::int64_t settling_blocks() { return 4 * cuda::limits().multiprocessors; }
/// Largest number of parts of all listed tiles. A thread resolves a part: one row of a tile along 4 cells of its walk,
/// or along more cells if parts would exceed this limit.
inline std::int64_t settling_parts() { return 2 * settling_blocks() * threads; }

/// Walk length for two sites a cell, when few blocks run at once: takes the fewest rows over all turns, so that the
/// last turn is not left to a few blocks. `at_once`: threads that run at once.
inline std::int32_t even_walk(std::int64_t threads_a_plane, std::int32_t planes, std::int64_t at_once) {
    constexpr std::int32_t longest = 48, shortest = 4;
    std::int64_t best = 0, fewest = 0;
    for (std::int32_t walks = ceiling(planes, longest);; ++walks) {
        const std::int64_t walk = ceiling(planes, walks), turns = (threads_a_plane * walks + at_once - 1) / at_once,
                           rows = turns * (walk + 2);
        if (best == 0 || rows < fewest) best = walk, fewest = rows;
        if (walk <= shortest) return static_cast<std::int32_t>(best);
    }
}

/// Squared distance from which the next round, in which distances about halve, may be unable to name a site by one
/// number.
inline std::int32_t far2_of(const grid& g, std::int64_t step, std::int64_t unit) {
    constexpr double most = std::numeric_limits<std::int32_t>::max(), units = 220;
    const double near = units * static_cast<double>(std::min(unit, std::max<std::int64_t>(step / 2, 1)));
    return static_cast<std::int32_t>(std::min(most, near * near * g.weight[2]));
}

template <class Tile>
plan plan_of(const grid& g, std::int64_t step, const travelled& before, bool two = false,
             std::int64_t blocks_at_once = pair_blocks_at_once<Tile>) {
    plan p{};
    p.step = static_cast<std::int32_t>(step);
    p.nx = static_cast<std::int32_t>(g.size[2]);
    p.along = static_cast<std::int32_t>(g.size[Tile::volume ? 0 : 1]);
    p.across = Tile::volume ? static_cast<std::int32_t>(g.size[1]) : 1;
    p.key_bytes = sizeof(Key);
    p.along_stride = Tile::volume ? g.size[1] * g.size[2] : g.size[2];
    p.along_shift = g.keys.shift[Tile::volume ? 0 : 1], p.across_shift = g.keys.shift[1], p.x_shift = g.keys.shift[2];
    p.along_classes = std::min(p.step, p.along), p.across_classes = std::min(p.step, p.across);
    // A row is counted in pieces: cells, or groups of four.
    const std::int32_t piece = Tile::lies == form::fours ? 4 : 1, pieces = p.nx / piece, in_tile = Tile::cells / piece,
                       side = Tile::lies == form::joined ? 1 : p.step / piece;
    p.log_side = std::countr_zero(static_cast<unsigned>(side));
    const std::int64_t all = std::int64_t{in_tile} * side;
    p.x_threads = static_cast<std::int32_t>(pieces / all * side + std::min<std::int64_t>(pieces % all, side));
    p.groups = ceiling(ceiling(p.across, step), Tile::rows);
    const std::int32_t planes = ceiling(p.along, step);
    p.walk = two ? even_walk(std::int64_t{p.x_threads} * p.across_classes * p.groups * p.along_classes, planes,
                             cuda::limits().multiprocessors * blocks_at_once * threads)
                 : walk_of(g.cells(), Tile::cells * Tile::rows, planes);
    p.walks = ceiling(planes, p.walk);
    // A block takes rows of one class first, because they read each other.
    const std::int64_t across = std::int64_t{p.across_classes} * p.groups;
    unsigned in_row = std::min<unsigned>(std::bit_ceil(static_cast<unsigned>(p.x_threads)), threads);
    // Multiprocessors take blocks in turn: if every other block had few threads, half of them would idle. H200,
    // 2026-11-22, 1280^2, steps of 64 and less: blocks of 32 instead of 128 threads take 3.6 instead of 4.1 times the
    // read and write of all sites.
    while (!Tile::volume && in_row > cuda::warp && 8 * ceiling(p.x_threads, in_row) * in_row > 9u * p.x_threads)
        in_row /= 2;
    p.block.y = std::bit_floor(static_cast<unsigned>(std::min<std::int64_t>(across, std::max(4u, threads / in_row))));
    p.block.x = std::min<unsigned>(threads / p.block.y, in_row);
    p.across_blocks = ceiling(across, p.block.y);
    p.x_blocks = ceiling(p.x_threads, p.block.x);
    std::int64_t away[Tile::cells];
    for (int cell = 0; cell < Tile::cells; ++cell) away[cell] = Tile::away(cell, step);
    const tile_shape shape{Tile::volume, Tile::cells, Tile::rows, away};
    p.in_one = packed_of(g, step, before.unit, before.heard, shape);
    p.in_two = separate_of(g, step, shape);
    p.in_two.far2 = far2_of(g, step, before.unit);
    return p;
}

/// Calls body(Tile{}) with the tile type for a round of an image.
template <class Body>
auto with_image_tile(const grid& g, std::int64_t step, const Body& body) {
    const std::int64_t nx = g.size[2];
    if (4 * step >= nx && step % 4 == 0 && nx % 4 == 0) return body(tile<false, 8, 1, 4, form::fours>{});
    if (2 * step >= nx) return body(tile<false, 2, 1, 1, form::spread>{});
    if (nx % 8 != 0 || step > 4) return body(tile<false, 8, 1, 1, form::spread>{});
    if (step == 4) return body(tile<false, 8, 1, 4, form::joined>{});
    if (step == 2) return body(tile<false, 8, 1, 2, form::joined>{});
    return body(tile<false, 8, 1, 1, form::joined>{});
}

/// Calls body(Tile{}) with the tile type for a round.
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
    return with_image_tile(g, step, body);
}

/// Calls body(Tile{}) with the tile type for cells with two sites. Volumes take small tiles: larger ones unpack fewer
/// words, but their loops overflow the instruction cache. H200, 2026-11-22, 512^3, mean round in times the read and
/// write of all sites: 2 by 2 takes 4.35, 4 by 2 4.91, 4 by 4 4.52 (128^3: 5.9 and 7.5).
template <class Body>
auto with_pair_tile(const grid& g, std::int64_t step, const Body& body) {
    if (g.size[0] > 1) return body(tile<true, 2, 2, 1, form::spread>{});
    return with_image_tile(g, step, body);
}

/// True if a round with one number a cell may leave tiles unresolved.
inline bool may_leave_some(const plan& p) { return p.in_one.usable && !p.in_one.all_near; }

}  // namespace nearfield::methods::tiles
