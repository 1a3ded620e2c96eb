// The last pass of volumes whose state has padded rows, and whose fields' rows begin anywhere: tiles as in
// cuda_tile.cuh, whose rows go to memory in pieces that begin at multiples of 128 bytes. Of each row a tile writes the
// cells from the first such one on, and as many of the tile to the right as come before that one's first: the two are
// a cluster, and read each other's shared memory. Without that 1023^3 took 4.35 ms in this pass, 1024^3 2.42; with it
// 3.66. Clusters of 4 and 8 took 3.82 and 4.00 (H200, 2026-11-22).
#pragma once

#include "base/cluster.cuh"
#include "exact/cuda_tile_state.cuh"

namespace nearfield::exact {
namespace {

constexpr unsigned shifted_tiles = 2;  // of a cluster

/// Where the roots of a tile's values go.
struct shifted_rows {
    float* out;          ///< the tile's first cell
    std::int32_t inner;  ///< cells from row to row
    int rows;
    int left;                    ///< cells of a row of the image, from the tile's first on
    const std::uint32_t* right;  ///< the tile beside this one; null: it does for itself
    bool own_start;              ///< no tile to the left writes this one's first cells
};

template <int Pairs>
__device__ void write_shifted(const tile<Pairs>& t, const shifted_rows& to) {
    constexpr int half = Pairs;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp,
              most = to.right != nullptr ? to.left : min(to.left, cuda::warp);
    const auto start = static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(to.out) / sizeof(float)),
               step = static_cast<std::uint32_t>(to.inner);
    // Of a hard tile, which others write again, words may hold anything.
    const auto root = [&](std::uint32_t bits) {
        return t.roots()[min(bits - half_1024, static_cast<std::uint32_t>(cap))];
    };
    const auto write = [&](int row, bool high) {
        const auto pair = static_cast<unsigned>(high ? row - half : row);
        const auto value = [&](std::uint32_t two) { return root(high ? two >> 16 : two & 0xffff); };
        const int shift = static_cast<int>((0u - (start + static_cast<std::uint32_t>(row) * step)) % cuda::warp),
                  at = shift + lane;
        float* const cells = to.out + static_cast<std::int64_t>(row) * to.inner;
        if (at < most) {
            const auto line = static_cast<unsigned>(at);
            cells[at] = value(at < cuda::warp ? t.word(pair, line) : to.right[&t.word(pair, line - cuda::warp) - t.at]);
        }
        if (to.own_start && lane < min(shift, to.left)) cells[lane] = value(t.word(pair, static_cast<unsigned>(lane)));
    };
#pragma unroll 2
    for (int row = warp; row < min(half, to.rows); row += tile_warps<Pairs>) write(row, false);
#pragma unroll 2
    for (int row = half + warp; row < to.rows; row += tile_warps<Pairs>) write(row, true);
}

/// A block 32 lines, a cluster neighbours: state to distances in float, in units of 1 and without a limit.
template <int Pairs>
__global__ void __launch_bounds__(tile_threads<Pairs>, tile_blocks<Pairs>)
    search_shifted_tiles(const value_lines lines, std::int64_t tiles, const hard_tiles hard, const point_lists points,
                         float* out) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t tile_words[];
    const tile<Pairs> t{tile_words};
    if (points.complete()) return;
    const value_group group{blockIdx.x};
    const bool is_one = group.number < tiles;
    const int rank = static_cast<int>(cuda::rank_in_cluster()), lane = static_cast<int>(threadIdx.x) % cuda::warp;
    bool fits = false;
    if (is_one) {
        const int width = lines.width(group);
        const tile_rows r = rows_of<Pairs>({1, lines.rows()}, 0, lines.rows());
        // Lanes beyond the last line read it too.
        const std::int32_t* const from = lines.cells + lines.first_cell(group, min(lane, width - 1));
        const auto inner = static_cast<std::int32_t>(lines.inner());
        fill_roots(t, 1);
        fits = !mostly_capped<Pairs>(from, inner, r.rows);
        if (fits) {
            fill_from_state(t, from, inner, r.rows, width);
            fits = finish_all_lines(t, width, r, first_check, no_site<std::int32_t>());
        }
        if (!fits) hard.add(group.number);
    }
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();
    const std::int64_t pitch = lines.padding.pitch, first = group.number * cuda::warp;
    const auto x = static_cast<int>(first - quotient(first, pitch) * pitch);
    const bool beside = rank + 1 < static_cast<int>(shifted_tiles) && x + cuda::warp < pitch;
    // Of a hard tile its neighbour's cells count.
    if (is_one && (fits || beside)) {
        write_shifted(
            t, {out + lines.target_cell<true>(group, 0), static_cast<std::int32_t>(lines.padding.inner), lines.rows(),
                static_cast<int>(lines.padding.width) - x,
                beside ? cuda::shared_of(tile_words, static_cast<unsigned>(rank + 1)) : nullptr, rank == 0 || x == 0});
    }
    cuda::arrive_in_cluster();  // whose blocks may end when all have read
    cuda::wait_for_cluster();
}

}  // namespace
}  // namespace nearfield::exact
