// Thinning on a device: one launch, whose blocks meet after every turn that has cells to look at.
#pragma once

#include <cooperative_groups.h>

#include "base/cuda_scan.cuh"
#include "skeleton/cuda_cells.cuh"

namespace nearfield::skeleton {

using cuda::every_lane;

constexpr int thin_threads = 1024;
/// Cells of a turn that one block looks at alone, while the others wait: meeting all blocks costs more than it gains.
constexpr int most_of_one_block = 256;
/// Rounds whose counters are in use: this one and the next, as seen by a block that is done with the step before, and
/// those of the round after next, which a block may have begun.
constexpr int kept_rounds = 4;
constexpr int counter_step = 32;  ///< bytes from one counter to the next, so that atomics on several do not meet

/// Where the thinning stands.
struct progress {
    std::int32_t layer, turn;  ///< the next one to look at
    std::uint32_t round;       ///< from 1, of all layers
    bool fresh;                ///< the first round of its layer

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
    /// Of turn t of layer l: cells[first[l * turns + t], first[(l + 1) * turns + t]).
    const Index* first;
    /// The first cells of a turn, which were looked at, make room for those that wait for its next one.
    Index* cells;
    std::uint8_t* counters;     ///< of cells that wait for turn t of round r: see counter()
    std::uint32_t* shape;       ///< a bit a cell
    std::uint32_t* candidates;  ///< a bit a cell: looked at, in the shape, neither held nor waiting in a list
    std::uint32_t* removed;     ///< the round in which a cell went, where its squared distance was; 0 outside
    int removed_step;           ///< words of 32 bits from one cell's to the next
    int4* reached;              ///< where one block alone has come to, for the others

    __device__ Index* counter(std::uint32_t round, int turn) const {
        return reinterpret_cast<Index*>(counters + (round % kept_rounds * most_turns + static_cast<unsigned>(turn)) *
                                                       counter_step);
    }
};

constexpr int kinds =
    8;  ///< of neighbours, by the axes along which they lie apart: 4 the first, 2 the second, 1 the last

NF_HD constexpr int kind_of(int n) { return (n / 9 != 1 ? 4 : 0) | (n / 3 % 3 != 1 ? 2 : 0) | (n % 3 != 1 ? 1 : 0); }
NF_HD constexpr word cells_of_kind(int kind) {
    word cells = 0;
    for (int n = 0; n < 27; ++n)
        if (n != middle && kind_of(n) == kind) cells |= word{1} << n;
    return cells;
}

/// What a block does next: the cells of one turn. In shared memory, with what does not change beside it.
template <class Index>
struct step_of_block {
    progress now;
    bool done;
    int turn;
    Index waiting, begin_fresh, count;

    /// In which a cell of another turn is looked at again.
    __device__ std::uint32_t round_of(int other) const { return now.round + (other > turn ? 0 : 1); }

    Index begin[most_turns];  ///< of a turn's list
    Index step_to[27];        ///< neighbours
    /// Turns of neighbours away from seams, by kind: along an axis parities alternate.
    std::int8_t turn_of_kind[most_turns][kinds];
};

/// Fills what does not change. Threads of a block call it with their numbers.
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
    // Along an axis of one cell there are no neighbours.
    s.turn_of_kind[from][kind] = static_cast<std::int8_t>(turn >= 0 && turn < c.turns ? turn : from);
}

/// Finds the next turn with cells to look at. The first warp of every block calls it and all find the same one: a block
/// that has begun already changes counters of later turns and of the next round only, and this stops before either.
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
        // The round is over. Another one follows where cells wait; else a layer, whose rounds leave out one number: a
        // block that is late must see the counters of the next round as they are.
        const bool again = __any_sync(every_lane, next > 0 ? 1 : 0) != 0;
        if (mine && blockIdx.x == 0) *c.counter(now.round, lane) = 0;
        now.round += again ? 1 : 2, now.turn = 0, now.fresh = !again;
        if (!again && ++now.layer >= layers) {
            if (lane == 0) s.done = true;
            return;
        }
    }
}

/// Those of the cells `outside` round one that went in this round.
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

/// The neighbourhood of a cell at a seam.
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

/// Takes those of the cells `wanted` round a cell that are candidates: each is taken by one thread only.
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

/// Lists the neighbours `again` of each lane's cell for their turns. All lanes call it: a warp takes room in a list
/// once for all of its cells.
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

/// The same for a cell at a seam, one by one.
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

/// A lane looks at its cell. All lanes of a warp call it.
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

/// The cells of a step: 32 at a time, side by side for different multiprocessors.
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

/// One block takes steps of few cells until there is one of many; returns what to go on from.
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

/// All blocks look at the cells of a turn, and meet.
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
            all.sync();  // the others have found this step, too, before counters go on
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
