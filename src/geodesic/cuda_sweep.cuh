// Sweeps over square tiles whose steps lead to several sides, such as diagonal ones. A cone holds the steps that lead
// from a row (or column) to later ones, and not farther aside than ahead. A warp walks the rows of a band in the cone's
// direction, and relaxes each row from the rows before it, so that a walk follows a path for as long as the path stays
// within the cone, whatever obstacles it winds around. All cones of all bands are walked at once.
#pragma once

#include <type_traits>

#include "geodesic/cuda_crossings.cuh"
#include "geodesic/cuda_sweep_volume.cuh"

namespace nearfield::geodesics {

/// Part of a layer, which is a row or a column: the cells around the two of a lane.
template <class Word>
struct layer_part {
    static constexpr int own = 2, width = 6;

    int start;        ///< where the layer's first cell is stored
    Word key[width];  ///< `far` for closed cells and beyond the tile
    cell_value value[width];

    /// Gets the cells beside those of the lane, one or two on each side.
    template <pricing Pricing>
    __device__ void widen(bool twice) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const auto take = [&](int to, int from, bool up, bool is) {
            const auto moved = [&](auto v) {
                return up ? __shfl_up_sync(cuda::every_lane, v, 1) : __shfl_down_sync(cuda::every_lane, v, 1);
            };
            const Word other = moved(key[from]);
            key[to] = is ? other : work<Word, few_axes>::far;
            if constexpr (Pricing != pricing::plain) value[to].cost = moved(value[from].cost);
            if constexpr (Pricing == pricing::tight) value[to].total = moved(value[from].total);
        };
        take(own - 1, own + 1, true, lane > 0), take(own + 2, own, false, lane < cuda::warp - 1);
        if (twice) take(own - 2, own, true, lane > 0), take(own + 3, own + 1, false, lane < cuda::warp - 1);
    }
};

/// Walks of one cone over one band; a warp owns it. `Far`: steps lead up to three layers ahead, else one. `Masked`:
/// some steps pass cells that must be open.
template <pricing Pricing, class Word, bool Far, bool Masked>
class sweep {
public:
    __device__ sweep(const work<Word, few_axes>& w, const tile_memory<Pricing, Word>& m, const device_step* steps)
        : w_(w), m_(m) {
#pragma unroll
        for (int s = 0; s < used; ++s) {
            const int step = w.sweeps.step[cone_][s];
            constexpr bool plain = Pricing == pricing::plain;  // else prices are multiplied, and none is infinite
            if (step < 0) price_[s] = plain ? work<Word, few_axes>::far : ~price_type{0};
            else price_[s] = static_cast<price_type>(steps[step].price) << (plain ? w.seed_bits : 0);
        }
        if constexpr (Masked) write_masks(steps);
    }

    /// Relaxes where the last turn has noted improvements, and notes those of this one; false if there is none.
    __device__ bool turn(const std::uint32_t* noted, std::uint32_t* to_note) const {
        const std::uint32_t pairs = pairs_to_relax(noted);
        return pairs != 0 && walk(pairs, to_note + 2 * cone_);
    }

private:
    static constexpr int used = Far ? slots : 3, reach = Far ? 3 : 1;
    using part = layer_part<Word>;
    using price_type = std::conditional_t<Pricing == pricing::plain, Word, std::uint32_t>;

    [[nodiscard]] __device__ bool layers_are_columns() const { return cone_ >= 2; }
    [[nodiscard]] __device__ bool is_forward() const { return cone_ % 2 == 0; }
    [[nodiscard]] __device__ int band() const { return warp_ % bands; }

    /// Returns where a cell of the first layer is stored. The bits of a cell and of a layer are disjoint, so that in
    /// another layer it is stored as far behind that layer's start.
    [[nodiscard]] __device__ int place_in_first(int cell) const {
        return padded(layers_are_columns() ? cell * sweep_side : cell);
    }
    /// Reads the lane's cells of a layer, in which 0 means a closed cell.
    [[nodiscard]] __device__ part read(int layer) const {
        part p{};
        p.start = padded(layers_are_columns() ? layer : layer * sweep_side);
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const int at = p.start + at_[c];
            p.key[part::own + c] = fresh(m_.key + at), p.value[part::own + c] = m_.value(at);
        }
        return p;
    }
    /// Completes a layer that was read, or makes one that is not in the tile.
    __device__ void complete(part& p, bool is) const {
#pragma unroll
        for (int c = part::own; c < part::own + 2; ++c)
            if (!is || p.key[c] == 0) p.key[c] = work<Word, few_axes>::far;
        p.template widen<Pricing>(Far && is_far());
    }
    /// True if some steps lead three layers ahead.
    [[nodiscard]] __device__ bool is_far() const { return w_.sweeps.reach > 2; }

    /// Returns the pairs of layers of the band behind layers in which cells improved.
    [[nodiscard]] __device__ std::uint32_t pairs_to_relax(const std::uint32_t* noted) const {
        constexpr int pairs = band_layers / 2;
        const std::uint32_t own = ((1U << pairs) - 1) << band() * pairs;
        std::uint32_t improved = 0;
        if (lane_ < note_writers) improved = fresh(noted + 2 * lane_ + (layers_are_columns() ? 1 : 0));
        improved = __reduce_or_sync(cuda::every_lane, improved);
        const auto ahead_by = [&](int by) { return is_forward() ? improved << by : improved >> by; };
        return (improved | ahead_by(1) | (Far ? ahead_by(2) : 0)) & own;
    }
    /// Relaxes the layers of these pairs of the band, those between them, and those behind layers that improve. Notes
    /// where cells improve; false if none does.
    __device__ bool walk(std::uint32_t pairs, std::uint32_t* noted) const {
        const int by = is_forward() ? 1 : -1, low = 2 * (__ffs(static_cast<int>(pairs)) - 1),
                  high = 2 * (cuda::warp - 1 - __clz(static_cast<int>(pairs))) + 1;
        const int end = is_forward() ? (band() + 1) * band_layers : band() * band_layers - 1;
        int layer = is_forward() ? low : high, left = high - low + 1;
        part before[reach];
#pragma unroll
        for (int k = 0; k < reach; ++k) {
            const int behind = layer - (k + 1) * by;
            const bool is = behind >= 0 && behind < sweep_side;
            before[k] = read(is ? behind : layer), complete(before[k], is);
        }
        std::uint32_t along = 0;
        bool better = false;
        part next = read(layer);
#pragma unroll 2
        for (; layer != end && left > 0; layer += by, --left) {
            part now = next;
            if (layer + by != end) next = read(layer + by);
            const bool is = relax(layer, now, before);
            if (is) along |= 1U << layer / 2;
            better = better || is;
            if (left <= reach && __reduce_or_sync(cuda::every_lane, is ? 1U : 0U) != 0) left = reach + 1;
#pragma unroll
            for (int k = reach - 1; k > 0; --k) before[k] = before[k - 1];
            before[0] = now;
        }
        const std::uint32_t aside = __ballot_sync(cuda::every_lane, better ? 1 : 0);
        along = __reduce_or_sync(cuda::every_lane, along);
        if (aside == 0) return false;
        if (lane_ == 0) atomicOr(noted, layers_are_columns() ? aside : along);
        if (lane_ == 1) atomicOr(noted + 1, layers_are_columns() ? along : aside);
        return true;
    }

    /// Relaxes a layer, which then has its neighbours; true if a cell of the lane improved.
    __device__ bool relax(int layer, part& now, const part (&before)[reach]) const {
        Word best[2];
#pragma unroll
        for (int c = 0; c < 2; ++c) best[c] = now.key[part::own + c];
#pragma unroll
        for (int s = 0; s < used; ++s) {
            if (ahead(s) > 2 && !is_far()) break;
            const unsigned open = mask_of(s, layer);
#pragma unroll
            for (int c = 0; c < 2; ++c) {
                const int from = part::own + c - aside(s);
                const part& p = before[ahead(s) - 1];
                const Word offered = p.key[from] + price(s, p.value[from], now.value[part::own + c]);
                if ((open >> c & 1) != 0) best[c] = min(best[c], offered);
            }
        }
        bool better = false;
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            Word& own = now.key[part::own + c];
            if (best[c] >= own) continue;  // a closed cell has 0
            own = best[c], better = true;
            lower(m_.key + now.start + at_[c], own);
        }
        complete(now, true);
        return better;
    }
    [[nodiscard]] __device__ Word price(int s, const cell_value& from, const cell_value& to) const {
        if constexpr (Pricing == pricing::plain) return price_[s];
        else return price_of<Pricing>(w_, price_[s], from, to);
    }

    // ---- cells that steps pass ----

    /// Returns two bits that say whether the cells that step s passes on the way to the lane's cells are open.
    [[nodiscard]] __device__ unsigned mask_of(int s, int layer) const {
        if (!Masked || s == 0) return 3;
        return masks()[2 * mask_at(cone_, s, layer) + lane_ / 16] >> (lane_ % 16 * 2);
    }
    [[nodiscard]] static __device__ int mask_at(int cone, int s, int layer) {
        return (cone * (used - 1) + s - 1) * sweep_side + layer;
    }
    /// Masks and boards use the memory of lists, which sweeps do without.
    [[nodiscard]] __device__ std::uint32_t* masks() const { return reinterpret_cast<std::uint32_t*>(m_.list); }
    /// Writes the open cells of all rows and columns as bits, and the masks of all steps that pass cells.
    __device__ void write_masks(const device_step* steps) const {
        for (int i = static_cast<int>(threadIdx.x); i < 2 << device_tile_bits; i += threads_of_tile) {
            const int layer = i / sweep_side % sweep_side, cell = i % sweep_side;
            const bool columns = i >> device_tile_bits != 0;
            const Word key = m_.key[padded(columns ? cell * sweep_side + layer : layer * sweep_side + cell)];
            const unsigned open = __ballot_sync(cuda::every_lane, key != 0 ? 1 : 0);
            if (lane_ == 0) m_.marks[i / cuda::warp] = open;
        }
        __syncthreads();
        for (int i = static_cast<int>(threadIdx.x); i < cones * (used - 1) * sweep_side; i += threads_of_tile) {
            const int layer = i % sweep_side, s = i / sweep_side % (used - 1) + 1, cone = i / sweep_side / (used - 1);
            const int number = w_.sweeps.step[cone][s], axis = cone >= 2 ? few_axes - 1 : few_axes - 2;
            std::uint64_t open = ~std::uint64_t{0};
            for (std::uint32_t b = 0; number >= 0 && b < steps[number].between; ++b) {
                const vector_of_step& by = w_.between[steps[number].first_between + b].by;
                const int at = layer + by[axis] - (cone % 2 == 0 ? ahead(s) : -ahead(s));
                const int shift = by[2 * few_axes - 3 - axis] - aside(s);
                const std::uint32_t* const row = m_.marks + 2 * (at + (cone >= 2 ? sweep_side : 0));
                const bool is = at >= 0 && at < sweep_side;
                const std::uint64_t board = is ? std::uint64_t{row[1]} << cuda::warp | row[0] : 0;
                open &= shift >= 0 ? board >> shift : board << -shift;
            }
            masks()[2 * i] = static_cast<std::uint32_t>(open),
                        masks()[2 * i + 1] = static_cast<std::uint32_t>(open >> cuda::warp);
        }
    }

    const work<Word, few_axes>& w_;
    const tile_memory<Pricing, Word>& m_;
    const int warp_ = own_warp(), cone_ = warp_ / bands;
    const int lane_ = static_cast<int>(threadIdx.x) % cuda::warp;
    const int at_[2] = {place_in_first(2 * lane_), place_in_first(2 * lane_ + 1)};
    price_type price_[used];
};

/// Takes turns until no step inside the tile improves a cell. All threads of the block call it.
template <class Sweep>
__device__ void sweep_all(const Sweep& sweep, std::uint32_t* noted) {
    bool any = true;
    for (int turn = 0; __syncthreads_or(any ? 1 : 0) != 0; turn = turn == 2 ? 0 : turn + 1) {
        const int next = turn == 2 ? 0 : turn + 1, used_up = turn == 0 ? 2 : turn - 1;
        if (threadIdx.x < notes) noted[used_up * notes + static_cast<int>(threadIdx.x)] = 0;
        any = sweep.turn(noted + turn * notes, noted + next * notes);
    }
}

/// Relaxes all steps inside a tile from its noted cells. All threads of the block call it.
template <pricing Pricing, class Word>
__device__ void settle_sweeps(const work<Word, few_axes>& w, const tile_memory<Pricing, Word>& m,
                              const device_step* steps) {
    if constexpr (Pricing == pricing::plain)
        if (w.sweeps.volume) return sweep_all(volume_sweep<Word>(w, m), m.noted);
    if (w.sweeps.reach > 1) sweep_all(sweep<Pricing, Word, true, true>(w, m, steps), m.noted);
    else if (w.sweeps.masked) sweep_all(sweep<Pricing, Word, false, true>(w, m, steps), m.noted);
    else sweep_all(sweep<Pricing, Word, false, false>(w, m, steps), m.noted);
}

}  // namespace nearfield::geodesics
