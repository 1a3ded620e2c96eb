// A round in an open image of two axes: one kernel finds the nearest sites and adds up the regions' moments.
//
// The image is cut in squares of 32 x 32 parts. A map has the sites of each square, one word per column. A block has
// one square, the tile. It lists the sites within some reach of the tile in the order of the tie rule. Each warp
// selects those that may be nearest to one of its 16 x 8 parts, and each thread compares them for four parts. If the
// nearest site of a part with density may lie beyond the reach, the block doubles the reach. Where sites are far away,
// or more than the lists hold, each part searches the squares that may have its site.
#pragma once

#include <climits>

#include "base/cuda_scan.cuh"
#include "centroidal/cuda_regions.cuh"

namespace nearfield::centroidal {
namespace {

constexpr int square_side = site_map::side, rows_of_thread = 4, warp_columns = 16, warp_rows = 8,
              warps_of_block = threads_of_block / cuda::warp;
constexpr int most_of_tile = 512, bits_of_warp = 7, most_of_warp = 1 << bits_of_warp, longest_reach = 2048;

/// Returns whether rounds of a problem can run by these kernels without hard work: sites lie neither everywhere nor far
/// apart, and squared distances have 32 bits.
inline bool suits_plane(const problem& p) {
    const std::int64_t parts = p.parts();
    return p.axes == 2 && !p.wraps[1] && !p.wraps[2] && p.weight[1] == 1 && p.weight[2] == 1 && parts <= 1 << 26 &&
           parts >= 8 * p.sites && parts / p.sites < 1 << 14 &&
           p.size[1] * p.size[1] + p.size[2] * p.size[2] < std::int64_t{1} << 32;
}

/// A site's column in the high 16 bits and its row in the low ones: sites in the order of the tie rule.
__device__ inline std::uint32_t key_of(int x, int y) {
    return static_cast<std::uint32_t>(x) << 16 | static_cast<std::uint32_t>(y);
}
__device__ inline int column_of(std::uint32_t key) { return static_cast<int>(key >> 16); }
__device__ inline int row_of(std::uint32_t key) { return static_cast<int>(key & 0xffffU); }

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
        for (int i = static_cast<int>(threadIdx.x); i < min(count, most_of_tile); i += threads_of_block)
            mass[i] = rows[i] = columns[i] = 0;
        __syncthreads();
        return count;
    }
    __device__ void add(int site, std::uint32_t its, std::uint32_t row_sum, std::uint32_t column_sum) {
        atomicAdd(&mass[site], its), atomicAdd(&rows[site], row_sum), atomicAdd(&columns[site], column_sum);
    }

private:
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

/// A site that may be nearest to a warp's parts. `value` is the square of its distance from the first part, times
/// most_of_warp, plus its number in the warp's list; columns and rows are counted from that part.
struct alignas(16) near_site {
    int value, column, row, number;
};

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
    /// Lists the sites that may be nearest to a part of the warp, and no more than `reach` away from it. Returns their
    /// number, which may exceed the list.
    __device__ int select(const tile_sites& from, int count, int reach, near_site* list) const {
        const int lane = cuda::lane_of_thread(), right = left + warp_columns - 1, bottom = top + warp_rows - 1;
        int bound = reach * reach, found = 0;
        for (int i = lane; i < count; i += cuda::warp) {
            const int u = column_of(from.key[i]), v = row_of(from.key[i]);
            const int far_x = max(right - u, u - left), far_y = max(bottom - v, v - top);
            bound = min(bound, far_x * far_x + far_y * far_y);
        }
        bound = __reduce_min_sync(cuda::every_lane, bound);
        for (int first = 0; first < count; first += cuda::warp) {
            const int i = first + lane, u = i < count ? column_of(from.key[i]) : 0,
                      v = i < count ? row_of(from.key[i]) : 0;
            const int near_x = max(max(left - u, u - right), 0), near_y = max(max(top - v, v - bottom), 0);
            const bool near = i < count && near_x * near_x + near_y * near_y <= bound;
            const unsigned all = __ballot_sync(cuda::every_lane, near);
            const int to = found + __popc(all & cuda::lanes_before());
            if (near && to < most_of_warp) {
                const int column = u - left, row = v - top;
                list[to] = {(column * column + row * row) * most_of_warp + to, column, row, i};
            }
            found += __popc(all);
        }
        __syncwarp();
        return found;
    }
    /// Finds the nearest of the warp's sites for each part. Returns whether they are nearest of all: no part with
    /// density is more than `reach` away.
    __device__ bool find(const near_site* list, int count, int reach) {
        const int column = x - left, row = y - top;
        int best[rows_of_thread] = {INT_MAX, INT_MAX, INT_MAX, INT_MAX};
        for (int i = 0; i < count; ++i) {
            const near_site s = list[i];
            int value = s.value - 2 * most_of_warp * (s.column * column + s.row * row);
            for (int& each : best) each = min(each, value), value -= 2 * most_of_warp * s.row;
        }
        bool all = true;
        for (int r = 0; r < rows_of_thread; ++r) {
            const int away2 = (best[r] >> bits_of_warp) + column * column + (row + r) * (row + r);
            all = all && (density[r] == 0 || (best[r] != INT_MAX && away2 <= reach * reach));
            site[r] = best[r] != INT_MAX ? list[best[r] & (most_of_warp - 1)].number : -1;
        }
        return all;
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

/// Offers the sites of a square to a part at (x, y). `best` has a squared distance above a site's key.
__device__ inline void offer(const site_map& map, int square_x, int square_y, int x, int y, cuda::word& best) {
    const int left = square_x * square_side, top = square_y * square_side;
    const std::uint32_t* const words = map.columns + map.square_of(left, top) * square_side;
    const auto above = y < top ? 0U : y - top >= square_side - 1 ? ~0U : (2U << (y - top)) - 1;
    for (int column = 0; column < square_side; ++column) {
        const std::uint32_t word = words[column];
        const std::int64_t across = left + column - x, across2 = across * across;
        const auto take = [&](int row) {
            const std::int64_t down = top + row - y;
            const cuda::word own =
                static_cast<cuda::word>(across2 + down * down) << 32 | key_of(left + column, top + row);
            best = min(best, own);
        };
        if ((word & above) != 0) take(31 - __clz(static_cast<int>(word & above)));
        if ((word & ~above) != 0) take(__ffs(static_cast<int>(word & ~above)) - 1);
    }
}

/// Least and largest squared distance from the parts of a box, `side` parts a side, to a square's.
struct box_distance {
    std::int64_t least = 0, most = 0;

    __device__ box_distance(const site_map& map, int square, int x, int y, int side) {
        const int row = square / map.across;
        for (const int by : {(square - row * map.across) * square_side - x, row * square_side - y}) {
            const std::int64_t gap = max(max(by - side + 1, 1 - square_side - by), 0),
                               far = max(by + square_side - 1, side - 1 - by);
            least += gap * gap, most += far * far;
        }
    }
};

/// Lists the squares whose sites can be nearest to a part of the tile at (x, y), and returns their number; -1 if they
/// exceed the list. All threads of the block call it.
__device__ inline int list_squares(const site_map& map, int x, int y, int* list, int most) {
    __shared__ cuda::word bound;
    __shared__ int count;
    if (threadIdx.x == 0) bound = ~cuda::word{0}, count = 0;
    __syncthreads();
    const int squares = map.across * map.down;
    std::int64_t own = LLONG_MAX;
    for (int i = static_cast<int>(threadIdx.x); i < squares; i += threads_of_block)
        if (map.count[i] > 0) own = min(own, box_distance(map, i, x, y, square_side).most);
    atomicMin(&bound, static_cast<cuda::word>(own));
    __syncthreads();
    for (int i = static_cast<int>(threadIdx.x); i < squares; i += threads_of_block)
        if (map.count[i] > 0 && static_cast<cuda::word>(box_distance(map, i, x, y, square_side).least) <= bound) {
            const int to = atomicAdd(&count, 1);
            if (to < most) list[to] = i;
        }
    __syncthreads();
    return count <= most ? count : -1;
}

/// Searches the nearest site of a part in each lane that wants it, in the listed squares, or in all if count is -1.
__device__ inline cuda::word search(const site_map& map, const int* list, int count, int x, int y, bool wanted) {
    cuda::word best = ~cuda::word{0};
    std::int64_t bound = wanted ? LLONG_MAX : -1;
    const int some = count < 0 ? map.across * map.down : count;
    for (int i = 0; i < some; ++i) {
        const int square = count < 0 ? i : list[i];
        if (map.count[square] > 0) bound = min(bound, box_distance(map, square, x, y, 1).most);
    }
    for (int i = 0; i < some; ++i) {
        const int square = count < 0 ? i : list[i];
        if (map.count[square] == 0) continue;
        const std::int64_t least = box_distance(map, square, x, y, 1).least;
        if (least <= bound && static_cast<cuda::word>(least) <= best >> 32)
            offer(map, square % map.across, square / map.across, x, y, best);
    }
    return best;
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

/// Sums the regions of a round, one block per square.
__global__ void __launch_bounds__(threads_of_block)
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
    const int longest = static_cast<int>(p.size[1] > p.size[2] ? p.size[1] : p.size[2]);
    int count = 0;
    bool found = false;
    for (int reach = first_reach(a.map.count[blockIdx.x]); reach <= longest_reach && !found; reach *= 2) {
        const int limit = reach < longest ? reach : 2 * longest;
        count = sites.list(a.map, x, y, reach);
        if (count > most_of_tile) break;
        const int some = mine.select(sites, count, limit, near[own]);
        if (__syncthreads_or(some > most_of_warp)) break;
        found = __syncthreads_or(!mine.find(near[own], some, limit)) == 0;
    }
    std::int64_t energy = 0;
    if (found) {
        energy = mine.add_to(sites, x, y);
        __syncthreads();
        energy += flush(p, a, sites, count, x, y);
    } else {
        int* const squares = reinterpret_cast<int*>(near);
        const int some = list_squares(a.map, x, y, squares, static_cast<int>(sizeof near / sizeof(int)));
        energy = search_and_add(p, a, mine, squares, some);
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
