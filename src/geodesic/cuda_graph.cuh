// Elimination of the cells that remain of all parts of tiles: a graph in global memory; the grid syncs between phases.
#pragma once

#include "geodesic/cuda_contract.cuh"

namespace nearfield::geodesics {

inline constexpr int graph_threads = 256;

struct node_lists {
    static constexpr std::uint32_t heaviest = 0x7fffffffU, gates = 0, patience = 64;
    static constexpr int most_turns = most_rounds, capacity = node_degree, most_chosen = 3 * node_degree / 4;

    edge* edges;
    std::uint32_t *start, *order, *gone, nodes;

    [[nodiscard]] __device__ edge at(std::uint32_t v, int k, int side) const { return *of(v, k, side); }
    __device__ void put(std::uint32_t v, int k, const edge& e, int side) const { *of(v, k, side) = e; }
    [[nodiscard]] __device__ std::uint32_t first() const { return blockIdx.x * blockDim.x + threadIdx.x; }
    [[nodiscard]] __device__ std::uint32_t stride() const { return gridDim.x * blockDim.x; }
    __device__ void meet() const {
        if (gridDim.x > 1) cooperative_groups::this_grid().sync();
        else __syncthreads();
    }
    [[nodiscard]] __device__ bool begin(int turn, std::uint32_t count, int) const {
        if (first() == 0) start[turn] = nodes - count;
        return true;
    }
    __device__ void let_go(std::uint32_t v, bool is, int) const { append(order, gone, v, is); }

private:
    [[nodiscard]] __device__ edge* of(std::uint32_t v, int k, int side) const {
        return edges + (static_cast<std::int64_t>(v) * 2 + (side != 0 ? 1 : 0)) * capacity + k;
    }
};

template <class Word>
struct node_graph : graph_of<Word, node_lists, std::uint32_t> {
    explicit __device__ node_graph(const elimination<Word>& e, int seed_bits) {
        this->edges = e.edges, this->start = e.start, this->order = e.order, this->gone = &e.counts->gone;
        this->nodes = e.counts->nodes, this->key = e.key, this->state = e.state, this->next = e.next;
        this->mark = e.mark, this->fresh = e.fresh, this->living[0] = e.living[0], this->living[1] = e.living[1];
        this->alive = e.counts->alive, this->seed_bits = seed_bits;
    }
    [[nodiscard]] __device__ std::uint32_t living_now(int turn) const {
        return turn == 0 ? this->nodes : geodesics::fresh(this->alive + (turn & 1));
    }
};

/// Adds the steps between parts, and those too dear for a part's lists. A thread owns a node.
template <class Word, int Axes>
__global__ void __launch_bounds__(graph_threads)
    link_parts(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ elimination<Word> e) {
    if (!e.wanted() || e.counts->overflow != 0) return;
    const node_graph<Word> g(e, w.seed_bits);
    for (std::uint32_t v = g.first(); v < g.nodes; v += g.stride()) {
        const auto own = static_cast<std::int64_t>(e.cell[v]);
        int degree = e.state[v];
        for_steps(w, own, [&](std::int64_t to, std::uint32_t price) {
            if (e.together(own, to) && price <= part_lists::heaviest) return;
            const std::int64_t part = e.part_of(to);
            const edge more{e.first_node[part] + (e.record[part * part_cells + e.cell_of(to)] & ~not_gone), price};
            int k = 0;
            while (k < degree && g.at(v, k, 0).to != more.to) ++k;
            if (k == degree || g.at(v, k, 0).weight > price) g.put(v, k, more, 0);
            degree = max(degree, k + 1);
        });
        e.state[v] = static_cast<std::uint8_t>(degree), e.fresh[v] = 0, e.living[0][v] = v;
    }
}

/// Relaxes the nodes that are not eliminated, frontier by frontier.
template <class Word>
__device__ void relax_core(const node_graph<Word>& g, const elimination<Word>& e, int turns, std::uint32_t left) {
    std::uint32_t* const front[2] = {g.living[~turns & 1], g.order + (g.nodes - left)};
    std::uint32_t* const waiting = e.counts->front;
    const auto lane = threadIdx.x % cuda::warp;
    for (std::uint32_t i = g.first() - lane; i < left; i += g.stride()) {
        const std::uint32_t v = i + lane < left ? g.living[turns & 1][i + lane] : 0;
        if (i + lane < left) g.fresh[v] = 0;
        append(front[0], waiting, v, i + lane < left && g.key[v] < work<Word, few_axes>::far);
    }
    g.meet();
    for (std::uint32_t round = 0;; ++round) {
        const std::uint32_t count = fresh(waiting + round % 3);
        if (count == 0) return;
        if (g.first() == 0) waiting[(round + 2) % 3] = 0;
        for (std::uint32_t i = g.first(); i < count; i += g.stride()) {
            const std::uint32_t v = fresh(front[round & 1] + i);
            const Word own = fresh(g.key + v);
            for (int k = 0; k < g.degree(v); ++k) {
                const edge next = g.listed(v, k);
                const Word offered = sum(own, static_cast<Word>(static_cast<Word>(next.weight) << g.seed_bits));
                if (fresh(g.key + next.to) <= offered) continue;
                lower(g.key + next.to, offered);
                if (atomicExch(g.fresh + next.to, round + 1) != round + 1)
                    front[~round & 1][atomicAdd(waiting + (round + 1) % 3, 1U)] = next.to;
            }
        }
        g.meet();
    }
}

/// Computes the keys of the nodes: eliminates, relaxes the remaining nodes, and substitutes back.
template <class Word, int Axes>
__global__ void __launch_bounds__(graph_threads)
    contract_graph(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ elimination<Word> e) {
    if (!e.wanted() || e.counts->overflow != 0) return;
    node_graph<Word> g(e, w.seed_bits);
    const int turns = eliminate(g);
    const std::uint32_t left = g.living_now(turns);
    if (g.first() == 0) e.counts->turns = static_cast<std::uint32_t>(turns), e.counts->core = left;
    if (left > static_cast<std::uint32_t>(e.rules.most_core)) return;
    if (g.first() == 0) g.start[turns] = g.nodes - left;
    relax_core(g, e, turns, left);
    g.meet();
    for (int turn = turns - 1; turn >= 0; --turn) {
        const std::uint32_t end = g.start[turn + 1];
        for (std::uint32_t i = g.start[turn] + g.first(); i < end; i += g.stride()) {
            const std::uint32_t v = g.order[i];
            Word best = g.key[v];
            for (int k = 0; k < g.degree(v); ++k) best = min(best, g.offered(g.listed(v, k)));
            g.key[v] = best;
        }
        g.meet();
    }
    for (std::uint32_t v = g.first(); v < g.nodes; v += g.stride()) w.key[e.cell[v]] = g.key[v];
    if (g.first() == 0) e.counts->solved = 1;
}

}  // namespace nearfield::geodesics
