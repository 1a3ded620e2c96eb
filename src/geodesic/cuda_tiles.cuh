// A tile in shared memory, and the relaxation of the steps inside it. Open tiles, and steps along axes, carry keys
// along lines of cells. Diagonal steps among obstacles, where lines are short, start from lists of improved cells.
#pragma once

#include <limits>

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

inline constexpr int threads_of_tile = (1 << device_tile_bits) / chunk;

/// Index at which a tile's cell is stored, padded so that a warp hits different banks along every axis.
NF_HD constexpr int padded(int local) { return local + (local >> 3) + (local >> 7 << 3) + (local >> 9 << 1); }

// ---- notes for sweeps ----

inline constexpr int sweep_side = 1 << device_tile_bits / 2, bands = 4, band_layers = sweep_side / bands;
static_assert(cones * bands * cuda::warp == threads_of_tile && sweep_side == 2 * cuda::warp);
/// Words that note in which pairs of rows, and of columns, cells improved: by the walks of each cone, and by others.
inline constexpr int note_writers = cones + 1, notes = 2 * note_writers;
/// In volumes one word does for each writer, since pairs of layers along an axis are only 8.
inline constexpr int volume_side = 1 << device_tile_bits / 3, volume_cones = 2 * few_axes;
static_assert(volume_cones < notes && 2 * volume_cones * cuda::warp <= threads_of_tile);

/// Returns the number of the thread's warp. It is the result of a reduction, so that the compiler knows that it is the
/// same in all lanes; else it asks before each shuffle whether the warp has diverged.
__device__ inline int own_warp() {
    return static_cast<int>(__reduce_max_sync(cuda::every_lane, threadIdx.x / cuda::warp));
}

/// Keys of a tile, and its improved cells: those of the whole visit, and those from which steps are still to be relaxed
/// in this round and in the next one. Rounds use the lists and their marks in turns, and the counts in threes.
template <pricing Pricing, class Word>
struct tile_memory {
    static constexpr int most = 1 << device_tile_bits, words = most / cuda::warp, called_tiles = 32;
    static constexpr int cleared = 3 * words + 4 + called_tiles + 3 * notes;  ///< words at the beginning

    Word* key;
    std::uint32_t* cost;
    std::uint64_t* total;
    std::uint32_t *improved, *marks, *count, *called;  ///< called: numbers plus 1 of tiles that were queued
    std::uint32_t* noted;                              ///< for sweeps: of three turns
    std::uint16_t* list;

    static constexpr int cells_of(int tile_bits) { return padded((1 << tile_bits) - 1) + 1; }
    static constexpr std::size_t bytes(int tile_bits) {
        return cleared * sizeof(std::uint32_t) + 2 * most * sizeof(std::uint16_t) +
               static_cast<std::size_t>(cells_of(tile_bits)) *
                   (sizeof(Word) + (Pricing == pricing::plain ? 0 : 4) + (Pricing == pricing::tight ? 8 : 0));
    }

    __device__ tile_memory(std::uint64_t* memory, int tile_bits) {
        improved = reinterpret_cast<std::uint32_t*>(memory);
        marks = improved + words, count = marks + 2 * words;
        called = count + 4, noted = called + called_tiles;
        list = reinterpret_cast<std::uint16_t*>(noted + 3 * notes);
        total = reinterpret_cast<std::uint64_t*>(list + 2 * most);
        key = reinterpret_cast<Word*>(total + (Pricing == pricing::tight ? cells_of(tile_bits) : 0));
        cost = reinterpret_cast<std::uint32_t*>(key + cells_of(tile_bits));
    }
    [[nodiscard]] __device__ cell_value value(int at) const {
        cell_value v;
        if constexpr (Pricing != pricing::plain) v.cost = cost[at];
        if constexpr (Pricing == pricing::tight) v.total = total[at];
        return v;
    }
    __device__ void clear() const {
        for (int i = static_cast<int>(threadIdx.x); i < cleared; i += static_cast<int>(blockDim.x)) improved[i] = 0;
    }
    __device__ void improve(int local) const { atomicOr(improved + local / cuda::warp, 1U << local % cuda::warp); }
    /// Marks the cells of a warp, which are consecutive, for which `is` is true. All lanes call it.
    __device__ void improve(int local, bool is) const {
        const unsigned all = __ballot_sync(cuda::every_lane, is ? 1 : 0);
        if (local % cuda::warp == 0 && all != 0) improved[local / cuda::warp] |= all;
    }
    [[nodiscard]] __device__ bool is_improved(int local) const {
        return (improved[local / cuda::warp] >> local % cuda::warp & 1) != 0;
    }
    /// Marks a cell for a list; false if it was marked.
    __device__ bool mark(int local, int side) const {
        const int word = local / cuda::warp;
        const std::uint32_t bit = 1U << local % cuda::warp;
        return (atomicOr(marks + side * words + word, bit) & bit) == 0;
    }
    /// False if this visit has queued the tile before; sometimes true then too.
    [[nodiscard]] __device__ bool calls_first(std::int64_t tile) const {
        const auto number = static_cast<std::uint32_t>(tile + 1);
        return atomicExch(called + number % called_tiles, number) != number;
    }
    [[nodiscard]] __device__ std::uint16_t* listed(int side) const { return list + side * most; }
    /// Notes for the first turn of sweeps that a cell improved.
    [[gnu::noinline]] __device__ void note(int local) const {
        const std::uint32_t row = 1U << local / sweep_side / 2, column = 1U << local % sweep_side / 2;
        std::uint32_t* const of = noted + 2 * cones;
        if ((fresh(of) & row) == 0) atomicOr(of, row);
        if ((fresh(of + 1) & column) == 0) atomicOr(of + 1, column);
    }
    [[gnu::noinline]] __device__ void note_in_volume(int local) const {
        constexpr int pairs = volume_side / 2;
        const std::uint32_t bits = 1U << local / (2 * volume_side * volume_side) |
                                   1U << (pairs + local / volume_side % volume_side / 2) |
                                   1U << (2 * pairs + local % volume_side / 2);
        if ((~fresh(noted + volume_cones) & bits) != 0) atomicOr(noted + volume_cones, bits);
    }
    /// Lists a cell for the first round, once.
    __device__ void start(int local) const {
        if (mark(local, 0)) list[atomicAdd(count, 1U)] = static_cast<std::uint16_t>(local);
    }
};

template <pricing Pricing, class Word, int Axes>
__device__ cell_value value_at(const work<Word, Axes>& w, std::int64_t place) {
    cell_value v;
    if constexpr (Pricing != pricing::plain)
        if (w.cost != nullptr) v.cost = w.cost[place];
    if constexpr (Pricing == pricing::tight) v.total = w.total[place];
    return v;
}

/// Wraps atomicMin, whose 64-bit type is unsigned long long.
__device__ inline std::uint32_t lower(std::uint32_t* to, std::uint32_t by) { return atomicMin(to, by); }
__device__ inline std::uint64_t lower(std::uint64_t* to, std::uint64_t by) {
    return atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(by));
}

// ---- steps inside the tile ------------------------------------------------------------------------------------------

/// Relaxes a step from a cell of the tile, if it stays there; true if the cell at its end is to be listed.
template <pricing Pricing, class Word, int Axes>
__device__ bool relax_step(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, int local,
                           const device_step& step, int next_side) {
    const device_tiling<Axes>& t = w.where;
    bool stays = true;
#pragma unroll
    for (int axis = 0; axis < Axes; ++axis)
        stays = stays &&
                static_cast<unsigned>(t.within(local, axis) + step.by[axis]) <= static_cast<unsigned>(t.mask(axis));
    if (!stays) return false;
    const int from = padded(local), there = local + static_cast<int>(step.offset), to = padded(there);
    const Word own = fresh(m.key + from), other = fresh(m.key + to);
    if (own >= other) return false;
    const Word offered = sum(own, price_of<Pricing>(w, step.price, m.value(from), m.value(to)));
    if (offered >= other) return false;
    for (std::uint32_t b = 0; b < step.between; ++b)
        if (m.key[padded(local + static_cast<int>(w.between[step.first_between + b].offset))] == 0) return false;
    return lower(m.key + to, offered) > offered && m.mark(there, next_side);
}

/// Relaxes all steps that stay inside a tile, from its listed cells and from those that improve. All threads of the
/// block call it. A thread owns a pair of a listed cell and a step at a time, so that short lists keep a block busy.
template <pricing Pricing, class Word, int Axes>
__device__ void settle(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m) {
    constexpr int words = tile_memory<Pricing, Word>::words;
    const int bits = min(w.step_bits, device_tile_bits - 3), lanes = 1 << bits, own = static_cast<int>(threadIdx.x);
    const int lane = own & (lanes - 1), at_once = threads_of_tile >> bits;
    if (w.step_count == 0) return;
    device_step step = w.steps[min(lane, w.step_count - 1)];
    std::uint32_t *now = m.count, *next = m.count + 1, *after = m.count + 2;
    for (int side = 0;; side ^= 1) {
        __syncthreads();
        const auto count = static_cast<int>(fresh(now));
        if (count == 0) return;
        if (own == 0) *after = 0;
        for (int s = lane; s < lane + w.step_count; s += lanes) {
            if (lanes < w.step_count) step = w.steps[min(s, w.step_count - 1)];
            for (int first = 0; first < count; first += at_once) {
                const int i = first + (own >> bits);
                const bool is = i < count && s < w.step_count;
                const int local = is ? m.listed(side)[i] : 0;
                // Clears the marks of other listed cells too; none is added to this list any more.
                if (is && s == 0) m.marks[side * words + local / cuda::warp] = 0;
                append(m.listed(side ^ 1), next, static_cast<std::uint32_t>(local) + step.offset,
                       is && relax_step(w, m, local, step, side ^ 1));
            }
        }
        std::uint32_t* const used = now;
        now = next, next = after, after = used;
    }
}

// ---- lines ----------------------------------------------------------------------------------------------------------

/// A thread's cells on a line of its tile, and the steps of the line that are open. Where a tile has closed cells,
/// lines serve only steps that pass no cells, so that these need no test.
template <pricing Pricing, class Word, int Axes>
struct stretch {
    int at[chunk];
    Word key[chunk];
    cell_value value[chunk], value_before;
    unsigned open = 0;      ///< bit i: the step from cell i - 1 to i
    Word up = 0, down = 0;  ///< cost of walking the stretch, including the step into it
    bool active;            ///< false if the tile has fewer cells than threads serve
    int lanes, lane;        ///< number of the line's threads, and this thread's place among them

    __device__ stretch(const work<Word, Axes>& w, const family<Axes>& f, const tile_memory<Pricing, Word>& m) {
        const device_tiling<Axes>& t = w.where;
        const int thread = static_cast<int>(threadIdx.x), main = f.main, bits = t.bits[main], shift = t.shift[main];
        lanes = 1 << (bits - 3), lane = thread & (lanes - 1);
        const int line = thread >> (bits - 3);
        const int base = (line >> shift << (shift + bits)) | (line & ((1 << shift) - 1));
        active = thread < t.cells_of_tile() / chunk;
        unsigned wrapped = lane == 0 ? 1 : 0;
        if (f.skewed) {
#pragma unroll
            for (int i = 0; i < chunk; ++i) at[i] = padded(moved(t, f, base, lane * chunk + i, wrapped, i));
        } else {
            // Numbers whose bits are disjoint are padded one by one.
            const int first = padded(base | lane * chunk << shift);
#pragma unroll
            for (int i = 0; i < chunk; ++i) at[i] = first + padded(i << shift);
        }
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
            key[i] = active ? m.key[at[i]] : 0;
            if (active) value[i] = m.value(at[i]);
        }
        link(wrapped);
    }

    /// Relaxes the steps within the stretch, and adds up the cost of walking it.
    __device__ void close(const work<Word, Axes>& w, std::uint32_t step) {
        up = price(w, step, 0, true), down = 0;
#pragma unroll
        for (int i = 1; i < chunk; ++i) {
            const Word p = price(w, step, i, true);
            key[i] = least(key[i], key[i - 1], p), up = least(far, up, p);
        }
#pragma unroll
        for (int i = chunk - 1; i > 0; --i) {
            const Word p = price(w, step, i, false);
            key[i - 1] = least(key[i - 1], key[i], p), down = least(far, down, p);
        }
    }
    /// Relaxes from the cells before the stretch. A key of 0 is a closed cell, from which no step leads on.
    __device__ void carry_forwards(const work<Word, Axes>& w, std::uint32_t step) {
        Word out = key[chunk - 1];
        for (int by = 1; by < lanes; by *= 2) {
            const Word of = __shfl_up_sync(cuda::every_lane, out, by, lanes);
            const Word way = __shfl_up_sync(cuda::every_lane, up, by, lanes);
            if (lane >= by) out = least(out, of, up), up = least(far, way, up);
        }
        Word carried = __shfl_up_sync(cuda::every_lane, out, 1, lanes);
#pragma unroll
        for (int i = 0; i < chunk; ++i) key[i] = carried = least(key[i], carried, price(w, step, i, true));
    }
    /// Relaxes from the cells behind the stretch. The next thread knows the price of the step from there.
    __device__ void carry_backwards(const work<Word, Axes>& w, std::uint32_t step) {
        Word enter = __shfl_down_sync(cuda::every_lane, price(w, step, 0, false), 1, lanes), out = key[0];
        if (lane == lanes - 1) enter = far;
        down = least(far, down, enter);
        for (int by = 1; by < lanes; by *= 2) {
            const Word of = __shfl_down_sync(cuda::every_lane, out, by, lanes);
            const Word way = __shfl_down_sync(cuda::every_lane, down, by, lanes);
            if (lane + by < lanes) out = least(out, of, down), down = least(far, way, down);
        }
        Word carried = __shfl_down_sync(cuda::every_lane, out, 1, lanes);
#pragma unroll
        for (int i = chunk - 1; i >= 0; --i) {
            key[i] = carried = least(key[i], carried, enter);
            enter = price(w, step, i, false);
        }
    }
    /// Writes the keys that improved; true if one did.
    __device__ bool store(const tile_memory<Pricing, Word>& m) const {
        bool better = false;
        if (!active) return better;
#pragma unroll
        for (int i = 0; i < chunk; ++i)
            if (key[i] < m.key[at[i]]) m.key[at[i]] = key[i], better = true;
        return better;
    }

private:
    static constexpr Word far = work<Word, Axes>::far;

    /// Returns a key or, if that is less, what another one offers. None is above `far`, so that sums do not overflow.
    __device__ static Word least(Word own, Word other, Word price) {
        return min(own, static_cast<Word>(other + price));
    }
    /// Price of the step between cells i - 1 and i.
    __device__ Word price(const work<Word, Axes>& w, std::uint32_t step, int i, bool forwards) const {
        if ((open >> i & 1) == 0) return far;
        const cell_value& low = i == 0 ? value_before : value[i > 0 ? i - 1 : 0];
        return forwards ? price_of<Pricing>(w, step, low, value[i]) : price_of<Pricing>(w, step, value[i], low);
    }
    /// Cell k of a line that wraps around along the other axes; sets bit i of `wrapped` if it wraps at this cell.
    __device__ static int moved(const device_tiling<Axes>& t, const family<Axes>& f, int base, int k, unsigned& wrapped,
                                int i) {
        int local = k << t.shift[f.main];
#pragma unroll
        for (int axis = 0; axis < Axes; ++axis) {
            if (axis == f.main) continue;
            int x = t.within(base, axis);
            if (f.sign[axis] != 0) {
                x = (x + f.sign[axis] * k) & t.mask(axis);
                if (x == (f.sign[axis] > 0 ? 0 : t.mask(axis))) wrapped |= 1U << i;
            }
            local |= x << t.shift[axis];
        }
        return local;
    }
    __device__ void link(unsigned closed) {
        if constexpr (Pricing != pricing::plain)
            value_before.cost = __shfl_up_sync(cuda::every_lane, value[chunk - 1].cost, 1, lanes);
        if constexpr (Pricing == pricing::tight)
            value_before.total = __shfl_up_sync(cuda::every_lane, value[chunk - 1].total, 1, lanes);
        const Word before = __shfl_up_sync(cuda::every_lane, key[chunk - 1], 1, lanes);
#pragma unroll
        for (int i = 0; i < chunk; ++i)
            if (key[i] != 0 && (i == 0 ? before : key[i - 1]) != 0 && (closed >> i & 1) == 0) open |= 1U << i;
    }
};

/// Carries keys along lines in both directions, so that afterwards no cell of a line would improve another one. True if
/// a cell of this thread improved.
template <pricing Pricing, class Word, int Axes>
__device__ bool close_lines(const work<Word, Axes>& w, const family<Axes>& f, const tile_memory<Pricing, Word>& m) {
    stretch<Pricing, Word, Axes> s(w, f, m);
    s.close(w, f.price);
    s.carry_forwards(w, f.price);
    s.carry_backwards(w, f.price);
    return s.store(m);
}

/// Closes the lines of a tile until no step improves a cell, without marking cells. All threads of the block call it.
/// With `once` the lines of each family are closed once, which suffices if no cell is closed and all cost the same: a
/// cheapest path then goes along one axis after the other.
template <pricing Pricing, class Word, int Axes>
__device__ void settle_lines(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, bool once) {
    int turn = 0, left = once ? w.family_count : std::numeric_limits<int>::max();
    for (int quiet = 0; quiet < w.family_count && left > 0; turn = turn + 1 == w.family_count ? 0 : turn + 1, --left)
        quiet = __syncthreads_or(close_lines(w, w.families[turn], m) ? 1 : 0) == 0 ? quiet + 1 : 1;
}

}  // namespace nearfield::geodesics
