// Steps within plateaus: which cells are open, and the breadth-first search through them.
#pragma once

#include "base/cuda_scan.cuh"
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

/// The neighbours in a row of places around a cell, known ones: bit x + 1 of offset x.
template <nearby Which>
__device__ constexpr unsigned in_row(int z, int y) {
    using planes = column<Which>;
    if ((!planes::deep && z != 0) || (!planes::corners && y != 0 && z != 0)) return 0;
    return y == 0 && z == 0 ? 5U : planes::corners ? 7U : 2U;
}
/// Calls use(words, shift, row, wanted) for each row of places around a cell, of which two words hold the bits.
template <nearby Which, class Use>
__device__ void each_row(const work& w, std::int32_t place, const Use& use) {
#pragma unroll
    for (int z = -1; z <= 1; ++z)
#pragma unroll
        for (int y = -1; y <= 1; ++y) {
            if (in_row<Which>(z, y) == 0) continue;
            const std::int32_t first = place + z * w.where.pitch[0] + y * w.where.pitch[1] - 1;
            use(w.unmet + first / 32, first % 32, 3 * z + y + 4, in_row<Which>(z, y));
        }
}
/// Returns the neighbours that need steps which are not known: bit 3 r + x of row r, offsets plus 1. Most rows lie in
/// one word.
template <nearby Which>
__device__ unsigned unmet_beside(const work& w, std::int32_t place) {
    unsigned bits = 0;
    each_row<Which>(w, place, [&](const std::uint32_t* words, int shift, int row, unsigned wanted) {
        const std::uint64_t both = words[0] | (shift > 29 ? std::uint64_t{words[1]} << 32 : 0);
        bits |= (static_cast<unsigned>(both >> shift) & wanted) << 3 * row;
    });
    return bits;
}
/// Takes neighbours that need steps, of those in `of`, and returns which it got. All atomics are under way before the
/// first result is used.
template <nearby Which>
__device__ unsigned take_beside(const work& w, std::int32_t place, unsigned of) {
    unsigned taken = 0;
    std::uint32_t low[9]{}, high[9]{};
    each_row<Which>(w, place, [&](std::uint32_t* words, int shift, int row, unsigned wanted) {
        const std::uint64_t bits = std::uint64_t{of >> 3 * row & wanted} << shift;
        const auto first = static_cast<std::uint32_t>(bits), second = static_cast<std::uint32_t>(bits >> 32);
        if (first != 0) low[row] = atomicAnd(words, ~first);
        if (second != 0) high[row] = atomicAnd(words + 1, ~second);
    });
    each_row<Which>(w, place, [&](const std::uint32_t*, int shift, int row, unsigned wanted) {
        const auto before = static_cast<unsigned>((std::uint64_t{high[row]} << 32 | low[row]) >> shift);
        taken |= (before & of >> 3 * row & wanted) << 3 * row;
    });
    return taken;
}
/// Returns how far in places the neighbour of a bit lies.
__device__ inline std::int32_t offset_of(const work& w, int bit) {
    const int row = bit / 3, z = row / 3;
    return (z - 1) * w.where.pitch[0] + (row - 3 * z - 1) * w.where.pitch[1] + bit - 3 * row - 1;
}
/// Gives a cell its steps and returns true, unless it has them.
__device__ inline bool reach(const work& w, std::int32_t place, std::int32_t steps) {
    const std::uint32_t bit = 1U << place % 32;
    if ((w.unmet[place / 32] & bit) == 0 || (atomicAnd(w.unmet + place / 32, ~bit) & bit) == 0) return false;
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
    cuda::wait_for_kernel_before();
    each_listed(w, [&](std::int32_t place) {
        if (known_of(w, place) != known::little) return;
        if (least_beside<Which>(w, place) < w.key[place]) set_known(w, place, known::closed);
        else atomicOr(w.unmet + place / 32, 1U << place % 32);
    });
}

/// Threads of a block that walks: with 256 mazes, whose fronts one block walks alone, take a quarter more.
inline constexpr int walkers = 512;
/// Fronts of so few cells are walked by one block, which need not wait for others. A block's list has room for as many;
/// the first of them are used if all blocks walk, which then share large fronts.
inline constexpr int few_cells = 1024, shared_cells = 256;
/// Fronts of so few cells may walk along corridors, and look for them again so many fronts after they found none.
inline constexpr int most_straight = 32, turns_if_winding = 16;
/// In larger fronts cells look which neighbours need steps before they take them. In smaller ones they try all, since
/// atomics are few, and one trip to memory takes half of the time of two.
inline constexpr std::int64_t small_front = 8192;

/// A block's part of two fronts: this one, and the next one. Cells that do not fit go to the queue, from which all
/// blocks take them, so that a front that begins in one block spreads to others.
struct own_front {
    static constexpr int slots = 2048;
    std::int32_t kept[2][few_cells], noted[slots];
    int count[2], queued, straight, next[3];

    __device__ void clear() {
        if (threadIdx.x == 0) count[0] = count[1] = queued = 0;
        __syncthreads();
    }
    /// Makes room for cells in the queue.
    __device__ std::uint32_t queue_up(const work& w, int cells) {
        atomicAdd(&queued, cells);
        return atomicAdd(w.count + queue_end, static_cast<std::uint32_t>(cells));
    }
    /// Puts the cells that the lanes of a warp have found, `mine` calls of next(), into the list, which then has at
    /// most `most` cells, and into the queue.
    template <class Next>
    __device__ void put(const work& w, int list, int most, int mine, const Next& next) {
        const int before = cuda::sum_before_in_warp(mine), all = __shfl_sync(cuda::every_lane, before + mine, 31);
        if (all == 0) return;
        const bool first = cuda::lane_of_thread() == 0;
        const int at = __shfl_sync(cuda::every_lane, first ? atomicAdd(&count[list], all) : 0, 0);
        const int fit = min(max(most - at, 0), all);
        const std::uint32_t behind = __shfl_sync(cuda::every_lane, first && fit < all ? queue_up(w, all - fit) : 0, 0);
        for (int k = before; k < before + mine; ++k) {
            const std::int32_t place = next();
            (k < fit ? kept[list][at + k] : w.queue[behind + static_cast<std::uint32_t>(k - fit)]) = place;
        }
    }
    /// Keeps a cell that a thread has found, or puts it into the queue.
    __device__ void keep(const work& w, int list, int most, std::int32_t place) {
        const int at = atomicAdd(&count[list], 1);
        (at < most ? kept[list][at] : w.queue[queue_up(w, 1)]) = place;
    }
    /// Ends the search for a front, of which the list has at most `most` cells; the other list becomes empty.
    __device__ void close(int list, int most) {
        __syncthreads();
        if (threadIdx.x == 0) count[list] = min(count[list], most), count[list ^ 1] = 0;
        __syncthreads();
    }
    /// Moves the list to the queue.
    __device__ void give_up(const work& w, int list) {
        const int lane = cuda::lane_of_thread(), all = count[list];
        __syncthreads();
        if (threadIdx.x / cuda::warp == 0 && all > 0) {
            const std::uint32_t behind = __shfl_sync(cuda::every_lane, lane == 0 ? queue_up(w, all) : 0, 0);
            for (int k = lane; k < all; k += cuda::warp)
                w.queue[behind + static_cast<std::uint32_t>(k)] = kept[list][k];
        }
        if (threadIdx.x == 0) count[list] = 0;
        __syncthreads();
    }
};

/// The cells of a front: those that blocks keep, and those that were queued.
struct front_size {
    std::int64_t kept = 0, queued = 0;
    [[nodiscard]] __device__ std::int64_t all() const { return kept + queued; }
};

/// Waits for all blocks and returns the sum of what they have found; those that wait long sleep. Three words rotate, as
/// one is cleared while others may still be read.
__device__ inline front_size meet(const work& w, own_front& own, int list, int meeting, unsigned sleep) {
    constexpr int kept_bits = 21, blocks_from = 32 + kept_bits;
    static_assert(most_walkers * few_cells < 1 << kept_bits && most_walkers < 1 << (64 - blocks_from));
    __shared__ std::uint64_t sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        __threadfence();  // for what all threads of the block have written
        auto* const words = reinterpret_cast<unsigned long long*>(w.count + fronts);
        const volatile unsigned long long* const word = words + meeting % 3;
        const unsigned long long mine = 1ULL << blocks_from | static_cast<unsigned long long>(own.count[list]) << 32 |
                                        static_cast<unsigned long long>(own.queued);
        unsigned long long seen = atomicAdd(words + meeting % 3, mine) + mine;
        for (; seen >> blocks_from != gridDim.x; seen = *word) {
#ifdef __CUDA_ARCH__
            __nanosleep(sleep);
#endif
        }
        if (blockIdx.x == 0) static_cast<volatile unsigned long long*>(words)[(meeting + 2) % 3] = 0;
        __threadfence();
        own.queued = 0, sum = seen;
    }
    __syncthreads();
    return {static_cast<std::int64_t>(sum >> 32 & ((1U << kept_bits) - 1)),
            static_cast<std::int64_t>(static_cast<std::uint32_t>(sum))};
}

/// Finds the open cells beside those that need no steps: the first front. Only this front compares levels: an open cell
/// has no neighbour with a smaller level, so that two of them that touch have the same.
template <nearby Which>
__device__ void begin_front(const work& w, own_front& own, std::int64_t stride) {
    const std::int64_t cells = w.count[open_found];
    for (std::int64_t i = std::int64_t{blockIdx.x} * walkers + threadIdx.x; i - cuda::lane_of_thread() < cells;
         i += stride) {
        const std::int32_t place = i < cells ? w.open[i] : nowhere;
        bool beside = false;
        if (place != nowhere && known_of(w, place) == known::little) {
            const std::int32_t level = w.key[place];
            w.where.each<Which>(place, [&](std::int32_t there, int) {
                beside |= w.key[there] == level && (level != outside<std::int32_t> || has_level(w, there)) &&
                          known_of(w, there) != known::little;
            });
            beside = beside && reach(w, place, 1);
        }
        own.put(w, 1, shared_cells, beside ? 1 : 0, [place] { return place; });
    }
    own.close(1, shared_cells);
}

/// Finds the next front: the block's cells and queued cells [first, last), of which each thread takes one in `stride`,
/// need `steps`.
template <nearby Which>
__device__ void walk(const work& w, own_front& own, std::int64_t first, std::int64_t last, std::int64_t stride,
                     std::int32_t steps, bool look) {
    constexpr int most = shared_cells;
    const int list = steps & 1, kept = own.count[list], lane = cuda::lane_of_thread();
    const auto from = [&](std::int32_t place) {
        if constexpr (Which == nearby::listed) {  // such neighbours make room one by one
            if (place == nowhere) return;
            w.where.each(place, [&](std::int32_t there, int) {
                if (reach(w, there, steps + 1)) own.keep(w, list ^ 1, most, there);
            });
        } else {
            unsigned taken = 0;
            if (place != nowhere) taken = take_beside<Which>(w, place, look ? unmet_beside<Which>(w, place) : ~0U);
            own.put(w, list ^ 1, most, __popc(taken), [&] {
                const std::int32_t there = place + offset_of(w, __ffs(static_cast<int>(taken)) - 1);
                w.steps[there] = steps + 1, taken &= taken - 1;
                return there;
            });
        }
    };
    for (int i = static_cast<int>(threadIdx.x); i - lane < kept; i += walkers)
        from(i < kept ? own.kept[list][i] : std::int32_t{nowhere});
    const volatile std::int32_t* const queue = w.queue;
    // The last warps, which have no cells of the list, come first.
    const std::int64_t warp = std::int64_t{walkers - 1 - static_cast<int>(threadIdx.x)} / cuda::warp;
    for (std::int64_t i = first + (warp * gridDim.x + blockIdx.x) * cuda::warp + lane; i - lane < last; i += stride) {
        std::int32_t place = nowhere;
        if (i < last) place = queue[i];
        from(place);
    }
    own.close(list ^ 1, most);
}

/// Calls use(there) for the neighbours of a cell that need steps which are not known.
template <nearby Which, class Use>
__device__ void each_unmet(const work& w, std::int32_t place, const Use& use) {
    if constexpr (Which == nearby::listed) {
        w.where.each(place, [&](std::int32_t there, int) {
            if ((w.unmet[there / 32] >> there % 32 & 1) != 0) use(there);
        });
    } else {
        for (unsigned bits = unmet_beside<Which>(w, place); bits != 0; bits &= bits - 1)
            use(place + offset_of(w, __ffs(static_cast<int>(bits)) - 1));
    }
}

/// Walks along straight corridors from a front of `all` cells: at once to the last of as many cells as the block has
/// threads for each that have no neighbours to reach but those before and behind them. Several fronts go half as far,
/// so that two which come towards each other do not pass. Returns the steps of the new front.
template <nearby Which>
__device__ std::int32_t walk_straight(const work& w, own_front& own, int all, std::int32_t steps) {
    const int thread = static_cast<int>(threadIdx.x), looking = walkers / all, number = thread / looking,
              ahead = thread % looking + 1;
    if (thread == 0) own.straight = looking - 1;
    __syncthreads();
    const std::int32_t from = own.kept[steps & 1][min(number, all - 1)];
    std::int32_t next = from, place = from;
    int ways = 0;
    each_unmet<Which>(w, from, [&](std::int32_t there) { next = there, ++ways; });
    const std::int32_t by = next - from;
    const std::int64_t at = from + std::int64_t{by} * ahead;
    bool leads_on = false, leads_aside = false;
    if (ways == 1 && at >= w.where.base && at < w.where.places - w.where.base) {
        place = static_cast<std::int32_t>(at);
        // Behind a cell lies one that is not met yet, except behind the first one.
        each_unmet<Which>(w, place, [&](std::int32_t there) {
            if (there == place + by) leads_on = true;
            else leads_aside |= there != place - by;
        });
    }
    const bool walks = number < all;
    if (walks && (!leads_on || leads_aside)) atomicMin(&own.straight, ways == 1 ? ahead - 1 : -1);
    __syncthreads();
    // If one cell walks, the first cell that does not lead straight on is reached, too.
    const int far = all == 1 ? own.straight + 1 : own.straight / 2;
    if (walks && ahead <= far) reach(w, place, steps + ahead);
    if (walks && ahead == far) own.kept[(steps + far) & 1][number] = place;
    __syncthreads();
    return steps + far;
}

/// Walks fronts of few cells while other blocks wait: the block's list and queued cells [first, last), which need
/// `steps`. No atomic is waited for: a table in shared memory tells which cells have been found in this front. It may
/// forget one, which then is listed twice. Returns the steps of the last front, which may be empty.
template <nearby Which>
__device__ std::int32_t walk_alone(const work& w, own_front& own, std::int64_t first, std::int64_t last,
                                   std::int32_t steps) {
    const int thread = static_cast<int>(threadIdx.x), before = own.count[steps & 1];
    for (int i = thread; i < last - first; i += walkers)
        own.kept[steps & 1][before + i] = static_cast<volatile std::int32_t*>(w.queue)[first + i];
    for (int i = thread; i < own_front::slots; i += walkers) own.noted[i] = nowhere;
    if (thread < 3) own.next[thread] = 0;
    __syncthreads();
    int turns_to_wait = 0;
    for (int all = before + static_cast<int>(last - first), turn = 0;; turn = (turn + 1) % 3) {
        if (all == 1 || (all <= most_straight && turns_to_wait-- <= 0)) {
            const std::int32_t walked = walk_straight<Which>(w, own, all, steps);
            turns_to_wait = walked > steps ? 0 : turns_if_winding, steps = walked;
        }
        if (thread == 0) own.next[(turn + 1) % 3] = 0, ++w.count[turns_alone];
        for (int i = thread; i < all; i += walkers)
            each_unmet<Which>(w, own.kept[steps & 1][i], [&](std::int32_t there) {
                if (atomicExch(own.noted + there % own_front::slots, there) == there) return;
                std::uint32_t* const word = w.unmet + there / 32;
                const std::uint32_t bit = 1U << there % 32;
                const int at = atomicAdd(own.next + turn, 1);
                w.steps[there] = steps + 1;
                if (at < few_cells) own.kept[(steps + 1) & 1][at] = there, atomicAnd(word, ~bit);
                else if ((atomicAnd(word, ~bit) & bit) != 0) w.queue[own.queue_up(w, 1)] = there;
            });
        __syncthreads();
        const int found = own.next[turn];
        all = min(found, few_cells), ++steps;
        if (found > 0 && found <= few_cells && steps < w.where.places) continue;
        if (thread == 0) own.count[steps & 1] = all, own.count[(steps + 1) & 1] = 0;
        __syncthreads();
        return steps;
    }
}

/// Breadth-first search from the cells that need no steps: their neighbours form the first front, and each front finds
/// the next one. One kernel handles all fronts.
template <nearby Which>
__global__ void __launch_bounds__(walkers) count_steps(const __grid_constant__ work w) {
    constexpr unsigned short_sleep = 20, long_sleep = 500;
    __shared__ own_front own;
    const std::int64_t stride = static_cast<std::int64_t>(gridDim.x) * walkers;
    own.clear();
    begin_front<Which>(w, own, stride);
    bool alone = false;
    std::int64_t last = 0;
    std::int32_t steps = 1;
    for (int meeting = 0;;) {
        const front_size found = meet(w, own, steps & 1, meeting++, alone ? long_sleep : short_sleep);
        if (alone) steps = static_cast<std::int32_t>(static_cast<volatile std::uint32_t*>(w.count)[walked_alone]);
        const std::int64_t first = last;
        last += found.queued;
        if (found.all() == 0 || steps >= w.where.places) break;  // each front has a cell: a fault ends here, too
        alone = found.all() <= few_cells;
        if (!alone) {
            walk<Which>(w, own, first, last, stride, steps, found.all() > small_front);
            ++steps;
            continue;
        }
        if (blockIdx.x > 0) own.give_up(w, steps & 1);
        if (found.kept > 0) last += meet(w, own, steps & 1, meeting++, short_sleep).queued;
        if (blockIdx.x > 0) continue;
        steps = walk_alone<Which>(w, own, first, last, steps);
        if (threadIdx.x == 0) w.count[walked_alone] = static_cast<std::uint32_t>(steps);
    }
    if (blockIdx.x == 0 && threadIdx.x == 0) w.count[fronts_walked] = static_cast<std::uint32_t>(steps);
}

}  // namespace nearfield::watersheds
