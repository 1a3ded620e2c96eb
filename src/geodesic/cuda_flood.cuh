// Solves tiles of 64^2 and 16^3 cells whose steps go along their sides for one price, as bits. A visit floods the tile
// anew from its seeds and the keys around it, whatever keys it has inside, and lowers those. Two blocks may have the
// same tile at once, as in cuda_relax.cuh: both offer every key of a face that they have computed.
#pragma once

#include "geodesic/cuda_relax.cuh"

namespace nearfield::geodesics {

using flood_work = work<std::uint32_t, few_axes>;

/// A thread owns a word of 32 cells: half of a row of 64, or two rows of 16. The front moves from level to level; a
/// cell's level is the number of steps to it, from the base of a flood on.
inline constexpr int flood_threads = (1 << device_tile_bits) / 32;
inline constexpr int level_bits = 12, levels_at_once = 4, levels_ahead = 32;
/// Levels of one flood; a cell has `no_level` if the flood does not reach it.
inline constexpr std::uint32_t flood_levels = (1U << level_bits) - levels_ahead, no_level = (1U << level_bits) - 1;

/// A block keeps this of a tile in shared memory.
struct flood_memory {
    static constexpr int margin = 8;  ///< words of no cells before the tile's first word and behind its last one

    std::uint32_t front[2][flood_threads + 2 * margin];  ///< cells of this level and of the one before
    std::uint32_t enters[levels_ahead][flood_threads];   ///< cells that neighbouring tiles enter at the next levels
    std::uint32_t pairs[(1 << (device_tile_bits - 1)) + flood_threads];  ///< levels of two cells
    std::int64_t beside[2 * few_axes];                                   ///< neighbouring tiles by face, or -1
    std::uint32_t least, improved;

    /// Index of a cell's pair; a thread's cells begin in a bank of their own.
    static __device__ int pair_of(int cell) { return cell / 2 + cell / 32; }
    [[nodiscard]] __device__ std::uint32_t level(int cell) const {
        return pairs[pair_of(cell)] >> cell % 2 * 16 & 0xffffU;
    }
};

/// Transposes both halves of the words as matrices of 16 x 16 bits.
__device__ inline void transpose(std::uint32_t (&row)[16]) {
    constexpr std::uint32_t masks[] = {0x55555555, 0x33333333, 0x0f0f0f0f, 0x00ff00ff};
#pragma unroll
    for (int step = 3; step >= 0; --step) {
        const int by = 1 << step;
#pragma unroll
        for (int i = 0; i < 16; ++i) {
            if ((i & by) != 0) continue;
            const std::uint32_t change = (row[i] >> by ^ row[i | by]) & masks[step];
            row[i] ^= change << by, row[i | by] ^= change;
        }
    }
}

/// The shape of a tile: an image's, or a volume's.
template <bool Volume>
struct flood_tile {
    static constexpr int axes = Volume ? 3 : 2, side_bits = device_tile_bits / axes, side = 1 << side_bits;
    static constexpr int face_cells = (1 << device_tile_bits) / side, faces = 2 * axes;
    static constexpr int faces_of_thread = faces * face_cells / flood_threads;

    /// Calls use(i, face, cell, other) for the cells of faces that a thread has; `other` is the cell across the face,
    /// in the neighbouring tile. Faces number axes from the last one on: the first cells along an axis, then the last.
    template <class Use>
    static __device__ void for_faces(const Use& use) {
#pragma unroll
        for (int i = 0; i < faces_of_thread; ++i) {
            const int at = i * flood_threads + static_cast<int>(threadIdx.x), face = at / face_cells,
                      k = at % face_cells, shift = face / 2 * side_bits;
            const int base = k >> shift << (shift + side_bits) | (k & ((1 << shift) - 1)), last = (side - 1) << shift;
            use(i, face, base + face % 2 * last, base + (1 - face % 2) * last);
        }
    }
    /// Returns the cells beside those of the front, of which `own` are the thread's.
    static __device__ std::uint32_t beside(const std::uint32_t* front, std::uint32_t own) {
        const int word = static_cast<int>(threadIdx.x);
        constexpr int up = Volume ? 8 : 2;  // words to the next plane, or row
        const std::uint32_t* const at = front + flood_memory::margin + word;
        std::uint32_t to = at[-up] | at[up];
        if constexpr (Volume) {
            to |= (own << 1 & 0xfffefffeU) | (own >> 1 & 0x7fff7fffU) | own << 16 | own >> 16;
            if (word % up != 0) to |= at[-1] >> 16;
            if (word % up != up - 1) to |= at[1] << 16;
        } else {
            to |= own << 1 | own >> 1;
            to |= word % up != 0 ? at[-1] >> 31 : at[1] << 31;
        }
        return to;
    }
};

/// A visit of a tile. All threads of a block call its functions.
template <bool Volume>
class tile_flood : flood_tile<Volume> {
    using shape = flood_tile<Volume>;

public:
    /// One thread calls mark(), which says that the tile no longer waits; keys of other tiles are read after that.
    template <class Mark>
    __device__ tile_flood(const flood_work& w, flood_memory& m, std::int64_t tile, const Mark& mark)
        : w_(w), m_(m), first_(tile << device_tile_bits), price_(w.families[0].price) {
        if (threadIdx.x == 0) mark();
        if (threadIdx.x == cuda::warp) find_neighbours(tile);
        __syncthreads();
        take_offers(w.boards + (tile << (device_tile_bits - 4)) + threadIdx.x);
    }

    /// Floods the tile, once for each range of flood_levels or somewhat more.
    __device__ void run(std::uint32_t depth) {
        for (std::uint32_t base = 0, levels = 0;; base += levels) {
            if (__syncthreads_or(found_ != 0 ? 1 : 0) == 0) base = least_offer(base);
            if (base == none) return;
            const std::uint32_t before = todo_;
            levels = advance(base);
            write_levels(before & ~todo_);
            __syncthreads();
            publish(base, depth);
            lower_keys(base);
            __syncthreads();
        }
    }

private:
    static constexpr std::uint32_t none = ~0U;

    __device__ void find_neighbours(std::int64_t tile) const {
        std::int64_t rest = tile, stride = 1;
        for (int i = 0; i < shape::axes; ++i) {
            const std::int64_t along = w_.where.tiles_along[few_axes - 1 - i], up = quotient(rest, along);
            const std::int64_t at = rest - up * along;
            m_.beside[2 * i] = at > 0 ? tile - stride : -1, m_.beside[2 * i + 1] = at + 1 < along ? tile + stride : -1;
            rest = up, stride *= along;
        }
    }
    [[nodiscard]] __device__ std::uint32_t* across(int face, int cell) const {
        return w_.key + (m_.beside[face] << device_tile_bits) + cell;
    }
    /// Reads the tile's cells and the keys around it.
    __device__ void take_offers(const std::uint32_t* board) {
        std::uint32_t key[shape::faces_of_thread];
        shape::for_faces(
            [&](int i, int face, int, int other) { key[i] = m_.beside[face] < 0 ? 0 : fresh(across(face, other)); });
        todo_ = board[0], found_ = board[flood_threads];
#pragma unroll
        for (int i = 0; i < shape::faces_of_thread; ++i) {
            const bool is = key[i] != 0 && key[i] < flood_work::far && key[i] + price_ <= w_.limit;
            offer_[i] = is ? (price_ == 1 ? key[i] : (key[i] - 1) / price_ + 1) : none;
        }
    }
    /// Returns the least level of an offer from `base` on, or none.
    [[nodiscard]] __device__ std::uint32_t least_offer(std::uint32_t base) {
        std::uint32_t least = none;
#pragma unroll
        for (int i = 0; i < shape::faces_of_thread; ++i)
            if (offer_[i] >= base) least = min(least, offer_[i]);
        if (threadIdx.x == 0) m_.least = none;
        __syncthreads();
        least = __reduce_min_sync(cuda::every_lane, least);
        if (threadIdx.x % cuda::warp == 0) atomicMin(&m_.least, least);
        __syncthreads();
        return __reduce_min_sync(cuda::every_lane, m_.least);
    }

    /// Lists the cells that neighbouring tiles enter at the levels_ahead levels from `from` on.
    __device__ void list_entries(std::uint32_t from) {
        const int own = static_cast<int>(threadIdx.x);
#pragma unroll
        for (int l = 0; l < levels_ahead; ++l) m_.enters[l][own] = 0;
        __syncthreads();
        shape::for_faces([&](int i, int, int cell, int) {
            if (const std::uint32_t level = offer_[i] - from; level < levels_ahead)
                atomicOr(&m_.enters[level][cell / 32], 1U << cell % 32);
        });
        __syncthreads();
    }
    /// Notes that the level changes, in the bits `changed`, before the cells that are left are reached.
    __device__ void turn(std::uint32_t changed) {
#pragma unroll
        for (int b = 0; b < level_bits; ++b) {
            if (changed >> b == 0) return;
            if ((changed >> b & 1) != 0) plane_[b] ^= todo_;
        }
    }
    /// Moves the front from the cells found_ at level 0 until no level below flood_levels is left. Returns the level at
    /// which it goes on, which may be up to levels_ahead - 1 above flood_levels.
    __device__ std::uint32_t advance(std::uint32_t base) {
        const int own = static_cast<int>(threadIdx.x);
#pragma unroll
        for (std::uint32_t& plane : plane_) plane = 0;
        std::uint32_t now = 0;
        while (now < flood_levels) {
            list_entries(base + now);
            std::uint32_t level = 0;
            bool goes_on = true;
            for (; goes_on && level < levels_ahead; level += levels_at_once) {
#pragma unroll
                for (std::uint32_t s = 0; s < levels_at_once; ++s) {
                    const std::uint32_t found = (found_ | m_.enters[level + s][own]) & todo_;
                    std::uint32_t* const front = m_.front[s % 2];
                    todo_ ^= found, front[flood_memory::margin + own] = found;
                    if (s + 1 < levels_at_once) __syncthreads();
                    else goes_on = __syncthreads_or(found != 0 ? 1 : 0) != 0;
                    found_ = shape::beside(front, found);
                    turn(s ^ (s + 1) % levels_at_once);
                }
                turn((now + level) ^ (now + level + levels_at_once));
            }
            const std::uint32_t reached = now + level;
            std::uint32_t to = reached;
            if (!goes_on) to = (min(least_offer(base + reached) - base, flood_levels)) & ~(levels_at_once - 1U);
            turn(reached ^ to);
            now = to;
        }
        return now;
    }
    /// Writes the levels of the cells `reached`, and no_level for the others.
    __device__ void write_levels(std::uint32_t reached) const {
        std::uint32_t row[16];
#pragma unroll
        for (int b = 0; b < 16; ++b) row[b] = b < level_bits ? plane_[b < level_bits ? b : 0] | ~reached : 0;
        transpose(row);
        std::uint32_t* const to = m_.pairs + flood_memory::pair_of(static_cast<int>(threadIdx.x) * 32);
#pragma unroll
        for (int i = 0; i < 8; ++i) {
            to[i] = __byte_perm(row[2 * i], row[2 * i + 1], 0x5410);
            to[i + 8] = __byte_perm(row[2 * i], row[2 * i + 1], 0x7632);
        }
    }

    /// Returns a cell's key; far if this flood has not reached it.
    [[nodiscard]] __device__ std::uint32_t key_of(int cell, std::uint32_t base) const {
        const std::uint32_t level = m_.level(cell);
        return level == no_level ? flood_work::far : (base + level) * price_ + 1;
    }
    /// Writes the keys of the faces, and then queues the tiles that they improve.
    __device__ void publish(std::uint32_t base, std::uint32_t depth) const {
        if (threadIdx.x == 0) m_.improved = 0;
        shape::for_faces([&](int, int, int cell, int) {
            if (m_.level(cell) != no_level) lower(w_.key + first_ + cell, key_of(cell, base));
        });
        __threadfence();
        __syncthreads();
        std::uint32_t other[shape::faces_of_thread];
        shape::for_faces(
            [&](int i, int face, int, int there) { other[i] = m_.beside[face] < 0 ? 0 : fresh(across(face, there)); });
        unsigned improved = 0;
        shape::for_faces([&](int i, int face, int cell, int) {
            const std::uint32_t offered = key_of(cell, base) + price_;
            if (m_.level(cell) != no_level && offered <= w_.limit && offered < other[i]) improved |= 1U << face;
        });
        improved = __reduce_or_sync(cuda::every_lane, improved);
        if (threadIdx.x % cuda::warp == 0 && improved != 0) atomicOr(&m_.improved, improved);
        __syncthreads();
        if (const auto face = static_cast<int>(threadIdx.x); face < shape::faces && (m_.improved >> face & 1) != 0)
            wake(w_.queue, m_.beside[face], depth);
    }
    /// Lowers the keys of the cells that the flood has reached.
    __device__ void lower_keys(std::uint32_t base) const {
        constexpr int cells = 1 << device_tile_bits, loads = 8;  // loads: under way at the same time
        for (int first = static_cast<int>(threadIdx.x); first < cells; first += loads * flood_threads) {
            std::uint32_t known[loads];
            std::uint32_t* const key = w_.key + first_ + first;
#pragma unroll
            for (int i = 0; i < loads; ++i) known[i] = __ldcg(key + i * flood_threads);
#pragma unroll
            for (int i = 0; i < loads; ++i) {
                const std::uint32_t own = key_of(first + i * flood_threads, base);
                if (own < known[i]) lower(key + i * flood_threads, own);
            }
        }
    }

    const flood_work& w_;
    flood_memory& m_;
    std::int64_t first_;  ///< place of the tile's first cell
    std::uint32_t price_;
    std::uint32_t offer_[shape::faces_of_thread];  ///< level at which a neighbour enters a cell of a face; or none
    std::uint32_t todo_, found_;                   ///< cells that are still to be reached; those that are reached next
    std::uint32_t plane_[level_bits];              ///< bits of the cells' levels
};

/// Does what relax() does, for masks that work::floods() admits.
template <bool Volume>
__global__ void __launch_bounds__(flood_threads) flood(const __grid_constant__ flood_work w) {
    __shared__ flood_memory m;
    if (!w.floods()) return;
    for (int i = static_cast<int>(threadIdx.x); i < 2 * (flood_threads + 2 * flood_memory::margin); i += flood_threads)
        m.front[0][i] = 0;
    take_turns(w, [&](std::int64_t tile, std::uint32_t depth, const auto& mark, std::uint32_t*) {
        tile_flood<Volume>(w, m, tile, mark).run(depth + 1);
    });
}

}  // namespace nearfield::geodesics
