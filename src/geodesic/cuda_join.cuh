// Pieces of wide corridors, joined two at a time. The gates between two pieces are closed over: min-plus matrices say
// what the others cost through them, and what they themselves cost from the others. Afterwards the gates of the few
// remaining pieces are relaxed, and those between joined pieces get their keys, last pieces first.
#pragma once

#include "geodesic/cuda_pairs.cuh"

namespace nearfield::geodesics {

inline constexpr int join_threads = 512;
/// Largest number of gates of two pieces that a block joins: two blocks share a multiprocessor. The sides of a corridor
/// along a rim have 64 gates and more each.
inline constexpr int most_joined_gates = 160;

/// The gates of two pieces, and the costs between them, in the memory of a block.
template <class Word>
struct joined_pieces {
    static constexpr int most_gates = most_joined_gates;

    int row;                          ///< entries of a row of `cost`
    std::uint32_t *cost, *gate, *at;  ///< at: a gate's place among those that stay, or among the others
    Word* key;
    std::uint8_t *stays, *pivots;

    static constexpr std::size_t bytes(int gates) {
        return static_cast<std::size_t>(gates) *
               (sizeof(Word) + 2 + sizeof(std::uint32_t) * (static_cast<std::size_t>(gates) + 3));
    }
    /// Number of gates for which a block has memory.
    static int gates_in(std::size_t shared_bytes) {
        int gates = most_gates;
        while (gates > 0 && bytes(gates) > shared_bytes) gates -= 8;
        return gates;
    }
    __device__ joined_pieces(std::uint64_t* memory, int gates) : row(gates + 1), key(reinterpret_cast<Word*>(memory)) {
        cost = reinterpret_cast<std::uint32_t*>(key + gates), gate = cost + gates * row, at = gate + gates;
        stays = reinterpret_cast<std::uint8_t*>(at + gates), pivots = stays + gates;
    }
};

/// Facts about the pieces that a team joins, which its threads share.
struct joined_counts {
    int pivots, kept, gone;
    std::uint32_t piece, record;
};

/// The threads that join a pair of pieces: a warp, if the pair has few gates, or a block.
template <int Threads>
struct team {
    static constexpr int warps = Threads / cuda::warp;
    static constexpr int chunks = warps == 1 ? 1 : most_joined_gates / cuda::warp;  ///< columns of a lane

    [[nodiscard]] static __device__ int thread() { return static_cast<int>(threadIdx.x) % Threads; }
    [[nodiscard]] static __device__ int warp() { return thread() / cuda::warp; }
    static __device__ void meet() { warps == 1 ? __syncwarp() : __syncthreads(); }
    [[nodiscard]] static __device__ bool any(bool is) {
        return (warps == 1 ? __any_sync(cuda::every_lane, is ? 1 : 0) : __syncthreads_or(is ? 1 : 0)) != 0;
    }
};

template <class Word>
class joiner : public grid_threads {
public:
    using graph_type = gate_graph<Word>;
    static constexpr std::uint32_t far = graph_type::far, none = graph_type::none, final_piece = none;

    __device__ joiner(const graph_type& g, solver_counts& c, int seed_bits, int most_gates)
        : g_(g), c_(c), pairs_(g, c, most_gates), seed_bits_(seed_bits), most_gates_(most_gates) {}

    /// Joins pieces until few pairs are found; returns the number of rounds. All threads call it.
    __device__ int join(std::uint64_t* memory) {
        using each = team<join_threads>;
        __shared__ joined_counts n[each::warps];
        constexpr std::size_t bytes = joined_pieces<Word>::bytes(cuda::warp);
        const auto warps = min(each::warps, static_cast<int>(joined_pieces<Word>::bytes(most_gates_) / bytes));
        const joined_pieces<Word> all(memory, most_gates_),
            own(memory + each::warp() * bytes / sizeof(std::uint64_t), cuda::warp);
        int turn = 0;
        for (std::uint32_t count = fresh(c_.alive); turn < most_rounds / 2 - 1 && count > 1; ++turn) {
            const std::uint32_t before = fresh(&c_.gone);
            if (first() == 0)
                g_.start[2 * turn] = before, c_.alive[~turn & 1] = 0, c_.front[turn & 1] = c_.front[2] = 0;
            pairs_.choose(turn, count);
            meet();
            for (std::uint32_t i = each::warp() * gridDim.x + blockIdx.x; each::warp() < warps && i < count;
                 i += warps * gridDim.x)
                pairs_.absorb_leaf(own.cost, g_.living[turn & 1][i]);
            meet();
            if (first() == 0) g_.start[2 * turn + 1] = fresh(&c_.gone);
            pairs_.pair_up(turn, count);
            meet();
            const std::uint32_t pairs = fresh(c_.front + (turn & 1)), small = fresh(c_.front + 2);
            for (std::uint32_t i = blockIdx.x; i < pairs; i += gridDim.x)
                join_pair<each>(all, n[0], g_.front[0][i], turn);
            __syncthreads();
            for (std::uint32_t i = each::warp() * gridDim.x + blockIdx.x; each::warp() < warps && i < small;
                 i += warps * gridDim.x)
                join_pair<team<cuda::warp>>(own, n[each::warp()], g_.front[1][i], turn);
            meet();
            const std::uint32_t made = fresh(&c_.gone) - before;
            count = fresh(c_.alive + (~turn & 1));
            if (made * 64 < count || made == 0) return turn + 1;
        }
        return turn;
    }

    /// Relaxes the gates of the remaining pieces, frontier by frontier. A warp owns a gate that another piece improved.
    __device__ void relax_rest(int turns) const {
        std::uint32_t* const waiting = c_.front;
        const std::uint32_t* const living = g_.living[turns & 1];
        const std::uint32_t count = fresh(c_.alive + (turns & 1));
        for (std::uint32_t i = first() / cuda::warp; i < count; i += stride() / cuda::warp)
            for (std::uint32_t k = lane(); k < g_.gates(living[i]); k += cuda::warp) {
                const std::uint32_t gate = g_.gate(living[i])[k];
                g_.seen[gate] = 0;
                if (fresh(g_.key + gate) < key_far) g_.front[0][atomicAdd(waiting, 1U)] = gate;
            }
        meet();
        for (std::uint32_t round = 0;; ++round) {
            const std::uint32_t fronts = fresh(waiting + round % 3);
            if (fronts == 0) return;
            if (first() == 0) waiting[(round + 2) % 3] = 0;
            for (std::uint32_t i = first() / cuda::warp; i < fronts; i += stride() / cuda::warp)
                spread(fresh(g_.front[round & 1] + i), g_.front[~round & 1], waiting + (round + 1) % 3, round + 1);
            meet();
        }
    }

    /// Computes the keys of the gates between joined pieces, last round first. A warp owns a pair of pieces.
    __device__ void come_back(int turns) const {
        std::uint32_t end = fresh(&c_.gone);
        for (int half = 2 * turns - 1; half >= 0; end = g_.start[half], --half) {
            for (std::uint32_t i = g_.start[half] + first() / cuda::warp; i < end; i += stride() / cuda::warp) {
                const std::uint32_t* const of = g_.pool + g_.order[i];
                const std::uint32_t kept = of[0], gone = of[1];
                for (std::uint32_t k = lane(); k < gone; k += cuda::warp) {
                    const std::uint32_t gate = of[2 + kept + k];
                    Word best = g_.key[gate];
                    for (std::uint32_t j = 0; j < kept; ++j)
                        best = min(best, sum(fresh(g_.key + of[2 + j]), way(of[2 + kept + gone + j * gone + k])));
                    g_.key[gate] = best;
                }
            }
            meet();
        }
    }

private:
    static constexpr Word key_far = work<Word, few_axes>::far;

    /// The steps of a gate, and the pieces to which they lead.
    struct gate_steps {
        uint2 step[graph_type::most_crossings];
        std::uint32_t piece[graph_type::most_crossings];

        __device__ gate_steps(const graph_type& g, std::uint32_t gate) {
#pragma unroll
            for (int k = 0; k < g.most_crossings; ++k) step[k] = g.crossing(gate, k);
#pragma unroll
            for (int k = 0; k < g.most_crossings; ++k) piece[k] = step[k].x == none ? none : g.piece[step[k].x];
        }
    };

    /// Returns the lane's column of a chunk.
    [[nodiscard]] static __device__ int column(int chunk) { return chunk * cuda::warp + static_cast<int>(lane()); }
    [[nodiscard]] __device__ Word way(std::uint32_t cost) const {
        return static_cast<Word>(static_cast<Word>(cost) << seed_bits_);
    }

    /// Joins a piece and its partner, or notes that they remain. All threads of the team call it.
    template <class Team>
    __device__ void join_pair(const joined_pieces<Word>& m, joined_counts& n, std::uint32_t piece, int turn) const {
        const std::uint32_t other = g_.partner(piece);
        const int own = static_cast<int>(g_.gates(piece)), count = own + static_cast<int>(g_.gates(other));
        read_pair<Team>(m, n, piece, other, own, count);
        Team::meet();
        close<Team>(m, n.pivots, count);
        const int thread = Team::thread();
        // All gates reach each other. If costs do not fit, one from the first gate is at least half of what does.
        const bool dear = Team::any(thread < count && m.cost[thread] >= far / 2),
                   reached = Team::any(thread < count && m.key[thread] < key_far);
        if (thread == 0) reserve(n, dear, turn);
        Team::meet();
        if (n.piece == none) {
            if (thread != 0) return;
            for (const std::uint32_t each : {piece, other})
                g_.partner(each) = final_piece, g_.living[~turn & 1][atomicAdd(c_.alive + (~turn & 1), 1U)] = each;
            return;
        }
        if (reached) spread_keys<Team>(m, count);
        write_pair<Team>(m, n, piece, other, count);
        Team::meet();
    }
    template <class Team>
    __device__ void read_pair(const joined_pieces<Word>& m, joined_counts& n, std::uint32_t piece, std::uint32_t other,
                              int own, int count) const {
        const int thread = Team::thread();
        if (thread == 0) n.pivots = n.kept = n.gone = 0;
        if (thread < count) {
            const std::uint32_t gate = thread < own ? g_.gate(piece)[thread] : g_.gate(other)[thread - own];
            m.gate[thread] = gate, m.key[thread] = g_.key[gate];
        }
        for (int i = Team::warp(); i < count; i += Team::warps) {
            const bool low = i < own;
            const int start = low ? 0 : own, width = low ? own : count - own;
            const std::uint32_t* const row = g_.table(low ? piece : other) + (i - start) * width - start;
            std::uint32_t cost[Team::chunks];
#pragma unroll
            for (int c = 0; c < Team::chunks; ++c) {
                const int j = column(c);
                cost[c] = j < count && low == (j < own) ? row[j] : far;
            }
#pragma unroll
            for (int c = 0; c < Team::chunks; ++c)
                if (column(c) < count) m.cost[i * m.row + column(c)] = cost[c];
        }
        Team::meet();
        if (thread >= count) return;
        bool pivot = false, stays = false;
        const gate_steps all(g_, m.gate[thread]);
#pragma unroll
        for (int k = 0; k < g_.most_crossings; ++k) {
            const std::uint32_t there = all.piece[k];
            if (there == none) continue;
            if (there != piece && there != other) {
                stays = true;
                continue;
            }
            const int to = static_cast<int>(g_.slot[all.step[k].x]) + (there == piece ? 0 : own);
            m.cost[thread * m.row + to] = min(m.cost[thread * m.row + to], all.step[k].y), pivot = true;
        }
        m.stays[thread] = stays ? 1 : 0;
        if (pivot) m.pivots[atomicAdd(&n.pivots, 1)] = static_cast<std::uint8_t>(thread);
        m.at[thread] = static_cast<std::uint32_t>(atomicAdd(stays ? &n.kept : &n.gone, 1));
    }
    /// Closes the costs over the gates between both pieces. A warp owns a row.
    template <class Team>
    __device__ void close(const joined_pieces<Word>& m, int pivots, int count) const {
        for (int p = 0; p < pivots; ++p) {
            const int k = m.pivots[p];
            std::uint32_t by[Team::chunks];
#pragma unroll
            for (int c = 0; c < Team::chunks; ++c) {
                const int j = column(c);
                by[c] = j < count ? m.cost[k * m.row + j] : far;
            }
            for (int i = Team::warp(); i < count; i += Team::warps) {
                std::uint32_t* const row = m.cost + i * m.row;
                const std::uint32_t to = row[k];
                if (to == 0 || to == far) continue;
#pragma unroll
                for (int c = 0; c < Team::chunks; ++c) {
                    const int j = column(c);
                    if (j < count && to + by[c] < row[j]) row[j] = to + by[c];
                }
            }
            Team::meet();
        }
    }
    /// Reserves memory for a piece and for the record of its joining. One thread calls it.
    __device__ void reserve(joined_counts& n, bool dear, int turn) const {
        const auto kept = static_cast<std::uint32_t>(n.kept), gone = static_cast<std::uint32_t>(n.gone);
        n.piece = none;
        if (dear) return;
        const std::uint32_t of_record = 2 + kept + gone + kept * gone;
        n.record = g_.take(c_, of_record + graph_type::words(kept));
        if (n.record == none) return;
        n.piece = n.record + of_record;
        g_.order[atomicAdd(&c_.gone, 1U)] = n.record;
        g_.pool[n.record] = kept, g_.pool[n.record + 1] = gone, g_.pool[n.piece] = kept, g_.partner(n.piece) = 0;
        if (kept > 0) g_.living[~turn & 1][atomicAdd(c_.alive + (~turn & 1), 1U)] = n.piece;
    }
    /// Lowers the keys of all gates to what the others offer. A warp owns a gate.
    template <class Team>
    __device__ void spread_keys(const joined_pieces<Word>& m, int count) const {
        for (int i = Team::warp(); i < count; i += Team::warps) {
            Word best = key_far;
            for (int j = static_cast<int>(lane()); j < count; j += cuda::warp)
                best = min(best, sum(m.key[j], way(m.cost[i * m.row + j])));
            for (int by = cuda::warp / 2; by > 0; by /= 2)
                best = min(best, __shfl_xor_sync(cuda::every_lane, best, by));
            if (lane() == 0) g_.key[m.gate[i]] = best;
        }
    }
    template <class Team>
    __device__ void write_pair(const joined_pieces<Word>& m, const joined_counts& n, std::uint32_t piece,
                               std::uint32_t other, int count) const {
        const auto kept = static_cast<std::uint32_t>(n.kept), gone = static_cast<std::uint32_t>(n.gone);
        std::uint32_t* const record = g_.pool + n.record + 2;
        std::uint32_t *const inner = record + kept + gone, *const table = g_.gate(n.piece) + kept;
        if (const int i = Team::thread(); i < count) {
            const std::uint32_t gate = m.gate[i];
            record[(m.stays[i] != 0 ? 0 : kept) + m.at[i]] = gate;
            const gate_steps all(g_, gate);
#pragma unroll
            for (int k = 0; k < g_.most_crossings; ++k)
                if (all.piece[k] == piece || all.piece[k] == other) g_.crossing(gate, k).x = none;
        }
        Team::meet();
        if (const int i = Team::thread(); i < count && m.stays[i] != 0)
            g_.gate(n.piece)[m.at[i]] = m.gate[i], g_.piece[m.gate[i]] = n.piece, g_.slot[m.gate[i]] = m.at[i];
        for (int i = Team::warp(); i < count; i += Team::warps)
            for (int j = static_cast<int>(lane()); j < count && m.stays[i] != 0; j += cuda::warp)
                (m.stays[j] != 0 ? table + m.at[i] * kept : inner + m.at[i] * gone)[m.at[j]] = m.cost[i * m.row + j];
    }

    /// Offers a gate's key to its piece, and the keys that improve there to other pieces, whose gates are listed.
    __device__ void spread(std::uint32_t gate, std::uint32_t* next, std::uint32_t* count, std::uint32_t mark) const {
        const std::uint32_t piece = g_.piece[gate], gates = g_.gates(piece);
        const std::uint32_t* const row = g_.table(piece) + g_.slot[gate] * gates;
        const Word own = fresh(g_.key + gate);
        for (std::uint32_t k = lane(); k < gates; k += cuda::warp) {
            const std::uint32_t to = g_.gate(piece)[k];
            const Word offered = sum(own, way(row[k]));
            if (to != gate && (fresh(g_.key + to) <= offered || lower(g_.key + to, offered) <= offered)) continue;
            for (int s = 0; s < g_.most_crossings; ++s) {
                const uint2 step = g_.crossing(to, s);
                if (step.x == none) continue;
                const Word further = sum(offered, way(step.y));
                if (fresh(g_.key + step.x) <= further || lower(g_.key + step.x, further) <= further) continue;
                if (atomicExch(g_.seen + step.x, mark) != mark) next[atomicAdd(count, 1U)] = step.x;
            }
        }
    }

    const graph_type& g_;
    solver_counts& c_;
    pairing<Word> pairs_;
    int seed_bits_, most_gates_;
};

/// Computes the keys of all gates from those that are known.
template <class Word>
__global__ void __launch_bounds__(join_threads, 2)
    join_pieces(const __grid_constant__ work<Word, few_axes> w, const __grid_constant__ gate_graph<Word> g,
                int most_gates) {
    extern __shared__ std::uint64_t memory[];
    if (end_of_stage(w) < 0) return;
    solver_counts& c = *w.queue.counts;
    if (joiner<Word>::first() == 0) {
        c.head = c.tail = c.gone = c.front[0] = c.front[1] = c.front[2] = 0;
        c.alive[0] = c.pieces;
    }
    if (c.too_dear != 0) return;
    link_gates(w, g);
    joiner<Word>::meet();
    joiner<Word> j(g, c, w.seed_bits, most_gates);
    const int turns = j.join(memory);
    if (j.first() == 0) c.front[0] = c.front[1] = c.front[2] = 0;
    j.meet();
    j.relax_rest(turns);
    j.come_back(turns);
    for (std::uint32_t gate = j.first(); gate < c.gates; gate += j.stride())
        if (g.key[gate] < w.key[g.place[gate]]) w.key[g.place[gate]] = g.key[gate];
}

}  // namespace nearfield::geodesics
