// Images in which every cell has one of another class close by, by bits: signs and labels, in unit spacing, with open
// borders. A tile of 64 rows of 128 columns in which all squared distances are 65 at most is finished from the words
// of classes alone. What it leaves, the tiles by steps do (cuda_options_put.cuh).
//
// Of a row of 32 cells as bits, near_k are those with a cell of another class up to k cells away in that row. A cell's
// squared distance is v at most when it is in near_k of a row dy away with k^2 + dy^2 = v at most, or when its column
// changes within the root of v: what lies beyond a change is never nearer than the change. So one or two rows more for
// each way of v to be a sum of two squares, 32 cells an operation. There are 31 such v up to 65, and which of them is
// a cell's is five bits: in Gray's code, in which one bit changes from number to number, so that each v takes one
// operation more. The sign is a sixth.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "exact/cuda_options_put.cuh"

namespace nearfield::exact {
namespace {

constexpr int near_tile_words = near_tiles::words, near_tile_rows = near_tiles::rows;
constexpr int near_threads = near_tile_rows * near_tile_words, near_warps = near_threads / cuda::warp;
constexpr int near_blocks = 5;                 // on a multiprocessor: 48 registers a thread
constexpr int near_reach = 8, near_most = 65;  // cells along an axis, and squared distances, at most
constexpr int near_rows = near_tile_rows + 2 * near_reach;
// Places of a row of 16 cells and the changes from the row before it that a block looks at first, two a thread, and
// how many of them may have no change of class where its tiles are worth the try: of 7 % random sites 50 are empty,
// and 1 tile in 200 has a cell that is farther; of 5 % 100, and 1 in 3.
constexpr int most_empty = 72;

/// Rows dy away, in which changes up to k cells off are k^2 + dy^2 away, which is number `nth` of the squared
/// distances.
struct near_offer {
    int k = 0, dy = 0, nth = 0;
    bool last = false;  ///< of that number
};
struct near_table {
    std::array<near_offer, 64> offers{};
    std::array<int, 32> values{};
    int count = 0, numbers = 0;

    constexpr near_table() {
        for (int v = 0; v <= near_most; ++v) {
            const int before = count;
            for (int dy = 0; dy <= near_reach; ++dy)
                for (int k = 0; k <= near_reach; ++k)
                    if (k * k + dy * dy == v) offers[static_cast<std::size_t>(count++)] = {k, dy, numbers, false};
            if (count == before) continue;
            offers[static_cast<std::size_t>(count - 1)].last = true;
            values[static_cast<std::size_t>(numbers++)] = v;
        }
    }
    /// Offers of values up to v.
    [[nodiscard]] constexpr int upto(int v) const {
        int nth = 0;
        while (nth < count && values[static_cast<std::size_t>(offers[static_cast<std::size_t>(nth)].nth)] <= v) ++nth;
        return nth;
    }
};
constexpr near_table table_of_near;
constexpr int near_numbers = 31, near_planes = 5;
static_assert(table_of_near.numbers == near_numbers, "with one for cells that are farther, 2^near_planes");
static_assert(near_reach * near_reach <= near_most && (near_reach + 1) * (near_reach + 1) > near_most);

/// The bit that changes from number - 1 to number in Gray's code.
constexpr int changing_bit(int number) { return number % 2 != 0 ? 0 : 1 + changing_bit(number / 2); }

/// Images as words of classes, and their distances.
struct near_call {
    const std::uint32_t* classes = nullptr;  ///< which cells are zero; or changes along the last axis
    const std::uint32_t* along = nullptr;    ///< changes along the axis before; of zeros null
    const std::uint32_t* sites = nullptr;    ///< cells that are sites for all
    tile_fields fields;
    std::int64_t length = 1, words = 1;  ///< of a line
    std::int64_t rows = 1;               ///< of an image
    near_tiles grid;
    std::int32_t* refused = nullptr;  ///< null is not wanted: set where the tiles by steps would be in vain, too
};

struct near_memory {
    std::uint32_t near[near_reach + 1][near_rows][near_tile_words];  ///< of 0: changes from the row before
    float roots[2 << near_planes];
    uint4 codes[near_threads][2];
};

/// Where a tile is.
struct near_tile {
    std::int64_t line;     ///< the image's first
    std::int32_t word, y;  ///< its corner

    __device__ near_tile(const near_call& c, std::int64_t tile) {
        const std::int64_t above = quotient(tile, c.grid.across), image = quotient(above, c.grid.down);
        line = image * c.rows;
        word = static_cast<std::int32_t>(tile - above * c.grid.across) * near_tile_words;
        y = static_cast<std::int32_t>(above - image * c.grid.down) * near_tile_rows;
    }
    [[nodiscard]] __device__ int rows(const near_call& c) const {
        return static_cast<int>(min(c.rows - y, std::int64_t{near_tile_rows}));
    }
    /// Of the 32 cells of a word those that are within the line.
    [[nodiscard]] __device__ static std::uint32_t valid(const near_call& c, std::int64_t at) {
        const std::int64_t cells = c.length - at * cuda::warp;
        return cells <= 0 ? 0 : cells >= cuda::warp ? cuda::every_lane : (1u << cells) - 1;
    }
};

/// 32 cells of a row, and those beside them: a bit for each that is not of the class of the one before it.
struct near_word {
    std::uint32_t left = 0, own = 0, right = 0;
};
__device__ inline near_word changes_along_line(const near_call& c, const std::uint32_t* line, std::int64_t at) {
    near_word w{at > 0 ? line[at - 1] : 0, line[at], at + 1 < c.words ? line[at + 1] : 0};
    if (c.along != nullptr) return w;
    const near_word bits = w;
    const std::uint32_t before = at > 0 ? bits.left >> 31 : bits.own & 1;
    w.left = at > 0 ? bits.left ^ bits.left << 1 : 0;  // its first bit is beyond what counts
    w.own = (bits.own ^ (bits.own << 1 | before)) & near_tile::valid(c, at);
    w.right = (bits.right ^ (bits.right << 1 | bits.own >> 31)) & near_tile::valid(c, at + 1);
    return w;
}

/// The tiles of a block: neighbours, so that an image may be dense in part.
struct near_share {
    std::int64_t first, end;

    __device__ explicit near_share(const near_call& c) {
        const std::int64_t each = (c.grid.count() + gridDim.x - 1) / gridDim.x;
        first = each * blockIdx.x, end = min(first + each, c.grid.count());
    }
};

/// Whether a block's tiles would be in vain, as far as a place of each thread tells. For all threads of a block.
__device__ inline bool looks_sparse(const near_call& c, const near_share& mine) {
    const int thread = static_cast<int>(threadIdx.x), tiles = static_cast<int>(mine.end - mine.first);
    const near_tile at(c, mine.first + thread % tiles);
    const std::int64_t y = min(std::int64_t{at.y} + thread * 11 % near_tile_rows, c.rows - 1),
                       x = min(static_cast<std::int64_t>(at.word + thread / 8 % near_tile_words), c.words - 1),
                       word = (at.line + y) * c.words + x;
    const std::uint32_t bits = c.classes[word];
    std::uint32_t changes = bits;
    if (c.along != nullptr) changes |= c.along[word];
    else changes = ((bits ^ bits << 1) & 0xfffefffeu) | (y > 0 ? bits ^ c.classes[word - c.words] : 0);
    const int empty = ((changes & 0xffff) == 0 ? 1 : 0) + (changes >> 16 == 0 ? 1 : 0);
    const int all_empty = __syncthreads_count(empty > 1);
    if (all_empty == near_threads && thread == 0 && c.refused != nullptr) *c.refused = 1;
    return __syncthreads_count(empty > 0) + all_empty > most_empty;
}

/// Distances by Gray's code of their number, with a minus from 2^near_planes on.
__device__ inline void fill_near_roots(const near_call& c, near_memory& m) {
    const auto code = static_cast<int>(threadIdx.x);
    if (code >= 2 << near_planes) return;
    int number = code & ((1 << near_planes) - 1), value = c.fields.saturated;
    number ^= number >> 1, number ^= number >> 2, number ^= number >> 4;
    [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
        (
            [&] {
                constexpr int here = table_of_near.values[Nth];
                if (number == Nth) value = here;
            }(),
            ...);
    }(std::make_integer_sequence<int, near_numbers>{});
    const float distance = c.fields.distance_of(static_cast<std::uint32_t>(min(value, c.fields.saturated)));
    m.roots[code] = code >> near_planes != 0 ? -distance : distance;
}

/// A word of a row of the tile or beside it, whose number in the tile's memory is (row, word).
__device__ inline void fill_near_word(const near_call& c, near_memory& m, const near_tile& at, int row, int word) {
    const std::int64_t y = at.y - near_reach + row, x = at.word + word;
    near_word w;
    std::uint32_t above = 0;
    if (y >= 0 && y < c.rows && x < c.words) {
        const std::uint32_t* const line = c.classes + (at.line + y) * c.words;
        w = changes_along_line(c, line, x);
        if (c.along != nullptr) above = c.along[(at.line + y) * c.words + x];
        else if (y > 0) above = line[x] ^ line[x - c.words];
    }
    m.near[0][row][word] = above;
    std::uint32_t near = 0;
#pragma unroll
    for (int k = 1; k <= near_reach; ++k) {
        near |= __funnelshift_l(w.left, w.own, k - 1) | __funnelshift_r(w.own, w.right, k);
        m.near[k][row][word] = near;
    }
}

/// Rows of 32 cells being finished: which have been offered a cell of another class, and the bits of what is known of
/// them.
struct near_cells {
    std::uint32_t reached = 0;
    std::uint32_t plane[near_planes + 1]{};

    /// Offers number [First, First + Count).
    template <int First, int Count>
    __device__ void take(const std::uint32_t (*near)[near_rows][near_tile_words], int row, int word) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (
                [&] {
                    constexpr near_offer o = table_of_near.offers[First + Nth];
                    if constexpr (o.k > 0) {
                        reached |= near[o.k][row + o.dy][word];
                        if constexpr (o.dy > 0) reached |= near[o.k][row - o.dy][word];
                    } else if constexpr (o.dy > 0) {
                        reached |= near[0][row + o.dy][word] | near[0][row - o.dy + 1][word];
                    }
                    if constexpr (o.last) plane[changing_bit(o.nth + 1)] ^= ~reached;
                }(),
                ...);
        }(std::make_integer_sequence<int, Count>{});
    }
    /// The codes of cells nth, nth + 8, + 16 and + 24 in a byte each, times 4.
    [[nodiscard]] __device__ std::uint32_t codes(int nth) const {
        std::uint32_t four = 0;
#pragma unroll
        for (int p = 0; p <= near_planes; ++p) {
            const int up = p + 2 - nth;
            four |= (up >= 0 ? plane[p] << up : plane[p] >> -up) & 0x04040404u << p;
        }
        return four;
    }
};

/// A warp a row of the tile, from codes to distances; `out` is of the tile's corner, whose column is x.
template <bool Fours>
__device__ void write_near(const near_call& c, const near_memory& m, float* out, std::int64_t x, int rows) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto* const table = reinterpret_cast<const char*>(m.roots);
    const auto root = [&](std::uint32_t codes, std::uint32_t byte) {
        return *reinterpret_cast<const float*>(table + __byte_perm(codes, 0, 0x4440 | byte));
    };
    // Of each thread's two parts that of its first four words comes first in even rows, so that all banks are used.
    if constexpr (Fours) {
        const int word = lane / 8, part = lane % 2;
        const auto byte = static_cast<std::uint32_t>(lane % 8 / 2);
        if (x + 4 * lane >= c.length) return;
#pragma unroll 4
        for (int row = warp; row < rows; row += near_warps) {
            const uint4 four = m.codes[row * near_tile_words + word][part ^ (row & 1)];
            *reinterpret_cast<float4*>(out + row * c.length + 4 * lane) = {root(four.x, byte), root(four.y, byte),
                                                                           root(four.z, byte), root(four.w, byte)};
        }
    } else {
        const auto byte = static_cast<std::uint32_t>(lane / 8);
        for (int row = warp; row < rows; row += near_warps)
#pragma unroll
            for (int word = 0; word < near_tile_words; ++word) {
                const auto* const eight = reinterpret_cast<const std::uint32_t*>(m.codes[row * near_tile_words + word]);
                const int at = word * cuda::warp + lane;
                if (x + at < c.length) out[row * c.length + at] = root(eight[lane % 8 ^ (row & 1) << 2], byte);
            }
    }
}

/// A tile, a thread 32 cells of a row. For all threads of a block.
template <bool Fours>
__device__ void search_near_tile(const near_call& c, near_memory& m, std::int64_t tile) {
    const near_tile at(c, tile);
    const int thread = static_cast<int>(threadIdx.x);
#pragma unroll
    for (int i = 0; i < (near_rows * near_tile_words + near_threads - 1) / near_threads; ++i) {
        const int nth = thread + i * near_threads;
        if (nth < near_rows * near_tile_words) fill_near_word(c, m, at, nth / near_tile_words, nth % near_tile_words);
    }
    const int row = thread / near_tile_words, word = thread % near_tile_words;
    const std::int64_t place = (at.line + at.y + row) * c.words + at.word + word;
    const std::uint32_t valid = row < at.rows(c) ? near_tile::valid(c, at.word + word) : 0;
    near_cells mine;
    if (valid != 0 && c.sites != nullptr) mine.reached = c.sites[place];
    if (valid != 0 && c.fields.zeros != nullptr)
        mine.plane[near_planes] = c.fields.zeros[place] ^ (c.fields.zeros_are_minus ? 0 : ~0u);
    __syncthreads();
    constexpr int most = table_of_near.upto(10), nearly = table_of_near.upto(32), all = table_of_near.count;
    mine.template take<0, most>(m.near, row + near_reach, word);
    if (__any_sync(cuda::every_lane, (~mine.reached & valid) != 0)) {
        mine.template take<most, nearly - most>(m.near, row + near_reach, word);
        if (__any_sync(cuda::every_lane, (~mine.reached & valid) != 0))
            mine.template take<nearly, all - nearly>(m.near, row + near_reach, word);
    }
    m.codes[thread][row & 1] = {mine.codes(0), mine.codes(1), mine.codes(2), mine.codes(3)};
    m.codes[thread][~row & 1] = {mine.codes(4), mine.codes(5), mine.codes(6), mine.codes(7)};
    const bool left = __syncthreads_or((~mine.reached & valid) != 0) != 0 && c.fields.saturated > near_most + 1;
    if (thread == 0) c.grid.left[tile] = left ? 1 : 0;
    const std::int64_t x = static_cast<std::int64_t>(at.word) * cuda::warp;
    if (!left) write_near<Fours>(c, m, c.fields.distance + (at.line + at.y) * c.length + x, x, at.rows(c));
}

/// Blocks take tiles in turn.
template <bool Fours>
__global__ void __launch_bounds__(near_threads, near_blocks) search_near(const __grid_constant__ near_call c) {
    __shared__ near_memory m;
    fill_near_roots(c, m);
    cuda::wait_for_kernel_before();
    const near_share mine(c);
    if (mine.first >= mine.end) return;
    if (looks_sparse(c, mine)) {
        for (std::int64_t i = mine.first + threadIdx.x; i < mine.end; i += near_threads) c.grid.left[i] = 1;
        return;
    }
    for (std::int64_t tile = mine.first; tile < mine.end; ++tile) {
        search_near_tile<Fours>(c, m, tile);
        __syncthreads();
    }
}

void launch_near(const device& on, const near_call& c, std::int64_t multiprocessors) {
    const bool fours = c.length % 4 == 0 && reinterpret_cast<std::uintptr_t>(c.fields.distance) % 16 == 0;
    cuda::launch_overlapped(on, fours ? search_near<true> : search_near<false>,
                            std::min(c.grid.count(), multiprocessors * near_blocks), dim3(near_threads), 0, c);
}

}  // namespace
}  // namespace nearfield::exact
