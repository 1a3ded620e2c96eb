// Squares of 32 rows of 32 columns between two posts (cuda_options_far_lines.cuh), a warp each, as
// cuda_post_squares.cuh does them: what a row offers is told relative to the first one left. Where a column changes
// within the square, the square is done twice: for the cells of the class of its first row, and for the others.
#pragma once

#include "exact/cuda_options_far_lines.cuh"

namespace nearfield::exact {
namespace {

/// A square and what its lanes have left, both ends included.
struct far_square {
    const class_word* words;     ///< of the column
    int lane, top, rows;         ///< first row, and how many
    int width;                   ///< lanes within the line
    std::uint32_t downs;         ///< of the lane's column: bit i: row top + i + 1 is not of the class of the row above
    int from, end;               ///< rows that win at the posts above and below
    bool from_other, end_other;  ///< that are of another class there
    int bottom;                  ///< row of the post below
    float* out;                  ///< of the lane's first cell
    std::uint32_t minus = 0, sites = 0;  ///< of the lane's cells

    __device__ far_square(const far_shape& c, std::int64_t nth) {
        const int lane_here = static_cast<int>(threadIdx.x) % cuda::warp;
        const std::int64_t above = quotient(nth, c.columns), image = quotient(above, c.posts - 1);
        const int column = static_cast<int>(nth - above * c.columns),
                  post = static_cast<int>(above - image * (c.posts - 1)), x = column * cuda::warp,
                  all = static_cast<int>(c.rows);
        width = min(static_cast<int>(c.length) - x, cuda::warp), lane = min(lane_here, width - 1);
        top = post * far_call::post_rows, rows = min(all - top, cuda::warp);
        bottom = c.row_of(post + 1);
        words = c.lines + c.column(image, column);
        const std::uint16_t* const winners = c.winners + c.post(image, post) + x + lane;
        from = winners[0], end = winners[c.length];
        const std::uint32_t* const changed = c.downs + c.column(image, column);
        const int next = top + 1 + lane_here;
        downs = columns_of(next < all ? changed[next] : 0);
        from_other = is_other(changed, from, top), end_other = is_other(changed, end, bottom);
        out = c.distance + (image * all + top) * c.length + x + lane;
        const std::int64_t word = (image * all + top + min(lane_here, rows - 1)) * c.columns + column;
        if (c.zeros != nullptr) {
            minus = columns_of(c.zeros[word]) ^ (c.zeros_are_minus ? 0 : ~0u);
        }
        if (c.sites != nullptr) sites = columns_of(c.sites[word]);
    }
    [[nodiscard]] __device__ int most_left() const { return __reduce_max_sync(cuda::every_lane, end - from); }
    [[nodiscard]] __device__ std::uint32_t within() const { return rows < cuda::warp ? (1u << rows) - 1 : ~0u; }
    [[nodiscard]] __device__ bool is_simple() const { return !__any_sync(cuda::every_lane, downs != 0); }

private:
    /// From a lane a row to a lane a column.
    [[nodiscard]] __device__ std::uint32_t columns_of(std::uint32_t row) const {
        if (__all_sync(cuda::every_lane, row == 0)) return 0;
        return __shfl_sync(cuda::every_lane, turn_bits(row), lane);
    }
    /// Whether row `row` is of another class than row `post`, given that no row between is.
    [[nodiscard]] __device__ bool is_other(const std::uint32_t* changed, int row, int post) const {
        return row != post && (changed[row < post ? row + 1 : row] >> lane & 1) != 0;
    }
};

/// The rows that the calling lane has left for some of its cells, one after another.
template <bool Simple>
struct far_rows {
    const class_word* words;  ///< of the first row
    int lane, last, rows;     ///< last row, and those from the first row to the square
    int zero_at;              ///< which but the first is worth 0
    std::uint32_t others;     ///< rows of the square that are
    std::int32_t value = 0;   ///< of the first row at the square's first

    __device__ far_rows(const far_square& s, int from, int end, bool from_other, bool end_other, std::uint32_t others)
        : words(s.words + from),
          lane(s.lane),
          last(end - from),
          rows(s.top - from),
          zero_at(from_other ? 0 : -1),
          others(others) {
        value = static_cast<std::int32_t>(value_of(load(0), 0));
        zero_at = end_other ? last : -1;
    }
    [[nodiscard]] __device__ class_word load(int k) const { return k <= last ? words[k] : word_without_changes(); }
    [[nodiscard]] __device__ std::uint32_t value_of(const class_word& word, int k) const {
        // Most words have no changes here.
        std::int32_t apart =
            min(__any_sync(cuda::every_lane, word.changes != 0) ? distance_in(word, lane)
                                                                : min(before(word) + lane, after(word) + 31 - lane),
                far_apart);
        const int e = k - rows;
        bool zero = k == zero_at;
        if constexpr (!Simple) zero |= e >= 0 && e < cuda::warp && (others >> e & 1) != 0;
        if (zero) apart = 0;
        return static_cast<std::uint32_t>(apart * apart) + static_cast<std::uint32_t>(e * e);
    }
    [[nodiscard]] __device__ std::uint32_t relative(const class_word& word, int k) const {
        return value_of(word, k) - static_cast<std::uint32_t>(value);
    }
    /// No value of the lane's 32 rows exceeds it, by the one row.
    [[nodiscard]] __device__ std::int32_t bound() const {
        const std::int32_t apart2 = value - rows * rows, most = max(abs(rows), abs(rows + cuda::warp - 1));
        return apart2 + most * most;
    }
};

/// Writes the lane's cells of `mask`; `whole(i)` is the squared distance of cell i.
struct far_target {
    const far_shape& c;
    const far_square& s;

    __device__ float distance_of(std::int32_t value) const {
        if (value > c.limit) return __int_as_float(0x7f800000);
        return static_cast<float>(__dsqrt_rn(static_cast<double>(value) * c.unit2));
    }
    __device__ void put(int i, float distance) const {
        s.out[i * c.length] = __uint_as_float(__float_as_uint(distance) ^ (s.minus << (31 - i) & 0x80000000u));
    }
    __device__ void put_sites(std::uint32_t mask) const {
        for (mask &= s.sites; mask != 0; mask &= mask - 1) put(__ffs(static_cast<int>(mask)) - 1, 0.0f);
    }
};

template <bool Simple, int... I>
__device__ void write_far(const far_target& to, std::uint32_t mask, std::int32_t bound, const relative_square& best,
                          const far_rows<Simple>& of, std::integer_sequence<int, I...>) {
    const far_shape& c = to.c;
    if (bound < float_bound && bound <= c.limit && c.unit2 == 1) {
        const auto distance = [](std::int32_t value) {
            return root_of_whole(__uint_as_float(static_cast<std::uint32_t>(value) | 0x4b000000u) - 8388608.0f);
        };
        if (mask == ~0u) {
            float* out = to.s.out;
            ((*out = __uint_as_float(__float_as_uint(distance(best.template whole<I>(of.value, of.rows))) ^
                                     (to.s.minus << (31 - I) & 0x80000000u)),
              out += c.length),
             ...);
        } else {
            ((mask >> I & 1 ? to.put(I, distance(best.template whole<I>(of.value, of.rows))) : void()), ...);
        }
        return;
    }
    const std::int32_t values[] = {best.template whole<I>(of.value, of.rows)...};
#pragma unroll 1
    for (; mask != 0; mask &= mask - 1) {
        const int i = __ffs(static_cast<int>(mask)) - 1;
        to.put(i, to.distance_of(values[i]));
    }
}

/// All rows left are offered; `count`: of the lane that has most.
template <bool Simple>
__device__ void finish_far(const far_target& to, std::uint32_t mask, const far_rows<Simple>& of, int count) {
    relative_square best;
    class_word one = of.load(1), other = of.load(2);
    for (int k = 1; k <= count; k += 2) {
        const class_word a = one, b = other;
        one = of.load(k + 2), other = of.load(k + 3);
        best.offer({of.relative(a, k), static_cast<std::uint32_t>(k)},
                   {of.relative(b, k + 1), static_cast<std::uint32_t>(k + 1)});
    }
    const std::int32_t bound = __reduce_max_sync(cuda::every_lane, of.bound());
    if (static_cast<int>(threadIdx.x) % cuda::warp < to.s.width)
        write_far(to, mask, bound, best, of, std::make_integer_sequence<int, square_rows>{});
}

/// The line from the first to the last row that a lane has left, in (rows from the first one, relative value): what
/// lies above wins nowhere.
struct far_chord {
    float slope = 0, value;  ///< a row; what the first row is worth
    int first, last;         ///< rows

    __device__ far_chord(const far_rows<true>& of, int from)
        : value(static_cast<float>(of.value)), first(from), last(of.last) {
        const std::uint32_t at_last = of.relative(of.load(of.last), of.last);
        if (last > 0) slope = static_cast<float>(at_last) / static_cast<float>(last);
    }
    /// No value from which on a row wins in no lane, of 32 rows from `row` on; alike for all lanes.
    [[nodiscard]] __device__ std::uint32_t most(int row) const {
        const float at = slope * static_cast<float>(min(max(row - first, 0), last)),
                    end = slope * static_cast<float>(min(max(row + 31 - first, 0), last));
        // Floats below 2^31 are off by 2^7 at most, three times.
        return __reduce_max_sync(cuda::every_lane, static_cast<std::uint32_t>(value + fmaxf(at, end)) + 512u);
    }
    /// Which of 32 rows from `row` on, a lane each, may win in some lane where they are of its class.
    [[nodiscard]] __device__ std::uint32_t wanted(const far_square& s, const class_word& word, int row) const {
        const int e = row + static_cast<int>(threadIdx.x) % cuda::warp - s.top;
        const std::int32_t near = word.changes != 0 ? 0 : min(min(before(word), after(word)), far_apart);
        const std::uint32_t least = static_cast<std::uint32_t>(near * near) + static_cast<std::uint32_t>(e * e),
                            beyond_all = most(row);
        return __ballot_sync(cuda::every_lane, near < far_apart && least <= beyond_all);
    }
    [[nodiscard]] __device__ bool wins(std::uint32_t r, int s) const {
        return s > 0 && s <= last && static_cast<float>(r) <= slope * static_cast<float>(s) + 2.0f;
    }
};

/// Rows of a square, 32 at a time, a lane each, and which of them some lane may want: `body(row, word, wanted)` for
/// each 32. A warp that is one of `parts` takes every so many.
template <class Body>
__device__ void each_wanted(const far_square& s, const far_chord& line, int part, int parts, const Body& body) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, first = __reduce_min_sync(cuda::every_lane, s.from),
              last = __reduce_max_sync(cuda::every_lane, s.end), step = parts * cuda::warp;
    const auto load = [&](int row) { return row <= last ? s.words[row] : word_without_changes(); };
    class_word next = load(first + part * cuda::warp + lane);
    for (int at = first + part * cuda::warp; at <= last; at += step) {
        const class_word word = next;
        next = load(at + step + lane);
        body(at, word, line.wanted(s, word, at));
    }
}

/// Offers rows that lie below a lane's chord, `to(R, s)` of all lanes, to one that is not below with an R beyond all
/// others.
template <class To>
__device__ void offer_far(const far_square& s, const far_rows<true>& of, const far_chord& line, int part, int parts,
                          const To& to) {
    each_wanted(s, line, part, parts, [&](int at, const class_word& word, std::uint32_t wanted) {
        for (; wanted != 0; wanted &= wanted - 1) {
            const int nth = __ffs(static_cast<int>(wanted)) - 1, k = at + nth - s.from;
            const class_word theirs{__shfl_sync(cuda::every_lane, word.changes, nth),
                                    __shfl_sync(cuda::every_lane, word.beside, nth)};
            const std::uint32_t r = of.relative(theirs, k);
            const bool wins = line.wins(r, k);
            if (__any_sync(cuda::every_lane, wins)) to(wins ? r : ~0u, wins ? static_cast<std::uint32_t>(k) : 0u);
        }
    });
    // Rows that are worth 0 to their lanes may seem to be of no use.
    if (part == 0 && __any_sync(cuda::every_lane, s.end_other && of.last > 0)) {
        const std::uint32_t r = of.relative(of.load(of.last), of.last);
        const bool mine = s.end_other && of.last > 0;
        to(mine ? r : ~0u, mine ? static_cast<std::uint32_t>(of.last) : 0u);
    }
}

/// Only rows that some lane may want are offered.
__device__ inline void finish_below_chord(const far_target& to, std::uint32_t mask, const far_rows<true>& of,
                                          const far_chord& line) {
    relative_square best;
    offer_far(to.s, of, line, 0, 1, [&](std::uint32_t r, std::uint32_t rows) { best.offer({r, rows}); });
    const std::int32_t bound = __reduce_max_sync(cuda::every_lane, of.bound());
    if (static_cast<int>(threadIdx.x) % cuda::warp < to.s.width)
        write_far(to, mask, bound, best, of, std::make_integer_sequence<int, square_rows>{});
}

/// A square without changes along its columns.
__device__ inline void finish_simple(const far_target& to, int count) {
    const far_square& s = to.s;
    const far_rows<true> of(s, s.from, s.end, s.from_other, s.end_other, 0);
    const far_chord line(of, s.from);
    int wanted = 0;
    each_wanted(s, line, 0, 1, [&](int, const class_word&, std::uint32_t rows) { wanted += __popc(rows); });
    const std::uint32_t mask = s.within() & ~s.sites;
    if (2 * wanted > count) finish_far(to, mask, of, count);
    else finish_below_chord(to, mask, of, line);
    to.put_sites(s.within());
}

/// One with changes: none of its lanes is far from them.
__device__ inline void finish_changing(const far_target& to) {
    const far_square& s = to.s;
    std::uint32_t odd = s.downs << 1;  // rows after an odd number of changes
    for (int o = 1; o < cuda::warp; o *= 2) odd ^= odd << o;
    const bool bottom_odd =
        s.bottom - s.top < cuda::warp ? (odd >> (s.bottom - s.top) & 1) != 0 : __popc(s.downs) % 2 != 0;
    for (int pass = 0; pass < 2; ++pass) {
        const bool second = pass != 0, is_bottom = bottom_odd == second;
        const std::uint32_t own = (second ? odd : ~odd) & s.within();
        const bool any = own != 0;
        const int from = second ? s.top : s.from, end = !any ? from : is_bottom ? s.end : s.bottom;
        const far_rows<false> of(s, from, end, second || s.from_other, !is_bottom || s.end_other, second ? ~odd : odd);
        finish_far(to, own & ~s.sites, of, __reduce_max_sync(cuda::every_lane, end - from));
    }
    to.put_sites(s.within());
}

/// A square with many rows left, by all warps of a block. `best` has room for one.
__device__ inline void finish_far_together(const far_target& to, std::int32_t* best) {
    const far_square& s = to.s;
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    for (int i = static_cast<int>(threadIdx.x); i < square_rows * cuda::warp; i += between_threads) best[i] = 0;
    __syncthreads();
    const far_rows<true> of(s, s.from, s.end, s.from_other, s.end_other, 0);
    whole_square mine;
    offer_far(s, of, far_chord(of, s.from), warp, between_warps,
              [&](std::uint32_t r, std::uint32_t rows) { mine.offer(r, rows); });
#pragma unroll
    for (int i = 0; i < square_rows; ++i)
        if (mine.best[i] < 0) atomicMin(best + i * cuda::warp + lane, mine.best[i]);
    __syncthreads();
    if (lane < s.width)
        for (int i = warp; i < s.rows; i += between_warps) {
            const bool is_site = (s.sites >> i & 1) != 0;
            to.put(i,
                   is_site ? 0.0f : to.distance_of(of.value + best[i * cuda::warp + lane] + 2 * i * of.rows + i * i));
        }
    __syncthreads();
}

/// Whether some lane of a square has many rows left.
__device__ inline bool looks_long(const far_shape& c, std::int64_t nth) {
    const std::int64_t above = quotient(nth, c.columns), image = quotient(above, c.posts - 1);
    const int x = static_cast<int>(nth - above * c.columns) * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp;
    const std::uint16_t* const winners = c.winners + c.post(image, static_cast<int>(above - image * (c.posts - 1)));
    return __any_sync(cuda::every_lane, x < c.length && winners[x + c.length] - winners[x] > most_alone_rows) != 0;
}

/// First the squares that one warp would be long at, by all warps of a block together; then a warp one after another
/// of the others.
__global__ void __launch_bounds__(between_threads, between_blocks)
    finish_far_squares(const gate when, const __grid_constant__ far_shape c) {
    __shared__ std::int32_t best[square_rows * cuda::warp];
    __shared__ int shared[between_warps * looked_squares], shared_count;
    if (when.shut()) return;
    cuda::wait_for_kernel_before();
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * between_warps,
                       squares = c.images * (c.posts - 1) * c.columns;
    for (std::int64_t first = blockIdx.x; first < squares; first += looked_squares * step) {
        if (threadIdx.x == 0) shared_count = 0;
        __syncthreads();
        for (int i = warp; i < looked_squares * between_warps; i += between_warps) {
            const std::int64_t nth = first + static_cast<std::int64_t>(i) * gridDim.x;
            if (nth >= squares) break;
            if (!looks_long(c, nth)) continue;
            const far_square here(c, nth);
            if (here.is_simple() && lane == 0) shared[atomicAdd(&shared_count, 1)] = static_cast<int>(nth);
        }
        __syncthreads();
        for (int i = 0; i < shared_count; ++i) {
            const far_square s(c, shared[i]);
            finish_far_together({c, s}, best);
        }
        __syncthreads();
    }
    for (std::int64_t nth = static_cast<std::int64_t>(warp) * gridDim.x + blockIdx.x, next = 0; nth < squares;
         nth = next) {
        int taken = 0;
        if (lane == 0) taken = atomicAdd(c.taken, 1);
        const far_square s(c, nth);
        if (!s.is_simple()) finish_changing({c, s});
        else if (const int left = s.most_left(); left <= most_alone_rows) finish_simple({c, s}, left);
        next = step + __shfl_sync(cuda::every_lane, taken, 0);
    }
}

}  // namespace
}  // namespace nearfield::exact
