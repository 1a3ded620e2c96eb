// The pass after packed lines (words.cuh). A block owns a window of 32 lines. If the tile has enough sites, it takes 16
// bits and a few steps (tile.cuh). If sites are few, a warp takes 32 rows of the 32 lines at a time and relaxes them
// with the rows with sites that could win there (square.cuh), of the whole image if those are few, else of the window
// and some rows beside it. Unresolved windows are finished between pivot rows (between.cuh, posts.cuh).
#pragma once

#include "exact/gpu/tiles/square.cuh"

namespace nearfield::exact {
namespace {

constexpr int dense_per_10000 = 40;  // share of sites from which steps cost less than gathering
constexpr int listed_rows = 2048;    // largest number of rows with sites
constexpr int listed_beside = 512;   // rows beside a window whose sites are listed if not all are
static_assert(bit_rows + 2 * listed_beside <= listed_rows);

/// The rows with sites among the rows [from, end), in order.
struct row_list {
    const sited_row* at;
    const std::int32_t* before;  ///< number of such rows of the image before row 32 * i
    int count;
    int from, end;

    /// Returns the place in the list of the first row from `row`, a multiple of 32, on.
    __device__ int place(int row) const { return before[row / cuda::warp] - before[from / cuda::warp]; }
    /// True if no row outside the list can win in the square.
    __device__ bool settles(const square& s, const window& w, int line_rows) const {
        const std::int32_t up = s.rows_to(from - 1), down = s.rows_to(end);
        return (from == 0 || up * up > w.bound) && (end == line_rows || down * down > w.bound);
    }
};

/// Sums the bits of up to threads * 4 words: sums[i] counts those before word i, for i up to `words`. `counts` holds
/// one number per warp. Ends with a barrier.
template <int Threads>
__device__ void add_up_bits(const std::uint32_t* bits, int words, std::int32_t* sums, int* counts) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int share = (words + Threads - 1) / Threads, first = static_cast<int>(threadIdx.x) * share;
    int mine = 0;
    for (int i = first; i < min(first + share, words); ++i) mine += __popc(bits[i]);
    int upto = mine;
    for (int o = 1; o < cuda::warp; o *= 2) {
        const int other = __shfl_up_sync(cuda::every_lane, upto, o);
        if (lane >= o) upto += other;
    }
    if (lane == cuda::warp - 1) counts[warp] = upto;
    __syncthreads();
    int sum = upto - mine;
    for (int w = 0; w < warp; ++w) sum += counts[w];
    for (int i = first; i < min(first + share, words); ++i) sums[i] = sum, sum += __popc(bits[i]);
    if (first < words && first + share >= words) sums[words] = sum;
    __syncthreads();
}

/// Makes the list for a window of a tile whose words are `words`, in `memory`; `sited` says which rows of the image
/// have sites.
template <int Pairs>
__device__ row_list list_sited_rows(const line_word* words, const std::uint32_t* sited, const tile_rows& r,
                                    int line_rows, int* counts, std::uint32_t* memory) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const int groups = (line_rows + cuda::warp - 1) / cuda::warp;
    auto* const before = reinterpret_cast<std::int32_t*>(memory);
    auto* const list = reinterpret_cast<sited_row*>(memory + (groups + 2) / 2 * 2);
    add_up_bits<tile_threads<Pairs>>(sited, groups, before, counts);
    row_list rows{list, before, before[groups], 0, line_rows};
    if (rows.count > listed_rows) {
        rows.from = max(r.first + r.from - listed_beside, 0),
        rows.end = min(r.first + r.end + listed_beside, line_rows);
        rows.count = before[(rows.end + cuda::warp - 1) / cuda::warp] - before[rows.from / cuda::warp];
    }
    for (int group = rows.from / cuda::warp + warp; group * cuda::warp < rows.end; group += tile_warps<Pairs>) {
        const std::uint32_t filled = sited[group];
        const int row = group * cuda::warp + lane;
        if (filled >> lane & 1)
            list[rows.place(group * cuda::warp) + __popc(filled & ((1u << lane) - 1))] = exact::sited(words[row], row);
    }
    __syncthreads();
    return rows;
}

/// True if samples of rows are tested before they are listed, which short lines do not need.
template <int Pairs>
inline constexpr bool tests_samples = Pairs >= 128;
constexpr int sample_step = 8;
// Threshold of winning rows among 64 samples: three times as many rows as may relax a square; fewer if unresolved
// tiles are finished in shared memory: tiles of 512^3 with balls take 0.256 and 0.129 ms, random sites of 0.3 % 1.01
// and 1.04; with 6 0.076 and 1.06 (H200, 2026-11-23).
constexpr int unresolved_samples = 24, unresolved_samples_short = 8;

/// Every eighth row of a tile as distances from sites: near | reach << 16. They identify an unresolved tile before its
/// rows are listed.
template <int Pairs>
struct row_samples {
    static constexpr int count = 2 * Pairs / sample_step;
    std::uint32_t bits[count];

    __device__ void put(const line_word& word, int row) {
        if (row % sample_step == sample_step / 2)
            bits[row / sample_step] =
                word.any() ? sited(word, row).bits : static_cast<std::uint32_t>(far_apart) * 65537;
    }
    /// True if at least `many` sampled rows could win in the square that begins at row `top` of the tile, so that it
    /// will not be relaxed with all of them. Called by a warp.
    __device__ bool many_win(int top, int many) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, middle = (top + square_rows / 2) / sample_step;
        const square here{nullptr, nullptr, 0, 0, top, top + square_rows - 1, lane};
        std::int32_t most = no_site<std::int32_t>(), least[2];
#pragma unroll
        for (int side = 0; side < 2; ++side) {
            const int at = side == 0 ? middle - 1 - lane : middle + lane;
            least[side] = no_site<std::int32_t>();
            if (at < 0 || at >= count) continue;
            const sited_row row{at * sample_step + sample_step / 2, bits[at]};
            if (row.near() == far_apart) continue;
            least[side] = here.least(row), most = min(most, here.most(row));
        }
        const std::int32_t bound = __reduce_min_sync(cuda::every_lane, most);
        int wins = 0;
#pragma unroll
        for (const std::int32_t one : least)
            wins += __popc(__ballot_sync(cuda::every_lane, one < no_site<std::int32_t>() && one <= bound));
        return wins >= many;
    }
};

/// Returns, in all threads, a lower bound of the steps that the tile needs, from its share of sites (a test of whether
/// they suffice costs nearly as much as a step). Returns 0 if sites are few, or if steps could not finish because of a
/// wide gap, seen from the middle of every second 32 rows (in short lines, of all). `counts` holds one number per warp.
/// Fills `samples` for tiles that use them.
template <int Pairs>
__device__ int least_steps(const line_word* words, int rows, int width, int* counts, row_samples<Pairs>& samples) {
    constexpr int groups = (2 * tile<Pairs>::half + tile_threads<Pairs> - 1) / tile_threads<Pairs>;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    int sites = 0;
    bool gap = false;
#pragma unroll
    for (int i = 0; i < groups; ++i) {
        const int row = static_cast<int>(threadIdx.x) + i * tile_threads<Pairs>, top = row - lane;
        const line_word word = row < rows ? words[row] : word_without_sites();
        sites += __popc(word.sites);
        if constexpr (tests_samples<Pairs>)
            if (row < 2 * Pairs) samples.put(word, row);
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

/// Solves tiles: by steps, else by gathering candidates, else it adds them to the list. A block owns a tile. It is over
/// 40 lines because each method reuses the tile's shared memory and barriers of the one before.
template <int Pairs, bool Last>
__global__ void __launch_bounds__(tile_threads<Pairs>, tile_blocks<Pairs>)
    search_words(const word_lines lines, const windows cut, const unresolved_tiles unresolved,
                 const value_sink<Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t tile_words[];
    __shared__ int counts[cuda::warp];
    __shared__ row_samples<Pairs> samples;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto at = lines.place(cut, blockIdx.x);
    const line_word* const words = lines.words(at.group);
    tile_rows r = rows_of<Pairs>(cut, at.window, lines.rows());
    r.half = lines.lines.half;
    const int width = lines.width(at.group);
    const tile_target<Last> target{to, lines.first_cell(at.group, lane), static_cast<std::int32_t>(lines.inner()),
                                   width};
    // Within a limit below the cap steps always finish.
    const int steps =
        to.limit < cap ? first_check : least_steps<Pairs>(words + r.first, r.rows, width, counts, samples);
    if (steps > 0) {
        const tile<Pairs> t{tile_words};
        if constexpr (Last) fill_roots(t, to);
        fill_from_words(t, words + r.first, r.rows, r.half);
        if (finish_tile(t, target, r, steps)) return;
    } else if constexpr (tests_samples<Pairs>) {
        bool many = false;
        for (int top = r.from + warp * square_rows; top < r.end; top += tile_warps<Pairs> * square_rows)
            many |= samples.many_win(top, cut.count == 1 ? unresolved_samples_short : unresolved_samples);
        if (__syncthreads_or(many)) return unresolved.add(at.group.outer);
    }
    __syncthreads();
    const row_list list = list_sited_rows<Pairs>(words, lines.sited(at.group), r, lines.rows(), counts, tile_words);
    const int begin = r.first + r.from, end = r.first + r.end;
    constexpr int step = tile_warps<Pairs> * square_rows;
    constexpr int most_squares = (2 * tile<Pairs>::half + step - 1) / step;  // squares of a warp
    const auto square_at = [&](int top) {
        return square{words, list.at, list.count, list.place(top), top, min(top + square_rows, end) - 1, lane, r.half};
    };
    __shared__ window windows[tile_warps<Pairs>][most_squares];
    int candidates = 0, squares = 0;
    bool fits = true;
#pragma unroll
    for (int i = 0; i < most_squares; ++i) {
        const int top = begin + warp * square_rows + i * step;
        if (top >= end) break;
        const square s = square_at(top);
        const window w = s.look();
        if (lane == 0) windows[warp][i] = w;
        const int here = w.bound <= largest_bound ? s.count_candidates(w) : 0;
        candidates += here, ++squares;
        const bool none = list.count == 0 && list.end - list.from == lines.rows();
        fits &= none || (here <= most_candidates && w.bound <= largest_bound && list.settles(s, w, lines.rows()));
    }
    if (__syncthreads_or(!fits || candidates > squares * many_candidates)) {
        if constexpr (relaxes_all_rows<Pairs>) {
            const word_lines::reader line(lines, at.group, lane);
            return relax_all_rows<tile_warps<Pairs>>(tile_words, r.rows, target, [&](int row) {
                const std::int32_t apart = line.load(row);
                return word_lines::reader::is_site(apart) ? apart * apart : no_site<std::int32_t>();
            });
        } else {
            return unresolved.add(at.group.outer);
        }
    }
    static_assert(most_squares <= 2);
#pragma unroll 1
    for (int i = 0; i < squares; ++i)
        finish_square(square_at(begin + warp * square_rows + i * step), windows[warp][i], target);
}

}  // namespace
}  // namespace nearfield::exact
