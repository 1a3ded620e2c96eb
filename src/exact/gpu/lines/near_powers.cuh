// Near windows of power diagrams, whose values in double no word holds. A block of rows searches outward from both of
// its ends, as in near.cuh. Sites with their weights are mostly a few rows away, so that no pivots are needed.
#pragma once

#include "exact/gpu/epilogue/put.cuh"
#include "exact/gpu/lines/near_blocks.cuh"

namespace nearfield::exact::gpu {
namespace {

constexpr int power_reach = 32;  // rows that are searched on either side
constexpr int power_window_warps = 8;

/// A lane's rows of a block.
template <class C>
class near_powers {
    using V = typename C::V;
    using found = winner<V, typename C::K>;

public:
    __device__ near_powers(const C& c, int m) : c_(c), m_(m), least_(c.g.extremes[0]) {
#pragma unroll
        for (int i = 0; i < near_block; ++i) best_[i] = {no_site<V>(), no_key<typename C::K>, m + i};
    }

    /// Returns true if all winners are found.
    [[nodiscard]] __device__ bool find() {
        for (int i = 0; i < near_block; ++i) relax(m_ + i);
        for (int j = 1;; ++j) {
            V worst = best_[0].value;
#pragma unroll
            for (int i = 1; i < near_block; ++i) worst = max(worst, best_[i].value);
            // Rounding is monotone: no row from here on costs less.
            if (!__any_sync(cuda::every_lane, !(c_.value(least_, j) > min(worst, c_.g.limit)))) return true;
            if (j > power_reach) return false;
            if (c_.joined() || m_ - j >= 0) relax(m_ - j);
            if (c_.joined() || m_ + near_block - 1 + j < c_.rows()) relax(m_ + near_block - 1 + j);
        }
    }
    template <class Store>
    __device__ void write(const Store& store) {
#pragma unroll
        for (int i = 0; i < near_block; ++i)
            if (best_[i].value > c_.g.limit) best_[i] = {no_site<V>(), no_key<typename C::K>, m_ + i};
        store(m_, near_block, best_);
    }

private:
    __device__ void relax(int row) {
        const auto key = far_keys<C>{c_}(row);
        const V beside = c_.beside(key, row);
        if (!(beside < no_site<V>())) return;
#pragma unroll
        for (int i = 0; i < near_block; ++i) {
            found& best = best_[i];
            const V value = c_.value(beside, m_ + i - row);
            // Rows come in no order, so they decide between equal keys.
            const bool ties =
                value == best.value && (key < best.key || (key == best.key && c_.row_in(row) < c_.row_in(best.row)));
            if (value < best.value || ties) best = {value, key, row};
        }
    }

    const C& c_;
    int m_;
    V least_;
    found best_[near_block];
};

/// Searches windows of left_rows rows of 32 lines; a block owns one.
template <class V, keys Stored, bool Last>
__global__ void __launch_bounds__(power_window_warps* cuda::warp, 2)
    search_near_powers(const __grid_constant__ line_pass<V> g, int windows) {
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
        near_powers rows(c, m);
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
                 blocks_for(g.columns, cuda::warp) * windows, dim3(power_window_warps * cuda::warp), 0, g, windows);
    return true;
}

}  // namespace
}  // namespace nearfield::exact::gpu
