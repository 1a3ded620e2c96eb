// From the image to the graph: keys, descents, and the passes between basins that touch.
#pragma once

#include "base/cuda_scan.cuh"
#include "watershed/cuda_tile.cuh"

namespace nearfield::watersheds {

/// Sets the places that hold no cell: those before and behind the image, and those at the ends of rows and planes. A
/// warp handles one row.
static __global__ void __launch_bounds__(threads_of_block) clear_frame(const __grid_constant__ work w) {
    const std::int64_t thread = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::int32_t pitch = w.where.size[2] + 1, rows = (w.where.places - 2 * w.where.base) / pitch;
    const auto clear = [&](std::int32_t place) {
        w.key[place] = outside<std::int32_t>, w.basin[place] = nowhere;
        if (w.value != nullptr) w.value[place] = outside<std::int64_t>;
        if (w.seed_key == nullptr) return;
        w.value[w.where.places + place] = outside<std::int64_t>, w.seed_key[place] = outside<std::int32_t>;
    };
    if (thread < w.where.base) {
        clear(static_cast<std::int32_t>(thread));
        clear(w.where.places - w.where.base + static_cast<std::int32_t>(thread));
    }
    if (thread / cuda::warp >= rows) return;
    const std::int32_t first = w.where.base + static_cast<std::int32_t>(thread / cuda::warp) * pitch;
    std::int32_t at[most_axes];
    const std::int32_t from = w.where.locate(first, at) ? pitch - 1 : 0;
    for (std::int32_t x = from + static_cast<std::int32_t>(threadIdx.x) % cuda::warp; x < pitch; x += cuda::warp)
        clear(first + x);
}

/// Reads the key of every cell, of 8-byte types the value and the seed.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) read_keys(const __grid_constant__ work w) {
    const tile<> area(w.where);
    const own_cells own(area, w.where);
    const std::int64_t image = own.offset(w.image), mask = own.offset(w.mask), part = own.offset(w.parts),
                       seed = own.offset(w.seed);
    own.each([&](int i, std::int32_t place) {
        key_of<Value> key = outside<key_of<Value>>;
        bool inside = w.mask.data == nullptr ||
                      static_cast<const std::uint8_t*>(w.mask.data)[mask + i * own.stride(w.mask)] != 0;
        if (inside && w.part != nullptr) {
            const source flat{w.parts.data, w.parts.type, {}};
            const std::int64_t label = integer_at(flat, part + i * own.stride(w.parts));
            if (size_of(w.parts.type) == 8 && label >> 32 != 0) w.count[wide_labels] = 1;
            w.part[place] = static_cast<std::int32_t>(label), inside = label != 0;
        }
        if (inside) {
            const Value v = static_cast<const Value*>(w.image.data)[image + i * own.stride(w.image)];
            inside = is_number(v);
            if (inside) key = turned(ordered<key_of<Value>>(v), w.maxima);
        }
        if constexpr (sizeof(Value) == 8) {
            w.value[place] = key, w.key[place] = outside<std::int32_t>;
            if (w.seed.data != nullptr) {
                const Value s =
                    inside ? static_cast<const Value*>(w.seed.data)[seed + i * own.stride(w.seed)] : Value{};
                w.value[w.where.places + place] = turned(ordered<key_of<Value>>(s), w.maxima);
                w.seed_key[place] = inside && is_number(s) ? 0 : outside<std::int32_t>;
            }
        } else {
            w.key[place] = key;
        }
        w.basin[place] = inside ? place : nowhere;
    });
}

/// Calls use(place) for the neighbours that are wanted. Bodies of many unrolled neighbours would run one after another
/// in every warp in which some lane enters them; bits take as many turns as the lane with most.
template <nearby Which, class Wanted, class Use>
__device__ void each_wanted(const work& w, std::int32_t place, const Wanted& wanted, const Use& use) {
    constexpr bool few = Which != nearby::corners3;
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
    __device__ static std::int32_t number(const grid3&, const tile<Which>& area, int k, unsigned way, std::int32_t) {
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
    __device__ static std::int32_t number(const grid3& where, const tile<>& area, int, unsigned, std::int32_t next) {
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
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t place[cells_of_thread];
    lowest down[cells_of_thread];
#pragma unroll
    for (std::int32_t& each : place) each = nowhere;
    own.each([&](int i, std::int32_t here) {
        if (w.basin[here] != nowhere) place[i] = here;
        else w.way[here] = 255;
    });
    find_lowest<Which>(w, place, down);
    pointers to(own);
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
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
        w.way[place[i]] = static_cast<std::uint8_t>(w.where.any_wraps ? flat : min(down[i].way, flat));
    }
    shorten(own, to);
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i)
        if (place[i] != nowhere) w.basin[place[i]] = to.code[i];
}

/// Follows the descents, and finds the lowest marker or the lowest seed of every basin.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) find_basins(const __grid_constant__ work w) {
    const tile<> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t code[cells_of_thread];
    follow_all(w.basin, own, code);
    const std::int64_t marker = own.offset(w.markers), seed = own.offset(w.seed);
    own.each([&](int i, std::int32_t place) {
        w.basin[place] = code[i];
        if (code[i] == nowhere || w.heights) return;
        std::int32_t key = w.key[place];
        if (w.seed.data != nullptr && sizeof(Value) == 8) {
            if (w.seed_key[place] == outside<std::int32_t>) return;
            key = max(key, w.seed_key[place]);
        } else if (w.seed.data != nullptr) {
            const Value v = static_cast<const Value*>(w.seed.data)[seed + i * own.stride(w.seed)];
            if (!is_number(v)) return;
            key = max(key, turned(ordered<std::int32_t>(v), w.maxima));
        } else if (integer_at({w.markers.data, w.markers.type, {}}, marker + i * own.stride(w.markers)) == 0) {
            return;
        }
        const std::uint64_t lowest = packed(key, 0);
        std::uint64_t* const top = w.top + (-2 - code[i]);
        if (lowest < *top) atomicMin(reinterpret_cast<unsigned long long*>(top), lowest);
    });
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

/// Finds the neighbours of the thread's cells, at `place`, that come after them and lie in other basins. Each has a bit:
/// 13 bits a cell, by 9 z + 3 y + x - 1, where z is the offset along the slowest axis.
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
                    if (after > 0 && own != nowhere && own != there)
                        bits |= std::uint64_t{1} << (13 * p + after - 1);
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
        note(w, table, -2 - w.basin[here], -2 - w.basin[there], max(w.key[here], w.key[there]));
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
