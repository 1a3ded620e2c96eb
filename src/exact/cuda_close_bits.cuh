// Tiles of images by bits: those in which all squared distances are 65 at most. Each of the 213 places a site can be
// at, seen from a cell, is offered to 32 cells by one operation, in the order of the tie rule: by squared distance,
// then along the last axis, then along the other. How many of them a cell has gone past is eight bits, in Gray's code,
// in which one bit changes from number to number, so that each place takes one operation more.
#pragma once

#include <array>
#include <utility>

#include "exact/cuda_close.cuh"

namespace nearfield::exact {
namespace {

constexpr int bits_reach = 8, bits_most = 65;  // cells along an axis, and squared distances, at most
constexpr int bits_margin = 16;                // columns read to either side
constexpr int bits_rows = close_rows + 2 * bits_reach;
constexpr int bits_halves = (close_columns + 2 * bits_margin) / 16;
constexpr int bits_planes = 8;
// Of a tile's 256 words of 32 cells, those with a site. With fewer than half, as of 2 % random sites, a cell far from
// all of them is likely; with fewer than one in nine, of 0.35 %, one so far that no tile can finish it.
constexpr int least_filled = close_rows * close_words / 2, least_seen = close_rows * close_words / 9;

/// Places of a site, seen from a cell, in the order of the tie rule.
struct bits_places {
    static constexpr int most = 213;
    std::array<std::int8_t, most> dx{}, dy{};
    int count = 0;

    constexpr bits_places() {
        for (int v = 0; v <= bits_most; ++v)
            for (int x = -bits_reach; x <= bits_reach; ++x)
                for (int y = -bits_reach; y <= bits_reach; ++y) {
                    if (x * x + y * y != v) continue;
                    dx[static_cast<std::size_t>(count)] = static_cast<std::int8_t>(x);
                    dy[static_cast<std::size_t>(count++)] = static_cast<std::int8_t>(y);
                }
    }
    /// Places up to v away.
    [[nodiscard]] constexpr int upto(int v) const {
        const auto square = [&](int nth) {
            const int x = dx[static_cast<std::size_t>(nth)], y = dy[static_cast<std::size_t>(nth)];
            return x * x + y * y;
        };
        int nth = 0;
        while (nth < count && square(nth) <= v) ++nth;
        return nth;
    }
};
constexpr bits_places places_of_bits;
static_assert(places_of_bits.count == bits_places::most && bits_places::most < 1 << bits_planes);
static_assert(bits_reach * bits_reach <= bits_most && (bits_reach + 1) * (bits_reach + 1) > bits_most);

/// The bit that changes from number - 1 to number in Gray's code.
constexpr int changing_bit(int number) { return number % 2 != 0 ? 0 : 1 + changing_bit(number / 2); }

struct close_bits_memory {
    std::uint32_t rows[2 * bits_reach + 1][bits_rows][close_words];  ///< bit i: a site dx cells further on, for each dx
    std::uint16_t halves[bits_rows][bits_halves + 1];
    std::int32_t table[1 << bits_planes];  ///< by code: what is added to a cell's index
    std::int32_t empty[close_warps];       ///< pieces, by warp
    uint4 codes[close_threads][2];
};

/// Rows of 32 cells being finished: which have been offered a site, and the bits of what is known of them.
struct bits_cells {
    std::uint32_t reached = 0;
    std::uint32_t plane[bits_planes]{};

    /// Places number [First, First + Count).
    template <int First, int Count>
    __device__ void take(const std::uint32_t (*rows)[bits_rows][close_words], int row, int word) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (
                [&] {
                    constexpr int dx = places_of_bits.dx[First + Nth], dy = places_of_bits.dy[First + Nth];
                    reached |= rows[dx + bits_reach][row + dy][word];
                    plane[changing_bit(First + Nth + 1)] ^= ~reached;
                }(),
                ...);
        }(std::make_integer_sequence<int, Count>{});
    }
    /// The codes of cells nth, nth + 8, + 16 and + 24 in a byte each.
    __device__ std::uint32_t codes(int nth) const {
        std::uint32_t four = 0;
#pragma unroll
        for (int p = 0; p < bits_planes; ++p) {
            const int up = p - nth;
            four |= (up >= 0 ? plane[p] << up : plane[p] >> -up) & 0x01010101u << p;
        }
        return four;
    }
};

/// What is added to a cell's index, by Gray's code of a place's number.
__device__ inline void fill_bits_table(const bits_places& places, int length, std::int32_t* table) {
    for (int code = static_cast<int>(threadIdx.x); code < 1 << bits_planes; code += close_threads) {
        int number = code ^ code >> 1;
        number ^= number >> 2, number ^= number >> 4;
        number = min(number, bits_places::most - 1);
        table[code] = places.dx[number] + places.dy[number] * length;
    }
}

/// Bits to what places look at; whether the thread's own 32 cells have a site.
__device__ inline bool spread_bits(close_bits_memory& m) {
    bool filled = false;
#pragma unroll
    for (int i = 0; i < (bits_rows * close_words + close_threads - 1) / close_threads; ++i) {
        const int nth = static_cast<int>(threadIdx.x) + i * close_threads, row = nth / close_words,
                  word = nth % close_words;
        if (row >= bits_rows) break;
        const std::uint16_t* const h = m.halves[row] + 2 * word;
        const std::uint32_t left = static_cast<std::uint32_t>(h[0]) << 16,
                            own = h[1] | static_cast<std::uint32_t>(h[2]) << 16, right = h[3];
        if (row >= bits_reach && row < bits_reach + close_rows) filled |= own != 0;
        m.rows[bits_reach][row][word] = own;
#pragma unroll
        for (int k = 1; k <= bits_reach; ++k) {
            m.rows[bits_reach - k][row][word] = __funnelshift_l(left, own, k);
            m.rows[bits_reach + k][row][word] = __funnelshift_r(own, right, k);
        }
    }
    return filled;
}

/// A warp a row of the tile, from codes to indices: 16 bytes a store, the lanes one after another.
template <class Index>
__device__ void write_bits(const close_call<Index>& c, const close_tile& at, const close_bits_memory& m) {
    constexpr int cells = 16 / sizeof(Index), stores = close_columns / (cuda::warp * cells);
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp,
              rows = min(c.rows - at.y, close_rows);
    const auto* const table = reinterpret_cast<const char*>(m.table);
#pragma unroll 4
    for (int row = warp; row < rows; row += close_warps)
#pragma unroll
        for (int store = 0; store < stores; ++store) {
            const int first = cells * (store * cuda::warp + lane), nth = first % 8;
            if (at.x + first >= c.length) continue;
            // Of each thread's two parts that of its first four words comes first in even rows, so that all banks are
            // used.
            const auto* const codes = reinterpret_cast<const std::uint32_t*>(
                                          &m.codes[row * close_words + first / cuda::warp][nth / 4 ^ (row & 1)]) +
                                      nth % 4;
            const auto byte = static_cast<std::uint32_t>(first % cuda::warp / 8);
            const auto look = [&](std::uint32_t four) {
                return *reinterpret_cast<const std::int32_t*>(table + (__byte_perm(four, 0, 0x4440 | byte) << 2));
            };
            const int index = (at.y + row) * c.length + at.x + first;
            auto* const to = reinterpret_cast<int4*>(c.out + at.first + index);
            if constexpr (cells == 2) {
                const uint2 two = *reinterpret_cast<const uint2*>(codes);
                *to = {index + look(two.x), 0, index + 1 + look(two.y), 0};
            } else {
                const uint4 four = *reinterpret_cast<const uint4*>(codes);
                *to = {index + look(four.x), index + 1 + look(four.y), index + 2 + look(four.z),
                       index + 3 + look(four.w)};
            }
        }
}

/// What became of a tile: nothing is written but where it is finished.
enum class by_bits : std::uint8_t { finished, open, hopeless };

/// A block's tile, a thread 32 cells of a row; the same for all threads.
template <class Index>
__device__ by_bits search_close_bits(const close_call<Index>& c, const close_tile& at, const bits_places& places,
                                     close_bits_memory& m) {
    const int thread = static_cast<int>(threadIdx.x), row = thread / close_words, word = thread % close_words;
    const close_cells_read<bits_reach, bits_margin> cells(c, at);
    const close_pieces_read pieces(c);
    fill_bits_table(places, c.length, m.table);
    cells.put(m.halves);
    const int empty = pieces.empty();
    if (thread % cuda::warp == 0) m.empty[thread / cuda::warp] = empty;
    __syncthreads();
    int all_empty = 0;
#pragma unroll
    for (const std::int32_t one : m.empty) all_empty += one;
    if (all_empty > most_empty_pieces) return by_bits::hopeless;
    const bool filled = spread_bits(m);
    const int columns = min(c.length - at.x - word * cuda::warp, cuda::warp);
    const std::uint32_t valid = at.y + row >= c.rows || columns <= 0 ? 0 : cuda::every_lane >> (cuda::warp - columns);
    // Of a tile that is not full those outside count as filled.
    const int all_filled = __syncthreads_count(filled || valid == 0);
    if (all_filled < least_filled) return all_filled < least_seen ? by_bits::hopeless : by_bits::open;
    bits_cells mine;
    const auto open = [&] { return __any_sync(cuda::every_lane, (~mine.reached & valid) != 0); };
    constexpr auto upto = [](int v) { return places_of_bits.upto(v); };
    constexpr int few = upto(10), some = upto(20), many = upto(34), all = upto(bits_most);
    mine.template take<0, few>(m.rows, row + bits_reach, word);
    if (open()) {
        mine.template take<few, some - few>(m.rows, row + bits_reach, word);
        if (open()) {
            mine.template take<some, many - some>(m.rows, row + bits_reach, word);
            if (open()) mine.template take<many, all - many>(m.rows, row + bits_reach, word);
        }
    }
    m.codes[thread][row & 1] = {mine.codes(0), mine.codes(1), mine.codes(2), mine.codes(3)};
    m.codes[thread][~row & 1] = {mine.codes(4), mine.codes(5), mine.codes(6), mine.codes(7)};
    if (__syncthreads_or((~mine.reached & valid) != 0) != 0) return by_bits::open;
    write_bits(c, at, m);
    return by_bits::finished;
}

}  // namespace
}  // namespace nearfield::exact
