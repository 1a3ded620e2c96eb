// Cells, steps and memory of a call on a device. Its grid has 3 axes, or max_rank; those that it lacks come first and
// are of length 1.
#pragma once

#include <cstdlib>

#include "base/cuda.cuh"
#include "geodesic/cell_array.hpp"
#include "geodesic/elimination.hpp"
#include "geodesic/problem.hpp"

namespace nearfield::geodesics {

inline constexpr int few_axes = 3, most_families = 13;
inline constexpr int node_degree = 24;        ///< edges of a node that elimination leaves for the graph
inline constexpr int chunk = 8;               ///< cells of a line that a thread has
inline constexpr int threads_of_block = 256;  ///< of kernels with a thread for each cell

__device__ inline std::int64_t own_item() {
    return static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x;
}

/// A step as kernels read it.
struct device_step {
    vector_of_step by;
    std::uint32_t price, offset;           ///< offset: within a tile, modulo 2^32
    std::uint32_t first_between, between;  ///< cells besides its ends that must be open: where they begin, their number
};
struct device_between {
    vector_of_step by;
    std::uint32_t offset;
};

/// A step to a neighbour and the opposite one, along whose lines costs are carried.
template <int Axes>
struct family {
    std::int8_t sign[Axes];  ///< of the step; 1 along the main axis
    std::int8_t main;
    bool skewed;  ///< other axes change too
    std::uint32_t price, first_between, between;
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
    /// Coordinates of a cell; false outside the grid.
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
    /// Place of the cell `by` away; -1 outside the grid.
    [[nodiscard]] NF_HD std::int64_t neighbour(const std::int64_t* at, const vector_of_step& by) const {
        std::int64_t to[Axes];
        for (int axis = 0; axis < Axes; ++axis) {
            to[axis] = at[axis] + by[axis];
            if (to[axis] >= 0 && to[axis] < size[axis]) continue;
            if (!wraps[axis]) return -1;
            to[axis] = (to[axis] % size[axis] + size[axis]) % size[axis];
        }
        return place_of(to);
    }
    /// Cells of the last tile along an axis.
    [[nodiscard]] NF_HD std::int64_t rest(int axis) const {
        return size[axis] - (static_cast<std::int64_t>(tiles_along[axis] - 1) << bits[axis]);
    }
    /// Of how many cells of a tile a step leaves it, or comes round where that is the last one.
    [[nodiscard]] std::int64_t leaving(const vector_of_step& by) const {
        std::int64_t stay = 1;
        for (int axis = 0; axis < Axes; ++axis) {
            const int change = by[static_cast<std::size_t>(axis)];
            const std::int64_t side = change > 0 && wraps[axis] ? rest(axis) : mask(axis) + 1;
            stay *= std::max<std::int64_t>(0, side - std::abs(change));
        }
        return cells_of_tile() - stay;
    }
    /// Whether the step does so from a cell.
    [[nodiscard]] NF_HD bool leaves(int local, const vector_of_step& by) const {
        for (int axis = 0; axis < Axes; ++axis) {
            const std::int64_t to = within(local, axis) + by[axis];
            if (to < 0 || to > mask(axis) || (wraps[axis] && by[axis] > 0 && to >= rest(axis))) return true;
        }
        return false;
    }
};

/// Tiles that wait. A tile is in it once at most, so that it never overflows; a slot is 0, or the tile's number plus 1.
struct waiting_tiles {
    std::uint32_t *ring, *queued;  ///< queued: by tiles, 0 or 1 plus how many tiles led there one after another
    solver_counts* counts;
    std::uint32_t mask;
};
inline constexpr std::uint32_t parked_bit = 0x80000000U;  ///< of `queued`: the tile waits for the next stage

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
/// A tile whose border has improved is to be visited; what it is to read was written, and fenced, before.
__device__ inline void wake(const waiting_tiles& q, std::int64_t tile, std::uint32_t depth) {
    if (fresh(q.queued + tile) == 0 && atomicCAS(q.queued + tile, 0U, depth + 1) == 0) enqueue(q, tile);
}

/// Whether elimination leaves so much of the sample's free cells, in thousandths.
__device__ inline bool leaves_at_most(const solver_counts& c, std::int32_t share) {
    const std::int64_t sampled = fresh(&c.sampled), left = fresh(&c.left);
    return sampled > 0 && left * 1000 <= sampled * share;
}
/// Whether cells are eliminated: the queue has not come to an end, and the sample is in favour.
__device__ inline bool eliminates(const solver_counts& c, std::int32_t thin) {
    return fresh(c.parked + 1) != 0 || (fresh(c.parked) != 0 && leaves_at_most(c, thin));
}

/// The next tile; -1 when none waits and no block has one. The blocks that wait run at once with those that have tiles.
__device__ inline std::int64_t take(const waiting_tiles& q) {
    std::uint32_t* const slot = q.ring + (atomicAdd(&q.counts->head, 1U) & q.mask);
    for (;;) {
        if (fresh(slot) != 0)
            if (const std::uint32_t found = atomicExch(slot, 0U); found != 0) return std::int64_t{found} - 1;
        if (fresh(&q.counts->pending) == 0) return -1;
#ifdef __CUDA_ARCH__
        __nanosleep(64);
#endif
    }
}

/// Stages of the queue: alone, or before the sample, after it, and after elimination.
enum class stage : std::uint8_t { only, first, second, last };

/// What a step costs.
enum class pricing : std::uint8_t {
    plain,  ///< its price
    image,  ///< its price times costs
    tight,  ///< nothing where it is on a cheapest path, else it does not exist: seeds spread so
};

/// Everything a kernel needs. Keys, costs and totals have a value for each cell, tile by tile. A key is 0 outside the
/// mask; else the number of the seed plus 1, and above its bits the cost; or `far`.
template <class Word, int Axes>
struct work {
    static constexpr Word far = static_cast<Word>(~Word{0}) >> 1;

    device_tiling<Axes> where;
    Word* key = nullptr;
    std::uint32_t* cost = nullptr;         ///< null: every cell costs 1
    const std::uint64_t* total = nullptr;  ///< tight: keys without seeds
    waiting_tiles queue{};
    stage from = stage::only;
    std::uint32_t first_depth = 0, second_depth = 0;  ///< where stages end
    std::int32_t thin = 0, middling = 0;              ///< as in solver_rules
    const device_step* steps = nullptr;
    const device_between* between = nullptr;
    std::uint32_t* crossing = nullptr;  ///< local number of a cell, and above it the step by which it leaves the tile
    family<Axes> families[most_families]{};
    int family_count = 0, sweep_count = 0, step_count = 0;  ///< sweep_count: of the first steps, those of no family
    int seed_bits = 0;
    bool both = false;
    Word limit = 0;  ///< the largest key of a path
    cell_array mask{}, seeds{}, given_cost{};

    explicit work(const tiling& t) : where(t) {}
};

/// What prices depend on, besides the step.
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

/// Sums of keys and prices end at `far`.
template <class Word>
__device__ Word sum(Word a, Word b) {
    constexpr Word far = static_cast<Word>(~Word{0}) >> 1;
    const Word all = a + b;
    return all < far ? all : far;
}

}  // namespace nearfield::geodesics
