// Sweeps over cubic tiles of volumes whose steps lead to all neighbours. A warp walks the layers of half a tile in the
// direction of one cone, and relaxes each layer from the one before it. A lane owns eight cells of a layer.
#pragma once

#include "geodesic/cuda_tiles.cuh"

namespace nearfield::geodesics {

/// Walks of one cone over one half of the tile; a warp owns it.
template <class Word>
class volume_sweep {
public:
    __device__ volume_sweep(const work<Word, few_axes>& w, const tile_memory<pricing::plain, Word>& m) : m_(m) {
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const std::uint32_t price = w.sweeps.price[axis_][k];
            price_[k] = price == 0 ? far : static_cast<Word>(price) << w.seed_bits;
        }
    }

    /// Relaxes where the last turn has noted improvements, and notes those of this one; false if there is none.
    __device__ bool turn(const std::uint32_t* noted, std::uint32_t* to_note) const {
        if (axis_ == few_axes) return false;
        std::uint32_t improved = lane_ <= volume_cones ? fresh(noted + lane_) : 0;
        improved = __reduce_or_sync(cuda::every_lane, improved) >> pairs * axis_ & ((1U << pairs) - 1);
        const std::uint32_t todo = (improved | (is_forward() ? improved << 1 : improved >> 1)) & own();
        const std::uint32_t made = todo != 0 ? walk(todo) : 0;
        if (made != 0 && lane_ == 0) atomicOr(to_note + cone_, made);
        return made != 0;
    }

private:
    static constexpr int side = volume_side, bits = device_tile_bits / few_axes, cells = side / 2, pairs = side / 2;
    static constexpr Word far = work<Word, few_axes>::far;

    [[nodiscard]] __device__ bool is_forward() const { return cone_ % 2 == 0; }
    [[nodiscard]] __device__ int row_axis() const { return axis_ == 0 ? 1 : 0; }
    [[nodiscard]] __device__ int cell_axis() const { return axis_ == 2 ? 1 : 2; }
    /// Returns the pairs of layers of the warp's half.
    [[nodiscard]] __device__ std::uint32_t own() const { return warp_ % 2 == 0 ? 15 : 15 << pairs / 2; }
    /// Returns where the lane's first cell of a layer is stored. Its next ones follow at distance step_.
    [[nodiscard]] __device__ int start_of(int layer) const {
        return first_ + padded(layer << bits * (few_axes - 1 - axis_));
    }
    [[nodiscard]] __device__ int first_place() const {
        const int row = lane_ / 2, along = lane_ % 2 * cells;
        return padded(row << bits * (few_axes - 1 - row_axis())) + padded(along << bits * (few_axes - 1 - cell_axis()));
    }
    __device__ void read(int layer, Word (&key)[cells]) const {
#pragma unroll
        for (int i = 0; i < cells; ++i) key[i] = fresh(m_.key + start_of(layer) + i * step_);
    }
    /// Gives closed cells, or all if the layer is not in the tile, the key of cells that no path is known to reach.
    static __device__ void complete(Word (&key)[cells], bool is) {
#pragma unroll
        for (int i = 0; i < cells; ++i)
            if (!is || key[i] == 0) key[i] = far;
    }

    /// Relaxes the layers of these pairs, those between them, and those behind layers that improve. Returns the pairs
    /// of layers along each axis in which cells improved.
    __device__ std::uint32_t walk(std::uint32_t todo) const {
        const int by = is_forward() ? 1 : -1, low = 2 * (__ffs(static_cast<int>(todo)) - 1),
                  high = 2 * (cuda::warp - 1 - __clz(static_cast<int>(todo))) + 1;
        const int first = warp_ % 2 * cells, end = is_forward() ? first + cells : first - 1;
        int layer = is_forward() ? low : high, left = high - low + 1;
        const bool is = layer - by >= 0 && layer - by < side;
        Word before[cells];
        read(is ? layer - by : layer, before), complete(before, is);
        std::uint32_t made = 0;
#pragma unroll 1
        for (; layer != end && left > 0; layer += by, --left) {
            const std::uint32_t better = relax(layer, before);
            if (better != 0) made |= better | 1U << (pairs * axis_ + layer / 2);
            if (left == 1 && __reduce_or_sync(cuda::every_lane, better) != 0) ++left;
        }
        if (made != 0) made |= 1U << (pairs * row_axis() + lane_ / 4);
        return __reduce_or_sync(cuda::every_lane, made);
    }
    /// Relaxes a layer from the one before it, which it replaces. Returns the pairs of layers along the axis of a
    /// lane's cells in which they improved.
    __device__ std::uint32_t relax(int layer, Word (&before)[cells]) const {
        Word now[cells];
        read(layer, now);
        const Word low = __shfl_up_sync(cuda::every_lane, before[cells - 1], 1),
                   high = __shfl_down_sync(cuda::every_lane, before[0], 1);
        Word last = lane_ % 2 == 1 ? low : far;
        std::uint32_t better = 0;
#pragma unroll
        for (int i = 0; i < cells; ++i) {
            const Word own = before[i];
            const Word next = i + 1 < cells ? before[i + 1 < cells ? i + 1 : 0] : lane_ % 2 == 0 ? high : far;
            const Word aside = min(last, next), row = min(own + price_[2], aside + price_[3]);
            const Word above = __shfl_up_sync(cuda::every_lane, row, 2),
                       below = __shfl_down_sync(cuda::every_lane, row, 2);
            Word best = min(own + price_[0], aside + price_[1]);
            if (lane_ >= 2) best = min(best, above);
            if (lane_ < cuda::warp - 2) best = min(best, below);
            last = own, before[i] = now[i];
            if (best >= now[i]) continue;  // a closed cell has 0
            before[i] = best, better |= 1U << (pairs * cell_axis() + lane_ % 2 * (cells / 2) + i / 2);
            lower(m_.key + start_of(layer) + i * step_, best);
        }
        complete(before, true);
        return better;
    }

    const tile_memory<pricing::plain, Word>& m_;
    const int warp_ = own_warp(), lane_ = static_cast<int>(threadIdx.x) % cuda::warp;
    const int cone_ = warp_ / 2, axis_ = warp_ / 4;  ///< axis: few_axes for the warps that have nothing to do
    const int first_ = first_place(), step_ = padded(1 << bits * (few_axes - 1 - cell_axis()));
    Word price_[4];
};

}  // namespace nearfield::geodesics
