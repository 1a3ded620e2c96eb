// From the levels of basins to the labels of cells: levels, steps, parents, the ends of the chains.
#pragma once

#include "watershed/cuda_steps.cuh"

namespace nearfield::watersheds {

__device__ inline std::uint32_t flags_of(const work& w, int word) {
    const std::int64_t at = static_cast<std::int64_t>(blockIdx.x) * flag_words + words_of_lane * threadIdx.x + word;
    return at < cuda::blocks_for(w.where.places, 32) ? w.flags[at] : 0;
}

/// Numbers the markers in raster order. One warp handles one block of places.
static __global__ void __launch_bounds__(cuda::warp) number_flags(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
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

/// Marks a cell as part of an extremum if it is as low as the marker of its merged basin.
static __global__ void __launch_bounds__(threads_of_block) write_extrema(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const quad own(w.where);
    std::int32_t code[cells_of_thread], key[cells_of_thread];
    own.read(w.basin + own.place, code), own.read(w.key + own.place, key);
    std::uint8_t found[cells_of_thread];
    own.each([&](int i) {
        found[i] = code[i] != nowhere && key[i] == key_in(w.top[whole_of<false>(w, -2 - code[i])]) ? 1 : 0;
    });
    own.write(w.extrema, found);
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
template <class Value>
__global__ void __launch_bounds__(threads_of_block) write_passes(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const quad own(w.where);
    std::int32_t code[cells_of_thread], level[cells_of_thread];
    Value pass[cells_of_thread];
    own.read(w.basin + own.place, code), own.read(w.key + own.place, level);
    own.each([&](int i) {
        const bool found = code[i] != nowhere && w.number[-2 - code[i]] >= 0;
        if (found) level[i] = max(level[i], w.level[-2 - code[i]]);
        pass[i] = found ? pass_value<Value>(exact_key<Value>(w, level[i]), true, w.maxima, w.passes.type)
                        : pass_value<Value>(outside<std::int32_t>, false, w.maxima, w.passes.type);
    });
    own.write(w.passes, pass);
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

/// Points a cell to its parent if that is known, a marker to its end, and any other cell that has a level to itself.
template <nearby Which>
__device__ void point_to_parent(const work& w, const tile<Which>& area, std::int32_t place, known what, unsigned way,
                                std::int32_t& code, int& next) {
    if (what == known::unreached) return;
    if (what != known::parent) {
        code = place;
    } else if (way == flat) {
        code = end_code(w, place);
    } else {
        code = column<Which>::next(w.where, place, way);
        if (const std::int32_t number = column<Which>::number(w.where, area, next, way, code); number != nowhere)
            next = number;
    }
}

/// Shortens the ways of the thread's cells within the tile and stores them. Lists the cells that point to themselves,
/// those of a row of a warp together, as lanes read their neighbours later. `listed` is 0 before the last barrier.
__device__ inline void store_parents(const work& w, const own_cells& own, pointers& to, std::uint32_t& listed) {
    __shared__ std::uint32_t start;
    unsigned rows[cells_of_thread];
    std::uint32_t all = 0, before = 0;
#pragma unroll
    for (int i = 0; i < cells_of_thread; ++i) {
        const bool open = i < own.count && to.code[i] == own.place + i * own.place_by;
        rows[i] = __ballot_sync(cuda::every_lane, open ? 1 : 0), all += static_cast<std::uint32_t>(__popc(rows[i]));
    }
    if (all > 0 && cuda::lane_of_thread() == 0) before = atomicAdd(&listed, all);
    before = __shfl_sync(cuda::every_lane, before, 0);
    __syncthreads();
    if (threadIdx.x == 0 && listed > 0) start = atomicAdd(w.count + open_found, listed);
    shorten(own, to);
    std::int32_t* list = w.open + start + before;
#pragma unroll
    for (int i = 0; i < cells_of_thread; list += __popc(rows[i]), ++i) {
        const std::int32_t place = own.place + i * own.place_by;
        if (i < own.count) w.parent[place] = to.code[i];
        if ((rows[i] >> cuda::lane_of_thread() & 1) != 0) list[__popc(rows[i] & cuda::lanes_before())] = place;
    }
}

/// Returns whether all cells that water reaches get the same label, so that none needs steps or a parent.
__device__ inline bool one_label(const work& w) {
    if (w.lines) return false;
    return w.heights ? w.count[counters] == 1 : w.count[some_marker] != 0 && w.count[labels_differ] == 0;
}

/// Points all cells of these basins that water reaches to the end that has the one label.
__device__ inline void store_one_label(const work& w, const own_cells& own,
                                       const std::int32_t (&code)[cells_of_thread]) {
    const std::int32_t end = -2 - (w.heights ? 1 : static_cast<std::int32_t>(w.count[some_marker] - 1));
    own.each([&](int i, std::int32_t place) {
        w.parent[place] = code[i] != nowhere && w.number[-2 - code[i]] >= 0 ? end : nowhere;
    });
}

/// Raises cells to their levels, and decides what is known of them. Cells whose parents are known point to them, and
/// their ways are shortened within the tile; other cells are listed. A cell with a marker points nowhere. All loads
/// come before the first store, after which they could not be reordered.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) raise(const __grid_constant__ work w) {
    __shared__ std::uint32_t listed;
    cuda::wait_for_kernel_before();
    const tile<Which> area(w.where);
    const own_cells own(area, w.where);
    const std::int64_t marker = own.offset(w.markers), by = own.stride(w.markers);
    std::int32_t code[cells_of_thread], key[cells_of_thread], level[cells_of_thread];
    unsigned way[cells_of_thread];
    bool reached[cells_of_thread], some = false;
    known what[cells_of_thread];
    own.each([&](int i, std::int32_t place) {
        code[i] = w.basin[place], some |= code[i] != nowhere, key[i] = w.key[place], way[i] = w.way[place] & flat;
    });
    if (threadIdx.x == 0) listed = 0;
    if (__syncthreads_or(some ? 1 : 0) == 0)
        return own.each([&](int, std::int32_t place) { w.parent[place] = nowhere; });
    if (one_label(w)) return store_one_label(w, own, code);
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
    pointers to(own);
    own.each([&](int i, std::int32_t place) {
        point_to_parent<Which>(w, area, place, what[i], way[i], to.code[i], to.next[i]);
    });
    own.each([&](int i, std::int32_t place) {
        if (code[i] == nowhere) return;
        if (!reached[i]) w.key[place] = outside<std::int32_t>;
        else if (level[i] > key[i]) w.key[place] = level[i];
        w.way[place] = static_cast<std::uint8_t>(static_cast<unsigned>(what[i]) << way_bits | way[i]);
    });
    store_parents(w, own, to, listed);
}

/// Returns the neighbour of an open cell that the search came from: the first, in the order of ties, with a step less.
/// All of them are open, unless the cell is one of the first front.
template <nearby Which>
__device__ std::int32_t walked_from(const work& w, std::int32_t place) {
    const std::int32_t before = w.steps[place] - 1;
    unsigned bits = 0;
    w.where.each<Which>(place, [&](std::int32_t there, int k) {
        if (known_of(w, there) == known::little && w.steps[there] == before) bits |= 1U << k;
    });
    return w.where.nth(place, __ffs(static_cast<int>(bits)) - 1);
}

/// Returns the neighbour with the least level, then the fewest steps, then the smallest coordinates.
template <nearby Which>
__device__ std::int32_t parent_of(const work& w, std::int32_t place) {
    if (Which != nearby::listed && known_of(w, place) == known::little && w.steps[place] > 1)
        return walked_from<Which>(w, place);
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

/// Points the listed cells to their parents.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) choose_parents(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    each_listed(w, [&](std::int32_t place) { w.parent[place] = parent_of<Which>(w, place); });
}

/// Shortens the ways of all cells within their tiles, in calls with long ways.
static __global__ void __launch_bounds__(threads_of_block) shorten_all(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    constexpr std::uint32_t many_fronts = 64, large_share = 16;
    const auto places = static_cast<std::uint32_t>(w.where.places);
    if (w.count[fronts_walked] <= many_fronts && w.count[open_found] <= places / large_share) return;
    for (std::int64_t number = blockIdx.x; number < w.where.tiles; number += gridDim.x) {
        const tile<> area(w.where, static_cast<std::uint32_t>(number));
        const own_cells own(area, w.where);
        pointers to(own);
        own.each([&](int i, std::int32_t place) {
            to.code[i] = w.parent[place];
            if (to.code[i] < 0) return;
            if (const std::int32_t next = area.number_of(w.where, to.code[i]); next != nowhere) to.next[i] = next;
        });
        shorten(own, to);
        own.each([&](int i, std::int32_t place) { w.parent[place] = to.code[i]; });
        __syncthreads();
    }
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

/// Stores labels of the thread's cells.
template <class Label>
__device__ void put_labels(const work& w, const own_cells& own, const std::int64_t (&label)[cells_of_thread]) {
    Label* const to = static_cast<Label*>(w.label.data) + own.offset(w.label);
    const std::int64_t by = own.stride(w.label);
    own.each([&](int i, std::int32_t) { to[i * by] = static_cast<Label>(label[i]); });
}

template <bool Lines>
__global__ void __launch_bounds__(threads_of_block) write_labels(const __grid_constant__ work w) {
    cuda::wait_for_kernel_before();
    const tile<> area(w.where);
    const own_cells own(area, w.where);
    std::int32_t code[cells_of_thread];
    std::int64_t label[cells_of_thread];
    follow_all(w.parent, own, code);
    own.each([&](int i, std::int32_t place) {
        label[i] = code[i] == nowhere ? 0 : label_of(w, code[i]);
        if constexpr (Lines) {
            std::int32_t at[most_axes];
            w.where.locate(place, at);
            if (code[i] != nowhere && !is_marker(w, place, at) && between_labels(w, place, label[i])) label[i] = 0;
        }
    });
    switch (size_of(w.label.type)) {  // once for all cells
        case 1: return put_labels<std::uint8_t>(w, own, label);
        case 2: return put_labels<std::uint16_t>(w, own, label);
        case 4: return put_labels<std::uint32_t>(w, own, label);
        default: return put_labels<std::uint64_t>(w, own, label);
    }
}

}  // namespace nearfield::watersheds
