// Tiles of images with cells that neither bits nor sites nearby finish: rows of the image are offered outward from the tile, however
// far. An image that has many such tiles takes milliseconds; its next calls go another way (cuda_close_launch.cuh).
#pragma once

#include "exact/cuda_close.cuh"

namespace nearfield::exact {
namespace {

constexpr int chunk_of_close = close_rows;  // rows that a block reads in one go

struct close_far_memory {
    line_word lines[chunk_of_close][close_words];
};

/// Cells from column x back, or on, to the first site beyond; nowhere_beside where there is none. All lanes of a warp.
__device__ inline int beside_close(const std::uint8_t* line, int length, int x, bool zero_is_site, bool back) {
    const int lane = static_cast<int>(threadIdx.x % cuda::warp);
    const std::uint32_t flip = zero_is_site ? 0xffff : 0;
    for (int away = 0; back ? away < x : x + away < length; away += 16 * cuda::warp) {
        const int column = back ? x - away - 16 * (lane + 1) : x + away + 16 * lane;
        const bool within = column >= 0 && column < length;
        const std::uint32_t bits =
            within ? nonzero_bytes(__ldg(reinterpret_cast<const uint4*>(line + column))) ^ flip : 0;
        const std::uint32_t some = __ballot_sync(cuda::every_lane, bits != 0);
        if (some == 0) continue;
        const int first = __ffs(static_cast<int>(some)) - 1;
        const int mine = back ? __clz(static_cast<int>(bits)) - 16 : __ffs(static_cast<int>(bits)) - 1;
        return away + 16 * first + __shfl_sync(cuda::every_lane, mine, first) + (back ? 1 : 0);
    }
    return nowhere_beside;
}

/// A warp the tile's columns of one row, as words with the nearest sites beside them.
template <class Out>
__device__ void pack_close_row(const close_call<Out>& c, const close_tile& at, int row, line_word* to) {
    const int lane = static_cast<int>(threadIdx.x % cuda::warp), column = at.x + 16 * lane;
    const std::uint8_t* const line = c.image.data + at.first + static_cast<std::int64_t>(row) * c.length();
    const std::uint32_t flip = c.image.zero_is_site ? 0xffff : 0;
    const std::uint32_t bits = lane < 2 * close_words && column < c.length()
                                   ? nonzero_bytes(__ldg(reinterpret_cast<const uint4*>(line + column))) ^ flip
                                   : 0;
    std::uint32_t word[close_words];
#pragma unroll
    for (int w = 0; w < close_words; ++w)
        word[w] = __shfl_sync(cuda::every_lane, bits, 2 * w) | __shfl_sync(cuda::every_lane, bits, 2 * w + 1) << 16;
    int before = beside_close(line, c.length(), at.x, c.image.zero_is_site, true);
    const int end = min(at.x + close_columns, c.length()),
              behind = beside_close(line, c.length(), end, c.image.zero_is_site, false);
    int after = behind == nowhere_beside ? behind : end + behind - (at.x + close_columns) + 1;
    std::uint32_t beside[close_words];
#pragma unroll
    for (int w = 0; w < close_words; ++w) {
        beside[w] = static_cast<std::uint32_t>(before);
        if (word[w] != 0) before = __clz(static_cast<int>(word[w])) + 1;
        else if (before != nowhere_beside) before += cuda::warp;
    }
#pragma unroll
    for (int w = close_words - 1; w >= 0; --w) {
        beside[w] |= static_cast<std::uint32_t>(after) << 16;
        if (word[w] != 0) after = __ffs(static_cast<int>(word[w]));
        else if (after != nowhere_beside) after += cuda::warp;
        if (lane == 0) to[w] = {word[w], beside[w]};
    }
}

/// Some rows of a lane's column: squared distances, or above a site's column and row.
template <bool Sites>
struct close_far_cells {
    using number = std::conditional_t<Sites, std::int64_t, std::int32_t>;
    static constexpr int rows = Sites ? 16 : 32;
    static constexpr number none = std::numeric_limits<number>::max();
    static constexpr int shift = Sites ? 32 : 0;
    number best[rows];

    __device__ void take(const line_word& line, int column, int row, int top, int lane, number most) {
        const int left = line.to_left(lane), right = line.to_right(lane), apart = min(min(left, right), 46340),
                  rows_away = max(max(top - row, row - (top + rows - 1)), 0);
        const number base = number{apart * apart} << shift;
        if (!__any_sync(cuda::every_lane, apart < 46340 && base + (number{rows_away * rows_away} << shift) <= most))
            return;
        if (apart >= 46340) return;
        number site = base;
        if constexpr (Sites) site |= static_cast<number>(left <= right ? column - left : column + right) << 16 | row;
#pragma unroll
        for (int i = 0; i < rows; ++i) {
            const int away = top + i - row;
            best[i] = min(best[i], site + (number{away * away} << shift));
        }
    }
    [[nodiscard]] __device__ number most() const {
        number all = 0;
#pragma unroll
        for (const number b : best) all = max(all, b);
        return all;
    }
};

template <class Out>
__device__ __noinline__ void search_close_far(const close_call<Out>& c, const close_tile& at, close_far_memory& m) {
    using cells = close_far_cells<close_call<Out>::sites>;
    if (c.failed != nullptr && threadIdx.x == 0) *static_cast<volatile std::uint32_t*>(c.failed) = 1;
    const int lane = static_cast<int>(threadIdx.x % cuda::warp), warp = static_cast<int>(threadIdx.x / cuda::warp),
              word = warp % close_words, column = at.x + word * cuda::warp + lane;
    constexpr int own_rows = close_rows / (close_warps / close_words);
    for (int part = 0; part < own_rows; part += cells::rows) {
        const int top = at.y + warp / close_words * own_rows + part;
        cells mine;
#pragma unroll
        for (int i = 0; i < cells::rows; ++i) mine.best[i] = top + i < c.rows && column < c.length() ? cells::none : 0;
        for (int ring = 0;; ++ring) {
            const int away = ring * chunk_of_close - chunk_of_close + 1;  // rows of this ring and later ones, at least
            if (ring > 0 && (at.y - away < 0 && at.y + close_rows - 1 + away >= c.rows)) break;
            const auto most = mine.most();
            if (!__syncthreads_or(ring == 0 || most >= typename cells::number{away * away} << cells::shift)) break;
            for (int side = 0; side < (ring == 0 ? 1 : 2); ++side) {
                const int first = at.y + (side == 0 ? ring : -ring) * chunk_of_close;
                __syncthreads();
                for (int i = warp; i < chunk_of_close; i += close_warps)
                    if (first + i >= 0 && first + i < c.rows) pack_close_row(c, at, first + i, m.lines[i]);
                __syncthreads();
                for (int i = 0; i < chunk_of_close; ++i)
                    if (first + i >= 0 && first + i < c.rows)
                        mine.take(m.lines[i][word], column, first + i, top, lane, most);
            }
        }
        if (column < c.length())
#pragma unroll
            for (int i = 0; i < cells::rows; ++i) {
                if (top + i >= c.rows) continue;
                Out* const to = c.out + at.first + static_cast<std::int64_t>(top + i) * c.length() + column;
                const auto b = mine.best[i];
                if constexpr (close_call<Out>::sites)
                    *to = b == cells::none ? Out{-1}
                                           : static_cast<Out>(static_cast<int>(b & 0xffff) * c.length() +
                                                              static_cast<int>(b >> 16 & 0xffff));
                else
                    *to = b == cells::none ? __int_as_float(0x7f800000)
                                           : static_cast<float>(__dsqrt_rn(static_cast<double>(b)));
            }
    }
}

}  // namespace
}  // namespace nearfield::exact
