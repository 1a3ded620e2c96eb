// Cells and arrays of a call on a device: three axes, places of 32 bits.
#pragma once

#include "base/cuda.cuh"
#include "base/divide.hpp"
#include "watershed/problem.hpp"

namespace nearfield::watersheds {

inline constexpr int most_axes = 3, most_steps = 80;  // steps of an image of four axes
inline constexpr int threads_of_block = 256;
inline constexpr std::int32_t nowhere = -1;

/// Which neighbours a kernel visits: those that the compiler knows, by axes and steps, or the call's list.
enum class nearby { listed, sides2, corners2, sides3, corners3 };
inline constexpr std::int32_t unreached = std::numeric_limits<std::int32_t>::max();

/// Which neighbour a cell points to, in six bits: of known neighbours the offsets plus 1, two bits an axis, the last
/// axis first, which is the order of ties; of others the number in the list. `flat`: no neighbour is lower.
inline constexpr unsigned flat = 63, way_bits = 6;
inline constexpr std::uint8_t no_cell = 255;  ///< the place holds no cell
/// The knowledge about a cell, above these bits: it needs no steps, and its parent is the cell that it points to; it
/// needs no steps; it may need steps; no marker reaches it.
enum class known : unsigned { parent, closed, little, unreached };

/// The padded array of a call. If the image has fewer than three axes, axes of length 1 come first.
struct grid3 {
    std::int32_t size[most_axes]{1, 1, 1}, pitch[most_axes]{}, row_pitch = 0, base = 0, places = 0;
    divisor by_plane, by_row;
    int tile_bits[most_axes]{};  ///< the sides of tiles are powers of two
    std::int64_t tiles = 0;
    divisor tiles_of_row, tiles_of_plane;     ///< tiles along the last axis; of the last two axes
    std::int64_t quads = 0, quad_blocks = 0;  ///< groups of four cells of a row, and blocks of as many threads
    divisor quads_of_row, rows_of_plane;
    bool wraps[most_axes]{}, any_wraps = false;
    nearby steps_are = nearby::listed;
    int steps = 0;
    std::int32_t offset[most_steps]{};
    std::int8_t by[most_steps][most_axes]{};
    frame unfolded;  ///< as in problem

    /// Writes the coordinates of a place; returns false if the place holds no cell.
    __device__ bool locate(std::int32_t place, std::int32_t* at) const {
        std::int32_t rest = place - base;
        if (rest < 0) return false;
        at[0] = static_cast<std::int32_t>(by_plane.quotient(static_cast<std::uint32_t>(rest)));
        rest -= at[0] * pitch[0];
        at[1] = static_cast<std::int32_t>(by_row.quotient(static_cast<std::uint32_t>(rest)));
        at[2] = rest - at[1] * pitch[1];
        return at[0] < size[0] && at[1] < size[1] && at[2] < size[2];
    }
    __device__ std::int32_t neighbour(const std::int32_t* at, int k) const {
        std::int32_t place = base;
#pragma unroll
        for (int axis = 0; axis < most_axes; ++axis) {
            std::int32_t there = at[axis] + by[k][axis];
            if (there < 0 || there >= size[axis]) {
                if (!wraps[axis]) return nowhere;
                there = there < 0 ? size[axis] - 1 : 0;
            }
            place += there * pitch[axis];
        }
        return place;
    }
    /// Returns whether a cell lies at a periodic end.
    __device__ bool at_end(std::int32_t place) const {
        std::int32_t at[most_axes];
        locate(place, at);
        bool found = false;
        for (int axis = 0; axis < most_axes; ++axis)
            found |= wraps[axis] && (at[axis] == 0 || at[axis] == size[axis] - 1);
        return found;
    }
    /// Returns the place of neighbour k, or nowhere.
    __device__ std::int32_t nth(std::int32_t place, int k) const {
        if (!any_wraps) return place + offset[k];
        std::int32_t at[most_axes];
        locate(place, at);
        return neighbour(at, k);
    }
    /// Calls use(place, k) for every neighbour k of a cell; in the order of ties if no axis is periodic. Known ones are
    /// nine rows with fixed offsets: their loads take few instructions and are all under way at once. They do not reach
    /// across periodic ends. `Half` leaves out those with a smaller place.
    template <nearby Which = nearby::listed, bool Half = false, class Use>
    __device__ void each(std::int32_t place, const Use& use) const {
        if constexpr (Which != nearby::listed) {
            constexpr int deep = Which == nearby::sides3 || Which == nearby::corners3 ? 1 : 0;
            constexpr bool corners = Which == nearby::corners2 || Which == nearby::corners3;
            int k = 0;
#pragma unroll
            for (int x = -1; x <= 1; ++x)
#pragma unroll
                for (int y = -1; y <= 1; ++y)
#pragma unroll
                    for (int z = -deep; z <= deep; ++z) {
                        const int moved = x * x + y * y + z * z;
                        if (moved != 1 && (!corners || moved == 0)) continue;
                        if (!Half || 9 * z + 3 * y + x > 0) use(place + z * pitch[0] + y * pitch[1] + x, k);
                        ++k;
                    }
        } else if (!any_wraps) {
            for (int k = 0; k < steps; ++k)
                if (!Half || offset[k] > 0) use(place + offset[k], k);
        } else {
            std::int32_t at[most_axes];
            locate(place, at);
            for (int k = 0; k < steps; ++k)
                if (const std::int32_t there = neighbour(at, k); there != nowhere) use(there, k);
        }
    }
    /// Returns whether place a comes before place b in the order of ties.
    __device__ bool before(std::int32_t a, std::int32_t b) const {
        if (unfolded.axes > 0) return unfolded.before(a - base, b - base);
        std::int32_t of_a[most_axes], of_b[most_axes];
        locate(a, of_a), locate(b, of_b);
        for (int axis = most_axes - 1; axis >= 0; --axis)
            if (of_a[axis] != of_b[axis]) return of_a[axis] < of_b[axis];
        return false;
    }
};

inline constexpr int cells_of_tile = 1024;

/// The sides of a tile: 4 x 8 x 32 cells, 32 x 32 of an image, 1024 of a line.
struct tile_sides {
    int bits[most_axes];
};
NF_HD constexpr tile_sides sides_of(int axes) {
    return axes == 3 ? tile_sides{{2, 3, 5}} : axes == 2 ? tile_sides{{0, 5, 5}} : tile_sides{{0, 0, 10}};
}

inline void set_tiles(grid3& g, int axes) {
    std::int64_t count[most_axes];
    for (int axis = 0; axis < most_axes; ++axis) {
        g.tile_bits[axis] = sides_of(axes).bits[axis];
        count[axis] = cuda::blocks_for(g.size[axis], std::int64_t{1} << g.tile_bits[axis]);
    }
    g.tiles = count[0] * count[1] * count[2];
    g.tiles_of_row = divisor(count[2]), g.tiles_of_plane = divisor(count[1] * count[2]);
    const std::int64_t of_row = cuda::blocks_for(g.size[2], cells_of_tile / threads_of_block);
    g.quads = of_row * g.size[1] * g.size[0], g.quad_blocks = cuda::blocks_for(g.quads, threads_of_block);
    g.quads_of_row = divisor(of_row), g.rows_of_plane = divisor(g.size[1]);
}

inline grid3 grid_of(const problem& p) {
    grid3 g;
    const int skipped = most_axes - p.where.axes;
    g.row_pitch = static_cast<std::int32_t>(p.where.row_pitch);
    g.base = static_cast<std::int32_t>(p.where.base), g.places = static_cast<std::int32_t>(p.where.places);
    for (int axis = 0; axis < most_axes; ++axis) {
        g.pitch[axis] = g.places;
        if (axis < skipped) continue;
        g.size[axis] = static_cast<std::int32_t>(p.where.size[axis - skipped]);
        g.pitch[axis] = static_cast<std::int32_t>(p.where.pitch[axis - skipped]);
        g.wraps[axis] = p.where.wraps[axis - skipped];
    }
    g.any_wraps = p.where.any_wraps, g.unfolded = p.unfolded;
    if (p.parts.data == nullptr && g.unfolded.axes == 0) {
        const std::size_t count = p.steps.size();
        if (skipped == 1) g.steps_are = count == 8 ? nearby::corners2 : count == 4 ? nearby::sides2 : nearby::listed;
        if (skipped == 0) g.steps_are = count == 26 ? nearby::corners3 : count == 6 ? nearby::sides3 : nearby::listed;
    }
    set_tiles(g, p.where.axes);
    g.by_plane = divisor(g.pitch[0]), g.by_row = divisor(g.pitch[1]);
    for (const step& s : p.steps) {
        for (int axis = skipped; axis < most_axes && g.unfolded.axes == 0; ++axis)
            g.by[g.steps][axis] = s.by[axis - skipped];
        g.offset[g.steps++] = s.offset;
    }
    return g;
}

/// A caller's array; its strides are listed by the grid's axes.
template <class Void>
struct array3 {
    Void* data = nullptr;
    dtype type = dtype::uint8;
    std::int64_t stride[most_axes]{};

    array3() = default;
    array3(const array<Void>& a, int axes) : data(a.data), type(a.type) {
        for (int axis = 0; axis < axes; ++axis) stride[most_axes - axes + axis] = a.stride[axis];
    }
    __device__ std::int64_t offset(const std::int32_t* at) const {
        return at[0] * stride[0] + at[1] * stride[1] + at[2] * stride[2];
    }
};

/// Packs a key, as an unsigned integer of the same order, above the number of a cell or a basin.
NF_HD inline std::uint64_t packed(std::int32_t key, std::uint32_t number) {
    return std::uint64_t{static_cast<std::uint32_t>(key) ^ 0x80000000U} << 32 | number;
}
NF_HD inline std::int32_t key_in(std::uint64_t both) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(both >> 32) ^ 0x80000000U);
}
inline constexpr std::uint64_t no_key = ~std::uint64_t{0};

inline constexpr std::int64_t most_walkers = 2047;  ///< blocks that may wait for each other

/// Flags are counted by warps: a lane has 16 words, and a warp 16384 places.
inline constexpr int words_of_lane = 16, flag_words = words_of_lane * cuda::warp, flag_block = 32 * flag_words;

/// Indices of a call's counters.
enum counter : int {
    basins_found,
    edges_found,
    open_found,
    wide_labels,
    listed_again,
    some_marker,    ///< 1 above the place of a marker
    labels_differ,  ///< two markers have different labels
    queue_end,
    fronts,  ///< three words of 64 bits
    walked_alone = fronts + 6,
    fronts_walked,
    turns_alone,  ///< turns in which one block walked
    changes,
    counters = changes + 3
};

/// Everything that a kernel needs. Arrays of cells have one element for each place of the padded array.
struct work {
    grid3 where;
    std::int32_t* key;       ///< first the key, later the level; of 8-byte types ranks (cuda_ranks.cuh)
    std::int64_t* value;     ///< of 8-byte types: ordered keys of 64 bits of places, then of seeds
    std::int64_t* exact;     ///< of 8-byte types: ordered keys of 64 bits by rank
    std::int32_t* seed_key;  ///< of 8-byte types: ranks of seeds
    std::int32_t* basin;     ///< nowhere; or a pointer; or -2 - the basin's number
    std::int32_t* part;      ///< per cell a label; null: all cells belong together
    std::int32_t* steps;     ///< of cells that need some
    std::uint32_t* unmet;    ///< one bit per place: it needs steps that are not known yet
    std::uint8_t* way;       ///< where a cell points, and what is known of it
    std::int32_t* parent;    ///< nowhere; or a pointer; or end_code() of the cell with the marker
    std::int32_t *open, *queue;

    std::uint64_t* best;      ///< of a basin that has not merged: its least pass and the basin beyond
    std::uint64_t* top;       ///< its lowest marker, or its lowest cell
    std::int32_t *up, *pass;  ///< the basin it merged into, and the pass; itself: unmerged; nowhere: at the root
    std::int32_t* level;
    std::int32_t* last;    ///< greatest pass that is too low for its height, or null: passes above it join nothing
    std::int32_t* number;  ///< negative: no marker reaches the basin; else the label of its cell

    std::int32_t *edge_a, *edge_b, *edge_pass;
    std::uint32_t most_edges, most_basins;
    std::uint32_t* count;
    std::uint32_t* flags;   ///< one bit per place: it has a marker; used if the call gives no markers
    std::uint32_t* before;  ///< for each block of 16384 places, the number of its markers, then of those before it

    array3<const void> image, mask, markers, seed, parts;
    array3<void> label, passes, extrema;
    peak* peaks;  ///< one for each cell that is a marker
    height least;
    bool maxima, lines, heights;
    bool again;  ///< edges are listed again, of basins that have merged, if the first list was too short
};

/// Returns the ordered key of the image's type for a key of 32 bits.
template <class Value>
__device__ key_of<Value> exact_key(const work& w, std::int32_t key) {
    if constexpr (sizeof(Value) == 8) return w.exact[key];
    else return key;
}

template <class Value>
__device__ std::int64_t integer_of(const array3<const void>& a, const std::int32_t* at) {
    return static_cast<std::int64_t>(static_cast<const Value*>(a.data)[a.offset(at)]);
}
/// Returns the label of a marker; 0 means no marker.
__device__ inline std::int64_t marker_at(const work& w, const std::int32_t* at) {
    const source flat{w.markers.data, w.markers.type, {}};
    return integer_at(flat, w.markers.offset(at));
}

/// Returns whether two adjacent cells count as neighbours: they have the same label, or the call has no labels.
__device__ inline bool alike(const work& w, std::int32_t a, std::int32_t b) {
    return w.part == nullptr || w.part[a] == w.part[b];
}

__device__ inline known known_of(const work& w, std::int32_t place) {
    return static_cast<known>(w.way[place] >> way_bits);
}
__device__ inline void set_known(const work& w, std::int32_t place, known what) {
    w.way[place] = static_cast<std::uint8_t>(static_cast<unsigned>(what) << way_bits | (w.way[place] & flat));
}

__device__ inline std::int32_t place_of_thread() {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(blockIdx.x) * threads_of_block + threadIdx.x);
}

/// Replaces the pointers on the chain from a place by the code at its end. Other threads may do the same at once: a
/// pointer that they have not replaced yet leads to the same end.
__device__ inline std::int32_t follow(std::int32_t* to, std::int32_t place) {
    std::int32_t code = to[place];
    if (code < 0) return code;
    [[maybe_unused]] std::int32_t hops = 0;
    std::int32_t end;
    for (; (end = to[code]) >= 0; code = end) {
#ifndef __CUDA_ARCH__
        if (++hops == std::numeric_limits<std::int32_t>::max()) std::abort();  // a ring, which a GPU follows for ever
#endif
    }
    for (std::int32_t next; (next = to[place]) >= 0; place = next) to[place] = end;
    return end;
}

}  // namespace nearfield::watersheds
