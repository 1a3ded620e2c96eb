// A tile in shared memory: takes its neighbours' offers, relaxes lines and sweeps, and makes offers to neighbours.
#pragma once

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

/// Index at which a tile's cell is stored, padded so that a warp hits different banks along every axis.
NF_HD constexpr int padded(int local) { return local + (local >> 3) + (local >> 7 << 3) + (local >> 9 << 1); }

template <pricing Pricing, class Word>
struct tile_memory {
    Word* key;
    std::uint32_t* cost;
    std::uint64_t* total;

    static constexpr int cells = padded((1 << device_tile_bits) - 1) + 1;
    static constexpr std::size_t bytes =
        static_cast<std::size_t>(cells) *
        (sizeof(Word) + (Pricing == pricing::plain ? 0 : 4) + (Pricing == pricing::tight ? 8 : 0));

    explicit __device__ tile_memory(std::uint64_t* memory) {
        total = memory;
        key = reinterpret_cast<Word*>(memory + (Pricing == pricing::tight ? cells : 0));
        cost = reinterpret_cast<std::uint32_t*>(key + cells);
    }
    [[nodiscard]] __device__ cell_value value(int at) const {
        cell_value v;
        if constexpr (Pricing != pricing::plain) v.cost = cost[at];
        if constexpr (Pricing == pricing::tight) v.total = total[at];
        return v;
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

// ---- lines ----------------------------------------------------------------------------------------------------------

/// A thread's cells on a line of its tile, and the steps of the line that are open.
template <pricing Pricing, class Word, int Axes>
struct stretch {
    int at[chunk];
    Word key[chunk];
    cell_value value[chunk], value_before;
    unsigned open = 0, better = 0;  ///< bit i of open: the step from cell i - 1 to i; of better: cell i improved
    Word up = 0, down = 0;          ///< cost of walking the stretch, including the step into it
    int lanes, lane;                ///< number of the line's threads, and this thread's place among them

    __device__ stretch(const work<Word, Axes>& w, const family<Axes>& f, const tile_memory<Pricing, Word>& m) {
        const device_tiling<Axes>& t = w.where;
        const int thread = static_cast<int>(threadIdx.x), main = f.main, bits = t.bits[main], shift = t.shift[main];
        lanes = 1 << (bits - 3), lane = thread & (lanes - 1);
        const int line = thread >> (bits - 3);
        const int base = (line >> shift << (shift + bits)) | (line & ((1 << shift) - 1));
        const bool active = thread < t.cells_of_tile() / chunk;
        unsigned wrapped = lane == 0 ? 1 : 0;
        int before = 0;
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
            const int local =
                f.skewed ? moved(t, f, base, lane * chunk + i, wrapped, i) : base | (lane * chunk + i) << shift;
            at[i] = padded(local);
            key[i] = active ? m.key[at[i]] : 0, value[i] = m.value(at[i]);
            if (i > 0 && f.between > 0 && is_blocked(w, f, m, before)) wrapped |= 1U << i;
            before = local;
        }
        link(w, f, m, wrapped, before);
    }

    /// Relaxes the steps within the stretch, and adds up the cost of walking it.
    __device__ void close(const work<Word, Axes>& w, std::uint32_t step) {
        up = price(w, step, 0, true), down = 0;
#pragma unroll
        for (int i = 1; i < chunk; ++i) {
            const Word p = price(w, step, i, true);
            offer(i, sum(key[i - 1], p)), up = sum(up, p);
        }
#pragma unroll
        for (int i = chunk - 1; i > 0; --i) {
            const Word p = price(w, step, i, false);
            offer(i - 1, sum(key[i], p)), down = sum(down, p);
        }
    }
    /// Relaxes from the cells before the stretch. A key of 0 is a closed cell, from which no step leads on.
    __device__ void carry_forwards(const work<Word, Axes>& w, std::uint32_t step) {
        Word out = key[chunk - 1];
        for (int by = 1; by < lanes; by *= 2) {
            const Word of = __shfl_up_sync(cuda::every_lane, out, by, lanes);
            const Word way = __shfl_up_sync(cuda::every_lane, up, by, lanes);
            if (lane >= by) out = min(out, sum(of, up)), up = sum(up, way);
        }
        Word carried = __shfl_up_sync(cuda::every_lane, out, 1, lanes);
#pragma unroll
        for (int i = 0; i < chunk; ++i) {
            carried = sum(carried, price(w, step, i, true));
            offer(i, carried);
        }
    }
    /// Relaxes from the cells behind the stretch. The next thread knows the price of the step from there.
    __device__ void carry_backwards(const work<Word, Axes>& w, std::uint32_t step) {
        Word enter = __shfl_down_sync(cuda::every_lane, price(w, step, 0, false), 1, lanes), out = key[0];
        if (lane == lanes - 1) enter = work<Word, Axes>::far;
        down = sum(down, enter);
        for (int by = 1; by < lanes; by *= 2) {
            const Word of = __shfl_down_sync(cuda::every_lane, out, by, lanes);
            const Word way = __shfl_down_sync(cuda::every_lane, down, by, lanes);
            if (lane + by < lanes) out = min(out, sum(of, down)), down = sum(down, way);
        }
        Word carried = sum(__shfl_down_sync(cuda::every_lane, out, 1, lanes), enter);
#pragma unroll
        for (int i = chunk - 1; i >= 0; --i) {
            offer(i, carried);
            carried = sum(carried, price(w, step, i, false));
        }
    }
    __device__ bool store(const tile_memory<Pricing, Word>& m) const {
#pragma unroll
        for (int i = 0; i < chunk; ++i)
            if ((better >> i & 1) != 0) m.key[at[i]] = key[i];
        return better != 0;
    }

private:
    __device__ void offer(int i, Word offered) {
        if (offered < key[i]) key[i] = offered, better |= 1U << i;
    }
    /// Price of the step between cells i - 1 and i.
    __device__ Word price(const work<Word, Axes>& w, std::uint32_t step, int i, bool forwards) const {
        if ((open >> i & 1) == 0) return work<Word, Axes>::far;
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
    /// True if a cell that the step from `local` passes is closed. Unused where the line wraps, as that step is closed.
    __device__ static bool is_blocked(const work<Word, Axes>& w, const family<Axes>& f,
                                      const tile_memory<Pricing, Word>& m, int local) {
        for (std::uint32_t k = 0; k < f.between; ++k) {
            const int there =
                (local + static_cast<int>(w.between[f.first_between + k].offset)) & (w.where.cells_of_tile() - 1);
            if (m.key[padded(there)] == 0) return true;
        }
        return false;
    }
    __device__ void link(const work<Word, Axes>& w, const family<Axes>& f, const tile_memory<Pricing, Word>& m,
                         unsigned closed, int last) {
        if constexpr (Pricing != pricing::plain)
            value_before.cost = __shfl_up_sync(cuda::every_lane, value[chunk - 1].cost, 1, lanes);
        if constexpr (Pricing == pricing::tight)
            value_before.total = __shfl_up_sync(cuda::every_lane, value[chunk - 1].total, 1, lanes);
        const Word before = __shfl_up_sync(cuda::every_lane, key[chunk - 1], 1, lanes);
        const int from = __shfl_up_sync(cuda::every_lane, last, 1, lanes);
        if (f.between > 0 && lane > 0 && is_blocked(w, f, m, from)) closed |= 1;
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

// ---- steps without a family -----------------------------------------------------------------------------------------

/// Relaxes once the steps without a family that stay in the tile. All threads of the block call it.
template <pricing Pricing, class Word, int Axes>
__device__ bool sweep(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m) {
    const device_tiling<Axes>& t = w.where;
    Word best[chunk];
    bool better = false;
#pragma unroll
    for (int k = 0; k < chunk; ++k) {
        const int local = static_cast<int>(threadIdx.x + k * blockDim.x);
        best[k] = 0;
        if (local >= t.cells_of_tile()) continue;
        const Word own = m.key[padded(local)];
        best[k] = own;
        for (int s = 0; own != 0 && s < w.sweep_count; ++s) {
            const device_step& step = w.steps[s];
            bool stays = true;
#pragma unroll
            for (int axis = 0; axis < Axes; ++axis) {
                const int to = t.within(local, axis) + step.by[axis];
                stays = stays && to >= 0 && to <= t.mask(axis);
            }
            if (!stays) continue;
            const int from = padded(local + static_cast<int>(step.offset));
            const Word other = m.key[from];
            if (other == 0 || other >= best[k]) continue;
            const Word offered = sum(other, price_of<Pricing>(w, step.price, m.value(from), m.value(padded(local))));
            if (offered >= best[k]) continue;
            bool open = true;
            for (std::uint32_t b = 0; b < step.between; ++b)
                open = open && m.key[padded(local + static_cast<int>(w.between[step.first_between + b].offset))] != 0;
            if (open) best[k] = offered, better = true;
        }
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < chunk && better; ++k) {
        const int local = static_cast<int>(threadIdx.x + k * blockDim.x);
        if (local < t.cells_of_tile()) m.key[padded(local)] = best[k];
    }
    return better;
}

/// Wraps atomicMin, whose 64-bit type is unsigned long long.
__device__ inline void lower(std::uint32_t* to, std::uint32_t by) { atomicMin(to, by); }
__device__ inline void lower(std::uint64_t* to, std::uint64_t by) {
    atomicMin(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(by));
}

// ---- neighbours -----------------------------------------------------------------------------------------------------

/// Calls use(padded cell of the tile, place of the neighbour, step) for all steps that lead out of the tile.
template <class Word, int Axes, class Use>
__device__ void for_crossings(const work<Word, Axes>& w, std::int64_t tile, const Use& use) {
    const device_tiling<Axes>& t = w.where;
    const std::uint32_t count = w.queue.counts->crossings;
    for (std::uint32_t i = threadIdx.x; i < count; i += blockDim.x) {
        const int local = static_cast<int>(w.crossing[i] & ((1U << device_tile_bits) - 1));
        const device_step& step = w.steps[w.crossing[i] >> device_tile_bits];
        std::int64_t at[Axes];
        if (!t.locate(tile, local, at)) continue;
        const std::int64_t to = t.neighbour(at, step.by);
        if (to >= 0) use(local, to, at, step);
    }
}
template <class Word, int Axes>
__device__ bool is_open(const work<Word, Axes>& w, const std::int64_t* at, const device_step& step) {
    for (std::uint32_t b = 0; b < step.between; ++b) {
        const std::int64_t place = w.where.neighbour(at, w.between[step.first_between + b].by);
        if (place < 0 || fresh(w.key + place) == 0) return false;
    }
    return true;
}

/// Relaxes the tile's cells from neighbours in other tiles.
template <pricing Pricing, class Word, int Axes>
__device__ void take_offers(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, std::int64_t tile) {
    for_crossings(w, tile, [&](int local, std::int64_t from, const std::int64_t* at, const device_step& step) {
        const int own = padded(local);
        const Word other = fresh(w.key + from), mine = fresh(m.key + own);
        if (mine == 0 || other == 0 || other >= mine) return;
        const Word offered = sum(other, price_of<Pricing>(w, step.price, value_at<Pricing>(w, from), m.value(own)));
        if (offered < mine && offered <= w.limit && is_open(w, at, step)) lower(m.key + own, offered);
    });
}

/// Queues the tiles with cells that an improved cell of this tile would improve. `changed`: a bit for each cell.
template <pricing Pricing, class Word, int Axes>
__device__ void make_offers(const work<Word, Axes>& w, const tile_memory<Pricing, Word>& m, std::int64_t tile,
                            const std::uint32_t* changed, std::uint32_t depth) {
    for_crossings(w, tile, [&](int local, std::int64_t to, const std::int64_t* at, const device_step& step) {
        if ((changed[local / cuda::warp] >> local % cuda::warp & 1) == 0) return;
        const int own = padded(local);
        const Word offered = sum(m.key[own], price_of<Pricing>(w, step.price, m.value(own), value_at<Pricing>(w, to)));
        if (offered > w.limit || fresh(w.key + to) <= offered || !is_open(w, at, step)) return;
        wake(w.queue, to >> w.where.tile_bits, depth);
    });
}

}  // namespace nearfield::geodesics
