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
template <nearby Which, class Wanted, class Use>
__device__ void each_wanted(const work& w, std::int32_t place, const Wanted& wanted, const Use& use) {
    constexpr bool few = Which != nearby::listed && Which != nearby::corners3;
    unsigned bits = 0;
    w.where.each<Which>(place, [&](std::int32_t there, int k) {
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

/// A neighbour's key, and the way to it.
struct lowest {
    std::int32_t key = outside<std::int32_t>;
    unsigned way = flat;

    /// Takes the other one if it is lower, or equally low and first in the order of ties.
    __device__ void take(std::int32_t other_key, unsigned other_way) {
        if (other_key < key || (other_key == key && other_way < way)) key = other_key, way = other_way;
    }
};

/// How a kernel visits known neighbours: a thread has a column of cells along the slowest axis, and reads each plane
/// around it once, in which a cell has the middle and the ring around it.
template <nearby Which>
struct column {
    static constexpr bool deep = Which == nearby::sides3 || Which == nearby::corners3,
                          corners = Which == nearby::corners2 || Which == nearby::corners3;
    static constexpr unsigned middle = 1 << 4 | 1 << 2;

    __device__ static std::int32_t pitch(const grid3& where) { return where.pitch[deep ? 0 : 1]; }
    __device__ static lowest ring(const std::int32_t* key, std::int32_t row) {
        lowest found;
#pragma unroll
        for (int x = -1; x <= 1; ++x)
#pragma unroll
            for (int y = deep ? -1 : 0; y <= (deep ? 1 : 0); ++y) {
                if ((x == 0 && y == 0) || (!corners && x != 0 && y != 0)) continue;
                const std::int32_t there = key[y * row + x];
                if (there < found.key) found = {there, static_cast<unsigned>((x + 1) << 4 | (y + 1) << 2)};
            }
        return found;
    }
    /// Returns the place that a way leads to.
    __device__ static std::int32_t next(const grid3& where, std::int32_t place, unsigned way) {
        return place + static_cast<std::int32_t>(way >> 4) - 1 +
               (static_cast<std::int32_t>(way >> 2 & 3) - 1) * where.pitch[1] +
               (static_cast<std::int32_t>(way & 3) - 1) * pitch(where);
    }
    /// Returns the number in the tile of the cell that a way leads to, or nowhere.
    __device__ static std::int32_t number(const grid3&, const tile& area, int k, unsigned way, std::int32_t) {
        const int x = static_cast<int>(way >> 4) - 1, y = static_cast<int>(way >> 2 & 3) - 1,
                  z = static_cast<int>(way & 3) - 1;
        return deep ? area.beside(k, z, y, x) : area.beside(k, 0, z, x);
    }
};
template <>
struct column<nearby::listed> {
    __device__ static std::int32_t next(const grid3& where, std::int32_t place, unsigned way) {
        return where.nth(place, static_cast<int>(way));
    }
    __device__ static std::int32_t number(const grid3& where, const tile& area, int, unsigned, std::int32_t next) {
        return area.number_of(where, next);
    }
};

/// Finds the lowest neighbour of each of the thread's cells, at `place`, if one is lower than the cell. Several equal
/// ones are in the order of ties, unless an axis is periodic.
template <nearby Which>
__device__ void find_lowest(const work& w, const std::int32_t (&place)[cells_of_thread],
                            lowest (&found)[cells_of_thread]) {
    if constexpr (Which == nearby::listed) {
        for (int i = 0; i < cells_of_thread; ++i) {
            if (place[i] == nowhere) continue;
            found[i].key = w.key[place[i]];
            w.where.each(place[i], [&](std::int32_t there, int k) {
                if (w.key[there] < found[i].key && alike(w, place[i], there))
                    found[i] = {w.key[there], static_cast<unsigned>(k)};
            });
        }
    } else {
        using planes = column<Which>;
        const std::int32_t by = planes::pitch(w.where);
        int first = 0;
        while (first < cells_of_thread && place[first] == nowhere) ++first;
        if (first == cells_of_thread) return;
        const std::int32_t* at = w.key + place[first] - (first + 1) * by;
#pragma unroll
        for (int p = 0; p < cells_of_thread + 2; ++p, at += by) {
            const auto cell = [&](int i) { return i >= 0 && i < cells_of_thread && place[i] != nowhere; };
            lowest ring, whole;
            if (cell(p - 1) || cell(p - 2) || cell(p)) {
                whole = {at[0], planes::middle};
                if (planes::corners || cell(p - 1)) ring = planes::ring(at, w.where.pitch[1]);
                if (planes::corners) whole.take(ring.key, ring.way);
            }
            if (p >= 2) found[p - 2].take(whole.key, whole.way | 2);
            if (p >= 1 && p <= cells_of_thread) found[p - 1].take(ring.key, ring.way | 1);
            if (p < cells_of_thread) found[p].take(whole.key, whole.way);
        }
    }
}

/// Makes a cell a basin.
__device__ inline std::int32_t new_basin(const work& w, std::int32_t place) {
    const std::uint32_t number = atomicAdd(w.count + basins_found, 1U);
    w.best[number] = no_key, w.up[number] = static_cast<std::int32_t>(number), w.pass[number] = 0;
    w.top[number] = w.heights ? packed(w.key[place], static_cast<std::uint32_t>(place)) : no_key;
    return -2 - static_cast<std::int32_t>(number);
}
/// Returns the first of a cell and its neighbours of equal height.
template <nearby Which>
__device__ std::int32_t first_of_equals(const work& w, std::int32_t place) {
    const std::int32_t own = w.key[place];
    std::int32_t to = place;
    w.where.each<Which>(place, [&](std::int32_t there, int) {
        if (w.key[there] == own && there < to && counts<Which>(w, place, there) &&
            (own != outside<std::int32_t> || w.basin[there] != nowhere))
            to = there;
    });
    return to;
}

/// Points every cell to its lowest neighbour; if none is lower, to the first of those of its height and itself; and
/// shortens the ways within the tile. A cell that points to itself is a basin. No thread changes whether a place is a
/// cell.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) descend(const __grid_constant__ work w) {
    const tile area(w.where);
    std::int32_t place[cells_of_thread];
    lowest down[cells_of_thread];
    pointers to;
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        place[i] = area.place(w.where, area.own(i));
        if (place[i] != nowhere && w.basin[place[i]] == nowhere) w.way[place[i]] = 255, place[i] = nowhere;
    }
    find_lowest<Which>(w, place, down);
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        to.next[i] = area.own(i), to.code[i] = nowhere;
        if (place[i] == nowhere) continue;
        std::int32_t number = nowhere;
        if (down[i].key < w.key[place[i]]) {
            to.code[i] = column<Which>::next(w.where, place[i], down[i].way);
            number = column<Which>::number(w.where, area, to.next[i], down[i].way, to.code[i]);
        } else {
            down[i].way = flat;
            to.code[i] = first_of_equals<Which>(w, place[i]);
            if (to.code[i] == place[i]) to.code[i] = new_basin(w, place[i]);
            else number = area.number_of(w.where, to.code[i]);
        }
        if (number != nowhere) to.next[i] = number;
        w.way[place[i]] = static_cast<std::uint8_t>(w.where.any_wraps ? flat : down[i].way);
    }
    shorten(area, to);
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i)
        if (place[i] != nowhere) w.basin[place[i]] = to.code[i];
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
    auto slot = (low * 0x9e3779b1U ^ high * 0x85ebca77U) >> 22;
    static_assert(most_noted == 1 << 10);
    for (int tries = 0; tries < most_tries; ++tries, slot = (slot + 1) % most_noted) {
        unsigned long long old = static_cast<volatile unsigned long long*>(table.pair)[slot];
        if (old == no_key) old = atomicCAS(table.pair + slot, no_key, pair);
        if (old != no_key && old != pair) continue;
        // Most pairs have been noted with as low a pass before, and reads of a warp are faster than atomics.
        if (pass < static_cast<volatile std::int32_t*>(table.pass)[slot]) atomicMin(table.pass + slot, pass);
        return;
    }
    add_edge(w, atomicAdd(w.count + edges_found, 1U), pair, pass);
}

/// Calls use(cell, neighbour) for the thread's cells, at `place`, and those of their neighbours in other basins that
/// come after them. A bit says that a cell has such a neighbour: 13 bits a cell, by 9 z + 3 y + x - 1, where z is the
/// offset along the slowest axis. So a warp takes as many turns as its thread with most pairs.
template <nearby Which, class Use>
__device__ void each_border(const work& w, const std::int32_t (&place)[cells_of_thread], const Use& use) {
    using planes = column<Which>;
    const std::int32_t by = planes::pitch(w.where), row = w.where.pitch[1];
    int first = 0;
    while (first < cells_of_thread && place[first] == nowhere) ++first;
    if (first == cells_of_thread) return;
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
                    if (after > 0 && own != nowhere && own != there)
                        bits |= std::uint64_t{1} << (13 * p + after - 1);
                    if (p > 0 && (planes::corners || moved == 0) && before != nowhere && before != there)
                        bits |= std::uint64_t{1} << (13 * (p - 1) + 8 + after);
                }
        }
        before = own;
    }
    for (; bits != 0; bits &= bits - 1) {
        const int bit = __ffsll(static_cast<long long>(bits)) - 1, cell = bit / 13, moved = bit % 13 + 1;
        const int z = moved > 4 ? 1 : 0, y = (moved - 9 * z + 4) / 3 - 1, x = moved - 9 * z - 3 * y;
        const std::int32_t own = place[first] + (cell - first) * by;
        use(own, own + z * by + y * row + x);
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
    const tile area(w.where);
    const auto meet_at = [&](std::int32_t own, std::int32_t there) {
        note(w, table, -2 - w.basin[own], -2 - w.basin[there], max(w.key[own], w.key[there]));
    };
    std::int32_t place[cells_of_thread];
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        place[i] = area.place(w.where, area.own(i));
        if (place[i] != nowhere && w.basin[place[i]] == nowhere) place[i] = nowhere;
    }
    if constexpr (Which != nearby::listed) {
        each_border<Which>(w, place, meet_at);
    } else {
        for (const std::int32_t own : place)
            if (own != nowhere)
                w.where.each<Which, true>(own, [&](std::int32_t there, int) {
                    if (w.basin[there] != w.basin[own] && w.basin[there] != nowhere && alike(w, own, there))
                        meet_at(own, there);
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
