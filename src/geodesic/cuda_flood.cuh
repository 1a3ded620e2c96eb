// Solves square tiles whose steps go along the axes for one price. A visit floods the tile anew from its
// seeds and the keys around it, whatever keys it has inside, and lowers those. Two blocks may have the same tile at
// once, as in cuda_relax.cuh: both offer every key of a face that they have computed.
#pragma once

#include <cstring>

#include "geodesic/cuda_front.cuh"
#include "geodesic/cuda_relax.cuh"

namespace nearfield::geodesics {

using flood_work = work<std::uint32_t, few_axes>;

/// A visit of a tile.
class tile_flood {
public:
    __device__ tile_flood(const flood_work& w, flood_memory& m, std::int64_t tile)
        : w_(w), m_(m), first_(tile << device_tile_bits), price_(w.families[0].price) {
        std::int64_t rest = tile, stride = 1;
#pragma unroll
        for (int i = 0; i < 2; ++i) {
            const std::int64_t along = w.where.tiles_along[few_axes - 1 - i], up = quotient(rest, along);
            const std::int64_t at = rest - up * along;
            beside_[2 * i] = at > 0 ? tile - stride : -1, beside_[2 * i + 1] = at + 1 < along ? tile + stride : -1;
            rest = up, stride *= along;
        }
        take_offers(w.boards + (tile << (device_tile_bits - 4)) + threadIdx.x * words_of_lane);
    }

    /// Floods the tile, once for each range of flood_levels.
    __device__ void run(std::uint32_t depth) {
        for (std::uint32_t base = 0;; base += flood_levels) {
            std::uint32_t enters[faces_of_lane];
            if (__any_sync(cuda::every_lane, found_.any() ? 1 : 0) == 0) base = least_offer(base);
            if (base == none) return;
#pragma unroll
            for (int i = 0; i < faces_of_lane; ++i) enters[i] = offer_[i] >= base ? offer_[i] - base : none;
            lane_bits reached = todo_;
            level_planes levels{};
            advance(enters, todo_, found_, levels);
#pragma unroll
            for (int k = 0; k < words_of_lane; ++k) reached.word[k] &= ~todo_.word[k];
            __syncwarp();
            levels.write(m_, reached);
            __syncwarp();
            publish(base, depth);
            lower_keys(base);
            __syncwarp();
        }
    }

private:
    static constexpr std::uint32_t none = ~0U;

    [[nodiscard]] __device__ std::uint32_t* across(int face, int cell) const {
        return w_.key + (beside_[face] << device_tile_bits) + cell;
    }
    /// Reads the tile's cells and the keys around it.
    __device__ void take_offers(const std::uint32_t* board) {
        std::uint32_t key[faces_of_lane];
        for_faces(
            [&](int i, int face, int, int other) { key[i] = beside_[face] < 0 ? 0 : fresh(across(face, other)); });
#pragma unroll
        for (int k = 0; k < words_of_lane; ++k) {
            todo_.word[k] = board[k], found_.word[k] = board[k + (1 << (device_tile_bits - 5))];
        }
#pragma unroll
        for (int i = 0; i < faces_of_lane; ++i) {
            const bool is = key[i] != 0 && key[i] < flood_work::far && key[i] + price_ <= w_.limit;
            offer_[i] = is ? (price_ == 1 ? key[i] : (key[i] - 1) / price_ + 1) : none;
        }
    }

    /// Returns the least level of an offer from `base` on, or none.
    [[nodiscard]] __device__ std::uint32_t least_offer(std::uint32_t base) const {
        std::uint32_t least = none;
#pragma unroll
        for (int i = 0; i < faces_of_lane; ++i)
            if (offer_[i] >= base) least = min(least, offer_[i]);
        return __reduce_min_sync(cuda::every_lane, least);
    }

    /// Returns a cell's key; far if this flood has not reached it.
    [[nodiscard]] __device__ std::uint32_t key_of(int cell, std::uint32_t base) const {
        const std::uint32_t level = m_.level(cell);
        return level == no_level ? flood_work::far : (base + level) * price_ + 1;
    }
    /// Writes the keys of the faces, and then queues the tiles that they improve.
    __device__ void publish(std::uint32_t base, std::uint32_t depth) const {
        for_faces([&](int, int, int cell, int) {
            if (m_.level(cell) != no_level) lower(w_.key + first_ + cell, key_of(cell, base));
        });
        __threadfence();
        __syncwarp();
        std::uint32_t other[faces_of_lane];
        for_faces(
            [&](int i, int face, int, int there) { other[i] = beside_[face] < 0 ? 0 : fresh(across(face, there)); });
        unsigned improved = 0;
        for_faces([&](int i, int face, int cell, int) {
            const std::uint32_t offered = key_of(cell, base) + price_;
            if (m_.level(cell) != no_level && offered <= w_.limit && offered < other[i]) improved |= 1U << face;
        });
        improved = __reduce_or_sync(cuda::every_lane, improved);
#pragma unroll
        for (int face = 0; face < faces; ++face)
            if (static_cast<int>(threadIdx.x) == face && (improved >> face & 1) != 0)
                wake(w_.queue, beside_[face], depth);
    }
    /// Lowers the keys of the cells that the flood has reached.
    __device__ void lower_keys(std::uint32_t base) const {
        constexpr int at_once = static_cast<int>(sizeof(uint4) / sizeof(std::uint32_t)), cells = 1 << device_tile_bits;
        constexpr int loads = 8;  // under way at the same time
        for (int first = static_cast<int>(threadIdx.x) * at_once; first < cells;
             first += loads * cuda::warp * at_once) {
            uint4 known[loads];
            std::uint32_t* const key = w_.key + first_ + first;
#pragma unroll
            for (int i = 0; i < loads; ++i)
                known[i] = __ldcg(reinterpret_cast<const uint4*>(key + i * cuda::warp * at_once));
#pragma unroll
            for (int i = 0; i < loads * at_once; ++i) {
                const int at = i / at_once * cuda::warp * at_once + i % at_once;
                std::uint32_t old[at_once];
                std::memcpy(old, known + i / at_once, sizeof old);
                if (const std::uint32_t own = key_of(first + at, base); own < old[i % at_once]) lower(key + at, own);
            }
        }
    }

    const flood_work& w_;
    flood_memory& m_;
    std::int64_t first_, beside_[faces];  ///< place of the tile's first cell; neighbouring tiles by face, or -1
    std::uint32_t price_,
        offer_[faces_of_lane];  ///< offer_: level at which a neighbour enters a cell of a face; or none
    lane_bits todo_, found_;    ///< cells that are still to be reached; those that are reached next
};

/// Does what relax() does, for masks that work::floods() admits. A block is one warp.
__global__ void __launch_bounds__(cuda::warp) flood(const __grid_constant__ flood_work w) {
    __shared__ flood_memory m;
    if (!w.floods()) return;
    take_turns(w, [&](std::int64_t tile, std::uint32_t depth, const auto& mark, std::uint32_t*) {
        if (threadIdx.x == 0) mark();
        __syncwarp();
        tile_flood(w, m, tile).run(depth + 1);
    });
}

}  // namespace nearfield::geodesics
