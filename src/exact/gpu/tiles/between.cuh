// Lines of up to 1024 rows whose sites may be far away, in shared memory: a block owns 32 neighbouring lines, a lane a
// line, a warp a band of 32 rows.
//
// Every 32nd row is a pivot, and so is the last one. The winning row never moves back along a line (core.hpp), so
// between two pivots only the rows from the winner of one to the winner of the other can win: 33 on average, whatever
// the line holds. A band relaxes every pivot at which its least value might win. Then a warp does the same on a
// smaller scale: the winners at its rows 8, 16 and 24 leave 9 rows on average for each 8.
#pragma once

#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/tiles/tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int group_rows = 8;
constexpr int groups_a_band = band_rows / group_rows;
static_assert(band_rows % group_rows == 0);

/// A value and its row in one word, value << row_bits | row: the least word has the least value.
using row_word = std::uint32_t;
constexpr row_word no_row = 0xffffffffu;
constexpr int row_pitch = cuda::warp + 1;  // pitch in words: lanes access different banks along a row and along a line

/// The square of (rows << half_row_bits) is the square of `rows` at the position of a value.
constexpr int half_row_bits = row_bits / 2;
static_assert(2 * half_row_bits == row_bits);

/// Candidate of a row at rows i = 0, 1, ... from `top` on: value + (top - row + i)^2 - i^2 + bias, which is linear in
/// i. A sum of at most packed_none, 1023^2 and the bias fits the word.
struct row_candidate {
    static constexpr std::int32_t bias = 1024;
    static_assert(bias > band_rows * band_rows - 1 && packed_none + 1023LL * 1023 + bias < 1LL << (32 - row_bits));
    row_word first, step;

    /// `apart` is top - row, << half_row_bits.
    __device__ row_candidate(row_word row, std::int32_t apart)
        : first(row + static_cast<row_word>(apart * apart) + (bias << row_bits)),
          step(static_cast<row_word>(apart) << (row_bits + 1 - half_row_bits)) {}
    __device__ row_word at(int i) const { return first + static_cast<row_word>(i) * step; }
    /// Returns the summand that turns a least candidate at i into its value.
    static constexpr std::int32_t more(int i) { return i * i - bias; }
};

/// A lane's view of 32 lines in shared memory: its own line, with a row without a site behind it, and the winners at
/// pivots.
struct lines_with_pivots {
    row_word* line;
    row_word* pivots;
    int rows, bands;

    __device__ lines_with_pivots(row_word* memory, int rows, int lane)
        : line(memory + lane),
          pivots(line + (rows + 1) * row_pitch),
          rows(rows),
          bands((rows + band_rows - 1) / band_rows) {}
    __device__ int row_of(int pivot) const { return min(pivot * band_rows, rows - 1); }
    __device__ row_word& at(int row) const { return line[row * row_pitch]; }
    __device__ row_word& pivot(int nth) const { return pivots[nth * row_pitch]; }
};

/// Relaxes a pivot with rows [from, end) of a band.
__device__ inline void relax_pivot(const lines_with_pivots& to, int pivot, int from, int end) {
    row_word best = no_row;
    std::int32_t apart = (to.row_of(pivot) - from) * (1 << half_row_bits);
#pragma unroll 8
    for (int row = from; row < end; ++row, apart -= 1 << half_row_bits)
        best = __viaddmin_u32(to.at(row), static_cast<row_word>(apart * apart), best);
    atomicMin(&to.pivot(pivot), best);
}

/// Relaxes the pivots at a band's ends with its own rows; returns the band's least word.
__device__ inline row_word relax_end_pivots(const lines_with_pivots& to, int band, int from, int end) {
    row_word least = no_row, at_top = no_row, at_end = no_row;
    constexpr std::int32_t down = 1 << half_row_bits;
    std::int32_t to_top = 0, to_end = (to.row_of(band + 1) - from) * down;
    const row_word* row = &to.at(from);
#pragma unroll 8
    for (int i = from; i < end; ++i, row += row_pitch, to_top += down, to_end -= down) {
        const row_word one = *row;
        least = min(least, one);
        at_top = __viaddmin_u32(one, static_cast<row_word>(to_top * to_top), at_top);
        at_end = __viaddmin_u32(one, static_cast<row_word>(to_end * to_end), at_end);
    }
    atomicMin(&to.pivot(band), at_top);
    atomicMin(&to.pivot(band + 1), at_end);
    return least;
}

/// Relaxes the other pivots with a band's rows, most of which their current winners rule out.
__device__ inline void relax_other_pivots(const lines_with_pivots& to, int band, int from, int end, row_word least) {
    const auto value = static_cast<std::int32_t>(least >> row_bits);
    const auto wins = [&](int pivot) {
        const int at = to.row_of(pivot), gap = max(from - at, at - (end - 1));
        const row_word best = *const_cast<const volatile row_word*>(&to.pivot(pivot));
        return value < packed_none && static_cast<row_word>(value + gap * gap) < best >> row_bits;
    };
    // Bit i: pivot i, and after the band's own two pivot i + 2.
    static_assert(short_rows / band_rows - 1 < 32);
    std::uint32_t maybe = 0;
#pragma unroll 4
    for (int i = 0; i < to.bands - 1; ++i) maybe |= wins(i < band ? i : i + 2) ? 1u << i : 0;
    maybe = __reduce_or_sync(cuda::every_lane, maybe);
    const auto relax = [&](int pivot) {
        if (__any_sync(cuda::every_lane, wins(pivot))) relax_pivot(to, pivot, from, end);
    };
    // Near ones first: their winners rule others out.
    const std::uint32_t before = (1u << band) - 1;
    std::uint32_t lower = maybe & before, upper = maybe & ~before;
    while ((lower | upper) != 0) {
        if (lower != 0) {
            const int i = 31 - __clz(static_cast<int>(lower));
            lower &= ~(1u << i);
            relax(i);
        }
        if (upper != 0) {
            relax(__ffs(static_cast<int>(upper)) + 1);
            upper &= upper - 1;
        }
    }
}

/// Remaining rows of a warp's lanes, for each lane its own, an equal and even number. They include those from `first`
/// to `last`, and the row behind the line only if a lane has all rows of a line with an odd number of rows.
struct rows_left {
    int from, count;

    __device__ rows_left(const lines_with_pivots& of, int first, int last)
        : count((__reduce_max_sync(cuda::every_lane, last - first) + 2) / 2 * 2) {
        from = max(min(first, of.rows - count), 0);
    }
};

/// Relaxes rows 8, 16, ... from `top` on with the remaining rows.
template <int Count>
__device__ void relax_groups(const lines_with_pivots& of, const rows_left& left, int top, row_word (&best)[Count]) {
#pragma unroll
    for (row_word& one : best) one = no_row;
    const row_word* row = &of.at(left.from);
    std::int32_t apart = (top - left.from) * (1 << half_row_bits);
    constexpr std::int32_t down = 1 << half_row_bits;
#pragma unroll 2
    for (int k = 0; k < left.count; k += 2, row += 2 * row_pitch, apart -= 2 * down) {
        const row_candidate one(row[0], apart), other(row[row_pitch], apart - down);
#pragma unroll
        for (int i = 0; i < Count; ++i)
            best[i] = __vimin3_u32(best[i], one.at((i + 1) * group_rows), other.at((i + 1) * group_rows));
    }
}

/// Returns a word's value as float, plus `more`: below 2^23, the value's bits are the low bits of 2^23 plus the value.
__device__ inline float value_of(row_word word, float more) {
    return __uint_as_float(__funnelshift_r(word, 0x4b000000u >> (32 - row_bits), row_bits)) - (8388608.0f - more);
}
/// Converts a whole number below 2^23.
__device__ inline std::int32_t whole_of(float number) {
    return static_cast<std::int32_t>(__float_as_uint(number + 8388608.0f) - 0x4b000000u);
}

constexpr float candidate_bias = 1024;
static_assert(packed_none + 1023 * 1023 + 2 * 1023 * group_rows + 1024 < 1 << 23, "candidates are whole numbers");

/// Relaxes the rows behind `top` with the remaining rows, in floats: sums use another unit than minima, which take bits
/// of positive numbers as integers. Each is value + (top - row + i)^2 - i^2 + candidate_bias. At 512^3 balls take 0.70
/// + 0.72 ms in both passes, in words of 32 bits 0.84 + 0.86 (H200, 2026-11-23).
__device__ inline void relax_values(const lines_with_pivots& of, const rows_left& left, int top,
                                    float (&best)[group_rows - 1]) {
    std::uint32_t least[group_rows - 1];
#pragma unroll
    for (std::uint32_t& one : least) one = 0x7f800000u;
    const row_word* row = &of.at(left.from);
    auto apart = static_cast<float>(top - left.from);
#pragma unroll 2
    for (int k = 0; k < left.count; k += 2, row += 2 * row_pitch, apart -= 2) {
        const float next = apart - 1, one = __fmaf_rn(apart, apart, value_of(row[0], candidate_bias)),
                    other = __fmaf_rn(next, next, value_of(row[row_pitch], candidate_bias));
#pragma unroll
        for (int i = 1; i < group_rows; ++i)
            least[i - 1] =
                __vimin3_u32(least[i - 1], __float_as_uint(__fmaf_rn(apart, 2.0f * static_cast<float>(i), one)),
                             __float_as_uint(__fmaf_rn(next, 2.0f * static_cast<float>(i), other)));
    }
#pragma unroll
    for (int i = 1; i < group_rows; ++i)
        best[i - 1] = __uint_as_float(least[i - 1]) - (candidate_bias - static_cast<float>(i * i));
}

/// Writes 8 rows of the lane's line from `row` on, of which those before `end` exist; `sited` if all have a site.
template <bool Last>
__device__ void put_group(const tile_target<Last>& target, int row, int end, bool sited,
                          const float (&value)[group_rows]) {
    const std::int64_t cell = target.first + target.row_at(row);
    const bool whole = sited && row + group_rows <= end;
    if constexpr (!Last) {
        if (whole) {
            std::int32_t* next = target.to.next + cell;
#pragma unroll
            for (int i = 0; i < group_rows; ++i, next += target.inner) *next = whole_of(value[i]);
            return;
        }
    } else if (target.to.out.only_distance32 && !target.to.out.in_units()) {
        float* out = target.to.out.distance32 + cell;
        if (whole && !target.to.limited) {
#pragma unroll
            for (int i = 0; i < group_rows; ++i, out += target.inner) *out = root_of_whole(value[i]);
            return;
        }
        const auto limit = static_cast<float>(min(target.to.limit, packed_none - 1));
#pragma unroll
        for (int i = 0; i < group_rows; ++i)
            if (row + i < end)
                out[target.row_at(i)] = value[i] <= limit ? root_of_whole(value[i]) : __int_as_float(0x7f800000);
        return;
    }
    // The values go to local memory, so that the code for all combinations of fields exists once, not 8 times.
    std::int32_t values[group_rows];
#pragma unroll
    for (int i = 0; i < group_rows; ++i) values[i] = whole_of(value[i]);
#pragma unroll 1
    for (int i = 0; i < min(group_rows, end - row); ++i)
        target.put(row + i, values[i] < packed_none ? values[i] : no_site<std::int32_t>());
}

/// Finishes a band between two pivots with known winners.
template <bool Last>
__device__ void finish_band(const lines_with_pivots& of, int band, int from, int end, const tile_target<Last>& target) {
    const row_word at_top = of.pivot(band), at_end = of.pivot(band + 1);
    constexpr auto row_mask = static_cast<row_word>(short_rows - 1);
    const int first = static_cast<int>(at_top & row_mask), last = static_cast<int>(at_end & row_mask);
    row_word between[groups_a_band - 1];
    relax_groups(of, rows_left(of, first, last), from, between);
    const bool sited = __all_sync(cuda::every_lane, at_top >> row_bits < packed_none);
    int left = first;
    float at_left = value_of(at_top, 0);
#pragma unroll
    for (int group = 0; group < groups_a_band; ++group) {
        const int top = from + group * group_rows;
        if (top >= end) break;
        int right = last;
        float best[group_rows - 1];
        const float at_group = at_left;
        if (group < groups_a_band - 1) {
            // A row behind the line's last one may have a winner behind `last`.
            right = min(static_cast<int>(between[group] & row_mask), last);
            at_left = value_of(between[group], static_cast<float>(row_candidate::more((group + 1) * group_rows)));
        }
        relax_values(of, rows_left(of, left, right), top, best);
        float values[group_rows] = {at_group};
#pragma unroll
        for (int i = 1; i < group_rows; ++i) values[i] = best[i - 1];
        put_group(target, top, end, sited, values);
        left = right;
    }
}

/// Fills the lanes' own values, `load(row)`; values from packed_none on mean no site.
template <class Load>
__device__ void fill_rows(const lines_with_pivots& of, int from, int end, const Load& load) {
#pragma unroll 16
    for (int row = from; row < end; ++row)
        of.at(row) = static_cast<row_word>(min(load(row), packed_none)) << row_bits | static_cast<row_word>(row);
}

/// Fills a row, one per thread: distances along its 32 cells from left to right, then back.
__device__ inline void fill_row(row_word* memory, const line_word& word, int row) {
    constexpr std::int32_t far = 2000;  // its square is above packed_none, and that of 31 more below 2^22
    static_assert(far * far > packed_none && (far + 31) * (far + 31) < 1 << 22);
    row_word* const cells = memory + row * row_pitch;
    // In halves, so that the compiler does not place them beside put_group's values in local memory.
    row_word from_left[2][16];
    std::int32_t distance = min(word.before(), far) - 1;
#pragma unroll
    for (int i = 0; i < cuda::warp; ++i) {
        distance = (word.sites >> i & 1) != 0 ? 0 : distance + 1;
        from_left[i / 16][i % 16] = static_cast<row_word>(distance);
    }
    distance = min(word.after(), far) - 1;
#pragma unroll
    for (int i = cuda::warp - 1; i >= 0; --i) {
        distance = min(distance + 1, static_cast<std::int32_t>(from_left[i / 16][i % 16]));
        cells[i] =
            static_cast<row_word>(min(distance * distance, packed_none)) << row_bits | static_cast<row_word>(row);
    }
}

/// Searches 32 filled lines, except for pivots and the row behind the last; a warp takes a band.
template <bool Last>
__device__ void search_between(const lines_with_pivots& of, const tile_target<Last>& target) {
    const int band = static_cast<int>(threadIdx.y), from = band * band_rows, end = min(from + band_rows, of.rows);
    of.pivot(band) = no_row;
    if (end == of.rows) {
        of.at(of.rows) = static_cast<row_word>(packed_none) << row_bits | static_cast<row_word>(of.rows % short_rows);
        of.pivot(of.bands) = no_row;
    }
    __syncthreads();
    const row_word least = relax_end_pivots(of, band, from, end);
    __syncthreads();
    relax_other_pivots(of, band, from, end, least);
    __syncthreads();
    finish_band(of, band, from, end, target);
}

// Tiles of lines of up to 1024 rows that steps (tile.cuh) leave unresolved are solved
// between winners at pivot rows in shared memory. Only the device knows their number, so a fixed number of blocks
// shares the list.

/// Returns the output of the calling lane of a block, for `group` of the lines. Lanes beyond the last line repeat it;
/// they write the same values to the same cells.
template <bool Last, class Lines, class Group>
__device__ tile_target<Last> target_of(const Lines& lines, const Group& group, const value_sink<Last>& to) {
    const int width = lines.width(group), lane = min(static_cast<int>(threadIdx.x), width - 1);
    return {to, lines.first_cell(group, lane), static_cast<std::int32_t>(lines.inner()), width};
}

/// Solves unresolved tiles, one after another per block; `Lines`: word_lines or value_lines.
template <bool Last, class Lines>
__global__ void __launch_bounds__(short_rows)
    search_unresolved(const Lines lines, const unresolved_tiles unresolved, const value_sink<Last> to) {
    cuda::wait_for_kernel_before();
    extern __shared__ row_word rows[];
    const int count = *unresolved.count;
    for (int nth = static_cast<int>(blockIdx.x); nth < count; nth += static_cast<int>(gridDim.x)) {
        const auto group = lines.group_of(unresolved.list[nth]);
        // Lanes beyond the last line repeat it.
        const int mine = min(static_cast<int>(threadIdx.x), lines.width(group) - 1);
        if constexpr (std::is_same_v<Lines, word_lines>) {
            const int row = static_cast<int>(threadIdx.y * cuda::warp + threadIdx.x);
            if (row < lines.rows()) fill_row(rows, lines.words(group)[row], row);
            search_between(lines_with_pivots(rows, lines.rows(), mine), target_of<Last>(lines, group, to));
        } else {
            const value_lines::reader line(lines, group, mine);
            const lines_with_pivots of(rows, lines.rows(), static_cast<int>(threadIdx.x));
            const int from = static_cast<int>(threadIdx.y) * band_rows;
            fill_rows(of, from, min(from + band_rows, of.rows), [&](int row) { return line.value(row); });
            search_between(of, target_of<Last>(lines, group, to));
        }
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
