// Tiles of images, site by site: those that matter to 16 rows of 32 columns are listed, and offered to all cells of
// these at once. First the sites up to 8 rows and columns away; how far the farthest cell's nearest one is then says
// which others can matter.
#pragma once

#include "exact/cuda_close.cuh"

namespace nearfield::exact {
namespace {

constexpr int close_reach = 32;  // rows and columns that are seen
constexpr int close_strip = 16;  // rows
constexpr int first_reach = 8;
constexpr int seen_rows = close_strip + 2 * close_reach;
constexpr int window_rows = close_rows + 2 * close_reach, window_words = close_words + 2 * close_reach / cuda::warp;
// Sites of a tile and what is seen beside it: an eighth of the cells. A strip's, which are listed at a time.
constexpr int most_in_window = window_rows * window_words * cuda::warp / 8, most_in_strip = 256;
constexpr std::uint32_t least_far = (close_reach + 1) * (close_reach + 1);  // what is not seen is so far at least
// A word of a nearest site: its squared distance, its column and its row relative to the strip's first ones that are
// seen.
constexpr int close_row_bits = 7, close_site_bits = 14;
// A thread's words of the window are neighbours in a row.
constexpr int words_a_thread = window_rows * window_words / close_threads;
static_assert(words_a_thread * close_threads == window_rows * window_words && window_words % words_a_thread == 0);

struct close_points_memory {
    union {
        std::uint16_t halves[window_rows][2 * window_words];
        std::uint32_t words[window_rows * window_words];
    };
    uint4 squares[seen_rows][4];  ///< of a strip's rows' distances from each row that is seen, above the bits of a site
    int2 listed[close_warps][most_in_strip];     ///< of a strip: column, and where its row's squares begin
    alignas(16) std::int32_t sums[close_warps];  ///< read as `begin` is written: they share no 16 bytes
    std::uint16_t sites[most_in_window];         ///< of the window, row by row: column, and << 8 row
    std::uint16_t begin[window_rows + 1];        ///< of each row among them
};

/// Lists the sites of the window; false, for all threads alike, where they are too many.
__device__ inline bool list_window(close_points_memory& m) {
    const int thread = static_cast<int>(threadIdx.x), lane = thread % cuda::warp, warp = thread / cuda::warp;
    std::uint32_t word[words_a_thread];
    int mine = 0;
#pragma unroll
    for (int i = 0; i < words_a_thread; ++i) word[i] = m.words[thread * words_a_thread + i], mine += __popc(word[i]);
    int place = mine;
#pragma unroll
    for (int o = 1; o < cuda::warp; o *= 2) {
        const int other = __shfl_up_sync(cuda::every_lane, place, o);
        if (lane >= o) place += other;
    }
    if (lane == cuda::warp - 1) m.sums[warp] = place;
    __syncthreads();
    int all = 0;
    place -= mine;
#pragma unroll
    for (int other = 0; other < close_warps; ++other) {
        const int theirs = m.sums[other];
        if (other < warp) place += theirs;
        all += theirs;
    }
    if (all > most_in_window) return false;
    constexpr int threads_a_row = window_words / words_a_thread;
    const int row = thread / threads_a_row, first = thread % threads_a_row * words_a_thread * cuda::warp;
    if (thread % threads_a_row == 0) m.begin[row] = static_cast<std::uint16_t>(place);
    if (thread == 0) m.begin[window_rows] = static_cast<std::uint16_t>(all);
#pragma unroll
    for (int i = 0; i < words_a_thread; ++i)
        for (; word[i] != 0; word[i] &= word[i] - 1)
            m.sites[place++] =
                static_cast<std::uint16_t>((first + i * cuda::warp + __ffs(static_cast<int>(word[i])) - 1) | row << 8);
    __syncthreads();
    return true;
}

__device__ inline void fill_close_squares(close_points_memory& m) {
    for (int i = static_cast<int>(threadIdx.x); i < seen_rows * 4; i += close_threads) {
        const int seen = i / 4, first = i % 4 * 4;
        const auto square = [&](int k) {
            const int d = first + k + close_reach - seen;
            return static_cast<std::uint32_t>(d * d) << close_site_bits;
        };
        m.squares[seen][i % 4] = {square(0), square(1), square(2), square(3)};
    }
}

/// The 16 cells of a lane's column.
struct close_cells {
    std::uint32_t best[close_strip];

    /// Of so many rows, 0 for a column outside the image: cells outside are as if they were sites.
    __device__ explicit close_cells(int rows) {
#pragma unroll
        for (int i = 0; i < close_strip; ++i) best[i] = i < rows ? 0x7fffffffu : 0;
    }
    /// A listed site, for a lane that has column `own` of those that are seen.
    __device__ void take(const close_points_memory& m, int column, int squares_at, int own) {
        constexpr int row_bytes = sizeof(m.squares[0]);
        const int dx = own - column;
        const auto* const squares =
            reinterpret_cast<const uint4*>(reinterpret_cast<const char*>(m.squares) + squares_at);
        const auto along = static_cast<std::int32_t>(static_cast<std::uint32_t>(dx * dx) << close_site_bits |
                                                     static_cast<std::uint32_t>(column) << close_row_bits |
                                                     static_cast<std::uint32_t>(squares_at) / row_bytes);
#pragma unroll
        for (int i = 0; i < close_strip / 4; ++i) {
            const uint4 four = squares[i];
            const auto offer = [&](std::uint32_t& b, std::uint32_t rows2) {
                b = static_cast<std::uint32_t>(
                    __viaddmin_s32(along, static_cast<std::int32_t>(rows2), static_cast<std::int32_t>(b)));
            };
            offer(best[4 * i], four.x), offer(best[4 * i + 1], four.y);
            offer(best[4 * i + 2], four.z), offer(best[4 * i + 3], four.w);
        }
    }
    /// The largest squared distance of all lanes' cells.
    __device__ std::uint32_t farthest() const {
        std::uint32_t most = best[0];
#pragma unroll
        for (int i = 1; i < close_strip; ++i) most = max(most, best[i]);
        return __reduce_max_sync(cuda::every_lane, most) >> close_site_bits;
    }
};

/// A strip of 32 columns: `top` and `left` are the first row and column that are seen of it, in the window.
class close_search {
public:
    __device__ close_search(close_points_memory& m, int top, int left, int rows)
        : cells(rows), m_(m), top_(top), left_(left), listed_(m.listed[threadIdx.x / cuda::warp]) {}

    /// False where a cell may have no site in what is seen, or where sites are too many.
    __device__ bool run() {
        constexpr int near = close_reach - first_reach, wide = cuda::warp + 2 * first_reach,
                      high = close_strip + 2 * first_reach;
        const auto is_near = [](int at, int size) {
            return static_cast<unsigned>(at - near) < static_cast<unsigned>(size);
        };
        if (!offer(first_reach, [&](int, int column) { return is_near(column, wide); })) return false;
        const std::uint32_t bound = cells.farthest();
        if (bound < (first_reach + 1) * (first_reach + 1)) return true;
        const int bound2 = static_cast<int>(min(bound, least_far - 1));
        const int reach = static_cast<int>(root_of_whole(static_cast<float>(bound2)));
        const auto beside = [](int at, int size) {
            return max(max(close_reach - at, at - (close_reach + size - 1)), 0);
        };
        // The bound is below the square of what is not seen.
        if (!offer(reach, [&](int row, int column) {
                const int rows = beside(row, close_strip), columns = beside(column, cuda::warp);
                return rows * rows + columns * columns <= bound2 && !(is_near(row, high) && is_near(column, wide));
            }))
            return false;
        return bound < least_far || cells.farthest() < least_far;
    }

    close_cells cells;

private:
    /// Offers the sites up to `reach` rows away whose rows and columns are wanted.
    template <class Wanted>
    __device__ bool offer(int reach, const Wanted& wanted) {
        const unsigned lane = threadIdx.x % cuda::warp;
        const int begin = m_.begin[top_ + close_reach - reach],
                  end = m_.begin[top_ + close_reach + close_strip + reach];
        int count = 0;
        for (int from = begin; from < end; from += cuda::warp) {
            const int nth = from + static_cast<int>(lane);
            const std::uint32_t site = nth < end ? m_.sites[nth] : 0;
            const int row = static_cast<int>(site >> 8) - top_, column = static_cast<int>(site & 0xff) - left_;
            const bool take = nth < end && wanted(row, column);
            const std::uint32_t taken = __ballot_sync(cuda::every_lane, take);
            const int more = __popc(taken);
            if (count + more > most_in_strip) {
                __syncwarp();  // the next strip's list takes this one's place
                return false;
            }
            if (take)
                listed_[count + __popc(taken & ((1u << lane) - 1))] = {column,
                                                                       row * static_cast<int>(sizeof(m_.squares[0]))};
            count += more;
        }
        __syncwarp();
        const int own = static_cast<int>(lane) + close_reach;
        int i = 0;
        for (; i + 2 <= count; i += 2) {
            const int4 two = *reinterpret_cast<const int4*>(listed_ + i);
            cells.take(m_, two.x, two.y, own), cells.take(m_, two.z, two.w, own);
        }
        if (i < count) cells.take(m_, listed_[i].x, listed_[i].y, own);
        __syncwarp();
        return true;
    }

    close_points_memory& m_;
    int top_, left_;
    int2* listed_;
};

template <class Index>
__device__ void write_close_strip(const close_call<Index>& c, const close_tile& at, int top, int word,
                                  const close_cells& cells) {
    const int lane = static_cast<int>(threadIdx.x % cuda::warp), column = at.x + word * cuda::warp + lane,
              row = at.y + top, length = c.length;
    if (column >= length) return;
    Index* const to = c.out + at.first + static_cast<std::int64_t>(row) * length + column;
    constexpr std::uint32_t row_mask = (1u << close_row_bits) - 1;
    const int origin = (row - close_reach) * length + column - lane - close_reach;
    const auto index = [&](int i) {
        return static_cast<Index>(origin + static_cast<int>(cells.best[i] & row_mask) * length +
                                  static_cast<int>(cells.best[i] >> close_row_bits & row_mask));
    };
    const bool whole = row + close_strip <= c.rows;
#pragma unroll
    for (int i = 0; i < close_strip; ++i)
        if (whole || row + i < c.rows) to[i * length] = index(i);
}

/// A block's tile; false, for all threads alike, where cells are left.
template <class Index>
__device__ bool search_close_points(const close_call<Index>& c, const close_tile& at, close_points_memory& m) {
    const close_cells_read<close_reach, close_reach> cells(c, at);
    fill_close_squares(m);
    cells.put(m.halves);
    __syncthreads();
    if (!list_window(m)) return false;
    bool all = true;
    const int lane = static_cast<int>(threadIdx.x % cuda::warp), warp = static_cast<int>(threadIdx.x / cuda::warp),
              word = warp % close_words, left = word * cuda::warp;
#pragma unroll 1
    for (int top = warp / close_words * close_strip; top < close_rows; top += close_warps / close_words * close_strip) {
        if (at.y + top >= c.rows || at.x + left >= c.length) continue;
        close_search search(m, top, left, at.x + left + lane < c.length ? c.rows - at.y - top : 0);
        if (search.run()) write_close_strip(c, at, top, word, search.cells);
        else all = false;
    }
    return __syncthreads_and(all) != 0;
}

}  // namespace
}  // namespace nearfield::exact
