// Tiles of 32 neighbouring columns for problems with options, in 16-bit integers, two rows a word, by steps as in
// cuda_tile.cuh: after k of them a row has the minimum over rows up to k away. What differs from there:
//
// - A step costs h(k) - h(k - 1), where h is what k cells along the axis add: weight * k^2, or, where distances end at
//   faces, weight * (2 k - 1)^2. Costs never fall from step to step, which is all that the argument needs.
// - A row next to one of another class, or next to a closed border, gets h(1) after the first step. From there on the
//   steps make h(d) of it at distance d. What crosses a change of class is never too small: a row d steps away from
//   such a row has cells of two classes within d + 1, one of which is not its own, and gets h(d + 1) or more.
// - Values of `saturated` and more are not told apart. A sum with one of them is one of them too, so values below are
//   exact. Where one is left at the end that could be a distance, the call is refused: the engine without tiles, which
//   waits behind a gate, then does it all.
// - Values below `quick` are first looked for by sums in half precision: the bits of its smallest numbers are the
// integers
//   from 0 to 2047, and sums of them are those of the integers. Sums then go to another unit than minima. A tile that
// has a
//   larger value is done again in integers.
// - Long lines go in windows of rows, each with as many rows beside it as there are steps at most; before and after a
//   periodic line lies the line again.
#pragma once

#include <algorithm>
#include <bit>

#include "exact/cuda_options_words.cuh"

namespace nearfield::exact {
namespace {

template <int LaneRows>
inline constexpr int step_warps = LaneRows <= 4 ? 8 : 16;
template <int LaneRows>
inline constexpr int step_threads = step_warps<LaneRows> * cuda::warp;
template <int LaneRows>
inline constexpr int step_blocks = 32 / step_warps<LaneRows>;  // on a multiprocessor, for 64 registers a thread
constexpr int most_quick = 2047;
constexpr std::uint32_t flag_of_row = 0x8000;  // of a word's half: next to another class

/// Bits of a whole number up to 2047 in half precision.
constexpr std::uint32_t half_of(int n) {
    const int log = std::bit_width(static_cast<unsigned>(n)) - 1;
    return n == 0 ? 0 : static_cast<std::uint32_t>((15 + log) << 10 | ((n << (10 - log)) & 0x3ff));
}
static_assert(half_of(1) == half_1 && half_of(2) == half_2 && half_of(1024) == half_1024 && half_of(2047) == 0x67ff);

__device__ inline __half2 as_halves(std::uint32_t bits) {
    __half2 halves;
    memcpy(&halves, &bits, sizeof(halves));
    return halves;
}

/// What cells along an axis cost, for the quick way: cells, in units of 2^-12, times their cost, in the same, are that
/// many times 2^-24, the smallest number that there is. Products of 2048 and more may be rounded.
struct quick_costs {
    static constexpr std::uint32_t quarter =
        0x3400;  // the half 1/4: counts below 1024 added to its bits are such units
    static constexpr std::uint32_t minus_unit = 0x8c00;
    std::uint32_t weight = 0, factor = 0, added = 0, most = 0;  // of both halves

    quick_costs() = default;
    quick_costs(int of_a_cell, bool half_cell, int end)
        : weight(twice(half_of(std::min(of_a_cell, 2047)))),
          factor(twice(half_cell ? half_2 : half_1)),
          added(twice(half_cell ? minus_unit : 0)),
          most(twice(static_cast<std::uint32_t>(end))) {}

    /// Of two numbers of cells in a word's halves.
    [[nodiscard]] __device__ std::uint32_t of_two(std::uint32_t cells) const {
        const __half2 units = __hsub2(as_halves(cells + twice(quarter)), as_halves(twice(quarter)));
        const __half2 reach = __hfma2_relu(units, as_halves(factor), as_halves(added)),
                      cost = __hmul2(__hmul2(reach, as_halves(weight)), reach);
        std::uint32_t bits;
        memcpy(&bits, &cost, sizeof(bits));
        return __vminu2(bits, most);
    }
};

/// The pass along one axis. Words and states are those of lines of the last axis, one line after another.
struct step_pass {
    std::int64_t lines_between = 1;  ///< between two rows
    std::int64_t words = 1;          ///< of a line
    std::int64_t length = 1;         ///< cells of a line
    int rows = 1;
    int own = 1, halo = 0, windows = 1;  ///< rows of a window, and beside it on either side
    int parts = 1;                       ///< tiles of a window
    int weight = 1;
    bool half_cell = false, periodic = false, closed = false;
    bool cyclic = false;                     ///< the line is periodic, and the tile is the line
    int saturated = 0;                       ///< values from here on are not told apart
    int far = 1;                             ///< so many cells cost that
    int most_steps = 0;                      ///< more would change nothing
    int quick = 0, quick_steps = 0;          ///< the same of what is tried in half precision, at most 2047
    quick_costs quickly;                     ///< of_two, there
    const std::uint32_t* classes = nullptr;  ///< changes along the axis; null: none
    bool differences = false;                ///< they are bits of zero cells; changes are where neighbours differ

    /// What so many cells add, at most `saturated`.
    [[nodiscard]] __device__ int cost(int cells) const {
        cells = min(cells, far);
        const int reach = half_cell ? max(2 * cells - 1, 0) : cells;
        return min(reach * reach * weight, saturated);
    }
    /// Of two numbers of cells in a word's halves.
    [[nodiscard]] __device__ std::uint32_t of_two(std::uint32_t cells) const {
        cells = __vminu2(cells, twice(static_cast<std::uint32_t>(far)));
        const std::uint32_t reach = half_cell ? 2 * cells - __vminu2(cells, twice(1)) : cells;
        const std::uint32_t low = reach & 0xffff, high = reach >> 16;
        const auto by = static_cast<std::uint32_t>(weight), most = static_cast<std::uint32_t>(saturated);
        return min(low * low * by, most) | min(high * high * by, most) << 16;
    }

    template <bool Quick>
    [[nodiscard]] __device__ int end() const {
        return Quick ? quick : saturated;
    }
    /// Values of `quick` may be smaller than others that are not told apart from it.
    [[nodiscard]] __device__ bool quick_may_fail() const { return quick < saturated; }
};

/// A block's tile: its columns are those of one word.
struct step_place {
    std::int64_t first_word;  ///< of row 0
    std::int64_t first_line;
    std::int32_t between_rows;  ///< words
    std::int32_t word;          ///< of a line
    int first_row;              ///< of the tile; the window begins `halo` after it
    int rows;                   ///< of the tile
    int from, end;              ///< rows of the tile that it owes the line
    bool flagged;               ///< rows may be next to another class or a closed border

    __device__ step_place(const step_pass& g, std::int64_t tile, int part) {
        const std::int64_t rest = quotient(tile, g.words), above = quotient(rest, g.lines_between),
                           outer = quotient(above, g.windows);
        word = static_cast<std::int32_t>(tile - rest * g.words);
        first_line = outer * g.rows * g.lines_between + rest - above * g.lines_between;
        first_word = first_line * g.words + word;
        between_rows = static_cast<std::int32_t>(g.lines_between * g.words);
        const int own = (g.own + g.parts - 1) / g.parts, top = part * own;
        first_row = static_cast<int>(above - outer * g.windows) * g.own + top - g.halo;
        rows = own + 2 * g.halo;
        from = g.halo, end = min(g.halo + min(own, g.own - top), g.rows - first_row);
        flagged = g.classes != nullptr || (g.closed && (first_row <= 0 || first_row + rows >= g.rows));
    }
    /// Number of the tile's word in row q.
    [[nodiscard]] __device__ std::int64_t word_at(int q) const {
        return first_word + static_cast<std::int64_t>(q) * between_rows;
    }
    [[nodiscard]] __device__ int columns(const step_pass& g) const {
        return static_cast<int>(
            min(g.length - static_cast<std::int64_t>(word) * cuda::warp, static_cast<std::int64_t>(cuda::warp)));
    }
    /// Row of the line for a row of the tile; negative for none.
    [[nodiscard]] __device__ int row(const step_pass& g, int of_tile) const {
        int q = first_row + of_tile;
        if (g.periodic) {
            if (q < 0) q += g.rows;
            else if (q >= g.rows && q < g.rows + g.halo) q -= g.rows;
        }
        return of_tile < rows && q < g.rows ? q : -1;
    }
    [[nodiscard]] __device__ bool owns(int of_tile) const { return of_tile >= from && of_tile < end; }
    /// Columns of row q that are next to another class or a closed border.
    [[nodiscard]] __device__ std::uint32_t flags(const step_pass& g, int q) const {
        if (q < 0 || !flagged) return 0;
        std::uint32_t bits = g.closed && (q == 0 || q + 1 == g.rows) ? ~0u : 0;
        if (g.classes == nullptr) return bits;
        const int after = q + 1 < g.rows ? q + 1 : g.periodic ? 0 : -1;
        const std::uint32_t own = g.classes[word_at(q)];
        if (!g.differences) return bits | own | (after >= 0 ? g.classes[word_at(after)] : 0);
        const int before = q > 0 ? q - 1 : g.periodic ? g.rows - 1 : -1;
        if (before >= 0) bits |= own ^ g.classes[word_at(before)];
        if (after >= 0) bits |= own ^ g.classes[word_at(after)];
        return bits;
    }
};

/// In shared memory: word (pair, column) holds rows `pair` and `pair + half` of the tile.
template <int LaneRows>
struct step_tile {
    static constexpr int half = cuda::warp * LaneRows;
    static constexpr int pitch = cuda::warp + 1;
    // Distances of values below `quick` from a table where a block has cells enough to pay for it.
    static constexpr bool has_roots = LaneRows >= 8;
    static constexpr int words = half * pitch + cuda::warp + 2 * half + (has_roots ? most_quick + 1 : 0);
    std::uint32_t* at;

    /// Which cells of a row get a minus.
    __device__ std::uint32_t& minus(int row) const { return at[half * pitch + cuda::warp + row]; }
    __device__ float* roots() const { return reinterpret_cast<float*>(at + half * pitch + cuda::warp + 2 * half); }

    // The lanes of a warp reach other banks whether they differ by a column, by a row or by LaneRows rows.
    static constexpr int skew = LaneRows % 2 == 0 ? 1 : 0;  ///< words after every LaneRows pairs
    __device__ std::uint32_t& word(int pair, int column) const {
        return at[pair * pitch + column + pair / LaneRows * skew];
    }
    /// The first of a lane's pairs of a column; the others follow `pitch` words from each other.
    __device__ std::uint32_t* of_lane(int lane, int column) const {
        return at + lane * (LaneRows * pitch + skew) + column;
    }
    /// Words from a pair to the one `pairs` after it, which is as many in all of the tile.
    static constexpr bool steps_evenly(int pairs) { return skew == 0 || pairs % LaneRows == 0; }
    static constexpr int word_step(int pairs) { return pairs * pitch + pairs / LaneRows * skew; }
};

/// Bits of two rows, as limits of distances: 0 where there is one, else more than any distance that counts.
struct bit_limits {
    std::uint32_t part[4];

    __device__ bit_limits(std::uint32_t a, std::uint32_t b) {
        const std::uint32_t low = ~__byte_perm(a, b, 0x5410), high = ~__byte_perm(a, b, 0x7632);
        part[0] = (low & twice(0x00ff)) << 8, part[1] = low & twice(0xff00);
        part[2] = (high & twice(0x00ff)) << 8, part[3] = high & twice(0xff00);
    }
    __device__ std::uint32_t of(int cell) const { return part[cell / 8] & twice(0x0100) << cell % 8; }
};
static_assert(farthest_bit < 0x0100);

/// The flag of bit `i` of both halves.
__device__ inline std::uint32_t flags_of(std::uint32_t two, int i) { return two << (15 - i) & twice(flag_of_row); }

/// What fill_pair needs of a row: 32 cells of a line, those that are sites for all, and those with a flag.
struct row_bits {
    tile_word word;
    std::uint32_t zeros, flags;
};

/// Squared distances along the last axis of two rows a and b: from left to right, then back. A change of class stands
/// before its cell, so that the way back meets it one cell later, and either costs a cell more.
template <int LaneRows, bool Changes, class Costs>
__device__ void fill_pair(const step_tile<LaneRows>& t, int pair, const Costs& last, const row_bits& a,
                          const row_bits& b) {
    const bit_limits ones(a.word.bits, b.word.bits);
    const std::uint32_t others[2] = {~__byte_perm(a.zeros, b.zeros, 0x5410), ~__byte_perm(a.zeros, b.zeros, 0x7632)};
    const std::uint32_t flags[2] = {__byte_perm(a.flags, b.flags, 0x5410), __byte_perm(a.flags, b.flags, 0x7632)};
    std::uint32_t from_left[2][16];  // in halves, see fill_from_words in cuda_tile.cuh
    std::uint32_t distance = __byte_perm(a.word.beside, b.word.beside, 0x5410);
#pragma unroll
    for (int i = 0; i < cuda::warp; ++i) {
        distance = __viaddmin_u16x2(distance, twice(1), ones.of(i));
        from_left[i / 16][i % 16] = distance;
    }
    distance = __byte_perm(a.word.beside, b.word.beside, 0x7632);
#pragma unroll
    for (int i = cuda::warp - 1; i >= 0; --i) {
        const std::uint32_t left = from_left[i / 16][i % 16];
        if constexpr (Changes) {
            const std::uint32_t near = __vminu2(__vminu2(distance, left) + twice(1), flags_of(others[i / 16], i % 16));
            distance = __viaddmin_u16x2(distance, twice(1), left);
            t.word(pair, i) = last.of_two(near) | flags_of(flags[i / 16], i % 16);
        } else {
            distance = __viaddmin_u16x2(distance, twice(1), left);
            // Without classes only a closed border has flags, which all columns share.
            t.word(pair, i) = last.of_two(distance) | flags_of(flags[0], 0);
        }
    }
}

/// A thread two rows. `last` says what distances along the last axis cost.
template <int LaneRows, bool Changes, bool Quick, class Costs>
__device__ void fill_from_bits(const step_tile<LaneRows>& t, const step_pass& g, const Costs& last,
                               const step_place& place, const bit_lines& lines, const std::uint32_t* zeros) {
    for (int pair = static_cast<int>(threadIdx.x); pair < t.half; pair += step_threads<LaneRows>) {
        const auto bits_of = [&](int q) {
            row_bits bits{{0, twice(farthest_bit)}, 0, place.flags(g, q)};
            if (q >= 0) {
                const std::int64_t line = place.first_line + q * g.lines_between;
                bits.word = Quick ? near_word_in(lines, line, place.word) : word_in(lines, line, place.word);
                if (zeros != nullptr) bits.zeros = zeros[place.word_at(q)];
            }
            return bits;
        };
        fill_pair<LaneRows, Changes>(t, pair, last, bits_of(place.row(g, pair)), bits_of(place.row(g, pair + t.half)));
    }
}

constexpr int eight = 8;  // columns a thread, 16 bytes of states

/// From what the pass before left.
template <int LaneRows, bool Flags, bool Quick>
__device__ void fill_from_states(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                                 const std::uint16_t* states) {
    const int part = static_cast<int>(threadIdx.x) % (cuda::warp / eight), column = eight * part;
    const std::uint32_t none = twice(static_cast<std::uint32_t>(g.end<Quick>()));
    const auto* const from = reinterpret_cast<const uint4*>(states) + part;
#pragma unroll 2
    for (int pair = static_cast<int>(threadIdx.x) / (cuda::warp / eight); pair < t.half;
         pair += step_threads<LaneRows> * eight / cuda::warp) {
        const int p = place.row(g, pair), q = place.row(g, pair + t.half);
        uint4 a{none, none, none, none}, b = a;
        if (p >= 0) a = from[place.word_at(p) * (cuda::warp / eight)];
        if (q >= 0) b = from[place.word_at(q) * (cuda::warp / eight)];
        const auto bounded = [&](std::uint32_t two) { return Quick ? __vminu2(two, none) : two; };
        std::uint32_t flags = 0;
        if constexpr (Flags) flags = (place.flags(g, p) >> column & 0xff) | (place.flags(g, q) >> column & 0xff) << 16;
        const auto put = [&](int i, std::uint32_t x, std::uint32_t y) {
            t.word(pair, column + i) = bounded(__byte_perm(x, y, 0x5410)) | (Flags ? flags_of(flags, i) : 0);
            t.word(pair, column + i + 1) = bounded(__byte_perm(x, y, 0x7632)) | (Flags ? flags_of(flags, i + 1) : 0);
        };
        put(0, a.x, b.x), put(2, a.y, b.y), put(4, a.z, b.z), put(6, a.w, b.w);
    }
}

/// State of a later pass.
template <int LaneRows>
__device__ void put_states(const step_tile<LaneRows>& t, const step_place& place, std::uint16_t* states) {
    const int part = static_cast<int>(threadIdx.x) % (cuda::warp / eight), column = eight * part;
    auto* const to = reinterpret_cast<uint4*>(states) + part;
#pragma unroll 2
    for (int pair = static_cast<int>(threadIdx.x) / (cuda::warp / eight); pair < t.half;
         pair += step_threads<LaneRows> * eight / cuda::warp) {
        std::uint32_t two[eight];
#pragma unroll
        for (int i = 0; i < eight; ++i) two[i] = t.word(pair, column + i);
        const auto put = [&](int row, unsigned halves) {
            if (place.owns(row))
                to[place.word_at(place.first_row + row) * (cuda::warp / eight)] = {
                    __byte_perm(two[0], two[1], halves), __byte_perm(two[2], two[3], halves),
                    __byte_perm(two[4], two[5], halves), __byte_perm(two[6], two[7], halves)};
        };
        put(pair, 0x5410), put(pair + t.half, 0x7632);
    }
}

}  // namespace
}  // namespace nearfield::exact
