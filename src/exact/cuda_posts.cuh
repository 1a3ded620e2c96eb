// Windows of packed lines that steps (cuda_tile.cuh) and offers (cuda_gather.cuh) leave, of any number of rows and sites.
//
// Every 32nd row of an image is a post, and so is the last one. The winning row never moves back along a line (core.hpp), so
// that between two posts only the rows from the winner at the one to the winner at the other can win: 33 on average,
// whatever the image (cuda_post_squares.cuh). The winners at the posts are found the other way round, the image being 32
// times smaller then: how far the nearest site of each column is from each post, then, along each post, by halving: the
// winning column never moves back either, so that the winner of a column between two lies between theirs.
#pragma once

#include <limits>

#include "exact/cuda_windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int post_rows = 32;
constexpr int chunk_posts = 8;  // whose sites a warp keeps in registers
constexpr int chunk_rows = chunk_posts * post_rows;
constexpr int column_warps = 32;
constexpr int column_threads = column_warps * cuda::warp;
constexpr int winner_warps = 32;
constexpr int winner_threads = winner_warps * cuda::warp;
constexpr int most_own_columns = 64;       // that 32 neighbouring columns are offered without a look
constexpr int most_offered_columns = 256;  // after one; else they are halved, too

/// What is found at the posts of all images, whose values are in the numbers V.
template <class V>
struct post_lines {
    std::int32_t* nearest = nullptr;   ///< row of the nearest site in a column, or -1: for each post, for each column
    std::uint16_t* winners = nullptr;  ///< row that wins, likewise
    std::int32_t* taken = nullptr;     ///< number of squares between posts that warps took; 0 at first
    std::int64_t images = 1;
    std::int64_t length = 1;
    int posts = 1;
    int rows = 1;

    NF_HD int row_of(int post) const { return post < posts - 1 ? post * post_rows : rows - 1; }
    __device__ std::int64_t first_cell(std::int64_t image, int post) const { return (image * posts + post) * length; }
};

/// A matrix of 32 x 32 bits, a row a lane, turned round: bit i of lane l becomes bit l of lane i.
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

/// Sites of a chunk of 256 rows of 32 columns, a lane a column: bits of the 32 rows from each post on.
struct chunk_bits {
    std::uint32_t at[chunk_posts];

    __device__ void load(const line_word* words, int first_row, int rows) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll
        for (int i = 0; i < chunk_posts; ++i) {
            const int row = first_row + i * post_rows + lane;
            at[i] = row < rows ? words[row].sites : 0;
        }
#pragma unroll
        for (auto& one : at) one = turn_bits(one);
    }
    /// First and last row with a site of the 32 from post i on; only where there is one.
    __device__ int first(int i) const { return i * post_rows + __ffs(static_cast<int>(at[i])) - 1; }
    __device__ int last(int i) const { return i * post_rows + 31 - __clz(static_cast<int>(at[i])); }
};
constexpr std::int32_t beyond = 1 << 24;

/// A block 32 columns of an image, a warp one chunk of rows after another: first their first and last sites, then, with those
/// of all chunks, the rows nearest to their posts. The last post lies behind all rows, or on the last of them.
template <class V>
__global__ void __launch_bounds__(column_threads)
    nearest_to_posts(const word_lines lines, const hard_tiles hard, const post_lines<V> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::int32_t ends[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int last_post = to.posts - 1, chunks = (last_post + chunk_posts - 1) / chunk_posts;
    std::int32_t* const firsts = ends + lane;
    std::int32_t* const lasts = firsts + chunks * cuda::warp;
    const std::int64_t columns = lines.lines.columns, count = *hard.owner_count * columns;
    chunk_bits bits;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, columns);
        const word_group g = lines.group_of(hard.owners[image] * columns + nth - image * columns);
        const line_word* const words = lines.words(g);
        for (int chunk = warp; chunk < chunks; chunk += column_warps) {
            const int first_row = chunk * chunk_rows;
            bits.load(words, first_row, lines.rows());
            std::int32_t first = beyond, last = -1;
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i)
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
            std::int32_t rows[chunk_posts];
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i) {
                rows[i] = before;
                if (bits.at[i] != 0) before = first_row + bits.last(i);
            }
#pragma unroll
            for (int i = chunk_posts - 1; i >= 0; --i) {
                const int row = first_row + i * post_rows;
                if (bits.at[i] != 0) after = first_row + bits.first(i);
                if (rows[i] < 0 || after - row < row - rows[i]) rows[i] = after < beyond ? after : -1;
            }
            if (lane >= lines.width(g)) continue;
            std::int32_t* cell = to.nearest + to.first_cell(g.outer, chunk * chunk_posts) + g.x + lane;
#pragma unroll
            for (int i = 0; i < chunk_posts; ++i, cell += to.length)
                if (chunk * chunk_posts + i < last_post) *cell = rows[i];
            if (chunk == chunks - 1) to.nearest[to.first_cell(g.outer, last_post) + g.x + lane] = before;
        }
        __syncthreads();
    }
}

/// The squared distances of a post from the columns' nearest sites. Those in 32 bits are kept in shared memory.
template <class V>
class post_squares {
public:
    static constexpr bool kept = sizeof(V) == sizeof(std::int32_t);
    static constexpr V none =
        V{1} << (8 * sizeof(V) - 2);  // above all real ones, and with a square of columns in range

    __device__ post_squares(const std::int32_t* nearest, int row, V* memory)
        : nearest_(nearest), row_(row), memory_(memory) {}
    static std::size_t bytes(std::int64_t length) { return kept ? static_cast<std::size_t>(length) * sizeof(V) : 0; }
    __device__ void keep(int length) const {
        if constexpr (kept)
            for (int x = static_cast<int>(threadIdx.x); x < length; x += winner_threads) memory_[x] = square(x);
    }
    /// What column `from` is worth to column x.
    __device__ V value(int from, int x) const {
        const V columns = x - from;
        if constexpr (kept) return memory_[from] + columns * columns;
        else return square(from) + columns * columns;
    }

private:
    __device__ V square(int x) const {
        const std::int32_t site = nearest_[x];
        const V rows = site - row_;
        return site < 0 ? none : rows * rows;
    }
    const std::int32_t* nearest_;
    int row_;
    V* memory_;
};

/// The least value found, and the column that it is of.
template <class V>
struct least_column {
    V value;
    int at;

    __device__ void offer(V other, int from) {
        if (other < value) value = other, at = from;
    }
    /// Of all lanes.
    __device__ void reduce() {
        if constexpr (sizeof(V) == sizeof(std::int32_t)) {
            const V least = __reduce_min_sync(cuda::every_lane, value);
            const std::uint32_t mine = __ballot_sync(cuda::every_lane, value == least);
            value = least, at = __shfl_sync(cuda::every_lane, at, __ffs(static_cast<int>(mine)) - 1);
        } else {
#pragma unroll
            for (int o = cuda::warp / 2; o > 0; o /= 2) {
                const V other = __shfl_xor_sync(cuda::every_lane, value, o);
                const int from = __shfl_xor_sync(cuda::every_lane, at, o);
                // The lesser column of equal ones, so that all lanes have the same.
                if (other < value || (other == value && from < at)) value = other, at = from;
            }
        }
    }
};

/// By a warp: which of the columns [from, end] wins at column x; of `parts` warps, each its share.
template <class V>
__device__ least_column<V> search_columns(const post_squares<V>& of, int x, int from, int end, int part = 0,
                                          int parts = 1) {
    least_column<V> best{std::numeric_limits<V>::max(), from};
#pragma unroll 4
    for (int at = from + part * cuda::warp + static_cast<int>(threadIdx.x) % cuda::warp; at <= end;
         at += parts * cuda::warp)
        best.offer(of.value(at, x), at);
    best.reduce();
    return best;
}

/// Of the columns between `from` and `end`, which win at columns `first` and further on, a lane each from `at` on: whether they
/// lie below the line from the one to the other, so that they may win between.
template <class V>
class column_chord {
public:
    __device__ column_chord(const post_squares<V>& of, int first, int from, int end)
        : of_(of), first_(first), from_(from), end_(end), least_(of.value(from, first)) {
        slope_ = static_cast<float>(of.value(end, first) - least_) / static_cast<float>(end - from);
    }
    __device__ std::uint32_t below(int at) const {
        const int column = at + static_cast<int>(threadIdx.x) % cuda::warp;
        // Where it matters the sum is below 2^24.
        return __ballot_sync(cuda::every_lane,
                             column < end_ && static_cast<float>(of_.value(min(column, end_), first_) - least_) <=
                                                  slope_ * static_cast<float>(column - from_) + 2.0f);
    }

private:
    const post_squares<V>& of_;
    int first_, from_, end_;
    V least_;
    float slope_;
};

/// By a warp: the winner at column first + lane, given [from, end] for all 32, `from` being the first one's.
template <class V>
__device__ int winner_of_lane(const post_squares<V>& of, int first, int last, int from, int end) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, x = min(first + lane, last);
    least_column<V> best{of.value(from, x), from};
    if (end - from <= most_own_columns) {
#pragma unroll 4
        for (int at = from + 1; at <= end; ++at) best.offer(of.value(at, x), at);
        return best.at;
    }
    const column_chord<V> line(of, first, from, end);
    int left = 0;
    for (int at = from + 1; at < end; at += cuda::warp) left += __popc(line.below(at));
    if (left <= most_offered_columns) {
        for (int at = from + 1; at < end; at += cuda::warp)
            for (std::uint32_t wanted = line.below(at); wanted != 0; wanted &= wanted - 1) {
                const int column = at + __ffs(static_cast<int>(wanted)) - 1;
                best.offer(of.value(column, x), column);
            }
        best.offer(of.value(end, x), end);
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

/// Knots of a post: every 32nd column and the last one, knot 1 being column 0. Between knots that are known its warp finds the
/// others.
template <class V>
struct post_knots {
    const post_squares<V>& of;
    int count, last;  ///< of the knots; the last column
    int* winners;     ///< of each knot

    __device__ int first_of(int knot) const { return knot <= 0 ? 0 : winners[knot]; }
    __device__ int last_of(int knot) const { return knot > count ? last : winners[knot]; }
    /// Between knots `low` and `high`.
    __device__ least_column<V> search(int knot, int low, int high, int part = 0, int parts = 1) const {
        return search_columns(of, min((knot - 1) * cuda::warp, last), first_of(low), last_of(high), part, parts);
    }

    /// Finds every knot whose number is a multiple of what is returned, 4 at most. Begins and ends with a barrier.
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
                    for (int part = 1; part < parts; ++part) {
                        const auto other = found[threadIdx.x * parts + part];
                        best.offer(other.value, other.at);
                    }
                    winners[knot_at(static_cast<int>(threadIdx.x))] = best.at;
                }
                __syncthreads();
            }
            if (step <= 4) return step;
        }
    }
    /// By a warp: those between base and base + step.
    __device__ void find_between(int base, int step) const {
        for (int half = step / 2; half > 0; half /= 2)
            for (int knot = base + half; knot < base + step && knot <= count; knot += 2 * half) {
                const auto best = search(knot, knot - half, knot + half);
                if (threadIdx.x % cuda::warp == 0) winners[knot] = best.at;
                __syncwarp();
            }
    }
};

/// Shared memory of winners_at_posts; all of it is asked for at the launch, which raises the limit by what is asked for.
template <class V>
std::size_t winner_bytes(std::int64_t length) {
    return winner_warps * sizeof(least_column<V>) +
           static_cast<std::size_t>(blocks_for(length, cuda::warp) + 2) * sizeof(int) + post_squares<V>::bytes(length);
}

/// A block one post after another of the images that have hard tiles: the row that wins at each of its cells.
template <class V>
__global__ void __launch_bounds__(winner_threads, 2)
    winners_at_posts(const hard_tiles hard, const post_lines<V> lines) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::byte memory[];
    auto* const parts = reinterpret_cast<least_column<V>*>(memory);
    auto* const winners = reinterpret_cast<int*>(parts + winner_warps);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto length = static_cast<int>(lines.length);
    const int segments = (length + cuda::warp - 1) / cuda::warp;
    const std::int64_t count = static_cast<std::int64_t>(*hard.owner_count) * lines.posts;
    for (std::int64_t nth = blockIdx.x; nth < count; nth += gridDim.x) {
        const std::int64_t image = quotient(nth, lines.posts),
                           first = lines.first_cell(hard.owners[image], static_cast<int>(nth - image * lines.posts));
        const std::int32_t* const nearest = lines.nearest + first;
        const post_squares<V> of(nearest, lines.row_of(static_cast<int>(nth - image * lines.posts)),
                                 reinterpret_cast<V*>(winners + segments + 2));
        of.keep(length);
        const post_knots<V> knots{of, segments + 1, length - 1, winners};
        const int step = knots.find_some(parts);
        for (int base = warp * step; base <= segments; base += winner_warps * step) {
            knots.find_between(base, step);
            for (int knot = max(base, 1); knot < base + step && knot <= segments; ++knot) {
                const int x = (knot - 1) * cuda::warp;
                const int winner = winner_of_lane(of, x, length - 1, winners[knot], winners[knot + 1]);
                if (x + lane < length) lines.winners[first + x + lane] = static_cast<std::uint16_t>(nearest[winner]);
            }
        }
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
