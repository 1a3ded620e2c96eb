// From the levels of basins to the labels of cells: levels, steps, parents, the ends of the chains.
#pragma once

#include "base/cuda_scan.cuh"
#include "watershed/cuda_basins.cuh"
#include "watershed/cuda_merge.cuh"

namespace nearfield::watersheds {

/// Flags are counted by warps: a lane has four words, and a warp 4096 places.
inline constexpr int words_of_lane = 4, flag_words = words_of_lane * cuda::warp, flag_block = 32 * flag_words;

__device__ inline std::uint32_t flags_of(const work& w, int word) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * flag_words + words_of_lane * threadIdx.x + word;
    return at < cuda::blocks_for(w.where.places, 32) ? w.flags[at] : 0;
}

/// Counts the markers in every block of places. One warp handles one block.
static __global__ void __launch_bounds__(cuda::warp) count_flags(const __grid_constant__ work w) {
    int mine = 0;
    for (int word = 0; word < words_of_lane; ++word) mine += __popc(flags_of(w, word));
    for (int by = 1; by < cuda::warp; by *= 2) mine += __shfl_xor_sync(cuda::every_lane, mine, by);
    if (threadIdx.x == 0) w.before[blockIdx.x] = static_cast<std::uint32_t>(mine);
}

/// Numbers the markers in raster order. One warp handles one block of places.
static __global__ void __launch_bounds__(cuda::warp) number_flags(const __grid_constant__ work w) {
    std::uint32_t mine = 0;
    for (int word = 0; word < words_of_lane; ++word) mine += static_cast<std::uint32_t>(__popc(flags_of(w, word)));
    std::uint32_t number = w.before[blockIdx.x] + cuda::sum_before_in_warp(mine);
    for (int word = 0; word < words_of_lane; ++word) {
        const std::int64_t first = static_cast<std::int64_t>(blockIdx.x) * flag_block +
                                   32 * (words_of_lane * static_cast<std::int64_t>(threadIdx.x) + word);
        for (std::uint32_t rest = flags_of(w, word); rest != 0; rest &= rest - 1) {
            const std::int64_t place = first + __ffs(static_cast<int>(rest)) - 1;
            w.number[-2 - w.basin[place]] = static_cast<std::int32_t>(++number);
        }
    }
}

/// Marks a cell as part of an extremum if it is as low as the marker of its merged basin. One thread handles one place.
static __global__ void __launch_bounds__(threads_of_block) write_extrema(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    std::int32_t at[most_axes];
    if (place >= w.where.places || !w.where.locate(place, at)) return;
    const std::int32_t code = w.basin[place];
    const bool found = code != nowhere && w.key[place] == key_in(w.top[whole_of(w, -2 - code)]);
    static_cast<std::uint8_t*>(w.extrema.data)[w.extrema.offset(at)] = found ? 1 : 0;
}

/// Writes cell and value of every marker, in raster order. One thread handles one place.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) write_peaks(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    std::int32_t at[most_axes];
    if (place >= w.where.places || (w.flags[place / 32] >> place % 32 & 1) == 0) return;
    w.where.locate(place, at);
    const std::int64_t cell = (static_cast<std::int64_t>(at[0]) * w.where.size[1] + at[1]) * w.where.size[2] + at[2];
    const auto value = value_of<Value>(turned(exact_key<Value>(w, w.key[place]), w.maxima));
    w.peaks[w.number[-2 - w.basin[place]] - 1] = {cell, static_cast<double>(value)};
}

/// Returns whether the call has a marker in a cell of a basin.
__device__ inline bool is_marker(const work& w, std::int32_t place, const std::int32_t* at) {
    return w.heights ? (w.flags[place / 32] >> place % 32 & 1) != 0 : marker_at(w, at) != 0;
}
/// A chain of parents ends with the label's number if the call has no markers, else with the marker's place.
__device__ inline std::int32_t end_code(const work& w, std::int32_t place) {
    return -2 - (w.heights ? w.number[-2 - w.basin[place]] : place);
}
/// Returns whether water from a marker reaches a place.
__device__ inline bool has_level(const work& w, std::int32_t place) {
    const std::int32_t code = w.basin[place];
    return code != nowhere && w.number[-2 - code] >= 0;
}

template <class Value>
__global__ void __launch_bounds__(threads_of_block) write_passes(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    std::int32_t at[most_axes];
    if (place >= w.where.places || !w.where.locate(place, at)) return;
    const bool there = has_level(w, place);
    const std::int32_t level = there ? max(w.key[place], w.level[-2 - w.basin[place]]) : outside<std::int32_t>;
    static_cast<Value*>(w.passes.data)[w.passes.offset(at)] =
        there ? pass_value<Value>(exact_key<Value>(w, level), true, w.maxima, w.passes.type)
              : pass_value<Value>(level, false, w.maxima, w.passes.type);
}

/// Decides what is known of a cell that has a level, which is at least its basin's. Water falls from the cell the way
/// the descent went if it is below the cell there, too; and that neighbour is the parent if it needs no steps.
template <nearby Which>
__device__ known look(const work& w, std::int32_t place, unsigned way, std::int32_t own, std::int32_t level) {
    if (way == flat || level >= own) return known::little;
    const std::int32_t next = column<Which>::next(w.where, place, way);
    // Another thread may put the level in place of the key there, or make the cell one with a marker; the parent is the
    // same all the same.
    if ((w.way[next] & flat) != flat) return level < w.key[next] ? known::parent : known::closed;
    return w.heights && is_marker(w, next, nullptr) ? known::parent : known::closed;
}

/// Raises cells to their levels, and decides what is known of them. A cell with a marker points nowhere. All loads come
/// before the first store, after which they could not be reordered.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) raise(const __grid_constant__ work w) {
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    const std::int64_t marker = own.offset(w.markers), by = own.stride(w.markers);
    std::int32_t code[cells_of_thread], key[cells_of_thread], level[cells_of_thread];
    unsigned way[cells_of_thread];
    bool reached[cells_of_thread];
    known what[cells_of_thread];
    own.each([&](int i, std::int32_t place) {
        code[i] = w.basin[place], key[i] = w.key[place], way[i] = w.way[place] & flat;
    });
    own.each([&](int i, std::int32_t) {
        reached[i] = code[i] != nowhere && w.number[-2 - code[i]] >= 0;
        level[i] = code[i] != nowhere ? w.level[-2 - code[i]] : 0;
    });
    own.each([&](int i, std::int32_t place) {
        what[i] = reached[i] ? look<Which>(w, place, way[i], key[i], level[i]) : known::unreached;
        if (!reached[i]) return;
        const bool marked = w.heights ? way[i] == flat && is_marker(w, place, nullptr)
                                      : integer_at({w.markers.data, w.markers.type, {}}, marker + i * by) != 0;
        if (marked) what[i] = known::parent, way[i] = flat;
    });
    own.each([&](int i, std::int32_t place) {
        if (code[i] == nowhere) return;
        if (!reached[i]) w.key[place] = outside<std::int32_t>;
        else if (level[i] > key[i]) w.key[place] = level[i];
        w.way[place] = static_cast<std::uint8_t>(static_cast<unsigned>(what[i]) << way_bits | way[i]);
    });
}

/// Lists the cells that have no neighbour with a smaller level.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) find_open(const __grid_constant__ work w) {
    const tile<Which> area(w.where);
    each_of_tile(
        w, area, own_cells(area, w.where), [&](int, std::int32_t place) { return known_of(w, place) == known::little; },
        [&](int, std::int32_t place) {
            if (least_beside<Which>(w, place) < w.key[place]) return set_known(w, place, known::closed);
            atomicOr(w.unmet + place / 32, 1U << place % 32);
            w.open[atomicAdd(w.count + open_found, 1U)] = place;
        });
}

/// Returns the steps of a neighbour with the same level, or `unreached` if it is no such cell.
__device__ inline std::int32_t steps_of(const work& w, std::int32_t place) {
    if (w.key[place] == outside<std::int32_t> && !has_level(w, place)) return unreached;
    return known_of(w, place) == known::little ? w.steps[place] : 0;
}

/// Calls use(place) for the neighbours that need steps which are not known. Of known ones a word holds a row.
template <nearby Which, class Use>
__device__ void each_unmet(const work& w, std::int32_t place, const Use& use) {
    if constexpr (Which == nearby::listed) {
        w.where.each(place, [&](std::int32_t there, int) {
            if ((w.unmet[there / 32] >> there % 32 & 1) != 0) use(there);
        });
    } else {
        using planes = column<Which>;
        unsigned bits = 0;  // 3 r + x of the row r = 3 z + y, offsets plus 1
#pragma unroll
        for (int z = planes::deep ? -1 : 0; z <= (planes::deep ? 1 : 0); ++z)
#pragma unroll
            for (int y = -1; y <= 1; ++y) {
                if (!planes::corners && y != 0 && z != 0) continue;
                const std::int32_t first = place + z * w.where.pitch[0] + y * w.where.pitch[1] - 1;
                const std::uint32_t* const words = w.unmet + first / 32;
                const auto row = static_cast<unsigned>((std::uint64_t{words[1]} << 32 | words[0]) >> first % 32);
                bits |= (row & (planes::corners || (y == 0 && z == 0) ? 7U : 2U)) << (9 * z + 3 * y + 12);
            }
        for (; bits != 0; bits &= bits - 1) {
            const int bit = __ffs(static_cast<int>(bits)) - 1, row = bit / 3, z = row / 3;
            use(place + (z - 1) * w.where.pitch[0] + (row - 3 * z - 1) * w.where.pitch[1] + bit - 3 * row - 1);
        }
    }
}

/// Gives a cell its steps and returns true, unless it has them.
__device__ inline bool reach(const work& w, std::int32_t place, std::int32_t steps) {
    const std::uint32_t bit = 1U << place % 32;
    if ((atomicAnd(w.unmet + place / 32, ~bit) & bit) == 0) return false;
    w.steps[place] = steps;
    return true;
}

/// Puts the open cells beside those that need no steps into the first front, of `grown` cells. Only this front compares
/// levels: an open cell has no neighbour with a smaller level, so that two of them that touch have the same.
template <nearby Which>
__device__ void begin_front(const work& w, std::int64_t mine, std::int64_t stride, std::uint32_t* grown) {
    const std::uint32_t cells = w.count[open_found];
    for (std::int64_t i = mine; i < cells; i += stride) {
        const std::int32_t place = w.open[i], own = w.key[place];
        bool beside = false;
        w.where.each<Which>(place, [&](std::int32_t there, int) {
            beside |= w.key[there] == own && (own != outside<std::int32_t> || has_level(w, there)) &&
                      known_of(w, there) != known::little;
        });
        if (beside && reach(w, place, 1)) w.queue[atomicAdd(grown, 1U)] = place;
    }
}

/// Breadth-first search from the cells that need no steps: their neighbours form the first front, and each front finds
/// the next one. One kernel handles all fronts. Three counters rotate, as one is read while the next one grows. A warp
/// collects what its cells find, so that one atomic makes room for all of it.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) count_steps(const __grid_constant__ work w) {
    constexpr int warps = threads_of_block / cuda::warp;
    constexpr int held = Which == nearby::listed ? 1 : cuda::warp * 26;  // listed neighbours make room one by one
    __shared__ std::int32_t found[warps][held];
    __shared__ int count[warps];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block,
                       mine = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    std::uint32_t* const fronts_grown = w.count + fronts;
    begin_front<Which>(w, mine, stride, fronts_grown);
    std::int64_t first = 0;
    for (int round = 0;; ++round) {
        meet();
        const std::int64_t last = first + static_cast<volatile std::uint32_t*>(fronts_grown)[round % 3];
        if (last == first) return;
        if (mine == 0) static_cast<volatile std::uint32_t*>(fronts_grown)[(round + 2) % 3] = 0;
        std::uint32_t* const grown = fronts_grown + (round + 1) % 3;
        for (std::int64_t i = first + mine; i - lane < last; i += stride) {
            if (lane == 0) count[warp] = 0;
            __syncwarp();
            const auto put = [&](std::int32_t there) {
                if (!reach(w, there, round + 2)) return;
                if (Which != nearby::listed) found[warp][atomicAdd(&count[warp], 1)] = there;
                else w.queue[last + atomicAdd(grown, 1U)] = there;
            };
            if (i < last) each_unmet<Which>(w, static_cast<volatile std::int32_t*>(w.queue)[i], put);
            __syncwarp();
            const int all = count[warp];
            std::uint32_t at = 0;
            if (lane == 0 && all > 0) at = atomicAdd(grown, static_cast<std::uint32_t>(all));
            at = __shfl_sync(cuda::every_lane, at, 0);
            for (int k = lane; k < all; k += cuda::warp) w.queue[last + at + k] = found[warp][k];
            __syncwarp();
        }
        first = last;
    }
}

/// Returns the neighbour with the least level, then the fewest steps, then the smallest coordinates.
template <nearby Which>
__device__ std::int32_t parent_of(const work& w, std::int32_t place) {
    const std::int32_t level = least_beside<Which>(w, place);
    std::int32_t best = nowhere, steps = unreached;
    each_wanted<Which>(
        w, place, [&](std::int32_t there) { return w.key[there] == level; },
        [&](std::int32_t there) {
            const std::int32_t own = steps_of(w, there);
            bool first = own < steps;
            if constexpr (Which == nearby::listed)
                first = first || (w.where.any_wraps && own == steps && best != nowhere && w.where.before(there, best));
            if (first) best = there, steps = own;
        });
    return best;
}

/// Points cells to their parents, and shortens the ways within the tile.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) choose_parents(const __grid_constant__ work w) {
    __shared__ std::int32_t found[cells_of_tile];
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    each_of_tile(
        w, area, own,
        [&](int, std::int32_t place) {
            const known what = known_of(w, place);
            return what == known::little || what == known::closed;
        },
        [&](int number, std::int32_t place) { found[number] = parent_of<Which>(w, place); });
    __syncthreads();
    pointers to(own);
    own.each([&](int i, std::int32_t place) {
        const unsigned way = w.way[place] & flat;
        const known what = known_of(w, place);
        std::int32_t number = nowhere;
        if (what == known::parent && way == flat) {
            to.code[i] = end_code(w, place);
        } else if (what == known::parent) {
            to.code[i] = column<Which>::next(w.where, place, way);
            number = column<Which>::number(w.where, area, to.next[i], way, to.code[i]);
        } else if (what != known::unreached) {
            to.code[i] = found[to.next[i]];
            if (to.code[i] >= 0) number = area.number_of(w.where, to.code[i]);
        }
        if (number != nowhere) to.next[i] = number;
    });
    shorten(own, to);
    own.each([&](int i, std::int32_t place) { w.parent[place] = to.code[i]; });
}

static __global__ void __launch_bounds__(threads_of_block) follow_parents(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place < w.where.places && has_level(w, place)) follow(w.parent, place);
}

/// Returns the label at the end of a chain.
__device__ inline std::int64_t label_of(const work& w, std::int32_t code) {
    if (w.heights) return -2 - std::int64_t{code};
    std::int32_t at[most_axes];
    w.where.locate(-2 - code, at);
    return marker_at(w, at);
}

/// Returns whether a cell with this label lies between labels: a neighbour with another one has a smaller level, or an
/// equal one and fewer steps, or equal steps and smaller coordinates.
__device__ inline bool between_labels(const work& w, std::int32_t place, std::int64_t label) {
    const std::int32_t own = w.key[place], steps = steps_of(w, place);
    bool found = false;
    w.where.each(place, [&](std::int32_t there, int) {
        if (found || !has_level(w, there) || label_of(w, w.parent[there]) == label) return;
        const std::int32_t level = w.key[there], others = steps_of(w, there);
        found = level != own ? level < own : others != steps ? others < steps : w.where.before(there, place);
    });
    return found;
}

template <bool Lines>
__global__ void __launch_bounds__(threads_of_block) write_labels(const __grid_constant__ work w) {
    const tile<> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t code[cells_of_thread];
    follow_all(w.parent, own, code);
    const std::int64_t first = own.offset(w.label), by = own.stride(w.label);
    own.each([&](int i, std::int32_t place) {
        std::int64_t label = code[i] == nowhere ? 0 : label_of(w, code[i]);
        if constexpr (Lines) {
            std::int32_t at[most_axes];
            w.where.locate(place, at);
            if (code[i] != nowhere && !is_marker(w, place, at) && between_labels(w, place, label)) label = 0;
        }
        put_integer({w.label.data, w.label.type, {}}, first + i * by, label);
    });
}

}  // namespace nearfield::watersheds
