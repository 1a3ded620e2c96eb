// The passes between basins that touch.
#pragma once

#include "base/cuda_scan.cuh"
#include "watershed/cuda_basins.cuh"

namespace nearfield::watersheds {

/// Limits of the hash table in shared memory in which a block merges the passes of its tile, one entry per pair.
inline constexpr int most_tries = 16, most_noted = 1024;

struct pass_table {
    unsigned long long pair[most_noted];
    std::int32_t pass[most_noted];
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
        if (old == no_key) old = atomicCAS(table.pair + slot, no_key, pair);
        if (old != no_key && old != pair) continue;
        // Most pairs have been noted with as low a pass before, and reads are faster than atomics.
        if (pass < static_cast<volatile std::int32_t*>(table.pass)[slot]) atomicMin(table.pass + slot, pass);
        return;
    }
    add_edge(w, atomicAdd(w.count + edges_found, 1U), pair, pass);
}

/// Finds the neighbours of the thread's cells, at `place`, that come after them and lie in other basins. Each has a
/// bit: 13 bits a cell, by 9 z + 3 y + x - 1, where z is the offset along the slowest axis.
template <nearby Which>
__device__ std::uint64_t borders(const work& w, const std::int32_t (&place)[cells_of_thread]) {
    using planes = column<Which>;
    const std::int32_t by = planes::pitch(w.where), row = w.where.pitch[1];
    int first = 0;
    while (first < cells_of_thread && place[first] == nowhere) ++first;
    if (first == cells_of_thread) return 0;
    const std::int32_t* at = w.basin + place[first] - first * by;
    std::uint64_t bits = 0;
    std::int32_t before = nowhere;
#pragma unroll
    for (int p = 0; p <= cells_of_thread; ++p, at += by) {
        const bool cell = p < cells_of_thread && place[p < cells_of_thread ? p : 0] != nowhere;
        const std::int32_t own = cell ? at[0] : nowhere;
        if (cell || before != nowhere) {
#pragma unroll
            for (int y = planes::deep ? -1 : 0; y <= (planes::deep ? 1 : 0); ++y)
#pragma unroll
                for (int x = -1; x <= 1; ++x) {
                    const int moved = x * x + y * y, after = 3 * y + x;
                    if (!planes::corners && (moved > 1 || (moved == 1 && after < 0))) continue;
                    const std::int32_t there = at[y * row + x];
                    if (there == nowhere) continue;
                    if (after > 0 && own != nowhere && own != there) bits |= std::uint64_t{1} << (13 * p + after - 1);
                    if (p > 0 && (planes::corners || moved == 0) && before != nowhere && before != there)
                        bits |= std::uint64_t{1} << (13 * (p - 1) + 8 + after);
                }
        }
        before = own;
    }
    return bits;
}

/// Pairs that a block has found: the thread, and above it the number of the bit.
inline constexpr int most_pairs = 13 * cells_of_tile, thread_bits = 8;

/// Calls use(cell, neighbour) for all pairs, dividing them evenly among the threads.
template <nearby Which, class Use>
__device__ void each_pair(const work& w, const tile<Which>& area, std::uint64_t bits, const Use& use) {
    static_assert(threads_of_block == 1 << thread_bits && 13 * cells_of_thread <= 1 << (16 - thread_bits));
    __shared__ std::uint16_t pairs[most_pairs];
    __shared__ int held[threads_of_block / cuda::warp];
    int all = 0;
    int to = cuda::sum_before(__popcll(bits), held, all);
    for (; bits != 0; bits &= bits - 1)
        pairs[to++] = static_cast<std::uint16_t>((__ffsll(static_cast<long long>(bits)) - 1) << thread_bits |
                                                 static_cast<int>(threadIdx.x));
    __syncthreads();
    const std::int32_t by = column<Which>::pitch(w.where), row = w.where.pitch[1];
    for (int i = static_cast<int>(threadIdx.x); i < all; i += threads_of_block) {
        const int bit = pairs[i] >> thread_bits, thread = pairs[i] & (threads_of_block - 1);
        const int cell = bit / 13, moved = bit - 13 * cell + 1;
        const int z = moved > 4 ? 1 : 0, y = (moved - 9 * z + 4) / 3 - 1, x = moved - 9 * z - 3 * y;
        const int first = column<Which>::deep ? thread : ((thread & ~31) << 2) + (thread & 31);
        const std::int32_t own = area.place(w.where, first) + cell * by;
        use(own, own + z * by + y * row + x);
    }
}

/// Finds which passes lie high enough above each basin for its minimum. A pass that lies high enough above both basins
/// joins nothing. Ranks of 8-byte values are not searched.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) find_last(const __grid_constant__ work w) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
         i < w.count[basins_found]; i += stride) {
        const std::int32_t low = key_in(w.top[i]);
        if (!(w.least.h > 0)) w.last[i] = low;
        else if constexpr (sizeof(Value) == 8) w.last[i] = outside<std::int32_t>;
        else w.last[i] = w.least.last_below<Value>(low);
    }
}

/// Lists the passes between basins that touch in the tile or at its faces. Known neighbours that come before the cell
/// have noted the pass themselves.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) find_edges(const __grid_constant__ work w) {
    __shared__ pass_table table;
    __shared__ std::uint32_t noted, first;
    if (threadIdx.x == 0) noted = 0;
    for (int i = static_cast<int>(threadIdx.x); i < most_noted; i += threads_of_block)
        table.pair[i] = no_key, table.pass[i] = outside<std::int32_t>;
    __syncthreads();
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    const auto touch = [&](std::int32_t here, std::int32_t there) {
        const std::int32_t a = -2 - w.basin[here], b = -2 - w.basin[there], pass = max(w.key[here], w.key[there]);
        if (w.last == nullptr || pass <= max(w.last[a], w.last[b])) note(w, table, a, b, pass);
    };
    if constexpr (Which != nearby::listed) {
        std::int32_t place[cells_of_thread];
#pragma unroll
        for (std::int32_t& each : place) each = nowhere;
        own.each([&](int i, std::int32_t here) { place[i] = w.basin[here] == nowhere ? nowhere : here; });
        each_pair<Which>(w, area, borders<Which>(w, place), touch);
    } else {
        own.each([&](int, std::int32_t here) {
            if (w.basin[here] == nowhere) return;
            w.where.each<Which, true>(here, [&](std::int32_t there, int) {
                if (w.basin[there] != w.basin[here] && w.basin[there] != nowhere && alike(w, here, there))
                    touch(here, there);
            });
        });
    }
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < most_noted; i += threads_of_block)
        if (table.pair[i] != no_key) atomicAdd(&noted, 1U);
    __syncthreads();
    if (threadIdx.x == 0) first = atomicAdd(w.count + edges_found, noted), noted = 0;
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < most_noted; i += threads_of_block)
        if (table.pair[i] != no_key) add_edge(w, first + atomicAdd(&noted, 1U), table.pair[i], table.pass[i]);
}

}  // namespace nearfield::watersheds
