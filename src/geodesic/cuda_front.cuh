// The front of a flood in a square tile whose steps go along its sides for one price. A warp owns the tile, a lane two
// rows of it, whose cells are bits. The front moves from level to level; a cell's level is the number of steps to it.
// No branch within a level depends on cells, so that the latencies of votes and shuffles overlap.
#pragma once

#include "geodesic/cuda_grid.cuh"

namespace nearfield::geodesics {

inline constexpr int words_of_lane = (1 << device_tile_bits) / (cuda::warp * cuda::warp);
inline constexpr int level_bits = 12, levels_at_once = 4;
/// Levels of one flood; a cell has `no_level` if the flood does not reach it.
inline constexpr std::uint32_t flood_levels = (1U << level_bits) - levels_at_once, no_level = (1U << level_bits) - 1;

/// A bit for each cell of a lane.
struct lane_bits {
    std::uint32_t word[words_of_lane];

    [[nodiscard]] __device__ bool any() const { return (word[0] | word[1] | word[2] | word[3]) != 0; }
};

inline constexpr int side_bits = device_tile_bits / 2, side = 1 << side_bits, last_of_side = side - 1;
/// Number of the face cells that a lane reads: two of each face.
inline constexpr int faces = 4, of_face = side / cuda::warp, faces_of_lane = faces * of_face;

/// Calls use(i, face, cell, other) for the face cells that a lane reads: of the left and the right face in its own
/// rows, then of the first and the last row. `other` is the cell across the face, in the neighbouring tile.
template <class Use>
__device__ void for_faces(const Use& use) {
    const int lane = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < faces_of_lane; ++i) {
        const int face = i / of_face, j = i % of_face, at = face % 2 * last_of_side;
        if (face < 2) use(i, face, (lane * of_face + j) * side + at, (lane * of_face + j) * side + last_of_side - at);
        else use(i, face, at * side + j * cuda::warp + lane, (last_of_side - at) * side + j * cuda::warp + lane);
    }
}

/// Levels of a tile's cells in shared memory, two in a word. They count from the base of a flood.
struct flood_memory {
    std::uint32_t pairs[(1 << (device_tile_bits - 1)) + cuda::warp];

    /// Index of a cell's word; a lane's cells begin in a bank of their own.
    static __device__ int word_of(int cell) { return cell / 2 + (cell >> 7); }
    [[nodiscard]] __device__ std::uint32_t level(int cell) const {
        return pairs[word_of(cell)] >> cell % 2 * 16 & 0xffffU;
    }
};

// ---- the front ------------------------------------------------------------------------------------------------------

/// Returns the cells beside those of `from`.
__device__ inline lane_bits beside(const lane_bits& from) {
    static_assert(words_of_lane == 2 * of_face);
    const int lane = static_cast<int>(threadIdx.x);
    lane_bits to{};
#pragma unroll
    for (int k = 0; k < of_face; ++k) {  // the left and the right half of both rows
        const std::uint32_t first = from.word[k], second = from.word[k + 2];
        const std::uint32_t before = __shfl_up_sync(cuda::every_lane, second, 1),
                            behind = __shfl_down_sync(cuda::every_lane, first, 1);
        to.word[k] = second | (lane > 0 ? before : 0);
        to.word[k + 2] = first | (lane < cuda::warp - 1 ? behind : 0);
    }
#pragma unroll
    for (int k = 0; k < words_of_lane; k += 2) {
        const std::uint32_t left = from.word[k], right = from.word[k + 1];
        to.word[k] |= left << 1 | left >> 1 | right << 31;
        to.word[k + 1] |= right << 1 | right >> 1 | left >> 31;
    }
    return to;
}

/// Levels as bits: plane b has bit b of each cell's level.
struct level_planes {
    lane_bits of[level_bits];

    /// Notes that the level changes, in the bits `changed`, before the cells `todo` are reached.
    __device__ void turn(const lane_bits& todo, std::uint32_t changed) {
#pragma unroll
        for (int b = 0; b < level_bits; ++b) {
            if (changed >> b == 0) return;
            if ((changed >> b & 1) == 0) continue;
#pragma unroll
            for (int k = 0; k < words_of_lane; ++k) of[b].word[k] ^= todo.word[k];
        }
    }
    /// Writes the levels of the cells `reached`, and no_level for the others.
    __device__ void write(flood_memory& m, const lane_bits& reached) const {
#pragma unroll
        for (int k = 0; k < words_of_lane; ++k) {
            std::uint32_t row[16];
#pragma unroll
            for (int b = 0; b < 16; ++b)
                row[b] = b < level_bits ? of[b < level_bits ? b : 0].word[k] | ~reached.word[k] : 0;
            transpose(row);
            const int at = flood_memory::word_of(static_cast<int>(threadIdx.x) << 7) + 16 * k;
#pragma unroll
            for (int i = 0; i < 8; ++i) {
                m.pairs[at + i] = __byte_perm(row[2 * i], row[2 * i + 1], 0x5410);
                m.pairs[at + i + 8] = __byte_perm(row[2 * i], row[2 * i + 1], 0x7632);
            }
        }
    }

private:
    /// Transposes both halves of the words as matrices of 16 x 16 bits.
    static __device__ void transpose(std::uint32_t (&row)[16]) {
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
};

/// Adds the cells that neighbouring tiles enter at the level `now`.
__device__ inline void enter(const std::uint32_t (&level)[faces_of_lane], std::uint32_t now, lane_bits& found) {
    const int lane = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int j = 0; j < of_face; ++j) {
        if (level[j] == now) found.word[2 * j] |= 1;
        if (level[of_face + j] == now) found.word[2 * j + 1] |= 1U << 31;
        const unsigned first = __ballot_sync(cuda::every_lane, level[2 * of_face + j] == now ? 1 : 0);
        const unsigned last = __ballot_sync(cuda::every_lane, level[3 * of_face + j] == now ? 1 : 0);
        if (lane == 0) found.word[j] |= first;
        if (lane == cuda::warp - 1) found.word[2 + j] |= last;
    }
}

/// Moves the front through the cells `todo`, from those of `found` at level 0, until no level below flood_levels is
/// left. `enters` has the levels of the neighbours' offers. `found` becomes the cells to reach next.
__device__ inline void advance(const std::uint32_t (&enters)[faces_of_lane], lane_bits& todo, lane_bits& found,
                               level_planes& levels) {
    for (std::uint32_t now = 0;;) {
#pragma unroll
        for (std::uint32_t s = 0; s < levels_at_once; ++s) {
            enter(enters, now + s, found);
#pragma unroll
            for (int k = 0; k < words_of_lane; ++k) found.word[k] &= todo.word[k], todo.word[k] ^= found.word[k];
            found = beside(found);
            levels.turn(todo, s ^ (s + 1) % levels_at_once);
        }
        std::uint32_t to = now + levels_at_once, rest = 0;
#pragma unroll
        for (int k = 0; k < words_of_lane; ++k) rest |= found.word[k] & todo.word[k];
        if (__any_sync(cuda::every_lane, rest != 0 ? 1 : 0) == 0) {
            std::uint32_t least = flood_levels;
#pragma unroll
            for (int i = 0; i < faces_of_lane; ++i)
                if (enters[i] >= to) least = min(least, enters[i]);
            to = __reduce_min_sync(cuda::every_lane, least) & ~std::uint32_t{levels_at_once - 1};
        }
        if (to >= flood_levels) return;
        levels.turn(todo, now ^ to);
        now = to;
    }
}

}  // namespace nearfield::geodesics
