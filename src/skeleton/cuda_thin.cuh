// Thinning on a device: one launch, whose blocks synchronize after every turn that has cells to test.
#pragma once

#include <cooperative_groups.h>

#include "base/cuda_scan.cuh"
#include "skeleton/cuda_cells.cuh"

namespace nearfield::skeleton {

using cuda::every_lane;

constexpr int thin_threads = 1024;
/// If a turn has at most this many cells, one block tests them: synchronizing all blocks would cost more than it gains.
constexpr int most_of_one_block = 256;
/// Number of rounds whose counters are kept: this round and the next, as read by a block that is still in the step
/// before, and the round after next, which a faster block may have begun.
constexpr int kept_rounds = 4;
constexpr int counter_step = 32;  ///< bytes between counters, so that atomics on two of them do not collide

/// Progress of the thinning.
struct progress {
    std::int32_t layer, turn;  ///< the next layer and turn to test
    std::uint32_t round;       ///< counts from 1, through all layers
    bool fresh;                ///< this is the layer's first round

    __device__ int4 packed() const { return {layer, turn, static_cast<std::int32_t>(round), fresh ? 1 : 0}; }
    static __device__ progress of(const int4& packed) {
        return {packed.x, packed.y, static_cast<std::uint32_t>(packed.z), packed.w != 0};
    }
};

template <class Index>
struct thinning_call {
    cell_grid<Index> where;
    rule by;
    int turns;
    const std::int32_t* layers;
    /// The cells of turn t in layer l are cells[first[l * turns + t], first[(l + 1) * turns + t]).
    const Index* first;
    /// Cells that wait for the next round of a turn overwrite the first cells of its list, which were tested already.
    Index* cells;
    std::uint8_t* counters;     ///< number of cells that wait for turn t of round r: see counter()
    std::uint32_t* shape;       ///< one bit per cell
    std::uint32_t* candidates;  ///< one bit per cell: tested, in the shape, neither held nor waiting in a list
    std::uint32_t* removed;     ///< the round that removed a cell, in the memory of its squared distance; 0 outside
    int removed_step;           ///< number of 32-bit words from one cell's value to the next
    int4* reached;              ///< progress of a block that works by itself, for the others

    __device__ Index* counter(std::uint32_t round, int turn) const {
        return reinterpret_cast<Index*>(counters + (round % kept_rounds * most_turns + static_cast<unsigned>(turn)) *
                                                       counter_step);
    }
};

constexpr int kinds =
    8;  ///< kinds of neighbours, by the axes along which they differ: 4 the first, 2 the second, 1 the last

NF_HD constexpr int kind_of(int n) { return (n / 9 != 1 ? 4 : 0) | (n / 3 % 3 != 1 ? 2 : 0) | (n % 3 != 1 ? 1 : 0); }
NF_HD constexpr word cells_of_kind(int kind) {
    word cells = 0;
    for (int n = 0; n < 27; ++n)
        if (n != middle && kind_of(n) == kind) cells |= word{1} << n;
    return cells;
}

/// The next step of a block, which tests the cells of one turn; with constants of the call. Lies in shared memory.
template <class Index>
struct step_of_block {
    progress now;
    bool done;
    int turn;
    Index waiting, begin_fresh, count;

    /// Returns the round in which a cell of another turn is tested again.
    __device__ std::uint32_t round_of(int other) const { return now.round + (other > turn ? 0 : 1); }

    Index begin[most_turns];  ///< start of each turn's list
    Index step_to[27];        ///< bit offsets of neighbours
    /// Turns of neighbours by kind, for cells away from seams: parities alternate along an axis.
    std::int8_t turn_of_kind[most_turns][kinds];
};

/// Computes the constants. Each thread of a block calls it with its number.
template <class Index>
__device__ void prepare(const thinning_call<Index>& c, step_of_block<Index>& s, int thread) {
    if (thread < 27) s.step_to[thread] = c.where.step(thread);
    if (thread < c.turns) s.begin[thread] = c.first[thread];
    if (thread >= c.turns * kinds) return;
    const int from = thread / kinds, kind = thread % kinds, y = c.where.turns[1], x = c.where.turns[2];
    const int at[] = {from / (x * y), from / x % y, from % x}, stride[] = {x * y, x, 1};
    int turn = from;
    for (int axis = 0; axis < 3; ++axis)
        if ((kind >> (2 - axis) & 1) != 0) turn += stride[axis] * (at[axis] == 0 ? 1 : -1);
    // An axis of one cell has no neighbours along it.
    s.turn_of_kind[from][kind] = static_cast<std::int8_t>(turn >= 0 && turn < c.turns ? turn : from);
}

/// Finds the next turn that has cells. The first warp of every block calls it, and all find the same turn: a block that
/// is ahead only changes counters of later turns and of the next round, and the search stops before it reads either.
template <class Index>
__device__ void plan_step(const thinning_call<Index>& c, step_of_block<Index>& s) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const bool mine = lane < c.turns;
    progress now = s.now;
    const std::int32_t layers = *c.layers;
    for (;;) {
        const Index waiting = mine ? __ldcg(c.counter(now.round, lane)) : 0;
        const Index next = mine ? __ldcg(c.counter(now.round + 1, lane)) : 0;
        const bool lists = mine && now.fresh && now.layer < layers;
        const Index begin = lists ? c.first[now.layer * c.turns + lane] : 0;
        const Index end = lists ? c.first[(now.layer + 1) * c.turns + lane] : 0;
        const Index count = lane >= now.turn ? waiting + (end - begin) : 0;
        const unsigned some = __ballot_sync(every_lane, count > 0 ? 1 : 0);
        if (some != 0) {
            const int turn = __ffs(static_cast<int>(some)) - 1;
            if (lane == turn) {
                s.turn = turn, s.waiting = waiting, s.count = count, s.begin_fresh = begin;
                s.now = now, s.now.turn = turn + 1, s.done = false;
            }
            return;
        }
        // The round is over. If cells wait, another round follows; else the next layer, which skips one round number: a
        // block that is late must still find the counters of the next round unchanged.
        const bool again = __any_sync(every_lane, next > 0 ? 1 : 0) != 0;
        if (mine && blockIdx.x == 0) *c.counter(now.round, lane) = 0;
        now.round += again ? 1 : 2, now.turn = 0, now.fresh = !again;
        if (!again && ++now.layer >= layers) {
            if (lane == 0) s.done = true;
            return;
        }
    }
}

/// Returns the cells of `outside` that were removed in this round.
template <class Index>
__device__ word gone_in_round(const thinning_call<Index>& c, const place<Index>& p, word outside, std::uint32_t round) {
    outside &= c.where.existing(p);
    const std::int64_t x = c.removed_step, y = x * c.where.size[2], z = y * c.where.size[1];
    const std::uint32_t* const at = c.removed + c.where.number_of(p) * x;
    word gone = 0;
#pragma unroll
    for (int n = 0; n < 27; ++n)
        if ((outside >> n & 1) != 0 && __ldcg(at + (n / 9 - 1) * z + (n / 3 % 3 - 1) * y + (n % 3 - 1) * x) == round)
            gone |= word{1} << n;
    return gone;
}
template <class Index>
__device__ word gone_in_round_at_seam(const thinning_call<Index>& c, const place<Index>& p, word outside,
                                      std::uint32_t round) {
    word gone = 0;
    for (; outside != 0; outside &= outside - 1) {
        const int n = __ffs(static_cast<int>(outside)) - 1;
        place<Index> other;
        if (c.where.neighbour(p, n, other) && __ldcg(c.removed + c.where.number_of(other) * c.removed_step) == round)
            gone |= word{1} << n;
    }
    return gone;
}

/// Reads the neighbourhood of a cell at a seam, one neighbour at a time.
template <class Index>
__device__ word neighbourhood_at_seam(const thinning_call<Index>& c, const place<Index>& p) {
    word found = 0;
    for (int n = 0; n < 27; ++n) {
        place<Index> other;
        if (n != middle && c.where.neighbour(p, n, other) && has_bit(c.shape, c.where.bit_of(other)))
            found |= word{1} << n;
    }
    return found;
}

/// Clears the candidate bits of the cells `wanted` around a cell and returns those set before: one thread gets each.
template <class Index>
__device__ word take_candidates(const thinning_call<Index>& c, Index cell, word wanted) {
    wanted &= neighbourhood(c.where, c.candidates, cell);
    const bits_of_row row{static_cast<std::uint32_t>((cell - 1) & 31)};
    word taken = 0;
#pragma unroll
    for (int k = 0; k < 9; ++k) {
        const word three = wanted >> 3 * k & 7;
        if (three == 0) continue;
        std::uint32_t* const at = c.candidates + ((cell - 1 + c.where.step(k / 3 - 1, k % 3 - 1, 0)) >> 5);
        word got = 0;
        if (const std::uint32_t bits = row.in_first(three); bits != 0) got = atomicAnd(at, ~bits) >> row.at;
        if (row.crosses() && row.in_second(three) != 0)
            got |= atomicAnd(at + 1, ~row.in_second(three)) << (32 - row.at);
        taken |= (got & three) << 3 * k;
    }
    return taken;
}

/// Lists the neighbours `again` of each lane's cell for their turns. All lanes must call it: a warp reserves space in a
/// list once for all of its cells.
template <class Index>
__device__ void list_again(const thinning_call<Index>& c, const step_of_block<Index>& s, Index cell, word again) {
    if (__any_sync(every_lane, again != 0 ? 1 : 0) == 0) return;
    constexpr int bits = 9;  // a warp has at most 8 * 32 cells of a kind
    std::uint64_t mine = 0;
#pragma unroll
    for (int kind = 1; kind < kinds; ++kind)
        mine |= static_cast<std::uint64_t>(__popc(again & cells_of_kind(kind))) << bits * (kind - 1);
    const std::uint64_t before = cuda::sum_before_in_warp(mine);
    const std::uint64_t total = __shfl_sync(every_lane, before + mine, cuda::warp - 1);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    Index room = 0;
    if (lane > 0 && lane < kinds) {
        const auto count = static_cast<Index>(total >> bits * (lane - 1) & ((1 << bits) - 1));
        const int turn = s.turn_of_kind[s.turn][lane];
        if (count > 0) room = s.begin[turn] + atomicAdd(c.counter(s.round_of(turn), turn), count);
    }
#pragma unroll
    for (int kind = 1; kind < kinds; ++kind) {
        Index at =
            __shfl_sync(every_lane, room, kind) + static_cast<Index>(before >> bits * (kind - 1) & ((1 << bits) - 1));
        for (word left = again & cells_of_kind(kind); left != 0; left &= left - 1)
            c.cells[at++] = cell + s.step_to[__ffs(static_cast<int>(left)) - 1];
    }
}

/// Does the same for the neighbours of a cell at a seam, one by one.
template <class Index>
__device__ void list_again_at_seam(const thinning_call<Index>& c, const step_of_block<Index>& s,
                                   const place<Index>& p) {
    for (int n = 0; n < 27; ++n) {
        place<Index> other;
        if (n == middle || !c.where.neighbour(p, n, other)) continue;
        const Index cell = c.where.bit_of(other);
        if (!has_bit(c.candidates, cell) || !clear_bit(c.candidates, cell)) continue;
        const int turn = c.where.turn_of(other);
        c.cells[s.begin[turn] + atomicAdd(c.counter(s.round_of(turn), turn), Index{1})] = cell;
    }
}

/// Tests one cell per lane. All lanes of a warp must call it.
template <bool Wraps, class Index>
__device__ void look(const thinning_call<Index>& c, const step_of_block<Index>& s, Index cell, bool active) {
    word again = 0;
    if (active) {
        place<Index> p{};
        bool seam = false;
        if constexpr (Wraps) p = c.where.place_of(cell), seam = c.where.is_on_seam(p);
        const word shape = seam ? neighbourhood_at_seam(c, p) : neighbourhood(c.where, c.shape, cell);
        const word near = near_cells(c.by.faces);
        word before = shape;
        if (c.by.keep == kept_cells::ends && is_single(shape & near)) {
            if constexpr (!Wraps) p = c.where.place_of(cell);
            before |= seam ? gone_in_round_at_seam(c, p, near & ~shape, s.now.round)
                           : gone_in_round(c, p, near & ~shape, s.now.round);
        }
        const verdict said = look_at(shape, before, c.by);
        if (said == verdict::waiting) set_bit(c.candidates, cell);
        if (said == verdict::removed) {
            clear_bit(c.shape, cell);
            if (c.by.keep == kept_cells::ends)
                c.removed[c.where.number_of(Wraps ? p : c.where.place_of(cell)) * c.removed_step] = s.now.round;
            if (seam) list_again_at_seam(c, s, p);
            else again = take_candidates(c, cell, shape & round_middle);
        }
    }
    list_again(c, s, cell, again);
}

/// Tests the cells of a step in groups of 32; adjacent groups go to different multiprocessors.
template <bool Wraps, class Index>
__device__ void look_at_all(const thinning_call<Index>& c, const step_of_block<Index>& s, Index block, Index blocks) {
    const Index chunks = (s.count - 1) / cuda::warp + 1, lane = threadIdx.x % cuda::warp;
    const Index warps = blockDim.x / cuda::warp * blocks;
    for (Index chunk = threadIdx.x / cuda::warp * blocks + block; chunk < chunks; chunk += warps) {
        const Index i = chunk * cuda::warp + lane;
        const bool active = i < s.count;
        Index cell = c.where.first;
        if (active) cell = __ldcg(c.cells + (i < s.waiting ? s.begin[s.turn] + i : s.begin_fresh + (i - s.waiting)));
        look<Wraps>(c, s, cell, active);
    }
}

template <class Index>
__device__ void plan_for_block(const thinning_call<Index>& c, step_of_block<Index>& s) {
    __syncthreads();
    if (threadIdx.x < cuda::warp) plan_step(c, s);
    __syncthreads();
}

/// One block runs steps of few cells until a step has many; returns the progress from which all blocks continue.
template <bool Wraps, class Index>
__device__ progress step_in_one_block(const thinning_call<Index>& c, step_of_block<Index>& s, Index enough) {
    progress before = s.now;
    while (!s.done && s.count <= enough) {
        look_at_all<Wraps>(c, s, Index{0}, Index{1});
        before = s.now;
        plan_for_block(c, s);
    }
    return before;
}

/// All blocks test the cells of a turn, then synchronize.
template <bool Wraps, class Index>
__global__ void __launch_bounds__(thin_threads) thin_cells(const __grid_constant__ thinning_call<Index> c) {
    extern __shared__ std::uint64_t held_step[];
    step_of_block<Index>& s = *reinterpret_cast<step_of_block<Index>*>(held_step);
    const cooperative_groups::grid_group all = cooperative_groups::this_grid();
    if (threadIdx.x == 0) s.now = progress::of({0, 0, 1, 1});
    prepare(c, s, static_cast<int>(threadIdx.x));
    if (*c.layers == 0) return;
    plan_for_block(c, s);
    if (gridDim.x == 1) {
        step_in_one_block<Wraps>(c, s, static_cast<Index>(-1));
        return;
    }
    while (!s.done) {
        if (s.count > most_of_one_block) {
            look_at_all<Wraps>(c, s, static_cast<Index>(blockIdx.x), static_cast<Index>(gridDim.x));
            all.sync();
        } else {
            all.sync();  // the other blocks must have planned this step before counters change
            if (blockIdx.x == 0) {
                const progress reached = step_in_one_block<Wraps>(c, s, Index{most_of_one_block});
                if (threadIdx.x == 0) *c.reached = reached.packed();
            }
            all.sync();
            if (threadIdx.x == 0) s.now = progress::of(__ldcg(c.reached));
        }
        plan_for_block(c, s);
    }
}

}  // namespace nearfield::skeleton
