// The queue of tiles. A tile whose border improves is queued; a block takes it and relaxes all steps inside it.
//
// Two blocks may have the same tile at once, yet no improvement is lost. A block first marks the tile as not queued and
// then reads it. Another block first writes its improvement and then checks the mark. A block leaves its tile when no
// step inside would improve a cell over what it read, and writes all results. So the block that lowered a cell last has
// offered all steps from there, in this tile and to others.
#pragma once

#include <cooperative_groups.h>

#include "geodesic/cuda_sweep.cuh"

namespace nearfield::geodesics {

template <pricing Pricing, class Word, int Axes>
__device__ bool is_seed(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, int local) {
    if constexpr (Pricing == pricing::tight) return m.total[padded(local)] == 1;
    const Word key = m.key[padded(local)];
    return key != 0 && (key - 1) >> w.seed_bits == 0;
}

/// Calls use(k, cell) for a thread's cells of a tile: every threads_of_tile-th one.
template <class Use>
__device__ void for_own(int cells, const Use& use) {
#pragma unroll
    for (int k = 0; k < chunk; ++k) {
        const int i = k * threads_of_tile + static_cast<int>(threadIdx.x);
        if (i < cells) use(k, i);
    }
}

/// Relaxes the steps inside a tile, from the cells at which it begins. All threads of the block call it.
template <pricing Pricing, class Word, int Axes>
__device__ void relax_inside(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const device_step* steps,
                             bool lists, bool open) {
    if constexpr (Axes == few_axes)
        if (w.sweeps.reach > 0) return settle_sweeps(w, m, steps);
    if (lists) settle(w, m);
    else settle_lines(w, m, open && !w.diagonal && Pricing == pricing::plain);
}

/// Writes the keys that are lower than `known`, and queues the tiles that they improve. Other tiles read the cells at
/// the tile's borders only, so they need not wait for the others.
template <pricing Pricing, class Word, int Axes>
__device__ void write_keys(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const crossing_table& c,
                           const tile_place<Axes>& place, std::int64_t first, const Word (&known)[chunk],
                           std::uint32_t depth) {
    const int cells = w.where.cells_of_tile();
#pragma unroll
    for (int k = 0; k < chunk; ++k) {
        const int i = k * threads_of_tile + static_cast<int>(threadIdx.x);
        m.improve(i, i < cells && m.key[padded(i)] < known[k]);
    }
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < c.count; i += threads_of_tile)
        if (const int local = local_of(c.entry[i]); m.is_improved(local))
            lower(w.key + first + local, m.key[padded(local)]);
    make_offers(w, m, c, place, depth);
    for_own(cells, [&](int k, int i) {
        if (const Word own = m.key[padded(i)]; own < known[k]) lower(w.key + first + i, own);
    });
}

/// Reads a tile, relaxes it, writes improved keys, and queues the tiles that it improves. A thread reads all of its
/// cells before it uses one. One thread calls mark(), which says that the tile no longer waits; keys of other tiles are
/// read after that. Own keys may be older, because a block that lowers them offers all steps from there.
template <pricing Pricing, class Word, int Axes, class Mark>
__device__ void visit(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const crossing_table& crossings,
                      std::int64_t tile, std::uint32_t depth, const Mark& mark) {
    __shared__ tile_place<Axes> place;
    const int cells = w.where.cells_of_tile();
    const std::int64_t first = tile << w.where.tile_bits;
    Word known[chunk]{};
    for_own(cells, [&](int k, int i) { known[k] = fresh(w.key + first + i); });
    m.clear();
    if (threadIdx.x == 0) mark();
    place.find(w.where, tile);
    __syncthreads();
    bool open = true, lists = false;
    const auto keep_known = [&] {
        for_own(cells, [&](int k, int i) {
            m.key[padded(i)] = known[k], open = open && known[k] != 0;
            const cell_value v = value_at<Pricing>(w, first + i);
            if constexpr (Pricing != pricing::plain) m.cost[padded(i)] = v.cost;
            if constexpr (Pricing == pricing::tight) m.total[padded(i)] = v.total;
            // Seeds must be offered though they do not improve, and so must keys that elimination improved.
            if (!is_seed(w, m, i) && (w.from != stage::last || known[k] == 0 || known[k] == work<Word, Axes>::far))
                return;
            m.improve(i);
            begin_at(w, m, i, w.may_list());
        });
        open = __syncthreads_or(open ? 0 : 1) == 0;
        lists = w.may_list() && (w.family_count == 0 || !open);
    };
    take_offers(w, m, crossings, place, keep_known, lists);
    __syncthreads();
    relax_inside(w, m, crossings.steps, lists, open);
    __syncthreads();
    write_keys(w, m, crossings, place, first, known, depth + 1);
}

/// Depth from which tiles are left to the next stage; -1 if this stage does nothing.
template <class Word, int Axes>
__device__ std::int64_t end_of_stage(const work<Word, Axes>& w) {
    constexpr std::int64_t all = parked_bit;
    const solver_counts& c = *w.queue.counts;
    if (w.tries && c.exceeded != 0) return -1;
    switch (w.from) {
        case stage::only: return all;
        case stage::first: return w.first_depth;
        case stage::second:
            if (c.parked[0] == 0 || is_thin(c, w.thin)) return -1;
            if (leaves_at_most(c, w.middling))
                return c.parked[0] <= max(w.leaps_first && !is_scattered(c, w.scattered) ? w.few : 0, w.waiting)
                           ? w.first_depth
                           : w.second_depth;
            if (!w.leaps || is_scattered(c, w.scattered)) return all;
            return c.parked[0] <= w.few ? w.leap_depth : w.second_depth;
        case stage::leap: return goes_on(c, w.thin) && c.solved == 0 && !is_scattered(c, w.scattered) ? all : -1;
        // The inner cells of squares have no keys yet, nor have those within tiles that were leapt over.
        default: return goes_on(c, w.thin) && (c.solved == 0 || c.squares > 0) ? all : -1;
    }
}
/// Queues the tiles that an earlier stage parked; in the last stage, every tile.
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

/// Takes tiles from the queue and calls visit(tile, depth, mark, kept) until none is left. Parks those that are too
/// deep for the next stage. One thread must call mark() before the visit reads keys of other tiles. A visit may keep
/// one of the tiles that it wakes for this block: its number plus 1 in *kept.
template <class Word, int Axes, class Visit>
__device__ void take_turns(const work<Word, Axes>& w, const Visit& visit) {
    __shared__ std::uint32_t taken, depth, kept;  // taken: the tile's number plus 1
    // Results of reductions are uniform for the compiler, which then need not ask whether a warp has diverged.
    const std::int64_t end = end_of_stage(w);
    if (__reduce_or_sync(cuda::every_lane, end < 0 ? 1U : 0U) != 0) return;
    if (w.from >= stage::second) requeue(w);
    if (threadIdx.x == 0) kept = 0;
    for (;;) {
        if (threadIdx.x == 0 && fresh(&kept) != 0) {
            taken = kept, kept = 0, ++depth;
        } else if (threadIdx.x == 0) {
            std::int64_t tile = 0;
            for (;;) {
                std::uint32_t queued = 0;
                tile = take(w.queue, queued), depth = queued - 1;
                if (tile < 0 || depth < end) break;
                w.queue.queued[tile] |= parked_bit;
                atomicAdd(w.queue.counts->parked + (w.from == stage::first ? 0 : 1), 1U);
                atomicAdd(&w.queue.counts->pending, ~0U);
            }
            taken = static_cast<std::uint32_t>(tile + 1);
        }
        __syncthreads();
        const std::uint32_t number = __reduce_max_sync(cuda::every_lane, taken);
        if (number == 0) return;
        visit(
            std::int64_t{number} - 1, depth,
            [&w, number] {
                atomicExch(w.queue.queued + number - 1, 0U);
                __threadfence();
            },
            &kept);
        __syncthreads();
        if (threadIdx.x == 0 && fresh(&kept) == 0) atomicAdd(&w.queue.counts->pending, ~0U);
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
    const crossing_table crossings = crossings_of(w);
    take_turns(w, [&](std::int64_t tile, std::uint32_t depth, const auto& mark, std::uint32_t*) {
        visit(w, m, crossings, tile, depth, mark);
    });
}

}  // namespace nearfield::geodesics
