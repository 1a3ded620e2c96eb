// The kernels that search nearest sites in words: the second axis from packed lines (cuda_bits.cuh), by steps
// (cuda_keyed_steps.cuh) where sites are many, from lists of them (cuda_keyed_points.cuh) where they are few; the third
// from the state that the second leaves, by steps. What neither can do goes to the hulls.
#pragma once

#include "exact/cuda_keyed_points.cuh"

namespace nearfield::exact {
namespace {

/// The groups of 32 lines that the hulls must finish.
struct hard_lines {
    std::int32_t* count = nullptr;
    std::int32_t* list = nullptr;

    __device__ void add(std::int64_t group) const {
        if (threadIdx.x == 0 && threadIdx.y == 0) list[atomicAdd(count, 1)] = static_cast<std::int32_t>(group);
    }
};

constexpr int sites_per_10000 = 60;      // from which steps cost less than lists
constexpr std::int32_t widest_gap = 32;  // of the middle of 32 rows from a site of theirs; with a wider one steps are in vain

/// The calling lane's line of word column `column`; lanes beyond the last line have that one.
template <ending End>
__device__ site_target<End, 1> target_of_words(const packed_lines& lines, const metric<std::int32_t>& m,
                                               std::uint32_t* next, const site_sink& to, std::int64_t outer,
                                               std::int32_t column) {
    const auto length = static_cast<std::int32_t>(lines.length);
    const std::int32_t x = min(column * cuda::warp + static_cast<std::int32_t>(threadIdx.x), length - 1);
    return {m, to, next, outer * lines.rows * length + x, x, length, x, 0, length, words_beyond(to.limit)};
}

template <ending End>
__device__ site_target<End, 2> target_of_state(const pass& g, const metric<std::int32_t>& m, const site_sink& to,
                                               std::int64_t column) {
    const std::int64_t first = g.first_cell(column);
    const auto here = static_cast<std::int32_t>(column - quotient(column, g.inner) * g.inner);
    const auto inner = static_cast<std::int32_t>(g.inner), width = static_cast<std::int32_t>(m.size[m.rank - 1]);
    return {m, to, nullptr, first, here, inner, here % width, here / width, width, words_beyond(to.limit)};
}

/// Shared memory of a warp: what its strip is filled from, then its edges, then lists of sites.
union warp_memory {
    uint4 words[strip_words];
    std::uint32_t edges[2 * strip_halo * cuda::warp];
    point_lists points;
};
constexpr int warp_pitch = sizeof(warp_memory) / sizeof(std::uint32_t);
static_assert(sizeof(warp_memory) % sizeof(uint4) == 0);

/// Readies the strip's rows of words for all lanes, and counts the sites of its rows; a wide gap counts as less than none.
__device__ inline int ready_words(const line_word* words, const block_rows& b, std::int32_t x, warp_memory& memory) {
    const int lane = static_cast<int>(threadIdx.x), first = b.strip_start();
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < strip_words; i += cuda::warp) {
        // The strip's own rows first, 32 at a time, then those beside it.
        const int at = i < strip_rows ? strip_halo + i + lane
                       : lane < strip_halo ? lane
                                           : strip_rows + lane;
        if (i >= strip_rows && lane >= 2 * strip_halo) break;
        const int row = first + at - strip_halo;
        const line_word word = row >= 0 && row < b.rows ? words[row] : word_without_sites();
        memory.words[at] = ready_for_lanes(word, x);
        if (i >= strip_rows || first + i >= b.rows) continue;
        sites += __popc(word.sites);
        const std::int32_t near = word.sites != 0 ? 0 : min(min(gap_before(word, x), gap_after(word, x)), widest_gap);
        const std::int32_t apart = lane - min(b.rows - first - i, cuda::warp) / 2;
        gap |= !__any_sync(cuda::every_lane, near * near + apart * apart < widest_gap * widest_gap);
    }
    sites = __reduce_add_sync(cuda::every_lane, sites);
    return gap ? -1'000'000 : sites;
}

/// For all threads alike: whether steps are worth trying.
__device__ inline bool many_sites(int sites_of_strip, const block_rows& b, int width, int* counts) {
    if (threadIdx.x == 0) counts[threadIdx.y] = sites_of_strip;
    __syncthreads();
    int sites = 0;
    for (unsigned w = 0; w < blockDim.y; ++w) sites += counts[w];
    const int rows = min(b.rows - b.start, static_cast<int>(blockDim.y) * strip_rows);
    return static_cast<std::int64_t>(sites) * 10000 >= static_cast<std::int64_t>(sites_per_10000) * rows * width;
}

/// A block a window of 32 lines of the second axis. One function, because each way takes over the warps' shared memory
/// from the one before.
template <ending End>
__global__ void __launch_bounds__(strip_threads, 1)
    search_sites_of_words(const packed_lines lines, const metric<std::int32_t> m, const row_windows windows,
                          const hard_lines hard, std::uint32_t* next, const site_sink to) {
    extern __shared__ warp_memory memory[];
    __shared__ int counts[strip_warps];
    const auto columns = static_cast<std::uint32_t>(lines.columns);
    const std::uint32_t band = blockIdx.x / columns, column = blockIdx.x - band * columns;
    const auto outer = static_cast<std::int64_t>(band / static_cast<unsigned>(windows.count));
    const block_rows b(windows, static_cast<int>(band % static_cast<unsigned>(windows.count)));
    const auto x = static_cast<std::int32_t>(column) * cuda::warp;
    const int lane = static_cast<int>(threadIdx.x), width = min(static_cast<int>(lines.length) - x, cuda::warp);
    const std::int64_t tile = outer * lines.columns + column;
    const line_word* const words = lines.words + tile * lines.rows;
    const site_target<End, 1> target =
        target_of_words<End>(lines, m, next, to, outer, static_cast<std::int32_t>(column));
    warp_memory& mine = memory[threadIdx.y];
    const int sites = ready_words(words, b, x, mine);
    if (many_sites(sites, b, width, counts) || to.limit < near_reach) {
        strip v;
#pragma unroll
        for (int i = 0; i < strip_words; ++i) v[i] = nearest_in_row(mine.words[i], static_cast<std::uint32_t>(lane));
        if (finish_strips(v, b, target, lane < width, memory[0].edges, warp_pitch)) return;
        __syncthreads();
    } else {
        __syncwarp();
    }
    bool fits = true;
    for (int top = b.own_from + static_cast<int>(threadIdx.y) * square_side; top < b.own_to && fits;
         top += static_cast<int>(blockDim.y) * square_side) {
        const point_square s{words, b.rows, x, top, min(top + square_side, b.own_to) - 1, lane};
        fits = finish_points(s, mine.points, target, lane < width);
    }
    if (__syncthreads_or(!fits)) hard.add(tile);
}

/// A block a window of 32 lines of the third axis.
template <ending End>
__global__ void __launch_bounds__(strip_threads, 1)
    search_sites_of_state(const pass g, const metric<std::int32_t> m, const row_windows windows,
                          const std::uint32_t* cells, const hard_lines hard, const site_sink to) {
    extern __shared__ std::uint32_t edges[];
    const auto groups = static_cast<std::uint32_t>((g.columns + cuda::warp - 1) / cuda::warp);
    const std::uint32_t nth = blockIdx.x / groups, group = blockIdx.x - nth * groups;
    const block_rows b(windows, static_cast<int>(nth));
    const std::int64_t column = static_cast<std::int64_t>(group) * cuda::warp + threadIdx.x;
    const bool is_one = column < g.columns;
    // Lanes beyond the last column read it too, but do not write.
    const site_target<End, 2> target = target_of_state<End>(g, m, to, is_one ? column : g.columns - 1);
    const std::int32_t inner = target.inner;
    const int start = b.strip_start() - strip_halo;
    const std::uint32_t* const from = cells + target.first + static_cast<std::int64_t>(start) * inner;
    strip v;
    if (start >= 0 && start + strip_words <= b.rows) {
#pragma unroll
        for (int i = 0; i < strip_words; ++i) v[i] = from[static_cast<std::int64_t>(i) * inner];
    } else {
#pragma unroll
        for (int i = 0; i < strip_words; ++i)
            v[i] = start + i >= 0 && start + i < b.rows ? from[static_cast<std::int64_t>(i) * inner] : near_cap;
    }
#pragma unroll
    for (int i = 0; i < strip_words; ++i) v[i] = min(v[i], near_cap);
    if (!finish_strips(v, b, target, is_one, edges, 2 * strip_halo * cuda::warp)) hard.add(group);
}

}  // namespace
}  // namespace nearfield::exact
