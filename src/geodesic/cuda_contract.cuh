// Elimination inside parts of tiles, of 1024 cells each. Shared memory holds the lists of a part; global memory keeps
// those of eliminated cells. Cells with a step out of their part are not eliminated.
#pragma once

#include "geodesic/cuda_crossings.cuh"
#include "geodesic/cuda_rounds.cuh"

namespace nearfield::geodesics {

inline constexpr int part_bits = 10, part_cells = 1 << part_bits;
inline constexpr int part_threads = 512;
inline constexpr int part_words = 4 * part_cells;  ///< capacity of the lists of eliminated cells
inline constexpr int most_listed = 8;              ///< edges of an eliminated cell
inline constexpr std::uint32_t not_gone = 0xffff0000U;
inline constexpr int most_rounds = 512;  ///< of elimination on the graph

/// Memory of elimination. A part consists of the cells of a tile whose numbers have two given bits.
template <class Word>
struct elimination {
    static constexpr std::uint32_t no_node = ~0U;  ///< first_node of a part that is still to be contracted

    int low_bit = 0, high_bit = 0;
    std::int64_t parts = 0;
    solver_rules rules{};
    solver_counts* counts = nullptr;
    std::uint32_t* record =
        nullptr;  ///< of an eliminated cell: round, degree and start of its list; of another one: its rank
    std::uint32_t *words = nullptr, *first_node = nullptr;  ///< lists of eliminated cells; first node of each part
    std::uint32_t most_nodes = 0;
    edge* edges = nullptr;  ///< two lists for each node
    Word* key = nullptr;
    std::uint32_t *cell = nullptr, *fresh = nullptr, *order = nullptr, *living[2]{}, *start = nullptr;
    std::uint8_t *state = nullptr, *next = nullptr, *mark = nullptr;

    [[nodiscard]] __device__ int local_of(std::int64_t part, int cell) const {
        const auto which = static_cast<int>(part & 3);
        const int wider = (cell >> low_bit << (low_bit + 1)) | (which & 1) << low_bit | (cell & ((1 << low_bit) - 1));
        return (wider >> high_bit << (high_bit + 1)) | (which >> 1) << high_bit | (wider & ((1 << high_bit) - 1));
    }
    [[nodiscard]] __device__ std::int64_t place_of(std::int64_t part, int cell) const {
        return (part >> 2 << device_tile_bits) + local_of(part, cell);
    }
    [[nodiscard]] __device__ bool together(std::int64_t a, std::int64_t b) const {
        const std::int64_t own = ((1 << device_tile_bits) - 1) & ~(1 << low_bit) & ~(1 << high_bit);
        return ((a ^ b) & ~own) == 0;
    }
    [[nodiscard]] __device__ std::int64_t part_of(std::int64_t place) const {
        return place >> device_tile_bits << 2 | (place >> high_bit & 1) << 1 | (place >> low_bit & 1);
    }
    [[nodiscard]] __device__ std::uint32_t cell_of(std::int64_t place) const {
        const auto local = static_cast<std::uint32_t>(place) & ((1U << device_tile_bits) - 1);
        const std::uint32_t narrower = (local >> (high_bit + 1) << high_bit) | (local & ((1U << high_bit) - 1));
        return (narrower >> (low_bit + 1) << low_bit) | (narrower & ((1U << low_bit) - 1));
    }
    [[nodiscard]] __device__ bool wanted() const {
        return eliminates(*counts, rules.thin,
                          rules.leaps_first && !is_scattered(*counts, rules.scattered) ? -1 : rules.middling);
    }
};

/// Calls use(place, price) for the cells of the mask to which steps from a cell lead.
template <class Word, int Axes, class Use>
__device__ void for_steps(const work<Word, Axes>& w, std::int64_t own, const Use& use) {
    std::int64_t at[Axes];
    if (!w.where.locate(own >> device_tile_bits, static_cast<int>(own & ((1 << device_tile_bits) - 1)), at)) return;
    const std::uint64_t cost = w.cost != nullptr ? w.cost[own] : 0;
    for (int s = 0; s < w.step_count; ++s) {
        const device_step& step = w.steps[s];
        const std::int64_t to = w.where.neighbour(at, step.by);
        if (to < 0 || to == own || w.key[to] == 0 || !is_open(w, at, step)) continue;
        const std::uint64_t price = w.cost != nullptr ? step.price * (cost + w.cost[to]) : step.price;
        if (price >> 31 == 0) use(to, static_cast<std::uint32_t>(price));
    }
}

// ---- a part in shared memory ----------------------------------------------------------------------------------------

struct part_lists {
    static constexpr std::uint32_t heaviest = (1U << (32 - part_bits)) - 1;
    static constexpr int most_turns = 63;
    static constexpr std::uint32_t patience = 32;

    std::uint32_t* word;  ///< an edge: its weight above the cell at its end
    int capacity, most_chosen;
    std::uint32_t gates;
    std::uint32_t *used, *words, *record;  ///< null for a sample, which keeps nothing

    [[nodiscard]] __device__ edge at(std::uint32_t v, int k, int side) const {
        const std::uint32_t e = word[((side != 0 ? capacity : 0) + k) * part_cells + static_cast<int>(v)];
        return {e & (part_cells - 1), e >> part_bits};
    }
    __device__ void put(std::uint32_t v, int k, const edge& e, int side) const {
        word[((side != 0 ? capacity : 0) + k) * part_cells + static_cast<int>(v)] = e.weight << part_bits | e.to;
    }
    [[nodiscard]] __device__ std::uint32_t first() const { return threadIdx.x; }
    [[nodiscard]] __device__ std::uint32_t stride() const { return part_threads; }
    __device__ void meet() const { __syncthreads(); }
    [[nodiscard]] __device__ bool begin(int, std::uint32_t count, int most) const {
        return *used + (count - gates) * static_cast<std::uint32_t>(most) <= part_words;
    }
};

template <class Word>
struct part_graph : graph_of<Word, part_lists, std::uint16_t> {
    [[nodiscard]] __device__ std::uint32_t living_now(int turn) const {
        return geodesics::fresh(this->alive + (turn & 1));
    }
    __device__ void let_go(std::uint32_t v, bool gone, int turn) const {
        if (!gone) return;
        const auto degree = static_cast<std::uint32_t>(this->degree(v));
        const std::uint32_t to = atomicAdd(this->used, degree);
        if (this->record == nullptr) return;
        for (std::uint32_t k = 0; k < degree; ++k) {
            const edge e = this->listed(v, static_cast<int>(k));
            this->words[to + k] = e.weight << part_bits | e.to;
        }
        this->record[v] = static_cast<std::uint32_t>(turn) << 24 | degree << 16 | to;
    }
};

template <class Word>
constexpr std::size_t part_bytes(int capacity) {
    return static_cast<std::size_t>(part_cells) *
           (sizeof(Word) + 8 * static_cast<std::size_t>(capacity) + 4 + 2 * sizeof(std::uint16_t) + 3);
}
/// Length of a list that a block's shared memory allows, at most `wanted`.
template <class Word>
int part_capacity(std::size_t shared_bytes, int wanted) {
    while (wanted > 0 && part_bytes<Word>(wanted) + 64 > shared_bytes) --wanted;
    return wanted;
}

template <class Word>
__device__ part_graph<Word> part_in(std::uint64_t* memory, int capacity, std::uint32_t* counters, int seed_bits) {
    part_graph<Word> g{};
    g.key = reinterpret_cast<Word*>(memory);
    g.word = reinterpret_cast<std::uint32_t*>(g.key + part_cells);
    g.fresh = g.word + 2 * capacity * part_cells;
    g.living[0] = reinterpret_cast<std::uint16_t*>(g.fresh + part_cells), g.living[1] = g.living[0] + part_cells;
    g.state = reinterpret_cast<std::uint8_t*>(g.living[1] + part_cells);
    g.next = g.state + part_cells, g.mark = g.next + part_cells;
    g.alive = counters, g.used = counters + 2, g.capacity = capacity, g.most_chosen = min(most_listed, capacity - 2);
    g.seed_bits = seed_bits;
    return g;
}

/// Reads a part: its keys, and lists of the steps inside it. Counts cells with steps out of the part, all steps, and
/// cells that a seed has reached.
template <class Word, int Axes>
__device__ void read_part(const work<Word, Axes>& w, const elimination<Word>& e, part_graph<Word>& g, std::int64_t part,
                          std::uint32_t* gates, std::uint32_t* steps, std::uint32_t* reached) {
    std::uint32_t own_steps = 0, own_reached = 0;
    for (int c = static_cast<int>(threadIdx.x); c < part_cells; c += part_threads) {
        const std::int64_t own = e.place_of(part, c);
        const Word key = w.key[own];
        const auto v = static_cast<std::uint32_t>(c);
        int degree = 0;
        bool gate = false;
        if (key != 0)
            for_steps(w, own, [&](std::int64_t to, std::uint32_t price) {
                ++own_steps;
                if (!e.together(own, to) || price > part_lists::heaviest) return void(gate = true);
                const edge more{e.cell_of(to), price};
                int k = 0;
                while (k < degree && g.at(v, k, 0).to != more.to) ++k;
                if (k == degree || g.at(v, k, 0).weight > price) g.put(v, k, more, 0);
                degree = max(degree, k + 1);
            });
        own_reached += key != 0 && key < work<Word, Axes>::far ? 1 : 0;
        g.key[c] = key, g.fresh[c] = 0;
        g.state[c] = static_cast<std::uint8_t>(degree | (gate ? gate_bit : 0));
        if (g.record != nullptr) g.record[c] = not_gone;
        append(g.living[0], g.alive, v, key != 0);
        const unsigned all = __ballot_sync(cuda::every_lane, gate ? 1 : 0);
        if (threadIdx.x % cuda::warp == 0 && all != 0) atomicAdd(gates, static_cast<std::uint32_t>(__popc(all)));
    }
    own_steps = __reduce_add_sync(cuda::every_lane, own_steps);
    own_reached = __reduce_add_sync(cuda::every_lane, own_reached);
    if (threadIdx.x % cuda::warp == 0) atomicAdd(steps, own_steps), atomicAdd(reached, own_reached);
}

/// Writes the remaining cells as nodes of the graph.
template <class Word, int Axes>
__device__ void write_part(const work<Word, Axes>& w, const elimination<Word>& e, const part_graph<Word>& g,
                           std::int64_t part, int turn, std::uint32_t first) {
    const std::uint32_t count = g.living_now(turn);
    for (int c = static_cast<int>(threadIdx.x); c < part_cells; c += part_threads)
        if (g.key[c] != 0 && g.key[c] < work<Word, Axes>::far) w.key[e.place_of(part, c)] = g.key[c];
    const std::uint16_t* const left = g.living[turn & 1];
    for (std::uint32_t i = threadIdx.x; i < count; i += part_threads)
        g.fresh[left[i]] = first + i, g.record[left[i]] = not_gone | i;
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < count && first + count <= e.most_nodes; i += part_threads) {
        const std::uint32_t v = left[i], node = first + i;
        const int degree = g.degree(v);
        e.key[node] = g.key[v], e.cell[node] = static_cast<std::uint32_t>(e.place_of(part, static_cast<int>(v)));
        e.state[node] = static_cast<std::uint8_t>(degree);
        for (int k = 0; k < degree; ++k) {
            const edge own = g.listed(v, k);
            e.edges[static_cast<std::int64_t>(node) * 2 * node_degree + k] = {g.fresh[own.to], own.weight};
        }
    }
}

/// Launches of contract_parts(): count the steps of sampled parts; count the cells of these that would remain, unless
/// too few steps are missing for that; eliminate cells of all parts.
enum class contraction : std::uint8_t { survey, sample, all };

/// A block owns a part at a time.
template <class Word, int Axes>
__global__ void __launch_bounds__(part_threads, 2)
    contract_parts(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ elimination<Word> e,
                   contraction what) {
    extern __shared__ std::uint64_t memory[];
    solver_counts& c = *e.counts;
    const bool all = what == contraction::all, survey = what == contraction::survey;
    if (all ? !e.wanted() : c.parked[0] == 0 || (!survey && misses_few_steps(c, e.rules.missing))) return;
    if (survey && blockIdx.x == 0 && threadIdx.x == 0) c.head = c.tail = 0;
    if (!all && c.sampled_before != 0) return;
    const std::int64_t every = all ? 1 : max(std::int64_t{1}, e.parts / e.rules.samples);
    auto* const counters = reinterpret_cast<std::uint32_t*>(memory);
    for (std::int64_t part = blockIdx.x * every; part < e.parts; part += gridDim.x * every) {
        if (all && e.first_node[part] != elimination<Word>::no_node) continue;
        if (threadIdx.x < 7) counters[threadIdx.x] = 0;
        __syncthreads();
        part_graph<Word> g = part_in<Word>(memory + 8, e.rules.most_degree, counters, w.seed_bits);
        if (all) g.record = e.record + part * part_cells, g.words = e.words + part * part_words;
        read_part(w, e, g, part, counters + 3, counters + 5, counters + 6);
        __syncthreads();
        g.gates = counters[3];
        const std::uint32_t cells = g.living_now(0);
        const int turn = survey ? 0 : eliminate(g);
        const std::uint32_t left = g.living_now(turn);
        if (threadIdx.x == 0) {
            if (survey) {
                atomicAdd(&c.steps, counters[5]);
                atomicAdd(&c.missing, cells * static_cast<std::uint32_t>(w.step_count) - counters[5]);
            } else if (!all) {
                atomicAdd(&c.sampled, cells), atomicAdd(&c.reached, counters[6]), atomicAdd(&c.left, left);
            } else {
                counters[4] = e.first_node[part] = atomicAdd(&c.nodes, left);
                if (counters[4] + left > e.most_nodes) c.overflow = 1;
            }
        }
        __syncthreads();
        if (all) write_part(w, e, g, part, turn, counters[4]);
        __syncthreads();
    }
}

/// The eliminated cells of a thread: their lists and rounds.
struct gone_cells {
    static constexpr int own = part_cells / part_threads;
    std::uint32_t list[own][most_listed];
    int round[own], degree[own], last = -1;

    /// Reads the part's `record` and `words`.
    __device__ gone_cells(const std::uint32_t* record, const std::uint32_t* words) {
#pragma unroll
        for (int i = 0; i < own; ++i) {
            const std::uint32_t of = record[cell(i)];
            const bool gone = of < not_gone;
            round[i] = gone ? static_cast<int>(of >> 24) : -1;
            degree[i] = gone ? static_cast<int>(of >> 16 & 255) : 0;
            last = max(last, round[i]);
#pragma unroll
            for (int k = 0; k < most_listed; ++k)
                if (k < degree[i]) list[i][k] = words[(of & 0xffff) + static_cast<std::uint32_t>(k)];
        }
    }
    __device__ static int cell(int i) { return static_cast<int>(threadIdx.x) + i * part_threads; }

    /// Computes the keys of the cells that were eliminated in round `now`.
    template <class Word>
    __device__ void come_back(Word* key, int now, int seed_bits) const {
#pragma unroll
        for (int i = 0; i < own; ++i) {
            if (round[i] != now) continue;
            Word best = key[cell(i)];
#pragma unroll
            for (int k = 0; k < most_listed; ++k)
                if (k < degree[i])
                    best = min(best, sum(key[list[i][k] & (part_cells - 1)],
                                         static_cast<Word>(static_cast<Word>(list[i][k] >> part_bits) << seed_bits)));
            key[cell(i)] = best;
        }
    }
};

/// Computes the keys of eliminated cells from those of the remaining ones, last round first. A block owns a part.
template <class Word, int Axes>
__global__ void __launch_bounds__(part_threads)
    expand_parts(const __grid_constant__ work<Word, Axes> w, const __grid_constant__ elimination<Word> e) {
    __shared__ Word key[part_cells];
    if (!e.wanted()) return;
    if (blockIdx.x == 0 && threadIdx.x == 0) e.counts->head = e.counts->tail = 0;
    if (e.counts->solved == 0) return;
    for (std::int64_t part = blockIdx.x; part < e.parts; part += gridDim.x) {
        const gone_cells gone(e.record + part * part_cells, e.words + part * part_words);
        for (int i = 0; i < gone.own; ++i) key[gone.cell(i)] = w.key[e.place_of(part, gone.cell(i))];
        for (int now = part_lists::most_turns - 1; now >= 0; --now)
            if (__syncthreads_or(gone.last >= now ? 1 : 0) != 0) gone.come_back(key, now, w.seed_bits);
#pragma unroll
        for (int i = 0; i < gone.own; ++i) {
            const Word own = key[gone.cell(i)];
            if (gone.round[i] >= 0 && own < work<Word, Axes>::far) w.key[e.place_of(part, gone.cell(i))] = own;
        }
        __syncthreads();
    }
}

}  // namespace nearfield::geodesics
