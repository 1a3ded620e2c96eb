// The steps that lead out of a tile: a tile takes its neighbours' offers before it is relaxed, and makes offers to them
// after it.
#pragma once

#include <limits>

#include "geodesic/cuda_tiles.cuh"

namespace nearfield::geodesics {

/// Returns the local number of an entry of work::crossing.
__device__ inline int local_of(std::uint32_t crossing) {
    return static_cast<int>(crossing & ((1U << device_tile_bits) - 1));
}

/// Returns the direction in which a step leaves a tile from this cell; 0 on grids of more axes than have one.
template <int Axes>
__device__ std::uint32_t direction_of(const device_tiling<Axes>& t, int local, const vector_of_step& by) {
    std::uint32_t direction = 0;
    for (int axis = Axes - 1; axis >= 0 && Axes == few_axes; --axis) {
        const int to = t.within(local, axis) + by[axis];
        direction = direction * 3 + (to < 0 ? 0 : to > t.mask(axis) ? 2 : 1);
    }
    return direction;
}

/// The list of crossings and the steps, which all visits read; a block keeps a copy if it is small.
struct crossing_table {
    static constexpr std::uint32_t most = 2048;
    static constexpr int most_steps = 32;

    const std::uint32_t* entry;
    const device_step* steps;
    std::uint32_t count, mask;  ///< mask: of the bits that do not name a direction

    [[nodiscard]] __device__ const device_step& step(std::uint32_t of) const {
        return steps[(of & mask) >> device_tile_bits];
    }
};
template <class Word, int Axes>
__device__ crossing_table crossings_of(const work<Word, Axes>& w) {
    __shared__ std::uint32_t entry[crossing_table::most];
    __shared__ device_step steps[crossing_table::most_steps];
    const std::uint32_t count = w.queue.counts->crossings, mask = Axes == few_axes ? (1U << direction_shift) - 1 : ~0U;
    if (count > crossing_table::most || w.step_count > crossing_table::most_steps)
        return {w.crossing, w.steps, count, mask};
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) entry[i] = w.crossing[i];
    for (int i = static_cast<int>(threadIdx.x); i < w.step_count; i += static_cast<int>(blockDim.x))
        steps[i] = w.steps[i];
    __syncthreads();
    return {entry, steps, count, mask};
}

/// A tile's place in the grid. A step from cell c that leaves the tile in a direction leads to the place
/// start[direction] + c + the step's offset; that is negative if no tile is there.
template <int Axes>
struct tile_place {
    std::int64_t origin[Axes], start[directions];  ///< origin: coordinates of the tile's first cell

    /// Fills the members. All threads of the block call it, and meet afterwards.
    __device__ void find(const device_tiling<Axes>& t, std::int64_t tile) {
        const int own = static_cast<int>(threadIdx.x);
        if (own >= directions) return;
        std::int64_t at[Axes], to = 0, jump = 0;
        t.locate(tile, 0, at);
        bool is = true;
        for (int axis = 0, rest = own; axis < Axes; ++axis, rest /= 3) {
            std::int64_t along = (at[axis] >> t.bits[axis]) + rest % 3 - 1;
            if (own == 0) origin[axis] = at[axis];
            jump += (rest % 3 - 1) * (std::int64_t{1} << (t.bits[axis] + t.shift[axis]));
            if (along < 0 || along >= t.tiles_along[axis]) {
                is = is && t.wraps[axis];
                along = along < 0 ? t.tiles_along[axis] - 1 : 0;
            }
            to = to * t.tiles_along[axis] + along;
        }
        start[own] = is ? (to << t.tile_bits) - jump : std::numeric_limits<std::int64_t>::min() / 2;
    }
};

/// Calls use(cell of the tile, place of the neighbour, its key, step) for the steps that lead out of the tile to open
/// cells, from cells for which wanted(cell) is true. A thread reads several keys before it uses one. All threads call
/// meet() once, while the first keys are under way.
template <class Word, int Axes, class Wanted, class Meet, class Use>
__device__ void for_crossings(const work<Word, Axes>& w, const crossing_table& c, const tile_place<Axes>& tile,
                              const Wanted& wanted, const Meet& meet, const Use& use) {
    constexpr int at_once = 4;
    const device_tiling<Axes>& t = w.where;
    for (std::uint32_t first = threadIdx.x; first == threadIdx.x || first < c.count;
         first += at_once * threads_of_tile) {
        std::uint32_t entry[at_once];
        std::int64_t to[at_once];
        Word key[at_once];
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
            const std::uint32_t i = first + static_cast<std::uint32_t>(k) * threads_of_tile;
            to[k] = -1, entry[k] = i < c.count ? c.entry[i] : 0;
            if (i >= c.count || !wanted(local_of(entry[k]))) continue;
            if (w.ends_beside) {
                to[k] = tile.start[entry[k] >> direction_shift] + local_of(entry[k]) +
                        static_cast<std::int32_t>(c.step(entry[k]).offset);
            } else {
                std::int64_t at[Axes];
                t.walk(tile.origin, local_of(entry[k]), at);
                to[k] = t.neighbour(at, c.step(entry[k]).by);
            }
        }
#pragma unroll
        for (int k = 0; k < at_once; ++k) key[k] = to[k] < 0 ? 0 : fresh(w.key + to[k]);
        if (first == threadIdx.x) meet();
#pragma unroll
        for (int k = 0; k < at_once; ++k)
            if (key[k] != 0) use(local_of(entry[k]), to[k], key[k], c.step(entry[k]));
    }
}
/// True if the cells that a step passes are open.
template <class Word, int Axes>
__device__ bool is_open(const work<Word, Axes>& w, const std::int64_t* at, const device_step& step) {
    for (std::uint32_t b = 0; b < step.between; ++b) {
        const std::int64_t place = w.where.neighbour(at, w.between[step.first_between + b].by);
        if (place < 0 || fresh(w.key + place) == 0) return false;
    }
    return true;
}
template <pricing Pricing, class Word, int Axes>
__device__ bool is_open(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const tile_place<Axes>& tile,
                        int local, const device_step& step) {
    if (step.between == 0) return true;
    if (!w.ends_beside) {
        std::int64_t at[Axes];
        w.where.walk(tile.origin, local, at);
        return is_open(w, at, step);
    }
    for (std::uint32_t b = 0; b < step.between; ++b) {
        const device_between& passed = w.between[step.first_between + b];
        const int there = local + static_cast<int>(passed.offset);
        const std::uint32_t direction = direction_of(w.where, local, passed.by);
        const std::int64_t place = tile.start[direction] + there;
        const bool own = direction == directions / 2;
        if (own ? m.key[padded(there)] == 0 : place < 0 || fresh(w.key + place) == 0) return false;
    }
    return true;
}

/// Notes that steps are to be relaxed from a cell: for sweeps, or in a list if lists serve the tile.
template <pricing Pricing, class Word, int Axes>
__device__ void begin_at(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, int local, bool lists) {
    if (w.sweeps.volume) m.note_in_volume(local);
    else if (w.sweeps.reach > 0) m.note(local);
    else if (lists) m.start(local);
}

/// Relaxes the tile's cells from neighbours in other tiles, and lists those that improve if lists serve the tile.
/// keep_known() makes the tile's own keys known to all threads.
template <pricing Pricing, class Word, int Axes, class Keep>
__device__ void take_offers(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const crossing_table& c,
                            const tile_place<Axes>& tile, const Keep& keep_known, const bool& lists) {
    const auto any = [](int) { return true; };
    for_crossings(w, c, tile, any, keep_known, [&](int local, std::int64_t from, Word other, const auto& step) {
        const int own = padded(local);
        const Word mine = fresh(m.key + own);
        if (other >= mine) return;
        const Word offered = sum(other, price_of<Pricing>(w, step.price, value_at<Pricing>(w, from), m.value(own)));
        if (offered < mine && offered <= w.limit && is_open(w, m, tile, local, step) &&
            lower(m.key + own, offered) > offered)
            begin_at(w, m, local, lists);
    });
}

/// Queues the tiles with cells that an improved cell of this tile would improve, once this tile's keys are written.
/// Their keys are read before that, when they can only be higher. Keeps one of them for this block, if `kept` is given.
template <pricing Pricing, class Word, int Axes>
__device__ void make_offers(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, const crossing_table& c,
                            const tile_place<Axes>& tile, std::uint32_t depth, std::uint32_t* kept = nullptr) {
    const auto improved = [&](int local) { return m.is_improved(local); };
    const auto written = [] {
        __threadfence();
        __syncthreads();
    };
    for_crossings(w, c, tile, improved, written, [&](int local, std::int64_t to, Word other, const auto& step) {
        const int own = padded(local);
        const Word offered = sum(m.key[own], price_of<Pricing>(w, step.price, m.value(own), value_at<Pricing>(w, to)));
        const std::int64_t there = to >> w.where.tile_bits;
        if (offered <= w.limit && offered < other && is_open(w, m, tile, local, step) && m.calls_first(there))
            wake(w.queue, there, depth, kept);
    });
}

}  // namespace nearfield::geodesics
