// Eliminates nearly all inner cells of a square part at once, if steps go along its sides for one price. The cells that
// remain are its gates, which have a step out of the part, and its junctions. A warp floods the part from each of them;
// a lane owns a row, whose cells are bits. An edge that a path of two others replaces is dropped.
#pragma once

#include "geodesic/cuda_contract.cuh"

namespace nearfield::geodesics {

inline constexpr int square_side = 1 << part_bits / 2, most_gates = 64, squares_at_once = 4;
inline constexpr std::uint32_t largest_square_price = part_lists::heaviest >> 3;  ///< so that no path is too dear

/// Nodes of a part, and the numbers of steps between them.
struct part_gates {
    static constexpr std::uint16_t apart = 0xffff;
    static constexpr int most_edges = 8;  ///< more edges take longer on the graph than elimination of the part

    std::uint16_t cell[most_gates], away[most_gates][most_gates];
    std::uint32_t kept[most_gates][most_gates / cuda::warp];
};

/// A warp's part.
template <class Word>
class square_part {
public:
    __device__ square_part(const work<Word, few_axes>& w, const elimination<Word>& e, part_gates& m, std::int64_t part)
        : w_(w), e_(e), m_(m), part_(part) {
        read_rows();
        find_gates();
        count_nodes();
    }

    /// Adds the gates to the graph; false if there are too many of them or of edges, or if a cell has a key, which the
    /// gates might not know.
    __device__ bool contract() {
        if (known_ != 0 || count_ > most_gates) return false;
        number_gates();
        for (int g = 0; g < count_; ++g) flood(g);
        __syncwarp();
        for (int g = 0; g < count_; ++g)
            if (!choose_edges(g)) return false;
        __syncwarp();
        write();
        return true;
    }

private:
    static_assert(square_side == cuda::warp);

    [[nodiscard]] __device__ Word key_of(int cell) const { return w_.key[e_.place_of(part_, cell)]; }
    __device__ void read_rows() {
#pragma unroll 8
        for (int y = 0; y < square_side; ++y) {
            const Word key = key_of(y * square_side + lane_);
            const unsigned open = __ballot_sync(cuda::every_lane, key != 0 ? 1 : 0);
            known_ |= __ballot_sync(cuda::every_lane, key != 0 && key < work<Word, few_axes>::far ? 1 : 0);
            if (y == lane_) open_ = open;
        }
    }
    __device__ void find_gates() {
        constexpr int last = square_side - 1;
        for (int s = 0; s < w_.step_count; ++s) {
            const vector_of_step& by = w_.steps[s].by;
            const int x = by[few_axes - 1], y = by[few_axes - 2];
            const int cell =
                y == 0 ? lane_ * square_side + (x > 0 ? last : 0) : (y > 0 ? last : 0) * square_side + lane_;
            const std::int64_t own = e_.place_of(part_, cell);
            std::int64_t at[few_axes];
            w_.where.locate(own >> device_tile_bits, local_of(static_cast<std::uint32_t>(own)), at);
            const std::int64_t to = w_.where.neighbour(at, by);
            const bool gate = w_.key[own] != 0 && to >= 0 && w_.key[to] != 0;
            const unsigned all = __ballot_sync(cuda::every_lane, gate ? 1 : 0);
            if (y != 0 && lane_ == (y > 0 ? last : 0)) gate_ |= all;
            if (y == 0 && gate) gate_ |= 1U << (x > 0 ? last : 0);
        }
    }
    [[nodiscard]] __device__ unsigned beside(unsigned row, unsigned (&of)[4]) const {
        const unsigned above = __shfl_up_sync(cuda::every_lane, row, 1),
                       below = __shfl_down_sync(cuda::every_lane, row, 1);
        of[0] = row << 1, of[1] = row >> 1, of[2] = lane_ > 0 ? above : 0, of[3] = lane_ < cuda::warp - 1 ? below : 0;
        return of[0] | of[1] | of[2] | of[3];
    }
    /// Returns the junctions that remain when dead ends are cut off: cells with three neighbours or more. As nodes they
    /// spare the edges between all pairs of gates beyond them.
    [[nodiscard]] __device__ unsigned junctions() const {
        unsigned of[4];
        for (unsigned row = open_;;) {
            static_cast<void>(beside(row, of));
            const unsigned through = (of[0] & of[1]) | (of[2] & of[3]) | ((of[0] | of[1]) & (of[2] | of[3]));
            const unsigned dead = row & ~through & ~gate_;
            row &= ~dead;
            if (__any_sync(cuda::every_lane, dead != 0 ? 1 : 0) != 0) continue;
            return row & ((of[0] & of[1] & (of[2] | of[3])) | (of[2] & of[3] & (of[0] | of[1])));
        }
    }
    /// Counts the nodes: the gates, and the junctions if there is room for them.
    __device__ void count_nodes() {
        const unsigned all = gate_ | junctions();
        if (__reduce_add_sync(cuda::every_lane, static_cast<unsigned>(__popc(all))) <= most_gates) gate_ = all;
        const int own = __popc(gate_);
        int up_to = own;
        for (int by = 1; by < cuda::warp; by *= 2) {
            const int before = __shfl_up_sync(cuda::every_lane, up_to, by);
            if (lane_ >= by) up_to += before;
        }
        first_ = up_to - own, count_ = __shfl_sync(cuda::every_lane, up_to, cuda::warp - 1);
    }
    /// Returns the number of this lane's gate at the lowest bit of `at`.
    [[nodiscard]] __device__ int gate_at(unsigned at) const { return first_ + __popc(gate_ & ((at & -at) - 1)); }
    __device__ void number_gates() {
        for (unsigned left = gate_; left != 0; left &= left - 1)
            m_.cell[gate_at(left)] =
                static_cast<std::uint16_t>(lane_ * square_side + __ffs(static_cast<int>(left)) - 1);
        for (int g = 0; g < count_; ++g)
            for (int to = lane_; to < most_gates; to += cuda::warp) m_.away[g][to] = part_gates::apart;
        __syncwarp();
    }
    /// Finds the number of steps from a gate to the others.
    __device__ void flood(int gate) {
        const int from = m_.cell[gate];
        unsigned of[4], todo = open_, found = lane_ == from / square_side ? 1U << from % square_side : 0;
        for (std::uint16_t level = 0;; ++level) {
            todo &= ~found;
            for (unsigned hit = found & gate_; hit != 0; hit &= hit - 1) m_.away[gate][gate_at(hit)] = level;
            found = beside(found, of) & todo;
            if (__any_sync(cuda::every_lane, found != 0 ? 1 : 0) == 0) return;
        }
    }
    /// Chooses the edges of a gate; false if there are too many.
    __device__ bool choose_edges(int gate) {
        int degree = 0;
        for (int half = 0; half < most_gates / cuda::warp; ++half) {
            const int to = half * cuda::warp + lane_;
            const int whole = m_.away[gate][to];
            bool keeps = to != gate && whole != part_gates::apart;
            for (int other = 0; other < most_gates / cuda::warp; ++other) {
                const int from = m_.away[gate][other * cuda::warp + lane_];
                unsigned near = __ballot_sync(cuda::every_lane, from != 0 && from != part_gates::apart ? 1 : 0);
                for (; near != 0; near &= near - 1) {
                    const int by = other * cuda::warp + __ffs(static_cast<int>(near)) - 1;
                    keeps = keeps && (by == to || m_.away[gate][by] + m_.away[by][to] > whole);
                }
            }
            const unsigned kept = __ballot_sync(cuda::every_lane, keeps ? 1 : 0);
            if (lane_ == 0) m_.kept[gate][half] = kept;
            degree += __popc(kept);
        }
        return degree <= part_gates::most_edges;
    }
    /// Writes gates as nodes. Records of other cells say that expand_parts() has nothing to do for them.
    __device__ void write() {
        const std::uint32_t price = w_.steps[0].price;
        std::uint32_t first = 0;
        if (lane_ == 0) {
            first = e_.first_node[part_] = atomicAdd(&e_.counts->nodes, static_cast<std::uint32_t>(count_));
            atomicAdd(&e_.counts->squares, 1U);
        }
        first = __shfl_sync(cuda::every_lane, first, 0);
        std::uint32_t* const record = e_.record + part_ * part_cells;
        for (int c = lane_; c < part_cells; c += cuda::warp) record[c] = not_gone;
        __syncwarp();
        if (first + static_cast<std::uint32_t>(count_) > e_.most_nodes) {
            e_.counts->overflow = 1;
            return;
        }
        for (int g = 0; g < count_; ++g) {
            const std::uint32_t node = first + static_cast<std::uint32_t>(g);
            int degree = 0;
            for (int half = 0; half < most_gates / cuda::warp; ++half) {
                const unsigned kept = m_.kept[g][half];
                const int to = half * cuda::warp + lane_, k = degree + __popc(kept & ((1U << lane_) - 1));
                if ((kept >> lane_ & 1) != 0)
                    e_.edges[static_cast<std::int64_t>(node) * 2 * node_degree + k] = {
                        first + static_cast<std::uint32_t>(to), m_.away[g][to] * price};
                degree += __popc(kept);
            }
            if (lane_ != 0) continue;
            record[m_.cell[g]] = not_gone | static_cast<std::uint32_t>(g);
            e_.key[node] = key_of(m_.cell[g]);
            e_.cell[node] = static_cast<std::uint32_t>(e_.place_of(part_, m_.cell[g]));
            e_.state[node] = static_cast<std::uint8_t>(degree);
        }
    }

    const work<Word, few_axes>& w_;
    const elimination<Word>& e_;
    part_gates& m_;
    const std::int64_t part_;
    const int lane_ = static_cast<int>(threadIdx.x) % cuda::warp;
    unsigned open_ = 0, gate_ = 0;  ///< the row's cells in the mask, and those that become nodes
    unsigned known_ = 0;            ///< not 0 if a cell of the part has a key
    int first_ = 0, count_ = 0;     ///< number of the row's first node; number of all nodes
};

/// Contracts the parts that square_part serves, if `serves`, and marks the others. A warp owns a part.
template <class Word>
__global__ void __launch_bounds__(squares_at_once* cuda::warp)
    contract_squares(const __grid_constant__ work<Word, few_axes> w, const __grid_constant__ elimination<Word> e,
                     bool serves) {
    __shared__ part_gates memory[squares_at_once];
    if (!e.wanted()) return;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    for (std::int64_t part = std::int64_t{blockIdx.x} * squares_at_once + warp; part < e.parts;
         part += std::int64_t{gridDim.x} * squares_at_once) {
        const bool served = serves && square_part<Word>(w, e, memory[warp], part).contract();
        if (!served && threadIdx.x % cuda::warp == 0) e.first_node[part] = elimination<Word>::no_node;
        __syncwarp();
    }
}

}  // namespace nearfield::geodesics
