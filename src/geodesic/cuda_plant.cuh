// The start of a call: writes keys, queues the seeds' tiles, and lists the steps by which cells leave a tile.
#pragma once

#include "geodesic/cuda_crossings.cuh"

namespace nearfield::geodesics {

/// Reads the price of a cell; 0 means that it cannot be entered.
__device__ inline std::uint32_t cost_at(const cell_array& a, std::int64_t i) {
    std::int64_t c = 0;
    switch (a.type) {
        case dtype::int8: c = static_cast<const std::int8_t*>(a.data)[i]; break;
        case dtype::int16: c = static_cast<const std::int16_t*>(a.data)[i]; break;
        case dtype::uint16: c = static_cast<const std::uint16_t*>(a.data)[i]; break;
        case dtype::int32: c = static_cast<const std::int32_t*>(a.data)[i]; break;
        case dtype::uint32: c = static_cast<const std::uint32_t*>(a.data)[i]; break;
        default: c = static_cast<const std::uint8_t*>(a.data)[i];
    }
    return c > 0 ? static_cast<std::uint32_t>(c) : 0;
}

/// Number of a cell within its image; ties go to the smaller number.
template <int Axes>
[[gnu::noinline]] __device__ std::uint64_t number_of(const device_tiling<Axes>& t, std::int64_t place) {
    std::int64_t at[Axes];
    t.locate(place >> t.tile_bits, static_cast<int>(place & (t.cells_of_tile() - 1)), at);
    std::uint64_t number = 0;
    for (int axis = Axes - 1; axis >= 0; --axis)
        if (axis >= t.batch)
            number = number * static_cast<std::uint64_t>(t.size[axis]) + static_cast<std::uint64_t>(at[axis]);
    return number;
}

/// Queues a tile that may have many seeds: looks before it tries.
__device__ inline void wake_once(const waiting_tiles& q, std::int64_t tile) {
    if (fresh(q.queued + tile) == 0) wake(q, tile, 0);
}

/// Writes the bits of a warp's cells, and notes whether cells change three times or more along the word, and from the
/// row that the thread has seen before. Scattered obstacles do both; corridors, rooms and blobs do not. From a quarter
/// of such words on floods take less time (squares of 1 to 16 cells over 5 to 45 % of 4096^2, H200, 2026-11-29).
struct board_writer {
    static constexpr int words = 1 << (device_tile_bits - 5);

    std::uint32_t* word = nullptr;
    bool sampled = false;
    std::uint32_t above = 0;
    int rough = 0;

    template <class Word, int Axes>
    __device__ board_writer(const work<Word, Axes>& w, const own_cells<Axes>& own) {
        constexpr std::uint32_t every = 29;
        if (w.boards == nullptr) return;
        word = w.boards + own.first / cuda::warp + own.tile * words;
        sampled = static_cast<std::uint32_t>(own.tile) % every == 0;
    }
    __device__ void write(int k, bool is_open, bool is_seed) {
        constexpr int often = 3, lanes = threads_of_block / cuda::warp;
        const unsigned open = __ballot_sync(cuda::every_lane, is_open ? 1 : 0),
                       seeds = __ballot_sync(cuda::every_lane, is_seed ? 1 : 0);
        if (threadIdx.x % cuda::warp == 0) word[k * lanes] = open, word[k * lanes + words] = seeds;
        const int along = __popc((open ^ open >> 1) & ~0U >> 1), across = __popc(open ^ above);
        above = open;
        if (sampled) rough += min(along, across) >= often ? 3 : -1;
    }
};

/// Tells which of a thread's cells that are `wanted` are not zero, a bit each. All are read before one is used.
template <class T>
__device__ unsigned set_of(const cell_array& a, const std::int64_t (&at)[cells_of_thread], unsigned wanted) {
    const bool real = a.type == dtype::float16 || a.type == dtype::float32 || a.type == dtype::float64;
    const T ignored = static_cast<T>(real ? T{1} << (8 * sizeof(T) - 1) : T{0});  // the sign of a zero
    T value[cells_of_thread];
    unsigned set = 0;
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k)
        value[k] = (wanted >> k & 1) != 0 ? static_cast<const T*>(a.data)[at[k]] : T{0};
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) set |= (value[k] & static_cast<T>(~ignored)) != 0 ? 1U << k : 0;
    return set;
}
__device__ inline unsigned set_of(const cell_array& a, const std::int64_t (&at)[cells_of_thread], unsigned wanted) {
    switch (size_of(a.type)) {
        case 1: return set_of<std::uint8_t>(a, at, wanted);
        case 2: return set_of<std::uint16_t>(a, at, wanted);
        case 4: return set_of<std::uint32_t>(a, at, wanted);
        default: return set_of<std::uint64_t>(a, at, wanted);
    }
}

template <class Word, int Axes>
__device__ void list_seed(const work<Word, Axes>& w, std::int64_t place) {
    if (fresh(&w.queue.counts->listed) > ranked_seeds::most) return;
    const std::uint32_t i = atomicAdd(&w.queue.counts->listed, 1U);
    if (i >= ranked_seeds::most) return;
    w.seeds_listed.number[i] = number_of(w.where, place);
    w.seeds_listed.place[i] = static_cast<std::uint64_t>(place);
}

/// Writes the seeds' keys with their ranks: how many seeds have smaller numbers. A thread owns a seed. If there are too
/// many seeds, the keys do not suffice.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) rank_seeds(const __grid_constant__ work<Word, Axes> w) {
    __shared__ std::uint64_t some[threads_of_block];
    const std::uint32_t count = w.queue.counts->listed, own = static_cast<std::uint32_t>(own_item());
    if (count > ranked_seeds::most) return void(w.queue.counts->exceeded = 1);
    if (own - threadIdx.x >= count) return;
    const std::uint64_t number = own < count ? w.seeds_listed.number[own] : 0;
    std::uint32_t rank = 0;
    for (std::uint32_t first = 0; first < count; first += threads_of_block) {
        __syncthreads();
        some[threadIdx.x] =
            first + threadIdx.x < count ? w.seeds_listed.number[first + threadIdx.x] : ~std::uint64_t{0};
        __syncthreads();
#pragma unroll 8
        for (int k = 0; k < threads_of_block; ++k) rank += some[k] < number ? 1 : 0;
    }
    if (own >= count) return;
    w.seeds_listed.by_rank[rank] = number;
    w.key[w.seeds_listed.place[own]] = 1 + static_cast<Word>(rank);
}

/// Writes the initial keys and queues tiles with seeds.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) plant(const __grid_constant__ work<Word, Axes> w) {
    if (w.repeats && w.queue.counts->exceeded == 0) return;
    const own_cells<Axes> own(w.where);
    std::int64_t mask_at[cells_of_thread], seed_at[cells_of_thread];
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) mask_at[k] = own.offset(w.mask, k), seed_at[k] = own.offset(w.seeds, k);
    const unsigned inside = own.inside(w.where);
    const unsigned open = set_of(w.mask, mask_at, inside), seeds = set_of(w.seeds, seed_at, inside);
    board_writer board(w, own);
#pragma unroll
    for (int k = 0; k < cells_of_thread; ++k) {
        const std::int64_t place = own.place(k);
        if (k >= own.count) break;
        std::uint32_t cost = open >> k & 1;
        if (cost != 0 && w.given_cost.data != nullptr) cost = cost_at(w.given_cost, own.offset(w.given_cost, k));
        if (w.cost != nullptr) w.cost[place] = cost;
        const bool seed = cost != 0 && (seeds >> k & 1) != 0;
        Word key = cost == 0 ? 0 : work<Word, Axes>::far;
        if (seed)
            key = 1 + (w.seed_bits == 0 || w.seeds_listed.number != nullptr
                           ? 0
                           : static_cast<Word>(number_of(w.where, place)));
        if (seed && w.seeds_listed.number != nullptr) list_seed(w, place);
        w.key[place] = key;
        if (w.boards != nullptr) board.write(k, cost != 0, seed);
        if (seed) wake_once(w.queue, own.tile);
    }
    if (board.rough != 0 && threadIdx.x % cuda::warp == 0) atomicAdd(&w.queue.counts->rough, board.rough);
}

/// Writes the initial keys of seed numbers, once costs are known. Cells beyond the limit are open, since steps may pass
/// them; they offer no seed to a cell within it, because no step leads to a lower cost.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) plant_numbers(const __grid_constant__ work<Word, Axes> w) {
    const own_cells<Axes> own(w.where);
    for (int k = 0; k < own.count; ++k) {
        const std::uint64_t total = w.total[own.place(k)];
        Word key = total == 0 ? 0 : work<Word, Axes>::far;
        if (total == 1) key = static_cast<Word>(number_of(w.where, own.place(k)) + 1);
        w.key[own.place(k)] = key;
        if (total == 1) wake_once(w.queue, own.tile);
    }
}

/// Lists the steps by which cells leave their tile. A thread owns a pair of cell and step.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) list_crossings(const __grid_constant__ work<Word, Axes> w) {
    const std::int64_t i = own_item(), step = i >> w.where.tile_bits;
    const int local = static_cast<int>(i & (w.where.cells_of_tile() - 1)),
              lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const bool leaves = step < w.step_count && w.where.leaves(local, w.steps[step].by);
    const unsigned all = __ballot_sync(cuda::every_lane, leaves ? 1 : 0);
    if (all == 0) return;
    std::uint32_t first = 0;
    if (lane == 0) first = atomicAdd(&w.queue.counts->crossings, static_cast<std::uint32_t>(__popc(all)));
    first = __shfl_sync(cuda::every_lane, first, 0);
    if (!leaves) return;
    first += static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)));
    w.crossing[first] = direction_of(w.where, local, w.steps[step].by) << direction_shift |
                        static_cast<std::uint32_t>(step << device_tile_bits) | static_cast<std::uint32_t>(local);
}

}  // namespace nearfield::geodesics
