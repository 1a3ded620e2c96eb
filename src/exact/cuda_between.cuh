// Lines of up to 1024 rows whose sites may be far away, in shared memory: a block owns 32 neighbouring lines, a lane a line,
// a warp a band of 32 rows.
//
// Every 32nd row is a post, and so is the last one. The winning row never moves back along a line (core.hpp), so that
// between two posts only the rows from the winner at the one to the winner at the other can win: 33 on average, whatever
// the line holds. A band is offered to every post that its least value might win at. Then a warp does the same on a
// smaller scale: the winners at its rows 8, 16 and 24 leave 9 rows on average to each 8.
#pragma once

#include "exact/cuda_short.cuh"
#include "exact/cuda_tile.cuh"

namespace nearfield::exact {
namespace {

constexpr int group_rows = 8;
constexpr int groups_a_band = band_rows / group_rows;
static_assert(band_rows % group_rows == 0);

/// A value and its row in one word, value << row_bits | row: the least word is the least value.
using row_word = std::uint32_t;
constexpr row_word no_row = 0xffffffffu;

/// The square of (rows << half_row_bits) is that of `rows` in the place of a value.
constexpr int half_row_bits = row_bits / 2;
static_assert(2 * half_row_bits == row_bits);

/// What a row is worth to rows i = 0, 1, ... from `top` on: value + (top - row + i)^2, less i^2 and with a bias instead, so
/// that it is linear in i. A sum of no more than packed_none, 1023^2 and the bias fits the word.
struct row_offer {
    static constexpr std::int32_t bias = 1024;
    static_assert(bias > band_rows * band_rows - 1 && packed_none + 1023LL * 1023 + bias < 1LL << (32 - row_bits));
    row_word first, step;

    /// `apart` is top - row, << half_row_bits.
    __device__ row_offer(row_word row, std::int32_t apart)
        : first(row + static_cast<row_word>(apart * apart) + (bias << row_bits)),
          step(static_cast<row_word>(apart) << (row_bits + 1 - half_row_bits)) {}
    __device__ row_word at(int i) const { return first + static_cast<row_word>(i) * step; }
    /// The value that a least offer at i stands for.
    __device__ static std::int32_t value(row_word least, int i) {
        return static_cast<std::int32_t>(least >> row_bits) + i * i - bias;
    }
};

/// 32 lines in shared memory, seen by a lane: its own line, with a row without a site behind it, and the winners at posts.
struct posted_lines {
    row_word* line;
    row_word* posts;
    int rows, bands;

    __device__ posted_lines(row_word* memory, int rows)
        : line(memory + threadIdx.x),
          posts(line + (rows + 1) * cuda::warp),
          rows(rows),
          bands((rows + band_rows - 1) / band_rows) {}
    static std::size_t bytes(std::int64_t rows) {
        return static_cast<std::size_t>((rows + 1 + blocks_for(rows, band_rows) + 1) * cuda::warp) * sizeof(row_word);
    }
    __device__ int row_of(int post) const { return min(post * band_rows, rows - 1); }
    __device__ row_word& at(int row) const { return line[row * cuda::warp]; }
    __device__ row_word& post(int nth) const { return posts[nth * cuda::warp]; }
};

/// Rows [from, end) of a band to a post.
__device__ inline void offer_band(const posted_lines& to, int post, int from, int end) {
    row_word best = no_row;
    std::int32_t apart = (to.row_of(post) - from) * (1 << half_row_bits);
#pragma unroll 8
    for (int row = from; row < end; ++row, apart -= 1 << half_row_bits)
        best = __viaddmin_u32(to.at(row), static_cast<row_word>(apart * apart), best);
    atomicMin(&to.post(post), best);
}

/// Winners at all posts; `least` is the least value of the lane's rows [from, end). Begins and ends with a barrier.
__device__ inline void find_posts(const posted_lines& to, int band, int from, int end, std::int32_t least) {
    __syncthreads();
    offer_band(to, band, from, end);
    offer_band(to, band + 1, from, end);
    __syncthreads();
    for (int post = 0; post <= to.bands; ++post) {
        if (post == band || post == band + 1) continue;
        const int row = to.row_of(post), gap = max(from - row, row - (end - 1));
        const row_word best = *const_cast<const volatile row_word*>(&to.post(post));
        const bool wins = least < packed_none && static_cast<row_word>(least + gap * gap) < best >> row_bits;
        if (__any_sync(cuda::every_lane, wins)) offer_band(to, post, from, end);
    }
    __syncthreads();
}

/// Rows that a warp's lanes have left, each its own of as many, an even number. They include those from `first` to `last`; the
/// row behind the line only where the lane has left an odd number of rows and all of them.
struct rows_left {
    int from, count;

    __device__ rows_left(const posted_lines& of, int first, int last)
        : count((__reduce_max_sync(cuda::every_lane, last - first) + 2) / 2 * 2) {
        from = max(min(first, of.rows - count), 0);
    }
};

/// Offers rows to rows First, First + Step, ... from `top` on.
template <int First, int Step, int Count>
__device__ void offer_rows(const posted_lines& of, const rows_left& left, int top, row_word (&best)[Count]) {
#pragma unroll
    for (row_word& one : best) one = no_row;
    const row_word* row = &of.at(left.from);
    std::int32_t apart = (top - left.from) * (1 << half_row_bits);
    constexpr std::int32_t down = 1 << half_row_bits;
#pragma unroll 2
    for (int k = 0; k < left.count; k += 2, row += 2 * cuda::warp, apart -= 2 * down) {
        const row_offer one(row[0], apart), other(row[cuda::warp], apart - down);
#pragma unroll
        for (int i = 0; i < Count; ++i)
            best[i] = __vimin3_u32(best[i], one.at(First + i * Step), other.at(First + i * Step));
    }
}

/// Puts 8 rows of the lane's line from `row` on, of which those before `end` exist.
template <bool Last>
__device__ void put_group(const tile_target<std::int32_t, Last>& target, int row, int end,
                          const std::int32_t (&value)[group_rows]) {
    const std::int64_t cell = target.first + target.row_at(row);
    if constexpr (!Last) {
#pragma unroll
        for (int i = 0; i < group_rows; ++i)
            if (row + i < end)
                target.to.next[cell + target.row_at(i)] = value[i] < packed_none ? value[i] : no_site<std::int32_t>();
    } else if (target.to.out.only_distance32 && !target.to.out.in_units()) {
        const std::int32_t limit = min(target.to.limit, packed_none - 1);
#pragma unroll
        for (int i = 0; i < group_rows; ++i)
            if (row + i < end)
                target.to.out.distance32[cell + target.row_at(i)] =
                    value[i] <= limit ? root_of_whole(static_cast<float>(value[i])) : __int_as_float(0x7f800000);
    } else {
        // In memory of the thread's own, so that what puts any combination of fields stands here once and not 8 times.
        std::int32_t values[group_rows];
#pragma unroll
        for (int i = 0; i < group_rows; ++i) values[i] = value[i];
#pragma unroll 1
        for (int i = 0; i < min(group_rows, end - row); ++i)
            target.put(row + i, values[i] < packed_none ? values[i] : no_site<std::int32_t>());
    }
}

/// A band, between two posts that are known.
template <bool Last>
__device__ void finish_band(const posted_lines& of, int band, int from, int end,
                            const tile_target<std::int32_t, Last>& target) {
    const row_word at_top = of.post(band), at_end = of.post(band + 1);
    constexpr auto row_mask = static_cast<row_word>(short_rows - 1);
    const int first = static_cast<int>(at_top & row_mask), last = static_cast<int>(at_end & row_mask);
    row_word between[groups_a_band - 1];
    offer_rows<group_rows, group_rows>(of, rows_left(of, first, last), from, between);
    int left = first;
    std::int32_t at_left = static_cast<std::int32_t>(at_top >> row_bits);
#pragma unroll
    for (int group = 0; group < groups_a_band; ++group) {
        const int top = from + group * group_rows;
        if (top >= end) break;
        int right = last;
        std::int32_t values[group_rows] = {at_left};
        if (group < groups_a_band - 1) {
            // A row behind the line's last one may have found one behind `last`.
            right = min(static_cast<int>(between[group] & row_mask), last);
            at_left = row_offer::value(between[group], (group + 1) * group_rows);
        }
        row_word best[group_rows - 1];
        offer_rows<1, 1>(of, rows_left(of, left, right), top, best);
#pragma unroll
        for (int i = 1; i < group_rows; ++i) values[i] = row_offer::value(best[i - 1], i);
        put_group(target, top, end, values);
        left = right;
    }
}

/// 32 lines; `load(row)` gives the values of the lane's own, from packed_none on without a site.
template <bool Last, class Load>
__device__ void search_between(row_word* memory, int rows, const Load& load,
                               const tile_target<std::int32_t, Last>& target) {
    const posted_lines of(memory, rows);
    const int band = static_cast<int>(threadIdx.y), from = band * band_rows, end = min(from + band_rows, rows);
    std::int32_t least = packed_none;
#pragma unroll 8
    for (int row = from; row < end; ++row) {
        const std::int32_t value = min(load(row), packed_none);
        least = min(least, value);
        of.at(row) = static_cast<row_word>(value) << row_bits | static_cast<row_word>(row);
    }
    of.post(band) = no_row;
    if (end == rows) {
        of.at(rows) = static_cast<row_word>(packed_none) << row_bits | static_cast<row_word>(rows % short_rows);
        of.post(of.bands) = no_row;
    }
    find_posts(of, band, from, end, least);
    finish_band(of, band, from, end, target);
}

}  // namespace
}  // namespace nearfield::exact
