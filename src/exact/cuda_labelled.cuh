// Nearest cells of another label in words of 32 bits: the plain search by steps (cuda_keyed_steps.cuh) from bits that say where
// labels change (cuda_options_words.cuh). A row begins with the nearest change to either side, beside which the site is. A row
// next to one of another label has a site there, of squared distance 1, which it gets after the first step: as if it had
// come from the row that has it. From there on the steps carry sites to all rows.
//
// What crosses a change of label never wins, nor ties: a row d steps away from where a word began, with a change between, has a
// cell of another label within d in its own column. The word costs d^2 and, since no row begins with less than 1, more.
// Only zeros that are sites for all begin with 0: those are sites of whatever has another label.
#pragma once

#include "exact/cuda_keyed_search.cuh"
#include "exact/cuda_options_words.cuh"

namespace nearfield::exact {
namespace {

/// Where labels change, a bit a cell and axis.
struct label_bits {
    bit_lines along_last;
    const std::uint32_t* zeros;   ///< cells that are sites for all; null: none are
    const std::uint32_t* middle;  ///< changes along the axis before the last
    const std::uint32_t* first;   ///< and before that; null in images

    [[nodiscard]] __device__ std::int64_t word(std::int64_t line, std::int32_t x) const {
        return line * along_last.words + x / mark_bits;
    }
};

/// A word of 32 cells made ready for the lanes of a warp, as nearest_in_rows reads it: instead of sites, the cells that
/// differ from the one before them and, in opposite order, from the one after them. Their sites are a cell further.
__device__ inline uint4 ready_changes(const tile_word& word) {
    constexpr std::uint32_t clipped = offset_reach + 1;
    const std::uint32_t before = word.beside & 0xffff, after = word.beside >> 16;
    return {word.bits, __brev(word.bits >> 1 | (after == 0 ? 1u << 31 : 0)), min(before + 1, clipped),
            min(after, clipped)};
}

/// The word of the search for the nearest cell of another label in the lane's row, the left one of two.
__device__ inline std::uint32_t nearest_change(const nearest_in_rows& lanes, const uint4& row) {
    const auto apart = lanes.apart(row);
    const std::uint32_t left = apart.left + 1, right = apart.right + 1;
    return min(left * (left * one_value - one_x) + no_offset * one_x,
               right * (right * one_value + one_x) + no_offset * one_x);
}
static_assert((160 * 160 + 2 * offset_reach + 1) < 1 << 15, "the farthest that a word says");

/// Of a cell beside the row: the one before it, or the one after it.
template <int Done>
constexpr std::uint32_t site_beside = one_value + no_offset * one_x + (Done == 1 ? one_y : no_offset * one_y);

/// What a strip takes in after its first step: sites in the rows beside those that differ. Bit l of `changed[i]` says that row
/// i differs from the one before it in the column of lane l; there is one number more than rows.
template <int Done>
struct takes_changes {
    const std::uint32_t* changed;

    template <int Words>
    __device__ void operator()(std::uint32_t (&v)[Words]) const {
        constexpr std::uint32_t before = site_beside<Done>;
        const std::uint32_t mine = 1u << threadIdx.x % cuda::warp;
        bool differs = (changed[0] & mine) != 0;
#pragma unroll
        for (int i = 0; i < Words; ++i) {
            if (differs) v[i] = min(v[i], before);
            differs = (changed[i + 1] & mine) != 0;
            if (differs) v[i] = min(v[i], before + moved_back);
        }
    }
};

/// Shared memory of a warp: what its strip is filled from, then its edges.
template <int Rows>
struct label_memory {
    union {
        uint4 words[Rows + 2 * strip_halo];
        strip_edges edges;
    };
    std::uint32_t zeros[Rows + 2 * strip_halo], changed[Rows + 2 * strip_halo + 1];
};
template <int Rows>
inline constexpr int label_pitch = sizeof(label_memory<Rows>) / sizeof(std::uint32_t);
/// The same of the third axis.
template <int Rows>
struct label_edges {
    strip_edges edges;
    std::uint32_t changed[Rows + 2 * strip_halo + 1];
};
template <int Rows>
inline constexpr int label_edges_pitch = sizeof(label_edges<Rows>) / sizeof(std::uint32_t);

/// A block a window of 32 lines of the second axis.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_label_words(const site_words lines, const __grid_constant__ label_bits bits, const windows cut,
                       const metric<std::int32_t> m, std::int32_t* refused, std::uint32_t* next, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ uint4 shared_words[];
    if (__syncthreads_or(*static_cast<volatile std::int32_t*>(refused))) return;
    auto* const memory = reinterpret_cast<label_memory<Rows>*>(shared_words);
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, width = lines.width(at.group);
    label_memory<Rows>& mine = memory[threadIdx.x / cuda::warp];
    constexpr int all = Rows + 2 * strip_halo;
    const std::int64_t first_line = at.group.outer * lines.rows() + b.strip_start() - strip_halo;
    for (int i = lane; i <= all; i += cuda::warp) {
        const int row = b.strip_start() - strip_halo + i;
        const bool within = row >= 0 && row < b.rows;
        const std::int64_t word = bits.word(first_line + i, at.group.x);
        mine.changed[i] = within ? bits.middle[word] : 0;
        if (i == all) continue;
        mine.zeros[i] = within && bits.zeros != nullptr ? bits.zeros[word] : 0;
        mine.words[i] = ready_changes(within ? near_word_in(bits.along_last, first_line + i, at.group.x / mark_bits)
                                             : tile_word{0, twice(farthest_bit)});
    }
    __syncwarp();
    const nearest_in_rows lanes(static_cast<std::uint32_t>(lane));
    strip<Rows> v;
#pragma unroll
    for (int i = 0; i < all; ++i) v[i] = nearest_change(lanes, mine.words[i]);
    if (bits.zeros != nullptr) {
#pragma unroll
        for (int i = 0; i < all; ++i)
            if (mine.zeros[i] >> lane & 1) v[i] = no_offset * one_x;
    }
    const site_target<End, 1> target = lines.template target<End>(m, next, to, at.group, lane);
    if (!finish_strips<Rows>(v, b, target, lane < width, memory[0].edges, label_pitch<Rows>,
                             takes_changes<1>{mine.changed}) &&
        threadIdx.x == 0)
        *refused = 1;
}

/// A warp's columns of so many planes from plane `start` on, for takes_changes.
template <int Rows, class Target>
__device__ void put_changes_of_planes(const label_bits& bits, const Target& target, int start, int planes,
                                      std::uint32_t* changed) {
    constexpr int count = Rows + 2 * strip_halo + 1;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    const std::int64_t line = quotient(target.first - target.x, target.width),
                       pitch = quotient(target.inner, target.width) * bits.along_last.words;
    const std::uint32_t* const mine = bits.first + bits.word(line, target.x);
    const auto at = [&](int i) {
        const int plane = start + i;
        return plane >= 0 && plane < planes ? mine[plane * pitch] : 0;
    };
    if (target.width % mark_bits == 0) {
        for (int i = lane; i < count; i += cuda::warp) changed[i] = at(i);
    } else {
        for (int i = 0; i < count; ++i) {
            const std::uint32_t both = __ballot_sync(cuda::every_lane, at(i) >> target.x % mark_bits & 1);
            if (lane == 0) changed[i] = both;
        }
    }
    __syncwarp();
}

/// A block a window of 32 lines of the third axis.
template <int Rows, ending End>
__global__ void __launch_bounds__(strip_threads<Rows>, 1)
    search_label_states(const site_states lines, const __grid_constant__ label_bits bits, const windows cut,
                        const metric<std::int32_t> m, std::int32_t* refused, const site_sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ std::uint32_t shared_edges[];
    if (__syncthreads_or(*static_cast<volatile std::int32_t*>(refused))) return;
    const auto at = lines.place(cut, blockIdx.x);
    const block_rows b(cut, at.window, lines.rows(), Rows);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, width = lines.width(at.group);
    // Lanes beyond the last line read it too, but do not write.
    const site_target<End, 2> target = lines.template target<End>(m, nullptr, to, at.group, min(lane, width - 1));
    const int start = b.strip_start() - strip_halo;
    auto* const memory = reinterpret_cast<label_edges<Rows>*>(shared_edges);
    const auto within = [&](int i) { return start + i >= 0 && start + i < b.rows; };
    label_edges<Rows>& mine = memory[threadIdx.x / cuda::warp];
    put_changes_of_planes<Rows>(bits, target, start, b.rows, mine.changed);
    const std::uint32_t* const from = lines.cells + target.first + target.row_at(start);
    strip<Rows> v;
#pragma unroll
    for (int i = 0; i < Rows + 2 * strip_halo; ++i) v[i] = within(i) ? min(from[target.row_at(i)], near_cap) : near_cap;
    if (!finish_strips<Rows>(v, b, target, lane < width, memory[0].edges, label_edges_pitch<Rows>,
                             takes_changes<2>{mine.changed}) &&
        threadIdx.x == 0)
        *refused = 1;
}

}  // namespace
}  // namespace nearfield::exact
