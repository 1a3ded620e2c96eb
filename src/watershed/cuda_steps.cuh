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

/// Takes cells out of a word of those that are not met. Calls put(word, bits) with the cells that were still there.
template <class Put>
__device__ void claim(const work& w, std::int32_t word, std::uint32_t bits, const Put& put) {
    const std::uint32_t got = atomicAnd(w.unmet + word, ~bits) & bits;
    if (got != 0) put(word, got);
}

/// Claims the neighbours of cells of one word that need steps which are not known. Known neighbours lie in rows, each
/// of which has the cells' bits at most one place further, in up to three words.
template <nearby Which, class Put>
__device__ void spread(const work& w, std::int32_t word, std::uint32_t bits, const Put& put) {
    if constexpr (Which == nearby::listed) {
        for (; bits != 0; bits &= bits - 1)
            w.where.each(32 * word + __ffs(static_cast<int>(bits)) - 1, [&](std::int32_t there, int) {
                const std::uint32_t bit = 1U << there % 32;
                if ((w.unmet[there / 32] & bit) != 0) claim(w, there / 32, bit, put);
            });
    } else {
        using planes = column<Which>;
        constexpr int deep = planes::deep ? 1 : 0;
        std::uint32_t hit[9][2]{};
        const std::uint64_t middle = std::uint64_t{bits} << 1, ends = std::uint64_t{bits} << 2 | bits;
        const auto first_of = [&](int row) {
            return 32 * word + (row / 3 - 1) * w.where.pitch[0] + (row % 3 - 1) * w.where.pitch[1] - 1;
        };
#pragma unroll
        for (int row = 3 - 3 * deep; row < 6 + 3 * deep; ++row) {
            if (!planes::corners && row / 3 != 1 && row % 3 != 1) continue;
            const std::uint64_t there = row == 4 ? ends : planes::corners ? middle | ends : middle;
            const std::int32_t first = first_of(row);
            const std::uint32_t* const words = w.unmet + (first >> 5);
            const std::uint64_t both = there << (first & 31);
            hit[row][0] = static_cast<std::uint32_t>(both) & words[0];
            hit[row][1] = static_cast<std::uint32_t>(both >> 32) & words[1];
            if ((first & 31) == 31 && there >> 33 != 0) claim(w, (first >> 5) + 2, 1, put);
        }
#pragma unroll
        for (int row = 0; row < 9; ++row) {
            if (hit[row][0] != 0) claim(w, first_of(row) >> 5, hit[row][0], put);
            if (hit[row][1] != 0) claim(w, (first_of(row) >> 5) + 1, hit[row][1], put);
        }
    }
}

/// Writes the steps of cells, those of a word of each lane. All lanes call it, and write the cells of a word at once.
__device__ inline void put_steps(const work& w, std::int32_t word, std::uint32_t bits, std::int32_t steps) {
    for (int from = 0; from < cuda::warp; ++from) {
        const std::uint32_t its = __shfl_sync(cuda::every_lane, bits, from);
        if (its == 0) continue;
        const std::int32_t place = 32 * __shfl_sync(cuda::every_lane, word, from) + cuda::lane_of_thread();
        if ((its >> cuda::lane_of_thread() & 1) != 0) w.steps[place] = steps;
    }
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
        if (!beside) return;
        atomicAnd(w.unmet + place / 32, ~(1U << place % 32));
        if (atomicOr(w.fresh[0] + place / 32, 1U << place % 32) == 0) w.queue[atomicAdd(grown, 1U)] = place / 32;
    });
}

/// A front of the breadth-first search: the cells of words [first, last) of the queue need round + 1 steps. The words
/// lie in w.fresh[round % 2], and are cleared there when they are read. Three counters rotate, as one is read while the
/// next one grows.
struct front {
    int round = 0;
    std::int64_t first = 0, last = 0;

    /// Moves on to the words that the front before found. Returns whether there are any.
    __device__ bool next(const work& w) {
        first = last, last += static_cast<volatile std::uint32_t*>(w.count)[fronts + round % 3];
        return first < last;
    }
};

/// Finds the next front. A warp collects the words that its cells find, so that one atomic makes room for all of them.
template <nearby Which>
__device__ void walk(const work& w, const front& now, std::int64_t mine, std::int64_t stride) {
    constexpr int warps = threads_of_block / cuda::warp, held = 512;
    __shared__ std::int32_t found[warps][held];
    __shared__ int count[warps];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    if (mine == 0) static_cast<volatile std::uint32_t*>(w.count)[fronts + (now.round + 2) % 3] = 0;
    std::uint32_t* const grown = w.count + fronts + (now.round + 1) % 3;
    std::uint32_t* const next = w.fresh[(now.round + 1) % 2];
    for (std::int64_t i = now.first + mine; i - lane < now.last; i += stride) {
        if (lane == 0) count[warp] = 0;
        __syncwarp();
        const std::int32_t word = i < now.last ? static_cast<volatile std::int32_t*>(w.queue)[i] : 0;
        const std::uint32_t bits = i < now.last ? atomicExch(w.fresh[now.round % 2] + word, 0U) : 0;
        put_steps(w, word, bits, now.round + 1);
        const auto put = [&](std::int32_t there, std::uint32_t got) {
            if (atomicOr(next + there, got) != 0) return;
            const int at = atomicAdd(&count[warp], 1);
            if (at < held) found[warp][at] = there;
            else w.queue[now.last + atomicAdd(grown, 1U)] = there;
        };
        if (bits != 0) spread<Which>(w, word, bits, put);
        __syncwarp();
        const int all = min(count[warp], held);
        std::uint32_t at = 0;
        if (lane == 0 && all > 0) at = atomicAdd(grown, static_cast<std::uint32_t>(all));
        at = __shfl_sync(cuda::every_lane, at, 0);
        for (int k = lane; k < all; k += cuda::warp) w.queue[now.last + at + k] = found[warp][k];
        __syncwarp();
    }
}

/// Fronts of few words are walked by one block, which need not wait for others. It keeps words and their bits in its own
/// memory, as a front takes as long as the accesses that wait for each other; there a word may come more than once.
inline constexpr std::uint32_t few_words = 512;
template <nearby Which>
__device__ void walk_alone(const work& w, front& now) {
    __shared__ std::int32_t word[2][few_words];
    __shared__ std::uint32_t bits[2][few_words], found[2], listed;
    auto size = static_cast<std::uint32_t>(now.last - now.first);
    const auto list = [&](std::int32_t there, std::uint32_t got, int round) {
        if (atomicOr(w.fresh[round % 2] + there, got) == 0) w.queue[now.last + atomicAdd(&listed, 1U)] = there;
    };
    if (threadIdx.x == 0) listed = 0;
    for (std::uint32_t i = threadIdx.x; i < size; i += threads_of_block) {
        const std::int32_t own = static_cast<volatile std::int32_t*>(w.queue)[now.first + i];
        word[now.round % 2][i] = own, bits[now.round % 2][i] = atomicExch(w.fresh[now.round % 2] + own, 0U);
    }
    for (; size > 0 && size <= few_words; ++now.round) {
        const int side = now.round % 2;
        if (threadIdx.x == 0) found[side] = 0;
        __syncthreads();
        const auto put = [&](std::int32_t there, std::uint32_t got) {
            const std::uint32_t at = atomicAdd(&found[side], 1U);
            if (at < few_words) word[1 - side][at] = there, bits[1 - side][at] = got;
            else list(there, got, now.round + 1);
        };
        for (std::uint32_t i = threadIdx.x; i / cuda::warp * cuda::warp < size; i += threads_of_block) {
            const std::int32_t own = i < size ? word[side][i] : 0;
            const std::uint32_t its = i < size ? bits[side][i] : 0;
            put_steps(w, own, its, now.round + 1);
            if (its != 0) spread<Which>(w, own, its, put);
        }
        __syncthreads();
        size = found[side];
    }
    for (std::uint32_t i = threadIdx.x; size > 0 && i < few_words; i += threads_of_block)
        list(word[now.round % 2][i], bits[now.round % 2][i], now.round);
    __syncthreads();
    if (threadIdx.x != 0) return;
    w.count[fronts + (now.round + 1) % 3] = 0;
    w.count[alone] = static_cast<std::uint32_t>(now.round);
    w.count[alone + 1] = static_cast<std::uint32_t>(now.last);
    w.count[alone + 2] = static_cast<std::uint32_t>(now.last) + listed;
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
        if (more && now.last - now.first <= few_words) {
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
