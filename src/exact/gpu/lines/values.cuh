// Windows of lines for distances alone, for integers and any classes and ends. Values have 16 bits, and those of two
// columns share a word, so that one instruction adds a cost to both and takes the minimum.
//
// Values from 32767 on are indistinguishable, and rows farther than 176 are not searched; a block of rows whose values
// stay below the cap has lost no candidate. A block searches outward from both of its ends until no lane's value
// exceeds the cost of the next rows. Farther winners are left to the strips of lines.cuh, a bit for each 32 rows.
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
constexpr int value_far = 255;  // rows whose cost is saturated

/// Constants of a pass.
struct value_plan {
    std::uint32_t costs[value_most + near_block + near_round + 4];  ///< cost of k rows, in both halves
    int reach = 0;                                                  ///< rows that are searched on either side
    int cap = value_cap;                                            ///< values from here on might have missed a site
    int beyond = value_saturated;                                   ///< the least value that a limit forbids
    int cut = 0;                                                    ///< cells that cost the cap, along the last axis
    int window = 512;                                               ///< rows of a block
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
        with_threads<value_threads>([&](auto threads) { fill_by(threads, rows); });
    }

private:
    using in = typename A::in;
    static constexpr bool narrow = sizeof(in) == 2;

    template <class Threads>
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
        const in* const source = static_cast<const in*>(g_.from) + a_.cell(0) - lane() + column;
#pragma unroll 2
        for (int i = static_cast<int>(threadIdx.x) / chunks; i < rows; i += threads / chunks) {
            const in* const row = source + a_.row_in(base_ + i) * g_.inner;
            const uint4 low = __ldg(reinterpret_cast<const uint4*>(row)),
                        high = __ldg(reinterpret_cast<const uint4*>(row + cuda::warp));
            put(reinterpret_cast<uint4*>(to_ + i * cuda::warp + column), column, low, high);
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

    __device__ void put(uint4* to, int column, const uint4& low, const uint4& high) const {
        if constexpr (narrow) {
            const int x = a_.own(0) - lane() + column;
            const std::uint32_t from[2][4] = {{low.x, low.y, low.z, low.w}, {high.x, high.y, high.z, high.w}};
            std::uint32_t words[8];
            const bool plain = !g_.m.half_cell && !g_.m.periodic[g_.m.rank - 1];
            const std::uint32_t cut = halves(plan_.cut, plan_.cut), minus_cut = halves(-plan_.cut, -plan_.cut);
#pragma unroll
            for (int k = 0; k < 4; ++k) {
                const int at = x + 2 * k, beside = at + cuda::warp;
                uint2 l, h;
                if (plain) {
                    l = along_plain_row(from[0][k], halves(-at - 1, -at), cut, minus_cut);
                    h = along_plain_row(from[1][k], halves(-beside - 1, -beside), cut, minus_cut);
                } else {
                    const auto one = [&](std::uint32_t key, int cell) {
                        return static_cast<std::uint32_t>(along_row(static_cast<std::int16_t>(key), cell));
                    };
                    l = {one(from[0][k], at), one(from[0][k] >> 16, at + 1)};
                    h = {one(from[1][k], beside), one(from[1][k] >> 16, beside + 1)};
                }
                words[2 * k] = h.x << 16 | l.x, words[2 * k + 1] = h.y << 16 | l.y;
            }
            to[0] = {words[0], words[1], words[2], words[3]};
            to[1] = {words[4], words[5], words[6], words[7]};
        } else {
            const auto word = [](std::uint32_t h, std::uint32_t l) {
                constexpr std::uint32_t most = value_saturated;
                return min(h, most) << 16 | min(l, most);
            };
            *to = {word(high.x, low.x), word(high.y, low.y), word(high.z, low.z), word(high.w, low.w)};
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
    __device__ value_search(const C& a, const C& b, const value_plan& plan, const std::uint32_t* staged, int base,
                            int end, int m)
        : a_(a),
          b_(b),
          plan_(plan),
          at_(staged + (m - base) * width + static_cast<int>(threadIdx.x) % cuda::warp),
          deepest_((m - base) * width),
          highest_((end - 1 - m) * width),
          m_(m) {}

    /// Returns true if all winners are found; `gives_up`: the window has had too many failures.
    template <class GivesUp>
    __device__ bool find(const GivesUp& gives_up, bool& failed) {
        std::uint32_t own[near_block], some = 0;
#pragma unroll
        for (int i = 0; i < near_block; ++i) best_[i] = own[i] = at_[i * width], some |= own[i];
        if (!__any_sync(cuda::every_lane, some)) return true;
        if (gives_up()) return false;
        if constexpr (C::labels) relax_by_ends();
#pragma unroll
        for (int i = 0; i < near_block; ++i)
#pragma unroll
            for (int k = 0; k < near_block; ++k)
                if (k != i) best_[k] = __viaddmin_u16x2(own[i], plan_.costs[i > k ? i - k : k - i], best_[k]);
        failed = !search();
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
    /// Adds the ends of the runs of labels, which are sites in the lane's own columns.
    __device__ void relax_by_ends() {
        const block_ends a(a_, m_), b(b_, m_);
        const std::uint32_t bits = halves(static_cast<int>(b.bits), static_cast<int>(a.bits));
        constexpr std::uint32_t one = 0x10001, far = value_far * one;
        const auto same_run = [&](int i) { return ~((bits >> i & one) * 0xffff); };
        std::uint32_t away[near_block], next = halves(min(b.low, value_far), min(a.low, value_far));
#pragma unroll
        for (int i = 0; i < near_block; ++i) {
            if (i > 0) next = (next & same_run(i)) + one;
            away[i] = next;
        }
        next = halves(min(b.high, value_far), min(a.high, value_far));
#pragma unroll
        for (int i = near_block - 1; i >= 0; --i) {
            if (i < near_block - 1) next = (next & same_run(i + 1)) + one;
            away[i] = __vminu2(__vminu2(away[i], next), far);
            best_[i] = __vminu2(best_[i], halves(end(away[i] >> 16), end(away[i] & 0xffff)));
        }
    }
    [[nodiscard]] __device__ int end(std::uint32_t away) const {
        return min(a_.term(static_cast<int>(away)), value_saturated);
    }
    [[nodiscard]] __device__ bool search() {
        bool found = false;
        int worst = 0;
        for (int j = 1;; j += near_round) {
            std::uint32_t both = best_[0];
#pragma unroll
            for (int i = 1; i < near_block; ++i) both = __vmaxu2(both, best_[i]);
            worst = min(static_cast<int>(max(both & 0xffff, both >> 16)), plan_.beyond);
            found = !__any_sync(cuda::every_lane, worst > static_cast<int>(plan_.costs[j] & 0xffff));
            if (found || j > plan_.reach) break;
            if (j == near_early && __all_sync(cuda::every_lane, worst >= plan_.cap)) break;
            if (j > near_late && __any_sync(cuda::every_lane, worst >= plan_.cap)) break;
            const int offset = j * width;
#pragma unroll
            for (int u = 0; u < near_round; ++u) {
                const std::uint32_t down = at_[-min(offset + u * width, deepest_)],
                                    up = at_[min(offset + (near_block - 1 + u) * width, highest_)];
#pragma unroll
                for (int i = 0; i < near_block; ++i) {
                    best_[i] = __viaddmin_u16x2(down, plan_.costs[j + u + i], best_[i]);
                    best_[i] = __viaddmin_u16x2(up, plan_.costs[j + u + near_block - 1 - i], best_[i]);
                }
            }
        }
        return found && !__any_sync(cuda::every_lane, worst >= plan_.cap);
    }

    const C &a_, &b_;
    const value_plan& plan_;
    const std::uint32_t* at_;
    int deepest_, highest_, m_;  ///< words to the first and to the last staged row
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
    auto* const memory = reinterpret_cast<std::uint32_t*>(value_memory);
    if (threadIdx.x == 0) progress.begin();
    value_stage<C>(a, b, plan, base, memory).fill(end - base);
    fill_block(memory, g.rows);
    __syncthreads();
    const store_of<C, Last> store_a(a), store_b(b);
    progress.each_block(from, to, g.rows, wanted, [&](int m, bool& failed) {
        value_search<C> rows(a, b, plan, memory, base, end, m);
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
        const int rows = std::min(g.rows, plan.window) + 2 * plan.reach;
        return static_cast<std::size_t>(g.periodic ? rows : std::max(std::min(g.rows, rows), near_block)) * cuda::warp *
               4;
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
