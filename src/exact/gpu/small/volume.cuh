// Images (small.cu) of up to 512x512 and volumes of up to 64x64x64 cells in one kernel, without workspace. Eight
// neighbouring blocks are a cluster, which finishes a few columns: each block reads an eighth of the image, and shares
// what the others need through shared memory. No cluster waits for another, so every cluster reads the whole image from
// the second-level cache, which is fast for small images.
//
// Rows become words of bits, in which the nearest site of a cell in the wanted columns takes a few operations. The rest
// of the work is sums and minima.
#pragma once

#include <cstddef>

#include "base/cluster.cuh"
#include "exact/gpu/ground/fits.hpp"
#include "exact/gpu/rows/words.cuh"

namespace nearfield::exact {
namespace {

constexpr int own_columns = 4;
constexpr int read_bytes = whole_side * whole_side * whole_side / whole_blocks;  // largest number of bytes per block
static_assert(read_bytes == whole_width * whole_width / whole_blocks);
constexpr int read_words =
    read_bytes / cuda::warp + 4;  // words of bits: with those before the first cell in the same 16 bytes

/// The problem: `images` images, each solved by `clusters` clusters, and its outputs.
struct whole_call {
    const std::uint8_t* data = nullptr;
    bool zero_is_site = true;
    int depth = 1, height = 1, width = 1;
    std::int64_t images = 1;
    int clusters = 1;
    int rank = 2;            ///< axes of the problem
    std::int32_t limit = 0;  ///< larger values mean no site
    outputs out;

    [[nodiscard]] NF_HD std::int64_t image_cells() const { return std::int64_t{depth} * height * width; }
};

/// Reads cells [first, first + cells) as bits, with all threads of a block. Returns the number of bits before them:
/// those in the same sixteen bytes as the first one.
template <int Threads>
__device__ int read_bits(const whole_call& c, const std::uint8_t* first, int cells, std::uint32_t* bits) {
    constexpr int rounds = read_bytes / 16 / Threads + 1;
    const int skipped = static_cast<int>(reinterpret_cast<std::uintptr_t>(first) % 16),
              count = cells > 0 ? (skipped + cells + 15) / 16 : 0;
    const std::uint8_t *const from = first - skipped, *const end = c.data + c.images * c.image_cells();
    const auto within = [&](int nth) {
        return nth < count && from + 16 * nth >= c.data && from + 16 * nth + 16 <= end;
    };
    const int thread = static_cast<int>(threadIdx.x);
    uint4 read[rounds];
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int nth = thread + i * Threads;
        read[i] = {};
        if (within(nth)) read[i] = __ldg(reinterpret_cast<const uint4*>(from) + nth);
    }
    auto* const halves = reinterpret_cast<std::uint16_t*>(bits);
    const std::uint32_t flip = c.zero_is_site ? 0xffff : 0;
#pragma unroll
    for (int i = 0; i < rounds; ++i) {
        const int nth = thread + i * Threads;
        if (nth >= count) break;
        std::uint32_t mine = 0;
        if (within(nth)) {
            mine = nonzero_bytes(read[i]);
        } else {
            for (int k = 0; k < 16; ++k) {
                const std::uint8_t* const at = from + 16 * nth + k;
                if (at >= c.data && at < end && *at != 0) mine |= 1u << k;
            }
        }
        halves[nth] = static_cast<std::uint16_t>(mine ^ flip);
    }
    return skipped;
}

/// Returns bits [at, at + 32), of which the first `cells` count.
__device__ inline std::uint32_t bits_from(const std::uint32_t* bits, int at, int cells) {
    if (cells <= 0) return 0;
    const std::uint32_t word = __funnelshift_r(bits[at / 32], bits[at / 32 + 1], at % 32);
    return cells < cuda::warp ? word & ((1u << cells) - 1) : word;
}

/// Number of cells to the nearest site up to each of `own_columns` columns of a row, and from each column on.
struct beside_columns {
    int before[own_columns], after[own_columns];

    /// Bit i of `own`: column i is a site. `left` and `right` are the cells from the first column back, and from the
    /// last one on, to the nearest site outside of these columns.
    __device__ beside_columns(std::uint32_t own, int left, int right) {
#pragma unroll
        for (int i = 0; i < own_columns; ++i) before[i] = left = (own >> i & 1) != 0 ? 0 : i == 0 ? left : left + 1;
#pragma unroll
        for (int i = own_columns - 1; i >= 0; --i)
            after[i] = right = (own >> i & 1) != 0 ? 0 : i == own_columns - 1 ? right : right + 1;
    }
    __device__ int distance(int i) const { return min(before[i], after[i]); }
    /// Returns the column of the nearest site, the left one of two; `first` is the first column.
    __device__ int site(int first, int i) const { return first + i + (before[i] <= after[i] ? -before[i] : after[i]); }
};

/// Writes all the caller's fields of a cell; index -1 is no site.
__device__ inline void put_site_fields(const whole_call& c, std::int64_t cell, std::int32_t square, std::int32_t index,
                                       std::int32_t z, std::int32_t y, std::int32_t x) {
    const outputs& out = c.out;
    out.put_value(cell, square, c.limit);
    if (out.index) out.index[cell] = index;
    if (out.index32) out.index32[cell] = index;
    if (!out.coordinates) return;
    for (int source = 0; source < out.image_rank; ++source) {
        const int axis = out.problem_axis[source];
        const std::int32_t at = axis < 0 ? 0 : axis == c.rank - 1 ? x : axis == c.rank - 2 ? y : z;
        out.coordinates[source * out.cells + cell] = index < 0 ? -1 : at;
    }
}

template <bool Sites>
struct volume_words {
    static constexpr int threads = Sites ? 512 : 256;
    static constexpr int shift = Sites ? 18 : 0;
    static constexpr int of_row = Sites ? own_columns : own_columns / 2;  ///< words of a row's columns
    static constexpr int lanes = 8 * of_row;                              ///< words of 8 rows
    static constexpr int cells = 4;                                       ///< cells of a thread, along a line
    static constexpr std::uint32_t largest = 3 * (whole_side - 1) * (whole_side - 1);
    // Value of no site: exceeds every square, also in sums.
    static constexpr std::uint32_t none2 = Sites ? 12000 : 20000;
    static constexpr std::uint32_t none = Sites ? none2 << shift : none2 | none2 << 16;
    static_assert(none2 > largest && none2 + (whole_side - 1) * (whole_side - 1) < (Sites ? 1 << 14 : 1 << 16));
    static_assert(threads / lanes * cells == whole_side, "all cells of all lines have a thread");

    static __device__ std::uint32_t sum_min(std::uint32_t a, std::uint32_t b, std::uint32_t c) {
        if constexpr (Sites) return __viaddmin_u32(a, b, c);
        else return __viaddmin_u16x2(a, b, c);
    }
    static __device__ std::uint32_t square(int e) {
        const auto e2 = static_cast<std::uint32_t>(e * e);
        return Sites ? e2 << shift : e2 | e2 << 16;
    }
};

// ---- volumes --------------------------------------------------------------------------------------------------------
//
// A block finds the sites nearest to the cluster's four
// columns along the last axis, then along the second, for an eighth of the planes. It passes the results to the blocks
// that finish them along the first axis: a block owns an eighth of the rows, in all planes.
//
// All rows relax all cells, at most 64 sums and minima per cell and axis: for distances in 16 bits, two cells per
// instruction, for sites in words of 32 bits.

/// Shared memory. Pitches place the 16-byte accesses of a quarter warp's lanes in different banks.
template <bool Sites>
struct alignas(16) volume_memory {
    static constexpr int lanes = volume_words<Sites>::lanes, row_pitch = lanes + (Sites ? 4 : 2);

    std::uint32_t squares[2 * whole_side];  ///< squares of -64 to 63
    alignas(16) std::uint32_t bits[read_words];
    alignas(16) std::uint32_t rows[whole_side * row_pitch];  ///< rows of 8 planes, 4 columns each
    /// Planes of the block's 8 rows, 4 columns each; all blocks of the cluster write them.
    std::uint32_t lines[whole_side * lanes];
};

/// best[i] becomes the minimum of itself and of load(row) + (row - first - i)^2 over all rows.
template <bool Sites, class Load>
__device__ void relax_cells(std::uint32_t (&best)[volume_words<Sites>::cells], const std::uint32_t* squares, int first,
                            int rows, const Load& load) {
    constexpr int cells = volume_words<Sites>::cells;
#pragma unroll 4
    for (int row = 0; row < rows; row += 4) {
        std::uint32_t square[cells + 4];  // squares of row - first - cells, and so on
#pragma unroll
        for (int i = 0; i < cells + 4; i += 4) {
            const uint4 four = *reinterpret_cast<const uint4*>(squares + whole_side + row - first - cells + i);
            square[i] = four.x, square[i + 1] = four.y, square[i + 2] = four.z, square[i + 3] = four.w;
        }
#pragma unroll
        for (int k = 0; k < 4; ++k) {
            const std::uint32_t value = load(row + k);
#pragma unroll
            for (int i = 0; i < cells; ++i)
                best[i] = volume_words<Sites>::sum_min(value, square[cells + k - i], best[i]);
        }
    }
}

/// Writes the distances of a row for own_columns cells from `first` on: one per word (Sites) or two per word.
template <bool Sites>
__device__ void put_row(std::uint32_t* to, std::uint64_t row, int first, int y, int z) {
    constexpr int far = 127;
    const std::uint64_t left = row << (whole_side - 1 - first) << 1, own = row >> first, right = own >> own_columns;
    const beside_columns beside(static_cast<std::uint32_t>(own),
                                left != 0 ? __clzll(static_cast<long long>(left)) + 1 : far,
                                right != 0 ? __ffsll(static_cast<long long>(right)) : far);
    std::uint32_t word[own_columns];
#pragma unroll
    for (int i = 0; i < own_columns; ++i) {
        const int d = beside.distance(i);
        const auto d2 = static_cast<std::uint32_t>(d * d);
        if constexpr (Sites) {
            word[i] = d >= far ? volume_words<true>::none
                               : d2 << volume_words<true>::shift |
                                     static_cast<std::uint32_t>(beside.site(first, i) << 12 | y << 6 | z);
        } else {
            word[i] = d >= far ? volume_words<false>::none2 : d2;
        }
    }
    if constexpr (Sites) *reinterpret_cast<uint4*>(to) = {word[0], word[1], word[2], word[3]};
    else *reinterpret_cast<uint2*>(to) = {word[0] | word[1] << 16, word[2] | word[3] << 16};
}

/// Output of finished cells.
template <bool Sites, bool Fields>
struct volume_target {
    const whole_call& c;
    std::int64_t first;  ///< first cell of the image

    __device__ std::int64_t cell(int z, int y, int x) const {
        return first + (static_cast<std::int64_t>(z) * c.height + y) * c.width + x;
    }
    __device__ std::int32_t value(std::uint32_t square) const {
        return square > volume_words<Sites>::largest ? no_site<std::int32_t>() : static_cast<std::int32_t>(square);
    }
    __device__ float root(std::uint32_t square) const {
        return square > volume_words<Sites>::largest || static_cast<std::int32_t>(square) > c.limit
                   ? __int_as_float(0x7f800000)
                   : root_of_whole(static_cast<float>(square));
    }
    /// Writes the distances of two neighbouring cells.
    __device__ void put_distances(int z, int y, int x, std::uint32_t two) const {
        const std::int64_t at = cell(z, y, x);
        const bool both = x + 1 < c.width;
        if constexpr (Fields) {
            c.out.put_value(at, value(two & 0xffff), c.limit);
            if (both) c.out.put_value(at + 1, value(two >> 16), c.limit);
        } else {
            float* const to = c.out.distance32 + at;
            const float low = root(two & 0xffff), high = root(two >> 16);
            if (reinterpret_cast<std::uintptr_t>(to) % 8 == 0 && both) {
                *reinterpret_cast<float2*>(to) = {low, high};
            } else {
                *to = low;
                if (both) to[1] = high;
            }
        }
    }
    __device__ void put_site(int z, int y, int x, std::uint32_t word) const {
        const std::int64_t at = cell(z, y, x);
        const std::int32_t square = value(word >> volume_words<true>::shift);
        const bool any = square <= c.limit;
        const auto part = [&](int shift) { return any ? static_cast<std::int32_t>(word >> shift & 63) : -1; };
        const std::int32_t site_x = part(12), site_y = part(6), site_z = part(0),
                           index = any ? (site_z * c.height + site_y) * c.width + site_x : -1;
        if constexpr (Fields) put_site_fields(c, at, square, index, site_z, site_y, site_x);
        else c.out.index32[at] = index;
    }
};

/// Searches the second axis: a thread owns a word of a row's columns in one of the block's planes, and some cells of
/// that line. Each result goes to the block that owns its row next.
template <bool Sites>
__device__ void search_planes(volume_memory<Sites>& m, const whole_call& c, int first_plane, int planes) {
    using words = volume_words<Sites>;
    const int thread = static_cast<int>(threadIdx.x), item = thread % words::lanes,
              begin = thread / words::lanes * words::cells, plane = item / words::of_row;
    if (begin >= c.height || plane >= planes) return;
    std::uint32_t best[words::cells];
#pragma unroll
    for (std::uint32_t& one : best) one = words::none;
    relax_cells<Sites>(best, m.squares, begin, c.height,
                       [&](int y) { return m.rows[y * volume_memory<Sites>::row_pitch + item]; });
    std::uint32_t* const to = cuda::shared_of(
        m.lines + (first_plane + plane) * words::lanes + begin % 8 * words::of_row + item % words::of_row, begin / 8);
#pragma unroll
    for (int i = 0; i < words::cells; ++i) to[i * words::of_row] = best[i];
}

/// Searches a volume. A block owns an eighth of the planes of four columns, then an eighth of their rows. It is one
/// function, because registers of its threads pass from phase to phase.
template <bool Sites, bool Fields>
__global__ void __launch_bounds__(volume_words<Sites>::threads) search_volume(const whole_call c) {
    using words = volume_words<Sites>;
    using memory = volume_memory<Sites>;
    extern __shared__ uint4 whole_memory[];
    memory& m = *reinterpret_cast<memory*>(whole_memory);
    static_assert(offsetof(memory, rows) % 16 == 0 && offsetof(memory, bits) % 16 == 0);
    const int thread = static_cast<int>(threadIdx.x);
    const int rank = static_cast<int>(cuda::rank_in_cluster());
    if (thread < 2 * whole_side) m.squares[thread] = words::square(thread - whole_side);
    cuda::arrive_in_cluster();  // blocks that have begun can be written to
    cuda::wait_for_kernel_before();
    const int cluster = static_cast<int>(blockIdx.x) / whole_blocks, image = cluster / c.clusters,
              first_x = (cluster - image * c.clusters) * own_columns,
              share = (c.depth + whole_blocks - 1) / whole_blocks, first_plane = rank * share,
              planes = min(c.depth - first_plane, share);
    const std::int64_t first = image * c.image_cells();
    const int skipped =
        read_bits<words::threads>(c, c.data + first + static_cast<std::int64_t>(first_plane) * c.height * c.width,
                                  planes * c.height * c.width, m.bits);
    __syncthreads();

    // Along the last axis: a thread owns a row of a plane.
#pragma unroll
    for (int i = thread; i < 8 * whole_side; i += words::threads) {
        const int plane = i / whole_side, y = i % whole_side, at = skipped + (plane * c.height + y) * c.width;
        std::uint64_t row = 0;
        if (plane < planes && y < c.height)
            row = bits_from(m.bits, at, c.width) |
                  static_cast<std::uint64_t>(bits_from(m.bits, at + cuda::warp, c.width - cuda::warp)) << cuda::warp;
        put_row<Sites>(m.rows + y * memory::row_pitch + plane * words::of_row, row, first_x, y, first_plane + plane);
    }
    // Candidates are read from planes beyond the last one.
    for (int i = thread; i < ((c.depth + 3) / 4 * 4 - c.depth) * words::lanes; i += words::threads)
        m.lines[c.depth * words::lanes + i] = words::none;
    __syncthreads();
    cuda::wait_for_cluster();
    search_planes<Sites>(m, c, first_plane, planes);
    cuda::arrive_in_cluster();
    cuda::wait_for_cluster();

    // Along the first axis: the block's 8 rows in all planes.
    const int item = thread % words::lanes, begin = thread / words::lanes * words::cells;
    const int y = rank * 8 + item / words::of_row, x = first_x + item % words::of_row * (own_columns / words::of_row);
    if (begin >= c.depth || y >= c.height || x >= c.width) return;
    std::uint32_t best[words::cells];
#pragma unroll
    for (std::uint32_t& one : best) one = words::none;
    relax_cells<Sites>(best, m.squares, begin, c.depth, [&](int z) { return m.lines[z * words::lanes + item]; });
    const volume_target<Sites, Fields> target{c, first};
#pragma unroll
    for (int i = 0; i < words::cells; ++i) {
        if (begin + i >= c.depth) break;
        if constexpr (Sites) target.put_site(begin + i, y, x, best[i]);
        else target.put_distances(begin + i, y, x, best[i]);
    }
}

}  // namespace
}  // namespace nearfield::exact
