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

/// Writes levels and passes, and lets cells with markers end their chains. One thread handles one place.
template <class Value>
__global__ void __launch_bounds__(threads_of_block) raise(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place >= w.where.places) return;
    std::int32_t at[most_axes];
    const bool inside = w.where.locate(place, at);
    const std::int32_t code = w.basin[place];
    const bool there = code != nowhere && w.number[-2 - code] >= 0;
    const std::int32_t level = there ? max(w.key[place], w.level[-2 - code]) : outside<std::int32_t>;
    if (inside && w.passes.data != nullptr)
        static_cast<Value*>(w.passes.data)[w.passes.offset(at)] =
            there ? pass_value<Value>(exact_key<Value>(w, level), true, w.maxima, w.passes.type)
                  : pass_value<Value>(level, false, w.maxima, w.passes.type);
    if (w.label.data == nullptr) return;
    const bool marked =
        code != nowhere && (w.heights ? (w.flags[place / 32] >> place % 32 & 1) != 0 : marker_at(w, at) != 0);
    w.key[place] = level, w.steps[place] = there ? 0 : unreached;
    w.parent[place] = marked ? -2 - place : nowhere;
}

/// Lists the cells that have no neighbour with a smaller level.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) find_open(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place >= w.where.places || w.steps[place] == unreached || w.parent[place] != nowhere) return;
    if (least_beside<Which>(w, place) < w.key[place]) return;
    w.steps[place] = open_cell;
    w.open[atomicAdd(w.count + open_found, 1U)] = place;
}

/// Breadth-first search from the cells that need no steps: their neighbours form the first front, and each front finds
/// the next one. One kernel handles all fronts. Three counters rotate, as one is read while the next one grows.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) count_steps(const __grid_constant__ work w) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block,
                       mine = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    const std::uint32_t cells = w.count[open_found];
    volatile std::int32_t* const steps = w.steps;
    volatile std::uint32_t* const grown = w.count + fronts;
    for (std::int64_t i = mine; i < cells; i += stride) {
        const std::int32_t place = w.open[i], own = w.key[place];
        bool beside = false;
        w.where.each<Which>(place,
                            [&](std::int32_t there, int) { beside |= w.key[there] == own && steps[there] == 0; });
        if (!beside) continue;
        steps[place] = 1;
        w.queue[atomicAdd(w.count + fronts, 1U)] = place;
    }
    std::int64_t first = 0;
    for (int round = 0;; ++round) {
        meet();
        const std::int64_t last = first + grown[round % 3];
        if (last == first) return;
        if (mine == 0) grown[(round + 2) % 3] = 0;
        for (std::int64_t i = first + mine; i < last; i += stride) {
            const std::int32_t place = static_cast<volatile std::int32_t*>(w.queue)[i], own = w.key[place];
            each_wanted<Which>(
                w, place, [&](std::int32_t there) { return w.key[there] == own && steps[there] == open_cell; },
                [&](std::int32_t there) {
                    if (atomicCAS(w.steps + there, open_cell, round + 2) == open_cell)
                        w.queue[last + atomicAdd(w.count + fronts + (round + 1) % 3, 1U)] = there;
                });
        }
        first = last;
    }
}

/// Chooses as parent the neighbour with the least level, then the fewest steps, then the smallest coordinates; ways
/// within the tile are shortened.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) choose_parents(const __grid_constant__ work w) {
    shorten(w, w.parent, [&](std::int32_t place) {
        if (w.steps[place] == unreached || w.parent[place] != nowhere) return w.parent[place];
        const std::int32_t level = least_beside<Which>(w, place);
        std::int32_t best = nowhere, steps = unreached;
        each_wanted<Which>(
            w, place, [&](std::int32_t there) { return w.key[there] == level; },
            [&](std::int32_t there) {
                const std::int32_t own = w.steps[there];
                const bool first = w.where.any_wraps && own == steps && best != nowhere && w.where.before(there, best);
                if (own < steps || first) best = there, steps = own;
            });
        return best;
    });
}

static __global__ void __launch_bounds__(threads_of_block) follow_parents(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    if (place < w.where.places) follow(w.parent, place);
}

/// Returns the label of the cell at the end of a chain.
__device__ inline std::int64_t label_of(const work& w, std::int32_t code) {
    const std::int32_t place = -2 - code;
    if (w.heights) return w.number[-2 - w.basin[place]];
    std::int32_t at[most_axes];
    w.where.locate(place, at);
    return marker_at(w, at);
}

static __global__ void __launch_bounds__(threads_of_block) write_labels(const __grid_constant__ work w) {
    const std::int32_t place = place_of_thread();
    std::int32_t at[most_axes];
    if (place >= w.where.places || !w.where.locate(place, at)) return;
    const std::int32_t code = follow(w.parent, place);
    std::int64_t label = code == nowhere ? 0 : label_of(w, code);
    if (w.lines && code != nowhere && -2 - code != place)
        w.where.each(place, [&](std::int32_t there, int) {
            const std::int32_t other = w.parent[there];
            if (label == 0 || other == nowhere || other == code || label_of(w, other) == label) return;
            const std::int32_t own = w.key[place], level = w.key[there];
            const std::int32_t steps = w.steps[place], others = w.steps[there];
            if (level != own ? level < own : others != steps ? others < steps : w.where.before(there, place)) label = 0;
        });
    put_integer({w.label.data, w.label.type, {}}, w.label.offset(at), label);
}

}  // namespace nearfield::watersheds
