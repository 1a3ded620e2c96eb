// How far counted passes look in volumes. Within a plane sites are farther than within the volume: what exceeds the volume's
// farthest distance need not be exact, because nothing comes of it.
//
// Some cells are searched first. Twice the largest squared distance among these is the limit of all: a cell gets the least
// number below the limit, or the limit. A sum of terms that stays below it is exact, since each of them is. A distance that
// reaches the limit in the end is as doubtful as a root near the middle between two floats, and is mended like those
// (cuda_counted_mend.cuh); so the limit decides about time only.
//
// Of random sites the farthest of 4096 cells has none in a ball where ln 4096 = 8.3 are expected. In the limit's ball 23 are,
// and there is none round a cell of 512^3 in one of a hundred volumes.
#pragma once

#include "exact/cuda_counted_roots.cuh"
#include "exact/cuda_windows.cuh"

namespace nearfield::exact {
namespace {

constexpr int sampled_cells = 4096, sampling_warps = 8;
constexpr int sampling_threads = sampling_warps * cuda::warp;
constexpr std::int64_t sampling_blocks = sampled_cells / sampling_warps;
// Of volumes with fewer cells it is not worth a launch.
constexpr std::int64_t least_sampled = 1 << 20;

/// Rows of a plane as a warp looks at them: 32 round a row, then 16 more on either side each time.
struct rows_outward {
    std::int64_t row = 0, rows = 1;

    /// Of the calling lane, the `nth` time; may be no row of the plane. The first time those from 16 before to 15 behind.
    [[nodiscard]] __device__ std::int64_t at(int nth) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, half = cuda::warp / 2;
        if (nth == 0) return row + lane - half;
        return lane < half ? row - nearest(nth) - lane : row + nearest(nth) + lane - half;
    }
    /// Cells to the nearest of these.
    [[nodiscard]] __device__ int nearest(int nth) const {
        constexpr int half = cuda::warp / 2;
        return half * nth;
    }
    [[nodiscard]] __device__ bool has(std::int64_t r) const { return r >= 0 && r < rows; }
    /// Whether the `nth` time may still find one.
    [[nodiscard]] __device__ bool any(int nth) const {
        return nth == 0 || row - nearest(nth) >= 0 || row + nearest(nth) < rows;
    }
};

/// What passes know of it.
struct counted_limit {
    const std::uint32_t* sampled = nullptr;  ///< bits of the largest number, as a float; null: no limit
    float more = 0, end = counted_end;       ///< added to it; larger ones do not count

    [[nodiscard]] __device__ float get() const {
        if (sampled == nullptr) return no_site<float>();
        const float limit = 2 * __uint_as_float(*sampled) + more;
        return limit < end ? limit : no_site<float>();
    }
};

struct sampling {
    word_lines lines;
    std::int64_t depth = 1, cells = 0;
    float across = 1, along = 1, through = 1;  ///< weights of the last axis, the one before it, and the third
    float end = counted_end;                   ///< larger numbers make no limit
    std::uint32_t* most = nullptr;             ///< 0 at first

    /// Of the calling warp's cell: the least number, if that is below `end`.
    [[nodiscard]] __device__ float number_of(std::int64_t cell) const {
        const std::int64_t length = lines.lines.length, rows = lines.lines.rows, line = quotient(cell, length);
        const std::int64_t x = cell - line * length, plane = quotient(line, rows), y = line - plane * rows,
                           z = plane - quotient(plane, depth) * depth;
        const line_word* const words = lines.lines.words + (plane * lines.lines.columns + x / cuda::warp) * rows;
        const std::int64_t between = lines.lines.columns * rows;
        const int bit = static_cast<int>(x % cuda::warp);
        const rows_outward outward{y, rows};
        float best = end;
        for (int away = 0;; ++away) {
            const float outside = squared(through, away);
            if (outside >= best || (z < away && z + away >= depth)) return best;
            for (int nth = 0; outward.any(nth) && squared(along, outward.nearest(nth)) + outside < best; ++nth) {
                const std::int64_t row = outward.at(nth);
                if (outward.has(row)) {
                    float across_both = no_site<float>();
                    if (z >= away) across_both = across_of(words[row - away * between], bit);
                    if (away > 0 && z + away < depth)
                        across_both = fminf(across_both, across_of(words[row + away * between], bit));
                    best = fminf(best, across_both + squared(along, static_cast<int>(row - y)) + outside);
                }
                best = __uint_as_float(__reduce_min_sync(cuda::every_lane, __float_as_uint(best)));
            }
        }
    }

private:
    [[nodiscard]] __device__ static float squared(float weight, int cells) {
        const auto many = static_cast<float>(cells);
        return weight * (many * many);
    }
    [[nodiscard]] __device__ float across_of(const line_word& word, int bit) const {
        return word.any() ? squared(across, word.distance(bit)) : no_site<float>();
    }
};

/// A warp a cell: one of each of as many equal parts of the volume, at a place that has nothing to do with those in others.
__global__ void __launch_bounds__(sampling_threads) sample_numbers(const sampling what) {
    cuda::wait_for_kernel_before();
    const std::uint32_t nth = blockIdx.x * sampling_warps + threadIdx.x / cuda::warp;
    std::uint32_t random = (nth + 1) * 0x9e3779b9u;
    random = (random ^ random >> 16) * 0x85ebca6bu;
    random ^= random >> 13;
    const std::int64_t part = what.cells / sampled_cells;
    const std::int64_t cell = part * nth + static_cast<std::int64_t>((static_cast<std::uint64_t>(part) * random) >> 32);
    __shared__ std::uint32_t most[sampling_warps];
    const float number = what.number_of(cell);
    if (threadIdx.x % cuda::warp == 0) most[threadIdx.x / cuda::warp] = __float_as_uint(number);
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int i = 1; i < sampling_warps; ++i) most[0] = max(most[0], most[i]);
    atomicMax(what.most, most[0]);
}

}  // namespace
}  // namespace nearfield::exact
