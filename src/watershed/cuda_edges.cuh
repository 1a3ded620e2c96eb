// The passes between basins that touch.
#pragma once

#include "watershed/cuda_basins.cuh"

namespace nearfield::watersheds {

/// Limits of the hash table in shared memory in which a block merges the passes of its tile, one entry per pair.
inline constexpr int most_tries = 16, most_noted = 1024;

struct pass_table {
    unsigned long long pair[most_noted];
    std::int32_t pass[most_noted];
    std::uint16_t taken[most_noted];  ///< the slots of the pairs
    std::uint32_t count;

    __device__ void clear() {
        if (threadIdx.x == 0) count = 0;
        for (int i = static_cast<int>(threadIdx.x); i < most_noted; i += threads_of_block)
            pair[i] = no_key, pass[i] = outside<std::int32_t>;
    }
};

__device__ inline void add_edge(const work& w, std::uint32_t at, std::uint64_t pair, std::int32_t pass) {
    if (at >= w.most_edges) return;
    w.edge_a[at] = static_cast<std::int32_t>(pair >> 32), w.edge_b[at] = static_cast<std::int32_t>(pair);
    w.edge_pass[at] = pass;
}

__device__ inline void note(const work& w, pass_table& table, std::int32_t a, std::int32_t b, std::int32_t pass) {
    const auto low = static_cast<std::uint32_t>(a < b ? a : b), high = static_cast<std::uint32_t>(a < b ? b : a);
    const unsigned long long pair = static_cast<unsigned long long>(low) << 32 | high;
    auto slot = (low * 0x9e3779b1U ^ high * 0x85ebca77U) >> 22;
    static_assert(most_noted == 1 << 10);
    for (int tries = 0; tries < most_tries; ++tries, slot = (slot + 1) % most_noted) {
        unsigned long long old = static_cast<volatile unsigned long long*>(table.pair)[slot];
        if (old == no_key) {
            old = atomicCAS(table.pair + slot, no_key, pair);
            if (old == no_key) table.taken[atomicAdd(&table.count, 1U)] = static_cast<std::uint16_t>(slot);
        }
        if (old != no_key && old != pair) continue;
        // Most pairs have been noted with as low a pass before, and reads are faster than atomics.
        if (pass < static_cast<volatile std::int32_t*>(table.pass)[slot]) atomicMin(table.pass + slot, pass);
        return;
    }
    add_edge(w, atomicAdd(w.count + edges_found, 1U), pair, pass);
}

/// The codes of some places: whether they are in different basins. Codes are negative, and nowhere the largest.
struct codes_seen {
    std::uint32_t low = ~0U, above = 0;  ///< the least code, and 1 above the greatest of those that are not nowhere

    __device__ void add(std::int32_t code) {
        const auto bits = static_cast<std::uint32_t>(code);
        low = min(low, bits), above = max(above, bits + 1);
    }
    __device__ void add(const codes_seen& more) { low = min(low, more.low), above = max(above, more.above); }
    [[nodiscard]] __device__ bool differ() const { return low + 1 != above; }
};

/// Finds which of the thread's cells are the first of a block of 2x2x2 or 2x2 places, or of a cell and the neighbours
/// behind it along the axes, in which basins touch. Two cells that are neighbours at corners share such a block, of
/// which the first place need not hold a cell. Returns a bit for each cell.
template <nearby Which>
__device__ unsigned mixed(const work& w, const own_cells& own) {
    using planes = column<Which>;
    const std::int32_t* at = w.basin + own.place;
    const std::int32_t by = planes::pitch(w.where), row = w.where.pitch[1];
    unsigned bits = 0;
    codes_seen before;
    // Places behind the last cell of the image's columns exist, and hold no cell.
#pragma unroll
    for (int p = 0; p <= cells_of_thread; ++p, at += by) {
        if (p > own.count) break;
        codes_seen here;
        here.add(at[0]);
        if (!planes::corners && p > 0) before.add(here);
        if (planes::corners || p < cells_of_thread) {
            here.add(at[1]);
            if (planes::deep) here.add(at[row]);
            if (planes::deep && planes::corners) here.add(at[row + 1]);
        }
        if (planes::corners && p > 0) before.add(here);
        if (p > 0 && before.differ()) bits |= 1U << (p - 1);
        before = here;
    }
    return bits;
}

/// Calls use(a, b, pass) for basins that touch in the block of places of which this is the first. All of its places are
/// neighbours. So if it holds two basins, their pass there is the larger one of their least keys. If it holds more, it
/// offers those pairs of cells that share no block before it.
template <nearby Which, class Use>
__device__ void each_touch(const work& w, std::int32_t first, const Use& use) {
    constexpr int places = column<Which>::deep ? 8 : 4;
    const auto place = [&](int k) {
        return first + (k & 1) + (k >> 1 & 1) * w.where.pitch[1] + (k >> 2) * w.where.pitch[0];
    };
    std::int32_t code[places];
    codes_seen seen;
#pragma unroll
    for (int k = 0; k < places; ++k) code[k] = w.basin[place(k)], seen.add(code[k]);
    const auto a = static_cast<std::int32_t>(seen.low), b = static_cast<std::int32_t>(seen.above - 1);
    bool two = true;
    std::int32_t low_a = outside<std::int32_t>, low_b = low_a;
#pragma unroll
    for (int k = 0; k < places; ++k) {
        two &= code[k] == a || code[k] == b || code[k] == nowhere;
        if (code[k] == nowhere) continue;
        (code[k] == a ? low_a : low_b) = min(code[k] == a ? low_a : low_b, w.key[place(k)]);
    }
    if (two) return use(-2 - a, -2 - b, max(low_a, low_b));
    if (w.last != nullptr) {  // few passes are low enough
        std::int32_t last = std::numeric_limits<std::int32_t>::min();
#pragma unroll
        for (const std::int32_t each : code)
            if (each != nowhere) last = max(last, w.last[-2 - each]);
        if (last < min(low_a, low_b)) return;
    }
    std::uint64_t pairs = 0;
#pragma unroll
    for (int i = 0; i < places; ++i)
#pragma unroll
        for (int j = i + 1; j < places; ++j)
            if ((i & j) == 0 && code[i] != code[j] && code[i] != nowhere && code[j] != nowhere)
                pairs |= std::uint64_t{1} << (8 * i + j);
    for (; pairs != 0; pairs &= pairs - 1) {
        const int bit = __ffsll(static_cast<long long>(pairs)) - 1;
        const std::int32_t here = place(bit / 8), there = place(bit % 8);
        use(-2 - w.basin[here], -2 - w.basin[there], max(w.key[here], w.key[there]));
    }
}

/// Finds which passes lie high enough above each basin for its minimum. A pass that lies high enough above both basins
/// joins nothing. Ranks of 8-byte values are not searched.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) find_last(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
         i < w.count[basins_found]; i += stride) {
        const std::int32_t low = key_in(w.top[i]);
        if (!(w.least.h > 0)) w.last[i] = low;
        else if constexpr (sizeof(Value) == 8) w.last[i] = outside<std::int32_t>;
        else w.last[i] = w.least.last_below<Value>(low);
    }
}

/// Calls use(place) for cells whose neighbours are listed: for all, or, behind a launch of known ones, for those at
/// periodic ends, which forget the way to their lowest known neighbour: another one may be lower. Returns false if the
/// block has no such cell, else with an empty table at the start.
template <class Use>
__device__ bool each_by_list(const work& w, const own_cells& own, pass_table& table, const Use& use) {
    const bool all = w.where.steps_are == nearby::listed;
    bool some = false;
    own.each([&](int, std::int32_t here) { some |= all || w.where.at_end(here); });
    if (__syncthreads_or(some ? 1 : 0) == 0) return false;
    table.clear();
    __syncthreads();
    own.each([&](int, std::int32_t here) {
        if (!all && !w.where.at_end(here)) return;
        use(here);
        if (!all && w.basin[here] != nowhere) w.way[here] = flat;
    });
    return true;
}

/// Lists the passes between basins that touch in the tile or at its faces. Known neighbours that come before the cell
/// have noted the pass themselves.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) find_edges(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    __shared__ pass_table table;
    __shared__ std::uint32_t first;
    if (w.again && w.count[listed_again] == 0) return;
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    const auto touch = [&](std::int32_t a, std::int32_t b, std::int32_t pass) {
        if (w.last == nullptr || pass <= max(w.last[a], w.last[b])) note(w, table, a, b, pass);
    };
    const auto touch_neighbours = [&](std::int32_t here) {
        if (w.basin[here] == nowhere) return;
        w.where.each<Which, true>(here, [&](std::int32_t there, int) {
            const std::int32_t a = w.basin[here], b = w.basin[there];
            if (a != b && b != nowhere && counts<Which>(w, here, there))
                touch(-2 - a, -2 - b, max(w.key[here], w.key[there]));
        });
    };
    if constexpr (Which != nearby::listed) {
        const unsigned bits = mixed<Which>(w, own);
        if (__syncthreads_or(static_cast<int>(bits)) == 0) return;
        table.clear();
        each_of_tile(
            w, area, own, [&](int i, std::int32_t) { return (bits >> i & 1) != 0; },
            [&](int, std::int32_t place) {
                if constexpr (column<Which>::corners) each_touch<Which>(w, place, touch);
                else touch_neighbours(place);
            });
    } else {
        if (!each_by_list(w, own, table, touch_neighbours)) return;
    }
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(w.count + edges_found, table.count);
    __syncthreads();
    for (std::uint32_t i = threadIdx.x; i < table.count; i += threads_of_block)
        add_edge(w, first + i, table.pair[table.taken[i]], table.pass[table.taken[i]]);
}

}  // namespace nearfield::watersheds
