// Distances in double, for spacings whose squares are no integers in any unit: a warp keeps a band of 8 rows of 32
// columns in registers and offers it one row after another, from its own outward.
//
// What a row offers is rounded as core.hpp says, so values are compared as they are. A sum of rounded terms never falls
// when a term grows; so the sum of the least terms of 32 columns bounds what a row can offer from below, and the row is
// left out where that exceeds the largest value of the band. Bounds are compared by the high halves of the doubles, which
// order as they do where they differ; a row is offered when they do not.
//
// The first pass is packed words of sites (cuda_bits.cuh): 32 rows are judged at a time, a row a lane. Later passes read
// the values that the pass before left. Bands that would take too long put their columns on a list: a block finishes
// those of one entry by halving as in cuda_long.cuh.
#pragma once

#include "exact/cuda_long.cuh"
#include "exact/cuda_windows.cuh"

namespace nearfield::exact {
namespace {

// Of a band. Bands of 8, 12 and 16 rows take 1.54, 1.58, 1.58 ms for 512^3 at 50 % in spacings 0.7, 0.31, 0.5, and 1.99,
// 2.04, 2.13 at 1 %; 8192^2 at 1 % 0.57, 0.58, 0.65 (H100, 2026-11-21).
constexpr int real_rows = 8;
constexpr int real_warps = 8;
constexpr int real_threads = real_warps * cuda::warp;
constexpr int real_blocks = 4;  // on a multiprocessor, for 64 registers a thread
constexpr int real_window = real_warps * real_rows;
// Rows to either side of a band that are looked at in words, or read as values; and how many a band is offered of words.
constexpr int real_reach_of_words = 512, real_reach_of_values = 64;
constexpr int most_real_offers = 128;
constexpr int real_batch = 4;  // rows to either side that are loaded at once
constexpr std::int32_t high_of_largest = 0x7fefffff, high_of_none = INT32_MAX;

__device__ inline std::int32_t high_of(double value) { return __double2hiint(value); }

/// weight * cells^2, as along() gives it; fewer instructions than converting an integer.
__device__ inline double real_term(double weight, std::uint32_t cells) {
    return weight * (__hiloint2double(0x43300000, static_cast<int>(cells * cells)) - 4503599627370496.0);
}

/// What rows add by their distance, in shared memory: from -8 cells on (a band's own rows may lie on either side), twice,
/// so that pairs can be read wherever they begin.
class real_terms {
public:
    __host__ __device__ static constexpr int size(int reach) { return 2 * (reach + 3 * real_rows); }

    /// To be called by all threads of a block, which then has to wait at a barrier. `reach` is even.
    __device__ real_terms(double* memory, double weight, int reach) : even_(memory), odd_(memory + size(reach) / 2) {
        for (int i = static_cast<int>(threadIdx.x); i < size(reach) / 2; i += real_threads) {
            even_[i] = real_term(weight, static_cast<std::uint32_t>(abs(i - real_rows)));
            if (i > 0) odd_[i - 1] = even_[i];
        }
    }
    __device__ double at(int cells) const { return even_[cells + real_rows]; }
    /// Of so many cells and more, in pairs.
    __device__ const double2* from(int cells) const {
        const int i = cells + real_rows;
        return reinterpret_cast<const double2*>(i % 2 == 0 ? even_ + i : odd_ + i - 1);
    }

private:
    double *even_, *odd_;
};

/// A lane's column of a band.
struct real_band {
    double best[real_rows];  ///< 0 for what is no cell, which nothing improves
    std::int32_t bound;      ///< high half of what no cell needs to exceed; the same for all lanes
    bool ordered;            ///< winning rows bound those between them

    /// The band's own rows, to each other.
    __device__ void offer_own(const double (&own)[real_rows], const real_terms& terms) {
#pragma unroll
        for (int i = 0; i < real_rows; ++i) lower(best[i], own[i]);
        tighten();
#pragma unroll
        for (int apart = 1; apart < real_rows; ++apart) {
            const double term = terms.at(apart);
            if (high_of(term) > bound) break;
#pragma unroll
            for (int i = 0; i + apart < real_rows; ++i) {
                lower(best[i], own[i + apart] + term);
                lower(best[i + apart], own[i] + term);
            }
        }
        tighten();
    }

    /// A row outside, after those between it and the band; `terms` begin with that of the nearest row of the band. What
    /// does not gain in a row gains in none beyond: there the rows that are better lose less.
    template <bool Below>
    __device__ void offer(double value, const double2* terms) {
#pragma unroll
        for (int i = 0; i < real_rows; i += 2) {
            const double2 two = terms[i / 2];
            const bool gains = value + two.x < best[Below ? real_rows - 1 - i : i];
            if (!__any_sync(cuda::every_lane, gains || !ordered)) return;
            if (gains) best[Below ? real_rows - 1 - i : i] = value + two.x;
            lower(best[Below ? real_rows - 2 - i : i + 1], value + two.y);
        }
    }

    __device__ void tighten() {
        std::int32_t most = high_of(best[0]);
#pragma unroll
        for (int i = 1; i < real_rows; ++i) most = max(most, high_of(best[i]));
        bound = greatest_of_warp(min(most, bound));
    }

    /// To `count` rows, from `cell` on.
    template <class Sink>
    __device__ void put(const metric<double>& m, const Sink& to, std::int64_t cell, std::int64_t inner,
                        int count) const {
#pragma unroll
        for (int i = 0; i < real_rows; ++i)
            if (i < count) to.put(m, cell + i * inner, best[i], 0);
    }
    template <bool Last>
    __device__ void put(const metric<double>& m, const sink<double, std::int64_t, false, Last>& to, std::int64_t cell,
                        std::int64_t inner, int count) const {
        if constexpr (!Last) {
#pragma unroll
            for (int i = 0; i < real_rows; ++i)
                if (i < count) to.next[cell + i * inner] = best[i];
        } else if (to.out.only_distance32) {
#pragma unroll
            for (int i = 0; i < real_rows; ++i)
                if (i < count) to.out.distance32[cell + i * inner] = root32(best[i], to.limit);
        } else {
#pragma unroll
            for (int i = 0; i < real_rows; ++i)
                if (i < count) to.put(m, cell + i * inner, best[i], 0);
        }
    }

private:
    __device__ static void lower(double& to, double value) {
        if (value < to) to = value;
    }
};

/// Columns that bands leave.
struct real_hard {
    std::int32_t* count = nullptr;
    std::int32_t* list = nullptr;
    std::uint32_t* marks = nullptr;  ///< 0 at first

    __device__ bool has(std::int64_t group) const {
        return *static_cast<volatile std::uint32_t*>(marks + group) != 0;  // a stale 0 only costs time
    }
    /// To be called by a warp.
    __device__ void add(std::int64_t group) const {
        if (threadIdx.x % cuda::warp == 0 && atomicExch(marks + group, 1) == 0)
            list[atomicAdd(count, 1)] = static_cast<std::int32_t>(group);
    }
};

/// A row of words, and bounds of what it offers, as high halves.
struct real_row {
    line_word word;
    std::int32_t least, most;
};

/// A row whose distance from the band adds `nearest` to its nearest row and `farthest` to the one farthest from it.
__device__ inline real_row judge(const line_word& word, double weight, double nearest, double farthest) {
    if (!word.any()) return {word, high_of_none, high_of_largest};
    std::uint32_t near = 0, reach = 0;
    if (word.sites != 0) {
        const int first = __ffs(static_cast<int>(word.sites)) - 1, behind = __clz(static_cast<int>(word.sites));
        reach = static_cast<std::uint32_t>(max(max(first, behind), (cuda::warp - behind - first) / 2));
    } else {
        near = static_cast<std::uint32_t>(min(word.before(), word.after())), reach = near + cuda::warp - 1;
    }
    return {word, high_of(real_term(weight, near) + nearest),
            min(high_of(real_term(weight, reach) + farthest), high_of_largest)};
}

/// A warp's band of lines that are words.
class real_words_search {
public:
    __device__ real_words_search(const line_word* words, int rows, int top, double weight, const real_terms& terms)
        : words_(words),
          rows_(rows),
          top_(top),
          lane_(static_cast<int>(threadIdx.x) % cuda::warp),
          weight_(weight),
          terms_(terms) {}

    /// False where it would take too long.
    __device__ bool search(real_band& band) const {
        real_row above = judged(top_ - 1 - lane_, lane_ + 1), below = judged(top_ + real_rows + lane_, lane_ + 1);
        const real_row own = judged(lane_ < real_rows ? top_ + lane_ : -1, 0);
        band.bound = min(band.bound, least_of_warp(min(own.most, min(above.most, below.most))));
        const unsigned offered = __ballot_sync(cuda::every_lane, own.least <= band.bound);
        if (offered != 0) {
            double values[real_rows];
#pragma unroll
            for (int i = 0; i < real_rows; ++i) {
                values[i] = no_site<double>();
                if (offered >> i & 1) values[i] = value(own, i);
            }
            band.offer_own(values, terms_);
        }
        int offers = 0;
        for (int apart = 1;;) {
            offers += offer_both(band, above, below, apart);
            apart += cuda::warp;
            if (top_ < apart && top_ + real_rows - 1 + apart >= rows_) return true;
            // Beyond what is looked at it can be told no more.
            if (apart + cuda::warp > real_reach_of_words + 1 || offers > most_real_offers) return false;
            if (high_of(terms_.at(apart)) > band.bound) return true;
            above = judged(top_ - apart - lane_, lane_ + apart);
            below = judged(top_ + real_rows - 1 + apart + lane_, lane_ + apart);
        }
    }

private:
    /// Of a row so many rows from the band.
    [[nodiscard]] __device__ real_row judged(int row, int apart) const {
        if (row < 0 || row >= rows_) return {word_without_sites(), high_of_none, high_of_largest};
        return judge(words_[row], weight_, terms_.at(apart), terms_.at(apart + real_rows - 1));
    }

    /// The lane's value in the row that lane `whose` has.
    [[nodiscard]] __device__ double value(const real_row& row, int whose) const {
        const line_word word{__shfl_sync(cuda::every_lane, row.word.sites, whose),
                             __shfl_sync(cuda::every_lane, row.word.beside, whose)};
        return real_term(weight_, static_cast<std::uint32_t>(word.distance(lane_)));
    }

    /// 32 rows above and 32 below, the nearest first; how many of them were offered.
    [[nodiscard]] __device__ int offer_both(real_band& band, const real_row& above, const real_row& below,
                                            int apart) const {
        unsigned up = __ballot_sync(cuda::every_lane, above.least <= band.bound),
                 down = __ballot_sync(cuda::every_lane, below.least <= band.bound);
        int offers = 0;
        while ((up | down) != 0) {
            if (up != 0) {
                const int nth = __ffs(static_cast<int>(up)) - 1;
                band.offer<false>(value(above, nth), terms_.from(apart + nth));
                up &= up - 1, ++offers;
            }
            if (down != 0) {
                const int nth = __ffs(static_cast<int>(down)) - 1;
                band.offer<true>(value(below, nth), terms_.from(apart + nth));
                down &= down - 1, ++offers;
            }
            band.tighten();
            up &= __ballot_sync(cuda::every_lane, above.least <= band.bound);
            down &= __ballot_sync(cuda::every_lane, below.least <= band.bound);
        }
        return offers;
    }

    const line_word* words_;
    int rows_, top_, lane_;
    double weight_;
    const real_terms& terms_;
};

/// The high half of a limit, above which values need not be found.
__device__ inline std::int32_t real_limit(double limit) { return min(high_of(limit), high_of_largest); }

/// The largest distance that a search of lines of so many rows asks the terms for, less a band.
inline int terms_reach(std::int64_t rows, int most) {
    return static_cast<int>((std::min<std::int64_t>(rows, most) + cuda::warp) / 2 * 2);
}

/// A warp's band of the first two passes, from row `top` of a group of lines on.
template <class Sink>
__device__ void offer_band_of_words(const word_lines& lines, const word_group& group, int top, const pass& g,
                                    const metric<double>& m, const real_terms& terms, const real_hard& hard,
                                    const Sink& to) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, rows = lines.rows();
    if (top >= rows || hard.has(group.number)) return;
    const bool within = lane < lines.width(group);
    real_band band{{}, real_limit(to.limit), g.rows_ordered};
#pragma unroll
    for (int i = 0; i < real_rows; ++i) band.best[i] = within && top + i < rows ? no_site<double>() : 0.0;
    const real_words_search search(lines.words(group), rows, top, m.weight[m.rank - 1], terms);
    if (!search.search(band)) return hard.add(group.number);
    if (within) band.put(m, to, lines.first_cell(group, lane) + top * lines.inner(), lines.inner(), rows - top);
}

/// The first two passes: a block 64 rows of 32 lines, a warp a band of them.
template <bool Last>
__global__ void __launch_bounds__(real_threads, real_blocks)
    offer_words(const word_lines lines, const pass g, const windows cut, int reach, const metric<double> m,
                const real_hard hard, const sink<double, std::int64_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ double2 real_memory[];
    const real_terms terms(reinterpret_cast<double*>(real_memory), m.weight[g.axis], reach);
    __syncthreads();
    const auto at = lines.place(cut, blockIdx.x);
    const int warp = static_cast<int>(threadIdx.x) / cuda::warp;
    offer_band_of_words(lines, at.group, at.window * real_window + warp * real_rows, g, m, terms, hard, to);
}

/// Of a lane's column: a row's value, none beyond the ends.
struct real_column {
    const double* cells;
    std::int64_t inner;
    int rows;

    __device__ double operator()(int row) const {
        return row >= 0 && row < rows ? cells[row * inner] : no_site<double>();
    }
};

/// Offers rows of values from the band's own outward. False where it would take too long.
__device__ inline bool search_values(real_band& band, const real_column& column, int top, const real_terms& terms) {
    double own[real_rows];
#pragma unroll
    for (int i = 0; i < real_rows; ++i) own[i] = column(top + i);
    band.offer_own(own, terms);
    for (int apart = 1;; apart += real_batch) {
        if (high_of(terms.at(apart)) > band.bound || (top < apart && top + real_rows - 1 + apart >= column.rows))
            return true;
        if (apart > real_reach_of_values) return false;
        double above[real_batch], below[real_batch];
#pragma unroll
        for (int i = 0; i < real_batch; ++i) {
            above[i] = column(top - apart - i);
            below[i] = column(top + real_rows - 1 + apart + i);
        }
#pragma unroll
        for (int i = 0; i < real_batch; ++i) {
            band.offer<false>(above[i], terms.from(apart + i));
            band.offer<true>(below[i], terms.from(apart + i));
        }
        band.tighten();
    }
}

/// A later pass, cut in the same way.
template <bool Last>
__global__ void __launch_bounds__(real_threads, real_blocks)
    offer_values(const pass g, int reach, const metric<double> m, const double* cells, const real_hard hard,
                 const sink<double, std::int64_t, false, Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ double2 real_memory[];
    const real_terms terms(reinterpret_cast<double*>(real_memory), m.weight[g.axis], reach);
    __syncthreads();
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const std::int64_t groups = (g.columns + cuda::warp - 1) / cuda::warp, window = quotient(blockIdx.x, groups),
                       group = blockIdx.x - window * groups;
    const int top = static_cast<int>(window) * real_window + warp * real_rows, rows = static_cast<int>(g.rows);
    if (top >= rows || hard.has(group)) return;
    // Lanes beyond the last column repeat it and write nothing.
    const std::int64_t mine = group * cuda::warp + lane, first = g.first_cell(min(mine, g.columns - 1));
    real_band band{{}, real_limit(to.limit), g.rows_ordered};
#pragma unroll
    for (int i = 0; i < real_rows; ++i) band.best[i] = top + i < rows ? no_site<double>() : 0.0;
    if (!search_values(band, {cells + first, g.inner, rows}, top, terms)) return hard.add(group);
    if (mine < g.columns) band.put(m, to, first + top * g.inner, g.inner, rows - top);
}

}  // namespace
}  // namespace nearfield::exact
