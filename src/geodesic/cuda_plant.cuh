// The start of a call: writes keys, queues the seeds' tiles, and lists the steps by which cells leave a tile.
#pragma once

#include "geodesic/cuda_tiles.cuh"

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
__device__ std::uint64_t number_of(const device_tiling<Axes>& t, const std::int64_t* at) {
    std::uint64_t number = 0;
    for (int axis = Axes - 1; axis >= 0; --axis)
        if (axis >= t.batch)
            number = number * static_cast<std::uint64_t>(t.size[axis]) + static_cast<std::uint64_t>(at[axis]);
    return number;
}

/// Counts whether cells change often along a row, and from the row `above`, which the thread has seen before. A tile in
/// 16 is looked at. Scattered obstacles do both; corridors, rooms and blobs do not.
template <class Word, int Axes>
__device__ void note_roughness(const work<Word, Axes>& w, std::int64_t place, std::uint32_t open, std::uint32_t above) {
    constexpr int often = 4, sampled = 15;
    if ((place >> device_tile_bits & sampled) != 0) return;
    const int along = __popc((open ^ open >> 1) & ~0U >> 1), across = __popc(open ^ above);
    atomicAdd(&w.queue.counts->rough, min(along, across) >= often ? 1 : -1);
}

/// Writes the initial keys and queues tiles with seeds.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) plant(const __grid_constant__ work<Word, Axes> w) {
    std::uint32_t above = 0;
    for_cells(w.where, [&](std::int64_t place, const std::int64_t* at, bool inside) {
        std::uint32_t cost = 0;
        if (inside && !w.mask.is_zero(w.mask.template at<Axes>(at)))
            cost = w.given_cost.data == nullptr ? 1 : cost_at(w.given_cost, w.given_cost.template at<Axes>(at));
        if (w.cost != nullptr) w.cost[place] = cost;
        const bool seed = cost != 0 && !w.seeds.is_zero(w.seeds.template at<Axes>(at));
        Word key = cost == 0 ? 0 : work<Word, Axes>::far;
        if (seed) key = static_cast<Word>(w.seed_bits == 0 ? 1 : number_of(w.where, at) + 1);
        w.key[place] = key;
        if (w.boards != nullptr) {
            const unsigned open = __ballot_sync(cuda::every_lane, cost != 0 ? 1 : 0),
                           seeds = __ballot_sync(cuda::every_lane, seed ? 1 : 0);
            constexpr int words = 1 << (device_tile_bits - 5);
            std::uint32_t* const word = w.boards + place / cuda::warp + (place >> device_tile_bits) * words;
            if (threadIdx.x % cuda::warp == 0) {
                word[0] = open, word[words] = seeds;
                note_roughness(w, place, open, above);
            }
            above = open;
        }
        if (seed) wake(w.queue, place >> w.where.tile_bits, 0);
    });
}

/// Writes the initial keys of seed numbers, once costs are known.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block)
    plant_numbers(const __grid_constant__ work<Word, Axes> w, std::uint64_t limit) {
    for_cells(w.where, [&](std::int64_t place, const std::int64_t* at, bool) {
        const std::uint64_t total = w.total[place];
        Word key = total == 0 || total > limit ? 0 : work<Word, Axes>::far;
        if (total == 1) key = static_cast<Word>(number_of(w.where, at) + 1);
        w.key[place] = key;
        if (total == 1) wake(w.queue, place >> w.where.tile_bits, 0);
    });
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
    if (leaves)
        w.crossing[first + static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)))] =
            static_cast<std::uint32_t>(step << device_tile_bits) | static_cast<std::uint32_t>(local);
}

}  // namespace nearfield::geodesics
