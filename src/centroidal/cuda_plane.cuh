// A round in an open image of two axes: one kernel finds the nearest sites and adds up the regions' moments.
//
// The image is cut in squares of 32 x 32 parts. A map has the sites of each square, one word per column. A block has
// one square, the tile. It lists the sites within some reach of the tile in the order of the tie rule. Each warp
// selects those that may be nearest to one of its 16 x 8 parts, and each thread compares them for four parts. If the
// nearest site of a part with density may lie beyond the reach, the block repeats this with a longer one. The next
// round begins with the reach that the tile needed. Where sites are far away, or more than the list holds, the block
// lists the sites that no other site beats in the whole tile. If these are still too many, each part searches the
// squares that may have its site.
#pragma once

#include "base/cuda_scan.cuh"
#include "centroidal/cuda_squares.cuh"

namespace nearfield::centroidal {
namespace {

constexpr int rows_of_thread = 4, warp_columns = 16, warp_rows = 8, warps_of_block = threads_of_block / cuda::warp;
constexpr int blocks_of_processor = 5;  ///< 6 and 8 take about as long (H200, 2026-11-29)
constexpr int most_of_tile = 512, bits_of_warp = 7, most_of_warp = 1 << bits_of_warp, longest_reach = 256;

/// Returns whether rounds of a problem can run by these kernels without hard work: sites lie neither everywhere nor far
/// apart, and squared distances have 32 bits, those to parts of a tile beyond the border too.
inline bool suits_plane(const problem& p) {
    const std::int64_t parts = p.parts(), down = p.size[1] + square_side, across = p.size[2] + square_side;
    return p.axes == 2 && !p.wraps[1] && !p.wraps[2] && p.weight[1] == 1 && p.weight[2] == 1 && parts <= 1 << 26 &&
           parts >= 8 * p.sites && parts / p.sites < 1 << 14 && down * down + across * across < std::int64_t{1} << 32;
}

/// Squared distances from a site to the corners of the tile at (x, y).
struct to_corners {
    std::uint32_t of[4];

    __device__ to_corners(std::uint32_t key, int x, int y) {
        for (int k = 0; k < 4; ++k) {
            const int across = x + k % 2 * (square_side - 1) - column_of(key),
                      down = y + k / 2 * (square_side - 1) - row_of(key);
            of[k] = static_cast<std::uint32_t>(across * across) + static_cast<std::uint32_t>(down * down);
        }
    }
    /// Returns whether the other site is nearer at all corners, and hence in the whole tile.
    [[nodiscard]] __device__ bool beaten_by(const std::uint32_t* other) const {
        return of[0] > other[0] && of[1] > other[1] && of[2] > other[2] && of[3] > other[3];
    }
};

/// Sites near a tile and sums of their regions in it, of density and of density times part numbers in the tile.
struct tile_sites {
    std::uint32_t key[most_of_tile], mass[most_of_tile], rows[most_of_tile], columns[most_of_tile];
    int held[warps_of_block];

    /// Lists the sites at most `reach` columns and rows away from the tile that begins at (x, y), and clears their
    /// sums. Returns their number, which may exceed the list. All threads of the block call it.
    __device__ int list(const site_map& map, int x, int y, int reach) {
        const int lane = cuda::lane_of_thread(), own = static_cast<int>(threadIdx.x) / cuda::warp;
        const int last = min((x + square_side - 1 + reach) / square_side, map.across - 1);
        int count = 0;
        for (int first = max(x - reach, 0) / square_side; first <= last; first += warps_of_block) {
            const int column = (first + own) * square_side + lane;
            const bool has = first + own <= last && column >= x - reach && column < x + square_side + reach;
            int mine = 0, total = 0;
            for_words(map, has, column, y, reach, [&](std::uint32_t word, int) { mine += __popc(word); });
            int to = count + cuda::sum_before(mine, held, total);
            for_words(map, has && mine > 0, column, y, reach, [&](std::uint32_t word, int row) {
                for (; word != 0; word &= word - 1, ++to)
                    if (to < most_of_tile) key[to] = key_of(column, row + __ffs(static_cast<int>(word)) - 1);
            });
            count += total;
        }
        clear(count);
        return count;
    }
    /// Lists the sites that may be nearest to a part of the tile, wherever they are, as list() does. They lie in
    /// `some` listed squares.
    __device__ __noinline__ int list_far(const site_map& map, const int* squares, int some, int x, int y) {
        __shared__ cuda::word nearest[probes];
        __shared__ std::uint32_t limit[probes][4];
        __shared__ int listed;
        const int own = static_cast<int>(threadIdx.x);
        if (own < probes) nearest[own] = ~cuda::word{0};
        if (own == 0) listed = 0;
        __syncthreads();
        probe(map, squares, some, x, y, nearest);
        __syncthreads();
        if (own < probes) {
            const to_corners its(static_cast<std::uint32_t>(nearest[own]), x, y);
            for (int k = 0; k < 4; ++k) limit[own][k] = its.of[k];
        }
        __syncthreads();
        for_columns(map, squares, some, [&](std::uint32_t word, int column, int top) {
            // In a column above or below the tile only the last or the first site can be nearest.
            if (top < y) word = 1U << (31 - __clz(static_cast<int>(word)));
            if (top > y) word &= ~word + 1;
            for (; word != 0; word &= word - 1) {
                const std::uint32_t site = key_of(column, top + __ffs(static_cast<int>(word)) - 1);
                const to_corners its(site, x, y);
                bool beaten = false;
                for (const auto& each : limit) beaten = beaten || its.beaten_by(each);
                if (beaten) continue;
                if (const int to = atomicAdd(&listed, 1); to < most_of_tile) key[to] = site;
            }
        });
        __syncthreads();
        const int count = listed;
        if (count <= most_of_tile) sort(count);
        clear(count);
        return count;
    }
    __device__ void add(int site, std::uint32_t its, std::uint32_t row_sum, std::uint32_t column_sum) {
        atomicAdd(&mass[site], its), atomicAdd(&rows[site], row_sum), atomicAdd(&columns[site], column_sum);
    }

private:
    static constexpr int probes = 5;  ///< corners and the middle of a tile

    __device__ void clear(int count) {
        for (int i = static_cast<int>(threadIdx.x); i < min(count, most_of_tile); i += threads_of_block)
            mass[i] = rows[i] = columns[i] = 0;
        __syncthreads();
    }
    /// Calls body(word, column, first row) for each column of the listed squares, one thread per column.
    template <class Body>
    __device__ static void for_columns(const site_map& map, const int* squares, int some, const Body& body) {
        for (int i = static_cast<int>(threadIdx.x); i < some * square_side; i += threads_of_block) {
            const int square = squares[i / square_side], down = square / map.across, column = i % square_side;
            const std::uint32_t word = map.columns[square * square_side + column];
            if (word != 0) body(word, (square - down * map.across) * square_side + column, down * square_side);
        }
    }
    /// Finds the sites nearest to the corners and to the middle of a tile.
    __device__ static void probe(const site_map& map, const int* squares, int some, int x, int y, cuda::word* nearest) {
        for (int k = 0; k < probes; ++k) {
            const int to_x = x + (k == 4 ? square_side / 2 : k % 2 * (square_side - 1)),
                      to_y = y + (k == 4 ? square_side / 2 : k / 2 * (square_side - 1));
            cuda::word best = ~cuda::word{0};
            for_columns(map, squares, some,
                        [&](std::uint32_t word, int column, int top) { offer(word, column, top, to_x, to_y, best); });
            if (best != ~cuda::word{0}) atomicMin(nearest + k, best);
        }
    }
    /// Sorts the list.
    __device__ void sort(int count) {
        std::uint32_t mine[most_of_tile / threads_of_block];
        int before[most_of_tile / threads_of_block] = {};
        for (int k = 0; k < most_of_tile / threads_of_block; ++k) {
            const int i = k * threads_of_block + static_cast<int>(threadIdx.x);
            mine[k] = i < count ? key[i] : 0;
            for (int other = 0; i < count && other < count; ++other) before[k] += key[other] < mine[k] ? 1 : 0;
        }
        __syncthreads();
        for (int k = 0; k < most_of_tile / threads_of_block; ++k)
            if (k * threads_of_block + static_cast<int>(threadIdx.x) < count) key[before[k]] = mine[k];
        __syncthreads();
    }
    /// Calls body(word, its first row) for a column's words within reach, without the rows beyond it.
    template <class Body>
    __device__ static void for_words(const site_map& map, bool has, int column, int y, int reach, const Body& body) {
        const int first = max(y - reach, 0), end = min(y + square_side + reach, map.down * square_side);
        for (int row = first / square_side * square_side; has && row < end; row += square_side) {
            const std::int64_t square = map.square_of(column, row);
            if (map.count[square] == 0) continue;
            std::uint32_t word = map.columns[square * square_side + column % square_side];
            if (row < first) word &= ~0U << (first - row);
            if (end - row < square_side) word &= (1U << (end - row)) - 1;
            body(word, row);
        }
    }
};

/// A site that may be nearest to a warp's parts. `value` is the square of its distance from the first part minus the
/// list's bound, times most_of_warp, plus its number in the warp's list; columns and rows are counted from that part.
/// All such differences are small, as every site of the list is less than two diagonals farther away than another one.
struct alignas(16) near_site {
    int value, column, row, number;
};
struct warp_list {
    int count;            ///< may exceed the list
    std::uint32_t bound;  ///< a squared distance within which each of the warp's parts has a site, or the given one
};
constexpr std::uint32_t no_bound = ~0U;
constexpr int squares_listed = static_cast<int>(warps_of_block * most_of_warp * sizeof(near_site) / sizeof(int));

/// The parts of a thread: four of one column.
struct thread_parts {
    int x, y;                               ///< of the first part
    int left, top;                          ///< where the warp's parts begin
    std::uint32_t density[rows_of_thread];  ///< 0 beyond the image
    int site[rows_of_thread];               ///< numbers in the tile's list

    __device__ thread_parts(const problem& p, const arrays& a, int tile_x, int tile_y) {
        const int own = static_cast<int>(threadIdx.x) / cuda::warp, lane = cuda::lane_of_thread();
        left = tile_x + own % 2 * warp_columns, top = tile_y + own / 2 * warp_rows;
        x = left + lane % warp_columns, y = top + lane / warp_columns * rows_of_thread;
        // Each axis has the same number of parts in a cell.
        const auto factor = static_cast<unsigned>(p.factor[2]), cells = static_cast<unsigned>(p.size[2]) / factor;
        const unsigned row = static_cast<unsigned>(y) / factor;
        const std::uint16_t* from = a.density + std::int64_t{row} * cells + static_cast<unsigned>(x) / factor;
        unsigned beside = static_cast<unsigned>(y) - row * factor;
        for (int r = 0; r < rows_of_thread; ++r) {
            density[r] = x < p.size[2] && y + r < p.size[1] ? *from : 0;
            if (++beside == factor) beside = 0, from += cells;
        }
    }
    [[nodiscard]] __device__ bool have_mass() const { return (density[0] | density[1] | density[2] | density[3]) != 0; }
    /// Lists the sites that may be nearest to a part of the warp, and whose squared distance is at most `bound`.
    __device__ warp_list select(const tile_sites& from, int count, std::uint32_t bound, near_site* list) const {
        const int lane = cuda::lane_of_thread(), right = left + warp_columns - 1, bottom = top + warp_rows - 1;
        const auto square = [](int across, int down) {
            return static_cast<std::uint32_t>(across * across) + static_cast<std::uint32_t>(down * down);
        };
        int found = 0;
        for (int i = lane; i < count; i += cuda::warp) {
            const int u = column_of(from.key[i]), v = row_of(from.key[i]);
            bound = min(bound, square(max(right - u, u - left), max(bottom - v, v - top)));
        }
        bound = __reduce_min_sync(cuda::every_lane, bound);
        for (int first = 0; first < count; first += cuda::warp) {
            const int i = first + lane, u = i < count ? column_of(from.key[i]) : 0,
                      v = i < count ? row_of(from.key[i]) : 0;
            const bool near =
                i < count && square(max(max(left - u, u - right), 0), max(max(top - v, v - bottom), 0)) <= bound;
            const unsigned all = __ballot_sync(cuda::every_lane, near);
            const int to = found + __popc(all & cuda::lanes_before());
            if (near && to < most_of_warp) {
                const int column = u - left, row = v - top;
                list[to] = {static_cast<int>(square(column, row) - bound) * most_of_warp + to, column, row, i};
            }
            found += __popc(all);
        }
        __syncwarp();
        return {found, bound};
    }
    /// Finds the nearest of the warp's sites for each part. Returns the largest squared distance to them of a part with
    /// density, or no_bound if there are none.
    __device__ std::uint32_t find(const near_site* list, const warp_list& its) {
        const int column = x - left, row = y - top;
        int best[rows_of_thread] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
        for (int i = 0; i < its.count; ++i) {
            const near_site s = list[i];
            int value = s.value - 2 * most_of_warp * (s.column * column + s.row * row);
            for (int& each : best) each = min(each, value), value -= 2 * most_of_warp * s.row;
        }
        std::uint32_t farthest = 0;
        for (int r = 0; r < rows_of_thread; ++r) {
            const std::uint32_t away2 = its.bound + static_cast<std::uint32_t>((best[r] >> bits_of_warp) +
                                                                               column * column + (row + r) * (row + r));
            if (density[r] != 0) farthest = max(farthest, its.count > 0 ? away2 : no_bound);
            site[r] = its.count > 0 ? list[best[r] & (most_of_warp - 1)].number : -1;
        }
        return farthest;
    }
    /// Adds the warp's parts to the sums of their sites, site by site, in the tile that begins at (tile_x, tile_y).
    /// Returns the thread's sum of density times squared distance from the tile's first part.
    __device__ std::int64_t add_to(tile_sites& to, int tile_x, int tile_y) const {
        const auto u = static_cast<std::uint32_t>(x - tile_x), v = static_cast<std::uint32_t>(y - tile_y);
        std::uint32_t energy = 0, left[rows_of_thread];
        for (std::uint32_t r = 0; r < rows_of_thread; ++r) {
            left[r] = density[r];
            energy += density[r] * (u * u + (v + r) * (v + r));
        }
        while (true) {
            int some = -1;
            for (int r = 0; r < rows_of_thread; ++r) some = left[r] != 0 ? site[r] : some;
            const unsigned lanes = __ballot_sync(cuda::every_lane, some >= 0);
            if (lanes == 0) return energy;
            const int its = __shfl_sync(cuda::every_lane, some, __ffs(static_cast<int>(lanes)) - 1);
            std::uint32_t mass = 0, rows = 0;
            for (std::uint32_t r = 0; r < rows_of_thread; ++r) {
                const std::uint32_t own = site[r] == its ? left[r] : 0;
                mass += own, rows += own * (v + r), left[r] -= own;
            }
            const std::uint32_t sums[] = {__reduce_add_sync(cuda::every_lane, mass),
                                          __reduce_add_sync(cuda::every_lane, rows),
                                          __reduce_add_sync(cuda::every_lane, mass * u)};
            if (cuda::lane_of_thread() == 0) to.add(its, sums[0], sums[1], sums[2]);
        }
    }
};
static_assert(rows_of_thread * cuda::warp == warp_columns * warp_rows);

/// Adds a tile's sums to those of the regions; returns what they add to the energy.
__device__ inline std::int64_t flush(const problem& p, const arrays& a, const tile_sites& from, int count, int tile_x,
                                     int tile_y) {
    std::int64_t energy = 0;
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads_of_block) {
        const std::int64_t mass = from.mass[i];
        if (mass == 0) continue;
        const int x = column_of(from.key[i]), y = row_of(from.key[i]);
        const std::int64_t u = x - tile_x, v = y - tile_y, rows = from.rows[i], columns = from.columns[i];
        add_to_region(a, a.number[y * p.size[2] + x], mass, {0, rows - v * mass, columns - u * mass});
        energy += (u * u + v * v) * mass - 2 * (v * rows + u * columns);
    }
    return energy;
}

/// Searches the site of each part and adds the part to its region; returns the energy of the thread's parts.
__device__ inline std::int64_t search_and_add(const problem& p, const arrays& a, const thread_parts& mine,
                                              const int* list, int count) {
    std::int64_t energy = 0;
    for (int r = 0; r < rows_of_thread; ++r) {
        const int y = mine.y + r;
        const std::int64_t mass = mine.density[r];
        const cuda::word found = search(a.map, list, count, mine.x, y, mass != 0);
        const auto key = static_cast<std::uint32_t>(found);
        const std::int64_t site_x = column_of(key), site_y = row_of(key);
        if (mass == 0) continue;
        add_to_region(a, a.number[site_y * p.size[2] + site_x], mass,
                      {0, (y - site_y) * mass, (mine.x - site_x) * mass});
        energy += mass * static_cast<std::int64_t>(found >> 32);
    }
    return energy;
}

/// Returns the first reach of a tile with `sites` sites: 1.5 times the distance between them, and a little more.
__device__ inline int first_reach(int sites) {
    const float apart = static_cast<float>(square_side) / sqrtf(static_cast<float>(max(sites, 1)));
    return min(static_cast<int>(1.5F * apart) + 2, square_side);
}

/// Returns the largest number of all threads of the block.
__device__ inline std::uint32_t largest_of_block(std::uint32_t mine, std::uint32_t* held) {
    mine = __reduce_max_sync(cuda::every_lane, mine);
    __syncthreads();
    if (cuda::lane_of_thread() == 0) held[threadIdx.x / cuda::warp] = mine;
    __syncthreads();
    for (int warp = 0; warp < warps_of_block; ++warp) mine = max(mine, held[warp]);
    return mine;
}

/// Finds the nearest site of each part in lists, which stay. Returns the number of the tile's sites, or -1 if lists do
/// not suffice.
__device__ inline int find_in_lists(const site_map& map, thread_parts& mine, tile_sites& sites,
                                    near_site (*near)[most_of_warp], int x, int y) {
    __shared__ std::uint32_t held[warps_of_block];
    near_site* const own = near[threadIdx.x / cuda::warp];
    int* const reach_of_tile = map.reach + blockIdx.x;
    int reach = *reach_of_tile > 0 ? *reach_of_tile : first_reach(map.count[blockIdx.x]), count = 0;
    // Sets the reach to the one that the tile needs, or to a longer one than before.
    const auto find = [&](std::uint32_t bound) {
        const warp_list list = mine.select(sites, count, bound, own);
        if (__syncthreads_or(list.count > most_of_warp)) return reach = INT_MAX, false;
        const std::uint32_t farthest = largest_of_block(mine.find(own, list), held);
        if (farthest != no_bound) reach = static_cast<int>(sqrtf(static_cast<float>(farthest))) + 1;
        else reach *= 2;
        if (farthest > bound) return false;
        if (threadIdx.x == 0) *reach_of_tile = reach + reach / 8 + 1;
        return true;
    };
    while (reach <= longest_reach) {
        count = sites.list(map, x, y, reach);
        if (count > most_of_tile) break;
        if (find(static_cast<std::uint32_t>(reach * reach))) return count;
    }
    int* const squares = reinterpret_cast<int*>(near);
    const int some = list_squares(map, x, y, squares, squares_listed);
    if (some < 0) return -1;
    count = sites.list_far(map, squares, some, x, y);
    return count <= most_of_tile && find(no_bound) ? count : -1;
}

/// Sums the regions of a round, one block per square.
__global__ void __launch_bounds__(threads_of_block, blocks_of_processor)
    measure_plane(const __grid_constant__ problem p, const __grid_constant__ arrays a, int round) {
    __shared__ tile_sites sites;
    __shared__ near_site near[warps_of_block][most_of_warp];
    __shared__ std::int64_t sums[warps_of_block];
    cuda::wait_for_kernel_before();
    const int square_y = static_cast<int>(blockIdx.x) / a.map.across,
              square_x = static_cast<int>(blockIdx.x) - square_y * a.map.across,
              own = static_cast<int>(threadIdx.x) / 32;
    const int x = square_x * square_side, y = square_y * square_side;
    if (*a.settled != 0) return;
    thread_parts mine(p, a, x, y);
    if (__syncthreads_or(mine.have_mass()) == 0) return;
    std::int64_t energy = 0;
    if (const int count = find_in_lists(a.map, mine, sites, near, x, y); count >= 0) {
        energy = mine.add_to(sites, x, y);
        __syncthreads();
        energy += flush(p, a, sites, count, x, y);
    } else {
        int* const squares = reinterpret_cast<int*>(near);
        energy = search_and_add(p, a, mine, squares, list_squares(a.map, x, y, squares, squares_listed));
    }
    for (int by = cuda::warp / 2; by > 0; by /= 2) energy += __shfl_xor_sync(cuda::every_lane, energy, by);
    if (cuda::lane_of_thread() == 0) sums[own] = energy;
    __syncthreads();
    if (threadIdx.x != 0) return;
    for (int warp = 1; warp < warps_of_block; ++warp) energy += sums[warp];
    add(a.energy + 2 * round, energy & 0xffffffff), add(a.energy + 2 * round + 1, energy >> 32);
}

}  // namespace
}  // namespace nearfield::centroidal
