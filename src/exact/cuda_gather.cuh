// The pass that follows packed lines (cuda_bits.cuh), a block 32 lines. Where the tile has enough sites, 16 bits and a
// few steps (cuda_tile.cuh). Where sites are few, a warp takes 32 rows of the 32 lines and offers them, one row with
// sites after another, every row that could win somewhere in that square. What both cannot do goes to the hulls
// (cuda_hard.cuh).
//
// For each row with sites: `near`, how far the 32 lines are from the nearest of its sites, and `reach`, what none of
// them exceeds. Then reach^2 + (most rows apart)^2 bounds every value of the square from above, near^2 + (fewest rows
// apart)^2 the row's own from below, and rows whose lower bound exceeds the least upper bound are left out.
#pragma once

#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int square_rows = 32;
// Rows that could win in a square, at most and on average over those of a warp: with more the hulls are cheaper.
constexpr int most_offers = 96, many_offers = 64;
constexpr int pairs_a_bound = 3;     // after so many offers, a look at what the largest value has become
constexpr int dense_per_10000 = 40;  // share of sites from which steps cost less than offers

/// A row with sites: its number, near << 10 and reach << 20.
struct sited_row {
    std::uint32_t bits;

    __device__ std::int32_t row() const { return static_cast<std::int32_t>(bits & 1023); }
    __device__ std::int32_t near() const { return static_cast<std::int32_t>(bits >> 10 & 1023); }
    __device__ std::int32_t reach() const { return static_cast<std::int32_t>(bits >> 20); }
};

/// Cells from the word, whose first cell is at x, to the line's nearest site.
__device__ inline std::int32_t near_word(const line_word& word, std::int32_t x) {
    return word.sites != 0 ? 0 : min(x - word.before(), word.after() - (x + 31));
}

/// False for a row without sites.
__device__ inline bool sited(const line_word& word, std::int32_t x, int row, sited_row& out) {
    const std::int32_t near = near_word(word, x);
    std::int32_t reach = 0;
    if (word.sites != 0) {
        const std::int32_t first = __ffs(static_cast<int>(word.sites)) - 1,
                           behind = __clz(static_cast<int>(word.sites));
        reach = max(max(first, behind), (32 - behind - first) / 2);
    } else {
        if (near >= too_far) return false;
        reach = min(min(near + 31, (1 + word.after() - word.before()) / 2), bit_rows - 1);
    }
    out.bits = static_cast<std::uint32_t>(row | near << 10 | reach << 20);
    return true;
}

/// What a row offers to a lane's line: its value there, and the rows from it to the first of the square. Offers are
/// taken in pairs, so that one minimum of three serves both.
struct offered {
    std::int32_t value, e;
};

/// 32 rows of a lane's line, two a word: value - i^2 + bias of rows i and i + 16. What a row offers is linear in i
/// then: f + (e + i)^2 - i^2 with e the rows from it to the first. Holds while nothing that counts exceeds `bound`:
/// rows that far are up to 130 + 31 away, and far_value + 161^2 + bias is below 2^16.
class narrow_square {
public:
    static constexpr std::int32_t bound = 130 * 130;

    __device__ narrow_square() {
#pragma unroll
        for (auto& both : best_) both = 0xffffffffu;
    }
    __device__ void offer(const offered& one, const offered& other) {
        const std::uint32_t first = start(one), second = start(other);
#pragma unroll
        for (std::uint32_t i = 0; i < 16; ++i)
            best_[i] = __vimin3_u16x2(best_[i], first + i * step(one), second + i * step(other));
    }
    __device__ std::int32_t largest() const {
        std::uint32_t most = 0;
#pragma unroll
        for (int i = 0; i < 16; ++i)
            most = __viaddmax_u16x2(best_[i], static_cast<std::uint32_t>(i * i | (i + 16) * (i + 16) << 16), most);
        return static_cast<std::int32_t>(max(most & 0xffff, most >> 16)) - bias;
    }
    template <int I>
    __device__ float value() const {
        return whole_half<(I >= 16), bias - I * I>(best_[I % 16]);
    }

private:
    static __device__ std::uint32_t start(const offered& row) {
        const auto low = static_cast<std::uint32_t>(min(row.value, far_value) + row.e * row.e + bias);
        return ((low + 32 * static_cast<std::uint32_t>(row.e)) << 16) + low;
    }
    static __device__ std::uint32_t step(const offered& row) { return 2 * static_cast<std::uint32_t>(row.e) * 65537; }

    static constexpr std::int32_t far_value = 38000, bias = 1024;
    static_assert(far_value + 161 * 161 + bias < 1 << 16 && bias > 31 * 31);
    std::uint32_t best_[16];
};

/// The same for any values, a row a word.
class wide_square {
public:
    __device__ wide_square() {
#pragma unroll
        for (auto& one : best_) one = no_site<std::int32_t>();
    }
    __device__ void offer(const offered& one, const offered& other) {
        const std::int32_t first = one.value + one.e * one.e, second = other.value + other.e * other.e;
#pragma unroll
        for (int i = 0; i < square_rows; ++i)
            best_[i] = __vimin3_s32(best_[i], first + 2 * i * one.e, second + 2 * i * other.e);
    }
    __device__ std::int32_t largest() const {
        std::int32_t most = 0;
#pragma unroll
        for (int i = 0; i < square_rows; ++i) most = __viaddmax_s32(best_[i], i * i, most);
        return most;
    }
    template <int I>
    __device__ float value() const {
        return __uint_as_float(static_cast<std::uint32_t>(best_[I] + I * I) | 0x4b000000u) - 8388608.0f;
    }

private:
    std::int32_t best_[square_rows];
};

/// What of a list of rows can win, and a bound of all values.
struct window {
    std::int32_t bound;
    int left, right;
};

/// A warp's square, and the rows with sites of its tile in order.
struct square {
    const line_word* words;
    const sited_row* list;
    int count;   ///< of the list
    int middle;  ///< in the list: first row from `top` on
    std::int32_t x;
    int top, bottom;  ///< first and last row
    int lane;

    __device__ std::int32_t rows_to(std::int32_t row) const { return max(max(top - row, row - bottom), 0); }
    __device__ std::int32_t least(sited_row s) const {
        const std::int32_t apart = rows_to(s.row());
        return s.near() * s.near() + apart * apart;
    }
    __device__ std::int32_t most(sited_row s) const {
        const std::int32_t apart = max(abs(s.row() - top), abs(s.row() - bottom));
        return s.reach() * s.reach() + apart * apart;
    }
    /// Looks outward, 32 rows at a time, until what is farther cannot win.
    __device__ window look() const {
        window w{no_site<std::int32_t>(), middle, middle};
        for (bool more = true; more;) {
            more = false;
            std::int32_t here = no_site<std::int32_t>();
            const auto wanted = [&](sited_row nearest) {
                const std::int32_t apart = rows_to(nearest.row());
                return apart * apart <= w.bound;
            };
            if (w.right < count && wanted(list[w.right])) {
                if (w.right + lane < count) here = most(list[w.right + lane]);
                w.right = min(w.right + cuda::warp, count), more = true;
            }
            if (w.left > 0 && wanted(list[w.left - 1])) {
                if (w.left - 1 - lane >= 0) here = min(here, most(list[w.left - 1 - lane]));
                w.left = max(w.left - cuda::warp, 0), more = true;
            }
            if (more) w.bound = min(w.bound, __reduce_min_sync(cuda::every_lane, here));
        }
        return w;
    }
    /// Rows that could win, as far as can be told in advance.
    __device__ int offers(const window& w) const {
        int offers = 0;
        for (int at = w.left; at < w.right; at += cuda::warp)
            offers += __popc(__ballot_sync(cuda::every_lane, at + lane < w.right && least(list[at + lane]) <= w.bound));
        return offers;
    }
};

/// Offers what could win, nearest groups of rows first.
template <class Values>
__device__ void gather(const square& s, const window& w, Values& best) {
    std::int32_t bound = w.bound, mine = w.bound + 1;  // the lane has no use for values from `mine` on
    offered waiting{};
    int since = 0;
    bool waits = false;
    for (int up = s.middle - cuda::warp, down = s.middle; down < w.right || up + cuda::warp > w.left;
         up -= cuda::warp, down += cuda::warp) {
#pragma unroll 1
        for (const bool before : {false, true}) {
            const int at = (before ? up : down) + s.lane;
            std::int32_t least = no_site<std::int32_t>(), row = 0;
            line_word word{};
            if (at >= w.left && at < w.right) {
                row = s.list[at].row(), least = s.least(s.list[at]);
                if (least <= bound) word = s.words[row];
            }
            std::uint32_t wanted = __ballot_sync(cuda::every_lane, least <= bound);
            while (wanted != 0) {
                const int nth = before ? 31 - __clz(static_cast<int>(wanted)) : __ffs(static_cast<int>(wanted)) - 1;
                const line_word theirs{__shfl_sync(cuda::every_lane, word.sites, nth),
                                       __shfl_sync(cuda::every_lane, word.beside, nth)};
                const std::int32_t apart = theirs.distance(s.lane, s.x + s.lane);
                const int from = __shfl_sync(cuda::every_lane, row, nth), rows = s.rows_to(from);
                wanted &= ~(1u << nth);
                if (!__any_sync(cuda::every_lane, apart * apart + rows * rows < mine)) continue;
                const offered here{apart * apart, s.top - from};
                waits = !waits;
                if (waits) waiting = here;
                else best.offer(waiting, here);
                if (waits || ++since < pairs_a_bound) continue;
                since = 0;
                mine = min(mine, best.largest());
                bound = min(bound, __reduce_max_sync(cuda::every_lane, mine));
                wanted &= __ballot_sync(cuda::every_lane, least <= bound);
            }
        }
    }
    if (waits) best.offer(waiting, waiting);
}

template <bool Last, class Values, int... I>
__device__ void write_square(const square& s, const tile_target<Last>& target, const Values& best,
                             std::integer_sequence<int, I...>) {
    if (s.lane >= target.lines) return;
    const int rows = s.bottom - s.top + 1;
    if constexpr (Last) {
        if (target.to.out.only_distance32 && !target.to.limited && rows == square_rows) {
            float* out = target.to.out.distance32 + target.first + target.row_at(s.top);
            ((*out = root_of_whole(best.template value<I>()), out += target.inner), ...);
            return;
        }
    }
    // In memory of the thread's own, so that what puts any combination of fields stands here once and not 32 times.
    const std::int32_t values[] = {static_cast<std::int32_t>(best.template value<I>())...};
#pragma unroll 1
    for (int i = 0; i < rows; ++i) target.put(s.top + i, values[i]);
}

template <class Values, bool Last>
__device__ void finish_square_in(const square& s, const window& w, const tile_target<Last>& target) {
    Values best;
    gather(s, w, best);
    write_square(s, target, best, std::make_integer_sequence<int, square_rows>{});
}

template <bool Last>
__device__ void finish_square(const square& s, const window& w, const tile_target<Last>& target) {
    if (s.count == 0) {
        if (s.lane < target.lines)
            for (int row = s.top; row <= s.bottom; ++row) target.put(row, no_site<std::int32_t>());
    } else if (w.bound <= narrow_square::bound) {
        finish_square_in<narrow_square>(s, w, target);
    } else {
        finish_square_in<wide_square>(s, w, target);
    }
}

/// The tile's rows with sites, in order; lane l returns how many come before row 32 * l. `counts` holds 32 numbers.
template <int LaneRows>
__device__ int list_sited_rows(const line_word* words, int rows, std::int32_t x, int* counts, sited_row* list,
                               int& total) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    constexpr int groups = cuda::warp / tile_warps<LaneRows>;
    sited_row mine[groups];
    std::uint32_t filled[groups];
#pragma unroll
    for (int i = 0; i < groups; ++i) {
        const int group = warp + i * tile_warps<LaneRows>, row = group * cuda::warp + lane;
        filled[i] = __ballot_sync(cuda::every_lane, row < rows && sited(words[row], x, row, mine[i]));
        if (lane == 0) counts[group] = __popc(filled[i]);
    }
    __syncthreads();
    const int here = counts[lane];
    int upto = here;
    for (int o = 1; o < cuda::warp; o *= 2) {
        const int other = __shfl_up_sync(cuda::every_lane, upto, o);
        if (lane >= o) upto += other;
    }
    total = __shfl_sync(cuda::every_lane, upto, cuda::warp - 1);
    const int before = upto - here;
#pragma unroll
    for (int i = 0; i < groups; ++i) {
        const int start = __shfl_sync(cuda::every_lane, before, warp + i * tile_warps<LaneRows>);
        if (filled[i] >> lane & 1) list[start + __popc(filled[i] & ((1u << lane) - 1))] = mine[i];
    }
    __syncthreads();
    return before;
}

/// For all threads alike: steps that the tile will need at least, as far as the share of sites tells (a look at whether
/// they suffice costs nearly as much as a step); 0 when sites are few, or when somewhere a gap is so wide that steps
/// would be in vain, seen from the middle of every second 32 rows (of short lines, of all). `counts` holds one number a
/// warp.
template <int LaneRows>
__device__ int steps_worth(const line_word* words, int rows, std::int32_t x, int width, int* counts) {
    constexpr int groups = (2 * tile<LaneRows>::half + tile_threads<LaneRows> - 1) / tile_threads<LaneRows>;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < groups; ++i) {
        const int row = static_cast<int>(threadIdx.x) + i * tile_threads<LaneRows>, top = row - lane;
        const line_word word = row < rows ? words[row] : word_without_sites();
        sites += __popc(word.sites);
        if ((LaneRows > 2 && top % (2 * cuda::warp) != 0) || top >= rows) continue;
        const std::int32_t near = min(near_word(word, x), cap_distance), apart = lane - min(rows - top, cuda::warp) / 2;
        gap |= !__any_sync(cuda::every_lane, near * near + apart * apart < cap);
    }
    sites = __reduce_add_sync(cuda::every_lane, sites);
    if (lane == 0) counts[threadIdx.x / cuda::warp] = gap ? -bit_rows * bit_rows : sites;
    __syncthreads();
    sites = 0;
#pragma unroll
    for (int w = 0; w < tile_warps<LaneRows>; ++w) sites += counts[w];
    if (sites * 10000LL < static_cast<long long>(dense_per_10000) * rows * width) return 0;
    constexpr float share = LaneRows > 2 ? 0.9f : 0.6f;  // short lines have fewer cells that are far from all sites
    const float cells_a_site = static_cast<float>(rows * width) / static_cast<float>(sites);
    return max(first_check, static_cast<int>(share * sqrtf(cells_a_site)));
}

/// A block a tile: by steps, else by offers, else onto the list. One function, because each way takes over the tile's
/// shared memory and barriers from the one before.
template <int LaneRows, bool Last>
__global__ void __launch_bounds__(tile_threads<LaneRows>, tile_blocks<LaneRows>)
    search_words(const packed_lines lines, const metric<std::int32_t> m, const hard_tiles hard,
                 const sink<std::int32_t, std::int32_t, false, Last> to) {
    extern __shared__ std::uint32_t tile_words[];
    __shared__ int counts[cuda::warp];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t outer = quotient(blockIdx.x, lines.columns);
    const auto x = static_cast<std::int32_t>(blockIdx.x - outer * lines.columns) * cuda::warp;
    const line_word* const words = lines.words + blockIdx.x * lines.rows;
    const int rows = static_cast<int>(lines.rows), width = min(static_cast<int>(lines.length) - x, cuda::warp);
    const tile_target<Last> target{
        m, to, outer * lines.rows * lines.length + x + lane, static_cast<std::int32_t>(lines.length), rows, width};
    // Within a limit below the cap steps always do.
    const int steps = to.limit < cap ? first_check : steps_worth<LaneRows>(words, rows, x, width, counts);
    if (steps > 0) {
        const tile<LaneRows> t{tile_words};
        if constexpr (Last) fill_roots(t);
        fill_from_words(t, words, rows, x);
        if (finish_tile(t, target, steps)) return;
    }
    __syncthreads();
    auto* const list = reinterpret_cast<sited_row*>(tile_words);
    int total;
    const int before = list_sited_rows<LaneRows>(words, rows, x, counts, list, total);
    constexpr int step = tile_warps<LaneRows> * square_rows;
    constexpr int most_squares = (2 * tile<LaneRows>::half + step - 1) / step;  // of a warp
    const auto square_at = [&](int top) {
        const int middle = __shfl_sync(cuda::every_lane, before, top / square_rows);
        return square{words, list, total, middle, x, top, min(top + square_rows, rows) - 1, lane};
    };
    __shared__ window windows[tile_warps<LaneRows>][most_squares];
    int offers = 0, squares = 0;
    bool fits = true;
#pragma unroll
    for (int i = 0; i < most_squares; ++i) {
        const int top = warp * square_rows + i * step;
        if (top >= rows) break;
        const square s = square_at(top);
        const window w = s.look();
        if (lane == 0) windows[warp][i] = w;
        const int here = s.offers(w);
        offers += here, ++squares;
        fits &= here <= most_offers;
    }
    if (__syncthreads_or(!fits || offers > squares * many_offers)) return hard.add();
    static_assert(most_squares <= 2);
#pragma unroll 1
    for (int i = 0; i < squares; ++i) finish_square(square_at(warp * square_rows + i * step), windows[warp][i], target);
}

}  // namespace
}  // namespace nearfield::exact
