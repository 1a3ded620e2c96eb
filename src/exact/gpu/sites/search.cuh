// The kernel that searches nearest sites in words (site_words.cuh): the second axis from packed lines (words.cuh), the
// third from the state of the second. Windows with few sites, and others that steps leave unresolved, are solved
// between pivot rows (launch.cuh), by a sweep or by hulls (unresolved.cuh).
//
// It steps in registers: a lane owns a line, a warp a strip of rows of 32 lines. A strip holds a few rows of its
// neighbours on either side, as many as steps are done before they are fetched again: at first each warp reads them
// from memory, later from the neighbouring warps. Images with many sites finish before that. Lines longer than a
// block's strips are searched in windows. Blocks overlap by a margin, which is searched but not written and which
// limits the steps that are exact.
#pragma once

#include "exact/gpu/ground/line_pass.hpp"
#include "exact/gpu/sites/site_words.cuh"

namespace nearfield::exact {
namespace {

// Rows of a strip. With 32 rows the share of the halo doubles: 512^3 at 10 % takes 0.91 ms, with 64 rows 0.82.
// Small problems have too few warps for 64.
constexpr int long_strip = 64, small_strip = 16;
// 2, 3 and 4 rows: 512^3 took 0.747, 0.701 and 0.733 ms at 10 %, 0.638, 0.653 and 0.670 at 50 %, 0.932, 0.884 and 0.884
// at 1 % (H200, 2026-11-22): fewer rows repeat less work, but are fetched more often.
constexpr int strip_halo = 3;
template <int Rows>
using strip = std::uint32_t[Rows + 2 * strip_halo];
template <int Rows>
inline constexpr int strip_warps = Rows > small_strip ? 16 : 32;  // largest number of warps of a block
template <int Rows>
inline constexpr int strip_threads = strip_warps<Rows> * cuda::warp;
constexpr int least_margin = 28;  // fewest rows beside a window: with the strip's own, 31 steps
using strip_edges = std::uint32_t[2 * strip_halo * cuda::warp];  ///< rows of one warp, in shared memory
// Rounds of steps, 9 steps, after which a warp with at least this many lanes of capped values gives up.
constexpr int stop_after_rounds = 3, least_capped_columns = 12;

/// A block's rows of its lines: as many strips as it has warps; a window of them is written.
struct block_rows {
    int rows;              ///< rows of a line
    int start;             ///< first row of the first strip
    int own_from, own_to;  ///< rows that are written
    int steps;             ///< steps that are exact
    int strip_rows;

    __device__ block_rows(const windows& cut, int nth, int line_rows, int strip_rows)
        : rows(line_rows),
          own_from(nth * cut.rows),
          own_to(min(own_from + cut.rows, line_rows)),
          strip_rows(strip_rows) {
        const int span = static_cast<int>(blockDim.x) / cuda::warp * strip_rows;
        start = max(own_from - (span - cut.rows) / 2, 0);
        steps = most_steps;
        if (start > 0) steps = min(steps, own_from - start + strip_halo);
        if (start + span < rows) steps = min(steps, start + span - own_to + strip_halo);
    }
    /// Returns the first row of the calling warp's strip.
    __device__ int strip_start() const { return start + static_cast<int>(threadIdx.x) / cuda::warp * strip_rows; }
};

template <bool First, int Words>
__device__ void step(std::uint32_t (&v)[Words], std::uint32_t weight) {
    std::uint32_t above = near_cap, here = v[0] + weight;
#pragma unroll
    for (int i = 0; i < Words; ++i) {
        const std::uint32_t next = i + 1 < Words ? v[(i + 1) % Words] + weight : near_cap;
        v[i] = __vimin3_u32(v[i], above, First ? next + moved_back : next);
        above = here, here = next;
    }
}

/// Returns the same number, but prevents the compiler from precomputing sums with it outside the loop.
__device__ inline int here_and_now(int number) {
    asm volatile("" : "+r"(number));
    return number;
}

/// Returns the largest word of the first `count` rows of a strip, the same in all lanes. A strip at a line's end is
/// read four rows at a time: row by row, 100x100x10000 took 0.84 instead of 0.67 ms, because the other strips wait for
/// it (H200, 2026-11-22).
template <int Rows>
__device__ std::uint32_t largest_word(const strip<Rows>& v, int count) {
    std::uint32_t most = 0;
    if (count >= Rows) {
#pragma unroll
        for (int i = 0; i < Rows; ++i) most = max(most, v[strip_halo + i]);
        return most;
    }
#pragma unroll
    for (int i = 0; i < Rows; i += 4) {
        const int four = min(4, Rows - i);
        if (i + four <= count) {
#pragma unroll
            for (int k = 0; k < four; ++k) most = max(most, v[strip_halo + i + k]);
        } else if (i < count) {
#pragma unroll
            for (int k = 0; k < four; ++k)
                if (i + k < count) most = max(most, v[strip_halo + i + k]);
        }
    }
    return most;
}
/// Returns the largest word of rows [from, to).
template <int Rows>
__device__ std::uint32_t largest_word(const strip<Rows>& v, int from, int to) {
    std::uint32_t most = 0;
#pragma unroll
    for (int i = 0; i < Rows; ++i)
        if (i >= from && i < to) most = max(most, v[strip_halo + i]);
    return most;
}

/// Fetches the rows beside the strip from the warps that own them. `edges`: 2 * strip_halo rows per warp.
template <int Rows>
__device__ void exchange_edges(strip<Rows>& v, std::uint32_t* edges, int pitch) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp;
    std::uint32_t* const mine = edges + nth * pitch + lane;
#pragma unroll
    for (int i = 0; i < strip_halo; ++i) {
        mine[i * cuda::warp] = v[strip_halo + i];
        mine[(strip_halo + i) * cuda::warp] = v[Rows + i];
    }
    __syncthreads();
    const bool first = nth == 0, last = nth == static_cast<int>(blockDim.x) / cuda::warp - 1;
#pragma unroll
    for (int i = 0; i < strip_halo; ++i) {
        if (!first) v[i] = mine[(strip_halo + i) * cuda::warp - pitch];
        if (!last) v[strip_halo + Rows + i] = mine[i * cuda::warp + pitch];
    }
}

/// Turns filled strips into finished cells of the lanes that write; returns false, in all threads of the block, if
/// steps do not suffice. Values above `limit` are ignored. It is over 40 lines because the strip stays in registers.
///
/// A strip whose words are all final takes no further steps, and its neighbours may use its rows as those of any later
/// step. A strip with open rows in the margin only goes on as long as others do.
template <int Rows, class Target>
__device__ bool finish_strips(strip<Rows>& v, const block_rows& b, const Target& target, bool writes,
                              std::uint32_t* edges, int pitch, std::uint32_t beyond_steps = near_cap) {
    const int first_row = b.strip_start();
    const int from = max(b.own_from - first_row, 0), to = min(b.own_to - first_row, Rows);
    bool settled = false, written = from >= to;
    std::uint32_t weight = one_value + (Target::done == 1 ? one_y : 0);
    for (int k = 1, round = 0;; ++round) {
        // A strip that is not settled has done k - 1 steps: sites farther away cost k^2 or more.
        int steps = 1;
        if (!settled) {
            const std::uint32_t final = static_cast<std::uint32_t>(k * k) * one_value;
            const std::uint32_t mine = writes ? largest_word<Rows>(v, here_and_now(b.rows - first_row)) : 0;
            const std::uint32_t most = __reduce_max_sync(cuda::every_lane, mine);
            settled = most < final || k * k > target.to.limit;
            bool open = !settled && !written;
            if (open && (from > 0 || to < min(Rows, b.rows - first_row)))
                open = __any_sync(cuda::every_lane,
                                  writes && largest_word<Rows>(v, here_and_now(from), here_and_now(to)) >= final);
            if (!written && !open) {
                if (writes)
                    target.template put_words<Rows>(here_and_now(first_row), v + strip_halo, here_and_now(from), to);
                written = true;
            }
#pragma unroll
            for (int i = 1; i < strip_halo; ++i)
                steps += static_cast<std::uint32_t>((k + i) * (k + i)) * one_value <= most ? 1 : 0;
            if (round == stop_after_rounds && target.to.limit >= offset_reach * offset_reach) {
                const unsigned capped = __ballot_sync(cuda::every_lane, open && mine >= beyond_steps);
                steps = __popc(capped) >= least_capped_columns ? 0 : steps;
            }
        }
        if (round > 0) {
            if (!__syncthreads_or(!written)) return true;
            if (round == stop_after_rounds && __syncthreads_or(steps == 0)) return false;
            if ((round + 1) * strip_halo > b.steps) return false;
            exchange_edges<Rows>(v, edges, pitch);
        }
        if (settled) continue;
        if (k == 1) {
            step<true>(v, weight);
            ++k, --steps, weight += 2 * one_value;
        }
#pragma unroll 1
        for (; steps > 0; --steps, ++k, weight += 2 * one_value) step<false>(v, weight);
    }
}

constexpr int sites_per_10000 = 25;  // from this share on, steps cost less than searches between pivot rows
constexpr std::int32_t widest_gap =
    32;  // distance of the middle of 32 rows from their nearest site beyond which steps cannot finish

/// Keeps a pointer in a register, so that it is not recomputed.
template <class T>
__device__ const T* kept(const T* pointer) {
    asm volatile("" : "+l"(pointer));
    return pointer;
}

/// Memory of a warp for the rows of its strip of packed lines, then for its edges.
template <int Rows>
union strip_memory {
    uint4 words[Rows + 2 * strip_halo];
    strip_edges edges;
};

/// Packed lines and their nearest sites: a row's offset to the left is negative.
struct site_words : word_lines {
    template <int Rows>
    using memory = strip_memory<Rows>;

    /// The rows of a lane's line. Sites are at most far_offsets away.
    class reader {
    public:
        using loaded = uint2;
        __device__ reader(const site_words& of, const line_group& group, int lane)
            : words_(kept(reinterpret_cast<const uint2*>(of.words(group)))), lane_(static_cast<std::uint32_t>(lane)) {}
        __device__ loaded load(int row) const { return words_[row]; }
        __device__ static bool is_site(const loaded& word) { return word.x != 0 || word.y != no_ends; }
        __device__ offset site(const loaded& word) const {
            const std::uint32_t last = 31 - lane_,
                                left = __viaddmin_u32(lane_, word.y & 0xffff, zeros_above(word.x << last)),
                                right = __viaddmin_u32(last, word.y >> 16, zeros_above(__brev(word.x) << lane_));
            return {left <= right ? -static_cast<std::int32_t>(left) : static_cast<std::int32_t>(right), 0};
        }

    private:
        const uint2* words_;
        std::uint32_t lane_;
    };

    template <ending End>
    __device__ site_target<End, 1> target(std::uint32_t* next, const site_sink& to, const line_group& group,
                                          int lane) const {
        const std::int32_t x = group.x + lane;
        return {to,
                next,
                first_cell(group, lane),
                x,
                static_cast<std::int32_t>(pitch),
                x,
                0,
                static_cast<std::int32_t>(lines.length),
                words_beyond(to.limit)};
    }
};

/// Lines with the states of the second axis.
struct site_states : pass_lines {
    template <int Rows>
    using memory = strip_edges;
    const std::uint32_t* cells;

    class reader {
    public:
        using loaded = std::uint32_t;
        __device__ reader(const site_states& of, const line_group& group, int lane)
            : cells_(kept(of.cells + of.state_cell(group, lane))), inner_(of.g.inner) {}
        __device__ loaded load(int row) const { return cells_[row * inner_]; }
        __device__ static bool is_site(loaded state) { return state != empty_state; }
        __device__ static offset site(loaded state) { return offset_of_state(state); }

    private:
        const std::uint32_t* cells_;
        std::int64_t inner_;
    };

    template <ending End>
    __device__ site_target<End, 2> target(std::uint32_t*, const site_sink& to, const line_group& group,
                                          int lane) const {
        const std::int64_t column = group.number * cuda::warp + lane;
        const auto here = static_cast<std::int32_t>(in_fields(column - quotient(column, g.inner) * g.inner)),
                   width = static_cast<std::int32_t>(length);
        return {to,           nullptr, first_cell(group, lane), here, static_cast<std::int32_t>(inner()), here % width,
                here / width, width,   words_beyond(to.limit)};
    }
};

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

/// Fills a strip from packed lines; returns false, in all threads, if steps are unlikely to finish.
template <int Rows>
__device__ bool fill_strip(strip<Rows>& v, const site_words& lines, const line_group& group, const block_rows& b,
                           strip_memory<Rows>& mine, std::int64_t limit) {
    __shared__ int counts[strip_warps<Rows>];
    const int sites = ready_words<Rows>(lines.words(group), b, mine.words);
    if (!many_sites(sites, b, lines.width(group), counts) && limit >= offset_reach) return false;
    const nearest_in_rows nearest(threadIdx.x % cuda::warp);
#pragma unroll
    for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = nearest(mine.words[i]);
    return true;
}
/// Does the same from states. Lanes beyond the last line read it too.
template <int Rows>
__device__ bool fill_strip(strip<Rows>& v, const site_states& lines, const line_group& group, const block_rows& b,
                           strip_edges&, std::int64_t) {
    const int start = b.strip_start() - strip_halo,
              mine = min(static_cast<int>(threadIdx.x) % cuda::warp, lines.width(group) - 1);
    const std::int64_t inner = static_cast<std::int32_t>(lines.g.inner);
    const std::uint32_t* const from = lines.cells + lines.state_cell(group, mine) + start * inner;
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
    return true;
}

/// Searches an axis, from `Lines`: packed lines or states. A block owns a window of 32 lines.
template <int Rows, ending End, class Lines>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_sites(const Lines lines, const windows cut, const unresolved_tiles unresolved, const std::int32_t* many,
                 const std::uint32_t beyond_steps, std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    if (gpu::are_few(many)) return;
    using memory = typename Lines::template memory<Rows>;
    extern __shared__ uint4 strip_memories[];
    auto* const of_warps = reinterpret_cast<memory*>(strip_memories);
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, width = lines.width(at.group);
    // Lanes beyond the last line do not write.
    const auto target = lines.template target<End>(next, to, at.group, min(lane, width - 1));
    strip<Rows> v;
    if (fill_strip<Rows>(v, lines, at.group, b, of_warps[threadIdx.x / cuda::warp], to.limit) &&
        finish_strips<Rows>(v, b, target, lane < width, reinterpret_cast<std::uint32_t*>(strip_memories),
                            sizeof(memory) / sizeof(std::uint32_t), beyond_steps))
        return;
    // Images, which have no state, are finished between pivot rows, so their list names images.
    constexpr bool of_images = std::is_same_v<Lines, site_words> && End != ending::state;
    unresolved.add(of_images ? at.group.outer : at.group.number);
}

}  // namespace
}  // namespace nearfield::exact
