// Near windows of words and of values: their plans, which are the fields of their words and the limits within which a
// word tells the winner; the ends of runs round a block of rows; and the blocks of a window.
//
// The fields follow from the weights of the axes and from the lengths of joined ones: of all divisions of 32 bits the
// one with the largest cap is taken. In unit spacing that is 16 + 8 + 8 bits, or 15 + 8 + 8 + 1; spacings of 2.5, 0.7
// and 0.7 get 18 + 7 + 7 and 17 + 7 + 7 + 1, whose caps are 51 and 36 cells of the last axis away.
#pragma once

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/lines/pivots.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int near_block = 8;   // rows that a warp solves together
constexpr int near_rows = 512;  // rows of a window
constexpr int near_most = 256;  // largest distance in rows to a winner
constexpr int site_most = 112;  // the same of windows with sites
template <bool Sites>
constexpr int near_warps = Sites ? 8 : 16;
template <bool Sites>
constexpr int near_threads = near_warps<Sites> * cuda::warp;
constexpr int most_failures = 4;                // failed blocks after which the rest of a window is given up
constexpr int near_round = 4;                   // steps between two tests for the end
constexpr int rows_beyond = near_round - 1;     // rows beyond both ends of the staged ones, which never win
constexpr int near_early = 17, near_late = 64;  // steps after which some cell, and every cell, must have a candidate

__host__ __device__ inline std::uint32_t halves(int high, int low) {
    return static_cast<std::uint32_t>(high) << 16 | (static_cast<std::uint32_t>(low) & 0xffff);
}

/// Constants of a pass. A word has a value above the offset of its site along the last axis, and below that the offset
/// of the row or, along the first of three axes, the offset along the second axis and one bit; or it is a value alone.
struct near_plan {
    std::uint32_t costs[near_most + near_block + near_round + 4];  ///< cost of k rows, as a value in a word
    int reach = 0;                                                 ///< largest number of steps
    std::uint32_t one = 1;       ///< a factor: products have a unit of their own, beside the one of sums and minima
    std::uint32_t cap = 0;       ///< words from here on might have missed a site with clamped offsets
    std::uint32_t beyond = ~0u;  ///< the smallest word that a limit forbids
    int most = 1 << 23;          ///< a limit of values without sites: below this one they have a fast root
    bool goes_on = false;        ///< only strips are searched that another rung has left unresolved
    int shift = 0;               ///< place of the value
    int place[2]{}, bits[2]{};   ///< of both offsets
    int here = 0;                ///< word of the value 0 and two offsets of 0
    int row_weight = 0;          ///< weight of the axis of the pass
    int square = 0, unit = 0;    ///< an offset of 1 along the last axis: its cost in the value, and itself in its field
    int cut[2]{}, weight[2]{};   ///< limits of offsets along finished axes, the last one first, and their weights
    std::uint32_t cuts = 0, minus_cuts = 0;  ///< both limits, and minus them, in halves
};

/// True if a line has near windows: blocks go beyond the end of a line of fewer rows, but not round a joined one.
template <class V>
bool has_blocks(const line_pass<V>& g) {
    return g.rows >= (g.periodic ? near_block : 2);
}
/// Returns the warps of a window: no more than it has blocks.
inline unsigned warps_for(int most, int rows) {
    return static_cast<unsigned>(std::min(most, (rows + near_block - 1) / near_block));
}

/// Plans the search of windows of values alone; returns false if the axis has none.
template <keys Stored, class V>
bool plan_near_values(const line_pass<V>& g, near_plan& plan) {
    constexpr int least_reach = 4;
    constexpr double none = 1 << 30;
    const auto cost = [&](V weight, int cells) {
        const double r = reach(cells, g.m.half_cell);
        return static_cast<double>(weight) * r * r;
    };
    while (plan.reach < near_most && cost(g.weight, plan.reach + 1) < plan.most) ++plan.reach;
    const double cap = std::min<double>(plan.most, cost(g.weight, plan.reach + 1));
    plan.cap = static_cast<std::uint32_t>(cap);
    if (!has_blocks(g) || plan.reach < least_reach) return false;
    plan.row_weight = static_cast<int>(g.weight);
    if (is_position(Stored)) {
        while (cost(g.done_weight[0], plan.cut[0]) < cap) ++plan.cut[0];
        if (plan.cut[0] < least_reach) return false;
        plan.weight[0] = static_cast<int>(g.done_weight[0]);
    }
    for (int k = 0; k < static_cast<int>(std::size(plan.costs)); ++k)
        plan.costs[k] = static_cast<std::uint32_t>(std::min(cost(g.weight, k), none));
    plan.reach = std::min(plan.reach, g.periodic ? g.rows / 2 : g.rows - 1);
    if (static_cast<double>(g.limit) + 1 < cap) plan.beyond = static_cast<std::uint32_t>(g.limit) + 1;
    return true;
}

/// The words of windows with sites: the sizes of their fields.
template <keys Stored>
struct near_fields {
    int bits[2];

    [[nodiscard]] int value_bits() const { return 32 - bits[0] - bits[1] - (Stored == keys::word ? 1 : 0); }
    [[nodiscard]] static int half(int b) { return 1 << (b - 1); }
    [[nodiscard]] double most_value() const { return (std::ldexp(1.0, value_bits()) - 1) / 2; }
    /// Returns the largest number of rows to a winner whose row fits.
    [[nodiscard]] int reach() const {
        if (Stored == keys::word) return site_most;
        return std::min(site_most, half(bits[1]) - near_block - near_round + 1);
    }
    /// Returns the limit of offsets along finished axis i.
    [[nodiscard]] int cut(int i, double weight) const {
        return std::min(half(bits[i]) - 1, static_cast<int>(std::sqrt(most_value() / weight)));
    }
    /// Returns the cap. Sums of two values below it fit a word, and so does a value of clamped offsets.
    template <class V>
    [[nodiscard]] double cap(const line_pass<V>& g) const {
        double least = static_cast<double>(g.weight) * (reach() + 1) * (reach() + 1);
        for (int i = 0; i < (Stored == keys::word ? 2 : 1); ++i) {
            const auto w = static_cast<double>(g.done_weight[i]);
            least = std::min(least, w * cut(i, w) * cut(i, w));
        }
        return std::min(least, most_value());
    }
    /// True if sites on both sides of a joined end differ in their fields.
    template <class V>
    [[nodiscard]] bool fits(const line_pass<V>& g) const {
        for (int i = 0; i < g.m.rank - 1 - g.axis; ++i)
            if (g.m.periodic[g.m.rank - 1 - i] && g.done_size[i] < 1 << bits[i]) return false;
        return !g.periodic || g.rows >= (Stored == keys::word ? 3 * site_most : 1 << bits[1]);
    }
};

/// Plans the search; returns false if the axis has no near windows: words reach too few cells, or no row has its
/// number.
template <keys Stored, bool Sites, class V>
bool plan_near(const line_pass<V>& g, near_plan& plan) {
    if constexpr (!Sites) return plan_near_values<Stored>(g, plan);
    // The key of no site, minus a cell, must remain far away in 16 bits, whether sums wrap or not.
    constexpr int widest = 32512, least_reach = 6, least_bits = 5, most_bits = 9;
    constexpr double heaviest = 1 << 20;
    for (int i = 0; i < g.m.rank - 1 - g.axis; ++i)
        if ((Stored != keys::row && g.done_size[i] > widest) || static_cast<double>(g.done_weight[i]) > heaviest)
            return false;
    near_fields<Stored> best{};
    double cap = 0;
    for (int x = least_bits; x <= most_bits; ++x)
        for (int y = least_bits; y <= most_bits; ++y)
            if (const near_fields<Stored> of{{x, y}}; of.fits(g) && of.cap(g) > cap) best = of, cap = of.cap(g);
    if (cap == 0) return false;
    const auto w = static_cast<double>(g.weight);
    plan.reach = std::min(best.reach(), static_cast<int>(std::sqrt(cap / w)) + 1);
    if (plan.reach < least_reach || !has_blocks(g) || g.m.half_cell) return false;
    plan.place[1] = Stored == keys::word ? 1 : 0, plan.place[0] = plan.place[1] + best.bits[1];
    plan.shift = plan.place[0] + best.bits[0];
    for (int i = 0; i < 2; ++i) {
        const bool offset = i == 0 || Stored == keys::word;
        plan.bits[i] = best.bits[i];
        plan.weight[i] = offset ? static_cast<int>(g.done_weight[i]) : 0;
        plan.cut[i] = offset ? best.cut(i, plan.weight[i]) : plan.cut[0];
        plan.here |= best.half(best.bits[i]) << plan.place[i];
    }
    plan.square = plan.weight[0] << plan.shift, plan.unit = 1 << plan.place[0];
    plan.cuts = halves(plan.cut[0], plan.cut[1]), plan.minus_cuts = halves(-plan.cut[0], -plan.cut[1]);
    for (int k = 0; k < static_cast<int>(std::size(plan.costs)); ++k)
        plan.costs[k] = static_cast<std::uint32_t>(std::min(w * k * k, std::floor(best.most_value()))) << plan.shift;
    plan.cap = static_cast<std::uint32_t>(cap) << plan.shift, plan.row_weight = static_cast<int>(w);
    if (static_cast<double>(g.limit) + 1 < cap) plan.beyond = static_cast<std::uint32_t>(g.limit + 1) << plan.shift;
    return true;
}

/// Ends of a line's runs round the rows of a block.
struct block_ends {
    std::uint32_t bits = 0;  ///< bits of the block's rows and the next one: a run begins there
    int low = 0, high = 0;   ///< rows from the first row to the end before, and from the last one to the end behind

    template <class C>
    __device__ block_ends(const C& c, int m) {
        constexpr std::uint32_t far = 1 << 20;
        const int word = m / mark_bits, i = m % mark_bits, last = i + near_block - 1;
        const run_word<C> here(c, word), next(c, (m + near_block - 1) / mark_bits);
        const bool within = last < mark_bits;
        const std::uint32_t behind = within ? 0 : next.bits, lower = here.bits << (31 - i),
                            upper = within ? here.bits >> last >> 1 : next.bits >> (last - mark_bits) >> 1;
        bits = __funnelshift_r(here.bits, behind, i);
        low = lower != 0 ? __clz(static_cast<int>(lower)) + 1 : i + 1 + static_cast<int>(min(here.before, far));
        high = upper != 0 ? __ffs(static_cast<int>(upper))
                          : static_cast<int>(min(next.after, far)) - (within ? last : last - mark_bits);
    }
    [[nodiscard]] __device__ bool begins(int i) const { return (bits >> i & 1) != 0; }
};

/// The bits of a column, or of neighbouring ones, that say where runs begin.
class column_begins {
public:
    template <class V>
    __device__ column_begins(const line_pass<V>& g, std::int64_t first_cell) : step_(g.begins.step) {
        const std::int64_t line = quotient(first_cell, g.done_size[0]), x = first_cell - line * g.done_size[0];
        from_ = g.begins.bits + line * g.begins.pitch + x / 8, place_ = static_cast<int>(x % 8);
    }
    /// Returns the bit of a row's cell, below those of the cells behind it in the same eight.
    [[nodiscard]] __device__ std::uint32_t operator()(int row) const {
        return static_cast<std::uint32_t>(__ldg(from_ + row * step_)) >> place_;
    }

private:
    const std::uint8_t* from_;
    std::int64_t step_;
    int place_;
};

/// Calls stage(threads) with the number of a block's threads: a constant, which loops unroll by, if it has `Most`.
template <int Most, class Stage>
__device__ void with_threads(const Stage& stage) {
    if (blockDim.x == Most) stage(std::integral_constant<int, Most>{});
    else stage(static_cast<int>(blockDim.x));
}

/// Repeats the last staged row of a line that has fewer rows than a block. It is farther there, so it never wins.
template <class Word>
__device__ void fill_block(Word* staged, int rows) {
    if (rows >= near_block) return;
    __syncthreads();
    for (int i = rows * cuda::warp + static_cast<int>(threadIdx.x); i < near_block * cuda::warp;
         i += static_cast<int>(blockDim.x))
        staged[i] = staged[(rows - 1) * cuda::warp + i % cuda::warp];
}

/// Returns the first row of a block at `row`. The last block of a line shares rows with the one before, even if that is
/// in the window before; that of a line of fewer rows goes beyond it.
__device__ inline int block_begin(int row, int rows) { return max(min(row, rows - near_block), 0); }

/// Returns the number of blocks for windows of which another rung has solved most: each block takes several.
inline std::int64_t blocks_for_left(std::int64_t windows, bool most_are_solved) {
    constexpr std::int64_t blocks_of_multiprocessor = 16;
    return most_are_solved ? std::min(windows, blocks_of_multiprocessor * cuda::limits().multiprocessors) : windows;
}

/// Calls solve(nth) for those of the block's windows that are left: of every gridDim.x-th one. A lane looks at each.
template <class IsLeft, class Solve>
__device__ void each_left(std::int64_t windows, const IsLeft& is_left, const Solve& solve) {
    const std::int64_t step = gridDim.x, lane = threadIdx.x % cuda::warp;
    for (std::int64_t first = blockIdx.x; first < windows; first += cuda::warp * step) {
        const std::int64_t mine = first + lane * step;
        for (unsigned bits = __ballot_sync(cuda::every_lane, mine < windows && is_left(mine)); bits != 0;
             bits &= bits - 1) {
            solve(first + (__ffs(static_cast<int>(bits)) - 1) * step);
            __syncthreads();
        }
    }
}

/// Calls put<Count>(row) for the rows of a block: all at once, or one after another in a line of fewer rows.
template <class Rows, class Put>
__device__ void put_block(Rows& rows, int m, int line_rows, const Put& put) {
    if (line_rows >= near_block) return put.template operator()<near_block>(m);
#pragma unroll 1
    for (int row = 0; row < line_rows; ++row, rows.shift()) put.template operator()<1>(row);
}

/// State that the warps of a window share.
struct near_progress {
    int taken, failures;
    unsigned left;  ///< a bit per strip

    __device__ void begin() { taken = static_cast<int>(blockDim.x) / cuda::warp, failures = 0, left = 0; }
    [[nodiscard]] __device__ bool has_enough() const {
        return *static_cast<const volatile int*>(&failures) >= most_failures;
    }
    /// Calls solve(row, failed) for the first rows of a warp's blocks among the rows [from, to), in strips that are
    /// `wanted`. If it returns false, the block's strip stays unresolved.
    template <class Solve>
    __device__ void each_block(int from, int to, int rows, unsigned wanted, const Solve& solve) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, blocks = (to - from + near_block - 1) / near_block;
        for (int b = static_cast<int>(threadIdx.x) / cuda::warp; b < blocks;
             b = __shfl_sync(cuda::every_lane, lane == 0 ? atomicAdd(&taken, 1) : 0, 0)) {
            bool failed = false;
            if ((wanted >> b * near_block / strip & 1) == 0) continue;
            if (solve(block_begin(from + b * near_block, rows), failed) || lane != 0) continue;
            atomicOr(&left, 1u << b * near_block / strip);
            if (failed) atomicAdd(&failures, 1);
        }
    }
    /// Stores the unresolved strips; called by one thread at the end. `which` has solved all others.
    template <class V>
    __device__ void leave(const line_pass<V>& g, rung which, std::int64_t tile, int from, int to,
                          unsigned wanted) const {
        std::uint8_t* const words = g.left + tile * ((g.rows + left_rows - 1) / left_rows);
        for (int w = from / left_rows; w * left_rows < to; ++w)
            words[w] = static_cast<std::uint8_t>(left >> (w - from / left_rows) * (left_rows / strip));
        if (left != 0 && g.unsolved != nullptr) *g.unsolved = 1;
        count_solved(g.solved, which, __popc(wanted & ~left));
    }
};

}  // namespace
}  // namespace nearfield::exact::gpu
