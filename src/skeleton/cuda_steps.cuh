// The order in which a device tests cells: layers, rounds and turns, and the lists of cells that wait for a turn.
#pragma once

#include "base/cuda_scan.cuh"
#include "skeleton/cuda_cells.cuh"

namespace nearfield::skeleton {

using cuda::every_lane;

constexpr int thin_threads = 512;
/// If a turn has at most this many cells, one block tests them: synchronizing all blocks would cost more than it gains.
constexpr int most_of_one_block = 256;
/// Number of rounds whose counters are kept. A step is in this round or in one of the next two and counts for the round
/// after it, and the counters of the two rounds before are cleared: six, rounded up to a power of two.
constexpr int kept_rounds = 8;
constexpr int counter_step = 32;  ///< bytes between counters, so that atomics on two of them do not collide

/// Progress of the thinning.
struct progress {
    std::int32_t layer, turn;  ///< the next layer and turn to test
    std::uint32_t round;       ///< counts from 2 through all layers, and leaves out a number if no cell waits
    std::uint32_t began;       ///< the layer's first round

    __device__ int4 packed() const {
        return {layer, turn, static_cast<std::int32_t>(round), static_cast<std::int32_t>(began)};
    }
    static __device__ progress of(const int4& packed) {
        return {packed.x, packed.y, static_cast<std::uint32_t>(packed.z), static_cast<std::uint32_t>(packed.w)};
    }
};

template <class Index>
struct thinning_call {
    cell_grid<Index> where;
    rule by;
    int turns, room;                        ///< number of turns; number of a turn's cells that a block holds
    const std::int32_t *layers, *occupied;  ///< number of layers that have cells, and which they are
    /// The cells of turn t in layer l are cells[first[l * turns + t], first[(l + 1) * turns + t]).
    const Index* first;
    /// Cells that wait for the next round of a turn overwrite the first cells of its list, which were tested already.
    Index* cells;
    std::uint8_t* counters;  ///< number of cells that wait for turn t of round r: see counter()
    state* states;
    int4* reached;  ///< progress of a block that works by itself, for the others

    __device__ Index* counter(std::uint32_t round, int turn) const {
        return reinterpret_cast<Index*>(counters + (round % kept_rounds * most_turns + static_cast<unsigned>(turn)) *
                                                       counter_step);
    }
};

/// Number of cells that a block holds: 4096, or 2048 with 64-bit indices, so that they fit 48 KB.
template <class Index>
inline constexpr int held_by_block = held_cells * 4 / static_cast<int>(sizeof(Index));

/// Shared memory of a block.
template <class Index>
struct block_memory {
    /// Numbers of cells that wait for each turn: of a block that works by itself, or as read after the last step.
    Index counters[kept_rounds][most_turns];
    Index begin[most_turns];  ///< start of each turn's list
    Index step_to[27];        ///< bit offsets of neighbours
    /// Turns of the neighbours of each turn's cells, away from seams: parities alternate along an axis.
    std::int8_t turn_of[most_turns][27];
    // A block that works by itself has thinning_call::room for each turn:
    Index held[held_by_block<Index>];    ///< the first cells of each turn's list
    Index listed[held_by_block<Index>];  ///< a hash table of the cells that it has listed; 0 is an empty place
};

/// Computes the constants and clears the rest. Each thread of a block calls it.
template <class Index>
__device__ void prepare(const thinning_call<Index>& c, block_memory<Index>& m) {
    const auto thread = static_cast<int>(threadIdx.x), threads = static_cast<int>(blockDim.x);
    if (thread < 27) m.step_to[thread] = c.where.step(thread);
    if (thread < c.turns) m.begin[thread] = c.first[thread];
    for (int i = thread; i < held_by_block<Index>; i += threads) m.listed[i] = 0;
    if (thread < kept_rounds * most_turns) m.counters[thread / most_turns][thread % most_turns] = 0;
    const int y = c.where.turns[1], x = c.where.turns[2];
    for (int i = thread; i < c.turns * 27; i += threads) {
        const int from = i / 27, n = i % 27, at[] = {from / (x * y), from / x % y, from % x};
        const int to[] = {n / 9, n / 3 % 3, n % 3}, stride[] = {x * y, x, 1};
        int turn = from;
        for (int axis = 0; axis < 3; ++axis)
            if (to[axis] != 1) turn += stride[axis] * (at[axis] == 0 ? 1 : -1);
        // An axis of one cell has no neighbours along it.
        m.turn_of[from][n] = static_cast<std::int8_t>(turn >= 0 && turn < c.turns ? turn : from);
    }
    __syncthreads();
}

/// A step: the cells of one turn of a round.
template <class Index>
struct step {
    bool done = false;  ///< no cell is left to test
    int turn = 0;
    std::uint32_t round = 0;
    Index begin = 0, fresh = 0;  ///< the layer's cells
    Index count = 0;             ///< with those that wait

    /// Returns the round in which a cell of another turn is tested again.
    __device__ std::uint32_t round_of(int other) const { return round + (other > turn ? 0 : 1); }
};

/// The order of steps. Every warp follows it by itself and all find the same steps, although a warp that is ahead
/// already counts cells: those of later turns and of the next round, and the search stops before it reads either.
template <class Index>
struct schedule {
    progress now;
    std::uint32_t rounds = 0;    ///< how many the layer has at most
    Index first = 0, count = 0;  ///< the layer's cells of the turn that has the lane's number

    __device__ schedule(const thinning_call<Index>& c, const progress& from) : now(from) { read_layer(c); }

    __device__ void read_layer(const thinning_call<Index>& c) {
        const int lane = cuda::lane_of_thread();
        const std::int32_t* const layer = c.occupied + now.layer;
        rounds = now.layer + 1 == *c.layers ? rounds_of_last : rounds_before(layer[0], layer[1]);
        if (lane >= c.turns) return;
        first = c.first[now.layer * c.turns + lane];
        count = c.first[(now.layer + 1) * c.turns + lane] - first;
    }

    /// Finds the next turn that has cells.
    __device__ step<Index> find(const thinning_call<Index>& c, block_memory<Index>& m) {
        const int lane = cuda::lane_of_thread();
        Index waiting = lane < c.turns && lane >= now.turn ? m.counters[now.round % kept_rounds][lane] : 0;
        for (;;) {
            const Index fresh = now.round == now.began ? count : 0, all = lane >= now.turn ? waiting + fresh : 0;
            if (const unsigned some = __ballot_sync(every_lane, all > 0 ? 1 : 0); some != 0) {
                const int turn = __ffs(static_cast<int>(some)) - 1;
                now.turn = turn + 1;
                return {false,
                        turn,
                        now.round,
                        __shfl_sync(every_lane, first, turn),
                        __shfl_sync(every_lane, fresh, turn),
                        __shfl_sync(every_lane, all, turn)};
            }
            if (threadIdx.x < static_cast<unsigned>(c.turns))
                m.counters[(now.round - 1) % kept_rounds][lane] = m.counters[(now.round - 2) % kept_rounds][lane] = 0;
            // The round is over. The next one begins a layer if no cell waits, or if the layer has no round left. If
            // none waits, it skips a number: a warp that is late must still find the next counters unchanged.
            waiting = lane < c.turns ? m.counters[(now.round + 1) % kept_rounds][lane] : 0;
            const bool again = __any_sync(every_lane, waiting > 0 ? 1 : 0) != 0;
            now.round += again ? 1 : 2, now.turn = 0;
            if (again && now.round - now.began < rounds) continue;
            if (*c.layers == ++now.layer) return {.done = true};
            now.began = now.round;
            read_layer(c);
        }
    }
};

}  // namespace nearfield::skeleton
