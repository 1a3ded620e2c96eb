// Min-plus elimination. An eliminated node gives each pair of its neighbours the edge of the path through it, and each
// neighbour the key that it offers there. The keys of remaining nodes stay correct. Afterwards the eliminated nodes get
// the least key that their lists offer, from the last node to the first.
//
// Nodes are cells of a tile in shared memory, or the remaining cells of all tiles in global memory. A round on either
// chooses nodes of low degree that are the least of their neighbourhood, so never two adjacent ones. The others compute
// their lists without them, and veto them if a list would overflow. The chosen nodes are eliminated, and new edges that
// a path of two others replaces are dropped. Both ends list an edge, with one weight.
#pragma once

#include <cooperative_groups.h>

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

struct edge {
    std::uint32_t to, weight;
};

/// Decision about a node in a round.
enum node_mark : std::uint8_t { stays, goes, vetoed };

/// Fields of a node's state: its degree, whether it must remain, and which of its two lists is valid.
inline constexpr std::uint8_t degree_bits = 63, gate_bit = 64, side_bit = 128, unchanged = 255;

__device__ inline std::uint32_t mixed(std::uint32_t h) {
    h ^= h >> 16, h *= 0x85ebca6bU, h ^= h >> 13, h *= 0xc2b2ae35U;
    return h ^ h >> 16;
}

/// A graph and its remaining nodes. `Lists` stores the edges: at(node, k, side) and put(node, k, edge, side).
template <class Word, class Lists, class Number>
struct graph_of : Lists {
    using key_type = Word;

    Word* key;
    std::uint8_t *state, *next, *mark;  ///< next: degree of the new list
    std::uint32_t* fresh;               ///< marks new edges, a bit each
    Number* living[2];
    std::uint32_t* alive;  ///< number of remaining nodes, of this and of the next round in turns
    int seed_bits;

    [[nodiscard]] __device__ int degree(std::uint32_t v) const { return state[v] & degree_bits; }
    [[nodiscard]] __device__ edge listed(std::uint32_t v, int k) const { return this->at(v, k, state[v] & side_bit); }
    [[nodiscard]] __device__ bool may_go(std::uint32_t v, int most) const {
        return (state[v] & gate_bit) == 0 && degree(v) <= most;
    }
    [[nodiscard]] __device__ std::uint64_t rank(std::uint32_t v, int turn) const {
        const std::uint32_t hash = mixed(v * 2654435761U + static_cast<std::uint32_t>(turn)) >> 8;
        return static_cast<std::uint64_t>(degree(v)) << 56 | static_cast<std::uint64_t>(hash) << 32 | v;
    }
    [[nodiscard]] __device__ Word offered(const edge& e) const {
        return sum(key[e.to], static_cast<Word>(static_cast<Word>(e.weight) << seed_bits));
    }
    /// Calls use(v) for the remaining nodes, each in one thread, which is the same in all phases of a round.
    template <class Use>
    __device__ void for_living(int turn, std::uint32_t count, const Use& use) const {
        for (std::uint32_t i = this->first(); i < count; i += this->stride()) use(std::uint32_t{living[turn & 1][i]});
    }
};

// ---- the phases of a round ------------------------------------------------------------------------------------------

template <class Graph>
__device__ void choose(const Graph& g, std::uint32_t count, int turn, int most) {
    g.for_living(turn, count, [&](std::uint32_t v) {
        bool least = g.may_go(v, most);
        const std::uint64_t own = g.rank(v, turn);
        for (int k = 0; least && k < g.degree(v); ++k) {
            const std::uint32_t other = g.listed(v, k).to;
            least = !g.may_go(other, most) || own < g.rank(other, turn);
        }
        g.mark[v] = least ? goes : stays;
    });
}

/// Computes the list of a node without its chosen neighbours; with `last`, without those that are not vetoed. False if
/// the list might overflow, whichever of them are eliminated.
template <class Graph>
__device__ bool draw_up(const Graph& g, std::uint32_t v, bool last) {
    const int degree = g.degree(v);
    const int side = (g.state[v] & side_bit) ^ side_bit;
    std::uint32_t chosen = 0, fresh = 0;
    int count = 0, added = 0;
    for (int k = 0; k < degree; ++k) {
        const edge e = g.listed(v, k);
        if (g.mark[e.to] == goes || (!last && g.mark[e.to] == vetoed)) chosen |= 1U << k;
        else g.put(v, count++, e, side);
    }
    g.next[v] = unchanged;
    if (chosen == 0) return true;
    bool light = true;
    for (; chosen != 0; chosen &= chosen - 1) {
        const edge e = g.listed(v, __ffs(static_cast<int>(chosen)) - 1);
        for (int j = 0; j < g.degree(e.to); ++j) {
            edge more = g.listed(e.to, j);
            if (more.to == v) continue;
            more.weight += e.weight;
            light = light && more.weight <= g.heaviest;
            int k = 0;
            edge known{};
            while (k < count && (known = g.at(v, k, side)).to != more.to) ++k;
            if (k == count) ++added;
            if (k == g.capacity || (k < count && known.weight <= more.weight)) continue;
            g.put(v, k, more, side), fresh |= 1U << k;
            count = max(count, k + 1);
        }
    }
    g.next[v] = static_cast<std::uint8_t>(count), g.fresh[v] = fresh;
    return light && degree - 1 + added <= g.capacity;
}

/// Vetoes chosen nodes whose elimination would overflow a list. Other threads see `goes` or `vetoed` meanwhile, which
/// draw_up() takes alike.
template <class Graph>
__device__ void veto(const Graph& g, std::uint32_t count, int turn) {
    g.for_living(turn, count, [&](std::uint32_t v) {
        g.next[v] = unchanged;
        if (g.mark[v] != stays || draw_up(g, v, false)) return;
        for (int k = 0; k < g.degree(v); ++k) {
            const std::uint32_t other = g.listed(v, k).to;
            if (g.mark[other] != stays) g.mark[other] = vetoed;
        }
    });
}

/// Switches a remaining node to its new list, and relaxes it from its eliminated neighbours.
template <class Graph>
__device__ void renew(const Graph& g, std::uint32_t v) {
    bool again = false, any = false;
    typename Graph::key_type best = g.key[v];
    for (int k = 0; k < g.degree(v) && g.next[v] != unchanged; ++k) {
        const edge e = g.listed(v, k);
        again = again || g.mark[e.to] == vetoed;
        if (g.mark[e.to] == goes) best = min(best, g.offered(e)), any = true;
    }
    if (again && any) draw_up(g, v, true);
    if (!any) return void(g.fresh[v] = 0);
    g.key[v] = best;
    g.state[v] = static_cast<std::uint8_t>(((g.state[v] & (side_bit | gate_bit)) ^ side_bit) | g.next[v]);
}

template <class Graph>
__device__ void commit(Graph& g, std::uint32_t count, int turn) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (std::uint32_t i = g.first() - static_cast<std::uint32_t>(lane); i < count; i += g.stride()) {
        const bool is = i + static_cast<std::uint32_t>(lane) < count;
        const std::uint32_t v = is ? g.living[turn & 1][i + static_cast<std::uint32_t>(lane)] : 0;
        const bool gone = is && g.mark[v] == goes;
        g.let_go(v, gone, turn);
        if (is && !gone) renew(g, v);
        append(g.living[~turn & 1], g.alive + (~turn & 1), v, is && !gone);
    }
}

/// Drops new edges that a path of two lighter edges replaces. These are kept, or replaced by still lighter ones.
template <class Graph>
__device__ void prune(const Graph& g, std::uint32_t count, int turn) {
    g.for_living(turn, count, [&](std::uint32_t v) {
        std::uint32_t dropped = 0;
        const int degree = g.degree(v);
        for (std::uint32_t rest = g.fresh[v]; rest != 0; rest &= rest - 1) {
            const int own = __ffs(static_cast<int>(rest)) - 1;
            const edge direct = g.listed(v, own);
            bool longer = false;
            for (int j = 0; j < degree && !longer; ++j) {
                const edge e = g.listed(v, j);
                if (e.weight >= direct.weight || e.to == direct.to) continue;
                const int further = g.degree(e.to);
                for (int k = 0; k < further && !longer; ++k) {
                    const edge f = g.listed(e.to, k);
                    longer = f.to == direct.to && e.weight + f.weight <= direct.weight;
                }
            }
            if (longer) dropped |= 1U << own;
        }
        g.fresh[v] = dropped;
    });
    g.meet();
    g.for_living(turn, count, [&](std::uint32_t v) {
        const std::uint32_t dropped = g.fresh[v];
        if (dropped == 0) return;
        const int degree = g.degree(v);
        int kept = 0;
        for (int k = 0; k < degree; ++k)
            if ((dropped >> k & 1) == 0) g.put(v, kept++, g.listed(v, k), g.state[v] & side_bit);
        g.state[v] = static_cast<std::uint8_t>((g.state[v] & (side_bit | gate_bit)) | kept);
    });
    g.meet();
}

/// Eliminates until a round removes only few nodes; returns the number of rounds. All threads call it.
template <class Graph>
__device__ int eliminate(Graph& g) {
    int turn = 0, most = 2;
    for (std::uint32_t count = g.living_now(0); turn < g.most_turns && count > g.gates; ++turn) {
        if (!g.begin(turn, count, most)) break;
        choose(g, count, turn, most);
        if (g.first() == 0) g.alive[~turn & 1] = 0;
        g.meet();
        veto(g, count, turn);
        g.meet();
        commit(g, count, turn);
        g.meet();
        const std::uint32_t left = g.living_now(turn + 1), went = count - left;
        count = left;
        prune(g, count, turn + 1);
        if (went * 8 >= count - g.gates) continue;
        if (most < g.most_chosen) ++most;
        else if (went == 0 || went * g.patience < count - g.gates) {
            ++turn;
            break;
        }
    }
    return turn;
}

}  // namespace nearfield::geodesics
