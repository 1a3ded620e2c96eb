// Sweeps over square tiles whose steps lead to several sides, such as diagonal ones. A cone holds the steps that lead
// from a row (or column) to later ones, and not farther aside than ahead. A warp walks the rows of a band in the cone's
// direction, and relaxes each row from the rows before it, so that a walk follows a path for as long as the path stays
// within the cone, whatever obstacles it winds around. All cones of all bands are walked at once.
#pragma once

#include <type_traits>

#include "geodesic/cuda_crossings.cuh"

namespace nearfield::geodesics {

/// Part of a layer, which is a row or a column: the cells around the two of a lane.
template <class Word>
struct layer_part {
    static constexpr int own = 2, width = 6;

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

    /// Relaxes until no step inside the tile improves a cell. All threads of the block call it.
    __device__ void settle() const {
        const std::uint32_t own = 1U << band(), before = is_forward() ? own >> 1 : own << 1 & ((1U << bands) - 1);
        constexpr std::uint32_t every_cone = 0x01010101U;
        static_assert(bits_of_cone == 8 && cones == 4);
        const int shift = layers_are_columns() ? bands : 0;
        // A walk leaves nothing to do for its own cone in its band.
        const std::uint32_t wanted = ((own | before) << shift) * every_cone & ~(own << shift << cone_ * bits_of_cone);
        for (int turn = 0;; turn = turn == 2 ? 0 : turn + 1) {
            __syncthreads();
            const std::uint32_t improved = fresh(m_.count + turn);
            if (improved == 0) return;
            if (threadIdx.x == 0) m_.count[turn == 0 ? 2 : turn - 1] = 0;
            if ((improved & wanted) == 0) continue;
            const std::uint32_t made = walk();
            if (made != 0 && lane_ == 0) atomicOr(m_.count + (turn == 2 ? 0 : turn + 1), made);
        }
    }

private:
    static constexpr int used = Far ? slots : 3, reach = Far ? 3 : 1;
    using part = layer_part<Word>;
    using price_type = std::conditional_t<Pricing == pricing::plain, Word, std::uint32_t>;

    [[nodiscard]] __device__ bool layers_are_columns() const { return cone_ >= 2; }
    [[nodiscard]] __device__ bool is_forward() const { return cone_ % 2 == 0; }
    [[nodiscard]] __device__ int band() const { return static_cast<int>(threadIdx.x) / cuda::warp % bands; }

    [[nodiscard]] __device__ int local(int layer, int cell) const {
        return layers_are_columns() ? cell * sweep_side + layer : layer * sweep_side + cell;
    }
    /// Reads the lane's cells of a layer, in which 0 means a closed cell.
    [[nodiscard]] __device__ part read(int layer) const {
        part p{};
#pragma unroll
        for (int c = 0; c < 2; ++c) {
            const int at = padded(local(layer, 2 * lane_ + c));
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

    /// Relaxes the layers of the band one by one; returns the bits of the bands in which cells improved.
    __device__ std::uint32_t walk() const {
        const int first = is_forward() ? band() * band_layers : (band() + 1) * band_layers - 1,
                  by = is_forward() ? 1 : -1;
        part before[reach];
#pragma unroll
        for (int k = 0; k < reach; ++k) {
            const int layer = first - (k + 1) * by;
            const bool is = layer >= 0 && layer < sweep_side;
            before[k] = read(is ? layer : first), complete(before[k], is);
        }
        bool better = false;
        part next = read(first);
#pragma unroll 2
        for (int i = 0; i < band_layers; ++i) {
            const int layer = first + i * by;
            part now = next;
            if (i + 1 < band_layers) next = read(layer + by);
            better = relax(layer, now, before) || better;
#pragma unroll
            for (int k = reach - 1; k > 0; --k) before[k] = before[k - 1];
            before[0] = now;
        }
        const unsigned all = __ballot_sync(cuda::every_lane, better ? 1 : 0);
        if (all == 0) return 0;
        std::uint32_t aside = 0;
        for (int k = 0; k < bands; ++k) aside |= (all >> 8 * k & 0xffU) != 0 ? 1U << k : 0;
        const std::uint32_t along = 1U << band();
        return (layers_are_columns() ? aside | along << bands : along | aside << bands) << cone_ * bits_of_cone;
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
            lower(m_.key + padded(local(layer, 2 * lane_ + c)), own);
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
    const int cone_ = static_cast<int>(threadIdx.x) / (cuda::warp * bands);
    const int lane_ = static_cast<int>(threadIdx.x) % cuda::warp;
    price_type price_[used];
};

/// Relaxes all steps inside a square tile from its improved cells. All threads of the block call it.
template <pricing Pricing, class Word>
__device__ void settle_sweeps(const work<Word, few_axes>& w, const tile_memory<Pricing, Word>& m,
                              const device_step* steps) {
    if (w.sweeps.reach > 1) sweep<Pricing, Word, true, true>(w, m, steps).settle();
    else if (w.sweeps.masked) sweep<Pricing, Word, false, true>(w, m, steps).settle();
    else sweep<Pricing, Word, false, false>(w, m, steps).settle();
}

}  // namespace nearfield::geodesics
