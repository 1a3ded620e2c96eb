// Windows of lines whose winners are near, for whole numbers. A candidate is one word, its value above its site, so
// that one instruction adds its cost and takes the minimum, the tie rule included; if no site is wanted, the value
// alone.
//
// Along the axis before the last a word has the value, the offset of x, and the row. Along the first of three axes it
// has the value, the offsets of x and y, and one bit: whether the row lies behind; the root of the rest of the value
// yields the row. Offsets from one cell are ordered as coordinates are, so comparing words compares values, then sites;
// sites beyond a joined end get the numbers behind (near_blocks.cuh). Offsets are clamped; a site with a clamped offset
// costs at least the cap, so a block whose values stay below the cap has lost no candidate. A block of rows searches
// outward from both of its ends until no lane's value reaches the cost of the next rows.
//
// Farther winners are left to the strips of lines.cuh, with one bit for each 32 rows. It reads 2 or 4 bytes a cell.
// Values alone have a bit above them where a run of a label begins (see values.cuh).
// Parabolas outward from each row: Saito and Toriwaki, "New algorithms for Euclidean distance transformation", Pattern
// Recognition 27(11), 1994.
#pragma once

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/near_stage.cuh"

namespace nearfield::exact::gpu {
namespace {

/// A lane's rows of a block, as words.
template <keys Stored, bool Sites, class C>
class near_search {
    using staged = typename near_stage<Stored, Sites, C>::staged;
    static constexpr int width = static_cast<int>(sizeof(staged)) * cuda::warp;
    static constexpr bool begins = has_begins<Sites, C>;

public:
    __device__ near_search(const C& c, const near_plan& plan, const staged* memory, int base, int end, int m)
        : c_(c),
          plan_(plan),
          at_(reinterpret_cast<const unsigned char*>(memory + (m - base) * cuda::warp +
                                                     static_cast<int>(threadIdx.x) % cuda::warp)),
          deepest_((m - base) * width),
          highest_((end - 1 - m) * width),
          m_(m) {
        if constexpr (Sites && C::bent) {
            const auto& g = c.g;
            x_ = least_offset(plan.bits[0], c.own(0), g.done_size[0], g.m.periodic[g.m.rank - 1]);
            if constexpr (is_position(Stored)) y_ = least_offset(plan.bits[1], m, g.rows, g.periodic);
            else y_ = least_offset(plan.bits[1], c.own(1), g.done_size[1], g.m.periodic[g.m.rank - 2]);
        }
    }

    /// Returns true if all winners are found; `gives_up`: the window has had too many failures.
    template <class GivesUp>
    __device__ bool find(const GivesUp& gives_up, bool& failed) {
        std::uint32_t own[near_block], some = 0;
#pragma unroll
        for (int i = 0; i < near_block; ++i)
            own[i] = candidate(i * width, i), best_[i] = value_of(own[i]), some |= best_[i];
        if (!__any_sync(cuda::every_lane, some >> plan_.shift)) return true;
        if (gives_up()) return false;
        relax_by_ends();
        relax_by_own(own);
        failed = !search(own[0]);
        return !failed;
    }

    /// Moves the winners of each row to the row before. Fields of rows count from the block's first one, which stays.
    __device__ void shift() {
#pragma unroll
        for (int i = 1; i < near_block; ++i) best_[i - 1] = best_[i];
        if (Stored == keys::word) ++m_;
    }
    [[nodiscard]] __device__ typename C::V value(int i) const {
        return static_cast<typename C::V>(best_[i] >> plan_.shift);
    }
    [[nodiscard]] __device__ site_of_row<typename C::K> site(int i) const {
        if constexpr (!Sites) return {0, m_ + i};
        const int dx = offset(i, 0), dy = offset(i, 1);
        if constexpr (is_position(Stored)) return {coordinate(dx, 0), m_ + dy};
        return {coordinate(dx, 0) << 16 | coordinate(dy, 1), m_ + i + rows_to(i, dx, dy)};
    }

private:
    /// Returns an offset of the site of row m + i.
    [[nodiscard]] __device__ int offset(int i, int nth) const {
        const int bits = plan_.bits[nth], place = plan_.place[nth];
        // Fields of straight axes store -2^(bits - 1) as 0; the carry of a sum lies outside the bits that remain.
        const std::uint32_t word = C::bent ? best_[i] + (static_cast<std::uint32_t>(nth == 0 ? x_ : y_) << place)
                                           : best_[i] ^ static_cast<std::uint32_t>(plan_.here);
        return static_cast<int>(word << (32 - bits - place)) >> (32 - bits);
    }
    /// Returns a site's coordinate along finished axis i.
    [[nodiscard]] __device__ int coordinate(int offset, int i) const {
        const int at = c_.own(i) + offset;
        return C::bent && c_.g.m.periodic[c_.g.m.rank - 1 - i] ? wrapped(at, c_.g.done_size[i]) : at;
    }
    /// Returns the way from row m + i to the row of its site, along the first of three axes.
    [[nodiscard]] __device__ int rows_to(int i, int dx, int dy) const {
        const std::uint32_t word = best_[i];
        const int rest = static_cast<int>(word >> plan_.shift) - plan_.weight[0] * dx * dx - plan_.weight[1] * dy * dy;
        const float steps = near_root((__int_as_float(0x4b000000 | rest) - 8388608.0f) * c_.g.inverse);
        const int rows = __float_as_int(steps + 8388608.0f) & 0xffff, m = m_ + i;
        if ((word & 1) != 0) return rows;
        // If a joined end lies between, the row behind has the smaller coordinate of two that tie.
        if (c_.joined() && (m < rows || m + rows >= c_.rows()) &&
            word == candidate(min((i + rows) * width, highest_), 0) + plan_.costs[rows])
            return rows;
        return -rows;
    }
    /// Returns the word of the row `offset` bytes from row m, for row m + i; beyond the ends that of the last row, at a
    /// larger cost than its own.
    [[nodiscard]] __device__ std::uint32_t candidate(int offset, int i) const {
        const auto d = *reinterpret_cast<const staged*>(at_ + offset);
        if constexpr (!Sites) {
            return d;
        } else if constexpr (is_position(Stored)) {
            if constexpr (C::bent) {
                const int masks[2] = {(1 << plan_.bits[0]) - 1, (1 << plan_.bits[1]) - 1};
                return static_cast<std::uint32_t>(d * d * plan_.square | ((d - x_) & masks[0]) << plan_.place[0] |
                                                  ((i - y_) & masks[1]));
            }
            return static_cast<std::uint32_t>(d * (d * plan_.square + plan_.unit) + (plan_.here + i));
        } else {
            return d + (i >= near_block ? 1 : 0);
        }
    }
    /// Adds the ends of the runs of labels, which are sites in the lane's own column.
    __device__ void relax_by_ends() {
        if constexpr (C::labels && !begins) {
            const block_ends ends(c_, m_);
            int away = ends.low;
#pragma unroll
            for (int i = 0; i < near_block; ++i) {
                if (i > 0) away = ends.begins(i) ? 1 : away + 1;
                relax_by_end(i, away, false);
            }
            away = ends.high;
#pragma unroll
            for (int i = near_block - 1; i >= 0; --i) {
                if (i < near_block - 1) away = ends.begins(i + 1) ? 1 : away + 1;
                relax_by_end(i, away, true);
            }
        }
    }
    __device__ void relax_by_end(int i, int away, bool behind) {
        if (away > plan_.reach) return;
        const int row = is_position(Stored) ? (behind ? i + away : i - away) : behind ? 1 : 0;
        // Lanes differ in how far their ends are, so a table in the constant bank would be read lane by lane.
        const int steps = !Sites && c_.g.m.half_cell ? 2 * away - 1 : away;
        const auto cost = static_cast<std::uint32_t>(plan_.row_weight * steps * steps) << plan_.shift;
        best_[i] = min(best_[i], static_cast<std::uint32_t>(plan_.here + (Sites ? row : 0)) + cost);
    }
    __device__ void relax_by_own(const std::uint32_t (&own)[near_block]) {
#pragma unroll
        for (int i = 0; i < near_block; ++i) {
            const std::uint32_t before = for_before(own[i]),
                                behind = i + 1 < near_block ? for_behind(own[i], own[i + 1]) : 0;
#pragma unroll
            for (int k = 0; k < near_block; ++k)
                if (k != i)
                    best_[k] =
                        __viaddmin_u32((k < i ? before : behind) + (Sites && Stored == keys::word && i > k ? 1 : 0),
                                       plan_.costs[i > k ? i - k : k - i], best_[k]);
        }
    }
    /// Returns a row's own value.
    [[nodiscard]] static __device__ std::uint32_t value_of(std::uint32_t word) {
        return begins ? word & ~begin_bit : word;
    }
    /// Returns the value that a row has for the rows before it: 0 where a run begins.
    [[nodiscard]] static __device__ std::uint32_t for_before(std::uint32_t word) {
        return begins ? static_cast<std::uint32_t>(max(static_cast<std::int32_t>(word), 0)) : word;
    }
    /// Returns the value that a row has for the rows behind it: 0 where a run begins in the next row.
    [[nodiscard]] static __device__ std::uint32_t for_behind(std::uint32_t word, std::uint32_t next) {
        return !begins ? word : static_cast<std::int32_t>(next) < 0 ? 0 : word & ~begin_bit;
    }
    /// Searches outward; `last`: the row before which it begins downward.
    [[nodiscard]] __device__ bool search(std::uint32_t last) {
        bool found = false;
        std::uint32_t worst = 0;
        const std::uint32_t one = plan_.one;
        for (int j = 1;; j += near_round) {
            worst = best_[0];
#pragma unroll
            for (int i = 1; i < near_block; ++i) worst = max(worst, best_[i]);
            worst = min(worst, plan_.beyond);
            found = !__any_sync(cuda::every_lane, worst >= plan_.costs[j]);
            if (found || j > plan_.reach) break;
            if (j == near_early && __all_sync(cuda::every_lane, worst >= plan_.cap)) break;
            if (j > near_late && __any_sync(cuda::every_lane, worst >= plan_.cap)) break;
            // A round that begins beyond the last row has that row again, as one that lies farther.
            const int lower = -min(j * width, deepest_), upper = min((near_block - 1 + j) * width, highest_);
#pragma unroll
            for (int u = 0; u < near_round; ++u) {
                const std::uint32_t below = candidate(lower - u * width, -j - u), down = for_behind(below, last),
                                    up = for_before(candidate(upper + u * width, near_block - 1 + j + u));
                last = below;
#pragma unroll
                for (int i = 0; i < near_block; ++i) {
                    const std::uint32_t costs[] = {plan_.costs[j + u + i], plan_.costs[j + u + near_block - 1 - i]};
                    if (i % 2 != 0) best_[i] = __vimin3_u32(down * one + costs[0], up * one + costs[1], best_[i]);
                    else best_[i] = __viaddmin_u32(up, costs[1], __viaddmin_u32(down, costs[0], best_[i]));
                }
            }
        }
        return found && !__any_sync(cuda::every_lane, worst >= plan_.cap);
    }

    const C& c_;
    const near_plan& plan_;
    const unsigned char* at_;
    int deepest_, highest_, m_;  ///< bytes to the first and to the last staged row
    int x_ = 0, y_ = 0;          ///< offsets whose fields are 0: along the last axis, and along the other one
    std::uint32_t best_[near_block];
};

/// Returns the strips that a window of 32 lines from a row on has to solve.
template <class V>
__device__ unsigned wanted_strips(const line_pass<V>& g, const near_plan& plan, std::int64_t tile, int from) {
    const int rows = min(near_rows, g.rows - from);
    return left_strips(plan.goes_on ? g.left : nullptr, g.rows, tile).mask(from / strip, (rows + strip - 1) / strip);
}

/// Searches a window by a block.
template <class V, keys Stored, rule Rule, bool Bent, bool Sites, bool Last>
__device__ void search_near_window(const line_pass<V>& g, const near_plan& plan, std::int64_t tile, int from,
                                   near_progress& progress) {
    using C = column<V, Stored, Rule, Bent>;
    using stage = near_stage<Stored, Sites, C>;
    extern __shared__ uint4 near_memory[];
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, to = min(from + near_rows, g.rows);
    const unsigned wanted = wanted_strips(g, plan, tile, from);
    const C c(g, tile * cuda::warp + lane);
    const int first_row = block_begin(from, g.rows);
    const int base = c.joined() ? first_row - plan.reach : max(first_row - plan.reach, 0),
              end = c.joined() ? to + plan.reach : min(to + plan.reach, g.rows);
    auto* const memory = reinterpret_cast<typename stage::staged*>(near_memory) + rows_beyond * cuda::warp;
    if (threadIdx.x == 0) progress.begin();
    stage(c, plan).fill(base, end, memory);
    fill_block(memory, g.rows);
    __syncthreads();
    const store_of<C, Last> store(c);
    progress.each_block(from, to, g.rows, wanted, [&](int m, bool& failed) {
        near_search<Stored, Sites, C> rows(c, plan, memory, base, end, m);
        if (!rows.find([&] { return progress.has_enough(); }, failed)) return false;
        if (tile * cuda::warp + lane < g.columns)
            put_block(rows, m, g.rows, [&]<int Count>(int row) {
                store.template put_near<Count, Sites>(
                    row, [&](int i) { return rows.value(i); }, [&](int i) { return rows.site(i); });
            });
        return true;
    });
    __syncthreads();
    if (threadIdx.x == 0) progress.leave(g, Sites ? rung::near : rung::values, tile, from, to, wanted);
}

/// Searches near windows.
template <class V, keys Stored, rule Rule, bool Bent, bool Sites, bool Last>
__global__ void __launch_bounds__(near_threads<Sites>, Sites ? 3 : 2)
    search_near_windows(const __grid_constant__ line_pass<V> g, const __grid_constant__ near_plan plan, int windows) {
    __shared__ near_progress progress;
    if (are_few(g.many) || (plan.goes_on && is_solved(g))) return;
    const auto from_of = [&](std::int64_t nth) { return static_cast<int>(nth % windows) * near_rows; };
    const auto search = [&](std::int64_t nth) {
        search_near_window<V, Stored, Rule, Bent, Sites, Last>(g, plan, nth / windows, from_of(nth), progress);
    };
    if constexpr (Sites) return search(blockIdx.x);  // the first rung: each window has its block
    else
        each_left((g.columns + cuda::warp - 1) / cuda::warp * windows,
                  [&](std::int64_t nth) { return wanted_strips(g, plan, nth / windows, from_of(nth)) != 0; }, search);
}

/// Launches the search; returns false if the axis has no near windows.
template <class V, keys Stored, rule Rule, bool Bent, bool Sites>
bool search_near(const device& on, const line_pass<V>& g, near_plan& plan, bool last) {
    if (!plan_near<Stored, Sites>(g, plan)) return false;
    const int windows = static_cast<int>(blocks_for(g.rows, near_rows));
    const int rows = std::min(g.rows, near_rows) + 2 * plan.reach;
    const int staged = Bent && g.periodic ? rows : std::max(std::min(g.rows, rows), near_block);
    const std::size_t bytes =
        static_cast<std::size_t>(staged + 2 * rows_beyond) * cuda::warp * (Sites && is_position(Stored) ? 2 : 4);
    if (bytes > cuda::limits().shared_bytes) return false;
    const auto launch = [&]<bool Last>() {
        cuda::launch(on, search_near_windows<V, Stored, Rule, Bent, Sites, Last>,
                     blocks_for_left(blocks_for(g.columns, cuda::warp) * windows, plan.goes_on),
                     dim3(warps_for(near_warps<Sites>, std::min(g.rows, near_rows)) * cuda::warp), bytes, g, plan,
                     windows);
    };
    // Values in double are those of images, whose second pass is the last one.
    if constexpr (std::is_same_v<V, std::int32_t>)
        if (!last) return launch.template operator()<false>(), true;
    launch.template operator()<true>();
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
