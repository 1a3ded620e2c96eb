// Nearest sites of images and volumes with periodic axes in words of 32 bits: the plain search by steps (cuda_keyed.cuh), with
// the line again before and behind it. Of two equally near sites the one with the smaller own coordinate wins, not the one
// that is reached first. A word is, from its highest bits on,
//     d^2 (13) | class of x (1) | dx + 64 (7) | rows moved (8) | way (3)                         along the second axis,
//     d^2 (13) | class of x (1) | dx + 64 (7) | class of y (1) | dy + 64 (7) | way (3)           along the third.
// A class puts those sites where their own coordinates stand that a cell reaches over an end: they are the largest of the axis for
// cells near its first end, 1 and others 0, and the smallest for those near the last, 0 and others 1. The way of a word is 2 at
// first; that it comes from the row before adds 1, from the row after 2, over the last end and so from the largest
// coordinates 2 more, over the first one 2 less: 2 over the last end from before, 3 from before, 4 from after, 5 over the
// first end. All of these are sums along a word's way, so that minima still find the least sum.
#pragma once

#include "exact/cuda_keyed_steps.cuh"

namespace nearfield::exact {
namespace {

constexpr int wrapped_reach = 58;        // farther sites are not told apart
constexpr int wrapped_steps = 57;        // so that values below 58^2 are final
constexpr int least_wrapped_line = 128;  // of a periodic axis: no two copies of a site are within reach
constexpr int wrapped_rows = 64;         // of a strip
constexpr int wrapped_words = wrapped_rows + 2 * strip_halo;
constexpr int wrapped_warps = 16;  // of a block, at most
constexpr int wrapped_threads = wrapped_warps * cuda::warp;
constexpr int wrapped_margin = 28;  // rows beside a window, at least
constexpr std::uint32_t wrapped_one = 1u << 19, wrapped_class = 1u << 18, wrapped_x = 1u << 11,
                        wrapped_class_y = 1u << 10, wrapped_y = 1u << 3;
constexpr std::uint32_t no_way = 2, ways = 7, from_before = 1, over_an_end = 2;
constexpr std::uint32_t wrapped_none = wrapped_reach * wrapped_reach * wrapped_one;
constexpr std::int32_t wrapped_bias = 64;  // of offsets
static_assert(wrapped_steps % strip_halo == 0 && wrapped_steps < wrapped_bias, "offsets have 7 bits");
static_assert((wrapped_reach + 1 + 31) * (wrapped_reach + 1 + 31) < 1 << 13, "the farthest that a word says");
static_assert(wrapped_reach * wrapped_reach + 2 * wrapped_reach < 1 << 13, "no sum wraps");
static_assert(2 * wrapped_reach < least_wrapped_line && wrapped_reach < wrapped_bias, "one copy of a site, in 7 bits");

/// An axis: its cells, and whether its ends meet.
struct ring {
    std::int32_t size;
    bool periodic;

    /// What sites over an end are told by: cells near the first end, and near the last one.
    __device__ bool near_first(std::int32_t at) const { return periodic && at < wrapped_reach; }
    __device__ bool near_last(std::int32_t at) const { return periodic && at + wrapped_reach >= size; }
    __device__ bool near_end(std::int32_t at) const { return near_first(at) || near_last(at); }
    /// The coordinate within the line.
    __device__ std::int32_t own(std::int32_t at) const {
        return !periodic ? at : at < 0 ? at + size : at >= size ? at - size : at;
    }
    /// The class of a site at `at`, which may lie beyond the ends, as a cell at `from` tells it.
    __device__ bool class_of(std::int32_t from, std::int32_t at) const {
        return periodic && (at < 0 || (near_last(from) && at < size));
    }
};

/// How lines are cut: into windows of `own` rows, each for a block of so many strips. A closed one is a whole periodic line whose
/// last strip is beside its first one.
struct wrapped_cut {
    int windows, own, warps, margin, steps;
    bool closed;
};

/// A strip of a window: rows [first, first + 64) and some beside them, of which [from, to) are written.
struct wrapped_strip {
    ring along;
    std::int32_t first, from, to;
    bool closed;
    int steps;  ///< that are exact

    __device__ wrapped_strip(const ring& along, const wrapped_cut& cut, int window)
        : along(along), closed(cut.closed), steps(cut.steps) {
        const int top = window * cut.own, bottom = min(top + cut.own, along.size);
        first = top - cut.margin + static_cast<int>(threadIdx.x) / cuda::warp * wrapped_rows;
        from = max(top - first, 0), to = min(bottom - first, wrapped_rows);
    }
    /// Where there is a row, be it over an end.
    __device__ bool has(std::int32_t row) const { return along.periodic || (row >= 0 && row < along.size); }
    /// All rows of the strip and of its neighbours' are between the ends.
    __device__ bool inside() const { return first >= strip_halo && first + wrapped_rows + strip_halo <= along.size; }
    /// Some rows' sites may be over an end.
    __device__ bool at_seam() const {
        return along.periodic && (first < wrapped_reach || first + wrapped_rows + wrapped_reach > along.size);
    }
    /// Rows that count for when to stop.
    __device__ int counting() const { return along.periodic ? wrapped_rows : min(along.size - first, wrapped_rows); }
};

/// Set where steps do not suffice; `early` where that may show before all is done.
struct wrapped_flag {
    std::int32_t* refused;
    bool early;

    /// For all threads of a block alike.
    __device__ bool is_set() const {
        return __syncthreads_or(threadIdx.x == 0 ? *static_cast<volatile std::int32_t*>(refused) : 0) != 0;
    }
    __device__ void set() const {
        if (threadIdx.x == 0) *refused = 1;
    }
    __device__ void set_now() const { *refused = 1; }
};

/// Gives words of rows over an end their way.
__device__ inline void mark_ends(strip<wrapped_rows>& v, const wrapped_strip& s) {
    if (s.inside()) return;
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i) {
        const int row = s.first - strip_halo + i;
        if (row < 0) v[i] += over_an_end;
        else if (row >= s.along.size) v[i] -= over_an_end;
    }
}

template <bool First>
__device__ void step_wrapped(strip<wrapped_rows>& v, std::uint32_t weight) {
    std::uint32_t above = wrapped_none, here = v[0] + weight;
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i) {
        const std::uint32_t next = i + 1 < wrapped_words ? v[(i + 1) % wrapped_words] + weight : wrapped_none;
        v[i] = __vimin3_u32(v[i], above, First ? next + from_before : next);
        above = here, here = next;
    }
}

/// Fetches the rows beside the strip from the warps that have them. `edges`: 2 * strip_halo rows for each warp.
template <int Pitch>
__device__ void exchange_wrapped(strip<wrapped_rows>& v, const wrapped_strip& s, std::uint32_t* edges) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp,
              last = static_cast<int>(blockDim.x) / cuda::warp - 1;
    std::uint32_t* const mine = edges + nth * Pitch + lane;
#pragma unroll
    for (int i = 0; i < strip_halo; ++i) {
        mine[i * cuda::warp] = v[strip_halo + i];
        mine[(strip_halo + i) * cuda::warp] = v[wrapped_rows + i];
    }
    __syncthreads();
    const bool over_first = nth == 0, over_last = nth == last;
    if (!over_first || s.closed) {
        const std::uint32_t* const above = over_first ? mine + last * Pitch : mine - Pitch;
        const std::uint32_t way = over_first ? over_an_end : 0;
#pragma unroll
        for (int i = 0; i < strip_halo; ++i) v[i] = above[(strip_halo + i) * cuda::warp] + way;
    }
    if (!over_last || s.closed) {
        const std::uint32_t* const below = over_last ? mine - last * Pitch : mine + Pitch;
        const std::uint32_t way = over_last ? over_an_end : 0;
#pragma unroll
        for (int i = 0; i < strip_halo; ++i) v[strip_halo + wrapped_rows + i] = below[i * cuda::warp] - way;
    }
}

/// Of every fourth row.
__device__ inline bool some_word_below(const strip<wrapped_rows>& v, std::uint32_t bound) {
    std::uint32_t least = UINT32_MAX;
#pragma unroll
    for (int i = 0; i < wrapped_rows; i += 4) least = min(least, v[strip_halo + i]);
    return least < bound;
}

/// From filled strips to finished rows of the lanes that write; false, for all threads of a block alike, when steps do not
/// suffice. Where the target is a state, words that are not final are put as wrapped_none then. One function, because the strip
/// stays in registers.
template <int Pitch, class Target>
__device__ bool finish_wrapped(strip<wrapped_rows>& v, const wrapped_strip& s, const Target& target, bool writes,
                               std::uint32_t* edges, const wrapped_flag& flag) {
    bool settled = false, written = s.from >= s.to;
    std::uint32_t weight = wrapped_one + (Target::done == 1 ? wrapped_y : 0);
    for (int k = 1, round = 0;; ++round) {
        // A strip that is not settled has done k - 1 steps: what is farther costs k^2 or more.
        const bool over = (round + 1) * strip_halo > s.steps;
        int steps = 1;
        if (!settled) {
            const std::uint32_t final = static_cast<std::uint32_t>(k * k) * wrapped_one;
            const std::uint32_t mine = writes ? largest_word<wrapped_rows>(v, here_and_now(s.counting())) : 0;
            const std::uint32_t most = __reduce_max_sync(cuda::every_lane, mine);
            settled = most < final || k * k > target.to.limit;
            bool open = !settled && !written;
            if (open && (s.from > 0 || s.to < s.counting()))
                open = __any_sync(cuda::every_lane, writes && largest_word<wrapped_rows>(v, here_and_now(s.from),
                                                                                         here_and_now(s.to)) >= final);
            if (!written && (!open || (over && Target::ends == ending::state))) {
                // Where nothing is final there are too few sites for so few steps.
                if (open && flag.early && !__any_sync(cuda::every_lane, writes && some_word_below(v, final)))
                    flag.set_now();
                if (writes) target.put_words(v + strip_halo, s, open, final);
                written = true;
            }
#pragma unroll
            for (int i = 1; i < strip_halo; ++i)
                steps += static_cast<std::uint32_t>((k + i) * (k + i)) * wrapped_one <= most ? 1 : 0;
        }
        if (round > 0) {
            if (!__syncthreads_or(!written)) return true;
            if (over) return false;
            exchange_wrapped<Pitch>(v, s, edges);
        }
        if (settled) continue;
        if (k == 1) {
            step_wrapped<true>(v, weight + from_before);
            ++k, --steps, weight += 2 * wrapped_one;
        }
#pragma unroll 1
        for (; steps > 0; --steps, ++k, weight += 2 * wrapped_one) step_wrapped<false>(v, weight);
    }
}

}  // namespace
}  // namespace nearfield::exact
