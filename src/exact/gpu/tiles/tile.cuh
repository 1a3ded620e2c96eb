// Lines whose values are small everywhere: a block owns a tile of 32 lines of up to 1024 rows in 16 bits, two rows per
// word, and does a step for each row of distance. Longer lines are cut into windows; a tile then also reads the rows
// beside its window that its steps can reach, and does not write them.
//
// f are the values found so far. f_k(q) = min(f_k-1(q), f_k-1(q - 1) + 2k - 1, f_k-1(q + 1) + 2k - 1) is, after k
// steps, the minimum over rows up to k away of f(r) + (q - r)^2, because 1 + 3 + ... + (2k - 1) = k^2 and the cheapest
// d steps are always allowed. A step costs a sum of halves and a minimum of three for two cells, on different units;
// that for minima runs at half the rate. Steps end when no value exceeds k^2; a tile in which one would still reach
// `cap` after 30 steps goes on the list of unresolved tiles (between.cuh).
//
// A warp owns a line at a time, or several short ones: lane l of a line holds rows [l * n, l * n + n) in the low halves
// of n registers, and the rows `half` further on in the high halves, so that only the outermost rows come from other
// lanes.
#pragma once

#include <cuda_fp16.h>

#include "exact/gpu/ground/common.cuh"
#include "exact/gpu/tiles/windows.cuh"

namespace nearfield::exact {
namespace {

// Measured at 10 %, in ms, with 8 and 16 warps: 256^3 0.119 and 0.136, 1024^2 0.022 and 0.019. Lines of up to 64 rows
// (64^3: 0.020 and 0.018) come in small problems, where warps are few.
template <int Pairs>
inline constexpr int tile_warps = line_lanes<Pairs> < 16 ? line_lanes<Pairs> : 16;
template <int Pairs>
inline constexpr int tile_threads = tile_warps<Pairs> * cuda::warp;
template <int Pairs>
inline constexpr int tile_blocks = 32 / tile_warps<Pairs>;  // blocks on a multiprocessor, for 64 registers a thread
constexpr int tile_pitch = cuda::warp + 1;
// Values are stored as the bits of the half-precision number 1024 + value: exact up to 2047, and in order as integers.
constexpr std::uint32_t half_1024 = 0x6400, half_1023_5 = 0x63ff, half_1 = 0x3c00, half_2 = 0x4000;
constexpr int first_check = 3, steps_a_check = 4;
// Steps after which a line with at least this many lanes of capped values takes no more.
constexpr int stop_after_steps = 8, least_capped_lanes = 12;

NF_HD constexpr std::uint32_t twice(std::uint32_t half) { return half | half << 16; }

__device__ inline std::uint32_t sum_of_halves(std::uint32_t a, std::uint32_t b) {
    __half2 x, y;
    memcpy(&x, &a, sizeof(x));
    memcpy(&y, &b, sizeof(y));
    x = __hadd2(x, y);
    memcpy(&a, &x, sizeof(a));
    return a;
}

/// Output of a pass without sites: the values for the next pass or, in the last one, the caller's fields.
template <bool Last>
struct value_sink {
    std::int32_t* next = nullptr;
    outputs out;
    std::int32_t limit = last_value<std::int32_t>();       ///< larger values mean no site
    std::int64_t wide_limit = last_value<std::int64_t>();  ///< the same for values of 64 bits
    bool limited = false;                                  ///< such values exist; testing costs two instructions a cell

    __device__ void put(std::int64_t cell, std::int32_t value) const {
        if constexpr (Last) out.put_value(cell, value, limit);
        else next[cell] = value;
    }
    /// Does the same for values of 64 bits, which only a last pass has.
    __device__ void put_wide(std::int64_t cell, std::int64_t value) const {
        if constexpr (Last) out.put_value(cell, value, wide_limit);
        else next[cell] = static_cast<std::int32_t>(min(value, std::int64_t{no_site<std::int32_t>()}));
    }
};

/// Output of a tile: lane l's line begins at cell `first`; rows are `inner` apart.
template <bool Last>
struct tile_target {
    const value_sink<Last>& to;
    std::int64_t first;
    std::int32_t inner;
    int lines;

    /// Both factors have 32 bits: one instruction, whereas 64-bit factors take four.
    __device__ std::int64_t row_at(unsigned row) const { return static_cast<std::int64_t>(row) * inner; }
    __device__ void put(unsigned row, std::int32_t value) const {
        to.put(first + row_at(row), min(value, no_site<std::int32_t>()));
    }
    /// Returns the root of a value that the limit may forbid.
    __device__ float root(float value) const {
        return value > static_cast<float>(to.limit) ? __int_as_float(0x7f800000) : root_of_whole(value);
    }
    /// Does the same in any units.
    __device__ float scaled_root(float value) const {
        return value > static_cast<float>(to.limit) ? __int_as_float(0x7f800000) : root_in(to.out.unit2, value);
    }
};

/// Converts a whole number below 2^16 to float without the slow instruction: it becomes the low bits of 2^23 + n.
/// Subtracts `Bias`.
template <bool High, std::int32_t Bias>
__device__ float whole_half(std::uint32_t two) {
    return __uint_as_float(__byte_perm(two, 0x4b000000u, High ? 0x7632 : 0x7610)) - (8388608.0f + Bias);
}

/// A tile in shared memory: word (pair, line) holds rows `pair` and `pair + half` of the line.
template <int Pairs>
struct tile {
    static constexpr unsigned half = Pairs;
    static constexpr unsigned lanes = line_lanes<Pairs>, lane_words = lane_pairs<Pairs>;
    // Shift of a lane's words, per lane, so that the lanes of a warp use different banks.
    static constexpr unsigned skew =
        lanes < cuda::warp ? (2 * cuda::warp + cuda::warp / lanes - lane_words) % cuda::warp : (lane_words + 1) % 2;
    // Roots come from a table if a block has enough cells to pay for it.
    static constexpr bool has_roots = Pairs > 128;
    static constexpr unsigned root_words = has_roots ? cap + 1 : 0;
    static constexpr int line_words = half * tile_pitch + lanes * skew;
    static constexpr int words = line_words + root_words;
    std::uint32_t* at;

    __device__ float* roots() const { return reinterpret_cast<float*>(at + line_words); }

    __device__ std::uint32_t& word(unsigned pair, unsigned line) const {
        return at[pair * tile_pitch + line + pair / lane_words * skew];
    }
};

template <int Pairs>
__device__ void fill_roots(const tile<Pairs>& t, const value_sink<true>& to) {
    if (to.out.only_within) return;
    if constexpr (t.has_roots)
        for (unsigned i = threadIdx.x; i < t.root_words; i += tile_threads<Pairs>) {
            const auto value = static_cast<float>(i);
            t.roots()[i] = static_cast<std::int32_t>(i) > to.limit ? __int_as_float(0x7f800000)
                           : to.out.in_units()                     ? root_in(to.out.unit2, value)
                                                                   : root_of_whole(value);
        }
}

/// Fills the tile; a thread owns two rows: distances along them from left to right, then back, squared on the way.
template <int Pairs>
__device__ void fill_from_words(const tile<Pairs>& t, const line_word* words, int rows, int half) {
    for (int pair = static_cast<int>(threadIdx.x); pair < static_cast<int>(t.half); pair += tile_threads<Pairs>) {
        const line_word a = pair < rows ? words[pair] : word_without_sites();
        const line_word b = pair + static_cast<int>(t.half) < rows ? words[pair + t.half] : word_without_sites();
        const std::uint32_t low = ~__byte_perm(a.sites, b.sites, 0x5410), high = ~__byte_perm(a.sites, b.sites, 0x7632);
        // Cells without a site have 2^6 or more, which no distance below the cap reaches: bits 6 to 15 of four words.
        const std::uint32_t bits[4] = {(low & twice(0x03ff)) << 6, low >> 4 & twice(0x0fff),
                                       (high & twice(0x03ff)) << 6, high >> 4 & twice(0x0fff)};
        const auto pack = [](std::int32_t of_a, std::int32_t of_b) {
            return static_cast<std::uint32_t>(min(of_a, 64) - 1) | static_cast<std::uint32_t>(min(of_b, 64) - 1) << 16;
        };
        // In halves, because the compiler places arrays of one type together, and one that does not fit registers (that
        // of write_square) drags the others into local memory: half as many bytes again as the distances.
        std::uint32_t from_left[2][16];
        std::uint32_t distance = pack(a.before(), b.before());
#pragma unroll
        for (int i = 0; i < cuda::warp; ++i) {
            const int in_half = i % 16, word = i / 16 * 2 + in_half / 10,
                      bit = in_half < 10 ? in_half + 6 : in_half - 4;
            distance = __viaddmin_u16x2(distance, twice(1), bits[word] & twice(1) << bit);
            from_left[i / 16][in_half] = distance;
        }
        // d^2 + 1024; or (d + 1/2)^2 + 1023.5, which rounds to d (d + 1) + 1024.
        const __half one_bias = __ushort_as_half(half == 0 ? half_1024 : half_1023_5);
        const __half2 bias = __half2(one_bias, one_bias);
        distance = pack(a.after(), b.after());
#pragma unroll
        for (int i = cuda::warp - 1; i >= 0; --i) {
            distance = __viaddmin_u16x2(distance, twice(1), from_left[i / 16][i % 16]);
            const std::uint32_t capped = __viaddmin_u16x2(distance, twice(half_1024), twice(half_1024 + cap_distance));
            __half2 d;
            memcpy(&d, &capped, sizeof(d));
            d = __hsub2(d, bias);
            d = __hfma2(d, d, bias);
            memcpy(&t.word(pair, i), &d, sizeof(d));
        }
    }
}

/// Returns the largest value of the lane's rows among those that the tile finishes.
template <int Pairs>
__device__ std::int32_t largest_of(const std::uint32_t (&v)[lane_pairs<Pairs>], const tile_rows& r) {
    constexpr int half = Pairs, words = lane_pairs<Pairs>;
    const int first = static_cast<int>(threadIdx.x) % line_lanes<Pairs> * words;
    const auto counts = [&](int row) { return row >= r.from && row < r.end; };
    std::uint32_t most = 0;
    if (r.end - r.from == 2 * half) {
#pragma unroll
        for (int i = 0; i < words; ++i) most = __vmaxu2(most, v[i]);
    } else if (r.from % words == 0 && r.end % words == 0) {
#pragma unroll
        for (int i = 0; i < words; ++i) most = __vmaxu2(most, v[i]);
        most &= (counts(first) ? 0xffffu : 0) | (counts(first + half) ? 0xffff0000u : 0);
    } else {
        // In the lane with the last row the words before it count, in earlier lanes all.
        const int full = r.end % words;
        const auto counted = [&](int more) {
            const auto both = [&](int row) { return counts(row) && counts(row + more); };
            return (both(first) ? 0xffffu : 0) | (both(first + half) ? 0xffff0000u : 0);
        };
        const std::uint32_t some = counted(0), all = counted(words - 1);
#pragma unroll
        for (int i = 0; i < words; ++i) most = __vmaxu2(most, v[i] & (i < full ? some : all));
    }
    return static_cast<std::int32_t>(max(most & 0xffff, most >> 16)) - static_cast<std::int32_t>(half_1024);
}

/// Gives each row of a line the value of the row behind it, if that is less: the first one behind costs nothing more if
/// `half` is 1, and steps then cost 2 + 4 + ... + 2k = k (k + 1), both ways.
template <int Pairs>
__device__ void take_rows_behind(std::uint32_t (&v)[lane_pairs<Pairs>], int select_down) {
    constexpr int lanes = line_lanes<Pairs>, words = lane_pairs<Pairs>;
    const int next = (static_cast<int>(threadIdx.x) + 1) % lanes;
    const std::uint32_t down = __shfl_sync(cuda::every_lane, v[0], next, lanes);
#pragma unroll
    for (int i = 0; i + 1 < words; ++i) v[i] = __vminu2(v[i], v[i + 1]);
    v[words - 1] = __vminu2(v[words - 1], __byte_perm(down, twice(half_1024 + cap), select_down));
}

/// Finishes as many lines per warp as it has lanes for, of which those of the lanes `counts` matter. Returns false if
/// one has values for which 16 bits or a few steps do not suffice. Values above `limit` are ignored; a limit below the
/// cap always suffices. It is one function, because the line stays in registers.
template <int Pairs>
__device__ bool finish_lines(const tile<Pairs>& t, int line, bool counts, const tile_rows& r, int first_steps,
                             std::int32_t limit) {
    constexpr int lanes = line_lanes<Pairs>, words = lane_pairs<Pairs>;
    const int lane = static_cast<int>(threadIdx.x) % lanes;
    std::uint32_t v[words];
#pragma unroll
    for (int i = 0; i < words; ++i) v[i] = t.word(lane * words + i, line);
    // Nothing precedes the first row; row `half` follows the last row of the low halves. Likewise at the other end.
    const int select_up = lane == 0 ? 0x1054 : 0x3210, select_down = lane == lanes - 1 ? 0x5432 : 0x3210;
    std::uint32_t weight = twice(r.half != 0 ? half_2 : half_1);
    if (r.half != 0) take_rows_behind<Pairs>(v, select_down);
    for (int k = 1, steps = first_steps;;) {
#pragma unroll 2
        for (; steps > 0; --steps, ++k) {
            const std::uint32_t up = __shfl_sync(cuda::every_lane, v[words - 1], (lane + lanes - 1) % lanes, lanes);
            const std::uint32_t down = __shfl_sync(cuda::every_lane, v[0], (lane + 1) % lanes, lanes);
            const std::uint32_t below = sum_of_halves(__byte_perm(down, twice(half_1024 + cap), select_down), weight);
            std::uint32_t above = sum_of_halves(__byte_perm(up, twice(half_1024 + cap), select_up), weight);
            std::uint32_t here = sum_of_halves(v[0], weight);
#pragma unroll
            for (int i = 0; i < words; ++i) {
                const std::uint32_t next = i + 1 < words ? sum_of_halves(v[(i + 1) % words], weight) : below;
                v[i] = __vimin3_u16x2(v[i], above, next);
                above = here, here = next;
            }
            weight = sum_of_halves(weight, twice(half_2));
        }
        // k - 1 steps are done: sites farther away cost k^2 or more.
        if (k * k > limit) break;
        const std::int32_t mine = counts ? largest_of<Pairs>(v, r) : 0,
                           most = __reduce_max_sync(cuda::every_lane, mine);
        if (most <= min(k * k, cap - 1)) break;
        const int capped = limit < cap ? 0 : __popc(__ballot_sync(cuda::every_lane, mine >= cap));
        if (k >= cap_distance && capped > 0) return false;
        if (k > stop_after_steps && capped >= least_capped_lanes) return false;
        steps = 1;
#pragma unroll
        for (int i = 1; i < steps_a_check; ++i) steps += (k + i) * (k + i) < most ? 1 : 0;
    }
#pragma unroll
    for (int i = 0; i < words; ++i) t.word(lane * words + i, line) = v[i];
    return true;
}

/// Writes rows, a line per lane: `put(row, bits)` writes a value's half-precision bits to a row of the tile. (Stores of
/// 16 bytes per lane, four rows of 128 bytes at once, take three times as long as of 128 contiguous bytes.)
template <int Pairs, class Put>
__device__ void write_rows(const tile<Pairs>& t, int from, int end, const Put& put) {
    constexpr int warps = tile_warps<Pairs>, half = t.half;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int row = from + warp; row < min(half, end); row += warps) put(row, t.word(row, lane) & 0xffff);
    for (int row = max(from, half) + warp; row < end; row += warps) put(row, t.word(row - half, lane) >> 16);
}
/// Writes words both of whose halves are wanted, without a test for each; `All` is for full tiles, at compile time.
template <bool All, int Pairs, class Cell, class CellOf>
__device__ void write_pairs(const tile<Pairs>& t, Cell* out, std::int32_t inner, int from, int end,
                            const CellOf& cell_of) {
    const unsigned lane = threadIdx.x % cuda::warp, first = threadIdx.x / cuda::warp + (All ? 0 : from);
    const unsigned last = All ? t.half : end;
    Cell* low = out + static_cast<std::int64_t>(first) * inner;
    Cell* high = low + static_cast<std::int64_t>(t.half) * inner;
    const std::int64_t step = static_cast<std::int64_t>(tile_warps<Pairs>) * inner;
#pragma unroll 4
    for (unsigned pair = first; pair < last; pair += tile_warps<Pairs>, low += step, high += step) {
        const std::uint32_t two = t.word(pair, lane);
        const Cell a = cell_of(two & 0xffff), b = cell_of(two >> 16);
        *low = a;
        *high = b;
    }
}
template <int Pairs, class Cell, class CellOf>
__device__ void write_cells(const tile<Pairs>& t, Cell* out, std::int32_t inner, const tile_rows& r,
                            const CellOf& cell_of) {
    constexpr int half = t.half;
    if (r.end - r.from == 2 * half) return write_pairs<true>(t, out, inner, 0, half, cell_of);
    const auto put = [&](int row, std::uint32_t bits) { out[static_cast<std::int64_t>(row) * inner] = cell_of(bits); };
    if (r.end - half <= r.from) return write_rows(t, r.from, r.end, put);
    write_pairs<false>(t, out, inner, r.from, r.end - half, cell_of);
    write_rows(t, r.end - half, half + r.from, put);
}

template <int Pairs, bool Last>
__device__ void write_tile(const tile<Pairs>& t, const tile_target<Last>& target, const tile_rows& r) {
    constexpr auto bias = static_cast<std::int32_t>(half_1024);
    if (static_cast<int>(threadIdx.x) % cuda::warp >= target.lines) return;
    const std::int64_t corner = target.first + target.row_at(r.first);
    if constexpr (!Last) {
        return write_cells(t, target.to.next + corner, target.inner, r,
                           [](std::uint32_t bits) { return static_cast<std::int32_t>(bits) - bias; });
    } else {
        if (target.to.out.only_within) {
            const auto most = static_cast<std::uint32_t>(min(target.to.limit, cap - 1) + bias);
            return write_cells(t, target.to.out.within + corner, target.inner, r,
                               [=](std::uint32_t bits) { return static_cast<std::uint8_t>(bits <= most); });
        }
        float* const out = target.to.out.distance32 + corner;
        if constexpr (t.has_roots) {
            if (target.to.out.only_distance32)
                return write_cells(t, out, target.inner, r,
                                   [&](std::uint32_t bits) { return t.roots()[bits - half_1024]; });
        } else if (target.to.out.only_distance32) {
            if (target.to.out.in_units())
                return write_cells(t, out, target.inner, r, [&](std::uint32_t bits) {
                    return target.scaled_root(whole_half<false, bias>(bits));
                });
            return write_cells(t, out, target.inner, r,
                               [&](std::uint32_t bits) { return target.root(whole_half<false, bias>(bits)); });
        }
        write_rows(t, r.from, r.end, [&](int row, std::uint32_t bits) {
            target.put(r.first + row, static_cast<std::int32_t>(bits) - bias);
        });
    }
}

/// Finishes a filled tile of `count` lines, with `first_steps` steps before the first test. Returns false, in all
/// threads of the block, if the tile is unresolved.
template <int Pairs>
__device__ bool finish_all_lines(const tile<Pairs>& t, int count, const tile_rows& r, int first_steps,
                                 std::int32_t limit) {
    __syncthreads();
    bool fits = true;
    constexpr int lanes = line_lanes<Pairs>, lines = cuda::warp / lanes;  // lines of a warp at a time
    const int thread = static_cast<int>(threadIdx.x), nth = thread % cuda::warp / lanes;
    for (int line = thread / cuda::warp * lines; line < count && fits; line += tile_warps<Pairs> * lines)
        fits = finish_lines(t, line + nth, line + nth < count, r, first_steps, limit);
    return !__syncthreads_or(!fits);
}
/// Does the same, and writes the finished cells.
template <int Pairs, bool Last>
__device__ bool finish_tile(const tile<Pairs>& t, const tile_target<Last>& target, const tile_rows& r,
                            int first_steps) {
    if (!finish_all_lines(t, target.lines, r, first_steps, target.to.limit)) return false;
    write_tile(t, target, r);
    return true;
}

}  // namespace
}  // namespace nearfield::exact
