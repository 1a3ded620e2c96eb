// Volumes of up to 64x64x64 cells in one kernel (cluster.cuh). A block finds the sites nearest to the cluster's four
// columns along the last axis, then along the second, for an eighth of the planes. It passes the results to the blocks
// that finish them along the first axis: a block owns an eighth of the rows, in all planes.
//
// All rows relax all cells, at most 64 sums and minima per cell and axis: for distances in 16 bits, two cells per
// instruction, for sites in words of 32 bits.
#pragma once

#include <cstddef>

#include "exact/gpu/small/cluster.cuh"

namespace nearfield::exact {
namespace {

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
