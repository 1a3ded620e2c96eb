// The rounds on a device: one launch runs all of them. Its blocks sync after each round, so that no launch and no wait
// of the host comes between rounds.
#pragma once

#include <cooperative_groups.h>

#include "link_propagation/cuda_links.cuh"

namespace nearfield::link_propagation {

constexpr int round_threads = 256;
constexpr int tile_columns = 64, rows_at_once = round_threads / tile_columns;
template <int Packs>
constexpr int blocks_a_processor = Packs <= 2 ? 5 : 4;

/// Cells that a thread takes together, so that their loads overlap. On an H200 a round of 4096 x 4096 cells,
/// 4-connected, takes 97 us with four cells and took 271 us with one. Of twelve shapes of tiles and blocks none took
/// less than 92 us (2026-11-22).
template <int Packs>
constexpr int cells_a_thread = Packs <= 2 ? 4 : 2;

/// Results for the host, and flags that blocks exchange.
struct verdict {
    std::int64_t rounds = 0, components = 0;
    int unfinished = 0, disagree = 0;
    int changed[3]{};  ///< flags of the rounds with this number modulo 3
};

template <class Link>
struct rounds_of {
    address *label = nullptr, *next = nullptr;  ///< equal if labels change in place
    const word_of<Link>* links = nullptr;
    address offset[std::size(directions{}.offset)]{};
    std::int64_t cells = 0;
    // Tiles divide the cells as rows of `width`; links stop at the ends of the image's own rows.
    address width = 1, rows = 1, tiles_a_row = 1, tiles = 1;
    int rows_a_thread = 1;
    gathers from;
    std::int64_t most_rounds = 0;
    verdict* says = nullptr;
};

/// Updates a few rows of one column, which a thread owns, by the labels that their cells gather. True if a label
/// changed. Loads that depend on no other load come first: neighbours, linked or not, and the master of a cell's
/// present label. Over 40 lines because its steps share what a thread has in registers.
template <int Packs, class Link, bool InPlace>
__device__ bool take(const rounds_of<Link>& r, address* label, address* next, address tile) {
    constexpr int many = cells_a_thread<Packs>;
    const address above = tile / r.tiles_a_row, column = (tile - above * r.tiles_a_row) * tile_columns +
                                                         static_cast<address>(threadIdx.x) % tile_columns;
    const address row = above * rows_at_once * r.rows_a_thread + static_cast<address>(threadIdx.x) / tile_columns;
    const auto last = static_cast<std::uint32_t>(r.cells - 1);
    address cell[many], own[many], best[many], master[many];
    word_of<Link> links[many][Packs];
    bool there[many];
#pragma unroll
    for (int i = 0; i < many; ++i) {
        there[i] = i < r.rows_a_thread && column < r.width && row + i * rows_at_once < r.rows;
        cell[i] = there[i] ? (row + i * rows_at_once) * r.width + column : 0;
        own[i] = best[i] = there[i] ? label[cell[i]] : background;
#pragma unroll
        for (int p = 0; p < Packs; ++p) links[i][p] = there[i] ? r.links[p * r.cells + cell[i]] : 0;
    }
#pragma unroll
    for (int way = 0; way < Packs * pack; ++way)
#pragma unroll
        for (int i = 0; i < many; ++i) {
            const address near = label[min(static_cast<std::uint32_t>(cell[i] + r.offset[way]), last)];
            if (link_in<Link>(links[i][way / pack], way % pack) > r.from.near_above) best[i] = min(best[i], near);
        }
#pragma unroll
    for (int i = 0; i < many; ++i) master[i] = r.from.masters ? label[max(own[i], 0)] : own[i];
#pragma unroll
    for (int way = 0; way < Packs * pack; ++way)
#pragma unroll
        for (int i = 0; i < many; ++i) {
            const int link = link_in<Link>(links[i][way / pack], way % pack);
            if (link > r.from.far_above) best[i] = min(best[i], label[cell[i] + r.offset[way] * link]);
        }
#pragma unroll
    for (int i = 0; i < many; ++i)
        if (r.from.masters && best[i] != own[i])
            master[i] = label[max(best[i], 0)];  // < 0 only if the image changed meanwhile
    bool changed = false;
#pragma unroll
    for (int i = 0; i < many; ++i) {
        best[i] = min(best[i], master[i]);
        const bool better = best[i] != own[i];
        changed = changed || better;
        if constexpr (InPlace) {
            if (better) atomicMin(&next[cell[i]], best[i]);
            if (better && own[i] != cell[i]) atomicMin(&next[own[i]], best[i]);
        } else if (there[i]) {
            next[cell[i]] = best[i];
        }
    }
    return changed;
}

/// Blocks take tiles in turn, round after round, until nothing changes or the limit is reached. In place, threads read
/// labels while others lower them: any value read is a label of the same component, and a round without a change has
/// read what all threads wrote before it.
template <int Packs, class Link, bool InPlace>
__global__ void __launch_bounds__(round_threads, blocks_a_processor<Packs>) propagate(const rounds_of<Link> r) {
    const cooperative_groups::grid_group all = cooperative_groups::this_grid();
    address *label = r.label, *next = r.next;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    for (std::int64_t round = 1;; ++round) {
        bool changed = false;
        for (auto tile = static_cast<address>(blockIdx.x); tile < r.tiles; tile += static_cast<address>(gridDim.x))
            changed |= take<Packs, Link, InPlace>(r, label, next, tile);
        volatile int* const flag = r.says->changed;
        if (__syncthreads_or(changed) != 0 && threadIdx.x == 0) flag[round % 3] = 1;
        // This flag was last read two rounds ago, and is next set in the following round.
        if (first) flag[(round + 1) % 3] = 0;
        all.sync();
        const bool more = flag[round % 3] != 0;
        if (first && (!more || round == r.most_rounds)) r.says->rounds = round, r.says->unfinished = more;
        if (!more || round == r.most_rounds) return;
        address* const old = label;
        label = next, next = old;
    }
}

/// Sets `disagree` if two linked neighbours have different labels.
template <class Link>
__global__ void __launch_bounds__(link_threads) compare_neighbours(const rounds_of<Link> r, int count) {
    const std::int64_t cell = static_cast<std::int64_t>(blockIdx.x) * link_threads + threadIdx.x;
    if (cell >= r.cells) return;
    for (int way = 0; way < count; ++way)
        if (link_in<Link>(r.links[way / pack * r.cells + cell], way % pack) > 0 &&
            r.label[cell + r.offset[way]] != r.label[cell])
            r.says->disagree = 1;
}

}  // namespace nearfield::link_propagation
