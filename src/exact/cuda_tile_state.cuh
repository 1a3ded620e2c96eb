// Tiles (cuda_tile.cuh) of a later pass: from the values that the pass before left, to state or fields.
#pragma once

#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

/// Values that the passes before left, a lane a line.
template <int Pairs>
__device__ void fill_from_values(const tile<Pairs>& t, const std::int32_t* first, std::int32_t inner, int rows) {
    const unsigned lane = threadIdx.x % cuda::warp;
#pragma unroll 8
    for (unsigned pair = threadIdx.x / cuda::warp; pair < t.half; pair += tile_warps<Pairs>) {
        const std::int32_t a =
            pair < static_cast<unsigned>(rows) ? min(first[static_cast<std::int64_t>(pair) * inner], cap) : cap;
        const std::int32_t b = pair + t.half < static_cast<unsigned>(rows)
                                   ? min(first[static_cast<std::int64_t>(pair + t.half) * inner], cap)
                                   : cap;
        t.word(pair, lane) = static_cast<std::uint32_t>(a | b << 16) + twice(half_1024);
    }
}

/// The same, four cells of a row at a time; the tile's first cell is `*corner`.
template <int Pairs>
__device__ void fill_from_fours(const tile<Pairs>& t, const int4* corner, std::int32_t inner, unsigned rows) {
    const unsigned line = threadIdx.x % 8 * 4, fours = static_cast<unsigned>(inner) / 4;
    const int4* const from = corner + threadIdx.x % 8;
    const auto both = [](std::int32_t a, std::int32_t b) {
        return static_cast<std::uint32_t>(min(a, cap) | min(b, cap) << 16) + twice(half_1024);
    };
#pragma unroll 2
    for (unsigned pair = threadIdx.x / 8; pair < t.half; pair += tile_threads<Pairs> / 8) {
        int4 a{cap, cap, cap, cap}, b = a;
        if (pair < rows) a = from[static_cast<std::int64_t>(pair) * fours];
        if (pair + t.half < rows) b = from[static_cast<std::int64_t>(pair + t.half) * fours];
        t.word(pair, line) = both(a.x, b.x);
        t.word(pair, line + 1) = both(a.y, b.y);
        t.word(pair, line + 2) = both(a.z, b.z);
        t.word(pair, line + 3) = both(a.w, b.w);
    }
}

/// By either; `from`: the calling lane's first value.
template <int Pairs>
__device__ void fill_from_state(const tile<Pairs>& t, const std::int32_t* from, std::int32_t inner, int rows,
                                int width) {
    const std::int32_t* const corner = from - threadIdx.x % cuda::warp;
    if (width == cuda::warp && inner % cuda::warp == 0 && reinterpret_cast<std::uintptr_t>(corner) % sizeof(int4) == 0)
        fill_from_fours(t, reinterpret_cast<const int4*>(corner), inner, static_cast<unsigned>(rows));
    else fill_from_values(t, from, inner, rows);
}

constexpr int sampled_rows = 4;  // by each warp

/// True, for all threads alike, when a sixteenth of the lines and rows looked at is capped.
template <int Pairs>
__device__ bool mostly_capped(const std::int32_t* first, std::int32_t inner, int rows) {
    constexpr int samples = tile_warps<Pairs> * sampled_rows;
    int capped = 0;
#pragma unroll
    for (int i = 0; i < sampled_rows; ++i) {
        const int nth = static_cast<int>(threadIdx.x) / cuda::warp * sampled_rows + i;
        capped += first[static_cast<std::int64_t>(nth * rows / samples) * inner] >= cap ? 1 : 0;
    }
    return __syncthreads_count(2 * capped >= sampled_rows) * 16 > tile_threads<Pairs>;
}

/// A block a window of 32 lines of a later pass: state to state or fields.
template <int Pairs, bool Last>
__global__ void __launch_bounds__(tile_threads<Pairs>, tile_blocks<Pairs>)
    search_tiles(const value_lines lines, const windows cut, const metric<std::int32_t> m, const hard_tiles hard,
                 const sink<std::int32_t, std::int32_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t tile_words[];
    const tile<Pairs> t{tile_words};
    const auto at = lines.place(cut, blockIdx.x);
    const int width = lines.width(at.group), lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const tile_rows r = rows_of<Pairs>(cut, at.window, lines.rows());
    // Lanes beyond the last line read it too, but do not write.
    const int mine = min(lane, width - 1);
    const auto inner = static_cast<std::int32_t>(lines.inner());
    const tile_target<std::int32_t, Last> target{m, to, lines.first_cell(at.group, mine),
                                                 static_cast<std::int32_t>(lines.inner()), width};
    const std::int32_t* const from =
        lines.cells + lines.first_cell(at.group, mine) + static_cast<std::int64_t>(r.first) * inner;
    const auto leave = [&] {
        if constexpr (offers_all_rows<Pairs, std::int32_t>)
            offer_all_rows<tile_warps<Pairs>>(tile_words, r.rows, target,
                                              [&](int row) { return from[static_cast<std::int64_t>(row) * inner]; });
        else hard.add(at.group.number);
    };
    if (to.limit >= cap && mostly_capped<Pairs>(from, inner, r.rows)) return leave();
    if constexpr (Last) fill_roots(t, to.out.unit2);
    fill_from_state(t, from, inner, r.rows, width);
    if (!finish_tile(t, target, r, first_check)) leave();
}

}  // namespace
}  // namespace nearfield::exact
