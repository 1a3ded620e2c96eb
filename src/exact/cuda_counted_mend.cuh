// The few distances that whole numbers leave in doubt (cuda_counted.cuh): the least sum of rounded terms over all rows near
// enough, from the packed words.
#pragma once

#include "exact/cuda_counted.cuh"

namespace nearfield::exact {
namespace {

constexpr int mending_warps = 8;
constexpr int mending_threads = mending_warps * cuda::warp;

/// A problem of two axes, or of three, whose words are those of depth planes an image.
struct mending {
    word_lines lines;
    std::int64_t depth = 1, cells = 0;
    double across = 1, along = 1, through = 1;  ///< factors of the last axis, the one before it, and a third one
    float* to = nullptr;
    doubtful_roots doubtful;

    /// By a block, a warp a plane to either side and every eighth from there; `shared` is of a double a warp.
    __device__ void mend(std::int64_t cell, double* shared) const {
        const std::int64_t length = lines.lines.length, rows = lines.lines.rows, line = cell / length;
        const std::int64_t x = cell - line * length, plane = line / rows, y = line - plane * rows, z = plane % depth;
        const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
        double best = no_site<double>();
        for (std::int64_t first = 0; first < depth; first += mending_warps) {
            if (real_term(through, static_cast<std::uint32_t>(first)) > best) break;
            const std::int64_t away = first + warp;
            const double outside = real_term(through, static_cast<std::uint32_t>(away));
            for (int side = away == 0 ? 1 : 0; side < 2; ++side) {
                const std::int64_t there = side == 0 ? z - away : z + away;
                if (there < 0 || there >= depth) continue;
                const std::int64_t number = (plane - z + there) * lines.lines.columns + x / cuda::warp;
                best = least(lines.lines.words + number * rows, y, static_cast<int>(x % cuda::warp), outside, best);
            }
            if (threadIdx.x % cuda::warp == 0) shared[warp] = best;
            __syncthreads();
            for (int i = 0; i < mending_warps; ++i) best = min(best, shared[i]);
            __syncthreads();
        }
        if (threadIdx.x == 0) to[cell] = static_cast<float>(__dsqrt_rn(best));
    }

private:
    /// Of a plane's rows.
    [[nodiscard]] __device__ double least(const line_word* words, std::int64_t y, int bit, double outside,
                                          double best) const {
        const rows_outward outward{y, lines.lines.rows};
        for (int nth = 0; outward.any(nth); ++nth) {
            if (real_term(along, static_cast<std::uint32_t>(outward.nearest(nth))) + outside > best) break;
            const std::int64_t row = outward.at(nth);
            const line_word word = outward.has(row) ? words[row] : word_without_sites();
            if (word.any()) {
                const double own = real_term(across, static_cast<std::uint32_t>(word.distance(bit)));
                best = min(best, own + real_term(along, static_cast<std::uint32_t>(abs(row - y))) + outside);
            }
            for (int o = cuda::warp / 2; o > 0; o /= 2) best = min(best, __shfl_xor_sync(cuda::every_lane, best, o));
        }
        return best;
    }
};

/// A block 256 entries of the list after another; of all cells, where the list was too short.
__global__ void __launch_bounds__(mending_threads) mend_roots(const mending what) {
    cuda::wait_for_kernel_before();
    __shared__ double shared[mending_warps];
    __shared__ std::int64_t cells[mending_threads];
    __shared__ int found;
    const int count = *what.doubtful.count;
    const bool listed = count <= what.doubtful.capacity;
    const std::int64_t all = listed ? count : what.cells;
    // As few cells a block as there are blocks for.
    const std::int64_t each = listed ? 1 : mending_threads;
    for (std::int64_t first = blockIdx.x * each; first < all; first += gridDim.x * each) {
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        const std::int64_t mine = first + threadIdx.x;
        if (threadIdx.x < each && mine < all) {
            const std::int64_t cell = listed ? what.doubtful.list[mine] : mine;
            if (isnan(what.to[cell])) cells[atomicAdd(&found, 1)] = cell;
        }
        __syncthreads();
        for (int i = 0; i < found; ++i) what.mend(cells[i], shared);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
