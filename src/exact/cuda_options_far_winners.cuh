// The row that wins at each cell of a post (cuda_options_far_lines.cuh), by halving along it: between two columns of
// one class with no other class between, the winning column never moves back.
#pragma once

#include <limits>

#include "exact/cuda_options_far_lines.cuh"

namespace nearfield::exact {
namespace {

// Columns that 32 neighbouring ones are offered without halving, which takes as long as 400 by the instructions
// counted.
constexpr int most_own_wins = 384;

/// The columns of a cell's class around it in its row: the next ones of another class to either side, or beyond the
/// row.
struct far_run {
    int before, behind;
};
__device__ inline far_run run_of(const class_word& w, int x, int bit, int length) {
    const std::uint32_t upto = w.changes << (31 - bit), from = w.changes >> bit >> 1;
    const int left = upto != 0 ? __clz(static_cast<int>(upto)) + 1 : before(w) + bit,
              right = from != 0 ? __ffs(static_cast<int>(from)) : after(w) + 31 - bit;
    return {max(x - left, -1), min(x + right, length)};
}

/// Where a column's winner is looked for, both ends included. An end that is of another class is worth 0.
struct far_range {
    int from, end;
};

/// The cells of a post, in shared memory: the squared distance of each from the nearest of another class in its
/// column. What they are worth to a cell of another class is less, but such a cell has a nearer one at the end of its
/// run, which it gets as 0.
struct far_post {
    std::int32_t* squares;
    far_run* runs;  ///< of knots, which are every 32nd column and the last one
    int* winners;   ///< likewise
    int columns, length;

    static constexpr std::int32_t none = 1 << 30;  // above all real ones, and with a square of columns in range

    /// Filled up to a multiple of four.
    [[nodiscard]] NF_HD static constexpr int cells(std::int64_t length) {
        return static_cast<int>((length + 3) / 4 * 4);
    }
    [[nodiscard]] __device__ std::int32_t value(int from, int x) const {
        return squares[from] + (x - from) * (x - from);
    }
    [[nodiscard]] __device__ std::int32_t least_of_four(int from, int x) const {
        const int4 four = *reinterpret_cast<const int4*>(squares + from);
        const int d = x - from;
        return min(__vimin3_s32(four.x + d * d, four.y + (d - 1) * (d - 1), four.z + (d - 2) * (d - 2)),
                   four.w + (d - 3) * (d - 3));
    }
    [[nodiscard]] __device__ int column_of(int knot) const { return min(knot * cuda::warp, length - 1); }
    /// Of a column with this run, by what is known of the knots to either side.
    [[nodiscard]] __device__ far_range range_by(const far_run& run, int low, int high) const {
        return {column_of(low) > run.before ? winners[low] : max(run.before, 0),
                column_of(high) < run.behind ? winners[high] : min(run.behind, length - 1)};
    }
};

/// The least value found, and the column that it is of.
struct far_column {
    std::int32_t value = std::numeric_limits<std::int32_t>::max();
    int at = 0;

    __device__ void offer(std::int32_t other, int from) {
        if (other < value) value = other, at = from;
    }
    /// Four at a time, from a multiple of four on.
    __device__ void offer_fours(const far_post& of, int x, int from, int end, int step) {
#pragma unroll 4
        for (int four = from; four <= end; four += step) offer(of.least_of_four(four, x), four);
        const int four = at;
#pragma unroll
        for (int i = 3; i >= 0; --i)
            if (of.value(four + i, x) == value) at = four + i;
    }
    __device__ void offer_ends(const far_run& run, int x, int length) {
        if (run.before >= 0) offer((x - run.before) * (x - run.before), run.before);
        if (run.behind < length) offer((x - run.behind) * (x - run.behind), run.behind);
    }
};

/// By a warp: which of the columns of a range wins at column x.
__device__ inline int search_far_columns(const far_post& of, int x, const far_run& run, const far_range& in) {
    far_column best;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    best.offer_fours(of, x, in.from / 4 * 4 + 4 * lane, in.end, 4 * cuda::warp);
    best.offer_ends(run, x, of.length);
    const std::int32_t least = __reduce_min_sync(cuda::every_lane, best.value);
    const std::uint32_t mine = __ballot_sync(cuda::every_lane, best.value == least);
    return __shfl_sync(cuda::every_lane, best.at, __ffs(static_cast<int>(mine)) - 1);
}

/// The winners at all knots, by all warps of a block. Begins and ends with a barrier.
__device__ inline void find_far_knots(const far_post& of) {
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const auto find = [&](int knot, const far_range& in) {
        const int winner = search_far_columns(of, of.column_of(knot), of.runs[knot], in);
        if (lane == 0) of.winners[knot] = winner;
    };
    __syncthreads();
    if (warp < 2) {
        const far_run& run = of.runs[warp * of.columns];
        find(warp * of.columns, {max(run.before, 0), min(run.behind, of.length - 1)});
    }
    int step = 1;
    while (2 * step < of.columns) step *= 2;
    for (; step > 0; step /= 2) {
        __syncthreads();
        for (int knot = step + 2 * step * warp; knot < of.columns; knot += 2 * step * far_warps)
            find(knot, of.range_by(of.runs[knot], knot - step, min(knot + step, of.columns)));
    }
    __syncthreads();
}

/// By a warp: the winner at column x of each lane, the lanes' columns being those from one knot to the next; `run` is
/// the lane's.
__device__ inline int far_winner_of_lane(const far_post& of, int knot, int x, const far_run& run) {
    const int first = of.column_of(knot);
    const far_range in = of.range_by(run, knot, knot + 1);
    // Where no change is between, the range is the same for all lanes.
    const bool alike = of.runs[knot].behind > of.column_of(knot + 1);
    if (!alike || in.end - in.from <= most_own_wins) {
        far_column best;
        best.offer_fours(of, x, in.from / 4 * 4, in.end, 4);
        best.offer_ends(run, x, of.length);
        return best.at;
    }
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    int mine = in.from;
    for (int step = cuda::warp / 2; step > 0; step /= 2)
        for (int l = step; l < cuda::warp; l += 2 * step) {
            const int low = __shfl_sync(cuda::every_lane, mine, l - step),
                      high = __shfl_sync(cuda::every_lane, mine, (l + step) % cuda::warp),
                      found = search_far_columns(of, min(first + l, of.length - 1), run,
                                                 {low, l + step < cuda::warp ? high : in.end});
            if (lane == l) mine = found;
        }
    return mine;
}

inline std::size_t far_winner_bytes(const far_shape& c) {
    return static_cast<std::size_t>(far_post::cells(c.length) + 3 * (c.columns + 1)) * sizeof(std::int32_t);
}

/// A block a post.
__global__ void __launch_bounds__(far_threads, 2)
    find_far_winners(const gate when, const __grid_constant__ far_shape c) {
    extern __shared__ int4 far_squares[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    far_post of{reinterpret_cast<std::int32_t*>(far_squares), nullptr, nullptr, c.columns, static_cast<int>(c.length)};
    of.runs = reinterpret_cast<far_run*>(of.squares + far_post::cells(c.length));
    of.winners = reinterpret_cast<int*>(of.runs + c.columns + 1);
    each_block(when, [&](std::int64_t block) {
        const std::int64_t image = quotient(block, c.posts);
        const int post = static_cast<int>(block - image * c.posts), row = c.row_of(post);
        const std::int32_t* const nearest = c.nearest + c.post(image, post);
        const auto word_at = [&](int word) { return c.lines[c.column(image, word) + row]; };
        for (int x = static_cast<int>(threadIdx.x); x < far_post::cells(of.length); x += far_threads) {
            const int site = x < of.length ? nearest[x] : -1;
            of.squares[x] = site < 0 ? far_post::none : (site - row) * (site - row);
        }
        for (int knot = static_cast<int>(threadIdx.x); knot <= c.columns; knot += far_threads) {
            const int x = of.column_of(knot);
            of.runs[knot] = run_of(word_at(x / cuda::warp), x, x % cuda::warp, of.length);
        }
        find_far_knots(of);
        for (int knot = warp; knot < c.columns; knot += far_warps) {
            const int x = min(of.column_of(knot) + lane, of.length - 1);
            const far_run run = run_of(word_at(knot), x, x % cuda::warp, of.length);
            const int column = far_winner_of_lane(of, knot, x, run),
                      site = column > run.before && column < run.behind ? nearest[column] : row;
            if (of.column_of(knot) + lane < of.length)
                c.winners[c.post(image, post) + x] = static_cast<std::uint16_t>(site < 0 ? row : site);
        }
        __syncthreads();
    });
}

}  // namespace
}  // namespace nearfield::exact
