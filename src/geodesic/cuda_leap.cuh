// Leaps over tiles, for wide corridors that wind through many of them. A table keeps, for each tile, the cost of the
// cheapest path inside it from each cell of its rim to each other one. A visit then relaxes the rim alone, by one look
// at the table. The cells within get their keys from the stage that follows, which visits every tile once.
#pragma once

#include "geodesic/cuda_relax.cuh"

namespace nearfield::geodesics {

/// The rim of a square tile: the cells from which steps to neighbours leave it.
struct rim {
    static constexpr int last = sweep_side - 1, cells = 4 * last;
    static constexpr int row = 256;  ///< entries of a row of the table; those behind `cells` are not used

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
    static constexpr bool is_sound() {
        for (int k = 0; k < cells; ++k)
            if (number(cell(k)) != k) return false;
        return true;
    }
};
static_assert(rim::is_sound() && rim::cells < rim::row && rim::row * rim::row == 16 << device_tile_bits);

/// Largest price of a step, with the costs of its ends at most twice that: half of what keys of 32 bits hold.
inline constexpr std::uint64_t dearest_leap = std::uint64_t{1} << 29;

/// Gates of a tile: cells of its rim with a step to an open cell of another tile. Gates of a group reach each other.
struct tile_gates {
    std::uint8_t group[rim::row], waits[rim::row];  ///< group: 0 if not known; waits: 1 if a row is still to be written
    std::uint8_t from[rim::row];                    ///< the gates from which a round floods the tile
    std::uint32_t groups, count;                    ///< count: of `from`
};

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
    if (own < rim::row) g.group[own] = g.waits[own] = 0;
    if (own == 0) g.groups = 0;
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
        [&](int local, std::int64_t, Word, const device_step&) { g.waits[rim::number(local)] = 1; });
    __syncthreads();
    return open;
}

/// Writes a tile's rows of the table: floods the tile from one gate of each group at a time. All threads of the block
/// call it. If a path costs so much that its key might not fit, a flood might not reach all gates of a group, and the
/// table is not used. A step costs at most half of what fits, as `flat.limit` ensures.
template <pricing Pricing, class Word>
__device__ void close_tile(const work<Word, few_axes>& w, const work<std::uint32_t, few_axes>& flat,
                           const tile_memory<Pricing, std::uint32_t>& m, const crossing_table& c, std::int64_t tile,
                           std::uint32_t* table) {
    constexpr std::uint32_t far = work<std::uint32_t, few_axes>::far;
    constexpr unsigned all = (1U << chunk) - 1;
    __shared__ tile_gates g;
    const unsigned open = read_gates(w, m, c, tile, g, flat.limit);
    const bool whole = __syncthreads_or(open != all ? 1 : 0) == 0;
    const int own = static_cast<int>(threadIdx.x), cell = rim::cell(min(own, rim::cells - 1));
    for (;;) {
        bool starts = own < rim::cells && g.waits[own] != 0;
        for (int k = 0; starts && k < own; ++k) starts = g.waits[k] == 0 || g.group[k] != g.group[own];
        m.clear();
        for_own(1 << device_tile_bits, [&](int k, int i) { m.key[padded(i)] = (open >> k & 1) != 0 ? far : 0; });
        if (own == 0) g.count = 0;
        if (__syncthreads_or(starts ? 1 : 0) == 0) return;
        if (starts) {
            g.from[atomicAdd(&g.count, 1U)] = static_cast<std::uint8_t>(own), g.waits[own] = 0;
            if (g.group[own] == 0) g.group[own] = static_cast<std::uint8_t>(++g.groups);  // one thread at most
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
        const std::uint32_t key = m.key[padded(cell)];
        if (own < rim::cells && key != 0 && key < far && g.group[own] == 0)
            g.group[own] = static_cast<std::uint8_t>(g.groups);
        __syncthreads();
        for (int i = own; i < static_cast<int>(g.count) * rim::row; i += threads_of_tile) {
            const int from = g.from[i / rim::row], to = i % rim::row;
            const std::uint32_t found = m.key[padded(rim::cell(min(to, rim::cells - 1)))];
            const bool is = to < rim::cells && g.group[to] == g.group[from] && found < far;
            table[from * rim::row + to] = is ? found - 1 : far;
        }
        __syncthreads();
    }
}

/// Relaxes the rim of a tile from the cells in other tiles, writes it, and queues the tiles that it improves. See
/// visit().
template <pricing Pricing, class Word, class Mark>
__device__ void visit_rim(const work<Word, few_axes>& w, const tile_memory<Pricing, Word>& m, const crossing_table& c,
                          const std::uint32_t* table, std::int64_t tile, std::uint32_t depth, const Mark& mark,
                          std::uint32_t* kept) {
    constexpr std::uint32_t far = work<std::uint32_t, few_axes>::far;
    __shared__ tile_place<few_axes> place;
    const int own = static_cast<int>(threadIdx.x), cell = rim::cell(min(own, rim::cells - 1));
    const bool is_own = own < rim::cells;
    const std::int64_t first = tile << device_tile_bits;
    const Word known = is_own ? fresh(w.key + first + cell) : 0;
    m.clear();
    if (own == 0) mark();
    place.find(w.where, tile);
    __syncthreads();
    const auto keep_known = [&] {
        if (is_own) {
            m.key[padded(cell)] = known;
            if constexpr (Pricing != pricing::plain) m.cost[padded(cell)] = value_at<Pricing>(w, first + cell).cost;
        }
        __syncthreads();
    };
    take_offers(w, m, c, place, keep_known, false);
    __syncthreads();
    append(m.listed(0), m.count, static_cast<std::uint32_t>(own), is_own && m.key[padded(cell)] < known);
    __syncthreads();
    const int to = own % rim::row, count = static_cast<int>(fresh(m.count));
    Word best = work<Word, few_axes>::far;
#pragma unroll 4
    for (int i = own / rim::row; i < count; i += threads_of_tile / rim::row) {
        const int from = m.listed(0)[i];
        const std::uint32_t way = table[from * rim::row + to];
        const Word offered = sum(fresh(m.key + padded(rim::cell(from))), static_cast<Word>(way) << w.seed_bits);
        if (way < far) best = min(best, offered);
    }
    if (to < rim::cells && best < fresh(m.key + padded(rim::cell(to)))) lower(m.key + padded(rim::cell(to)), best);
    __syncthreads();
    if (const Word key = m.key[padded(cell)]; is_own && key < known) m.improve(cell), lower(w.key + first + cell, key);
    __syncthreads();
    make_offers(w, m, c, place, depth + 1, kept);
}

/// Writes the table, a row of rim::row costs for each cell of a rim, and spreads keys from rim to rim. `flat` is `w`
/// with keys of 32 bits and without seeds, and with the largest cost of a cell as limit.
template <pricing Pricing, class Word>
__global__ void __launch_bounds__(threads_of_tile, 2)
    leap(const __grid_constant__ work<Word, few_axes> w, const __grid_constant__ work<std::uint32_t, few_axes> flat,
         std::uint32_t* table) {
    extern __shared__ std::uint64_t memory[];
    if (end_of_stage(w) < 0) return;
    const auto meet = [] {
        if (gridDim.x > 1) cooperative_groups::this_grid().sync();
        else __syncthreads();
    };
    solver_counts& counts = *w.queue.counts;
    const bool first = blockIdx.x == 0 && threadIdx.x == 0;
    const auto rows_of = [&](std::int64_t tile) { return table + tile * rim::row * rim::row; };
    const crossing_table c = crossings_of(w);
    if (first) counts.head = counts.tail = 0;
    const tile_memory<Pricing, std::uint32_t> narrow(memory, device_tile_bits);
    for (std::int64_t tile = blockIdx.x; tile < w.where.tiles; tile += gridDim.x)
        close_tile(w, flat, narrow, c, tile, rows_of(tile));
    meet();
    const tile_memory<Pricing, Word> m(memory, device_tile_bits);
    if (fresh(&counts.too_dear) == 0)
        take_turns(w, [&](std::int64_t tile, std::uint32_t depth, const auto& mark, std::uint32_t* kept) {
            if (threadIdx.x == 0) atomicAdd(&counts.leaps, 1U);
            visit_rim(w, m, c, rows_of(tile), tile, depth, mark, kept);
        });
    meet();
    if (first) counts.head = counts.tail = 0;
}

}  // namespace nearfield::geodesics
