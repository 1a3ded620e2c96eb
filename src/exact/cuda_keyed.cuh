// Nearest sites in words of 32 bits: a cell's squared distance above what tells its site, so that one unsigned minimum
// compares distances and decides ties.
//
// Offsets are from the cell to its site: dx along the last axis, dy and dz along the ones before it. At a cell, sites
// are in the order of the tie rule when they are ordered by dx, then dy, then dz: each differs from the site's
// coordinate by a constant of the cell. A search along a line of the second axis keeps
//     d^2 (15 bits) | dx + 128 (8) | rows moved (8) | 1 if they were moved back, the site being after the cell (1)
// and one along the third d^2 | dx + 128 | dy + 128 | the same bit; |dz| is the root of what dx and dy leave of d^2.
//
// The search steps: f_k(q) = min(f_k-1(q), f_k-1(q - 1) + 2k - 1, f_k-1(q + 1) + 2k - 1), as in cuda_tile.cuh, of whole
// words. A site d rows away that is offered d^2 has moved in each of the steps 1 to d, in one direction: fewer moves do
// not reach, others cost more, because m moves of increasing cost take m^2 at least and exactly that only as steps 1
// to m. Any such word loses to the site's own straight one. So the first step alone sets the last bit, moves are
// counted wherever the layout has room, and after k steps every value below (k + 1)^2 is final, its ties included.
#pragma once

#include "exact/cuda_windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int offset_reach = 127;  // largest offset in 8 bits; values from its square on are not told apart
constexpr std::uint32_t one_value = 1u << 17, one_x = 1u << 9, one_y = 1u << 1, moved_back = 1;
constexpr std::uint32_t no_offset = 128;  // what 8 bits hold for an offset of 0
constexpr std::uint32_t near_cap = offset_reach * offset_reach * one_value;
constexpr int most_steps = 64;  // hulls are cheaper than more
static_assert((offset_reach * offset_reach + 2 * offset_reach) * (one_value >> 16) < 1u << 16, "no sum wraps");

/// Offsets of a site that is nearest in its plane, with what no one needs to know of farther ones.
struct offset {
    std::int32_t dx, dy;
};

/// The state between the second and the third pass: a word of the third as long as all fits, which leaves its highest
/// bit clear; else that bit, dx in 15 bits and dy in 16. All ones is no site, which would be an offset of (-1, -1).
constexpr std::uint32_t far_state = 1u << 31, empty_state = 0xffffffffu;
static_assert(far_offsets == 1 << 14, "dx has a sign");

template <class V>
__device__ std::uint32_t state_word(offset to, V value) {
    if (value < offset_reach * offset_reach)
        return static_cast<std::uint32_t>(value) * one_value + (static_cast<std::uint32_t>(to.dx) + no_offset) * one_x +
               (static_cast<std::uint32_t>(to.dy) + no_offset) * one_y;
    return far_state | (static_cast<std::uint32_t>(to.dx) & 0x7fff) << 16 |
           (static_cast<std::uint32_t>(to.dy) & 0xffff);
}
__device__ inline offset offset_of_state(std::uint32_t state) {
    if (state & far_state)
        return {static_cast<std::int32_t>(state << 1) >> 17, static_cast<std::int16_t>(state & 0xffff)};
    return {static_cast<std::int32_t>((state / one_x) & 255) - 128,
            static_cast<std::int32_t>((state / one_y) & 255) - 128};
}

/// A word of 32 cells made ready for the lanes of a warp: the sites, the same in opposite order, and the cells from the
/// word to the sites before and after it, where 128 stands for any number from there on.
__device__ inline uint4 ready_for_lanes(const line_word& word) {
    constexpr std::int32_t clipped = offset_reach + 1;
    return {word.sites, __brev(word.sites), static_cast<std::uint32_t>(min(word.before(), clipped)),
            static_cast<std::uint32_t>(min(word.after(), clipped))};
}

/// Zeros above the highest one; of none, the largest number.
__device__ inline std::uint32_t zeros_above(std::uint32_t bits) {
    std::uint32_t zeros;
    asm("bfind.shiftamt.u32 %0, %1;" : "=r"(zeros) : "r"(bits));
    return zeros;
}

/// The word of the search for the site of its row that is nearest to the calling lane's cell, the left one of two. The
/// offsets of more than 127 spill into the value beside them, which is then beyond the cap anyway.
struct nearest_in_rows {
    // The lane's shifts as products, which another unit works out.
    std::uint32_t lane, up, down;

    __device__ explicit nearest_in_rows(std::uint32_t lane) : lane(lane), up(1u << lane), down(1u << (31 - lane)) {}
    /// Cells to the nearest site to either side; a large number where there is none.
    struct sides {
        std::uint32_t left, right;
    };
    __device__ sides apart(const uint4& row) const {
        return {__viaddmin_u32(lane, row.z, zeros_above(row.x * down)),
                __viaddmin_u32(31 - lane, row.w, zeros_above(row.y * up))};
    }
    __device__ std::uint32_t operator()(const uint4& row) const {
        const auto [left, right] = apart(row);
        return min(left * (left * one_value - one_x) + no_offset * one_x,
                   right * (right * one_value + one_x) + no_offset * one_x);
    }
};
static_assert((159 * 159 + 2 * offset_reach + 1) < 1 << 15, "the farthest that a word says: 128 and 31 more");

}  // namespace
}  // namespace nearfield::exact
