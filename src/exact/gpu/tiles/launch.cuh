// Distances in tiles: the kernel of a pass, from packed lines (words.cuh) or from the values of the pass before, and
// the launches of all passes and of the kernels that solve unresolved tiles.
#pragma once

#include <algorithm>
#include <limits>
#include <utility>

#include "base/lines.hpp"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/rows/pack.cuh"
#include "exact/gpu/tiles/between.cuh"
#include "exact/gpu/tiles/pivot_squares.cuh"
#include "exact/gpu/tiles/tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int dense_per_10000 = 40;  // share of sites from which steps cost less than searches between pivot rows

/// Returns, in all threads, a lower bound of the steps that the tile needs, from its share of sites (a test of whether
/// they suffice costs nearly as much as a step). Returns 0 if sites are few, or if steps could not finish because of a
/// wide gap, seen from the middle of every second 32 rows (in short lines, of all). `counts` holds one number per warp.
template <int Pairs>
__device__ int least_steps(const line_word* words, int rows, int width, int* counts) {
    constexpr int groups = (2 * tile<Pairs>::half + tile_threads<Pairs> - 1) / tile_threads<Pairs>;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < groups; ++i) {
        const int row = static_cast<int>(threadIdx.x) + i * tile_threads<Pairs>, top = row - lane;
        const line_word word = row < rows ? words[row] : word_without_sites();
        sites += __popc(word.sites);
        if ((Pairs > 2 * cuda::warp && top % (2 * cuda::warp) != 0) || top >= rows) continue;
        const std::int32_t near = min(near_word(word), cap_distance), apart = lane - min(rows - top, cuda::warp) / 2;
        gap |= !__any_sync(cuda::every_lane, near * near + apart * apart < cap);
    }
    sites = __reduce_add_sync(cuda::every_lane, sites);
    if (lane == 0) counts[threadIdx.x / cuda::warp] = gap ? -bit_rows * bit_rows : sites;
    __syncthreads();
    sites = 0;
#pragma unroll
    for (int w = 0; w < tile_warps<Pairs>; ++w) sites += counts[w];
    if (sites * 10000LL < static_cast<long long>(dense_per_10000) * rows * width) return 0;
    constexpr float share =
        Pairs > 2 * cuda::warp ? 0.9f : 0.6f;  // short lines have fewer cells that are far from all sites
    const float cells_a_site = static_cast<float>(rows * width) / static_cast<float>(sites);
    return max(first_check, static_cast<int>(share * sqrtf(cells_a_site)));
}

/// Loads the values of the passes before, a line per lane.
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

/// Loads the same, four cells of a row at a time; the tile's first cell is `*corner`.
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

constexpr int sampled_rows = 4;  // rows that each warp samples

/// Returns true, in all threads, if a sixteenth of the sampled lines and rows is capped.
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

/// The source of a tile's rows: the steps that it takes before the first test, 0 if steps are unlikely to finish, and
/// its rows.
template <int Pairs, class Lines>
struct tile_source;

template <int Pairs>
struct tile_source<Pairs, word_lines> {
    const line_word* words;
    int rows, width, half;

    __device__ tile_source(const word_lines& lines, const line_group& group, const tile_rows& r)
        : words(lines.words(group) + r.first), rows(r.rows), width(lines.width(group)), half(r.half) {}
    __device__ int first_steps() const {
        __shared__ int counts[cuda::warp];
        return least_steps<Pairs>(words, rows, width, counts);
    }
    __device__ void fill(const tile<Pairs>& t) const { fill_from_words(t, words, rows, half); }
};

template <int Pairs>
struct tile_source<Pairs, value_lines> {
    const std::int32_t* from;  ///< the calling lane's first value
    std::int32_t inner;
    int rows, width;

    __device__ tile_source(const value_lines& lines, const line_group& group, const tile_rows& r)
        : inner(static_cast<std::int32_t>(lines.g.inner)), rows(r.rows), width(lines.width(group)) {
        // Lanes beyond the last line read it too.
        const int mine = min(static_cast<int>(threadIdx.x) % cuda::warp, width - 1);
        from = lines.cells + lines.state_cell(group, mine) + static_cast<std::int64_t>(r.first) * inner;
    }
    __device__ int first_steps() const { return mostly_capped<Pairs>(from, inner, rows) ? 0 : first_check; }
    __device__ void fill(const tile<Pairs>& t) const {
        const std::int32_t* const corner = from - threadIdx.x % cuda::warp;
        if (width == cuda::warp && inner % cuda::warp == 0 &&
            reinterpret_cast<std::uintptr_t>(corner) % sizeof(int4) == 0)
            fill_from_fours(t, reinterpret_cast<const int4*>(corner), inner, static_cast<unsigned>(rows));
        else fill_from_values(t, from, inner, rows);
    }
};

/// Solves tiles by steps, else it adds them to the list. A block owns a tile of packed lines or of values.
template <int Pairs, bool Last, class Lines>
__global__ void __launch_bounds__(tile_threads<Pairs>, tile_blocks<Pairs>)
    search_tiles(const Lines lines, const windows cut, const unresolved_tiles unresolved, const std::int32_t* many,
                 const value_sink<Last> to) {
    cuda::wait_for_kernel_before();
    if (gpu::are_few(many)) return;
    extern __shared__ std::uint32_t tile_words[];
    const tile<Pairs> t{tile_words};
    const auto at = lines.place(cut, blockIdx.x);
    // Lanes beyond the last line do not write.
    const int width = lines.width(at.group), lane = min(static_cast<int>(threadIdx.x) % cuda::warp, width - 1);
    tile_rows r = rows_of<Pairs>(cut, at.window, lines.rows());
    if constexpr (std::is_same_v<Lines, word_lines>) r.half = lines.lines.half;
    const tile_target<Last> target{to, lines.first_cell(at.group, lane), static_cast<std::int32_t>(lines.inner()),
                                   width};
    const tile_source<Pairs, Lines> source(lines, at.group, r);
    // Within a limit below the cap steps always finish.
    const int steps = to.limit < cap ? first_check : source.first_steps();
    if (steps > 0) {
        if constexpr (Last) fill_roots(t, to);
        source.fill(t);
        if (finish_tile(t, target, r, steps)) return;
    }
    unresolved.add(at.group.outer);
}

}  // namespace

// Launches of the searches in tiles: from packed lines, or from the values of the pass before; then of the kernels that
// solve unresolved tiles.

/// Partition of a pass's lines into tiles.
struct tile_cut {
    int pairs;  ///< pairs of rows, one of the compiled numbers
    windows into;
};
/// Partitions lines. Short lines: the smallest number of pairs that holds a line. Long ones: windows as equal in size
/// as whole squares allow; of the two tile sizes the one with fewer rows in all, repeated rows included, and of equal
/// ones the smaller, which makes more blocks. GPUs with 64 KB a block have no room for the larger one.
inline tile_cut cut_lines(std::int64_t rows) {
    const bool large_fits = fits_shared(tile<512>::words * sizeof(std::uint32_t));
    for (const int pairs : {32, 52, 64, 96, 128, 192, 256, 384, 512})
        if (rows <= 2 * pairs && (large_fits || pairs < 512)) return {pairs, {1, static_cast<int>(rows)}};
    const auto cut = [&]<int Pairs>() {
        // A lane finishes whole rows or none, and a window consists of whole squares of 32 rows.
        constexpr int unit = lane_pairs<Pairs> % 16 == 0 ? square_rows : square_rows * 3;
        constexpr int most = (2 * Pairs - 2 * halo<Pairs>) / unit * unit;
        static_assert(unit % lane_pairs<Pairs> == 0 && most % unit == 0);
        const std::int64_t count = blocks_for(rows, most);
        return tile_cut{Pairs, {static_cast<int>(count), static_cast<int>(blocks_for(rows, count * unit) * unit)}};
    };
    const tile_cut large = cut.template operator()<512>(), small = cut.template operator()<384>();
    if (!large_fits) return small;
    return small.into.count * small.pairs <= large.into.count * large.pairs ? small : large;
}

/// Returns the most tiles of a pass.
inline std::int64_t most_tiles(const plan& p) {
    std::int64_t most = 0;
    for (int axis = p.first_axis; axis < p.rank - 1; ++axis) {
        const std::int64_t rows = p.size[static_cast<std::size_t>(axis)], columns = p.cells / rows,
                           length = p.size[static_cast<std::size_t>(p.rank - 1)];
        const std::int64_t groups = axis == p.rank - 2 ? columns / length * blocks_for(length, cuda::warp)
                                                       : blocks_for(state_columns(p, axis), cuda::warp);
        most = std::max(most, groups * cut_lines(rows).into.count);
    }
    return most;
}

/// One pass in tiles: the tiles, then the kernels that solve unresolved ones. Only the device knows their number: as
/// many blocks as a large GPU holds share them.
template <bool Last>
class tile_search {
public:
    /// `many`: see line_pass::many.
    tile_search(const device& on, const word_workspace& tiles, const cuda::workspace& memory, int axis,
                std::int64_t rows, const std::int32_t* many, const value_sink<Last>& to)
        : on_(on),
          tiles_(tiles),
          memory_(memory),
          axis_(axis),
          rows_(rows),
          many_(many),
          cut_(cut_lines(rows_)),
          unresolved_(tiles.unresolved(memory, axis)),
          to_(to) {}

    /// Starts from packed lines; `pitch`: cells from row to row of what the pass writes.
    void from_words(std::int64_t pitch) const {
        const packed_lines lines = tiles_.lines(memory_);
        const word_lines from{lines, pitch};
        search(from, lines.tiles);
        if (!tiles_.uses_pivots(axis_)) return finish_short(from, lines.tiles);
        // Kernels for corners exist only where a call of them ends.
        constexpr int halves = Last ? 1 : 0;
        const auto pivots = tiles_.pivots(memory_);
        if (lines.half == 0)
            finish_between_pivots<square_between<Last, 0>>(on_, from, cut_.into, unresolved_, pivots, to_);
        else finish_between_pivots<square_between<Last, halves>>(on_, from, cut_.into, unresolved_, pivots, to_);
    }

    void from_values(const pass_lines& lines, const std::int32_t* cells) const {
        const value_lines from{lines, cells};
        const std::int64_t groups = blocks_for(from.g.columns, cuda::warp);
        search(from, groups);
        finish_short(from, groups);
    }

private:
    template <class Lines>
    void search(const Lines& from, std::int64_t groups) const {
        with_pairs([&]<int Pairs>() {
            cuda::launch_overlapped(on_, search_tiles<Pairs, Last, Lines>, groups * cut_.into.count,
                                    dim3(tile_threads<Pairs>), tile<Pairs>::words * sizeof(std::uint32_t), from,
                                    cut_.into, unresolved_, many_, to_);
        });
    }
    template <class Lines>
    void finish_short(const Lines& from, std::int64_t groups) const {
        cuda::launch_overlapped(on_, search_unresolved<Last, Lines>,
                                std::min(groups, 2 * multiprocessors * blocks_for(short_rows, rows_)),
                                dim3(cuda::warp, static_cast<unsigned>(blocks_for(rows_, band_rows))),
                                bytes_of_lines(rows_), from, unresolved_, to_);
    }
    template <class Body>
    void with_pairs(const Body& body) const {
        [&]<int... Pairs>(std::integer_sequence<int, Pairs...>) {
            ((cut_.pairs == Pairs ? body.template operator()<Pairs>() : void()), ...);
        }(std::integer_sequence<int, 32, 52, 64, 96, 128, 192, 256, 384, 512>());
    }
    const device& on_;
    const word_workspace& tiles_;
    const cuda::workspace& memory_;
    int axis_;
    std::int64_t rows_;
    const std::int32_t* many_;
    tile_cut cut_;
    unresolved_tiles unresolved_;
    value_sink<Last> to_;
};

}  // namespace nearfield::exact
