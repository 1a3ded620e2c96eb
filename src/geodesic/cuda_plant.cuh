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

/// Writes the initial keys and queues tiles with seeds. A thread owns a cell.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block) plant(const __grid_constant__ work<Word, Axes> w) {
    const std::int64_t i = own_item(), tile = i >> w.where.tile_bits;
    if (tile >= w.where.tiles) return;
    std::int64_t at[Axes];
    std::uint32_t cost = 0;
    if (w.where.locate(tile, static_cast<int>(i & (w.where.cells_of_tile() - 1)), at) &&
        !w.mask.is_zero(w.mask.template at<Axes>(at)))
        cost = w.given_cost.data == nullptr ? 1 : cost_at(w.given_cost, w.given_cost.template at<Axes>(at));
    if (w.cost != nullptr) w.cost[i] = cost;
    const bool seed = cost != 0 && !w.seeds.is_zero(w.seeds.template at<Axes>(at));
    Word key = cost == 0 ? 0 : work<Word, Axes>::far;
    if (seed) key = static_cast<Word>(w.seed_bits == 0 ? 1 : number_of(w.where, at) + 1);
    w.key[i] = key;
    if (seed) wake(w.queue, tile, 0);
}

/// Writes the initial keys of seed numbers, once costs are known. A thread owns a cell.
template <class Word, int Axes>
__global__ void __launch_bounds__(threads_of_block)
    plant_numbers(const __grid_constant__ work<Word, Axes> w, std::uint64_t limit) {
    const std::int64_t i = own_item(), tile = i >> w.where.tile_bits;
    if (tile >= w.where.tiles) return;
    std::int64_t at[Axes];
    w.where.locate(tile, static_cast<int>(i & (w.where.cells_of_tile() - 1)), at);
    const std::uint64_t total = w.total[i];
    Word key = total == 0 || total > limit ? 0 : work<Word, Axes>::far;
    if (total == 1) key = static_cast<Word>(number_of(w.where, at) + 1);
    w.key[i] = key;
    if (total == 1) wake(w.queue, tile, 0);
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
