// Thinning on a device: one launch, whose blocks synchronize after every turn that has cells to test.
#pragma once

#include <cooperative_groups.h>

#include "skeleton/cuda_look.cuh"

namespace nearfield::skeleton {

/// One block runs steps of few cells until a step has many, or to the end.
template <bool Wraps, class Index>
__device__ progress step_in_one_block(const thinning_call<Index>& c, block_memory<Index>& m, schedule<Index>& order,
                                      step<Index> s, Index enough, const sharing& lanes) {
    progress before = order.now;
    while (!s.done && s.count <= enough) {
        look_in_block<Wraps>(c, m, s, lanes);
        before = order.now;
        __syncthreads();
        s = order.find(c, m);
    }
    return before;
}

/// Reads the counters of this round and the next into the block's memory. Block 0 clears the call's counters of the two
/// rounds before.
template <class Index>
__device__ void read_counters(const thinning_call<Index>& c, block_memory<Index>& m, std::uint32_t round) {
    __syncthreads();
    const auto thread = static_cast<int>(threadIdx.x), turn = thread % most_turns;
    if (const auto r = static_cast<std::uint32_t>(thread / most_turns); r < kept_rounds && turn < c.turns) {
        m.counters[(round + r) % kept_rounds][turn] = r < 2 ? __ldcg(c.counter(round + r, turn)) : 0;
        if (r >= kept_rounds - 2 && blockIdx.x == 0) *c.counter(round + r, turn) = 0;
    }
    __syncthreads();
}

/// Copies the first cells of each turn's list into the block's memory, or back.
template <class Index>
__device__ void copy_held(const thinning_call<Index>& c, block_memory<Index>& m, std::uint32_t round, bool back) {
    const Index *const now = m.counters[round % kept_rounds], *const next = m.counters[(round + 1) % kept_rounds];
    for (auto i = static_cast<int>(threadIdx.x); i < c.room * c.turns; i += static_cast<int>(blockDim.x)) {
        const int turn = i / c.room;
        const auto at = static_cast<Index>(i - turn * c.room);
        m.listed[i] = 0;
        if (at >= max(now[turn], next[turn])) continue;
        if (back) c.cells[m.begin[turn] + at] = m.held[i];
        else m.held[i] = __ldcg(c.cells + m.begin[turn] + at);
    }
    __syncthreads();
}

/// Block 0 runs steps of few cells; the others wait for what it has reached, which is the result.
template <bool Wraps, class Index>
__device__ progress let_one_block_step(const thinning_call<Index>& c, block_memory<Index>& m, schedule<Index>& order,
                                       const step<Index>& s, const sharing& lanes) {
    const cooperative_groups::grid_group all = cooperative_groups::this_grid();
    all.sync();  // the other blocks must have read the counters before they change
    if (blockIdx.x == 0) {
        copy_held(c, m, s.round, false);
        const progress reached = step_in_one_block<Wraps>(c, m, order, s, Index{most_of_one_block}, lanes);
        __syncthreads();
        copy_held(c, m, reached.round, true);
        const auto thread = static_cast<int>(threadIdx.x), round = thread / most_turns, turn = thread % most_turns;
        if (round < kept_rounds && turn < c.turns)
            *c.counter(static_cast<std::uint32_t>(round), turn) = m.counters[round][turn];
        if (thread == 0) *c.reached = reached.packed();
    }
    all.sync();
    return progress::of(__ldcg(c.reached));
}

/// All blocks test the cells of a turn, then synchronize.
template <bool Wraps, class Index>
__global__ void __launch_bounds__(thin_threads, 1) thin_cells(const __grid_constant__ thinning_call<Index> c) {
    extern __shared__ std::uint64_t held_memory[];
    block_memory<Index>& m = *reinterpret_cast<block_memory<Index>*>(held_memory);
    if (*c.layers == 0) return;
    prepare(c, m);
    const sharing lanes(c.where.is_flat());
    schedule<Index> order(c, {0, 0, 2, 2});
    step<Index> s = order.find(c, m);
    if (gridDim.x == 1) {
        step_in_one_block<Wraps>(c, m, order, s, static_cast<Index>(-1), lanes);
        return;
    }
    while (!s.done) {
        if (s.count > most_of_one_block) {
            look_at_all<Wraps>(c, m, s, lanes);
            cooperative_groups::this_grid().sync();
        } else {
            order = schedule<Index>(c, let_one_block_step<Wraps>(c, m, order, s, lanes));
        }
        read_counters(c, m, order.now.round);
        s = order.find(c, m);
    }
}

}  // namespace nearfield::skeleton
