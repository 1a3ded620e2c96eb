// Nearest sites of images and volumes with periodic axes in words of 32 bits: the plain search by steps (cuda_keyed.cuh), with
// the line again before and behind it. Of two equally near sites the one with the smaller own coordinate wins, not the one
// that is reached first, so a word keeps where its site is instead of how far:
//     d^2 (11 bits) | along the last axis (7) | along the one before it (7) | along the first of three (7)
// in which the axis that a pass steps along has the lowest bits. Seven bits are a coordinate less a base, modulo 128. Of all
// coordinates that can meet somewhere, which span fewer than 128, the base makes their order that of the own coordinates:
// where the end of the line lies among them it is the end, so that those beyond it, whose own coordinates are the
// smallest, come first. Cells along a line share no base; the cells of a strip do, and words that go to a neighbour's
// strip are moved to its base.
#pragma once

#include "exact/cuda_keyed_steps.cuh"

namespace nearfield::exact {
namespace {

constexpr int wrapped_reach = 31;        // farther sites are not told apart
constexpr int wrapped_steps = 28;        // so that values below 29^2 are final
constexpr int least_wrapped_line = 128;  // of a periodic axis: no two copies of a site are within reach
constexpr int wrapped_rows = 64;         // of a strip
constexpr int wrapped_halo = 4;          // rows of either neighbour, as many as steps before they are fetched again
constexpr int wrapped_words = wrapped_rows + 2 * wrapped_halo;
constexpr int wrapped_warps = 8;  // of a block, at most
constexpr int wrapped_threads = wrapped_warps * cuda::warp;
constexpr int wrapped_margin = wrapped_steps - wrapped_halo;  // rows beside a window that steps reach
constexpr std::uint32_t wrapped_one = 1u << 21, along_last = 1u << 14, along_middle = 1u << 7, seven_bits = 127;
constexpr std::uint32_t wrapped_none = wrapped_reach * wrapped_reach * wrapped_one;
static_assert((wrapped_reach * wrapped_reach + 2 * wrapped_steps) < 1 << 11, "no sum overflows");
static_assert((wrapped_steps + 1) * (wrapped_steps + 1) < wrapped_reach * wrapped_reach, "final values are told apart");
static_assert(wrapped_words + 2 * wrapped_steps <= 128, "what can meet in a strip spans fewer than 128");

/// An axis: its cells, and whether its ends meet.
struct ring {
    std::int32_t size;
    bool periodic;

    /// Base of coordinates from `from` on, fewer than 128 of them, of which some may lie beyond either end.
    __device__ std::int32_t base(std::int32_t from) const {
        if (!periodic) return from;
        return from < 0 ? 0 : from + 127 >= size ? size : from;
    }
    /// Base for all that comes to a cell of a line.
    __device__ std::int32_t base_at(std::int32_t at) const { return base(at - 64); }
    /// The coordinate within the line.
    __device__ std::int32_t own(std::int32_t at) const {
        return !periodic ? at : at < 0 ? at + size : at >= size ? at - size : at;
    }
};

/// Coordinates less a base.
__device__ inline std::uint32_t seven(std::int32_t at, std::int32_t base) {
    return static_cast<std::uint32_t>(at - base) & seven_bits;
}
/// The coordinate, within 64 of `near`, that seven bits stand for.
__device__ inline std::int32_t from_seven(std::uint32_t bits, std::int32_t base, std::int32_t near) {
    return near - 64 + static_cast<std::int32_t>((bits + static_cast<std::uint32_t>(base - near + 64)) & seven_bits);
}

/// How lines are cut into windows, each for a block of as many strips as hold it with its margins.
struct wrapped_cut {
    int windows, own, warps;
};

/// A strip of a window: rows [first, first + 64) and some beside them, of which [from, to) are written.
struct wrapped_strip {
    std::int32_t first, from, to;
    std::int32_t base;                ///< of all rows that its words can come from
    std::int32_t base_up, base_down;  ///< of the strips before and after it
    std::int32_t least, end;          ///< rows [least, end) of the strip are looked at

    __device__ wrapped_strip(const ring& along, const wrapped_cut& cut, int window) {
        const int nth = static_cast<int>(threadIdx.x) / cuda::warp, top = window * cut.own,
                  bottom = min(top + cut.own, along.size);
        first = top - wrapped_margin + nth * wrapped_rows;
        from = max(top - first, 0), to = min(bottom - first, wrapped_rows);
        const auto base_of = [&](std::int32_t start) { return along.base(start - wrapped_halo - wrapped_steps); };
        base = base_of(first), base_up = base_of(first - wrapped_rows), base_down = base_of(first + wrapped_rows);
        // No row further from the window matters.
        const std::int32_t before = top - wrapped_steps, behind = bottom + wrapped_steps;
        least = (along.periodic ? before : max(before, 0)) - first;
        end = (along.periodic ? behind : min(behind, along.size)) - first;
    }
    __device__ bool looks_at(int row) const { return row >= least && row < end; }
};

/// Words of one warp's edges, in shared memory.
using wrapped_edges = std::uint32_t[2 * wrapped_halo * cuda::warp];

__device__ inline void step_wrapped(std::uint32_t (&v)[wrapped_words], std::uint32_t weight) {
    std::uint32_t above = wrapped_none, here = v[0] + weight;
#pragma unroll
    for (int i = 0; i < wrapped_words; ++i) {
        const std::uint32_t next = i + 1 < wrapped_words ? v[(i + 1) % wrapped_words] + weight : wrapped_none;
        v[i] = __vimin3_u32(v[i], above, next);
        above = here, here = next;
    }
}

/// The same word with its lowest seven bits less another base.
__device__ inline std::uint32_t moved_to(std::uint32_t word, std::int32_t from_base, std::int32_t to_base) {
    const std::uint32_t moved = (word + static_cast<std::uint32_t>(from_base - to_base)) & seven_bits;
    return word >= wrapped_none ? wrapped_none : (word & ~seven_bits) | moved;
}

/// Fetches the rows beside the strip from the warps that have them, by way of `mine`, the warp's own edges.
template <int Pitch>
__device__ void fetch_edges(std::uint32_t (&v)[wrapped_words], const wrapped_strip& s, std::uint32_t* edges) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, nth = static_cast<int>(threadIdx.x) / cuda::warp;
    std::uint32_t* const mine = edges + nth * Pitch + lane;
#pragma unroll
    for (int i = 0; i < wrapped_halo; ++i) {
        mine[i * cuda::warp] = v[wrapped_halo + i];
        mine[(wrapped_halo + i) * cuda::warp] = v[wrapped_rows + i];
    }
    __syncthreads();
    const bool is_first = nth == 0, is_last = nth == static_cast<int>(blockDim.x) / cuda::warp - 1;
#pragma unroll
    for (int i = 0; i < wrapped_halo; ++i) {
        if (!is_first) v[i] = moved_to(mine[(wrapped_halo + i) * cuda::warp - Pitch], s.base_up, s.base);
        if (!is_last) v[wrapped_halo + wrapped_rows + i] = moved_to(mine[i * cuda::warp + Pitch], s.base_down, s.base);
    }
}

/// The strip's rows that are written; words from `final` on are none. `Short` where putting one takes few instructions.
template <bool Short, class Put>
__device__ void put_wrapped(const std::uint32_t (&v)[wrapped_words], const wrapped_strip& s, std::uint32_t final,
                            const Put& put) {
    const auto word = [final](std::uint32_t bits) { return bits < final ? bits : wrapped_none; };
    const std::int32_t first = here_and_now(s.first), from = here_and_now(s.from), to = here_and_now(s.to);
    if constexpr (Short) {
#pragma unroll
        for (int i = 0; i < wrapped_rows; ++i)
            if (i >= from && i < to) put(first + i, word(v[wrapped_halo + i]));
    } else {
        // In memory of the thread's own, so that what puts any fields stands here once and not once a row.
        std::uint32_t words[wrapped_rows];
#pragma unroll
        for (int i = 0; i < wrapped_rows; ++i) words[i] = v[wrapped_halo + i];
#pragma unroll 1
        for (int i = from; i < to; ++i) put(first + i, word(words[i]));
    }
}

/// From filled strips to finished rows, which `put(row of the line, word)` gets; false, for all threads of a block alike,
/// when steps do not suffice: values beyond `limit` do not matter, and where `All` is false none of those that are left do,
/// and are put as wrapped_none. One function, because the strip stays in registers.
template <bool All, bool Short, int Pitch, class Put>
__device__ bool finish_wrapped(std::uint32_t (&v)[wrapped_words], const wrapped_strip& s, std::int64_t limit,
                               bool writes, std::uint32_t* edges, const Put& put) {
    std::uint32_t weight = wrapped_one;
    bool written = s.from >= s.to;
    for (int k = 1;;) {
#pragma unroll 1
        for (int i = 0; i < wrapped_halo; ++i, weight += 2 * wrapped_one) step_wrapped(v, weight);
        k += wrapped_halo;
        // What is farther than the k - 1 steps that are done costs k^2 or more.
        const std::uint32_t final = static_cast<std::uint32_t>(k * k) * wrapped_one;
        const bool last = k > wrapped_steps;
        if (!written) {
            const std::int32_t from = here_and_now(s.from), to = here_and_now(s.to);
            std::uint32_t most = 0;
#pragma unroll
            for (int i = 0; i < wrapped_rows; ++i)
                if (i >= from && i < to) most = max(most, v[wrapped_halo + i]);
            const bool open = most >= final && k * k <= limit && writes;
            if (!__any_sync(cuda::every_lane, open) || (!All && last)) {
                if (writes) put_wrapped<Short>(v, s, final, put);
                written = true;
            }
        }
        if (!__syncthreads_or(!written)) return true;
        if (last) return false;
        fetch_edges<Pitch>(v, s, edges);
    }
}

}  // namespace
}  // namespace nearfield::exact
