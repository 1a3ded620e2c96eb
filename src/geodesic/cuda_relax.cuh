// The queue of tiles. A tile whose border improves is queued; a block takes it and relaxes all steps inside it.
//
// Two blocks may have the same tile at once, yet no improvement is lost. A block first marks the tile as not queued and
// then reads it. Another block first writes its improvement and then checks the mark. A block leaves its tile when no
// step inside would improve a cell over what it read, and writes all results. So the block that lowered a cell last has
// offered all steps from there, in this tile and to others.
#pragma once

#include <cooperative_groups.h>

#include "geodesic/cuda_tiles.cuh"

namespace nearfield::geodesics {

template <pricing Pricing, class Word, int Axes>
__device__ bool is_seed(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, int local) {
    if constexpr (Pricing == pricing::tight) return m.total[padded(local)] == 1;
    const Word key = m.key[padded(local)];
    return key != 0 && (key - 1) >> w.seed_bits == 0;
}

/// Reads a tile, relaxes it, writes improved keys, and queues the tiles that it improves.
template <pricing Pricing, class Word, int Axes>
__device__ void visit(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, std::int64_t tile,
                      std::uint32_t depth) {
    const int cells = w.where.cells_of_tile(), threads = static_cast<int>(blockDim.x);
    const std::int64_t first = tile << w.where.tile_bits;
    bool closed = false;
    m.clear();
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < cells; i += threads) {
        const Word own = fresh(w.key + first + i);
        m.key[padded(i)] = own, closed = closed || own == 0;
        const cell_value v = value_at<Pricing>(w, first + i);
        if constexpr (Pricing != pricing::plain) m.cost[padded(i)] = v.cost;
        if constexpr (Pricing == pricing::tight) m.total[padded(i)] = v.total;
        // Seeds must be offered though they do not improve, and so must keys that elimination improved.
        if (is_seed(w, m, i) || (w.from == stage::last && own != 0 && own < work<Word, Axes>::far)) m.start(i);
    }
    const bool lists = (__syncthreads_or(closed ? 1 : 0) != 0 && w.diagonal) || w.family_count == 0;
    take_offers(w, m, tile);
    __syncthreads();
    if (lists) settle(w, m);
    else settle_lines(w, m);
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < cells; i += threads) {
        const Word own = m.key[padded(i)];
        if (!lists && own < fresh(w.key + first + i)) m.improve(i);
        if (m.is_improved(i)) lower(w.key + first + i, own);
    }
    __threadfence();
    __syncthreads();
    make_offers(w, m, tile, depth + 1);
}

/// Depth from which tiles are left to the next stage; -1 if this stage does nothing.
template <class Word, int Axes>
__device__ std::int64_t end_of_stage(const work<Word, Axes>& w) {
    constexpr std::int64_t all = parked_bit;
    const solver_counts& c = *w.queue.counts;
    switch (w.from) {
        case stage::only: return all;
        case stage::first: return w.first_depth;
        case stage::second:
            if (fresh(c.parked) == 0 || leaves_at_most(c, w.thin)) return -1;
            return leaves_at_most(c, w.middling) ? w.second_depth : all;
        default: return eliminates(c, w.thin) && fresh(&c.solved) == 0 ? all : -1;
    }
}
/// Queues the tiles that an earlier stage parked; after a failed elimination, every tile.
template <class Word, int Axes>
__device__ void requeue(const work<Word, Axes>& w) {
    for (std::int64_t tile = blockIdx.x * std::int64_t{blockDim.x} + threadIdx.x; tile < w.where.tiles;
         tile += std::int64_t{gridDim.x} * blockDim.x) {
        std::uint32_t& queued = w.queue.queued[tile];
        if ((queued & parked_bit) == 0 && w.from != stage::last) continue;
        queued = max(1U, queued & ~parked_bit);
        enqueue(w.queue, tile);
    }
    if (gridDim.x > 1) cooperative_groups::this_grid().sync();
    else __syncthreads();
}

/// Takes tiles from the queue and visits them until none is left. Parks those that are too deep for the next stage.
template <class Word, int Axes, class Visit>
__device__ void take_turns(const work<Word, Axes>& w, const Visit& visit) {
    __shared__ std::uint32_t taken, depth;  // taken: the tile's number plus 1
    // Results of reductions are uniform for the compiler, which then need not ask whether a warp has diverged.
    const std::int64_t end = end_of_stage(w);
    if (__reduce_or_sync(cuda::every_lane, end < 0 ? 1U : 0U) != 0) return;
    if (w.from == stage::second || w.from == stage::last) requeue(w);
    for (;;) {
        if (threadIdx.x == 0) {
            std::int64_t tile = 0;
            for (;;) {
                tile = take(w.queue);
                if (tile < 0 || (depth = fresh(w.queue.queued + tile) - 1) < end) break;
                w.queue.queued[tile] |= parked_bit;
                w.queue.counts->parked[w.from == stage::first ? 0 : 1] = 1;
                atomicAdd(&w.queue.counts->pending, ~0U);
            }
            if (tile >= 0) atomicExch(w.queue.queued + tile, 0U);
            taken = static_cast<std::uint32_t>(tile + 1);
            __threadfence();
        }
        __syncthreads();
        const std::uint32_t number = __reduce_max_sync(cuda::every_lane, taken);
        if (number == 0) return;
        visit(std::int64_t{number} - 1, depth);
        __syncthreads();
        if (threadIdx.x == 0) atomicAdd(&w.queue.counts->pending, ~0U);
    }
}

/// Solves tiles in shared memory. Two blocks share a multiprocessor: random obstacles with diagonal steps take 27.1 ms,
/// with one block 35.8 (H200, 4096^2, 2026-11-29).
template <pricing Pricing, class Word, int Axes>
__global__ void __launch_bounds__(threads_of_tile, Axes == few_axes ? 2 : 1)
    relax(const __grid_constant__ work<Word, Axes> w) {
    extern __shared__ std::uint64_t memory[];
    if (w.floods()) return;
    const tile_memory<Pricing, Word> m(memory, w.where.tile_bits);
    take_turns(w, [&](std::int64_t tile, std::uint32_t depth) { visit(w, m, tile, depth); });
}

}  // namespace nearfield::geodesics
