// From the image to the graph: keys, descents, and the passes between basins that touch.
#pragma once

#include "watershed/cuda_tile.cuh"

namespace nearfield::watersheds {

/// Reads the key of every place, of 8-byte types the value and the seed. One thread handles one place.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) read_keys(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place >= w.where.places) return;
    std::int32_t at[most_axes];
    key_of<Value> key = outside<key_of<Value>>;
    bool inside = w.where.locate(place, at);
    if (inside && w.mask.data != nullptr) inside = integer_of<std::uint8_t>(w.mask, at) != 0;
    if (inside && w.part != nullptr) {
        const source flat{w.parts.data, w.parts.type, {}};
        const std::int64_t label = integer_at(flat, w.parts.offset(at));
        if (size_of(w.parts.type) == 8 && label >> 32 != 0) w.count[wide_labels] = 1;
        w.part[place] = static_cast<std::int32_t>(label), inside = label != 0;
    }
    if (inside) {
        const Value v = static_cast<const Value*>(w.image.data)[w.image.offset(at)];
        inside = is_number(v);
        if (inside) key = turned(ordered<key_of<Value>>(v), w.maxima);
    }
    if constexpr (sizeof(Value) == 8) {
        w.value[place] = key, w.key[place] = outside<std::int32_t>;
        if (w.seed.data != nullptr) {
            const Value s = inside ? static_cast<const Value*>(w.seed.data)[w.seed.offset(at)] : Value{};
            w.value[w.where.places + place] = turned(ordered<key_of<Value>>(s), w.maxima);
            w.seed_key[place] = inside && is_number(s) ? 0 : outside<std::int32_t>;
        }
    } else {
        w.key[place] = key;
    }
    w.basin[place] = inside ? place : nowhere;
}

/// Calls use(place) for the neighbours that are wanted. Bodies of many unrolled neighbours would run one after another
/// in every warp in which some lane enters them; bits take as many turns as the lane with most.
template <nearby Which, bool Half = false, class Wanted, class Use>
__device__ void each_wanted(const work& w, std::int32_t place, const Wanted& wanted, const Use& use) {
    constexpr bool few = Which != nearby::listed && Which != nearby::corners3;
    unsigned bits = 0;
    w.where.each<Which, Half>(place, [&](std::int32_t there, int k) {
        if (!wanted(there)) return;
        if (few) use(there);
        else bits |= 1U << k;
    });
    for (; bits != 0; bits &= bits - 1) use(w.where.nth(place, __ffs(static_cast<int>(bits)) - 1));
}

/// Returns whether a neighbour counts: in a call with labels, only if it has the label of the cell.
template <nearby Which>
__device__ bool counts(const work& w, std::int32_t place, std::int32_t there) {
    return Which != nearby::listed || alike(w, place, there);
}
/// Returns the least key of the neighbours that count, `outside` if there is none.
template <nearby Which>
__device__ std::int32_t least_beside(const work& w, std::int32_t place) {
    std::int32_t least = outside<std::int32_t>;
    w.where.each<Which>(place, [&](std::int32_t there, int) {
        if (counts<Which>(w, place, there)) least = min(least, w.key[there]);
    });
    return least;
}

/// Points every cell to the lowest among its neighbours and itself, to the first if several are equal, and shortens the
/// ways within the tile. A cell that points to itself is a basin. No thread changes whether a place is a cell.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) descend(const __grid_constant__ work w) {
    shorten(w, w.basin, [&](std::int32_t place) {
        if (w.basin[place] == nowhere) return nowhere;
        const std::int32_t own = w.key[place];
        const std::int32_t lowest = min(own, least_beside<Which>(w, place));
        std::int32_t to = lowest < own ? w.where.places : place;
        each_wanted<Which>(
            w, place,
            [&](std::int32_t there) { return w.key[there] == lowest && there < to && counts<Which>(w, place, there); },
            [&](std::int32_t there) {
                if (there < to && (lowest != outside<std::int32_t> || w.basin[there] != nowhere)) to = there;
            });
        if (to != place) return to;
        const std::uint32_t number = atomicAdd(w.count + basins_found, 1U);
        w.best[number] = no_key, w.up[number] = static_cast<std::int32_t>(number), w.pass[number] = 0;
        w.top[number] = w.heights ? packed(own, static_cast<std::uint32_t>(place)) : no_key;
        return -2 - static_cast<std::int32_t>(number);
    });
}

/// Follows the descents, and finds the lowest marker or the lowest seed of every basin.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) find_basins(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place >= w.where.places) return;
    const std::int32_t code = follow(w.basin, place);
    if (code == nowhere || w.heights) return;
    std::int32_t at[most_axes];
    w.where.locate(place, at);
    std::int32_t key = w.key[place];
    if (w.seed.data != nullptr && sizeof(Value) == 8) {
        if (w.seed_key[place] == outside<std::int32_t>) return;
        key = max(key, w.seed_key[place]);
    } else if (w.seed.data != nullptr) {
        const Value v = static_cast<const Value*>(w.seed.data)[w.seed.offset(at)];
        if (!is_number(v)) return;
        key = max(key, turned(ordered<std::int32_t>(v), w.maxima));
    } else if (marker_at(w, at) == 0) {
        return;
    }
    const std::uint64_t own = packed(key, 0);
    if (own < w.top[-2 - code]) atomicMin(reinterpret_cast<unsigned long long*>(w.top + (-2 - code)), own);
}

// ---- passes ---------------------------------------------------------------------------------------------------------

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
    auto slot = static_cast<std::uint32_t>(pair * 0x9e3779b97f4a7c15ULL >> 40) % most_noted;
    for (int tries = 0; tries < most_tries; ++tries, slot = (slot + 1) % most_noted) {
        const unsigned long long old = atomicCAS(table.pair + slot, no_key, pair);
        if (old != no_key && old != pair) continue;
        atomicMin(table.pass + slot, pass);
        return;
    }
    add_edge(w, atomicAdd(w.count + edges_found, 1U), pair, pass);
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
    const tile area(w.where);
    for (int k = static_cast<int>(threadIdx.x); k < cells_of_tile; k += threads_of_block) {
        const std::int32_t own = area.place(w.where, k);
        const std::int32_t code = own == nowhere ? nowhere : w.basin[own];
        if (code == nowhere) continue;
        each_wanted<Which, true>(
            w, own,
            [&](std::int32_t there) {
                const std::int32_t other = w.basin[there];
                return other != code && other != nowhere && counts<Which>(w, own, there);
            },
            [&](std::int32_t there) { note(w, table, -2 - code, -2 - w.basin[there], max(w.key[own], w.key[there])); });
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
