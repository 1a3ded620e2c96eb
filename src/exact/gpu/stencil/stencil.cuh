// Nearest sites of volumes in which nearly every cell has one close by, by bits: from packed lines (words.cuh) to
// indices in one pass. Cells that it leaves unresolved go to the usual passes (search.cuh).
//
// Each offset of a site from a cell is tested separately, in the order of the tie rule: by squared distance, then along
// the last axis, the one before it and the first. There are 251 offsets up to a squared distance of 14. A test is one
// operation for 32 cells: those that have a site there join those that are reached. The number of the test that reached
// a cell is eight bits, in Gray code, in which one bit changes from number to number: one more operation.
#pragma once

#include <array>
#include <type_traits>
#include <utility>

#include "exact/gpu/rows/words.cuh"

namespace nearfield::exact {
namespace {

constexpr int near_side = 3, near_most = 14;  // largest offset in cells along an axis, and largest squared distance
constexpr int near_tile_words = 2, near_tile_rows = 16,
              near_tile_planes = 16;  // size of a tile: words of 32 columns, rows, planes
constexpr int near_threads = near_tile_words * near_tile_rows * near_tile_planes;
constexpr int near_blocks = 3;  // fewest blocks on a multiprocessor: 40 registers a thread
constexpr int near_all_rows = near_tile_rows + 2 * near_side, near_all_planes = near_tile_planes + 2 * near_side;
static_assert(near_tile_words * near_tile_rows == cuda::warp, "a warp has a plane of the tile");
// Cells that no offset reaches are listed and searched one by one; at most one cell of this number.
constexpr std::int64_t cells_a_mended = 512;
constexpr std::int32_t unfinished = 1 << 30;
// Samples that are tested first: words of 32 cells, of which near_most_open cells may lack a site within three cells
// along the line and two rows around it: 1.5 %. Random sites of 4, 3 and 2 % leave 0.25, 1.1 and 5.1 %.
constexpr int near_looked = 264, near_most_open = near_looked * 32 * 3 / 200;

/// Offsets of a site from a cell, in the order of the tie rule.
struct near_places {
    static constexpr int count = 251;
    std::array<std::int8_t, count> dx{}, dy{}, dz{};
    std::array<std::int16_t, near_most + 2> from{};  ///< the first offset that is so far away or farther

    constexpr near_places() {
        std::size_t n = 0;
        for (int v = 0; v <= near_most; ++v) {
            from[static_cast<std::size_t>(v)] = static_cast<std::int16_t>(n);
            for (int x = -near_side; x <= near_side; ++x)
                for (int y = -near_side; y <= near_side; ++y)
                    for (int z = -near_side; z <= near_side; ++z) {
                        if (x * x + y * y + z * z != v) continue;
                        dx[n] = static_cast<std::int8_t>(x), dy[n] = static_cast<std::int8_t>(y);
                        dz[n++] = static_cast<std::int8_t>(z);
                    }
        }
        from[near_most + 1] = static_cast<std::int16_t>(n);
    }
};
constexpr near_places places_nearby;
constexpr int place_bits = 8;
static_assert(places_nearby.from[near_most + 1] == near_places::count && near_places::count < 1 << place_bits);
static_assert((near_side + 1) * (near_side + 1) > near_most, "no place is beyond the reach");

/// Returns the bit that changes from number - 1 to number in Gray code.
constexpr int changing_bit(int number) { return number % 2 != 0 ? 0 : 1 + changing_bit(number / 2); }

/// Volumes, and the destination of their sites' indices.
template <class Index>
struct near_call {
    packed_lines lines;  ///< lines of planes
    int planes = 1;      ///< planes of a volume
    int tiles_x = 1, tiles_y = 1, tiles_z = 1;
    std::int64_t tiles = 1;
    Index* out = nullptr;
    std::int32_t* open = nullptr;    ///< see done_before
    std::int32_t* listed = nullptr;  ///< cells to be mended
    std::int64_t* list = nullptr;
    std::int64_t capacity = 0;
    near_places places;

    [[nodiscard]] NF_HD std::int64_t plane_cells() const { return lines.rows * lines.length; }
};

struct near_memory {
    std::uint32_t moved[2 * near_side + 1][near_all_planes][near_all_rows]
                       [near_tile_words];  ///< bit i: a site dx cells on
    std::int32_t places[1 << place_bits];  ///< summands of a cell's index, by code
    uint4 codes[near_threads / cuda::warp][2 * cuda::warp + 4];
};

/// Position of a block's tile.
struct near_tile {
    std::int64_t first_plane;  ///< first plane of its volume, among all planes
    int column, y, z;          ///< its corner; the column counts words

    near_tile() = default;
    template <class Index>
    __device__ near_tile(const near_call<Index>& c, std::int64_t tile) {
        const std::int64_t above = quotient(tile, c.tiles_x), outer = quotient(above, c.tiles_y),
                           volume = quotient(outer, c.tiles_z);
        column = static_cast<int>(tile - above * c.tiles_x) * near_tile_words;
        y = static_cast<int>(above - outer * c.tiles_y) * near_tile_rows;
        z = static_cast<int>(outer - volume * c.tiles_z) * near_tile_planes;
        first_plane = volume * c.planes;
    }
    /// Returns a word of the volume; outside of it, one without sites.
    template <class Index>
    __device__ line_word word(const near_call<Index>& c, int at_z, int at_y, int at_column) const {
        if (static_cast<unsigned>(at_z) >= static_cast<unsigned>(c.planes) || at_y < 0 || at_y >= c.lines.rows ||
            at_column >= c.lines.columns)
            return word_without_sites();
        return c.lines.words[((first_plane + at_z) * c.lines.columns + at_column) * c.lines.rows + at_y];
    }
};

/// Earlier searches that may have finished all cells.
struct done_before {
    point_lists few;  ///< all sites one by one
    /// Number of sampled cells without a near site, for volumes in which near sites may be searched, else null; above
    /// near_most_open if near sites are not searched, or not all found.
    std::int32_t* open = nullptr;

    __device__ bool all() const { return few.complete() || (open != nullptr && *open <= near_most_open); }
};

/// Fills the table of summands of a cell's index, by code.
template <class Index>
__device__ void fill_places(const near_call<Index>& c, near_memory& m) {
    for (int code = static_cast<int>(threadIdx.x); code < 1 << place_bits; code += near_threads) {
        int number = code ^ code >> 1;
        number ^= number >> 2, number ^= number >> 4;
        number = min(number, near_places::count - 1);
        m.places[code] = c.places.dx[number] + c.places.dy[number] * static_cast<std::int32_t>(c.lines.length) +
                         c.places.dz[number] * static_cast<std::int32_t>(c.plane_cells());
    }
}

/// A word, and its cells that have a site dx cells on. Of the sites beside it only the nearest ones count: for its
/// cells no other site of the row is as near.
struct moved_words {
    std::uint32_t left, own, right;

    __device__ explicit moved_words(const line_word& w)
        : left(w.before() <= near_side ? 1u << (32 - w.before()) : 0),
          own(w.sites),
          right(w.after() <= near_side ? 1u << (w.after() - 1) : 0) {}
    __device__ std::uint32_t by(int dx) const {
        return dx == 0 ? own : dx < 0 ? __funnelshift_l(left, own, -dx) : __funnelshift_r(own, right, dx);
    }
};

/// Fills the tile's words and those around it, as they are and shifted.
template <class Index>
__device__ void fill_moved(const near_call<Index>& c, near_memory& m, const near_tile& at) {
    constexpr int all = near_all_planes * near_all_rows * near_tile_words;
#pragma unroll
    for (int i = 0; i < (all + near_threads - 1) / near_threads; ++i) {
        const int nth = static_cast<int>(threadIdx.x) + i * near_threads;
        if (nth >= all) break;
        const int word = nth % near_tile_words, above = nth / near_tile_words, row = above % near_all_rows,
                  plane = above / near_all_rows;
        const line_word w = at.word(c, at.z - near_side + plane, at.y - near_side + row, at.column + word);
        const moved_words moved(w);
#pragma unroll
        for (int dx = -near_side; dx <= near_side; ++dx) m.moved[near_side + dx][plane][row][word] = moved.by(dx);
    }
}

/// State of 32 cells.
struct near_cells {
    std::uint32_t reached = 0;
    std::uint32_t plane[place_bits]{};

    /// Tests the offsets of one squared distance.
    template <int Value>
    __device__ void take(const near_memory& m, int z, int y, int word) {
        constexpr int first = places_nearby.from[Value], count = places_nearby.from[Value + 1] - first;
        [&]<int... Nth>(std::integer_sequence<int, Nth...>) {
            (
                [&] {
                    constexpr int dx = places_nearby.dx[first + Nth], dy = places_nearby.dy[first + Nth],
                                  dz = places_nearby.dz[first + Nth];
                    reached |= m.moved[near_side + dx][z + near_side + dz][y + near_side + dy][word];
                    plane[changing_bit(first + Nth + 1)] ^= ~reached;
                }(),
                ...);
        }(std::make_integer_sequence<int, count>{});
    }
    /// Tests all offsets until all of the warp's cells are reached.
    __device__ void take_all(const near_memory& m, int z, int y, int word, std::uint32_t valid) {
        [&]<int... Value>(std::integer_sequence<int, Value...>) {
            const auto open = [&] { return __any_sync(cuda::every_lane, (~reached & valid) != 0) != 0; };
            ((take<Value>(m, z, y, word), open()) && ...);
        }(std::make_integer_sequence<int, near_most + 1>{});
    }
    /// Packs the codes of four neighbouring cells into a word each.
    __device__ void codes(std::uint32_t (&fours)[8]) {
        const auto turn = [](std::uint32_t& a, std::uint32_t& b, int by, std::uint32_t low) {
            const std::uint32_t first = (a & low) | (b << by & ~low), second = (a >> by & low) | (b & ~low);
            a = first, b = second;
        };
        turn(plane[0], plane[1], 1, 0x55555555), turn(plane[2], plane[3], 1, 0x55555555);
        turn(plane[4], plane[5], 1, 0x55555555), turn(plane[6], plane[7], 1, 0x55555555);
        turn(plane[0], plane[2], 2, 0x33333333), turn(plane[1], plane[3], 2, 0x33333333);
        turn(plane[4], plane[6], 2, 0x33333333), turn(plane[5], plane[7], 2, 0x33333333);
#pragma unroll
        for (int i = 0; i < 4; ++i) turn(plane[i], plane[i + 4], 4, 0x0f0f0f0f);
            // plane[i] now has cells i, i + 8, i + 16 and i + 24.
#pragma unroll
        for (int half = 0; half < 2; ++half) {
            const std::uint32_t* const p = plane + 4 * half;
            const std::uint32_t low = __byte_perm(p[0], p[1], 0x5140), high = __byte_perm(p[0], p[1], 0x7362),
                                low2 = __byte_perm(p[2], p[3], 0x5140), high2 = __byte_perm(p[2], p[3], 0x7362);
            fours[half] = __byte_perm(low, low2, 0x5410), fours[2 + half] = __byte_perm(low, low2, 0x7632);
            fours[4 + half] = __byte_perm(high, high2, 0x5410), fours[6 + half] = __byte_perm(high, high2, 0x7632);
        }
    }
};

/// Output of a warp's cells: rows of the tile's words, from codes to indices.
template <class Index>
struct near_rows_out {
    const near_memory& m;
    const std::uint32_t* codes;  ///< see code_at
    Index* out;                  ///< indices of the first cell
    Index index;                 ///< index of the first cell in its volume
    int length, cells, rows;     ///< length of a line; cells within it, and rows within the plane

    /// Returns the place of the codes of a word's nth four cells.
    static __device__ int code_at(int holder, int nth) { return (nth / 4 * (cuda::warp + 4) + holder) * 4 + nth % 4; }
    __device__ Index place(std::uint32_t code, int byte) const { return m.places[code >> (8 * byte) & 255]; }

    /// Writes 16 bytes per lane, if lines begin at multiples of four cells.
    __device__ void put_sixteens() const {
        constexpr int count = 16 / sizeof(Index), parts = near_tile_words * cuda::warp / count,
                      at_once = cuda::warp / parts;
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp, x = lane % parts * count;
#pragma unroll 4
        for (int row = lane / parts; row < near_tile_rows; row += at_once) {
            const std::uint32_t code =
                codes[code_at(row * near_tile_words + x / cuda::warp, x % cuda::warp / 4)] >> 8 * (x % 4);
            const Index at = static_cast<Index>(row) * length + x, here = index + at;
            if (row >= rows || x >= cells) continue;
            if constexpr (count == 4) {
                *reinterpret_cast<int4*>(out + at) = {here + place(code, 0), here + 1 + place(code, 1),
                                                      here + 2 + place(code, 2), here + 3 + place(code, 3)};
            } else {
                const Index first = here + place(code, 0), second = here + 1 + place(code, 1);
                const auto low = [](Index i) { return static_cast<std::uint32_t>(i); };
                const auto high = [](Index i) { return static_cast<std::uint32_t>(i >> 32); };
                *reinterpret_cast<uint4*>(out + at) = {low(first), high(first), low(second), high(second)};
            }
        }
    }
    /// Writes cells at any alignment.
    __device__ void put_cells() const {
        const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
#pragma unroll 4
        for (int holder = 0; holder < cuda::warp; ++holder) {
            const int row = holder / near_tile_words, x = holder % near_tile_words * cuda::warp + lane;
            const std::uint32_t code = codes[code_at(holder, lane / 4)];
            const Index at = static_cast<Index>(row) * length + x;
            if (row < rows && x < cells) out[at] = index + at + place(code, lane % 4);
        }
    }
};

/// Lists the cells of a warp that no offset reached; returns false if there are too many.
template <class Index>
__device__ bool list_open(const near_call<Index>& c, std::int64_t word, std::uint32_t open) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, mine = __popc(open);
    int before = mine;
#pragma unroll
    for (int by = 1; by < cuda::warp; by *= 2) {
        const int theirs = __shfl_up_sync(cuda::every_lane, before, by);
        if (lane >= by) before += theirs;
    }
    std::int64_t place = 0;
    if (lane == cuda::warp - 1) place = atomicAdd(c.listed, before);
    place = __shfl_sync(cuda::every_lane, static_cast<int>(place), cuda::warp - 1);
    if (place + __shfl_sync(cuda::every_lane, before, cuda::warp - 1) > c.capacity) return false;
    place += before - mine;
    for (; open != 0; open &= open - 1) c.list[place++] = word * cuda::warp + __ffs(static_cast<int>(open)) - 1;
    return true;
}

/// Searches a tile: a thread owns 32 cells of a row, a warp a plane. Returns false if some cell is not finished.
template <bool Sixteens, class Index>
__device__ bool search_near_tile(const near_call<Index>& c, near_memory& m, const near_tile& at) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp,
              y = lane / near_tile_words, word = lane % near_tile_words, z = at.z + warp;
    if (z >= c.planes) return true;
    const auto cells = static_cast<int>(c.lines.length - at.column * cuda::warp),
               rows = static_cast<int>(min(c.lines.rows - at.y, std::int64_t{near_tile_rows})),
               mine = cells - word * cuda::warp;
    const std::uint32_t valid = y >= rows || mine <= 0 ? 0 : mine >= cuda::warp ? ~0u : (1u << mine) - 1;
    near_cells found;
    found.take_all(m, warp, y, word, valid);
    std::uint32_t fours[8];
    found.codes(fours);
    uint4* const codes = m.codes[warp];
    codes[lane] = {fours[0], fours[1], fours[2], fours[3]};
    codes[cuda::warp + 4 + lane] = {fours[4], fours[5], fours[6], fours[7]};
    __syncwarp();
    const std::int64_t first =
        (static_cast<std::int64_t>(z) * c.lines.rows + at.y) * c.lines.length + at.column * cuda::warp;
    const near_rows_out<Index> to{m,
                                  reinterpret_cast<const std::uint32_t*>(codes),
                                  c.out + at.first_plane * c.plane_cells() + first,
                                  static_cast<Index>(first),
                                  static_cast<int>(c.lines.length),
                                  cells,
                                  rows};
    if constexpr (Sixteens) to.put_sixteens();
    else to.put_cells();
    const std::uint32_t open = ~found.reached & valid;
    if (!__any_sync(cuda::every_lane, open != 0)) return true;
    return list_open(c, ((at.first_plane + z) * c.lines.columns + at.column + word) * c.lines.rows + at.y + y, open);
}

/// Solves tiles, one after another per block, unless the samples or another tile show that this cannot finish.
template <bool Sixteens, class Index>
__global__ void __launch_bounds__(near_threads, near_blocks) search_near_sites(const near_call<Index> c) {
    extern __shared__ uint4 near_shared[];
    near_memory& m = *reinterpret_cast<near_memory*>(near_shared);
    cuda::wait_for_kernel_before();
    const auto futile = [&] { return *static_cast<const volatile std::int32_t*>(c.open) > near_most_open; };
    if (__syncthreads_or(futile())) return;
    fill_places(c, m);
    for (std::int64_t tile = blockIdx.x; tile < c.tiles; tile += gridDim.x) {
        const near_tile at(c, tile);
        fill_moved(c, m, at);
        __syncthreads();
        const bool done = search_near_tile<Sixteens>(c, m, at);
        if (!done && threadIdx.x % cuda::warp == 0) *c.open = unfinished;
        if (__syncthreads_or(futile())) return;
    }
}

/// Takes samples, one per warp and then every gridDim.x-th: counts cells without a site nearby.
__device__ inline void look_at_sites(const packed_lines& lines, std::int32_t* open) {
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp;
    // 21 of 25 rows.
    const int dy = lane % 5 - 2, dz = lane / 5 - 2;
    for (int place = static_cast<int>(blockIdx.x); place < near_looked; place += static_cast<int>(gridDim.x)) {
        const std::int64_t all = lines.images * lines.columns * lines.rows,
                           nth = all / near_looked * place + all / near_looked / 2, above = quotient(nth, lines.rows),
                           plane = quotient(above, lines.columns), column = above - plane * lines.columns,
                           y = nth - above * lines.rows + dy, z = plane + dz;
        std::uint32_t reached = 0;
        if (lane < 25 && dy * dy + dz * dz <= 5 && z >= 0 && z < lines.images && y >= 0 && y < lines.rows) {
            const moved_words moved(lines.words[(z * lines.columns + column) * lines.rows + y]);
            for (int dx = -near_side; dx <= near_side; ++dx) reached |= moved.by(dx);
        }
        reached = __reduce_or_sync(cuda::every_lane, reached);
        const std::int64_t cells = lines.length - column * cuda::warp;
        if (cells < cuda::warp) reached |= ~0u << cells;
        if (lane == 0 && reached != ~0u) atomicAdd(open, __popc(~reached));
    }
}

}  // namespace
}  // namespace nearfield::exact
