// Windows of packed lines that steps (tile.cuh) leave unresolved, for any number of rows and sites: the rows that win
// at each cell of pivot rows.
//
// Every 32nd row of an image is a pivot row, and so is the last one. The winning row never moves back along a line
// (core.hpp), so between two pivots only the rows from the winner of one to the winner of the other can win: 33 on
// average, whatever the image (pivot_squares.cuh). The winners of pivot rows are found with the axes exchanged, on an
// image 32 times smaller: first the distance of each column's nearest site from each pivot row, then a search along
// each pivot row by bisection: the winning column never moves back, so that the winner of a column between two lies
// between theirs. Of tied columns the least wins, and of two tied sites of a column the one before, as the tie rule
// demands.
#pragma once

#include <algorithm>
#include <limits>

#include "exact/gpu/tiles/windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int chunk_pivots = 8;  // pivot rows whose sites a warp keeps in registers
constexpr int chunk_rows = chunk_pivots * pivot_step;
constexpr int column_warps = 32;
constexpr int column_threads = column_warps * cuda::warp;

/// Transposes a matrix of 32 x 32 bits, a row per lane: bit i of lane l becomes bit l of lane i.
__device__ inline std::uint32_t turn_bits(std::uint32_t row) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    std::uint32_t mask = 0x0000ffffu;
#pragma unroll
    for (int o = 16; o > 0; o /= 2, mask ^= mask << o) {
        const std::uint32_t other = __shfl_xor_sync(cuda::every_lane, row, o);
        row = (lane & o) == 0 ? (row & mask) | (other & mask) << o : (row & ~mask) | (other & ~mask) >> o;
    }
    return row;
}

/// Sites of a chunk of 256 rows of 32 columns, a column per lane: bits of the 32 rows from each pivot row on.
struct chunk_bits {
    std::uint32_t at[chunk_pivots];

    __device__ void load(const line_word* words, int first_row, int rows) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll
        for (int i = 0; i < chunk_pivots; ++i) {
            const int row = first_row + i * pivot_step + lane;
            at[i] = row < rows ? words[row].sites : 0;
        }
#pragma unroll
        for (auto& one : at) one = turn_bits(one);
    }
    /// Return the first and last row with a site among the 32 from pivot i on; only if there is one.
    __device__ int first(int i) const { return i * pivot_step + __ffs(static_cast<int>(at[i])) - 1; }
    __device__ int last(int i) const { return i * pivot_step + 31 - __clz(static_cast<int>(at[i])); }
};
constexpr std::int32_t beyond = 1 << 24;

/// Finds the rows nearest to pivot rows. A block owns 32 columns of an image, a warp takes one chunk of rows after
/// another: first their first and last sites, then, with those of all chunks, the rows nearest to their pivots. The
/// last pivot lies behind all rows, or on the last one.
__global__ void __launch_bounds__(column_threads)
    nearest_to_pivots(const word_lines lines, const unresolved_tiles unresolved, const pivot_lines to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::int32_t ends[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int last_pivot = to.pivots - 1, chunks = (last_pivot + chunk_pivots - 1) / chunk_pivots;
    std::int32_t* const firsts = ends + lane;
    std::int32_t* const lasts = firsts + chunks * cuda::warp;
    const std::int64_t columns = lines.lines.columns, count = *unresolved.owner_count * columns;
    chunk_bits bits;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, columns);
        const line_group g = lines.group_of(unresolved.owners[image] * columns + nth - image * columns);
        const line_word* const words = lines.words(g);
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            const int first_row = chunk * chunk_rows;
            bits.load(words, first_row, lines.rows());
            std::int32_t first = beyond, last = -1;
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i)
                if (bits.at[i] != 0) last = first_row + bits.last(i), first = min(first, first_row + bits.first(i));
            firsts[chunk * cuda::warp] = first, lasts[chunk * cuda::warp] = last;
        }
        __syncthreads();
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            const int first_row = chunk * chunk_rows;
            if (chunks > column_warps) bits.load(words, first_row, lines.rows());
            std::int32_t before = -1, after = beyond;
            for (int c = 0; c < chunk; ++c) before = max(before, lasts[c * cuda::warp]);
            for (int c = chunk + 1; c < chunks; ++c) after = min(after, firsts[c * cuda::warp]);
            std::int32_t rows[chunk_pivots];
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i) {
                rows[i] = before;
                if (bits.at[i] != 0) before = first_row + bits.last(i);
            }
#pragma unroll
            for (int i = chunk_pivots - 1; i >= 0; --i) {
                const int row = first_row + i * pivot_step;
                if (bits.at[i] != 0) after = first_row + bits.first(i);
                if (rows[i] < 0 || after - to.half - row < row - rows[i]) rows[i] = after < beyond ? after : -1;
            }
            if (lane >= lines.width(g)) continue;
            std::int32_t* cell = to.nearest + to.first_cell(g.outer, chunk * chunk_pivots) + g.x + lane;
#pragma unroll
            for (int i = 0; i < chunk_pivots; ++i, cell += to.length)
                if (chunk * chunk_pivots + i < last_pivot) *cell = rows[i];
            if (chunk == chunks - 1) to.nearest[to.first_cell(g.outer, last_pivot) + g.x + lane] = before;
        }
        __syncthreads();
    }
}

constexpr int winner_warps = 32;
constexpr int winner_threads = winner_warps * cuda::warp;
constexpr int most_own_columns = 64;      // columns that relax 32 neighbouring columns without a test
constexpr int most_tested_columns = 256;  // with a test; more are bisected, too

/// The squared distances of a pivot row from the columns' nearest sites. Those in 32 bits are kept in shared memory.
template <class V>
class pivot_squares {
public:
    static constexpr bool kept = sizeof(V) == sizeof(std::int32_t);
    /// Above all real ones, and in range with a square of columns added.
    static constexpr V none = V{1} << (8 * sizeof(V) - 2);

    __device__ pivot_squares(const std::int32_t* nearest, int row, int length, int half, V* memory)
        : nearest_(nearest), row_(row), length_(length), half_(half), memory_(memory) {}
    /// True if values of two columns differ by the same from each column to the next, as those of squares do.
    [[nodiscard]] __device__ bool has_chords() const { return half_ == 0; }
    /// Returns the number of kept cells, with those of columns up to the next multiple of four, which never win.
    NF_HD static constexpr int cells(int length) { return kept ? (length + 3) / 4 * 4 : 0; }
    __device__ void keep() const {
        for (int x = static_cast<int>(threadIdx.x); x < cells(length_); x += winner_threads) memory_[x] = square(x);
    }
    /// Returns the least value that columns [from, from + 4) have at column x; `from` is a multiple of four.
    __device__ V least_of_four(int from, int x) const {
        if constexpr (kept) {
            const int4 four = *reinterpret_cast<const int4*>(memory_ + from);
            const int d = x - from;
            if (half_ == 0)
                return min(__vimin3_s32(four.x + d * d, four.y + (d - 1) * (d - 1), four.z + (d - 2) * (d - 2)),
                           four.w + (d - 3) * (d - 3));
        }
        return min(min(value(from, x), value(from + 1, x)), min(value(from + 2, x), value(from + 3, x)));
    }
    /// Returns the value of column `from` at column x.
    __device__ V value(int from, int x) const {
        const V columns = x - from, way = columns * columns + (half_ != 0 ? abs(x - from) : 0);
        return (kept ? memory_[from] : square(from)) + way;
    }

private:
    __device__ V square(int x) const {
        const std::int32_t site = x < length_ ? nearest_[x] : -1;
        const V rows = site - row_;
        return site < 0 ? none : rows * (rows - half_);
    }
    const std::int32_t* nearest_;
    int row_, length_, half_;
    V* memory_;
};

/// The least value found, and its column.
template <class V>
struct least_column {
    V value;
    int at;

    /// Relaxes with a column behind all before.
    __device__ void relax(V other, int from) {
        if (other < value) value = other, at = from;
    }
    /// Relaxes with any column.
    __device__ void relax(const least_column& other) {
        if (other.value < value || (other.value == value && other.at < at)) *this = other;
    }
    /// Takes the least of all lanes.
    __device__ void reduce() {
        V least = value;
        if constexpr (sizeof(V) == sizeof(std::int32_t)) least = __reduce_min_sync(cuda::every_lane, value);
        else
            for (int o = cuda::warp / 2; o > 0; o /= 2) least = min(least, __shfl_xor_sync(cuda::every_lane, least, o));
        at = __reduce_min_sync(cuda::every_lane, value == least ? at : std::numeric_limits<int>::max());
        value = least;
    }
};

/// Relaxes with columns from a multiple of four up to `from` on, to at most one behind `end`: all of them may compete.
/// `step` counts groups of four.
template <class V>
__device__ void relax_by_fours(least_column<V>& best, const pivot_squares<V>& of, int x, int from, int end, int step) {
    least_column<V> four{std::numeric_limits<V>::max(), -1};
#pragma unroll 4
    for (int at = from; at <= end; at += step) four.relax(of.least_of_four(at, x), at);
    if (!(four.value < best.value)) return;
    best.value = four.value;
#pragma unroll
    for (int i = 3; i >= 0; --i)
        if (of.value(four.at + i, x) == four.value) best.at = four.at + i;
}

/// Returns the column in [from, end] that wins at column x; each of `parts` warps searches a share. Called by a warp.
template <class V>
__device__ least_column<V> search_columns(const pivot_squares<V>& of, int x, int from, int end, int part = 0,
                                          int parts = 1) {
    least_column<V> best{std::numeric_limits<V>::max(), from};
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    constexpr int fours = 4 * cuda::warp;
    relax_by_fours(best, of, x, from / 4 * 4 + part * fours + lane * 4, end, parts * fours);
    best.reduce();
    return best;
}

/// Chord test of the columns between `from` and `end`, which win at columns `first` and beyond; a column per lane from
/// `at` on: true if it lies below the chord from one to the other, so that it may win between.
template <class V>
class column_chord {
public:
    __device__ column_chord(const pivot_squares<V>& of, int first, int from, int end)
        : of_(of), first_(first), from_(from), end_(end), least_(of.value(from, first)) {
        slope_ = static_cast<float>(of.value(end, first) - least_) / static_cast<float>(end - from);
    }
    __device__ std::uint32_t below(int at) const {
        const int column = at + static_cast<int>(threadIdx.x) % cuda::warp;
        // The sum is below 2^24 where it matters.
        return __ballot_sync(cuda::every_lane,
                             column < end_ && static_cast<float>(of_.value(min(column, end_), first_) - least_) <=
                                                  slope_ * static_cast<float>(column - from_) + 2.0f);
    }

private:
    const pivot_squares<V>& of_;
    int first_, from_, end_;
    V least_;
    float slope_;
};

/// Returns the winner at column first + lane, given [from, end] for all 32; `from` is the first's. Called by a warp.
template <class V>
__device__ int winner_of_lane(const pivot_squares<V>& of, int first, int last, int from, int end) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, x = min(first + lane, last);
    least_column<V> best{of.value(from, x), from};
    if (end - from <= most_own_columns) {
        relax_by_fours(best, of, x, from / 4 * 4, end, 4);
        return best.at;
    }
    const column_chord<V> line(of, first, from, end);
    int left = of.has_chords() ? 0 : most_tested_columns + 1;
    for (int at = from + 1; at < end && of.has_chords(); at += cuda::warp) left += __popc(line.below(at));
    if (left <= most_tested_columns) {
        for (int at = from + 1; at < end; at += cuda::warp)
            for (std::uint32_t wanted = line.below(at); wanted != 0; wanted &= wanted - 1) {
                const int column = at + __ffs(static_cast<int>(wanted)) - 1;
                best.relax(of.value(column, x), column);
            }
        best.relax(of.value(end, x), end);
        return best.at;
    }
    int mine = from;
    for (int step = cuda::warp / 2; step > 0; step /= 2)
        for (int l = step; l < cuda::warp; l += 2 * step) {
            const int low = __shfl_sync(cuda::every_lane, mine, l - step),
                      high = __shfl_sync(cuda::every_lane, mine, (l + step) % cuda::warp);
            const auto found = search_columns(of, min(first + l, last), low, l + step < cuda::warp ? high : end);
            if (lane == l) mine = found.at;
        }
    return mine;
}

/// Knots of a share of a pivot row: every 32nd column and the last one; knot 1 is its first column. A warp finds the
/// knots between known ones.
template <class V>
struct pivot_knots {
    const pivot_squares<V>& of;
    int before;       ///< number of knots of the pivot row before these
    int count, last;  ///< number of knots; the last column
    int* winners;     ///< winner of each knot

    __device__ int column_of(int knot) const { return (before + knot - 1) * cuda::warp; }
    __device__ int first_of(int knot) const { return knot <= 0 ? 0 : winners[knot]; }
    __device__ int last_of(int knot) const { return knot > count ? last : winners[knot]; }
    /// Searches a knot between knots `low` and `high`.
    __device__ least_column<V> search(int knot, int low, int high, int part = 0, int parts = 1) const {
        return search_columns(of, min(column_of(knot), last), first_of(low), last_of(high), part, parts);
    }

    /// Finds every knot whose number is a multiple of the result, at most 4. Begins and ends with a barrier.
    __device__ int find_some(least_column<V>* found) const {
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        int step = 1;
        while (8 * 2 * step <= count) step *= 2;
        __syncthreads();
        for (bool top = true;; top = false, step /= 8) {
            const int here = count / step - (top ? 0 : count / (8 * step));
            const auto knot_at = [&](int nth) { return (top ? nth + 1 : nth / 7 * 8 + nth % 7 + 1) * step; };
            int parts = 1;
            while (2 * parts * here <= winner_warps) parts *= 2;
            for (int nth = warp / parts; nth < here; nth += winner_warps / parts) {
                const int knot = knot_at(nth), low = top ? 0 : nth / 7 * 8 * step;
                const auto best = search(knot, low, top ? count + 1 : low + 8 * step, warp % parts, parts);
                if (parts > 1) found[warp] = best;
                else winners[knot] = best.at;
            }
            __syncthreads();
            if (parts > 1) {
                if (static_cast<int>(threadIdx.x) < here) {
                    least_column<V> best = found[threadIdx.x * parts];
                    for (int part = 1; part < parts; ++part) best.relax(found[threadIdx.x * parts + part]);
                    winners[knot_at(static_cast<int>(threadIdx.x))] = best.at;
                }
                __syncthreads();
            }
            if (step <= 4) return step;
        }
    }
    /// Finds the knots between base and base + step. Called by a warp.
    __device__ void find_between(int base, int step) const {
        for (int half = step / 2; half > 0; half /= 2)
            for (int knot = base + half; knot < base + step && knot <= count; knot += 2 * half) {
                const auto best = search(knot, knot - half, knot + half);
                if (threadIdx.x % cuda::warp == 0) winners[knot] = best.at;
                __syncwarp();
            }
    }
};

/// Returns the blocks that share a pivot row, so that two fit each multiprocessor of a large GPU.
inline int winner_shares(const pivot_lines& lines) {
    return static_cast<int>(std::clamp<std::int64_t>(2 * multiprocessors / (lines.images * lines.pivots), 1, 4));
}

/// Finds the winning row at each cell of the pivot rows, in images with unresolved tiles. A block takes one share of a
/// pivot row after another. `Half`: packed_lines::half.
template <class V, int Half>
__global__ void __launch_bounds__(winner_threads, 2)
    winners_at_pivots(const unresolved_tiles unresolved, const pivot_lines lines, const int shares) {
    cuda::wait_for_kernel_before();
    extern __shared__ int4 memory[];
    const auto length = static_cast<int>(lines.length);
    auto* const squares = reinterpret_cast<V*>(memory);
    auto* const parts = reinterpret_cast<least_column<V>*>(squares + pivot_squares<V>::cells(length));
    auto* const winners = reinterpret_cast<int*>(parts + winner_warps);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int all_segments = (length + cuda::warp - 1) / cuda::warp;
    const std::int64_t count = static_cast<std::int64_t>(*unresolved.owner_count) * lines.pivots * shares;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t above = quotient(nth, shares), image = quotient(above, lines.pivots);
        const int share = static_cast<int>(nth - above * shares),
                  pivot = static_cast<int>(above - image * lines.pivots);
        const std::int64_t first = lines.first_cell(unresolved.owners[image], pivot);
        const int begin = all_segments * share / shares, segments = all_segments * (share + 1) / shares - begin;
        const std::int32_t* const nearest = lines.nearest + first;
        const pivot_squares<V> of(nearest, lines.row_of(pivot), length, Half, squares);
        of.keep();
        const pivot_knots<V> knots{of, begin, segments + 1, length - 1, winners};
        const int step = knots.find_some(parts);
        for (int base = warp * step; base <= segments; base += winner_warps * step) {
            knots.find_between(base, step);
            for (int knot = max(base, 1); knot < base + step && knot <= segments; ++knot) {
                const int x = knots.column_of(knot);
                const int winner = winner_of_lane(of, x, length - 1, winners[knot], winners[knot + 1]);
                if (x + lane < length)
                    lines.winners[first + x + lane] = static_cast<std::uint16_t>(max(nearest[winner], 0));
            }
        }
        __syncthreads();
    }
}

}  // namespace

/// Finds the winners at the pivot rows of all images that have unresolved tiles.
inline void find_pivot_winners(const device& on, const word_lines& from, const unresolved_tiles& unresolved,
                               const pivot_lines& pivots) {
    const std::int64_t chunks = blocks_for(pivots.pivots - 1, chunk_pivots);
    cuda::launch_overlapped(on, nearest_to_pivots, std::min(from.lines.tiles, multiprocessors), dim3(column_threads),
                            static_cast<std::size_t>(2 * chunks * cuda::warp) * sizeof(std::int32_t), from, unresolved,
                            pivots);
    const int shares = winner_shares(pivots);
    cuda::launch_overlapped(on,
                            pivots.wide        ? winners_at_pivots<std::int64_t, 0>
                            : pivots.half == 0 ? winners_at_pivots<std::int32_t, 0>
                                               : winners_at_pivots<std::int32_t, 1>,
                            std::min(pivots.images * pivots.pivots * shares, 2 * multiprocessors), dim3(winner_threads),
                            bytes_of_pivot_row(pivots.length, pivots.wide), unresolved, pivots, shares);
}

}  // namespace nearfield::exact
