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
// - Long lines go in windows of rows, each with as many rows beside it as there are steps at most; before and after a
//   periodic line lies the line again.
#pragma once

#include "exact/cuda_options_words.cuh"

namespace nearfield::exact {
namespace {

template <int LaneRows>
inline constexpr int step_warps = LaneRows <= 4 ? 8 : 16;
template <int LaneRows>
inline constexpr int step_threads = step_warps<LaneRows> * cuda::warp;
template <int LaneRows>
inline constexpr int step_blocks = 32 / step_warps<LaneRows>;  // on a multiprocessor, for 64 registers a thread
constexpr std::uint32_t flag_of_row = 0x8000;                  // of a word's half: next to another class

/// The pass along one axis. Words and states are those of lines of the last axis, one line after another.
struct step_pass {
    std::int64_t lines_between = 1;  ///< between two rows
    std::int64_t words = 1;          ///< of a line
    std::int64_t length = 1;         ///< cells of a line
    int rows = 1;
    int own = 1, halo = 0, windows = 1;  ///< rows of a window, and beside it on either side
    int weight = 1;
    bool half_cell = false, periodic = false, closed = false;
    bool cyclic = false;                     ///< the line is periodic, and the tile is the line
    int saturated = 0;                       ///< values from here on are not told apart
    int far = 1;                             ///< so many cells cost that
    int most_steps = 0;                      ///< more would change nothing
    const std::uint32_t* classes = nullptr;  ///< changes along the axis; null: none
    bool differences = false;                ///< they are bits of zero cells; changes are where neighbours differ

    [[nodiscard]] __device__ bool has_flags() const { return classes != nullptr || closed; }
    /// What so many cells add, at most `saturated`.
    [[nodiscard]] __device__ int cost(int cells) const {
        cells = min(cells, far);
        const int reach = half_cell ? max(2 * cells - 1, 0) : cells;
        return min(reach * reach * weight, saturated);
    }
    /// Of two numbers of cells in a word's halves.
    [[nodiscard]] __device__ std::uint32_t cost_of_two(std::uint32_t cells) const {
        cells = __vminu2(cells, twice(static_cast<std::uint32_t>(far)));
        const std::uint32_t reach = half_cell ? 2 * cells - __vminu2(cells, twice(1)) : cells;
        const std::uint32_t low = reach & 0xffff, high = reach >> 16;
        const auto by = static_cast<std::uint32_t>(weight), most = static_cast<std::uint32_t>(saturated);
        return min(low * low * by, most) | min(high * high * by, most) << 16;
    }
};

/// A block's tile: its columns are those of one word.
struct step_place {
    std::int64_t first_word;  ///< of row 0
    std::int64_t first_line;
    std::int32_t between_rows;  ///< words
    std::int32_t word;          ///< of a line
    int first_row;              ///< of the tile; the window begins `halo` after it
    int from, end;              ///< rows of the tile that it owes the line

    __device__ explicit step_place(const step_pass& g) {
        const std::int64_t rest = quotient(blockIdx.x, g.words), above = quotient(rest, g.lines_between),
                           outer = quotient(above, g.windows);
        word = static_cast<std::int32_t>(blockIdx.x - rest * g.words);
        first_line = outer * g.rows * g.lines_between + rest - above * g.lines_between;
        first_word = first_line * g.words + word;
        between_rows = static_cast<std::int32_t>(g.lines_between * g.words);
        first_row = static_cast<int>(above - outer * g.windows) * g.own - g.halo;
        from = g.halo, end = min(g.halo + g.own, g.rows - first_row);
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
        return of_tile < g.own + 2 * g.halo && q < g.rows ? q : -1;
    }
    [[nodiscard]] __device__ bool owns(int of_tile) const { return of_tile >= from && of_tile < end; }
    /// Columns of row q that are next to another class or a closed border.
    [[nodiscard]] __device__ std::uint32_t flags(const step_pass& g, int q) const {
        if (q < 0 || !g.has_flags()) return 0;
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
    static constexpr int words = half * pitch + cuda::warp;
    std::uint32_t* at;

    // The lanes of a warp reach other banks whether they differ by a column, by a row or by LaneRows rows.
    __device__ std::uint32_t& word(int pair, int column) const {
        return at[pair * pitch + column + (LaneRows % 2 == 0 ? pair / LaneRows : 0)];
    }
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
template <int LaneRows, bool Changes>
__device__ void fill_pair(const step_tile<LaneRows>& t, int pair, const step_pass& last, const row_bits& a,
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
            t.word(pair, i) = last.cost_of_two(near) | flags_of(flags[i / 16], i % 16);
        } else {
            distance = __viaddmin_u16x2(distance, twice(1), left);
            // Without classes only a closed border has flags, which all columns share.
            t.word(pair, i) = last.cost_of_two(distance) | flags_of(flags[0], 0);
        }
    }
}

/// A thread two rows. `last` says what distances along the last axis cost.
template <int LaneRows, bool Changes>
__device__ void fill_from_bits(const step_tile<LaneRows>& t, const step_pass& g, const step_pass& last,
                               const step_place& place, const tile_word* words, const std::uint32_t* zeros) {
    for (int pair = static_cast<int>(threadIdx.x); pair < t.half; pair += step_threads<LaneRows>) {
        const auto bits_of = [&](int q) {
            row_bits bits{{0, twice(farthest_bit)}, 0, place.flags(g, q)};
            if (q >= 0) {
                bits.word = words[place.word_at(q)];
                if (zeros != nullptr) bits.zeros = zeros[place.word_at(q)];
            }
            return bits;
        };
        fill_pair<LaneRows, Changes>(t, pair, last, bits_of(place.row(g, pair)), bits_of(place.row(g, pair + t.half)));
    }
}

constexpr int eight = 8;  // columns a thread, 16 bytes of states

/// From what the pass before left.
template <int LaneRows, bool Flags>
__device__ void fill_from_states(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place,
                                 const std::uint16_t* states) {
    const int part = static_cast<int>(threadIdx.x) % (cuda::warp / eight), column = eight * part;
    const std::uint32_t none = twice(static_cast<std::uint32_t>(g.saturated));
    const auto* const from = reinterpret_cast<const uint4*>(states) + part;
#pragma unroll 2
    for (int pair = static_cast<int>(threadIdx.x) / (cuda::warp / eight); pair < t.half;
         pair += step_threads<LaneRows> * eight / cuda::warp) {
        const int p = place.row(g, pair), q = place.row(g, pair + t.half);
        uint4 a{none, none, none, none}, b = a;
        if (p >= 0) a = from[place.word_at(p) * (cuda::warp / eight)];
        if (q >= 0) b = from[place.word_at(q) * (cuda::warp / eight)];
        std::uint32_t flags = 0;
        if constexpr (Flags) flags = (place.flags(g, p) >> column & 0xff) | (place.flags(g, q) >> column & 0xff) << 16;
        const auto put = [&](int i, std::uint32_t x, std::uint32_t y) {
            t.word(pair, column + i) = __byte_perm(x, y, 0x5410) | (Flags ? flags_of(flags, i) : 0);
            t.word(pair, column + i + 1) = __byte_perm(x, y, 0x7632) | (Flags ? flags_of(flags, i + 1) : 0);
        };
        put(0, a.x, b.x), put(2, a.y, b.y), put(4, a.z, b.z), put(6, a.w, b.w);
    }
}

/// A line in a warp's registers: lane l holds rows [l * n, l * n + n) in the low halves of n words, the rows `half`
/// further on in the high ones.
template <int LaneRows>
class line_in_lanes {
public:
    __device__ line_in_lanes(const step_tile<LaneRows>& t, int column, const step_pass& g)
        : lane_(static_cast<int>(threadIdx.x) % cuda::warp),
          select_up_(lane_ != 0 ? 0x3210
                     : g.cyclic ? 0x1032
                                : 0x1054),
          select_down_(lane_ != cuda::warp - 1 ? 0x3210
                       : g.cyclic              ? 0x1032
                                               : 0x5432),
          none_(twice(static_cast<std::uint32_t>(g.saturated))) {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) {
            const std::uint32_t two = t.word(lane_ * LaneRows + i, column);
            flags_ |= (two >> 15 & twice(1)) << i;
            v_[i] = two & twice(0x7fff);
        }
    }

    /// `added` to either neighbour's value, in both halves; sums stay below 2^16.
    __device__ void step(std::uint32_t added) {
        const std::uint32_t up = __shfl_sync(cuda::every_lane, v_[LaneRows - 1], (lane_ + 31) % cuda::warp);
        const std::uint32_t down = __shfl_sync(cuda::every_lane, v_[0], (lane_ + 1) % cuda::warp);
        const std::uint32_t below = __byte_perm(down, none_, select_down_) + added;
        std::uint32_t above = __byte_perm(up, none_, select_up_) + added;
        std::uint32_t here = v_[0] + added;
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) {
            const std::uint32_t next = i + 1 < LaneRows ? v_[(i + 1) % LaneRows] + added : below;
            v_[i] = __vimin3_u16x2(v_[i], above, next);
            above = here, here = next;
        }
    }

    /// Flagged rows get at most `value`.
    __device__ void lower_flagged(std::uint32_t value) {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i)
            v_[i] = __vminu2(v_[i], twice(0xffff) - (flags_ >> i & twice(1)) * (0xffff - value));
    }

    /// Largest value of the rows of `counted`, bits as in flags.
    [[nodiscard]] __device__ int largest(std::uint32_t counted) const {
        std::uint32_t most = 0;
        if (counted == ~0u) {
#pragma unroll
            for (int i = 0; i < LaneRows; ++i) most = __vmaxu2(most, v_[i]);
        } else {
#pragma unroll
            for (int i = 0; i < LaneRows; ++i) most = __vmaxu2(most, v_[i] & (counted >> i & twice(1)) * 0xffff);
        }
        return static_cast<int>(__reduce_max_sync(cuda::every_lane, max(most & 0xffff, most >> 16)));
    }

    /// Values only fall: as long as their sum stays, nothing has changed.
    [[nodiscard]] __device__ std::uint32_t sum() const {
        std::uint32_t sum = 0;
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) sum = __dp2a_lo(v_[i], 0x0101u, sum);
        return sum;
    }

    __device__ void put(const step_tile<LaneRows>& t, int column) const {
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) t.word(lane_ * LaneRows + i, column) = __vminu2(v_[i], none_);
    }

private:
    int lane_, select_up_, select_down_;
    std::uint32_t none_, flags_ = 0;
    std::uint32_t v_[LaneRows];
};

constexpr int first_looks = 3, steps_a_look = 4;

/// One line by one warp; the largest value of the rows of `counted`.
template <int LaneRows>
__device__ int step_line(const step_tile<LaneRows>& t, int column, const step_pass& g, std::uint32_t counted) {
    line_in_lanes<LaneRows> line(t, column, g);
    const auto weight = static_cast<std::uint32_t>(g.weight);
    std::uint32_t added = twice(weight);
    const std::uint32_t more = twice((g.half_cell ? 8 : 2) * weight);
    int k = 0, most = g.saturated;
    if (g.most_steps > 0) {
        line.step(added);
        if (g.has_flags()) line.lower_flagged(weight);
        added = twice((g.half_cell ? 8 : 3) * weight), k = 1;
    }
    std::uint32_t sum = ~0u;
    for (int steps = min(first_looks, g.most_steps) - k;;) {
        k += max(steps, 0);
#pragma unroll 2
        for (; steps > 0; --steps, added += more) line.step(added);
        most = line.largest(counted);
        // What is farther than k cells costs cost(k + 1) or more.
        if (k == g.most_steps || most <= g.cost(k + 1)) break;
        steps = 1;
        // What is saturated may stay so: a step that changes nothing is followed by such steps only, since they cost
        // more.
        if (most == g.saturated) {
            const std::uint32_t now = line.sum();
            if (!__any_sync(cuda::every_lane, now != sum)) break;
            sum = now;
        }
#pragma unroll
        for (int i = 1; i < steps_a_look; ++i) steps += k + i < g.most_steps && g.cost(k + 1 + i) < most ? 1 : 0;
    }
    line.put(t, column);
    return most;
}

/// Rows of the calling lane that the tile owes its lines, as bits; those that no lane has count as well.
template <int LaneRows>
__device__ std::uint32_t counted_rows(const step_place& place) {
    const int first = static_cast<int>(threadIdx.x) % cuda::warp * LaneRows;
    const auto bits = [&](int row) {
        const int a = min(max(place.from - row, 0), LaneRows), b = min(max(place.end - row, 0), LaneRows);
        return (~0u << a & ~(~0u << b) & 0xffffu) | (~0u << LaneRows & 0xffffu);
    };
    return bits(first) | bits(first + step_tile<LaneRows>::half) << 16;
}

/// All lines of a filled tile; the largest value that is owed of those that the calling warp had.
template <int LaneRows>
__device__ int step_lines(const step_tile<LaneRows>& t, const step_pass& g, const step_place& place) {
    const std::uint32_t counted = counted_rows<LaneRows>(place);
    int most = 0;
    for (int column = static_cast<int>(threadIdx.x) / cuda::warp; column < place.columns(g);
         column += step_warps<LaneRows>)
        most = max(most, step_line(t, column, g, counted));
    return most;
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
