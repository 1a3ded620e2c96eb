// Pairs of pieces that are to be joined. Each piece chooses a neighbour, and two that choose each other form a pair. A
// piece with one neighbour does not wait for its choice, since many of them may have the same neighbour.
#pragma once

#include "geodesic/cuda_leap.cuh"

namespace nearfield::geodesics {

template <class Word>
class pairing : grid_threads {
public:
    __device__ pairing(const gate_graph<Word>& g, solver_counts& c, int most_gates)
        : g_(g), c_(c), most_gates_(static_cast<std::uint32_t>(most_gates)) {}

    /// Chooses a partner for each piece. A warp owns a piece, a lane one of its neighbours. Pieces with few gates that
    /// have many steps between them are joined first, such as the two sides of a corridor along a rim: all of their
    /// gates but those at the corridor's ends are then eliminated.
    __device__ void choose(int turn, std::uint32_t count) const {
        for (std::uint32_t i = first() / cuda::warp; i < count; i += stride() / cuda::warp) {
            const std::uint32_t own = g_.living[turn & 1][i], gates = g_.gates(own);
            if (fresh(&g_.partner(own)) == final_piece) continue;
            std::uint32_t other = none, steps = 0;
            count_steps(own, other, steps);
            const unsigned others = __ballot_sync(cuda::every_lane, other != none ? 1 : 0);
            std::uint64_t least = ~std::uint64_t{0};
            const std::uint32_t both = gates + (other == none ? 0 : g_.gates(other));
            if (other != none && both <= most_gates_ && fresh(&g_.partner(other)) != final_piece) {
                const std::uint32_t pair = min(own, other) * 2654435761U + max(own, other);
                least = std::uint64_t{2 * both + most_steps - min(steps, most_steps)} << 32 |
                        mixed(pair + static_cast<std::uint32_t>(turn) * 0x9e3779b9U);
            }
            for (int by = cuda::warp / 2; by > 0; by /= 2) {
                const std::uint64_t rank = __shfl_xor_sync(cuda::every_lane, least, by);
                const std::uint32_t of = __shfl_xor_sync(cuda::every_lane, other, by);
                if (rank < least || (rank == least && of < other)) least = rank, other = of;
            }
            if (lane() != 0) continue;
            if (others == 0) other = own;
            else if (__popc(others) == 1) other |= leaf_bit;
            else if (least == ~std::uint64_t{0}) other = 0;
            g_.partner(own) = other;
        }
    }
    /// Takes out a piece with a single neighbour, if no way through it is cheaper than the neighbour's own ones. So a
    /// piece may lose many of them in a round. A warp owns a piece.
    __device__ void absorb_leaf(std::uint32_t* scratch, std::uint32_t own) const {
        const std::uint32_t chosen = fresh(&g_.partner(own));
        if (chosen == final_piece || (chosen & leaf_bit) == 0) return;
        const std::uint32_t other = chosen & ~leaf_bit, partner = fresh(&g_.partner(other));
        const bool is_final = partner == final_piece, both = !is_final && (partner & leaf_bit) != 0;
        const bool is = !both && absorb(scratch, own, other);
        const bool joins = !is_final && g_.gates(own) + g_.gates(other) <= most_gates_;
        __syncwarp();
        if (lane() == 0) g_.partner(own) = is ? own : joins ? other : 0;
    }
    /// Lists the pairs of pieces that chose each other, and the other pieces for the next round.
    __device__ void pair_up(int turn, std::uint32_t count) const {
        for (std::uint32_t i = first() - lane(); i < count; i += stride()) {
            const bool is = i + lane() < count;
            const std::uint32_t own = is ? g_.living[turn & 1][i + lane()] : 0;
            const std::uint32_t other = is ? g_.partner(own) : 0;
            // A piece without steps to others has itself as its partner, and is listed no more.
            const bool joins = is && other != 0 && other != final_piece && g_.partner(other) == own;
            const bool small = joins && g_.gates(own) + g_.gates(other) <= std::uint32_t{cuda::warp};
            append(g_.front[0], c_.front + (turn & 1), own, joins && own < other && !small);
            append(g_.front[1], c_.front + 2, own, joins && own < other && small);
            append(g_.living[~turn & 1], c_.alive + (~turn & 1), own, is && !joins);
        }
    }

private:
    static constexpr std::uint32_t none = gate_graph<Word>::none, final_piece = none;
    static constexpr std::uint32_t most_steps = 1024, most_absorbed = 64;
    static constexpr std::uint32_t leaf_bit = 1U << 31;  ///< of a partner that is a piece's only neighbour

    /// Counts the steps to neighbours of a piece, each by the lane to which it belongs. A lane reads several of them
    /// before it uses one.
    __device__ void count_steps(std::uint32_t own, std::uint32_t& other, std::uint32_t& steps) const {
        constexpr int at_once = 4;
        const std::uint32_t entries = g_.gates(own) * g_.most_crossings;
        for (std::uint32_t first = lane(); first - lane() < entries; first += at_once * cuda::warp) {
            std::uint32_t to[at_once];
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
                const std::uint32_t entry = first + static_cast<std::uint32_t>(k) * cuda::warp;
                to[k] = entry < entries ? g_.gate(own)[entry / g_.most_crossings] : none;
            }
#pragma unroll
            for (int k = 0; k < at_once; ++k) {
                const std::uint32_t entry = first + static_cast<std::uint32_t>(k) * cuda::warp;
                if (to[k] != none) to[k] = g_.crossing(to[k], static_cast<int>(entry % g_.most_crossings)).x;
            }
#pragma unroll
            for (int k = 0; k < at_once; ++k)
                if (to[k] != none) to[k] = g_.piece[to[k]];
#pragma unroll
            for (int k = 0; k < at_once; ++k) count_step(to[k], other, steps);
        }
    }
    /// Counts one step of each lane.
    __device__ void count_step(std::uint32_t to, std::uint32_t& other, std::uint32_t& steps) const {
        for (unsigned left = __ballot_sync(cuda::every_lane, to != none ? 1 : 0); left != 0;) {
            const std::uint32_t next = __shfl_sync(cuda::every_lane, to, __ffs(static_cast<int>(left)) - 1);
            const unsigned same = __ballot_sync(cuda::every_lane, to == next ? 1 : 0);
            unsigned of = __ballot_sync(cuda::every_lane, other == next ? 1 : 0);
            if (of == 0) of = __ballot_sync(cuda::every_lane, other == none ? 1 : 0);
            left &= ~same;
            if (static_cast<int>(lane()) == __ffs(static_cast<int>(of)) - 1)
                other = next, steps += static_cast<std::uint32_t>(__popc(same));
        }
    }
    /// Writes a piece's record as one that is joined to a neighbour; false if a way through the piece is cheaper, or if
    /// it has keys. Over 40 lines because steps are listed, tested and written by the same lanes.
    __device__ bool absorb(std::uint32_t* scratch, std::uint32_t own, std::uint32_t other) const {
        const std::uint32_t gates = g_.gates(own), theirs = g_.gates(other), entries = gates * g_.most_crossings;
        std::uint32_t *const from = scratch, *const to = from + most_absorbed, *const price = to + most_absorbed;
        std::uint32_t steps = 0;
        bool fails = gates > most_absorbed;
        for (std::uint32_t k = lane(); k < gates; k += cuda::warp)
            fails = fails || g_.key[g_.gate(own)[k]] < work<Word, few_axes>::far;
        for (std::uint32_t begin = 0; begin < entries; begin += cuda::warp) {
            const std::uint32_t entry = begin + lane(), k = entry / g_.most_crossings;
            const uint2 step = entry < entries
                                   ? g_.crossing(g_.gate(own)[k], static_cast<int>(entry % g_.most_crossings))
                                   : uint2{none, 0};
            const unsigned all = __ballot_sync(cuda::every_lane, step.x != none ? 1 : 0);
            const std::uint32_t at = steps + static_cast<std::uint32_t>(__popc(all & ((1U << lane()) - 1)));
            if (step.x != none && at < most_absorbed) from[at] = k, to[at] = step.x, price[at] = step.y;
            steps += static_cast<std::uint32_t>(__popc(all));
        }
        fails = fails || steps > most_absorbed;
        if (__any_sync(cuda::every_lane, fails ? 1 : 0) != 0) return false;
        __syncwarp();
        const std::uint32_t *const table = g_.table(own), *const around = g_.table(other);
        for (std::uint32_t pair = lane(); pair < steps * steps; pair += cuda::warp) {
            const std::uint32_t a = pair / steps, b = pair % steps;
            fails = fails || (a < b && around[g_.slot[to[a]] * theirs + g_.slot[to[b]]] >
                                           price[a] + table[from[a] * gates + from[b]] + price[b]);
        }
        if (__any_sync(cuda::every_lane, fails ? 1 : 0) != 0) return false;
        std::uint32_t record = 0;
        if (lane() == 0) record = g_.take(c_, 2 + steps + gates + steps * gates);
        record = __shfl_sync(cuda::every_lane, record, 0);
        if (record == none) return false;
        if (lane() == 0) {
            g_.order[atomicAdd(&c_.gone, 1U)] = record, g_.pool[record] = steps, g_.pool[record + 1] = gates;
            atomicAdd(&c_.absorbed, 1U);
        }
        std::uint32_t* const kept = g_.pool + record + 2;
        for (std::uint32_t a = lane(); a < steps; a += cuda::warp) {
            kept[a] = to[a];
            for (int k = 0; k < g_.most_crossings; ++k)
                if (g_.crossing(to[a], k).x == g_.gate(own)[from[a]]) g_.crossing(to[a], k).x = none;
        }
        for (std::uint32_t k = lane(); k < gates; k += cuda::warp) kept[steps + k] = g_.gate(own)[k];
        for (std::uint32_t k = lane(); k < steps * gates; k += cuda::warp)
            kept[steps + gates + k] = price[k / gates] + table[from[k / gates] * gates + k % gates];
        return true;
    }

    const gate_graph<Word>& g_;
    solver_counts& c_;
    std::uint32_t most_gates_;
};

}  // namespace nearfield::geodesics
