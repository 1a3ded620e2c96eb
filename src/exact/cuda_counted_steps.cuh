// The first two passes of volumes within a limit (cuda_counted_limit.cuh): by steps as in cuda_tile.cuh, in floats. After k of
// them a row has the least over rows up to k away; as many are done as rows away cost less than the limit. A step takes a cell a
// sum and a minimum of three, and needs no look at whether it was the last.
#pragma once

#include "exact/cuda_counted_limit.cuh"

namespace nearfield::exact {
namespace {

constexpr int counted_halo = 24;               // rows beside a window
constexpr int counted_pitch = cuda::warp + 1;  // of a tile's rows: a lane fills a row
constexpr int counted_window = 512;
constexpr int counted_warps = 16;
constexpr int counted_threads = counted_warps * cuda::warp;

/// The least of three numbers, none of which is negative: their bits order as they do.
__device__ inline float least_of_three(float a, float b, float c) {
    return __int_as_float(__vimin3_s32(__float_as_int(a), __float_as_int(b), __float_as_int(c)));
}
__device__ inline float least_of_two(float a, float b) {
    return __int_as_float(min(__float_as_int(a), __float_as_int(b)));
}

/// A lane's row of 32 cells, as values.
__device__ inline void fill_counted(const line_word& word, float weight, float* to) {
    float left[cuda::warp], cells = static_cast<float>(word.before() - 1);
#pragma unroll
    for (int i = 0; i < cuda::warp; ++i) left[i] = cells = word.sites >> i & 1 ? 0.0f : cells + 1;
    cells = static_cast<float>(word.after() - 1);
#pragma unroll
    for (int i = cuda::warp - 1; i >= 0; --i) {
        cells = least_of_two(left[i], cells + 1);
        to[i] = weight * (cells * cells);
    }
}

/// Calls `body` with the rows a lane has of tiles that hold lines of so many rows, or windows of longer ones.
template <class Body>
void with_counted_lane_rows(std::int64_t rows, const Body& body) {
    if (rows <= 4 * cuda::warp) return body.template operator()<4>();
    if (rows <= 8 * cuda::warp) return body.template operator()<8>();
    if (rows <= counted_window) return body.template operator()<counted_window / cuda::warp>();
    constexpr int all = (counted_window + 2 * counted_halo + cuda::warp - 1) / cuda::warp;
    return body.template operator()<all + all % 2>();
}

/// In shared memory: rows of 32 columns. A warp takes a column, a lane so many neighbouring rows of it.
template <int LaneRows>
struct stepped_tile {
    static constexpr int rows = LaneRows * cuda::warp;
    static constexpr int lane_pitch = LaneRows * counted_pitch + 1;  // odd, so that lanes reach other banks
    static_assert(LaneRows % 2 == 0);
    static constexpr int words = cuda::warp * lane_pitch;
    float* at;

    __device__ float* row(int nth) const { return at + nth * counted_pitch + nth / LaneRows; }

    __device__ void step_column(int column, float weight, int steps) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        float* const mine = at + lane * lane_pitch + column;
        float v[LaneRows];
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) v[i] = mine[i * counted_pitch];
        float added = weight;
#pragma unroll 2
        for (; steps > 0; --steps, added += 2 * weight) {
            const float up = __shfl_up_sync(cuda::every_lane, v[LaneRows - 1], 1),
                        down = __shfl_down_sync(cuda::every_lane, v[0], 1);
            float above = lane > 0 ? up + added : no_site<float>(), here = v[0] + added;
            const float below = lane < cuda::warp - 1 ? down + added : no_site<float>();
#pragma unroll
            for (int i = 0; i < LaneRows; ++i) {
                const float next = i + 1 < LaneRows ? v[(i + 1) % LaneRows] + added : below;
                v[i] = least_of_three(v[i], above, next);
                above = here, here = next;
            }
        }
#pragma unroll
        for (int i = 0; i < LaneRows; ++i) mine[i * counted_pitch] = v[i];
    }
};

/// A block a window of 32 lines.
template <int LaneRows, class Sink>
__device__ void count_by_steps(const stepped_tile<LaneRows>& tile, const word_lines& lines,
                               const tile_place<word_group>& at, const windows& cut, float weight, float across,
                               float limit, const Sink& to) {
    const int rows = lines.rows(), top = at.window * counted_window, beside = cut.count == 1 ? 0 : counted_halo;
    for (int nth = static_cast<int>(threadIdx.x); nth < tile.rows; nth += counted_threads) {
        const int row = top - beside + nth;
        const bool has = row >= 0 && row < rows;
        fill_counted(has ? lines.words(at.group)[row] : word_without_sites(), across, tile.row(nth));
    }
    __syncthreads();
    int steps = static_cast<int>(sqrtf(limit / weight));
    while (weight * static_cast<float>((steps + 1) * (steps + 1)) < limit) ++steps;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp,
              width = lines.width(at.group);
    for (int column = warp; column < width; column += counted_warps) tile.step_column(column, weight, steps);
    __syncthreads();
    if (lane >= width) return;
    const int own = min(counted_window, rows - top);
    const auto inner = static_cast<std::uint32_t>(lines.inner());
    const std::int64_t first = lines.first_cell(at.group, lane) + top * lines.inner();
#pragma unroll 4
    for (int nth = warp; nth < own; nth += counted_warps)
        to.put_whole(first + row_step(nth, inner), least_of_two(tile.row(beside + nth)[lane], limit));
}

}  // namespace
}  // namespace nearfield::exact
