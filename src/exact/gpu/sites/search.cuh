// The kernels that search nearest sites in words: the second axis from packed lines (words.cuh), by steps (steps.cuh)
// if there are many sites, from lists of them (points.cuh) if there are few; the third axis from the state of the
// second, by steps. Windows that both leave unresolved are solved between pivot rows (between.cuh), by a sweep
// (sweep.cuh) or by hulls (unresolved.cuh).
#pragma once

#include "exact/gpu/sites/points.cuh"
#include "exact/gpu/tiles/square.cuh"

namespace nearfield::exact {
namespace {

constexpr int sites_per_10000 = 60;  // from this share on, steps cost less than lists
constexpr std::int32_t widest_gap =
    32;  // distance of the middle of 32 rows from their nearest site beyond which steps cannot finish

/// Packed lines and their nearest sites: a row's offset to the left is negative.
struct site_words : word_lines {
    bool uses_pivots = false;  ///< unresolved windows are solved between pivot rows; their list then names images

    __device__ static std::int32_t value(std::int32_t loaded) { return loaded * loaded; }

    class reader {
    public:
        __device__ reader(const site_words& of, const word_group& group, int lane)
            : words_(of.words(group)), bit_(lane) {}
        __device__ std::int32_t load(std::int64_t row) const {
            const line_word word = words_[row];
            return word.any() ? word.to_site(bit_) : none;
        }
        __device__ static bool is_site(std::int32_t loaded) { return loaded != none; }
        __device__ static offset site(std::int32_t loaded) { return {loaded, 0}; }

    private:
        static constexpr std::int32_t none = 1 << 20;
        const line_word* words_;
        int bit_;
    };

    template <ending End>
    __device__ site_target<End, 1> target(const metric<std::int32_t>& m, std::uint32_t* next, const site_sink& to,
                                          const word_group& group, int lane) const {
        const auto length = static_cast<std::int32_t>(lines.length);
        const std::int32_t x = group.x + lane;
        return {m, to, next,   first_cell(group, lane), x, static_cast<std::int32_t>(pitch),
                x, 0,  length, words_beyond(to.limit)};
    }
};

/// Lines with the states of the second axis.
struct site_states : pass_lines {
    const std::uint32_t* cells;

    __device__ static std::int32_t value(std::int32_t loaded) {
        const offset to = reader::site(loaded);
        return to.dx * to.dx + to.dy * to.dy;
    }

    class reader {
    public:
        __device__ reader(const site_states& of, const value_group& group, int lane)
            : cells_(of.cells + of.state_cell(group, lane)), inner_(of.g.inner) {}
        __device__ std::int32_t load(std::int64_t row) const { return static_cast<std::int32_t>(cells_[row * inner_]); }
        __device__ static bool is_site(std::int32_t loaded) {
            return static_cast<std::uint32_t>(loaded) != empty_state;
        }
        __device__ static offset site(std::int32_t loaded) {
            return offset_of_state(static_cast<std::uint32_t>(loaded));
        }

    private:
        const std::uint32_t* cells_;
        std::int64_t inner_;
    };

    template <ending End>
    __device__ site_target<End, 2> target(const metric<std::int32_t>& m, std::uint32_t*, const site_sink& to,
                                          const value_group& group, int lane) const {
        const std::int64_t column = group.number * cuda::warp + lane;
        const auto here = static_cast<std::int32_t>(in_fields(column - quotient(column, g.inner) * g.inner));
        const auto width = static_cast<std::int32_t>(m.size[m.rank - 1]);
        return {m,
                to,
                nullptr,
                first_cell(group, lane),
                here,
                static_cast<std::int32_t>(inner()),
                here % width,
                here / width,
                width,
                words_beyond(to.limit)};
    }
};

/// Shared memory of a warp: the source of its strip, then its edges, then lists of sites.
template <int Rows>
union warp_memory {
    uint4 words[Rows + 2 * strip_halo];
    strip_edges edges;
    site_lists points;
};
template <int Rows>
inline constexpr int warp_pitch = sizeof(warp_memory<Rows>) / sizeof(std::uint32_t);

/// Prepares the strip's rows of words for all lanes, and counts its own sites; a wide gap counts as a large negative
/// number.
template <int Rows>
__device__ int ready_words(const line_word* words, const block_rows& b, uint4* ready) {
    constexpr int all = Rows + 2 * strip_halo;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, first = b.strip_start() - strip_halo;
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < all; i += cuda::warp) {
        const int row = first + i + lane, end = min(b.rows, first + all);
        const line_word word = row >= 0 && row < end ? words[row] : word_without_sites();
        if (i + lane < all) ready[i + lane] = ready_for_lanes(word);
        if (i + lane >= strip_halo && i + lane < strip_halo + Rows) sites += __popc(word.sites);
        if (Rows >= cuda::warp && i + cuda::warp > all) continue;  // too few rows for the test
        const std::int32_t near = word.sites != 0 ? 0 : min(min(word.before(), word.after()), widest_gap);
        const std::int32_t apart = lane - min(end - first - i, cuda::warp) / 2;
        gap |=
            first + i < b.rows && !__any_sync(cuda::every_lane, near * near + apart * apart < widest_gap * widest_gap);
    }
    sites = __reduce_add_sync(cuda::every_lane, sites);
    return gap ? -1'000'000 : sites;
}

/// Returns true, in all threads, if steps are likely to finish. `counts` holds one number per warp.
__device__ inline bool many_sites(int of_strip, const block_rows& b, int width, int* counts) {
    const int warps = static_cast<int>(blockDim.x) / cuda::warp;
    if (threadIdx.x % cuda::warp == 0) counts[threadIdx.x / cuda::warp] = of_strip;
    __syncthreads();
    int sites = 0;
    for (int w = 0; w < warps; ++w) sites += counts[w];
    return sites * 10000LL >=
           static_cast<long long>(sites_per_10000) * min(b.rows - b.start, warps * b.strip_rows) * width;
}

/// Every 32nd row of the image as distances from sites: near | reach << 16 (square.cuh). They identify an unresolved
/// window before its squares search their sites, group by group of rows, each a round trip to memory: 8192^2 of a
/// diagonal then took 1.3 ms (H200, 2026-11-23).
struct sampled_rows {
    static constexpr int step = cuda::warp, most = 1024;
    static constexpr int least_winning =
        6;  ///< number of sampled rows that could win in a square: 192 rows, each with a site, exceed the list
    std::uint32_t bits[most];

    static __device__ int count_of(int rows) { return min((rows + step / 2 - 1) / step, most); }
    __device__ void fill(const line_word* words, int rows) {
        for (int i = static_cast<int>(threadIdx.x); i < count_of(rows); i += static_cast<int>(blockDim.x)) {
            const line_word word = words[i * step + step / 2];
            bits[i] = word.any() ? sited(word, 0).bits : static_cast<std::uint32_t>(far_apart) * 65537;
        }
    }
    /// True if too many sampled rows can win in the square; called by a warp.
    __device__ bool many_win(const square& here, int rows) const {
        const int count = count_of(rows);
        std::int32_t bound = no_site<std::int32_t>();
        int best = 0;
        for (int i = here.lane; i < count; i += cuda::warp) {
            const std::int32_t most = has(i) ? here.most(row_of(i)) : no_site<std::int32_t>();
            if (most < bound) bound = most, best = i;
        }
        const std::int32_t least = __reduce_min_sync(cuda::every_lane, bound);
        const auto wins = [&](std::int32_t within) {
            int mine = 0;
            for (int i = here.lane; i < count; i += cuda::warp)
                mine += has(i) && here.least(row_of(i)) <= within ? 1 : 0;
            return __reduce_add_sync(cuda::every_lane, mine);
        };
        if (least == no_site<std::int32_t>() || wins(least) < least_winning) return false;
        // The rows of the square and those beside the best one tighten the bound.
        best = __reduce_max_sync(cuda::every_lane, bound == least ? best : 0);
        std::int32_t closer = least;
        for (const int row : {here.top + here.lane, best * step + here.lane}) {
            const line_word word = row < rows ? here.words[row] : word_without_sites();
            if (word.any()) closer = min(closer, here.most(sited(word, row)));
        }
        return wins(__reduce_min_sync(cuda::every_lane, closer)) >= least_winning;
    }

private:
    __device__ bool has(int i) const { return (bits[i] & 0xffff) != far_apart; }
    __device__ sited_row row_of(int i) const { return {i * step + step / 2, bits[i]}; }
};

/// Searches the second axis. A block owns a window of 32 lines. It is over 40 lines because each method reuses the
/// warps' shared memory of the one before.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_sites_of_words(const site_words lines, const windows cut, const metric<std::int32_t> m,
                          const unresolved_tiles unresolved, const point_lists few, const bool sweeps,
                          std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    if (few.complete()) return;
    extern __shared__ uint4 shared_words[];
    __shared__ int counts[strip_warps<Rows>];
    __shared__ sampled_rows samples;
    auto* const memory = reinterpret_cast<warp_memory<Rows>*>(shared_words);
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp;
    const int width = lines.width(at.group);
    const line_word* const words = lines.words(at.group);
    const site_target<End, 1> target = lines.template target<End>(m, next, to, at.group, lane);
    warp_memory<Rows>& mine = memory[nth];
    const int sites = ready_words<Rows>(words, b, mine.words);
    if (many_sites(sites, b, width, counts) || to.limit < offset_reach) {
        strip<Rows> v;
        const nearest_in_rows nearest(static_cast<std::uint32_t>(lane));
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = nearest(mine.words[i]);
        if (finish_strips<Rows>(v, b, target, lane < width, memory[0].edges, warp_pitch<Rows>)) return;
        __syncthreads();
    } else {
        __syncwarp();
    }
    const std::int64_t owner = lines.uses_pivots ? at.group.outer : at.group.number;
    if (sweeps) return unresolved.add(owner);
    if (lines.uses_pivots) {
        samples.fill(words, b.rows);
        __syncthreads();
        const int top = b.own_from + nth * 2 * square_side;  // first row of every second square
        const bool many =
            top < b.own_to &&
            samples.many_win({words, nullptr, 0, 0, top, min(top + square_side, b.own_to) - 1, lane}, b.rows);
        if (__syncthreads_or(many)) return unresolved.add(owner);
    }
    bool fits = true;
    for (int top = b.own_from + nth * square_side; top < b.own_to && fits;
         top += static_cast<int>(blockDim.x) / cuda::warp * square_side) {
        const point_square s{words, lines.sited(at.group), b.rows, top, min(top + square_side, b.own_to) - 1, lane};
        fits = finish_points(s, mine.points, target, lane < width);
    }
    if (__syncthreads_or(!fits)) unresolved.add(owner);
}

/// Searches the third axis. A block owns a window of 32 lines.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_sites_of_states(const site_states lines, const windows cut, const metric<std::int32_t> m,
                           const unresolved_tiles unresolved, const point_lists few, const std::uint32_t beyond_steps,
                           const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t edges[];
    if (few.complete()) return;
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, width = lines.width(at.group);
    // Lanes beyond the last line read it too, but do not write.
    const int mine = min(lane, width - 1);
    const site_target<End, 2> target = lines.template target<End>(m, nullptr, to, at.group, mine);
    const int start = b.strip_start() - strip_halo;
    const std::int64_t inner = static_cast<std::int32_t>(lines.g.inner);
    const std::uint32_t* const from = lines.cells + lines.state_cell(at.group, mine) + start * inner;
    strip<Rows> v;
    if (start >= 0 && start + Rows + 2 * strip_halo <= b.rows) {
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = from[i * inner];
    } else {
#pragma unroll
        for (int i = 0; i < Rows + 2 * strip_halo; ++i)
            v[i] = start + i >= 0 && start + i < b.rows ? from[i * inner] : near_cap;
    }
#pragma unroll
    for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = min(v[i], near_cap);
    if (!finish_strips<Rows>(v, b, target, lane < width, edges, sizeof(strip_edges) / sizeof(std::uint32_t),
                             beyond_steps))
        unresolved.add(at.group.number);
}

}  // namespace
}  // namespace nearfield::exact
