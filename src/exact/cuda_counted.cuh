// Distances in spacings whose squares are in proportion to small integers: searched in whole numbers, which floats hold up to
// 2^24; a sum for an offer, and one instruction for the least of two sums and the best, where doubles take four an offer on
// twice the registers.
//
// The squared distance of a call is a sum of rounded terms in double, T; the same in whole numbers of a unit is N. T and
// unit * N differ by less than 2^-50 of them, so do the least of each, and their roots by half of that. A distance in
// float32 is the root rounded to 24 bits: the same for both, unless the root lies within a few units of its last place from
// the middle between two floats. Such a distance (one number in 2^25) is doubtful: it becomes NaN and goes on a list, and
// the double's way is gone for that cell alone (cuda_counted_mend.cuh).
//
// Volumes whose sites are near everywhere, as far as some cells tell, go by steps within a limit (cuda_counted_steps.cuh), whose
// second pass is below. Others and images:
//
// A warp keeps a band of 16 rows of 32 columns in registers. Of packed words a block makes the values of its bands' rows
// and of 24 beside these once, in shared memory. What a band does not find within these rows, or as a number of 2^23 or more,
// is left to the bands in double (cuda_real.cuh), whose weights are the whole numbers, so that they are exact.
#pragma once

#include "exact/cuda_counted_steps.cuh"
#include "exact/cuda_real_hard.cuh"

namespace nearfield::exact {
namespace {

constexpr int counted_rows = 16;  // of a band
constexpr int counted_batch = 4;  // rows to either side between looks at the bound
// Of words: a block 512 rows, a warp two bands of them.
constexpr int counted_blocks = 2;  // on a multiprocessor, for 64 registers a thread
constexpr int counted_bands = 2;
static_assert(counted_bands * counted_warps * counted_rows == counted_window);
// Of values.
constexpr int counted_value_warps = 8;
constexpr int counted_value_threads = counted_value_warps * cuda::warp;
constexpr int counted_value_blocks = 4;
constexpr int counted_value_window = counted_value_warps * counted_rows;
constexpr int counted_value_reach = 64;  // rows beside a band
// Of a tile's rows one in so many has sites at least, or most bands would look farther than the tile.
constexpr int few_rows = 16;
/// What rows add by their distance, from one cell on.
template <int Reach>
class counted_terms {
public:
    static constexpr int size = (Reach + counted_rows + 2 * counted_batch) / 4 * 4;

    /// By all threads of a block, which then has to wait at a barrier.
    __device__ counted_terms(float4* memory, float weight) : memory_(reinterpret_cast<float*>(memory)) {
        for (int i = static_cast<int>(threadIdx.x); i < size; i += static_cast<int>(blockDim.x)) {
            const auto cells = static_cast<float>(i + 1);
            memory_[i] = weight * (cells * cells);
        }
    }
    __device__ float at(int cells) const { return memory_[cells - 1]; }
    /// Of `cells`, one more than a multiple of four, and seven more.
    __device__ void load(int cells, float (&eight)[8]) const {
        const float4* const from = reinterpret_cast<const float4*>(memory_ + cells - 1);
        const float4 low = from[0], high = from[1];
        eight[0] = low.x, eight[1] = low.y, eight[2] = low.z, eight[3] = low.w;
        eight[4] = high.x, eight[5] = high.y, eight[6] = high.z, eight[7] = high.w;
    }

private:
    float* memory_;
};

/// A lane's column of a band.
struct counted_band {
    float best[counted_rows];  ///< 0 for what is no cell, which nothing improves; the limit for others, at first
    float bound;               ///< the largest of all lanes: what adds as much gains nothing

    /// The band's own rows, to each other.
    __device__ void offer_own(const float (&own)[counted_rows], float weight) {
#pragma unroll
        for (int i = 0; i < counted_rows; ++i) best[i] = least_of_two(best[i], own[i]);
        tighten();
#pragma unroll
        for (int apart = 1; apart < counted_rows; ++apart) {
            const float term = weight * static_cast<float>(apart * apart);
            if (term >= bound) break;
#pragma unroll
            for (int i = 0; i < counted_rows; ++i) {
                const bool before = i >= apart, behind = i + apart < counted_rows;
                const float left = before ? own[i - apart] + term : 0, right = behind ? own[i + apart] + term : 0;
                if (before && behind) best[i] = least_of_three(best[i], left, right);
                else if (before) best[i] = least_of_two(best[i], left);
                else if (behind) best[i] = least_of_two(best[i], right);
            }
            // Values of single rows bound little.
            if (apart == 2 || apart == 4 || apart == 7 || apart == 10) tighten();
        }
        tighten();
    }

    /// Four rows above and four below, from `apart` cells on.
    template <int Reach>
    __device__ void offer(const float (&above)[counted_batch], const float (&below)[counted_batch],
                          const counted_terms<Reach>& terms, int apart) {
#pragma unroll
        for (int i = 0; i < counted_rows; i += 4) {
            float term[8];
            terms.load(apart + i, term);
            if (term[0] >= bound) break;
#pragma unroll
            for (int j = 0; j < 4; ++j) {
                float& high = best[i + j];
                high = least_of_three(high, above[0] + term[j], above[1] + term[j + 1]);
                high = least_of_three(high, above[2] + term[j + 2], above[3] + term[j + 3]);
                float& low = best[counted_rows - 1 - i - j];
                low = least_of_three(low, below[0] + term[j], below[1] + term[j + 1]);
                low = least_of_three(low, below[2] + term[j + 2], below[3] + term[j + 3]);
            }
        }
    }

    /// Offers rows outward. False where that would not be enough; so many rows there are above the band and below.
    template <int Reach, class Above, class Below>
    __device__ bool offer_outward(const counted_terms<Reach>& terms, int rows_above, int rows_below, const Above& above,
                                  const Below& below) {
        for (int apart = 1;; apart += counted_batch) {
            if (terms.at(apart) >= bound || (rows_above < apart && rows_below < apart)) return bound < counted_end;
            if (apart > Reach) return false;
            float up[counted_batch], down[counted_batch];
#pragma unroll
            for (int i = 0; i < counted_batch; ++i) up[i] = above(apart + i), down[i] = below(apart + i);
            offer(up, down, terms, apart);
            tighten();
        }
    }

    __device__ void tighten() {
        int most = __float_as_int(best[0]);
#pragma unroll
        for (int i = 1; i + 1 < counted_rows; i += 2)
            most = __vimax3_s32(most, __float_as_int(best[i]), __float_as_int(best[i + 1]));
        most = max(most, __float_as_int(best[counted_rows - 1]));
        bound = __int_as_float(__reduce_max_sync(cuda::every_lane, most));
    }
};

/// Windows of 64 rows that bands in double are to do: entries of a list are group * windows + window.
struct counted_left {
    std::int32_t* count = nullptr;
    std::int32_t* list = nullptr;
    std::uint32_t* marks = nullptr;  ///< 0 at first
    int windows = 1;                 ///< of a group

    /// By a warp: `count` windows, a lane each.
    __device__ void add(std::int64_t group, int window, int count) const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
        const std::int64_t nth = group * windows + window + lane;
        const unsigned fresh = __ballot_sync(cuda::every_lane, lane < count && atomicExch(marks + nth, 1) == 0);
        if (fresh == 0) return;
        int at = 0;
        if (lane == 0) at = atomicAdd(this->count, __popc(fresh));
        at = __shfl_sync(cuda::every_lane, at, 0) + __popc(fresh & ((1u << lane) - 1));
        if (fresh >> lane & 1) list[at] = static_cast<std::int32_t>(nth);
    }
};

/// Rows that a block of words fills.
struct counted_tile {
    alignas(16) float4 terms[counted_terms<counted_halo>::size / 4];
    float values[(counted_window + 2 * counted_halo) * counted_pitch];
};

/// Bytes of shared memory of the first two passes.
template <int LaneRows>
constexpr std::size_t counted_bytes() {
    return std::max(sizeof(counted_tile),
                    LaneRows > 0 ? sizeof(float) * stepped_tile<std::max(LaneRows, 2)>::words : 0);
}

/// The first two passes: a block 512 rows of 32 lines. LaneRows is 0 where there is no limit.
template <int LaneRows, class Sink>
__global__ void __launch_bounds__(counted_threads, counted_blocks)
    count_from_words(const word_lines lines, const windows cut, float weight, float across, const counted_left left,
                     const counted_limit within_limit, const Sink to) {
    cuda::wait_for_kernel_before();
    extern __shared__ float4 counted_memory[];
    const auto at = lines.place(cut, blockIdx.x);
    if constexpr (LaneRows > 0) {
        const float limit = within_limit.get();
        if (limit < no_site<float>()) {
            const stepped_tile<LaneRows> stepped{reinterpret_cast<float*>(counted_memory)};
            return count_by_steps(stepped, lines, at, cut, weight, across, limit, to);
        }
    }
    counted_tile& tile = *reinterpret_cast<counted_tile*>(counted_memory);
    const counted_terms<counted_halo> terms(tile.terms, weight);
    const int rows = lines.rows(), top = at.window * counted_window,
              bands = min(counted_bands * counted_warps, (rows - top + counted_rows - 1) / counted_rows),
              filled = bands * counted_rows + 2 * counted_halo;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto word_of = [&](int nth) {
        const int row = top - counted_halo + nth;
        return nth < filled && row >= 0 && row < rows ? lines.words(at.group)[row] : word_without_sites();
    };
    const line_word word = word_of(static_cast<int>(threadIdx.x));
    if (__syncthreads_count(word.sites != 0) * few_rows < min(filled, counted_threads)) {
        constexpr int windows = counted_window / real_window;
        if (warp == 0) left.add(at.group.number, at.window * windows, min(windows, left.windows - at.window * windows));
        return;
    }
    if (static_cast<int>(threadIdx.x) < filled) fill_counted(word, across, tile.values + threadIdx.x * counted_pitch);
    for (int nth = static_cast<int>(threadIdx.x) + counted_threads; nth < filled; nth += counted_threads)
        fill_counted(word_of(nth), across, tile.values + nth * counted_pitch);
    __syncthreads();
    const bool within = lane < lines.width(at.group);
    for (int nth = warp; nth < bands; nth += counted_warps) {
        const int first = top + nth * counted_rows;
        const float* const mine = tile.values + (counted_halo + nth * counted_rows) * counted_pitch + lane;
        counted_band band;
        float own[counted_rows];
#pragma unroll
        for (int i = 0; i < counted_rows; ++i) {
            own[i] = mine[i * counted_pitch];
            band.best[i] = within && first + i < rows ? no_site<float>() : 0;
        }
        band.offer_own(own, weight);
        const bool found = band.offer_outward(
            terms, first, rows - first - counted_rows, [&](int apart) { return mine[-apart * counted_pitch]; },
            [&](int apart) { return mine[(counted_rows - 1 + apart) * counted_pitch]; });
        if (!found) left.add(at.group.number, first / real_window, 1);
        else if (within)
            to.put_rows(band.best, rows - first, lines.first_cell(at.group, lane) + first * lines.inner(),
                        static_cast<std::uint32_t>(lines.inner()));
    }
}

/// What that leaves, as offer_words does it: a block one window after another.
template <class Sink>
__global__ void __launch_bounds__(real_threads, real_blocks)
    offer_left_words(const word_lines lines, const pass g, int reach, const metric<double> m, const counted_left left,
                     const real_hard hard, const Sink to) {
    cuda::wait_for_kernel_before();
    const int count = *left.count;
    if (count == 0) return;
    extern __shared__ double2 left_memory[];
    const real_terms terms(reinterpret_cast<double*>(left_memory), m.weight[g.axis], reach);
    __syncthreads();
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const int entry = left.list[nth], group = entry / left.windows;
        const int top = (entry - group * left.windows) * real_window + warp * real_rows;
        offer_band_of_words(lines, lines.group_of(group), top, g, m, terms, hard, to);
    }
}

/// A later pass: a block 128 rows of 32 columns.
template <class Sink>
__global__ void __launch_bounds__(counted_value_threads, counted_value_blocks)
    count_from_values(const pass g, float weight, const std::uint32_t* cells, const counted_limit within_limit,
                      const real_hard hard, const Sink to) {
    cuda::wait_for_kernel_before();
    const float limit = within_limit.get();
    __shared__ float4 memory[counted_terms<counted_value_reach>::size / 4];
    const counted_terms<counted_value_reach> terms(memory, weight);
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp, window = quotient(blockIdx.x, groups),
                       group = blockIdx.x - window * groups;
    const int top = static_cast<int>(window) * counted_value_window + warp * counted_rows,
              rows = static_cast<int>(g.rows);
    if (top >= rows || hard.has(group)) return;
    // Lanes beyond the last column repeat it and write nothing.
    const std::int64_t column = group * cuda::warp + lane, first = g.first_cell(min(column, g.columns - 1));
    const std::uint32_t* const mine = cells + first;
    const auto inner = static_cast<std::uint32_t>(g.inner);
    const auto value = [&](int row) {
        return row >= 0 && row < rows ? static_cast<float>(mine[row_step(row, inner)]) : no_site<float>();
    };
    counted_band band;
    float own[counted_rows];
    if (top + counted_rows <= rows) {
        const std::uint32_t* const mine_on = mine + row_step(top, inner);
#pragma unroll
        for (int i = 0; i < counted_rows; ++i) {
            own[i] = static_cast<float>(mine_on[row_step(i, inner)]);
            band.best[i] = limit;
        }
    } else {
#pragma unroll
        for (int i = 0; i < counted_rows; ++i) {
            own[i] = value(top + i);
            band.best[i] = top + i < rows ? limit : 0;
        }
    }
    band.offer_own(own, weight);
    const bool found = band.offer_outward(
        terms, top, rows - top - counted_rows, [&](int apart) { return value(top - apart); },
        [&](int apart) { return value(top + counted_rows - 1 + apart); });
    if (!found) return hard.add(group);
    if (column >= g.columns) return;
    if (band.bound < limit) to.put_rows(band.best, rows - top, first + top * g.inner, inner);
    else to.put_limited(band.best, limit, rows - top, first + top * g.inner, inner);
}

}  // namespace
}  // namespace nearfield::exact
