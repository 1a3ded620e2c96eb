// Windows of lines whose winners are near, for integers and open or closed ends. A candidate is one word, its value
// above its key, so that one instruction adds its cost and takes the minimum, the tie rule included.
//
// Along the axis before the last: value, 16 bits | offset of x + 128, 8 bits | row, 8 bits. Along the first of three
// axes: value, 15 bits | offset of x + 128 | offset of y + 128 | whether the row lies behind, 1 bit; the root of the
// rest of the value yields the row. Offsets from one cell are ordered as coordinates are, so comparing words compares
// values, then sites. Offsets are clamped; a site with a clamped offset costs at least the cap, so a block whose values
// stay below the cap has lost no candidate. A block of rows searches outward from both of its ends until no lane's
// value reaches the cost of the next rows.
//
// Farther winners are left to the strips of lines.cuh, with one bit for each 32 rows. It reads 2 or 4 bytes a cell.
// Parabolas outward from each row: Saito and Toriwaki, "New algorithms for Euclidean distance transformation", Pattern
// Recognition 27(11), 1994.
#pragma once

#include <cmath>

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/pivots.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int near_block = 8;   // rows that a warp solves together
constexpr int near_rows = 512;  // rows of a window
constexpr int near_most = 112;  // largest distance in rows to a winner
constexpr int near_warps = 8;
constexpr int near_threads = near_warps * cuda::warp;
constexpr int most_failures = 4;                // failed blocks after which the rest of a window is given up
constexpr int near_round = 4;                   // steps between two tests for the end
constexpr int near_early = 17, near_late = 64;  // steps after which some cell, and every cell, must have a candidate

template <keys Stored>
constexpr int near_shift = Stored == keys::narrow ? 16 : 17;
template <keys Stored>
constexpr int near_values = Stored == keys::narrow ? 65536 : 32768;  ///< values of a word
template <keys Stored>
constexpr int near_cap = Stored == keys::narrow ? 127 * 127 : 90 * 90;

__host__ __device__ inline std::uint32_t halves(int high, int low) {
    return static_cast<std::uint32_t>(high) << 16 | (static_cast<std::uint32_t>(low) & 0xffff);
}

/// Constants of a pass.
struct near_plan {
    std::uint32_t costs[near_most + near_block + near_round + 4];  ///< cost of k rows, as a value in a word
    int reach = 0;                                                 ///< largest number of steps
    std::uint32_t cap = 0;                 ///< words from here on might have missed a site with clamped offsets
    std::uint32_t cut = 0, minus_cut = 0;  ///< limit of offsets, and minus it: in both halves as in a key
    std::uint32_t beyond = ~0u;            ///< the smallest word that a limit forbids
};

/// Plans the search; returns false if the axis has no near windows because words could overflow.
template <keys Stored, class V>
bool plan_near(const line_pass<V>& g, near_plan& plan) {
    const int last = g.m.rank - 1;
    const double all = near_values<Stored>, cap = near_cap<Stored>, w = static_cast<double>(g.m.weight[g.axis]);
    const double wx = static_cast<double>(g.m.weight[last]), wy = static_cast<double>(g.m.weight[last - 1]);
    plan.reach = std::min(near_most, static_cast<int>(std::sqrt(cap / w)) + 1);
    const double x = std::ceil(std::sqrt((cap + 1) / wx)),
                 y = Stored == keys::narrow ? x : std::ceil(std::sqrt((cap + 1) / wy));
    const double steps = plan.reach + near_block + near_round;
    const double most = wx * x * x + (Stored == keys::narrow ? 0.0 : wy * y * y) + w * steps * steps + 2;
    // The key of no site, minus a cell, must remain far away in 16 bits, whether sums wrap or not.
    constexpr int widest = 32512;
    for (int i = 0; i < g.m.rank - 1 - g.axis; ++i)
        if (g.done_size[i] > widest) return false;
    if (plan.reach < 16 || g.rows < near_block || most >= all) return false;
    for (int k = 0; k < static_cast<int>(std::size(plan.costs)); ++k)
        plan.costs[k] = static_cast<std::uint32_t>(std::min(w * k * k, all - 1)) << near_shift<Stored>;
    plan.cap = static_cast<std::uint32_t>(cap) << near_shift<Stored>;
    plan.cut = halves(static_cast<int>(x), static_cast<int>(y));
    plan.minus_cut = halves(-static_cast<int>(x), -static_cast<int>(y));
    if (static_cast<double>(g.limit) + 1 < cap)
        plan.beyond = static_cast<std::uint32_t>(g.limit + 1) << near_shift<Stored>;
    return true;
}

/// Conversion of keys for staging: offsets from the lane's cell; along the first of three axes, words.
template <keys Stored, class V>
struct near_offsets {
    const line_pass<V>& g;
    const near_plan& plan;

    /// Clamps the offsets in both halves; `minus` is minus the cell. (It avoids __vneg2, which nvcc 13.0 turns into a
    /// complement if only one half is used.)
    __device__ std::uint32_t cut(std::uint32_t key, std::uint32_t minus) const {
        return __vmaxs2(__viaddmin_s16x2(key, minus, plan.cut), plan.minus_cut);
    }
    __device__ std::uint32_t word(std::uint32_t key, std::uint32_t minus) const {
        const int wx = static_cast<int>(g.done_weight[0]), wy = static_cast<int>(g.done_weight[1]);
        const auto both = static_cast<int>(cut(key, minus));
        const int dx = both >> 16, dy = static_cast<std::int16_t>(both);
        return static_cast<std::uint32_t>(dx * (dx * (wx << 17) + 512) +
                                          (dy * (dy * (wy << 17) + 2) + 128 * 512 + 128 * 2));
    }
};

/// Stages the tile's rows [base, end).
template <keys Stored, class C>
__device__ void stage_near(const C& c, const near_plan& plan, int base, int end, unsigned char* memory) {
    using in = typename C::in;
    const auto& g = c.g;
    const near_offsets<Stored, typename C::V> of{g, plan};
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    constexpr int chunk = 16 / sizeof(in), chunks = cuda::warp / chunk;
    if (g.m.size[g.m.rank - 1] % cuda::warp == 0) {
        const int column = static_cast<int>(threadIdx.x) % chunks * chunk, x = c.own(0) - lane + column;
        const auto* from = reinterpret_cast<const uint4*>(static_cast<const in*>(g.from) + c.cell(0) - lane +
                                                          (base + threadIdx.x / chunks) * g.inner + column);
        const std::int64_t step = g.inner * (near_threads / chunks) / chunk;
#pragma unroll 4
        for (int i = static_cast<int>(threadIdx.x); i < (end - base) * chunks; i += near_threads, from += step) {
            uint4 u = __ldg(from);
            if constexpr (Stored == keys::narrow) {
                const auto two = [&](int k) { return halves(-x - k - 1, -x - k); };
                u = {of.cut(u.x, two(0)), of.cut(u.y, two(2)), of.cut(u.z, two(4)), of.cut(u.w, two(6))};
            } else {
                const int y = c.own(1);
                u = {of.word(u.x, halves(-x, -y)), of.word(u.y, halves(-x - 1, -y)), of.word(u.z, halves(-x - 2, -y)),
                     of.word(u.w, halves(-x - 3, -y))};
            }
            reinterpret_cast<uint4*>(memory)[i] = u;
        }
    } else {
        for (int i = static_cast<int>(threadIdx.x) / cuda::warp; i < end - base; i += near_warps) {
            const std::int32_t key = static_cast<const in*>(g.from)[c.cell(base + i)];
            const int at = i * cuda::warp + lane;
            if constexpr (Stored == keys::narrow)
                reinterpret_cast<std::int16_t*>(memory)[at] =
                    static_cast<std::int16_t>(of.cut(halves(key, key), halves(-c.own(0), -c.own(0))));
            else
                reinterpret_cast<std::uint32_t*>(memory)[at] =
                    of.word(static_cast<std::uint32_t>(key), halves(-c.own(0), -c.own(1)));
        }
    }
}

/// A lane's rows of a block, as words.
template <keys Stored, class C>
class near_search {
    using staged = std::conditional_t<Stored == keys::narrow, std::int16_t, std::uint32_t>;
    static constexpr int shift = near_shift<Stored>, width = static_cast<int>(sizeof(staged)) * cuda::warp;

public:
    __device__ near_search(const C& c, const near_plan& plan, const unsigned char* memory, int base, int end, int m)
        : c_(c),
          plan_(plan),
          at_(memory + (m - base) * width +
              static_cast<int>(threadIdx.x) % cuda::warp * static_cast<int>(sizeof(staged))),
          deepest_((m - base) * width),
          highest_((end - 1 - m) * width),
          m_(m) {}

    /// Returns true if all winners are found; `gives_up`: the window has had too many failures.
    template <class GivesUp>
    __device__ bool find(const GivesUp& gives_up, bool& failed) {
        std::uint32_t own[near_block], some = 0;
#pragma unroll
        for (int i = 0; i < near_block; ++i) best_[i] = own[i] = candidate(i * width, i), some |= own[i];
        if (!__any_sync(cuda::every_lane, some >> shift)) return true;
        if (gives_up()) return false;
        relax_by_ends();
        relax_by_own(own);
        failed = !search();
        return !failed;
    }

    [[nodiscard]] __device__ typename C::V value(int i) const { return static_cast<typename C::V>(best_[i] >> shift); }
    [[nodiscard]] __device__ site_of_row<typename C::K> site(int i) const {
        const std::uint32_t word = best_[i];
        if constexpr (Stored == keys::narrow) {
            return {static_cast<int>(word >> 8 & 255) + (c_.own(0) - 128), static_cast<int>(word & 255) + (m_ - 128)};
        } else {
            const int dx = static_cast<int>(word >> 9 & 255) - 128, dy = static_cast<int>(word >> 1 & 255) - 128;
            const int rest = static_cast<int>(word >> shift) - static_cast<int>(c_.g.done_weight[0]) * dx * dx -
                             static_cast<int>(c_.g.done_weight[1]) * dy * dy;
            const float steps = near_root((__int_as_float(0x4b000000 | rest) - 8388608.0f) * c_.g.inverse);
            const int rows = __float_as_int(steps + 8388608.0f) & 0xffff;
            return {(c_.own(0) + dx) << 16 | (c_.own(1) + dy), (word & 1) != 0 ? m_ + i + rows : m_ + i - rows};
        }
    }

private:
    /// Returns the word of the row `offset` bytes from row m, for row m + i; beyond the ends that of the last row, at a
    /// larger cost than its own.
    [[nodiscard]] __device__ std::uint32_t candidate(int offset, int i) const {
        const auto d = *reinterpret_cast<const staged*>(at_ + offset);
        if constexpr (Stored == keys::narrow) {
            const int w = static_cast<int>(c_.g.done_weight[0]);
            return static_cast<std::uint32_t>(d * (d * (w << 16) + 256) + (128 * 256 + 128 + i));
        } else {
            return d + (i >= near_block ? 1 : 0);
        }
    }
    /// Adds the ends of the runs of labels, which are sites in the lane's own column.
    __device__ void relax_by_ends() {
        if constexpr (C::labels) {
            const run_word<C> word(c_, m_ / mark_bits), next(c_, (m_ + near_block - 1) / mark_bits);
#pragma unroll
            for (int i = 0; i < near_block; ++i) {
                const int m = m_ + i;
                const run_ends ends = (m / mark_bits == m_ / mark_bits ? word : next).of(m);
                relax_by_end(i, m - ends.low, false);
                relax_by_end(i, ends.high - m, true);
            }
        }
    }
    __device__ void relax_by_end(int i, int away, bool behind) {
        if (away > near_most) return;
        const int row = behind ? i + away : i - away;
        const std::uint32_t here =
            Stored == keys::narrow ? 128 * 256 + 128 + row : 128 * 512 + 128 * 2 + (behind ? 1 : 0);
        best_[i] = min(best_[i], here + plan_.costs[away]);
    }
    __device__ void relax_by_own(const std::uint32_t (&own)[near_block]) {
#pragma unroll
        for (int i = 0; i < near_block; ++i) {
#pragma unroll
            for (int k = 0; k < near_block; ++k)
                if (k != i)
                    best_[k] = __viaddmin_u32(own[i] + (Stored == keys::word && i > k ? 1 : 0),
                                              plan_.costs[i > k ? i - k : k - i], best_[k]);
        }
    }
    [[nodiscard]] __device__ bool search() {
        bool found = false;
        std::uint32_t worst = 0;
        for (int j = 1;; j += near_round) {
            worst = best_[0];
#pragma unroll
            for (int i = 1; i < near_block; ++i) worst = max(worst, best_[i]);
            worst = min(worst, plan_.beyond);
            found = !__any_sync(cuda::every_lane, worst >= plan_.costs[j]);
            if (found || j > plan_.reach) break;
            if (j == near_early && __all_sync(cuda::every_lane, worst >= plan_.cap)) break;
            if (j > near_late && __any_sync(cuda::every_lane, worst >= plan_.cap)) break;
            const int offset = j * width;
#pragma unroll
            for (int u = 0; u < near_round; ++u) {
                const std::uint32_t down = candidate(-min(offset + u * width, deepest_), -j - u),
                                    up = candidate(min(offset + (near_block - 1 + u) * width, highest_),
                                                   near_block - 1 + j + u);
#pragma unroll
                for (int i = 0; i < near_block; ++i) {
                    best_[i] = __viaddmin_u32(down, plan_.costs[j + u + i], best_[i]);
                    best_[i] = __viaddmin_u32(up, plan_.costs[j + u + near_block - 1 - i], best_[i]);
                }
            }
        }
        return found && !__any_sync(cuda::every_lane, worst >= plan_.cap);
    }

    const C& c_;
    const near_plan& plan_;
    const unsigned char* at_;
    int deepest_, highest_, m_;  ///< bytes to the first and to the last staged row
    std::uint32_t best_[near_block];
};

/// State that the warps of a window share.
struct near_progress {
    int taken, failures;
    unsigned left;  ///< a bit per strip

    __device__ void begin(int warps) { taken = warps, failures = 0, left = 0; }
    [[nodiscard]] __device__ bool has_enough() const {
        return *static_cast<const volatile int*>(&failures) >= most_failures;
    }
    /// Calls solve(row, failed) for the first rows of a warp's blocks among the rows [from, to). If it returns false,
    /// the block's strip stays unresolved. The last block shares rows with the one before.
    template <class Solve>
    __device__ void each_block(int from, int to, int rows, const Solve& solve) {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, blocks = (to - from + near_block - 1) / near_block;
        for (int b = static_cast<int>(threadIdx.x) / cuda::warp; b < blocks;
             b = __shfl_sync(cuda::every_lane, lane == 0 ? atomicAdd(&taken, 1) : 0, 0)) {
            bool failed = false;
            if (solve(min(from + b * near_block, rows - near_block), failed) || lane != 0) continue;
            atomicOr(&left, 1u << b * near_block / strip);
            if (failed) atomicAdd(&failures, 1);
        }
    }
    /// Stores the unresolved strips; called by one thread at the end. `which` has solved all others.
    template <class V>
    __device__ void leave(const line_pass<V>& g, rung which, std::int64_t tile, int from, int to) const {
        std::uint8_t* const words = g.left + tile * ((g.rows + left_rows - 1) / left_rows);
        for (int w = from / left_rows; w * left_rows < to; ++w)
            words[w] = static_cast<std::uint8_t>(left >> (w - from / left_rows) * (left_rows / strip));
        count_solved(g.solved, which, (to - from + strip - 1) / strip - __popc(left));
    }
};

/// Searches near windows. A block owns a window of 32 lines.
template <class V, keys Stored, rule Rule, bool Last>
__global__ void __launch_bounds__(near_threads, 3)
    search_near_windows(const __grid_constant__ line_pass<V> g, const __grid_constant__ near_plan plan, int windows) {
    using C = column<V, Stored, Rule, false>;
    extern __shared__ uint4 near_memory[];
    __shared__ near_progress progress;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t tile = blockIdx.x / windows;
    const int from = static_cast<int>(blockIdx.x % windows) * near_rows, to = min(from + near_rows, g.rows);
    const int base = max(from - plan.reach, 0), end = min(to + plan.reach, g.rows);
    const C c(g, tile * cuda::warp + lane);
    auto* const memory = reinterpret_cast<unsigned char*>(near_memory);
    if (threadIdx.x == 0) progress.begin(near_warps);
    stage_near<Stored>(c, plan, base, end, memory);
    __syncthreads();
    const store_of<C, Last> store(c);
    const bool write = tile * cuda::warp + lane < g.columns;
    progress.each_block(from, to, g.rows, [&](int m, bool& failed) {
        near_search<Stored, C> rows(c, plan, memory, base, end, m);
        if (!rows.find([&] { return progress.has_enough(); }, failed)) return false;
        if (write)
            store.template put_near<near_block>(
                m, [&](int i) { return rows.value(i); }, [&](int i) { return rows.site(i); });
        return true;
    });
    __syncthreads();
    if (threadIdx.x == 0) progress.leave(g, rung::near, tile, from, to);
}

/// Launches the search; returns false if the axis has no near windows.
template <class V, keys Stored, rule Rule>
bool search_near(const device& on, const line_pass<V>& g, bool last) {
    near_plan plan;
    if (!plan_near<Stored>(g, plan)) return false;
    const int windows = static_cast<int>(blocks_for(g.rows, near_rows));
    const std::size_t bytes = static_cast<std::size_t>(std::min(g.rows, near_rows + 2 * plan.reach)) * cuda::warp *
                              (Stored == keys::narrow ? 2 : 4);
    if (bytes > cuda::limits().shared_bytes) return false;
    cuda::launch(on, last ? search_near_windows<V, Stored, Rule, true> : search_near_windows<V, Stored, Rule, false>,
                 blocks_for(g.columns, cuda::warp) * windows, dim3(near_threads), bytes, g, plan, windows);
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
