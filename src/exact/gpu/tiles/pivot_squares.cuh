// Squares of 32 rows by 32 columns between two pivot rows (pivot_rows.cuh), one per warp: every lane is relaxed with
// the rows from the winner of one pivot to the winner of the other, 33 on average.
//
// A candidate's value is relative to the first of these rows. If R >= 0 is the excess of a row's value at the pivot,
// and s the rows between the two, its excess in row i of the square is R - 2 * i * s. A row that wins somewhere has R <
// 62 * s, so that two cells fit a word, however far sites are, up to 512 rows apart. Rows are taken in lockstep: s is
// equal in all lanes. If more rows remain, all warps of a block share them, in words of 32 bits.
#pragma once

#include "exact/gpu/tiles/pivot_rows.cuh"
#include "exact/gpu/tiles/relative_square.cuh"
#include "exact/gpu/tiles/tile.cuh"

namespace nearfield::exact {
namespace {

/// The chord from the first to the last remaining row of a lane, in (s, R): rows above it never win.
struct chord {
    float slope, value;  ///< R per row; value of the first row
    int first, last;     ///< rows

    __device__ chord(const relative_rows& of, const left_rows& mine)
        : slope(0), value(static_cast<float>(of.value)), first(mine.from), last(of.last) {
        // Outside the branch, because it involves the other lanes.
        const std::uint32_t at_last = of.relative(of.load(of.last), of.last);
        if (last > 0) slope = static_cast<float>(at_last) / static_cast<float>(last);
    }
    /// Returns a bound above which no row wins in any lane, for 32 rows from `row` on; the same in all lanes.
    __device__ std::uint32_t most(int row) const {
        const float at = slope * static_cast<float>(min(max(row - first, 0), last)),
                    end = slope * static_cast<float>(min(max(row + 31 - first, 0), last));
        // Floats below 2^31 are off by at most 2^7, three times.
        return __reduce_max_sync(cuda::every_lane, static_cast<std::uint32_t>(value + fmaxf(at, end)) + 512u);
    }
    /// Returns the rows, of 32 from `row` on with one per lane, that may win in some lane.
    __device__ std::uint32_t wanted(const square& s, const line_word& word, int row) const {
        const int e = row + s.lane - s.top;
        const std::int32_t near = near_word(word);
        const std::uint32_t least =
                                static_cast<std::uint32_t>(near * near) + static_cast<std::uint32_t>(e * (e - s.half)),
                            beyond_all = most(row);
        return __ballot_sync(cuda::every_lane, word.any() && least <= beyond_all);
    }
    __device__ bool wins(std::uint32_t r, int s) const {
        return s > 0 && s <= last && static_cast<float>(r) <= slope * static_cast<float>(s) + 2.0f;
    }
};

/// Relaxes with the rows [from, end] below a lane's chord: `to(word, R, s)` in all lanes, with an R beyond all others
/// where the row is not below. Each of `parts` warps takes every `parts`-th group of 32.
template <class To>
__device__ void relax_below(const square& s, const left_rows& mine, const relative_rows& of, int part, int parts,
                            const To& to) {
    const chord line(of, mine);
    const int first = __reduce_min_sync(cuda::every_lane, mine.from),
              last = __reduce_max_sync(cuda::every_lane, mine.end);
    const auto load = [&](int row) { return row <= last ? s.words[row] : word_without_sites(); };
    const int step = parts * cuda::warp;
    line_word next = load(first + part * cuda::warp + s.lane);
    for (int at = first + part * cuda::warp; at <= last; at += step) {
        const line_word word = next;
        next = load(at + step + s.lane);
        std::uint32_t wanted = line.wanted(s, word, at);
        for (; wanted != 0; wanted &= wanted - 1) {
            const int nth = __ffs(static_cast<int>(wanted)) - 1, row = at + nth;
            const line_word theirs{__shfl_sync(cuda::every_lane, word.sites, nth),
                                   __shfl_sync(cuda::every_lane, word.beside, nth)};
            const int k = row - mine.from;
            const std::uint32_t r = of.relative(theirs, k);
            const bool wins = line.wins(r, k);
            if (__any_sync(cuda::every_lane, wins))
                to(theirs, wins ? r : ~0u, wins ? static_cast<std::uint32_t>(k) : 0u);
        }
    }
}

/// Returns the number of rows that relax_below tests one by one.
__device__ inline int rows_below(const square& s, const left_rows& mine, const relative_rows& of) {
    const chord line(of, mine);
    const int first = __reduce_min_sync(cuda::every_lane, mine.from),
              last = __reduce_max_sync(cuda::every_lane, mine.end);
    int rows = 0;
    for (int at = first; at <= last; at += cuda::warp) {
        const line_word word = at + s.lane <= last ? s.words[at + s.lane] : word_without_sites();
        rows += __popc(line.wanted(s, word, at));
    }
    return rows;
}

/// The rows of a square in 32 bits: R - 2 * i * s, which is 0 for the first remaining row.
struct whole_square {
    std::int32_t best[square_rows]{};

    __device__ void relax(std::uint32_t r, std::uint32_t s) {
        const auto first = static_cast<std::int32_t>(min(r, 0x7fffffffu));
#pragma unroll
        for (int i = 0; i < square_rows; ++i) best[i] = min(best[i], first - 2 * i * static_cast<std::int32_t>(s));
    }
    /// True if the candidate is the best of row i, or of any row.
    __device__ bool has(int i, std::uint32_t r, std::uint32_t s) const {
        return best[i] == static_cast<std::int32_t>(min(r, 0x7fffffffu)) - 2 * i * static_cast<std::int32_t>(s);
    }
    __device__ bool has(std::uint32_t r, std::uint32_t s) const {
        bool any = false;
#pragma unroll
        for (int i = 0; i < square_rows; ++i) any |= has(i, r, s);
        return any;
    }
};

/// A square of an unresolved tile, and the remaining rows of its lanes.
struct unresolved_square {
    square s;
    left_rows left;
    line_group group;
    bool within;  ///< the square lies within the image

    __device__ unresolved_square(const word_lines& lines, const windows& cut, const unresolved_tiles& unresolved,
                                 const pivot_lines& pivots, std::int64_t nth, int half = 0) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, squares = squares_of(cut);
        const std::int64_t above = quotient(nth, squares);
        const auto at = lines.place(cut, unresolved.list[above]);
        const int top = at.window * cut.rows + static_cast<int>(nth - above * squares) * square_rows;
        const int end = min((at.window + 1) * cut.rows, lines.rows());
        group = at.group, within = top < end;
        if (!within) return;
        s = {lines.words(group), top, min(top + square_rows, end) - 1, lane, half};
        const std::uint16_t* const winners = pivots.winners + pivots.first_cell(group.outer, top / pivot_step) +
                                             group.x + min(lane, lines.width(group) - 1);
        left = {winners[0], winners[pivots.length], 0};
    }
    static __device__ int squares_of(const windows& cut) { return (cut.rows + square_rows - 1) / square_rows; }
    __device__ int most_left() const { return __reduce_max_sync(cuda::every_lane, left.end - left.from); }
    /// Finds the bound; called before any square is finished.
    __device__ void find_bound() {
        const auto bound_by = [&](int row) {
            const std::int32_t apart = min(s.words[row].distance(s.lane), far_apart) + s.half,
                               rows = min(max(abs(row - s.top), abs(s.bottom - row)), far_apart) + s.half;
            return apart * apart + rows * rows;
        };
        left.bound = __reduce_max_sync(cuda::every_lane, min(bound_by(left.from), bound_by(left.end)));
    }
    /// True if values may exceed 32 bits.
    __device__ bool is_wide() const { return left.bound > largest_bound; }
    /// Calls put(row, value, columns to the site, its row) for every `parts`-th row of the lane's line, in 64 bits.
    template <class Put>
    __device__ void each_wide(int part, int parts, const Put& put) const {
        int first = left.from;  // the winning row never moves back
        for (int q = s.top + part; q <= s.bottom; q += parts) {
            std::int64_t best = no_site<std::int64_t>();
            std::int32_t best_columns = 0;
            for (int row = first; row <= left.end; ++row) {
                const line_word word = s.words[row];
                const std::int64_t columns = word.to_site(s.lane), rows = q - row,
                                   value = columns * columns + rows * rows;
                if (!word.any() || value > best || (value == best && columns >= best_columns)) continue;
                best = value, best_columns = static_cast<std::int32_t>(columns), first = row;
            }
            put(q, best, best_columns, first);
        }
    }
};

/// Finishes a square with one warp; `count`: largest number of remaining rows of a lane.
template <class Square>
__device__ void finish_alone(const Square& q, int count) {
    if (q.is_wide()) return q.finish_wide(0, 1);
    const relative_rows of(q.s, q.left);
    typename Square::best_values best(of);
    if (count <= most_own_rows || 2 * rows_below(q.s, q.left, of) > count) {
        line_word one = of.load(1), other = of.load(2);
        for (int k = 1; k <= count; k += 2) {
            const line_word a = one, b = other;
            one = of.load(k + 2), other = of.load(k + 3);
            best.relax(of, a, b, k);
        }
    } else {
        relax_below(q.s, q.left, of, 0, 1, [&](const line_word& word, std::uint32_t r, std::uint32_t rows) {
            best.relax_one(of, word, r, rows);
        });
    }
    q.put(of, best);
}

/// Finds the values of a square's rows, relative to the first remaining row, with all warps of a block. `best` has room
/// for a square. Begins and ends with a barrier.
__device__ inline void relax_together(const unresolved_square& q, const relative_rows& of, std::int32_t* best) {
    for (int i = static_cast<int>(threadIdx.x); i < square_rows * cuda::warp; i += between_threads) best[i] = 0;
    __syncthreads();
    whole_square mine;
    relax_below(q.s, q.left, of, static_cast<int>(threadIdx.x) / cuda::warp, between_warps,
                [&](const line_word&, std::uint32_t r, std::uint32_t rows) { mine.relax(r, rows); });
#pragma unroll
    for (int i = 0; i < square_rows; ++i)
        if (mine.best[i] < 0) atomicMin(best + i * cuda::warp + q.s.lane, mine.best[i]);
    __syncthreads();
}

/// A square with the output of its values; `Half`: packed_lines::half.
template <bool Last, int Half>
struct square_between : unresolved_square {
    using lines = word_lines;
    using sink = value_sink<Last>;
    using best_values = relative_square;
    static constexpr int cell_words = 1;  ///< of shared memory, for each cell of a square

    tile_target<Last> target;

    __device__ square_between(const word_lines& from, const windows& cut, const unresolved_tiles& unresolved,
                              const pivot_lines& pivots, std::int64_t nth, const sink& to)
        : unresolved_square(from, cut, unresolved, pivots, nth, Half),
          target{to, 0, static_cast<std::int32_t>(from.inner()), 0} {
        if (!within) return;
        target.first = from.first_cell(group, s.lane), target.lines = from.width(group);
    }

    __device__ void put(const relative_rows& of, const relative_square& best) const {
        put(of, best, std::make_integer_sequence<int, square_rows>{});
    }
    /// Finishes the square with all warps of a block.
    __device__ void finish_together(std::int32_t* best) const {
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        if (is_wide()) return finish_wide(warp, between_warps);
        const relative_rows of(s, left);
        relax_together(*this, of, best);
        if (s.lane < target.lines)
            for (int i = warp; i <= s.bottom - s.top; i += between_warps)
                target.put(s.top + i, of.value + best[i * cuda::warp + s.lane] + 2 * i * of.rows + i * (i + s.half));
        __syncthreads();
    }
    __device__ void finish_wide(int part, int parts) const {
        if (s.lane < target.lines)
            each_wide(part, parts, [&](int row, std::int64_t value, std::int32_t, int) {
                target.to.put_wide(target.first + target.row_at(row), value);
            });
    }

private:
    template <int... I>
    __device__ void put(const relative_rows& of, const relative_square& best, std::integer_sequence<int, I...>) const {
        if (s.lane >= target.lines) return;
        const int rows = s.bottom - s.top + 1;
        if constexpr (Last) {
            if (target.to.out.only_distance32 && !target.to.limited && !target.to.out.in_units() &&
                rows == square_rows && left.bound < float_bound) {
                float* out = target.to.out.distance32 + target.first + target.row_at(s.top);
                const auto as_float = [](std::int32_t value) {
                    return __uint_as_float(static_cast<std::uint32_t>(value) | 0x4b000000u) - 8388608.0f;
                };
                ((*out = root_of_whole(as_float(best.template whole<I>(of.value, of.rows))), out += target.inner), ...);
                return;
            }
        }
        // The values go to local memory, so that the code for all combinations of fields exists once, not 32 times.
        const std::int32_t values[] = {(best.template whole<I>(of.value, of.rows) + of.half * I)...};
#pragma unroll 1
        for (int i = 0; i < rows; ++i) target.put(s.top + i, values[i]);
    }
};

/// Finishes the squares of unresolved tiles. First all warps of a block share those that would take one warp long, so
/// that none remains at the end; then each warp takes one of the others after another.
template <class Square>
__global__ void __launch_bounds__(between_threads, between_blocks)
    finish_between(const typename Square::lines lines, const windows cut, const unresolved_tiles unresolved,
                   const pivot_lines pivots, const typename Square::sink to) {
    cuda::wait_for_kernel_before();
    __shared__ std::int32_t best[Square::cell_words * square_rows * cuda::warp];
    __shared__ int shared[between_warps * looked_squares], shared_count;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t count = static_cast<std::int64_t>(*unresolved.count) * unresolved_square::squares_of(cut);
    const std::int64_t step = static_cast<std::int64_t>(gridDim.x) * between_warps;
    const auto square_at = [&](std::int64_t nth) { return Square(lines, cut, unresolved, pivots, nth, to); };
    // Neighbours go to different blocks, because squares that take long are neighbours.
    for (std::int64_t first = blockIdx.x; first < count; first += looked_squares * step) {
        if (threadIdx.x == 0) shared_count = 0;
        __syncthreads();
        for (int i = warp; i < looked_squares * between_warps; i += between_warps) {
            const std::int64_t nth = first + static_cast<std::int64_t>(i) * gridDim.x;
            if (nth >= count) break;
            const auto here = square_at(nth);
            if (here.within && here.most_left() > most_warp_rows && lane == 0)
                shared[atomicAdd(&shared_count, 1)] = static_cast<int>(nth);
        }
        __syncthreads();
        for (int i = 0; i < shared_count; ++i) {
            auto here = square_at(shared[i]);
            here.find_bound();
            here.finish_together(best);
        }
        __syncthreads();
    }
    for (std::int64_t nth = static_cast<std::int64_t>(warp) * gridDim.x + blockIdx.x, next = 0; nth < count;
         nth = next) {
        int taken = 0;
        if (lane == 0) taken = atomicAdd(pivots.taken, 1);
        auto here = square_at(nth);
        const int left = here.within ? here.most_left() : most_warp_rows + 1;
        if (left <= most_warp_rows) here.find_bound(), finish_alone(here, left);
        next = step + __shfl_sync(cuda::every_lane, taken, 0);
    }
}

/// Finds the winners of pivot rows, then finishes all squares of unresolved tiles between them.
template <class Square>
void finish_between_pivots(const device& on, const typename Square::lines& from, const windows& cut,
                           const unresolved_tiles& unresolved, const pivot_lines& pivots,
                           const typename Square::sink& to) {
    find_pivot_winners(on, from, unresolved, pivots);
    const std::int64_t squares = from.lines.tiles * blocks_for(pivots.rows, square_rows);
    cuda::launch_overlapped(on, finish_between<Square>,
                            std::min(blocks_for(squares, between_warps), between_blocks * multiprocessors),
                            dim3(between_threads), 0, from, cut, unresolved, pivots, to);
}

}  // namespace
}  // namespace nearfield::exact
