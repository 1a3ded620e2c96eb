// Steps within plateaus: which cells are open, and the breadth-first search through them.
#pragma once

#include "watershed/cuda_basins.cuh"
#include "watershed/cuda_merge.cuh"

namespace nearfield::watersheds {

/// Returns whether water from a marker reaches a place.
__device__ inline bool has_level(const work& w, std::int32_t place) {
    const std::int32_t code = w.basin[place];
    return code != nowhere && w.number[-2 - code] >= 0;
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

/// Calls use(place) for the listed cells. Blocks take them in turn.
template <class Use>
__device__ void each_listed(const work& w, const Use& use) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block;
    const std::uint32_t cells = w.count[open_found];
    for (std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x; i < cells;
         i += stride)
        use(w.open[i]);
}

/// Decides which of the listed cells are open: they have no neighbour with a smaller level.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) find_open(const __grid_constant__ work w) {
    each_listed(w, [&](std::int32_t place) {
        if (known_of(w, place) != known::little) return;
        if (least_beside<Which>(w, place) < w.key[place]) set_known(w, place, known::closed);
        else atomicOr(w.unmet + place / 32, 1U << place % 32);
    });
}

/// Puts the open cells beside those that need no steps into the first front, of `grown` cells. Only this front compares
/// levels: an open cell has no neighbour with a smaller level, so that two of them that touch have the same.
template <nearby Which>
__device__ void begin_front(const work& w, std::uint32_t* grown) {
    each_listed(w, [&](std::int32_t place) {
        if (known_of(w, place) != known::little) return;
        const std::int32_t own = w.key[place];
        bool beside = false;
        w.where.each<Which>(place, [&](std::int32_t there, int) {
            beside |= w.key[there] == own && (own != outside<std::int32_t> || has_level(w, there)) &&
                      known_of(w, there) != known::little;
        });
        if (beside && reach(w, place, 1)) w.queue[atomicAdd(grown, 1U)] = place;
    });
}

/// A front of the breadth-first search: cells [first, last) of the queue need round + 1 steps. Three counters rotate,
/// as one is read while the next one grows.
struct front {
    int round = 0;
    std::int64_t first = 0, last = 0;

    /// Moves on to the cells that the front before found. Returns whether there are any.
    __device__ bool next(const work& w) {
        first = last, last += static_cast<volatile std::uint32_t*>(w.count)[fronts + round % 3];
        return first < last;
    }
};

/// Finds the next front. A warp collects what its cells find, so that one atomic makes room for all of it.
template <nearby Which>
__device__ void walk(const work& w, const front& now, std::int64_t mine, std::int64_t stride) {
    constexpr int warps = threads_of_block / cuda::warp;
    constexpr int held = Which == nearby::listed ? 1 : cuda::warp * 26;  // listed neighbours make room one by one
    __shared__ std::int32_t found[warps][held];
    __shared__ int count[warps];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    if (mine == 0) static_cast<volatile std::uint32_t*>(w.count)[fronts + (now.round + 2) % 3] = 0;
    std::uint32_t* const grown = w.count + fronts + (now.round + 1) % 3;
    for (std::int64_t i = now.first + mine; i - lane < now.last; i += stride) {
        if (lane == 0) count[warp] = 0;
        __syncwarp();
        const auto put = [&](std::int32_t there) {
            if (!reach(w, there, now.round + 2)) return;
            if (Which != nearby::listed) found[warp][atomicAdd(&count[warp], 1)] = there;
            else w.queue[now.last + atomicAdd(grown, 1U)] = there;
        };
        if (i < now.last) each_unmet<Which>(w, static_cast<volatile std::int32_t*>(w.queue)[i], put);
        __syncwarp();
        const int all = count[warp];
        std::uint32_t at = 0;
        if (lane == 0 && all > 0) at = atomicAdd(grown, static_cast<std::uint32_t>(all));
        at = __shfl_sync(cuda::every_lane, at, 0);
        for (int k = lane; k < all; k += cuda::warp) w.queue[now.last + at + k] = found[warp][k];
        __syncwarp();
    }
}

/// Fronts of few cells are walked by one block, which need not wait for others.
inline constexpr std::int64_t few_cells = 512;
template <nearby Which>
__device__ void walk_alone(const work& w, front& now) {
    bool more = true;
    while (more && now.last - now.first <= few_cells) {
        walk<Which>(w, now, threadIdx.x, threads_of_block);
        __syncthreads();
        ++now.round, more = now.next(w);
    }
    if (threadIdx.x != 0) return;
    w.count[alone] = static_cast<std::uint32_t>(now.round);
    w.count[alone + 1] = static_cast<std::uint32_t>(now.first),
                    w.count[alone + 2] = static_cast<std::uint32_t>(now.last);
}

/// Breadth-first search from the cells that need no steps: their neighbours form the first front, and each front finds
/// the next one. One kernel handles all fronts.
template <nearby Which>
__global__ void __launch_bounds__(threads_of_block) count_steps(const __grid_constant__ work w) {
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * threads_of_block,
                       mine = static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
    begin_front<Which>(w, w.count + fronts);
    for (front now;; ++now.round) {
        meet();
        bool more = now.next(w);
        if (more && now.last - now.first <= few_cells) {
            if (blockIdx.x == 0) walk_alone<Which>(w, now);
            meet();
            const volatile std::uint32_t* const reached = w.count + alone;
            now.round = static_cast<int>(reached[0]), now.first = reached[1], now.last = reached[2];
            more = now.first < now.last;
        }
        if (!more && mine == 0) w.count[fronts_walked] = static_cast<std::uint32_t>(now.round);
        if (!more) return;
        walk<Which>(w, now, mine, stride);
    }
}

}  // namespace nearfield::watersheds
