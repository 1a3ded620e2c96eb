// Near windows of power diagrams, whose values in double no word holds. A block of rows searches outward from both of
// its ends, as in near.cuh. Sites with their weights are mostly a few rows away, so that no pivots are needed.
#pragma once

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/near_blocks.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int power_reach = 32;  // rows that are searched on either side
constexpr int power_window_warps = 8;

/// Costs of the way over k rows, as the strips compute them.
template <class V>
struct power_costs {
    V of[power_reach + near_block];

    explicit power_costs(const line_pass<V>& g) {
        for (int k = 0; k < power_reach + near_block; ++k) {
            const auto steps = static_cast<V>(reach(k, g.m.half_cell));
            of[k] = g.weight * (steps * steps);
        }
    }
};

/// A lane's rows of a block.
template <class C>
class near_powers {
    using V = typename C::V;
    using K = typename C::K;
    using found = winner<V, K>;

    /// A row's site and its value beside the row.
    struct offer {
        K key = 0;
        V beside = no_site<V>();
    };

public:
    __device__ near_powers(const C& c, const power_costs<V>& costs, int m)
        : c_(c), costs_(costs), m_(m), least_(c.g.extremes[0]) {
#pragma unroll
        for (int i = 0; i < near_block; ++i) best_[i] = {no_site<V>(), no_key<K>, m + i};
    }

    /// Returns true if all winners are found.
    [[nodiscard]] __device__ bool find() {
        offer own[near_block];
#pragma unroll
        for (int i = 0; i < near_block; ++i) own[i] = at(m_ + i);
#pragma unroll
        for (int k = 0; k < near_block; ++k) {
#pragma unroll
            for (int i = 0; i < near_block; ++i) relax(i, own[k], costs_.of[i < k ? k - i : i - k], m_ + k);
        }
        for (int j = 1;; ++j) {
            V worst = best_[0].value;
#pragma unroll
            for (int i = 1; i < near_block; ++i) worst = max(worst, best_[i].value);
            worst = min(worst, c_.g.limit);
            // Rounding is monotone: no row from here on costs less.
            if (!__any_sync(cuda::every_lane, !(least_ + costs_.of[j] > worst))) return true;
            if (j > power_reach) return false;
            const offer down = at(m_ - j), up = at(m_ + near_block - 1 + j);
            // A row that costs the nearest row of the block too much costs all of them too much.
            if (__any_sync(cuda::every_lane, !(down.beside + costs_.of[j] > worst))) {
#pragma unroll
                for (int i = 0; i < near_block; ++i) relax(i, down, costs_.of[j + i], m_ - j);
            }
            if (__any_sync(cuda::every_lane, !(up.beside + costs_.of[j] > worst))) {
#pragma unroll
                for (int i = 0; i < near_block; ++i)
                    relax(i, up, costs_.of[j + near_block - 1 - i], m_ + near_block - 1 + j);
            }
        }
    }
    template <class Store>
    __device__ void write(const Store& store) {
#pragma unroll
        for (int i = 0; i < near_block; ++i)
            if (best_[i].value > c_.g.limit) best_[i] = {no_site<V>(), no_key<K>, m_ + i};
        store(m_, near_block, best_);
    }

private:
    [[nodiscard]] __device__ offer at(int row) const {
        if (!c_.joined() && (row < 0 || row >= c_.rows())) return {};
        const K key = far_keys<C>{c_}(row);
        return {key, c_.beside(key, row)};
    }
    /// Offers a row at a cost to row m + i. Rows come in no order, so they decide between equal keys.
    __device__ void relax(int i, const offer& from, V cost, int row) {
        found& best = best_[i];
        const V value = from.beside + cost;
        if (!(value <= best.value) || !(value < no_site<V>())) return;
        if (value < best.value || from.key < best.key || (from.key == best.key && c_.row_in(row) < c_.row_in(best.row)))
            best = {value, from.key, row};
    }

    const C& c_;
    const power_costs<V>& costs_;
    int m_;
    V least_;
    found best_[near_block];
};

/// Searches windows of left_rows rows of 32 lines; a block owns one.
template <class V, keys Stored, bool Last>
__global__ void __launch_bounds__(power_window_warps* cuda::warp, 3)
    search_near_powers(const __grid_constant__ line_pass<V> g, const __grid_constant__ power_costs<V> costs,
                       int windows) {
    __shared__ near_progress progress;
    if (are_few(g.many)) return;
    const std::int64_t tile = blockIdx.x / windows, number = tile * cuda::warp + threadIdx.x % cuda::warp;
    const int from = static_cast<int>(blockIdx.x % windows) * left_rows, to = min(from + left_rows, g.rows);
    const unsigned wanted = (1u << (to - from + strip - 1) / strip) - 1;
    const column<V, Stored, rule::powers, true> c(g, number);
    if (threadIdx.x == 0) progress.begin();
    __syncthreads();
    const store_of<decltype(c), Last> store(c);
    progress.each_block(from, to, g.rows, wanted, [&](int m, bool& failed) {
        if (progress.has_enough()) return false;
        near_powers rows(c, costs, m);
        failed = !rows.find();
        if (!failed && number < g.columns) rows.write(store);
        return !failed;
    });
    __syncthreads();
    if (threadIdx.x == 0) progress.leave(g, rung::near, tile, from, to, wanted);
}

/// Launches the search; returns false if lines have too few rows.
template <class V, keys Stored>
bool search_powers(const device& on, const line_pass<V>& g, bool last) {
    constexpr int least_rows = 3 * power_reach;  // round a joined line, no row is met twice
    if (g.rows < least_rows) return false;
    const int windows = static_cast<int>(blocks_for(g.rows, left_rows));
    cuda::launch(on, last ? search_near_powers<V, Stored, true> : search_near_powers<V, Stored, false>,
                 blocks_for(g.columns, cuda::warp) * windows, dim3(power_window_warps * cuda::warp), 0, g,
                 power_costs<V>(g), windows);
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
