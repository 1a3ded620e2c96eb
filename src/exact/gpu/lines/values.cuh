// Windows of lines for distances alone, for integers and any classes and ends. Values have 16 bits, and those of two
// columns share a word, so that one instruction adds a cost to both and takes the minimum.
//
// Values from 32767 on are indistinguishable, and rows farther than 176 are not searched; a block of rows whose values
// stay below the cap has lost no candidate. A block searches outward from both of its ends until no lane's value
// exceeds the cost of the next rows. Farther winners are left to the strips of lines.cuh, a bit for each 32 rows.
//
// If a run of a label begins at a row, that row is a site for the rows before it, and the row before is one for those
// from there on: for cells of other runs the ends of their own are nearer. A bit above each value says that a run
// begins, and a search takes such a value as 0 in the one direction or in the other.
//
// It reads 2 bytes a cell of the last axis, 4 of any other. Parabolas outward from each row: see near.cuh.
#pragma once

#include <algorithm>

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/near_blocks.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int value_most = 176;  // largest distance in rows to a winner
constexpr int value_cap = value_most * value_most;
constexpr int value_saturated = 32767;  // limit of values and costs, whose sums fit 16 bits
constexpr int value_columns = 2 * cuda::warp;
constexpr int value_warps = 16;
constexpr int value_threads = value_warps * cuda::warp;
constexpr std::uint32_t value_bits = 0x7fff7fff;  // of both columns; the bits above them say that runs begin

/// Constants of a pass.
struct value_plan {
    std::uint32_t costs[value_most + near_block + near_round + 4];  ///< cost of k rows, in both halves
    std::uint32_t one = 1;         ///< a factor: products have a unit of their own, beside the one of sums and minima
    int reach = 0;                 ///< rows that are searched on either side
    int cap = value_cap;           ///< values from here on might have missed a site
    int beyond = value_saturated;  ///< the least value that a limit forbids
    int cut = 0;                   ///< cells that cost the cap, along the last axis
    int window = 512;              ///< rows of a block
};

/// Plans the search; returns false if the axis has no windows of values.
inline bool plan_values(const line_form& how, const line_pass<std::int32_t>& g, value_plan& plan) {
    const auto cost = [&](std::int64_t weight, std::int64_t cells) {
        const std::int64_t r = reach(cells, g.m.half_cell);
        return std::min<std::int64_t>(weight * r * r, value_saturated);
    };
    constexpr int least_reach = 4, widest = 32512;  // see near.cuh
    while (plan.reach < value_most && cost(g.weight, plan.reach + 1) < value_cap) ++plan.reach;
    plan.cap = static_cast<int>(std::min<std::int64_t>(value_cap, cost(g.weight, plan.reach + 1)));
    if (how.stored == keys::narrow)
        while (cost(g.done_weight[0], plan.cut) < plan.cap) ++plan.cut;
    if (!has_blocks(g) || plan.reach < least_reach) return false;
    if (how.stored == keys::narrow && (plan.cut < least_reach || g.done_size[0] > widest)) return false;
    for (int k = 0; k < static_cast<int>(std::size(plan.costs)); ++k)
        plan.costs[k] = halves(static_cast<int>(cost(g.weight, k)), static_cast<int>(cost(g.weight, k)));
    plan.reach = std::min(plan.reach, g.periodic ? g.rows / 2 : g.rows - 1);
    plan.beyond = static_cast<int>(std::min<std::int64_t>(g.limit, value_saturated - 1) + 1);
    return true;
}

/// Stages a tile's rows [base, base + rows), in joined lines with the rows of their other end.
template <class A>
class value_stage {
public:
    __device__ value_stage(const A& a, const A& b, const value_plan& plan, int base, std::uint32_t* to)
        : a_(a), b_(b), g_(a.g), plan_(plan), base_(base), to_(to) {}

    __device__ void fill(int rows) const {
        const bool plain = narrow && !g_.m.half_cell && !g_.m.periodic[g_.m.rank - 1];
        with_threads<value_threads>([&](auto threads) {
            if (plain) fill_by<narrow>(threads, rows);
            else fill_by<false>(threads, rows);
        });
        // Beyond both ends lie rows without sites.
        for (int i = static_cast<int>(threadIdx.x); i < rows_beyond * cuda::warp; i += static_cast<int>(blockDim.x))
            to_[-1 - i] = to_[rows * cuda::warp + i] = value_bits;
        if (A::labels && !together()) {
            __syncthreads();
            set_begins(rows);
        }
    }

private:
    using in = typename A::in;
    static constexpr bool narrow = sizeof(in) == 2;

    /// True if the bits of neighbouring columns lie in one byte.
    [[nodiscard]] __device__ bool together() const { return g_.inner % value_columns == 0 && g_.done_size[0] % 8 == 0; }
    /// Sets the bits of rows in which runs begin. A warp has a row at a time.
    __device__ void set_begins(int rows) const {
        const int warps = static_cast<int>(blockDim.x) / cuda::warp;
        const column_begins low(g_, a_.cell(0)), high(g_, b_.cell(0));
        for (int i = static_cast<int>(threadIdx.x) / cuda::warp; i < rows; i += warps) {
            const int row = a_.row_in(base_ + i);
            to_[i * cuda::warp + lane()] |= (low(row) & 1) << 15 | high(row) << 31;
        }
    }

    template <bool Plain, class Threads>
    __device__ void fill_by(Threads threads, int rows) const {
        if (g_.inner % value_columns != 0) {
            for (int i = static_cast<int>(threadIdx.x) / cuda::warp; i < rows; i += threads / cuda::warp) {
                const int row = a_.row_in(base_ + i);
                to_[i * cuda::warp + lane()] = halves(value(b_, from(b_.cell(row))), value(a_, from(a_.cell(row))));
            }
            return;
        }
        // A thread loads neighbouring columns, and those 32 farther, 16 bytes each.
        constexpr int columns = 16 / sizeof(in), chunks = cuda::warp / columns;
        const int column = static_cast<int>(threadIdx.x) % chunks * columns;
        const std::int64_t first = a_.cell(0) - lane() + column;
        const in* const source = static_cast<const in*>(g_.from) + first;
        const column_begins low_begins(g_, first), high_begins(g_, first + cuda::warp);
        const bool have_begins = A::labels && together();
#pragma unroll 2
        for (int i = static_cast<int>(threadIdx.x) / chunks; i < rows; i += threads / chunks) {
            const in* const row = source + a_.row_in(base_ + i) * g_.inner;
            const uint4 low = __ldg(reinterpret_cast<const uint4*>(row)),
                        high = __ldg(reinterpret_cast<const uint4*>(row + cuda::warp));
            std::uint32_t begins = 0;
            if (have_begins) begins = low_begins(a_.row_in(base_ + i)) | high_begins(a_.row_in(base_ + i)) << 16;
            put<Plain>(reinterpret_cast<uint4*>(to_ + i * cuda::warp + column), column, low, high, begins);
        }
    }

    [[nodiscard]] __device__ static int lane() { return static_cast<int>(threadIdx.x) % cuda::warp; }
    [[nodiscard]] __device__ int from(std::int64_t cell) const { return static_cast<const in*>(g_.from)[cell]; }

    [[nodiscard]] __device__ int value(const A& c, int key) const {
        return narrow ? along_row(key, c.own(0)) : min(key, value_saturated);
    }
    /// Returns the cost of a site in a cell's row, for any kind of row.
    [[nodiscard]] __device__ int along_row(int site, int cell) const {
        if (site < 0) return value_saturated;
        int d = site < cell ? cell - site : site - cell;
        if (g_.m.periodic[g_.m.rank - 1]) d = min(d, g_.done_size[0] - d);
        d = min(d, plan_.cut);
        if (g_.m.half_cell) d = max(2 * d - 1, 0);
        return min(static_cast<int>(g_.done_weight[0]) * d * d, value_saturated);
    }
    /// Returns the costs for two neighbouring cells at once, in plain rows; `minus` is minus the cells.
    [[nodiscard]] __device__ uint2 along_plain_row(std::uint32_t two, std::uint32_t minus, std::uint32_t cut,
                                                   std::uint32_t minus_cut) const {
        const auto both = static_cast<int>(__vmaxs2(__viaddmin_s16x2(two, minus, cut), minus_cut));
        const int high = both >> 16, low = static_cast<std::int16_t>(both), w = static_cast<int>(g_.done_weight[0]);
        return {static_cast<std::uint32_t>(min(w * low * low, value_saturated)),
                static_cast<std::uint32_t>(min(w * high * high, value_saturated))};
    }

    /// Stages the columns of two chunks. `begins`: their bits, of the second chunk above those of the first.
    template <bool Plain>
    __device__ void put(uint4* to, int column, const uint4& low, const uint4& high, std::uint32_t begins) const {
        const auto bits = [&](int k) { return A::labels ? begins << (15 - k) & ~value_bits : 0; };
        if constexpr (narrow) {
            const int x = a_.own(0) - lane() + column;
            const std::uint32_t from[2][4] = {{low.x, low.y, low.z, low.w}, {high.x, high.y, high.z, high.w}};
            std::uint32_t words[8];
            const std::uint32_t cut = halves(plan_.cut, plan_.cut), minus_cut = halves(-plan_.cut, -plan_.cut);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int at = x + 2 * k, beside = at + cuda::warp;
                uint2 l, h;
                if constexpr (Plain) {
                    l = along_plain_row(from[0][k], halves(-at - 1, -at), cut, minus_cut);
                    h = along_plain_row(from[1][k], halves(-beside - 1, -beside), cut, minus_cut);
                } else {
                    const auto one = [&](std::uint32_t key, int cell) {
                        return static_cast<std::uint32_t>(along_row(static_cast<std::int16_t>(key), cell));
                    };
                    l = {one(from[0][k], at), one(from[0][k] >> 16, at + 1)};
                    h = {one(from[1][k], beside), one(from[1][k] >> 16, beside + 1)};
                }
                words[2 * k] = h.x << 16 | l.x | bits(2 * k), words[2 * k + 1] = h.y << 16 | l.y | bits(2 * k + 1);
            }
            to[0] = {words[0], words[1], words[2], words[3]};
            to[1] = {words[4], words[5], words[6], words[7]};
        } else {
            const auto word = [&](std::uint32_t h, std::uint32_t l, int k) {
                constexpr std::uint32_t most = value_saturated;
                return min(h, most) << 16 | min(l, most) | bits(k);
            };
            *to = {word(high.x, low.x, 0), word(high.y, low.y, 1), word(high.z, low.z, 2), word(high.w, low.w, 3)};
        }
    }

    const A &a_, &b_;
    const line_pass<std::int32_t>& g_;
    const value_plan& plan_;
    int base_;
    std::uint32_t* to_;
};

/// A lane's rows of a block, for two columns.
template <class C>
class value_search {
    static constexpr int width = cuda::warp;

public:
    /// Rows [base, end) are staged; the block begins at row m, one of them.
    __device__ value_search(const value_plan& plan, const std::uint32_t* staged, int base, int end, int m)
        : plan_(plan),
          at_(staged + (m - base) * width + static_cast<int>(threadIdx.x) % cuda::warp),
          deepest_((m - base) * width),
          highest_((end - 1 - m) * width) {}

    /// Returns true if all winners are found; `gives_up`: the window has had too many failures.
    template <class GivesUp>
    __device__ bool find(const GivesUp& gives_up, bool& failed) {
        std::uint32_t word[near_block], some = 0;
#pragma unroll
        for (int i = 0; i < near_block; ++i) word[i] = at_[i * width], best_[i] = value_of(word[i]), some |= best_[i];
        if (!__any_sync(cuda::every_lane, some)) return true;
        if (gives_up()) return false;
#pragma unroll
        for (int i = 0; i < near_block; ++i) {
            const std::uint32_t before = for_before(word[i]),
                                behind = i + 1 < near_block ? for_behind(word[i], word[i + 1]) : 0;
#pragma unroll
            for (int k = 0; k < near_block; ++k)
                if (k != i)
                    best_[k] = __viaddmin_u16x2(k < i ? before : behind, plan_.costs[i > k ? i - k : k - i], best_[k]);
        }
        failed = !search(word[0]);
        return !failed;
    }

    /// Moves the values of each row to the row before.
    __device__ void shift() {
#pragma unroll
        for (int i = 1; i < near_block; ++i) best_[i - 1] = best_[i];
    }
    [[nodiscard]] __device__ int low(int i) const { return static_cast<int>(best_[i] & 0xffff); }
    [[nodiscard]] __device__ int high(int i) const { return static_cast<int>(best_[i] >> 16); }

private:
    /// Returns the values of a row's columns.
    [[nodiscard]] static __device__ std::uint32_t value_of(std::uint32_t word) {
        return C::labels ? word & value_bits : word;
    }
    /// Returns the values that a row has for the rows before it: 0 where a run begins.
    [[nodiscard]] static __device__ std::uint32_t for_before(std::uint32_t word) {
        return C::labels ? __vmaxs2(word, 0) : word;
    }
    /// Returns the values that a row has for the rows behind it: 0 where a run begins in the next row.
    [[nodiscard]] static __device__ std::uint32_t for_behind(std::uint32_t word, std::uint32_t next) {
        return C::labels ? word & __vmaxs2(next | value_bits, 0) : word;
    }
    /// Searches outward; `last`: the row before which it begins downward.
    [[nodiscard]] __device__ bool search(std::uint32_t last) {
        bool found = false;
        int worst = 0;
        const std::uint32_t one = plan_.one;
        for (int j = 1;; j += near_round) {
            std::uint32_t both = best_[0];
#pragma unroll
            for (int i = 1; i < near_block; ++i) both = __vmaxu2(both, best_[i]);
            worst = min(static_cast<int>(max(both & 0xffff, both >> 16)), plan_.beyond);
            found = !__any_sync(cuda::every_lane, worst > static_cast<int>(plan_.costs[j] & 0xffff));
            if (found || j > plan_.reach) break;
            if (j == near_early && __all_sync(cuda::every_lane, worst >= plan_.cap)) break;
            if (j > near_late && __any_sync(cuda::every_lane, worst >= plan_.cap)) break;
            // A round may begin at the last row: then it has that row again, farther away, and the rows beyond.
            const std::uint32_t *const down_from = at_ - min(j * width, deepest_), *const up_from =
                                                                                       at_ +
                                                                                       min((near_block - 1 + j) * width,
                                                                                           highest_);
#pragma unroll
            for (int u = 0; u < near_round; ++u) {
                const std::uint32_t lower = down_from[-u * width], down = for_behind(lower, last),
                                    up = for_before(up_from[u * width]);
                last = lower;
#pragma unroll
                for (int i = 0; i < near_block; ++i) {
                    const std::uint32_t costs[] = {plan_.costs[j + u + i], plan_.costs[j + u + near_block - 1 - i]};
                    if (i % 4 == 0) best_[i] = __vimin3_u16x2(down * one + costs[0], up * one + costs[1], best_[i]);
                    else best_[i] = __viaddmin_u16x2(up, costs[1], __viaddmin_u16x2(down, costs[0], best_[i]));
                }
            }
        }
        return found && !__any_sync(cuda::every_lane, worst >= plan_.cap);
    }

    const value_plan& plan_;
    const std::uint32_t* at_;
    int deepest_, highest_;  ///< words to the first and to the last staged row
    std::uint32_t best_[near_block];
};

/// Searches windows of values. A block owns a window of 64 lines.
template <keys Stored, rule Rule, bool Last>
__global__ void __launch_bounds__(value_threads, 2)
    search_values(const __grid_constant__ line_pass<std::int32_t> g, const __grid_constant__ value_plan plan,
                  int windows) {
    using C = column<std::int32_t, Stored, Rule, true>;
    extern __shared__ uint4 value_memory[];
    __shared__ near_progress progress;
    if (are_few(g.many)) return;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t tile = blockIdx.x / windows, first = tile * value_columns + lane;
    const int from = static_cast<int>(blockIdx.x % windows) * plan.window, to = min(from + plan.window, g.rows);
    const int first_row = block_begin(from, g.rows);
    const int base = g.periodic ? first_row - plan.reach : max(first_row - plan.reach, 0),
              end = g.periodic ? to + plan.reach : min(to + plan.reach, g.rows);
    const unsigned wanted = (std::uint64_t{1} << (to - from + strip - 1) / strip) - 1;
    const C a(g, first), b(g, first + cuda::warp);
    auto* const memory = reinterpret_cast<std::uint32_t*>(value_memory) + rows_beyond * cuda::warp;
    if (threadIdx.x == 0) progress.begin();
    value_stage<C>(a, b, plan, base, memory).fill(end - base);
    fill_block(memory, g.rows);
    __syncthreads();
    const store_of<C, Last> store_a(a), store_b(b);
    progress.each_block(from, to, g.rows, wanted, [&](int m, bool& failed) {
        value_search<C> rows(plan, memory, base, end, m);
        if (!rows.find([&] { return progress.has_enough(); }, failed)) return false;
        put_block(rows, m, g.rows, [&]<int Count>(int row) {
            const auto none = [&](int i) { return site_of_row<std::int32_t>{0, row + i}; };
            if (first < g.columns)
                store_a.template put_near<Count, false>(row, [&](int i) { return rows.low(i); }, none);
            if (first + cuda::warp < g.columns)
                store_b.template put_near<Count, false>(row, [&](int i) { return rows.high(i); }, none);
        });
        return true;
    });
    __syncthreads();
    if (threadIdx.x != 0) return;
    progress.leave(g, rung::values, 2 * tile, from, to, wanted);
    if ((2 * tile + 1) * cuda::warp < g.columns) progress.leave(g, rung::values, 2 * tile + 1, from, to, wanted);
}

/// Launches the search; returns false if a block has too little memory.
template <keys Stored, rule Rule>
bool search_values(const device& on, const line_form& how, const line_pass<std::int32_t>& g, value_plan plan) {
    const auto bytes = [&] {
        const int rows = std::min(g.rows, plan.window) + 2 * plan.reach,
                  staged = g.periodic ? rows : std::max(std::min(g.rows, rows), near_block);
        return static_cast<std::size_t>(staged + 2 * rows_beyond) * cuda::warp * 4;
    };
    const std::int64_t tiles = blocks_for(g.columns, value_columns);
    const bool fills = tiles * blocks_for(g.rows, plan.window) >= 8 * cuda::limits().multiprocessors;
    if (!fills || bytes() > cuda::limits().shared_bytes) plan.window = left_rows;
    if (bytes() > cuda::limits().shared_bytes) return false;
    const int windows = static_cast<int>(blocks_for(g.rows, plan.window));
    cuda::launch(on, how.last ? search_values<Stored, Rule, true> : search_values<Stored, Rule, false>, tiles * windows,
                 dim3(warps_for(value_warps, std::min(g.rows, plan.window)) * cuda::warp), bytes(), g, plan, windows);
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
