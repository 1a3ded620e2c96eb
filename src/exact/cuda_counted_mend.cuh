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

    /// By a warp.
    __device__ void mend(std::int64_t cell) const {
        const std::int64_t length = lines.lines.length, rows = lines.lines.rows, line = cell / length;
        const std::int64_t x = cell - line * length, plane = line / rows, y = line - plane * rows, z = plane % depth;
        double best = no_site<double>();
        for (std::int64_t away = 0; away < depth; ++away) {
            const double outside = real_term(through, static_cast<std::uint32_t>(away));
            if (outside > best) break;
            for (int side = away == 0 ? 1 : 0; side < 2; ++side) {
                const std::int64_t there = side == 0 ? z - away : z + away;
                if (there < 0 || there >= depth) continue;
                const std::int64_t number = (plane - z + there) * lines.lines.columns + x / cuda::warp;
                best = least(lines.lines.words + number * rows, y, static_cast<int>(x % cuda::warp), outside, best);
            }
        }
        if (threadIdx.x % cuda::warp == 0) to[cell] = static_cast<float>(__dsqrt_rn(best));
    }

private:
    /// Of a plane's rows, a lane every 32nd.
    [[nodiscard]] __device__ double least(const line_word* words, std::int64_t y, int bit, double outside,
                                          double best) const {
        const std::int64_t rows = lines.lines.rows;
        for (std::int64_t first = 0; first < rows; first += cuda::warp) {
            const std::int64_t row = first + threadIdx.x % cuda::warp;
            if (row >= rows) continue;
            const line_word word = words[row];
            if (!word.any()) continue;
            const double own = real_term(across, static_cast<std::uint32_t>(word.distance(bit)));
            best = min(best, own + real_term(along, static_cast<std::uint32_t>(abs(row - y))) + outside);
        }
        for (int o = cuda::warp / 2; o > 0; o /= 2) best = min(best, __shfl_xor_sync(cuda::every_lane, best, o));
        return best;
    }
};

/// A warp 32 entries of the list after another; of all cells, where the list was too short.
__global__ void __launch_bounds__(mending_threads) mend_roots(const mending what) {
    cuda::wait_for_kernel_before();
    const int count = *what.doubtful.count, lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const bool listed = count <= what.doubtful.capacity;
    const std::int64_t all = listed ? count : what.cells, step = std::int64_t{gridDim.x} * mending_threads;
    for (std::int64_t first = std::int64_t{blockIdx.x} * mending_threads + (threadIdx.x - lane); first < all;
         first += step) {
        const std::int64_t mine = first + lane;
        std::int64_t cell = -1;
        if (mine < all) {
            cell = listed ? what.doubtful.list[mine] : mine;
            if (!isnan(what.to[cell])) cell = -1;
        }
        for (unsigned left = __ballot_sync(cuda::every_lane, cell >= 0); left != 0; left &= left - 1)
            what.mend(__shfl_sync(cuda::every_lane, cell, __ffs(static_cast<int>(left)) - 1));
    }
}

}  // namespace
}  // namespace nearfield::exact
