// Tables of tiles, for wide corridors that wind through many tiles. A gate is a cell of a tile's rim with a step out of
// the tile. Gates that reach each other inside the tile form a piece; a table has the costs of the cheapest paths
// between them there. cuda_join.cuh joins pieces. The cells within tiles get their keys from the stage that follows,
// which visits every tile once.
#pragma once

#include "geodesic/cuda_peel.cuh"

namespace nearfield::geodesics {

/// The rim of a square tile: the cells from which steps to neighbours leave it.
struct rim {
    static constexpr int last = sweep_side - 1, cells = 4 * last;
    static constexpr int most = 256;  ///< threads that own a cell of the rim each; those behind `cells` own none

    static NF_HD constexpr int cell(int number) {
        if (number < sweep_side) return number;
        if (number < 2 * sweep_side) return last * sweep_side + number - sweep_side;
        const int k = number - 2 * sweep_side;
        return (k / 2 + 1) * sweep_side + k % 2 * last;
    }
    static NF_HD constexpr int number(int local) {
        const int y = local / sweep_side, x = local % sweep_side;
        if (y == 0 || y == last) return y == 0 ? x : sweep_side + x;
        return 2 * (sweep_side + y - 1) + (x == last ? 1 : 0);
    }
    /// Number of the cell before this one on its side of the tile; -1 if there is none.
    static NF_HD constexpr int before(int number) {
        const int first = number < sweep_side ? 0 : number < 2 * sweep_side ? sweep_side : 2 * sweep_side;
        return number - (first < 2 * sweep_side ? 1 : 2) < first ? -1 : number - (first < 2 * sweep_side ? 1 : 2);
    }
    static constexpr bool is_sound() {
        for (int k = 0; k < cells; ++k)
            if (number(cell(k)) != k || before(k) >= k) return false;
        return true;
    }
};
static_assert(rim::is_sound() && rim::cells < rim::most);

/// Largest price of a step, with the costs of its ends at most twice that: half of what keys of 32 bits hold.
inline constexpr std::uint64_t dearest_leap = std::uint64_t{1} << 29;

/// The gates of all tiles. A piece is named by the place of its words in `pool`: the number of its gates, the piece
/// with which it is to be joined, its gates, and its table.
template <class Word>
struct gate_graph {
    static constexpr std::uint32_t none = ~0U, far = 0x7fffffffU;
    static constexpr int most_crossings = 5;

    std::uint32_t *pool = nullptr, size = 0;  ///< `size` in words
    std::uint32_t most = 0;                   ///< number of gates for which there is memory
    bool axial = false;                       ///< there are steps along both axes
    std::uint32_t straight = 0;               ///< their price if it is the least of all, and 64 fit a table; else 0
    Word* key = nullptr;
    std::uint32_t* number = nullptr;                                    ///< of the gate at a place of the grid
    std::uint32_t *place = nullptr, *piece = nullptr, *slot = nullptr;  ///< of a gate; `slot` among those of its piece
    std::uint32_t *front[2]{}, *seen = nullptr, *living[2]{}, *order = nullptr, *start = nullptr;
    remaining_cells remaining{};

    /// `words` of `lists` are the pool; `numbers` has nine words for each of `nodes`, and then one for each round.
    gate_graph(const problem_of<device>& p, std::uint32_t* lists, std::int64_t words, Word* keys, std::uint32_t* places,
               std::uint32_t* numbers, std::int64_t nodes)
        : pool(lists),
          size(static_cast<std::uint32_t>(words)),
          most(static_cast<std::uint32_t>(nodes)),
          key(keys),
          number(places),
          start(numbers + 9 * nodes) {
        std::uint32_t** const each[] = {&place, &piece, &slot, front, front + 1, &seen, &order, living, living + 1};
        for (std::uint32_t** to : each) *to = numbers, numbers += most;
        std::int64_t least = 1 << 24;
        int straight_steps = 0, least_steps = 0;
        for (const step& s : p.steps) least = std::min<std::int64_t>(least, s.price);
        for (const step& s : p.steps) {
            if (std::count(s.by.begin(), s.by.end(), 0) != max_rank - 1) continue;
            ++straight_steps, least_steps += s.price == least ? 1 : 0;
        }
        axial = straight_steps == 4;
        if (axial && least_steps == 4 && !p.cost.wanted()) straight = static_cast<std::uint32_t>(least);
    }

    /// Number of words in front of the pieces: pairs of a gate and a price for the steps to other pieces.
    [[nodiscard]] NF_HD std::uint32_t first_word() const { return 2 * most_crossings * most; }
    [[nodiscard]] __device__ uint2& crossing(std::uint32_t gate, int k) const {
        return reinterpret_cast<uint2*>(pool)[gate * most_crossings + static_cast<std::uint32_t>(k)];
    }
    [[nodiscard]] __device__ std::uint32_t gates(std::uint32_t of) const { return pool[of]; }
    [[nodiscard]] __device__ std::uint32_t& partner(std::uint32_t of) const { return pool[of + 1]; }
    [[nodiscard]] __device__ std::uint32_t* gate(std::uint32_t of) const { return pool + of + 2; }
    [[nodiscard]] __device__ std::uint32_t* table(std::uint32_t of) const { return gate(of) + gates(of); }
    [[nodiscard]] static NF_HD constexpr std::uint32_t words(std::uint32_t gates) { return 2 + gates + gates * gates; }

    /// Reserves words of the pool; `none` if it is full.
    [[nodiscard]] __device__ std::uint32_t take(solver_counts& c, std::uint32_t words) const {
        if (fresh(&c.words) + first_word() + words > size) return none;
        const std::uint32_t first = first_word() + atomicAdd(&c.words, words);
        return first + words <= size ? first : none;
    }
};

/// Gates of a tile, by their numbers on the rim. A run consists of gates beside each other on one side of the tile.
struct tile_gates {
    std::uint16_t root[rim::most];  ///< a cell that all gates of a piece have in common; `closed` if there is no gate
    std::uint8_t slot[rim::most], run[rim::most];
    std::uint8_t turn[rim::most];      ///< number of the flood that starts at a gate; `none` if none does
    std::uint32_t longest[rim::most];  ///< by a piece's first gate: length of its longest run, above its first gate
    std::uint32_t piece[rim::most];    ///< of a gate; gate_graph::none if the tile's pieces do not fit
    std::uint8_t from[rim::most];      ///< the gates from which a round floods the tile
    std::uint32_t count, turns;        ///< count: of `from`
    static constexpr std::uint16_t closed = 0xffff;
    static constexpr std::uint8_t none = 0xff;

    /// Calls use(k) for the gates that have a gate's piece.
    template <class Use>
    __device__ void for_piece(int own, const Use& use) const {
        for (int k = 0; k < rim::cells; ++k)
            if (root[k] == root[own]) use(k);
    }
};

/// Finds the root of a cell. A stale value is an ancestor too.
__device__ inline std::uint32_t root_of(const std::uint32_t* parent, std::uint32_t cell) {
    for (std::uint32_t up = 0; (up = fresh(parent + padded(static_cast<int>(cell)))) != cell;) cell = up;
    return cell;
}
/// Links the larger root below the smaller one; retries while other threads change the roots.
__device__ inline void unite(std::uint32_t* parent, std::uint32_t a, std::uint32_t b) {
    a = root_of(parent, a), b = root_of(parent, b);
    while (a != b) {
        const std::uint32_t high = max(a, b), low = min(a, b);
        const std::uint32_t before = atomicMin(parent + padded(static_cast<int>(high)), low);
        if (before == high) return;
        a = root_of(parent, before), b = root_of(parent, low);
    }
}

/// True if other steps inside a tile connect the ends of one to an earlier cell, where there are steps along both axes:
/// the cells beside both ends, or the one above, are open.
template <class IsClosed>
__device__ bool is_implied(int local, const vector_of_step& by, const IsClosed& is_closed) {
    constexpr int up = few_axes - 2, left = few_axes - 1;
    const bool first_of_warp = local % cuda::warp == 0;
    if (by[up] == 0) return !first_of_warp;
    if (by[left] != 0) return !is_closed(local - sweep_side);
    return !first_of_warp && !is_closed(local - 1) && !is_closed(local - sweep_side - 1);
}
/// Links the cells of a tile that steps inside it connect, in the memory of its keys. `open` has a bit for each cell of
/// a thread. With steps along both axes, which `axial` says, cells of a row that a warp reads begin as linked.
template <pricing Pricing>
__device__ void link_cells(const work<std::uint32_t, few_axes>& w, const tile_memory<Pricing, std::uint32_t>& m,
                           const device_step* steps, unsigned open, bool axial) {
    constexpr std::uint32_t closed = ~0U;
    for_own(1 << device_tile_bits, [&](int k, int i) {
        const bool is = (open >> k & 1) != 0;
        const int lane = i % cuda::warp;
        const unsigned shut = __ballot_sync(cuda::every_lane, is ? 0 : 1) & ((1U << lane) - 1);
        const int run = axial ? i - lane + cuda::warp - __clz(static_cast<int>(shut)) : i;
        m.key[padded(i)] = is ? static_cast<std::uint32_t>(run) : closed;
    });
    __syncthreads();
    const auto is_closed = [&](int local) { return fresh(m.key + padded(local)) == closed; };
    for_own(1 << device_tile_bits, [&](int k, int i) {
        for (int s = 0; s < w.step_count && (open >> k & 1) != 0; ++s) {
            const int there = i + static_cast<int>(steps[s].offset);
            if (there >= i || w.where.leaves(i, steps[s].by) || is_closed(there)) continue;
            bool is = !axial || !is_implied(i, steps[s].by, is_closed);
            for (std::uint32_t b = 0; b < steps[s].between && is; ++b)
                is = !is_closed(i + static_cast<int>(w.between[steps[s].first_between + b].offset));
            if (is) unite(m.key, static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(there));
        }
    });
    __syncthreads();
}

/// Finds the gates of a tile, and reads its cells: a bit for each open cell of a thread. Notes whether one costs more
/// than `most`.
template <pricing Pricing, class Word>
__device__ unsigned read_gates(const work<Word, few_axes>& w, const tile_memory<Pricing, std::uint32_t>& m,
                               const crossing_table& c, std::int64_t tile, tile_gates& g, std::uint32_t most) {
    __shared__ tile_place<few_axes> place;
    const int own = static_cast<int>(threadIdx.x);
    const std::int64_t first = tile << device_tile_bits;
    unsigned open = 0;
    place.find(w.where, tile);
    if (own < rim::most) g.root[own] = tile_gates::closed;
    if (own == 0) g.turns = 0;
    for_own(1 << device_tile_bits, [&](int k, int i) {
        open |= w.key[first + i] != 0 ? 1U << k : 0;
        const std::uint32_t cost = value_at<Pricing>(w, first + i).cost;
        if constexpr (Pricing != pricing::plain) m.cost[padded(i)] = cost;
        if (cost > most) w.queue.counts->too_dear = 1;
    });
    __syncthreads();
    const auto is_open = [&](int local) { return w.key[first + local] != 0; };
    for_crossings(
        w, c, place, is_open, [] {},
        [&](int local, std::int64_t, Word, const device_step&) { g.root[rim::number(local)] = 0; });
    __syncthreads();
    return open;
}

/// Makes pieces of a tile's gates, whose cells are linked, and chooses those from which the tile is flooded. A thread
/// owns a gate. Where straight steps are the cheapest ones, the costs between gates of a run are known; so the tile is
/// not flooded from the longest run of a piece. Over 40 lines because each step needs what all threads found before.
template <class Word>
__device__ void make_pieces(const work<Word, few_axes>& w, const gate_graph<Word>& graph, const std::uint32_t* parent,
                            std::int64_t tile, tile_gates& g) {
    solver_counts& c = *w.queue.counts;
    const int own = static_cast<int>(threadIdx.x), cell = rim::cell(min(own, rim::cells - 1));
    const bool is = own < rim::cells && g.root[own] != tile_gates::closed;
    int leader = own, run = own;
    std::uint32_t slot = 0, count = 0, length = 0, turn = 0;
    if (own < rim::most) g.longest[own] = 0, g.piece[own] = graph.none, g.turn[own] = g.none;
    if (is) g.root[own] = static_cast<std::uint16_t>(root_of(parent, static_cast<std::uint32_t>(cell)));
    __syncthreads();
    for (int at = own; is && at >= 0 && g.root[at] == g.root[own]; at = rim::before(at)) run = at;
    if (is) g.run[own] = static_cast<std::uint8_t>(run);
    __syncthreads();
    if (is)
        g.for_piece(own, [&](int k) {
            leader = min(leader, k), slot += k < own ? 1 : 0, ++count, length += g.run[k] == run ? 1 : 0;
        });
    if (is) g.slot[own] = static_cast<std::uint8_t>(slot);
    if (is && run == own && graph.straight > 0)
        atomicMax(g.longest + leader, length << 8 | static_cast<std::uint32_t>(own));
    if (is && leader == own) {
        const std::uint32_t first = atomicAdd(&c.gates, count);
        const std::uint32_t piece = first + count <= graph.most ? graph.take(c, graph.words(count)) : graph.none;
        if (piece == graph.none) c.too_dear = 1;
        else graph.living[0][atomicAdd(&c.pieces, 1U)] = piece, graph.pool[piece] = count, graph.partner(piece) = first;
        g.piece[own] = piece;
    }
    __syncthreads();
    const std::uint32_t piece = is ? g.piece[leader] : graph.none;
    __syncthreads();
    if (own < rim::most) g.piece[own] = piece;
    if (piece == graph.none) return;
    const int skipped = graph.straight > 0 ? static_cast<int>(g.longest[leader] & 255) : -1;
    if (run != skipped) {
        g.for_piece(own, [&](int k) { turn += k < own && g.run[k] != skipped ? 1 : 0; });
        g.turn[own] = static_cast<std::uint8_t>(turn), atomicMax(&g.turns, turn + 1);
    } else {
        g.for_piece(own, [&](int k) {
            const auto steps = static_cast<std::uint32_t>(abs(own - k)) / (own < 2 * sweep_side ? 1 : 2);
            if (g.run[k] == run) graph.table(piece)[slot * count + g.slot[k]] = steps * graph.straight;
        });
    }
    const std::uint32_t gate = graph.partner(piece) + slot;
    const std::int64_t place = (tile << device_tile_bits) + cell;
    graph.gate(piece)[slot] = gate, graph.number[place] = gate, graph.key[gate] = w.key[place];
    graph.place[gate] = static_cast<std::uint32_t>(place), graph.piece[gate] = piece, graph.slot[gate] = slot;
}

/// Writes the tables of a tile's pieces: floods the tile from one gate of each piece at a time. All threads of the
/// block call it. If a path costs so much that its key might not fit, tables are not used. A step costs at most half of
/// what fits, as `flat.limit` ensures.
template <pricing Pricing, class Word>
__device__ void close_tile(const work<Word, few_axes>& w, const work<std::uint32_t, few_axes>& flat,
                           const tile_memory<Pricing, std::uint32_t>& m, const crossing_table& c, std::int64_t tile,
                           const gate_graph<Word>& graph) {
    constexpr std::uint32_t far = work<std::uint32_t, few_axes>::far;
    constexpr unsigned all = (1U << chunk) - 1;
    __shared__ tile_gates g;
    const unsigned open = read_gates(w, m, c, tile, g, flat.limit);
    const bool whole = __syncthreads_or(open != all ? 1 : 0) == 0;
    const int own = static_cast<int>(threadIdx.x), cell = rim::cell(min(own, rim::cells - 1));
    link_cells(flat, m, c.steps, open, graph.axial);
    make_pieces(w, graph, m.key, tile, g);
    __syncthreads();
    for (std::uint32_t turn = 0; turn < g.turns; ++turn) {
        m.clear();
        for_own(1 << device_tile_bits, [&](int k, int i) { m.key[padded(i)] = (open >> k & 1) != 0 ? far : 0; });
        if (own == 0) g.count = 0;
        __syncthreads();
        if (own < rim::cells && g.turn[own] == turn) {
            g.from[atomicAdd(&g.count, 1U)] = static_cast<std::uint8_t>(own);
            m.key[padded(cell)] = 1;
            begin_at(flat, m, cell, false);
        }
        __syncthreads();
        relax_inside(flat, m, c.steps, false, whole);
        __syncthreads();
        for_own(1 << device_tile_bits, [&](int, int i) {
            if (const std::uint32_t dear = m.key[padded(i)]; dear >= far / 2 && dear < far)
                w.queue.counts->too_dear = 1;
        });
        for (int i = own; i < static_cast<int>(g.count) * rim::most; i += threads_of_tile) {
            const int from = g.from[i / rim::most], to = i % rim::most;
            if (to >= rim::cells || g.piece[to] != g.piece[from]) continue;
            const std::uint32_t piece = g.piece[from], count = graph.gates(piece),
                                cost = m.key[padded(rim::cell(to))] - 1;
            graph.table(piece)[g.slot[from] * count + g.slot[to]] = cost;
            graph.table(piece)[g.slot[to] * count + g.slot[from]] = cost;
        }
        __syncthreads();
    }
}

/// Lists the pieces of all tiles. `flat` is `w` with keys of 32 bits and without seeds, and with the largest cost of a
/// cell as limit.
template <pricing Pricing, class Word>
__global__ void __launch_bounds__(threads_of_tile, 2)
    list_pieces(const __grid_constant__ work<Word, few_axes> w,
                const __grid_constant__ work<std::uint32_t, few_axes> flat,
                const __grid_constant__ gate_graph<Word> graph) {
    extern __shared__ std::uint64_t memory[];
    if (end_of_stage(w) < 0 || has_parts(w)) return;
    const crossing_table c = crossings_of(w);
    const tile_memory<Pricing, std::uint32_t> m(memory, device_tile_bits);
    for (std::int64_t tile = blockIdx.x; tile < w.where.tiles; tile += gridDim.x)
        close_tile(w, flat, m, c, tile, graph);
}

/// Lists the steps between pieces. A thread owns a gate.
template <class Word>
__device__ void link_gates(const work<Word, few_axes>& w, const gate_graph<Word>& g) {
    // Bits of a place that differ within a part, or a tile.
    const std::int64_t inner = has_parts(w) ? (part_side - 1) * (sweep_side + 1) : (1 << device_tile_bits) - 1;
    for (std::uint32_t gate = blockIdx.x * blockDim.x + threadIdx.x; gate < w.queue.counts->gates;
         gate += gridDim.x * blockDim.x) {
        const auto own = static_cast<std::int64_t>(g.place[gate]);
        int count = 0;
        for_steps(w, own, [&](std::int64_t to, std::uint32_t price) {
            if (((own ^ to) & ~inner) == 0) return;
            const uint2 more{g.number[to], price};
            if (more.x == g.none) return;
            int k = 0;
            while (k < count && g.crossing(gate, k).x != more.x) ++k;
            if (k == count || g.crossing(gate, k).y > price) g.crossing(gate, k) = more;
            count = max(count, k + 1);
        });
        for (; count < g.most_crossings; ++count) g.crossing(gate, count) = {gate_graph<Word>::none, 0};
    }
}

}  // namespace nearfield::geodesics
