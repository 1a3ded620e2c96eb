// From the image to basins: keys and descents.
#pragma once

#include "base/cuda_scan.cuh"
#include "watershed/cuda_tile.cuh"

namespace nearfield::watersheds {

inline constexpr int rows_of_warp = 4;  ///< rows whose ends a warp clears

/// Sets the places that hold no cell: those before and behind the image, and those at the ends of rows and planes. A
/// warp handles four rows.
__device__ inline void clear_frame(const work& w, std::int64_t block) {
    constexpr int lanes = cuda::warp / rows_of_warp;
    const std::int64_t thread = block * threads_of_block + threadIdx.x;
    const std::int32_t pitch = w.where.row_pitch, rows = (w.where.places - 2 * w.where.base) / pitch;
    const auto clear = [&](std::int32_t place) {
        w.key[place] = outside<std::int32_t>, w.basin[place] = nowhere, w.way[place] = no_cell;
        if (w.value != nullptr) w.value[place] = outside<std::int64_t>;
        if (w.seed_key == nullptr) return;
        w.value[w.where.places + place] = outside<std::int64_t>, w.seed_key[place] = outside<std::int32_t>;
    };
    if (thread < w.where.base) {
        clear(static_cast<std::int32_t>(thread));
        clear(w.where.places - w.where.base + static_cast<std::int32_t>(thread));
    }
    if (thread / lanes >= rows) return;
    const std::int32_t first = w.where.base + static_cast<std::int32_t>(thread / lanes) * pitch;
    std::int32_t at[most_axes];
    const std::int32_t from = w.where.locate(first, at) ? w.where.size[2] : 0;
    for (std::int32_t x = from + static_cast<std::int32_t>(threadIdx.x) % lanes; x < pitch; x += lanes)
        clear(first + x);
}

/// Reads a cell's label, of which only 32 bits are kept; 0 excludes the cell.
__device__ inline bool read_part(const work& w, std::int64_t offset, std::int32_t place) {
    const source flat{w.parts.data, w.parts.type, {}};
    const std::int64_t label = integer_at(flat, offset);
    if (size_of(w.parts.type) == 8 && label >> 32 != 0) w.count[wide_labels] = 1;
    w.part[place] = static_cast<std::int32_t>(label);
    return label != 0;
}

/// Reads the key of every cell, of 8-byte types the value and the seed. All loads come before the first store, after
/// which they could not be reordered. Blocks behind those of the cells set the places that hold no cell.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) read_keys(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    if (blockIdx.x >= w.where.quad_blocks) return clear_frame(w, blockIdx.x - w.where.quad_blocks);
    const quad own(w.where);
    std::uint8_t inside[cells_of_thread], way[cells_of_thread];
    Value value[cells_of_thread]{}, seed[cells_of_thread]{};
    for (std::uint8_t& each : inside) each = 1;
    if (w.mask.data != nullptr) own.read(w.mask, inside);
    const bool some = (inside[0] | inside[1] | inside[2] | inside[3]) != 0;
    if (some) own.read(w.image, value);
    if (some && w.seed.data != nullptr) own.read(w.seed, seed);
    std::int32_t low[cells_of_thread];
    std::int64_t high[cells_of_thread];
    own.each([&](int i) {
        bool cell = inside[i] != 0;
        if (cell && w.part != nullptr) cell = read_part(w, own.offset(w.parts, i), own.place + i);
        cell = cell && is_number(value[i]);
        const key_of<Value> key = cell ? turned(ordered<key_of<Value>>(value[i]), w.maxima) : outside<key_of<Value>>;
        if constexpr (sizeof(Value) == 8) high[i] = key, low[i] = outside<std::int32_t>;
        else low[i] = key;
        way[i] = cell ? flat : no_cell;
    });
    own.write(w.key, low), own.write(w.way, way);
    if constexpr (sizeof(Value) == 8) {
        own.write(w.value, high);
        if (w.seed.data == nullptr) return;
        own.each([&](int i) {
            high[i] = turned(ordered<key_of<Value>>(seed[i]), w.maxima);
            low[i] = way[i] != no_cell && is_number(seed[i]) ? 0 : outside<std::int32_t>;
        });
        own.write(w.value + w.where.places, high), own.write(w.seed_key, low);
    }
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
    __device__ static constexpr unsigned way_of_row(int y) { return static_cast<unsigned>(deep ? y << 2 : 1 << 2); }
    /// Returns the lowest place of the ring, of which those at corners do not count.
    __device__ static lowest ring(const std::int32_t* key, std::int32_t row) {
        lowest found{key[-1], 1 << 2};
        if (deep && key[-row] < found.key) found = {key[-row], 1 << 4};
        if (deep && key[row] < found.key) found = {key[row], 1 << 4 | 2 << 2};
        if (key[1] < found.key) found = {key[1], 2 << 4 | 1 << 2};
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
        const int x = static_cast<int>(way >> 4), y = static_cast<int>(way >> 2 & 3), z = static_cast<int>(way & 3);
        return deep ? area.beside(k, z, y, x) : area.beside(k, 1, z, x);
    }
};
template <>
struct column<nearby::listed> {
    static constexpr bool corners = false;

    __device__ static std::int32_t next(const grid3& where, std::int32_t place, unsigned way) {
        return where.nth(place, static_cast<int>(way));
    }
    __device__ static std::int32_t number(const grid3& where, const tile<>& area, int, unsigned, std::int32_t next) {
        return area.number_of(where, next);
    }
};

/// Finds the lowest of three keys of a column, of which the least way comes first.
__device__ inline lowest lowest_of(std::int32_t a, std::int32_t b, std::int32_t c, unsigned way) {
    lowest found{a, way};
    if (b < found.key) found = {b, way + 1};
    if (c < found.key) found = {c, way + 2};
    return found;
}
__device__ inline lowest shuffled(const lowest& of, int from) {
    return {__shfl_sync(cuda::every_lane, of.key, from), __shfl_sync(cuda::every_lane, of.way, from)};
}

/// Finds the lowest places of the columns beside the warp: some lanes do so for one column each, and of three lanes the
/// first gets the lowest. `before` is the corner of the places around the lane's column.
template <nearby Which>
__device__ lowest lowest_beyond(const work& w, const own_cells& own, std::int32_t before, int depth, int lane) {
    using planes = column<Which>;
    constexpr int rows = planes::deep ? 3 : 1, of_side = cells_of_thread * rows;
    const std::int32_t by = planes::pitch(w.where);
    const int side = lane / of_side, cell = lane % of_side / rows, y = lane % rows;
    lowest beyond;
    if (lane < 2 * of_side && cell < depth && (side == 0 || own.at[2] - lane + 32 <= w.where.size[2])) {
        const std::int32_t at = before - lane + (side == 0 ? -1 : 32) + cell * by + y * w.where.pitch[1];
        beyond = lowest_of(w.key[at], w.key[at + by], w.key[at + 2 * by], planes::way_of_row(y));
    }
    for (int next = 1; next < rows; ++next)
        if (const lowest other = shuffled(beyond, (lane + next) % 32); other.key < beyond.key && y == 0) beyond = other;
    return beyond;
}

/// Does what find_lowest() does for neighbours at corners. A lane finds the lowest places of its own column and, in a
/// volume, of the two beside it along the second axis, and lanes exchange them along the last axis. Some lanes do so
/// for the columns beside the warp.
template <nearby Which>
__device__ void find_lowest_in_warp(const work& w, const own_cells& own, const std::int32_t (&place)[cells_of_thread],
                                    lowest (&found)[cells_of_thread]) {
    using planes = column<Which>;
    constexpr int axis = planes::deep ? 0 : 1, rows = planes::deep ? 3 : 1, of_side = cells_of_thread * rows;
    static_assert(sides_of(3 - axis).bits[2] == 5 && 2 * of_side <= cuda::warp);
    bool some = false;
    for (const std::int32_t each : place) some |= each != nowhere;
    if (__any_sync(cuda::every_lane, some ? 1 : 0) == 0) return;
    // Lanes behind the row's end read the place there, which holds no cell, and columns that end in the tile their last
    // plane again. Sums of 32 bits take fewer instructions than addresses.
    const std::int32_t by = planes::pitch(w.where), row = w.where.pitch[1];
    const int depth = min(w.where.size[axis] - own.at[axis], cells_of_thread),
              lane = static_cast<int>(threadIdx.x & 31);  // which has no sign to be divided with
    const std::int32_t before = own.place - by - (planes::deep ? row : 0),
                       first = before - max(own.at[2] - w.where.size[2], 0);
    std::int32_t plane[cells_of_thread + 2];
#pragma unroll
    for (int p = 0; p < cells_of_thread + 2; ++p) plane[p] = min(p, depth + 1) * by;
#pragma unroll
    for (int y = 0; y < rows; ++y) {
        const std::int32_t* const at = w.key + (first + y * row);
        std::int32_t key[cells_of_thread + 2];
#pragma unroll
        for (int p = 0; p < cells_of_thread + 2; ++p) key[p] = at[plane[p]];
#pragma unroll
        for (int i = 0; i < cells_of_thread; ++i) {
            const lowest here = lowest_of(key[i], key[i + 1], key[i + 2], planes::way_of_row(y));
            if (here.key < found[i].key) found[i] = here;
        }
    }
    const lowest beyond = lowest_beyond<Which>(w, own, before, depth, lane);
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        lowest left = shuffled(found[i], (lane + 31) % 32), right = shuffled(found[i], (lane + 1) % 32);
        const lowest end = shuffled(beyond, (lane == 31 ? of_side : 0) + rows * i);
        if (lane == 0) left = end;
        if (lane == 31) right = end;
        if (found[i].key < left.key) left = {found[i].key, found[i].way | 1 << 4};
        if (right.key < left.key) left = {right.key, right.way | 2 << 4};
        found[i] = left;
    }
}

/// Finds the lowest neighbour of each of the thread's cells, at `place`, if one is lower than the cell. Several equal
/// ones are in the order of ties, unless an axis is periodic.
template <nearby Which>
__device__ void find_lowest(const work& w, const own_cells& own, const std::int32_t (&place)[cells_of_thread],
                            lowest (&found)[cells_of_thread]) {
    if constexpr (column<Which>::corners) {
        find_lowest_in_warp<Which>(w, own, place, found);
    } else if constexpr (Which == nearby::listed) {
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
            if (cell(p - 1) || cell(p - 2) || cell(p)) whole = {at[0], planes::middle};
            if (cell(p - 1)) ring = planes::ring(at, w.where.pitch[1]);
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
            (own != outside<std::int32_t> || w.way[there] != no_cell))
            to = there;
    });
    return to;
}

/// Points every cell to its lowest neighbour; if none is lower, to the first of those of its height and itself; and
/// shortens the ways within the tile. A cell that points to itself is a basin. No thread changes whether a place is a
/// cell. Known neighbours do not reach across periodic ends, where basins that are no minima may begin: the passes
/// across the ends join them to lower ones.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) descend(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t place[cells_of_thread];
    lowest down[cells_of_thread];
#pragma unroll
    for (std::int32_t& each : place) each = nowhere;
    bool some = false;
    own.each([&](int i, std::int32_t here) {
        if (w.way[here] != no_cell) place[i] = here, some = true;
    });
    if (__syncthreads_or(some ? 1 : 0) == 0) return own.each([&](int, std::int32_t here) { w.basin[here] = nowhere; });
    find_lowest<Which>(w, own, place, down);
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
        w.way[place[i]] =
            static_cast<std::uint8_t>(Which == nearby::listed && w.where.any_wraps ? flat : min(down[i].way, flat));
    }
    shorten(own, to);
    own.each([&](int i, std::int32_t here) { w.basin[here] = to.code[i]; });
}

/// Notes whether all markers have the same label.
__device__ inline void note_label(const work& w, std::int32_t place, std::int64_t label) {
    if (w.count[labels_differ] != 0) return;
    const auto own = static_cast<std::uint32_t>(place) + 1;
    std::uint32_t some = w.count[some_marker];
    if (some == 0) some = atomicCAS(w.count + some_marker, 0U, own);
    std::int32_t at[most_axes];
    if (some == 0 || some == own || !w.where.locate(static_cast<std::int32_t>(some - 1), at)) return;
    if (marker_at(w, at) != label) w.count[labels_differ] = 1;
}

/// Follows the descents, and finds the lowest marker or the lowest seed of every basin.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) find_basins(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const tile<> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t code[cells_of_thread];
    follow_all(w.basin, own, code);
    const std::int64_t marker = own.offset(w.markers), seed = own.offset(w.seed);
    own.each([&](int i, std::int32_t place) {
        if (code[i] == nowhere) return;
        w.basin[place] = code[i];
        if (w.heights) return;
        std::int32_t key = w.key[place];
        if (w.seed.data != nullptr && sizeof(Value) == 8) {
            if (w.seed_key[place] == outside<std::int32_t>) return;
            key = max(key, w.seed_key[place]);
        } else if (w.seed.data != nullptr) {
            const Value v = static_cast<const Value*>(w.seed.data)[seed + i * own.stride(w.seed)];
            if (!is_number(v)) return;
            key = max(key, turned(ordered<std::int32_t>(v), w.maxima));
        } else {
            const source flat_markers{w.markers.data, w.markers.type, {}};
            const std::int64_t label = integer_at(flat_markers, marker + i * own.stride(w.markers));
            if (label == 0) return;
            note_label(w, place, label);
        }
        const std::uint64_t lowest = packed(key, 0);
        std::uint64_t* const top = w.top + (-2 - code[i]);
        if (lowest < *top) atomicMin(reinterpret_cast<unsigned long long*>(top), lowest);
    });
}

}  // namespace nearfield::watersheds
