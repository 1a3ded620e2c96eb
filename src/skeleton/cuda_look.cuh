// Tests of cells on a device: three lanes share a cell.
//
// A turn of few cells takes as long as the longest chain of dependent instructions. So lanes share the instructions of
// a cell, and all its loads are under way at once.
#pragma once

#include "skeleton/cuda_steps.cuh"

namespace nearfield::skeleton {

/// How a warp shares its lanes among ten cells. Each cell has three lanes: a lane has a plane of the neighbourhood in a
/// volume, and a row in an image, whose neighbourhood is the middle plane.
struct sharing {
    static constexpr int lanes = 3, cells = cuda::warp / lanes;
    bool flat;
    int cell;      ///< the lane's one; idle lanes have cell = cells
    int part;      ///< number of the lane's plane or row
    int other[2];  ///< the other lanes of the cell

    __device__ explicit sharing(bool is_flat) : flat(is_flat) {
        const int lane = cuda::lane_of_thread();
        cell = lane / lanes, part = lane % lanes;
        other[0] = cell * lanes + (part + 1) % lanes, other[1] = cell * lanes + (part + 2) % lanes;
    }
    /// Returns the union of the parts of a neighbourhood.
    __device__ word all(word mine) const {
        return mine | __shfl_sync(every_lane, mine, other[0]) | __shfl_sync(every_lane, mine, other[1]);
    }
    /// Returns the number of the lane's row k of three, which are the same one in an image.
    __device__ int row(int k) const { return flat ? lanes + part : lanes * part + k; }
    /// Returns the lane's cells of the neighbourhood.
    __device__ word own() const { return flat ? word{7} << 9 + 3 * part : word{511} << 9 * part; }
};

/// The words of a lane's part of a neighbourhood.
template <class Index>
struct words_of_lane {
    unsigned at;  ///< rows of cells start at the same bit of their words, and may end in the next words
    state low[3]{}, high[3]{};

    /// Starts to read them. Other multiprocessors change the words while the kernel runs, so the loads bypass this
    /// one's L1 cache. Lanes without a cell to test read, too: a condition would make loads wait for those before them.
    __device__ words_of_lane(const state* words, const block_memory<Index>& m, Index cell, const sharing& lanes)
        : at(static_cast<unsigned>((cell - 1) & 31)) {
        Index word_number[3];
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            word_number[k] = (cell + m.step_to[3 * lanes.row(k)]) >> 5;
            if (k == 0 || !lanes.flat) low[k] = __ldcg(words + word_number[k]);
        }
        if (at <= 29) return;
#pragma unroll
        for (int k = 0; k < 3; ++k)
            if (k == 0 || !lanes.flat) high[k] = __ldcg(words + word_number[k] + 1);
    }
    /// Returns the neighbours in the bits that `part` takes from a word.
    template <class Part>
    __device__ word bits(const sharing& lanes, const Part& part) const {
        word found = 0;
#pragma unroll
        for (int k = 0; k < 3; ++k) found |= (__funnelshift_r(part(low[k]), part(high[k]), at) & 7) << 3 * lanes.row(k);
        return found;
    }
};

/// Tests a cell as look_at() does. One of its lanes counts components outside and the others those of the shape, with
/// the same instructions. All lanes of a warp must call it.
__device__ inline verdict look_together(word shape, word before, const rule& by, const sharing& lanes) {
    const bool inside = lanes.part != 0;
    // Either all neighbours count, which touch by faces, edges and corners, or those that touch by faces do.
    const bool by_faces = inside == by.faces;
    const word touching = by_faces ? 0 : cube;
    const word cells = (inside ? shape : ~shape) & (by_faces ? face_cells | edge_cells : round_middle);
    const word faces = cells & face_cells, wanted = by_faces ? faces : cells, start = faces != 0 ? faces : wanted;
    word reached = start & (~start + 1);
    for (word last = 0; last != reached && (reached & wanted) != wanted;) {
        last = reached;
        const word x = reached | (reached & ~x_last) << 1 | (reached & ~x_first) >> 1,
                   from_x = reached | (x & touching);
        const word y = x | (from_x & ~y_last) << 3 | (from_x & ~y_first) >> 3, from_y = reached | (y & touching);
        reached = (y | from_y << 9 | from_y >> 9) & cells;
    }
    const components mine = wanted == 0                    ? components::none
                            : (reached & wanted) == wanted ? components::one
                                                           : components::several;
    const int counts_others = lanes.part == 1 ? lanes.other[1] : lanes.other[0];
    const auto others = static_cast<components>(__shfl_sync(every_lane, static_cast<int>(mine), counts_others));
    if (is_kept_end(shape, before, by)) return verdict::held;
    return verdict_of((inside ? others : mine) == components::one, inside ? mine : others, by.keep);
}

/// The test of one cell per three lanes. All lanes of a warp must call it. With `InBlock` the block works by itself.
template <bool Wraps, bool InBlock, class Index>
class cell_test {
public:
    __device__ cell_test(const thinning_call<Index>& c, block_memory<Index>& m, const step<Index>& s,
                         const sharing& lanes, Index cell)
        : c_(c), m_(m), s_(s), lanes_(lanes), cell_(cell) {
        if constexpr (Wraps) place_ = c.where.place_of(cell), seam_ = c.where.is_on_seam(place_);
    }

    __device__ void run(bool active) {
        const surroundings around = read();
        const verdict looked = look_together(around.shape, around.shape | around.gone, c_.by, lanes_);
        const verdict said = active ? looked : verdict::held;
        if (lanes_.part == 0 && said == verdict::waiting) atomicOr(half(cell_, 1), bit_at(cell_));
        if (lanes_.part == 0 && said == verdict::removed) remove();
        const word wanted = said == verdict::removed ? around.candidates : 0;
        if constexpr (InBlock) list_in_block(lanes_.all(wanted), said == verdict::removed);
        else list(wanted != 0 ? take(wanted) : 0);
    }

private:
    /// Neighbours of a cell: in the shape, candidates among those of the lane, and those removed in this round.
    struct surroundings {
        word shape, candidates, gone;
    };

    /// Finds neighbour n and its turn; returns false if it lies beyond an open end.
    __device__ bool neighbour(int n, Index& other, int& turn) const {
        other = cell_ + m_.step_to[n], turn = m_.turn_of[s_.turn][n];
        if (!seam_) return true;
        place<Index> at;
        if (!c_.where.neighbour(place_, n, at)) return false;
        other = c_.where.bit_of(at), turn = c_.where.turn_of(at);
        return true;
    }

    /// Reads the lane's part of a neighbourhood at a seam, one neighbour at a time.
    __device__ surroundings read_at_seam() const {
        surroundings found{0, 0, 0};
        for (word left = lanes_.own() & round_middle; left != 0; left &= left - 1) {
            const int n = __ffs(static_cast<int>(left)) - 1;
            Index other;
            int turn;
            if (!neighbour(n, other, turn)) continue;
            const state s = __ldcg(c_.states + (other >> 5));
            found.shape |= (shape_of(s) >> (other & 31) & 1) << n;
            found.candidates |= (candidates_of(s) >> (other & 31) & 1) << n;
            found.gone |= (gone_of(s, s_.round) >> (other & 31) & 1) << n;
        }
        return found;
    }

    __device__ surroundings read() const {
        const words_of_lane<Index> states(c_.states, m_, cell_, lanes_);
        const surroundings at_seam = seam_ ? read_at_seam() : surroundings{0, 0, 0};
        const word own = seam_ ? at_seam.shape : states.bits(lanes_, shape_of);
        const word candidates = seam_ ? at_seam.candidates : states.bits(lanes_, candidates_of);
        const word shape = lanes_.all(own);
        // The round depends on the neighbourhood, which has 27 bits, only to make the compiler start all loads before
        // it compares the first word with the round.
        const std::uint32_t round = s_.round + (shape >> 27);
        const auto gone_now = [=](const state& s) { return gone_of(s, round); };
        const word gone = lanes_.all(seam_ ? at_seam.gone : states.bits(lanes_, gone_now));
        return {shape & round_middle, candidates & own & round_middle, gone};
    }

    /// Removes the cell from the shape.
    __device__ void remove() const {
        atomicAnd(half(cell_, 0), ~bit_at(cell_));
        if (c_.by.keep != kept_cells::ends) return;
        // The first operation forgets cells of earlier rounds.
        unsigned long long* const gone = &c_.states[cell_ >> 5].y;
        const auto of_round = static_cast<unsigned long long>(s_.round) << 32;
        atomicMax(gone, of_round), atomicOr(gone, of_round | bit_at(cell_));
    }

    /// Returns a half of the word that has the shape and the candidates.
    __device__ std::uint32_t* half(Index cell, int upper) const {
        return reinterpret_cast<std::uint32_t*>(&c_.states[cell >> 5].x) + upper;
    }
    /// Clears a candidate bit and returns whether it was set.
    __device__ bool take_one(Index cell) const { return (atomicAnd(half(cell, 1), ~bit_at(cell)) & bit_at(cell)) != 0; }

    /// Clears the candidate bits of the lane's neighbours `wanted` and returns those set before: one thread gets each.
    /// All operations are under way before the first result is used.
    __device__ word take(word wanted) const {
        word taken = 0;
        if (seam_) {
            for (; wanted != 0; wanted &= wanted - 1) {
                const int n = __ffs(static_cast<int>(wanted)) - 1;
                Index other;
                int turn;
                if (neighbour(n, other, turn) && take_one(other)) taken |= word{1} << n;
            }
            return taken;
        }
        const auto at = static_cast<unsigned>((cell_ - 1) & 31);
        std::uint32_t low[3]{}, high[3]{};
#pragma unroll
        for (int k = 0; k < 3; ++k) {
            const word row = k == 0 || !lanes_.flat ? wanted >> 3 * lanes_.row(k) & 7 : 0;
            std::uint32_t* const words = half(cell_ + m_.step_to[3 * lanes_.row(k)], 1);
            if (row != 0) low[k] = atomicAnd(words, ~(row << at));
            if (row != 0 && at > 29) high[k] = atomicAnd(words + sizeof(state) / sizeof *words, ~(row >> (32 - at)));
        }
#pragma unroll
        for (int k = 0; k < 3; ++k) taken |= (__funnelshift_r(low[k], high[k], at) & 7) << 3 * lanes_.row(k);
        return taken & wanted;
    }

    /// Lists the lane's neighbours `again` for their turns. A warp reserves space in a list once for all of its cells.
    __device__ void list(word again) const {
        for (; __any_sync(every_lane, again != 0 ? 1 : 0) != 0; again &= again - 1) {
            Index other = 0, at = 0;
            int turn = -1;
            if (again != 0) neighbour(__ffs(static_cast<int>(again)) - 1, other, turn);
            const unsigned same = __match_any_sync(every_lane, turn);
            const int first = __ffs(static_cast<int>(same)) - 1;
            if (turn >= 0 && cuda::lane_of_thread() == first)
                at = atomicAdd(c_.counter(s_.round_of(turn), turn), static_cast<Index>(__popc(same)));
            at = __shfl_sync(every_lane, at, first) + static_cast<Index>(__popc(same & cuda::lanes_before()));
            if (turn >= 0) c_.cells[m_.begin[turn] + at] = other;
        }
    }

    /// Clears the candidate bit of a cell; returns true in the one thread that may list it. A hash table in shared
    /// memory tells which this is, since the result of an atomic operation on the bit would come from the L2 cache.
    __device__ bool take_in_block(int turn, Index cell) const {
        constexpr int most_probes = 8;
        const auto room = static_cast<Index>(c_.room);
        Index* const table = m_.listed + static_cast<Index>(turn) * room;
        const std::uint32_t mixed = static_cast<std::uint32_t>(cell) * 2654435769u;
        auto at = static_cast<Index>(static_cast<std::uint64_t>(mixed) * room >> 32);
        for (int probe = 0; probe < most_probes; ++probe) {
            const Index old = atomicCAS(table + at, Index{0}, cell);
            if (old == 0) atomicAnd(half(cell, 1), ~bit_at(cell));
            if (old == 0 || old == cell) return old == 0;
            if (++at == room) at = 0;
        }
        return take_one(cell);
    }

    /// Lists the candidates `again` of the neighbourhood. The lanes of the cell share them evenly.
    __device__ void list_in_block(word again, bool removed) const {
        const auto room = static_cast<Index>(c_.room);
        for (int i = 0; removed && again != 0; again &= again - 1, ++i) {
            if (i % sharing::lanes != lanes_.part) continue;
            Index other;
            int turn;
            if (!neighbour(__ffs(static_cast<int>(again)) - 1, other, turn) || !take_in_block(turn, other)) continue;
            const Index at = atomicAdd(&m_.counters[s_.round_of(turn) % kept_rounds][turn], Index{1});
            (at < room ? m_.held + static_cast<Index>(turn) * room : c_.cells + m_.begin[turn])[at] = other;
        }
    }

    const thinning_call<Index>& c_;
    block_memory<Index>& m_;
    const step<Index>& s_;
    const sharing& lanes_;
    const Index cell_;
    bool seam_ = false;  ///< the neighbours do not lie at constant offsets
    place<Index> place_{};
};

/// Tests the cells of a step; adjacent groups of cells go to different multiprocessors.
template <bool Wraps, class Index>
__device__ void look_at_all(const thinning_call<Index>& c, block_memory<Index>& m, const step<Index>& s,
                            const sharing& lanes) {
    constexpr Index at_once = sharing::cells;
    const Index stride = blockDim.x / cuda::warp * gridDim.x * at_once;
    const auto cell_at = [&](Index i) {
        if (i >= s.count || lanes.cell == sharing::cells) return c.where.first;
        return __ldcg(c.cells + (i < s.fresh ? s.begin + i : m.begin[s.turn] + (i - s.fresh)));
    };
    Index from = (threadIdx.x / cuda::warp * gridDim.x + blockIdx.x) * at_once, next = cell_at(from + lanes.cell);
    for (; from < s.count; from += stride) {
        const Index i = from + lanes.cell, cell = next;
        next = cell_at(i + stride);
        cell_test<Wraps, false, Index>(c, m, s, lanes, cell).run(i < s.count && lanes.cell < sharing::cells);
    }
}

/// Does the same for a block that works by itself.
template <bool Wraps, class Index>
__device__ void look_in_block(const thinning_call<Index>& c, block_memory<Index>& m, const step<Index>& s,
                              const sharing& lanes) {
    const auto room = static_cast<Index>(c.room), first = static_cast<Index>(s.turn) * room;
    for (Index i = threadIdx.x; i < room; i += blockDim.x) m.listed[first + i] = 0;
    const Index stride = blockDim.x / cuda::warp * sharing::cells;
    for (Index from = threadIdx.x / cuda::warp * sharing::cells; from < s.count; from += stride) {
        const Index i = from + lanes.cell, at = i - s.fresh;
        const bool active = i < s.count && lanes.cell < sharing::cells;
        Index cell = c.where.first;
        if (active && i < s.fresh) cell = __ldcg(c.cells + s.begin + i);
        else if (active) cell = at < room ? m.held[first + at] : __ldcg(c.cells + m.begin[s.turn] + at);
        cell_test<Wraps, true, Index>(c, m, s, lanes, cell).run(active);
    }
}

}  // namespace nearfield::skeleton
