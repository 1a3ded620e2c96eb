// Volumes of up to 64x64x64 cells in one kernel (cluster.cuh). A block finds the sites nearest to the cluster's four
// columns along the last axis, then along the second, for an eighth of the planes. It passes the results to the blocks
// that finish them along the first axis: a block owns an eighth of the rows, in all planes.
//
// Rows relax cells, at most 64 sums and minima per cell and axis. For distances all rows do, in 16 bits, two cells per
// instruction. For sites they do so outward from the cells if lines have more than 32 rows, in words of 32 bits.
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
    std::uint32_t planes_sited;             ///< bit i: plane i of the block has sites
    alignas(16) std::uint32_t bits[read_words];
    alignas(16) std::uint32_t rows[whole_side * row_pitch];  ///< rows of 8 planes, 4 columns each
    // The blocks of the cluster, this one included, write the members below.
    std::uint32_t lines[whole_side * lanes];  ///< planes of the block's 8 rows, 4 columns each
    volume_sites<Sites> sites;
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

// From this number of rows on, relaxing outward pays: 7x30x64 took 5.7 us without and 6.8 with them (H200, 2026-11-22).
constexpr int least_outward = 33;

/// Does the same for rows [0, rows), by a warp whose lanes have the same cells of other lines: it takes the groups of
/// four rows whose bits are set in `fours`, nearest first, until none can win in a lane that `counts`. If three groups
/// on either side do not suffice, it takes all others: testing bounds between each two took 0.1 % sites from 12.4 to
/// 14.0 us, a single group in a loop to 16.0.
template <class Load>
__device__ void relax_outward(std::uint32_t (&best)[volume_words<true>::cells], const std::uint32_t* squares, int first,
                              int rows, std::uint32_t fours, bool counts, const Load& load) {
    static_assert(volume_words<true>::cells == 4);
    if (rows < least_outward) return relax_cells<true>(best, squares, first, rows, load);
    const auto relax = [&](int from, int end) {
        relax_cells<true>(best, squares, first - from, end - from, [&](int row) { return load(from + row); });
    };
    const auto relax_by_four = [&](int four) {
        if ((fours >> four & 1) != 0) relax(4 * four, 4 * four + 4);
    };
    const int own = first / 4;
    relax_by_four(own);
    constexpr int looked_at = 3;
#pragma unroll
    for (int apart = 1; apart <= looked_at; ++apart) {
        if (own >= apart) relax_by_four(own - apart);
        if (4 * (own + apart) < rows) relax_by_four(own + apart);
        const std::uint32_t mine = counts ? max(max(best[0], best[1]), max(best[2], best[3])) : 0;
        if (volume_words<true>::square(4 * apart + 1) > __reduce_max_sync(cuda::every_lane, mine)) return;
    }
    const int before = own - looked_at, after = own + looked_at + 1;
    if (__popc(fours) > 8) {
        if (before > 0) relax(0, 4 * before);
        if (4 * after < rows) relax(4 * after, rows);
        return;
    }
    for (std::uint32_t left = fours; left != 0; left &= left - 1) {
        const int four = __ffs(static_cast<int>(left)) - 1;
        if (four < before || four >= after) relax_by_four(four);
    }
}

// Along the second axis a block's warps skip rows at least beyond_looked_at away from a cell if the block has
// least_leaving sites: half a percent of 64^3. With fewer sites, some cell is often too far from all of them.
constexpr int looked_at = 3, beyond_looked_at = 4 * looked_at + 1, least_leaving = 160;

/// Does the same for groups of four rows outward from the cells, until none can win in a lane that `counts`, or three
/// on either side were taken. Returns their number, or all_looked_at if others are skipped.
constexpr int all_looked_at = looked_at + 1;
template <class Load>
__device__ int relax_nearby(std::uint32_t (&best)[volume_words<true>::cells], const std::uint32_t* squares, int first,
                            int rows, bool counts, const Load& load) {
    const auto relax_by_four = [&](int four) {
        relax_cells<true>(best, squares, first - 4 * four, 4, [&](int row) { return load(4 * four + row); });
    };
    const int own = first / 4;
    relax_by_four(own);
#pragma unroll
    for (int apart = 1; apart <= looked_at; ++apart) {
        if (own >= apart) relax_by_four(own - apart);
        if (4 * (own + apart) < rows) relax_by_four(own + apart);
        const std::uint32_t mine = counts ? max(max(best[0], best[1]), max(best[2], best[3])) : 0;
        if (volume_words<true>::square(4 * apart + 1) > __reduce_max_sync(cuda::every_lane, mine)) return apart;
    }
    return all_looked_at;
}

/// Returns true if one of the cells may have no site nearer than the skipped rows: a lane's cells in its column and
/// eight planes, one in each lane of the warp with that column.
__device__ inline bool may_need_more(const std::uint32_t (&best)[volume_words<true>::cells]) {
    constexpr int planes = 8;
    std::uint32_t most = max(max(best[0], best[1]), max(best[2], best[3]));
#pragma unroll
    for (int lanes = own_columns; lanes < cuda::warp; lanes *= 2)
        most = min(most, __shfl_xor_sync(cuda::every_lane, most, lanes));
    return (most >> volume_words<true>::shift) + (planes - 1) * (planes - 1) >= beyond_looked_at * beyond_looked_at;
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
/// that line. Each result goes to the block that owns its row next. For sites, rows may be skipped; all blocks learn of
/// this, and of cells that might need such rows. Returns true in a warp that has skipped some.
template <bool Sites>
__device__ bool search_planes(volume_memory<Sites>& m, const whole_call& c, int first_plane, int planes) {
    using words = volume_words<Sites>;
    const int thread = static_cast<int>(threadIdx.x), item = thread % words::lanes,
              begin = thread / words::lanes * words::cells, plane = item / words::of_row;
    if (begin >= c.height) return false;
    bool left_out = false;
    std::uint32_t best[words::cells];
#pragma unroll
    for (std::uint32_t& one : best) one = words::none;
    const auto load = [&](int y) { return m.rows[y * volume_memory<Sites>::row_pitch + item]; };
    if constexpr (Sites) {
        int fours = 0;
        if (m.sites.count < least_leaving || c.height < least_outward)
            relax_cells<true>(best, m.squares, begin, c.height, load);
        else fours = relax_nearby(best, m.squares, begin, c.height, (m.planes_sited >> plane & 1) != 0, load);
        left_out = fours == all_looked_at;
        // With two groups on either side, a cell with a site in its own plane never needs skipped rows.
        if (planes > 0 && c.height >= least_outward && (fours == 0 || fours >= looked_at || m.planes_sited == 0)) {
            const bool more = __any_sync(cuda::every_lane, may_need_more(best));
            if ((left_out || more) && item < whole_blocks)
                atomicOr(cuda::shared_of(&m.sites.left_out, item),
                         (left_out ? rows_left_out : 0) | (more ? cells_in_need : 0));
        }
    } else {
        relax_cells<Sites>(best, m.squares, begin, c.height, load);
    }
    if (plane >= planes) return left_out;
    std::uint32_t* const to = cuda::shared_of(
        m.lines + (first_plane + plane) * words::lanes + begin % 8 * words::of_row + item % words::of_row, begin / 8);
#pragma unroll
    for (int i = 0; i < words::cells; ++i) to[i * words::of_row] = best[i];
    return left_out;
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
    if (thread < 2 * whole_side) {
        m.squares[thread] = words::square(thread - whole_side);
        if constexpr (Sites) {
            const int e = thread - whole_side;
            m.sites.squares[thread] = {words::square(e), words::square(e - 1), words::square(e - 2),
                                       words::square(e - 3)};
        }
    }
    if (thread == 0) m.planes_sited = 0;
    if constexpr (Sites)
        if (thread == 0) m.sites.count = m.sites.listed = m.sites.left_out = 0;
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
    std::uint64_t own_row = 0;
    static_assert(!Sites || words::threads == 8 * whole_side, "a thread has one row");
#pragma unroll
    for (int i = thread; i < 8 * whole_side; i += words::threads) {
        const int plane = i / whole_side, y = i % whole_side, at = skipped + (plane * c.height + y) * c.width;
        std::uint64_t row = 0;
        if (plane < planes && y < c.height)
            row = bits_from(m.bits, at, c.width) |
                  static_cast<std::uint64_t>(bits_from(m.bits, at + cuda::warp, c.width - cuda::warp)) << cuda::warp;
        put_row<Sites>(m.rows + y * memory::row_pitch + plane * words::of_row, row, first_x, y, first_plane + plane);
        if constexpr (Sites) {
            if (__any_sync(cuda::every_lane, row != 0) && threadIdx.x % cuda::warp == 0)
                atomicOr(&m.planes_sited, 1u << plane);
            count_rows(m.sites, row);
            own_row = row;
        }
    }
    // Candidates are read from planes beyond the last one.
    for (int i = thread; i < ((c.depth + 3) / 4 * 4 - c.depth) * words::lanes; i += words::threads)
        m.lines[c.depth * words::lanes + i] = words::none;
    __syncthreads();
    cuda::wait_for_cluster();
    // Blocks with few sites wait to learn whether all have few; if not, they search the second axis after the others.
    bool few = false;
    std::uint32_t plane_fours = 0;
    if constexpr (Sites) {
        tell_sites(m.sites, own_row, thread % whole_side, first_plane + thread / whole_side, share, rank,
                   m.planes_sited);
        bool left_out = false;
#pragma unroll 1
        for (bool waits = m.sites.count <= listed_sites, again = true; again;) {
            if (!waits) left_out = search_planes<Sites>(m, c, first_plane, planes);
            cuda::arrive_in_cluster();
            cuda::wait_for_cluster();
            const volume_told told(m.sites);
            again = plane_fours == 0 && told.some_few() && !told.few();
            few = told.few();
            plane_fours = told.plane_fours();
            waits = !waits;
            if (again || m.sites.left_out != (rows_left_out | cells_in_need)) continue;
            // Warps that have skipped rows search all of them.
            again = true, waits = !left_out;
            __syncthreads();
            if (thread == 0) m.sites.count = m.sites.left_out = 0;
            __syncthreads();
        }
    } else {
        search_planes<Sites>(m, c, first_plane, planes);
        cuda::arrive_in_cluster();
        cuda::wait_for_cluster();
    }

    // Along the first axis: the block's 8 rows in all planes.
    const int item = thread % words::lanes, begin = thread / words::lanes * words::cells;
    const int y = rank * 8 + item / words::of_row, x = first_x + item % words::of_row * (own_columns / words::of_row);
    const auto load = [&](int z) { return m.lines[z * words::lanes + item]; };
    const bool writes = begin < c.depth && y < c.height && x < c.width;
    std::uint32_t best[words::cells];
#pragma unroll
    for (std::uint32_t& one : best) one = words::none;
    if constexpr (Sites) {
        if (few) relax_by_sites(best, m.sites, volume_told(m.sites), x, y, begin);
        else if (begin < c.depth) relax_outward(best, m.squares, begin, c.depth, plane_fours, writes, load);
    } else if (writes) {
        relax_cells<Sites>(best, m.squares, begin, c.depth, load);
    }
    if (!writes) return;
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
