// Cells, steps and memory of a call on a device. Kernels see a grid of 3 axes, or of max_rank; missing axes are put in
// front and have length 1.
#pragma once

#include <cstdlib>

#include "base/cuda.cuh"
#include "geodesic/cell_array.hpp"
#include "geodesic/elimination.hpp"
#include "geodesic/problem.hpp"

namespace nearfield::geodesics {

inline constexpr int few_axes = 3, most_families = 13;
inline constexpr int node_degree = 24;  ///< capacity of a node's list on the graph
/// Directions from a tile to those around it: 1 + the change along each axis, as digits of base 3.
inline constexpr int directions = 27, direction_shift = 27;
inline constexpr int chunk = 8;               ///< cells of a line that a thread owns
inline constexpr int threads_of_block = 256;  ///< for kernels with a thread for each cell

__device__ inline std::int64_t own_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
}

/// A step as kernels read it.
struct device_step {
    vector_of_step by;
    std::uint32_t price, offset;           ///< offset: to the cell's number within a tile, modulo 2^32
    std::uint32_t first_between, between;  ///< first and number of the cells it passes, which must be open
};
struct device_between {
    vector_of_step by;
    std::uint32_t offset;
};

/// A step to a neighbour and its opposite, which carry costs along lines.
template <int Axes>
struct family {
    std::int8_t sign[Axes];  ///< direction of the step; 1 along the main axis
    std::int8_t main;
    bool skewed;  ///< true if other axes change too
    std::uint32_t price;
};

inline constexpr int cones = 4, slots = 9;
/// Steps of a cone: numbers of layers ahead, and of cells aside.
NF_HD constexpr int ahead(int slot) { return slot < 3 ? 1 : slot < 5 ? 2 : 3; }
NF_HD constexpr int aside(int slot) {
    const int cells = slot == 0 ? 0 : slot < 7 ? 1 : 2;
    return slot % 2 == 1 ? -cells : cells;
}
/// The steps of a call as sweeps take them: downwards, upwards, to the right, to the left.
struct swept_steps {
    std::int8_t step[cones][slots];  ///< number of the step; -1 if there is none
    int reach = 0;                   ///< the most layers that a step leads ahead; 0 if sweeps do not serve the call
    bool masked = false;             ///< true if a step passes cells
    /// In volumes, prices of steps ahead along each axis that also change no other one, the last, the first, or both of
    /// the others; 0 if there is no such step.
    std::uint32_t price[few_axes][4]{};
    bool volume = false;  ///< true if sweeps serve the tiles of a volume
};

/// The tiling, as kernels read it.
template <int Axes>
struct device_tiling {
    std::int64_t size[Axes];
    std::int32_t tiles_along[Axes];
    std::int8_t bits[Axes], shift[Axes];
    bool wraps[Axes];
    int tile_bits, batch;
    std::int64_t tiles;

    explicit device_tiling(const tiling& t) : tile_bits(t.tile_bits), batch(Axes - t.axes + t.batch), tiles(t.tiles) {
        for (int axis = 0; axis < Axes; ++axis) {
            const int own = axis - (Axes - t.axes);
            const bool is = own >= 0;
            size[axis] = is ? t.size[own] : 1,
            tiles_along[axis] = is ? static_cast<std::int32_t>(t.tiles_along[own]) : 1;
            bits[axis] = static_cast<std::int8_t>(is ? t.bits[own] : 0);
            shift[axis] = static_cast<std::int8_t>(is ? t.shift[own] : t.tile_bits), wraps[axis] = is && t.wraps[own];
        }
    }
    [[nodiscard]] NF_HD int cells_of_tile() const { return 1 << tile_bits; }
    [[nodiscard]] NF_HD int mask(int axis) const { return (1 << bits[axis]) - 1; }
    [[nodiscard]] NF_HD int within(int local, int axis) const { return local >> shift[axis] & mask(axis); }
    /// Computes the coordinates of a tile's cell from those of its first cell.
    NF_HD void walk(const std::int64_t* origin, int local, std::int64_t* at) const {
        for (int axis = 0; axis < Axes; ++axis) at[axis] = origin[axis] + within(local, axis);
    }
    /// Computes a cell's coordinates; false if it lies outside the grid.
    NF_HD bool locate(std::int64_t tile, int local, std::int64_t* at) const {
        bool inside = true;
        for (int axis = Axes - 1; axis >= 0; --axis) {
            const std::int64_t rest = quotient(tile, tiles_along[axis]);
            at[axis] = (tile - rest * tiles_along[axis] << bits[axis]) + within(local, axis), tile = rest;
            inside = inside && at[axis] < size[axis];
        }
        return inside;
    }
    [[nodiscard]] NF_HD std::int64_t place_of(const std::int64_t* at) const {
        std::int64_t tile = 0, local = 0;
        for (int axis = 0; axis < Axes; ++axis) {
            tile = tile * tiles_along[axis] + (at[axis] >> bits[axis]);
            local += (at[axis] & mask(axis)) << shift[axis];
        }
        return (tile << tile_bits) + local;
    }
    /// Place of the cell `by` away; -1 if that is outside the grid.
    [[nodiscard]] NF_HD std::int64_t neighbour(const std::int64_t* at, const vector_of_step& by) const {
        std::int64_t to[Axes];
        for (int axis = 0; axis < Axes; ++axis) {
            to[axis] = at[axis] + by[axis];
            if (to[axis] >= 0 && to[axis] < size[axis]) continue;
            if (!wraps[axis]) return -1;
            while (to[axis] < 0) to[axis] += size[axis];
            while (to[axis] >= size[axis]) to[axis] -= size[axis];
        }
        return place_of(to);
    }
    /// Number of cells of the last tile along an axis.
    [[nodiscard]] NF_HD std::int64_t rest(int axis) const {
        return size[axis] - (static_cast<std::int64_t>(tiles_along[axis] - 1) << bits[axis]);
    }
    /// Number of a tile's cells from which a step leaves it, or wraps around if it is the only tile.
    [[nodiscard]] std::int64_t leaving(const vector_of_step& by) const {
        std::int64_t stay = 1;
        for (int axis = 0; axis < Axes; ++axis) {
            const int change = by[static_cast<std::size_t>(axis)];
            const std::int64_t side = change > 0 && wraps[axis] ? rest(axis) : mask(axis) + 1;
            stay *= std::max<std::int64_t>(0, side - std::abs(change));
        }
        return cells_of_tile() - stay;
    }
    /// True if the step leaves the tile, or wraps around, from this cell.
    [[nodiscard]] NF_HD bool leaves(int local, const vector_of_step& by) const {
        for (int axis = 0; axis < Axes; ++axis) {
            const std::int64_t to = within(local, axis) + by[axis];
            if (to < 0 || to > mask(axis) || (wraps[axis] && by[axis] > 0 && to >= rest(axis))) return true;
        }
        return false;
    }
};

inline constexpr int cells_of_thread = 4, cells_of_block = cells_of_thread * threads_of_block;

/// A caller's array. `ahead` has the offsets of a thread's cells relative to the first one.
struct caller_array : cell_array {
    std::int64_t ahead[cells_of_thread]{};
};

/// The cells of a thread, which lie in one tile: cells_of_thread of them if a tile holds those of a block, else one. A
/// block's cells are consecutive places. Their coordinates differ by the same numbers in all threads.
template <int Axes>
struct own_cells {
    std::int64_t first = 0, tile = 0, at[Axes]{};  ///< the first cell
    int count = 0;                                 ///< 0 if the grid ends before the first cell

    static constexpr int most(int tile_bits) { return 1 << tile_bits >= cells_of_block ? cells_of_thread : 1; }
    /// Number of blocks that own all cells.
    static std::int64_t blocks(const device_tiling<Axes>& t) {
        return cuda::blocks_for(t.tiles << t.tile_bits, most(t.tile_bits) * threads_of_block);
    }
    explicit __device__ own_cells(const device_tiling<Axes>& t) {
        const int most_cells = most(t.tile_bits);
        first = static_cast<std::int64_t>(blockIdx.x) * most_cells * threads_of_block + threadIdx.x;
        tile = first >> t.tile_bits;
        if (tile >= t.tiles) return;
        t.locate(tile, static_cast<int>(first & (t.cells_of_tile() - 1)), at), count = most_cells;
    }
    [[nodiscard]] __device__ std::int64_t place(int k) const { return first + k * threads_of_block; }
    /// Returns the coordinate of cell k.
    [[nodiscard]] __device__ std::int64_t along(const device_tiling<Axes>& t, int axis, int k) const {
        return at[axis] + t.within(k * threads_of_block, axis);
    }
    /// Returns a bit for each cell that lies in the grid.
    [[nodiscard]] __device__ unsigned inside(const device_tiling<Axes>& t) const {
        bool whole = true;
        for (int axis = 0; axis < Axes; ++axis) whole = whole && (at[axis] | t.mask(axis)) < t.size[axis];
        if (whole) return (1U << count) - 1;
        unsigned bits = 0;
        for (int k = 0; k < count; ++k) {
            bool is = true;
            for (int axis = 0; axis < Axes; ++axis) is = is && along(t, axis, k) < t.size[axis];
            bits |= is ? 1U << k : 0;
        }
        return bits;
    }
    /// Returns the offset of cell k in an array of the caller.
    [[nodiscard]] __device__ std::int64_t offset(const caller_array& a, int k) const {
        return a.template at<Axes>(at) + a.ahead[k];
    }
};

/// Appends `what` for the lanes for which `is` is true. All lanes of a warp call it.
template <class T>
__device__ void append(T* to, std::uint32_t* count, std::uint32_t what, bool is) {
    const unsigned all = __ballot_sync(cuda::every_lane, is ? 1 : 0);
    if (all == 0) return;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    std::uint32_t first = 0;
    if (lane == 0) first = atomicAdd(count, static_cast<std::uint32_t>(__popc(all)));
    first = __shfl_sync(cuda::every_lane, first, 0);
    if (is) to[first + static_cast<std::uint32_t>(__popc(all & ((1U << lane) - 1)))] = static_cast<T>(what);
}

/// Queue of tiles. It holds a tile at most once, so it never overflows. A slot is 0, or the tile's number plus 1.
struct waiting_tiles {
    std::uint32_t *ring, *queued;  ///< queued: per tile 0, or 1 + its depth, the length of a chain of visits
    solver_counts* counts;
    std::uint32_t mask;
};
inline constexpr std::uint32_t parked_bit = 0x80000000U;  ///< set in `queued` if the tile waits for the next stage

template <class T>
__device__ T fresh(const T* from) {
    return *static_cast<const volatile T*>(from);
}

/// Puts a tile that is marked as queued into the ring.
__device__ inline void enqueue(const waiting_tiles& q, std::int64_t tile) {
    atomicAdd(&q.counts->pending, 1U);
    std::uint32_t* const slot = q.ring + (atomicAdd(&q.counts->tail, 1U) & q.mask);
    while (atomicCAS(slot, 0U, static_cast<std::uint32_t>(tile) + 1) != 0) {
    }
}
/// Queues a tile whose border has improved, unless it waits. The caller has written and fenced all data that the tile
/// reads. The first tile is marked, too, but kept as its number plus 1 if the block has room for one: `kept`.
__device__ inline void wake(const waiting_tiles& q, std::int64_t tile, std::uint32_t depth,
                            std::uint32_t* kept = nullptr) {
    if (atomicCAS(q.queued + tile, 0U, depth + 1) != 0) return;
    if (kept == nullptr || atomicCAS(kept, 0U, static_cast<std::uint32_t>(tile) + 1) != 0) enqueue(q, tile);
}

/// True if at most this share of the steps that the sample's free cells might have is missing, in thousandths.
__device__ inline bool misses_few_steps(const solver_counts& c, std::int32_t share) {
    const std::int64_t steps = c.steps, missing = c.missing;
    return missing * 1000 < (steps + missing) * share;
}
/// True if more steps are missing than in corridors; as in solver_rules.
__device__ inline bool is_scattered(const solver_counts& c, std::int32_t share = 300) {
    return !misses_few_steps(c, share);
}
/// True if elimination leaves at most this share of the sample's free cells, in thousandths.
__device__ inline bool leaves_at_most(const solver_counts& c, std::int32_t share) {
    const std::int64_t sampled = c.sampled, left = c.left;
    return sampled > 0 && left * 1000 <= sampled * share;
}
/// True if few enough cells of the sample remain for elimination at once. Corridors of several cells may keep a quarter
/// more, because they keep only the cells of their ends; scattered obstacles, which miss more steps, may not. Grids of
/// which seeds have reached a quarter are left to the queue, which soon ends.
__device__ inline bool is_thin(const solver_counts& c, std::int32_t thin) {
    if (std::int64_t{4} * c.reached >= c.sampled) return false;
    return leaves_at_most(c, is_scattered(c) ? thin : thin + thin / 4);
}
/// True if tiles still wait for elimination, or for leaps.
__device__ inline bool goes_on(const solver_counts& c, std::int32_t thin) {
    return c.parked[1] != 0 || (c.parked[0] != 0 && is_thin(c, thin));
}
/// True if cells are eliminated: tiles still wait, and the sample promises that few cells remain.
__device__ inline bool eliminates(const solver_counts& c, std::int32_t thin, std::int32_t middling) {
    return (c.parked[1] != 0 && leaves_at_most(c, middling)) || (c.parked[0] != 0 && is_thin(c, thin));
}

/// Takes the next tile and reads its entry of `queued`; waits for a tile while another block has any; then -1. All
/// blocks run at once.
__device__ inline std::int64_t take(const waiting_tiles& q, std::uint32_t& queued) {
    std::uint32_t* const slot = q.ring + (atomicAdd(&q.counts->head, 1U) & q.mask);
    for (;;) {
        const std::uint32_t seen = fresh(slot), pending = fresh(&q.counts->pending);  // both under way at once
        if (seen != 0) {
            queued = fresh(q.queued + seen - 1);  // under way while the slot is emptied
            const std::uint32_t found = atomicExch(slot, 0U);
            if (found != 0 && found != seen) queued = fresh(q.queued + found - 1);
            if (found != 0) return std::int64_t{found} - 1;
        } else if (pending == 0) {
            return -1;
        }
#ifdef __CUDA_ARCH__
        __nanosleep(64);
#endif
    }
}

/// The seeds of a call, if their ranks take the place of their numbers in keys of 32 bits: in the order in which
/// threads list them, with their places; and their numbers by rank. There are `most` of them at most.
struct ranked_seeds {
    static constexpr int bits = 12;
    static constexpr std::uint32_t most = (1U << bits) - 1;

    std::uint64_t *number = nullptr, *place = nullptr, *by_rank = nullptr;

    ranked_seeds() = default;
    /// `all` has 3 * most numbers.
    explicit ranked_seeds(std::uint64_t* all) : number(all), place(all + most), by_rank(all + 2 * most) {}
};

/// Stages of the queue: alone; or before the sample, after it, by leaps, and after elimination or leaps.
enum class stage : std::uint8_t { only, first, second, leap, last };

/// The price rule of a step.
enum class pricing : std::uint8_t {
    plain,  ///< its price
    image,  ///< its price times costs
    tight,  ///< 0 if the step is on a cheapest path, else infinite: spreads seeds along cheapest paths
};

/// Parameters of the kernels. Keys, costs and totals have a value for each cell, tile by tile. A key is 0 outside the
/// mask, `far` if no path is known, else the cost above the bits of the seed's number plus 1.
template <class Word, int Axes>
struct work {
    static constexpr Word far = static_cast<Word>(~Word{0}) >> 1;

    device_tiling<Axes> where;
    Word* key = nullptr;
    std::uint32_t* cost = nullptr;         ///< null if every cell costs 1
    const std::uint64_t* total = nullptr;  ///< for `tight`: the known keys, without seeds
    waiting_tiles queue{};
    stage from = stage::only;
    std::uint32_t first_depth = 0, second_depth = 0;                ///< depths at which the stages end
    std::int32_t thin = 0, middling = 0, rough = 0, scattered = 0;  ///< as in solver_rules
    std::uint32_t waiting = 0;                ///< where no more tiles wait, the second depth is the first
    bool leaps = false, leaps_first = false;  ///< leaps serve the call if cells are not eliminated, or first
    std::uint32_t leap_depth = 0, few = 0;    ///< it begins here where at most so many tiles wait
    const device_step* steps = nullptr;
    const device_between* between = nullptr;
    std::uint32_t* boards = nullptr;  ///< bits of open cells and of seeds, if tiles are flooded; else null
    /// Steps by which cells leave the tile: direction, step, local number of the cell, from the highest bit on.
    std::uint32_t* crossing = nullptr;
    bool ends_beside = false;                ///< true if the directions are valid: as call::ends_beside() says
    family<Axes> families[most_families]{};  ///< all steps, or none
    int family_count = 0;
    bool diagonal = false;  ///< true if a family is skewed
    swept_steps sweeps{};
    int step_count = 0, step_bits = 0;  ///< step_bits: log2 of the least power of two that is not below step_count
    int seed_bits = 0;
    bool both = false;
    bool tries = false, repeats = false;  ///< keys of 32 bits that may not suffice; wider ones, if they did not
    bool ends = false;                    ///< keys of 32 bits that end at the largest cost, so that they do suffice
    ranked_seeds seeds_listed{};          ///< if keys of 32 bits have ranks
    Word limit = 0;                       ///< the largest key that a path may have
    caller_array mask{}, seeds{}, given_cost{};

    explicit work(const tiling& t) : where(t) {}
    /// True if tiles may be relaxed from lists of improved cells.
    [[nodiscard]] __device__ bool may_list() const { return sweeps.reach == 0 && (diagonal || family_count == 0); }
    /// True if flood() visits the tiles in this stage, not relax().
    [[nodiscard]] __device__ bool floods() const {
        return boards != nullptr && from != stage::last && queue.counts->rough > rough;
    }
};

/// The values on which prices depend, besides the step.
struct cell_value {
    std::uint32_t cost = 1;
    std::uint64_t total = 0;
};

template <pricing Pricing, class Word, int Axes>
__device__ Word price_of(const work<Word, Axes>& w, std::uint32_t price, const cell_value& from, const cell_value& to) {
    if constexpr (Pricing == pricing::plain) return static_cast<Word>(price) << w.seed_bits;
    const std::uint64_t whole = std::uint64_t{price} * (std::uint64_t{to.cost} + (w.both ? from.cost : 0));
    if (whole >> 31 != 0) return work<Word, Axes>::far;
    if constexpr (Pricing == pricing::tight) return from.total + whole == to.total ? 0 : work<Word, Axes>::far;
    return static_cast<Word>(whole) << w.seed_bits;
}

/// Adds a key and a price, saturating at `far`.
template <class Word>
__device__ Word sum(Word a, Word b) {
    constexpr Word far = static_cast<Word>(~Word{0}) >> 1;
    const Word all = a + b;
    return all < far ? all : far;
}

}  // namespace nearfield::geodesics
