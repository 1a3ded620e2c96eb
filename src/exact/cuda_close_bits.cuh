// Tiles of images by bits: those in which all squared distances are 65 at most.
//
// Distances: of a row of 32 cells as bits, near_k are those with a site of that row up to k cells away. A cell's squared distance
// is v at most when it is in near_k of a row dy away with k^2 + dy^2 = v at most: one more near_k of two rows for each way of v
// to be a sum of two squares, 32 cells an operation. There are 31 such v up to 65, and which of them is a cell's is five bits: in
// Gray's code, in which one bit changes from number to number, so that each v takes one operation more.
//
// Nearest sites: each place a site can be at, seen from a cell, is offered by itself, 213 of them in the order of the tie rule: by
// squared distance, then along the last axis, then along the other; eight bits.
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
// Words of 32 cells with a site, of a tile: with fewer a cell far from all of them is likely. Of 2 % random sites half.
constexpr int least_filled = close_rows * close_words / 2;

/// Rows dy away, in which sites up to k cells off are k^2 + dy^2 away, which is number `nth` of the squared distances.
struct bits_offer {
    int k = 0, dy = 0, nth = 0;
    bool last = false;  ///< of that number
};
struct bits_offers {
    std::array<bits_offer, 64> offers{};
    std::array<int, 32> values{};
    int count = 0, numbers = 0;

    constexpr bits_offers() {
        int k[bits_reach + 1]{};  // for each row the least with k^2 + dy^2 = v or more
        for (int v = 0; v <= bits_most; ++v) {
            const int before = count;
            for (int dy = 0; dy <= bits_reach; ++dy) {
                while (k[dy] * k[dy] + dy * dy < v) ++k[dy];
                if (k[dy] * k[dy] + dy * dy == v && k[dy] <= bits_reach)
                    offers[static_cast<std::size_t>(count++)] = {k[dy], dy, numbers, false};
            }
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
constexpr bits_offers offers_of_bits;

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
        int nth = 0;
        while (nth < count && dx[static_cast<std::size_t>(nth)] * dx[static_cast<std::size_t>(nth)] +
                                      dy[static_cast<std::size_t>(nth)] * dy[static_cast<std::size_t>(nth)] <=
                                  v)
            ++nth;
        return nth;
    }
};
constexpr bits_places places_of_bits;

template <bool Sites>
constexpr int bits_planes = Sites ? 8 : 5;
static_assert(offers_of_bits.numbers == 31, "with one for cells that are farther, 2^bits_planes");
static_assert(places_of_bits.count == bits_places::most && bits_places::most < 1 << bits_planes<true>);
static_assert(bits_reach * bits_reach <= bits_most && (bits_reach + 1) * (bits_reach + 1) > bits_most);

/// The bit that changes from number - 1 to number in Gray's code.
constexpr int changing_bit(int number) { return number % 2 != 0 ? 0 : 1 + changing_bit(number / 2); }

template <bool Sites>
struct close_bits_memory {
    /// Distances: near_k for each k. Sites: bit i is a site dx cells further on, for each dx.
    std::uint32_t rows[Sites ? 2 * bits_reach + 1 : bits_reach + 1][bits_rows][close_words];
    std::uint16_t halves[bits_rows][bits_halves + 1];
    std::int32_t table[1 << bits_planes<Sites>];  ///< by code: a root's bits, or what is added to a cell's index
    uint4 codes[close_threads][2];
};

/// Rows of 32 cells being finished: which have been offered a site, and the bits of what is known of them.
template <bool Sites>
struct bits_cells {
    static constexpr int planes = bits_planes<Sites>;
    // Codes of distances are kept times 4, as they are looked up.
    static constexpr int shift = Sites ? 0 : 2;
    std::uint32_t reached = 0;
    std::uint32_t plane[planes]{};

    /// Offers or places number [First, First + Count).
    template <int First, int Count>
    __device__ void take(const std::uint32_t (*rows)[bits_rows][close_words], int row, int word) {
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (
                [&] {
                    if constexpr (Sites) {
                        constexpr int dx = places_of_bits.dx[First + Nth], dy = places_of_bits.dy[First + Nth];
                        reached |= rows[dx + bits_reach][row + dy][word];
                        plane[changing_bit(First + Nth + 1)] ^= ~reached;
                    } else {
                        constexpr bits_offer o = offers_of_bits.offers[First + Nth];
                        reached |= rows[o.k][row + o.dy][word];
                        if constexpr (o.dy > 0) reached |= rows[o.k][row - o.dy][word];
                        if constexpr (o.last) plane[changing_bit(o.nth + 1)] ^= ~reached;
                    }
                }(),
                ...);
        }(std::make_integer_sequence<int, Count>{});
    }
    /// The codes of cells nth, nth + 8, + 16 and + 24 in a byte each.
    __device__ std::uint32_t codes(int nth) const {
        std::uint32_t four = 0;
#pragma unroll
        for (int p = 0; p < planes; ++p) {
            const int up = p + shift - nth;
            four |= (up >= 0 ? plane[p] << up : plane[p] >> -up) & 0x01010101u << (p + shift);
        }
        return four;
    }
};

/// Roots, or what is added to a cell's index, by Gray's code of a number.
template <bool Sites>
__device__ void fill_bits_table(const bits_places& places, int length, std::int32_t* table) {
    for (int code = static_cast<int>(threadIdx.x); code < 1 << bits_planes<Sites>; code += close_threads) {
        int number = code ^ code >> 1;
        number ^= number >> 2, number ^= number >> 4;
        if constexpr (Sites) {
            number = min(number, bits_places::most - 1);
            table[code] = places.dx[number] + places.dy[number] * length;
        } else {
            int value = 0;
            [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
                (
                    [&] {
                        constexpr int here = offers_of_bits.values[Nth];
                        if (number == Nth) value = here;
                    }(),
                    ...);
            }(std::make_integer_sequence<int, offers_of_bits.numbers>{});
            table[code] = __float_as_int(root_of_whole(static_cast<float>(value)));
        }
    }
}

/// Bits to what offers look at; whether the thread's own 32 cells have a site.
template <bool Sites>
__device__ bool spread_bits(close_bits_memory<Sites>& m) {
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
        std::uint32_t near = own;
        m.rows[Sites ? bits_reach : 0][row][word] = own;
#pragma unroll
        for (int k = 1; k <= bits_reach; ++k) {
            const std::uint32_t before = __funnelshift_l(left, own, k), behind = __funnelshift_r(own, right, k);
            if constexpr (Sites) {
                m.rows[bits_reach - k][row][word] = before, m.rows[bits_reach + k][row][word] = behind;
            } else {
                m.rows[k][row][word] = near |= before | behind;
            }
        }
    }
    return filled;
}

/// A warp a row of the tile, from codes to the field: 16 bytes a store, the lanes one after another.
template <class Out>
__device__ void write_bits(const close_call<Out>& c, const close_tile& at,
                           const close_bits_memory<close_call<Out>::sites>& m) {
    constexpr int cells = 16 / sizeof(Out), stores = close_columns / (cuda::warp * cells);
    constexpr int shift = 2 - bits_cells<close_call<Out>::sites>::shift;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp,
              rows = min(c.rows - at.y, close_rows);
    const auto* const table = reinterpret_cast<const char*>(m.table);
#pragma unroll 4
    for (int row = warp; row < rows; row += close_warps)
#pragma unroll
        for (int store = 0; store < stores; ++store) {
            const int first = cells * (store * cuda::warp + lane), nth = first % 8;
            if (at.x + first >= c.length()) continue;
            // Of each thread's two parts that of its first four words comes first in even rows, so that all banks are used.
            const auto* const codes = reinterpret_cast<const std::uint32_t*>(
                                          &m.codes[row * close_words + first / cuda::warp][nth / 4 ^ (row & 1)]) +
                                      nth % 4;
            const auto byte = static_cast<std::uint32_t>(first % cuda::warp / 8);
            const auto look = [&](std::uint32_t four) {
                return *reinterpret_cast<const std::int32_t*>(table + (__byte_perm(four, 0, 0x4440 | byte) << shift));
            };
            const int index = (at.y + row) * c.length() + at.x + first;
            auto* const to = reinterpret_cast<int4*>(c.out + at.first + index);
            if constexpr (cells == 2) {
                const uint2 two = *reinterpret_cast<const uint2*>(codes);
                *to = {index + look(two.x), 0, index + 1 + look(two.y), 0};
            } else {
                const uint4 four = *reinterpret_cast<const uint4*>(codes);
                const int base = close_call<Out>::sites ? index : 0, step = close_call<Out>::sites ? 1 : 0;
                *to = {base + look(four.x), base + step + look(four.y), base + 2 * step + look(four.z),
                       base + 3 * step + look(four.w)};
            }
        }
}

/// A block's tile, a thread 32 cells of a row; false, for all threads alike, where cells are left: then nothing is written.
template <class Out>
__device__ bool search_close_bits(const close_call<Out>& c, const close_tile& at, const bits_places& places,
                                  close_bits_memory<close_call<Out>::sites>& m) {
    constexpr bool sites = close_call<Out>::sites;
    const int thread = static_cast<int>(threadIdx.x), row = thread / close_words, word = thread % close_words;
    const close_cells_read<bits_reach, bits_margin> cells(c, at);
    fill_bits_table<sites>(places, c.length(), m.table);
    cells.put(m.halves);
    __syncthreads();
    const bool filled = spread_bits<sites>(m);
    const int columns = min(c.length() - at.x - word * cuda::warp, cuda::warp);
    const std::uint32_t valid = at.y + row >= c.rows || columns <= 0 ? 0 : cuda::every_lane >> (cuda::warp - columns);
    // Of a tile that is not full those outside count as filled.
    if (__syncthreads_count(filled || valid == 0) < least_filled) return false;
    bits_cells<sites> mine;
    const auto open = [&] { return __any_sync(cuda::every_lane, (~mine.reached & valid) != 0); };
    constexpr auto upto = [](int v) { return sites ? places_of_bits.upto(v) : offers_of_bits.upto(v); };
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
    if (__syncthreads_or((~mine.reached & valid) != 0) != 0) return false;
    write_bits(c, at, m);
    return true;
}

}  // namespace
}  // namespace nearfield::exact
