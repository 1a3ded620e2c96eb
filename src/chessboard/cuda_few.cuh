// Few sites of volumes on a device: cells are compared with the sites themselves. A list is made from the marks, but
// for sites amid others. Boxes of cells keep the sites that can be nearest to one of their cells: coarse boxes, then
// fine ones, then the 1024 cells of a warp, which it compares with each of them. If there are more sites than the list
// holds, or than a coarse box's, the volume is crowded and another way solves the problem.
//
// A site amid others, whose neighbours along all axes are sites, is needed by no cell but itself: a step from the site
// nearest to a cell towards it leads out of the sites. In the chessboard metric that step goes along several axes; the
// last site on the way, axis by axis, is as near.
//
// A site is dropped if it is nowhere in the box nearer than the one whose largest distance in the box is least. In the
// city-block metric the difference of two sites' distances is a sum of one term for each axis, which is monotone, so
// that it is least at an end of the box along each. In the chessboard metric one axis suffices: the other site is
// nowhere farther along it, nor along the others than the first is along this one.
#pragma once

#include <algorithm>
#include <array>

#include "chessboard/cuda_few_boxes.cuh"
#include "chessboard/cuda_sets.cuh"

namespace nearfield::chessboard {
namespace {

constexpr std::int64_t most_few = 1 << 18;  ///< bounds the time of coarse boxes, which look at all sites
constexpr int most_found = 512;  ///< sites of a fine box in shared memory; more are read from the coarse one's
constexpr int few_planes = 8, few_across = 4;  ///< planes and cells of a row that a lane owns

/// Calls keep(site) for those of `count` sites that may be nearest in a box. Called by all threads of a block.
template <bool Diagonal, class Keep>
__device__ void select_sites(const problem& p, const few_box& b, const few_site* sites, int count, const Keep& keep) {
    __shared__ int bounds[warps_of_block], nearest;
    const int thread = static_cast<int>(threadIdx.x);
    int bound = static_cast<int>(p.limit) + 1, mine = -1;
    if (thread == 0) nearest = -1;
    for (int i = thread; i < count; i += threads_of_block) {
        const few_site s = sites[i];
        const int most = b.most<Diagonal>(s);
        if (s.image == b.image && most < bound) bound = most, mine = i;
    }
    const int own = bound;
    bound = __reduce_min_sync(cuda::every_lane, bound);
    if (own_lane() == 0) bounds[thread / cuda::warp] = bound;
    __syncthreads();
    for (const int one : bounds) bound = min(bound, one);
    if (mine >= 0 && own == bound) atomicMax(&nearest, mine);
    __syncthreads();
    const int first = nearest;
    const few_site best = first < 0 ? few_site{{}, -1} : sites[first];
    for (int i = thread; i < count; i += threads_of_block) {
        const few_site s = sites[i];
        if (i == first || (s.image == b.image && b.gains<Diagonal>(s, best, bound))) keep(s);
    }
    __syncthreads();
}

/// Returns which of a word's cells are sites that have a neighbour along an axis that is none, or an end.
__device__ std::uint32_t outer_sites(const columns& c, std::int64_t image, std::int64_t z, std::int64_t w,
                                     std::int64_t y) {
    const auto word = [&](std::int64_t u, std::int64_t v, std::int64_t at) -> std::uint32_t {
        const bool within = u >= 0 && u < c.depth && v >= 0 && v < c.height && at >= 0 && at < c.words;
        return within ? c.marks[c.column(image, u, at) + v] : 0;
    };
    const std::uint32_t mine = word(z, y, w) & c.inside(w);
    if (mine == 0) return 0;
    std::uint32_t amid = (mine << 1 | word(z, y, w - 1) >> 31) & (mine >> 1 | word(z, y, w + 1) << 31) &
                         word(z, y - 1, w) & word(z, y + 1, w);
    amid &= word(z - 1, y, w) & word(z + 1, y, w);
    return mine & ~amid;
}

constexpr int words_of_lister = 4;  ///< of a thread

/// Lists the sites that are not amid others. A thread owns words of adjacent columns' rows, a block adds once to the
/// count: a GPU takes 7 ns for each of many sums at one place.
__global__ void __launch_bounds__(threads_of_block) list_sites(const __grid_constant__ columns c, const few_lists to) {
    cuda::wait_for_kernel_before();
    __shared__ int total, start;
    const int thread = static_cast<int>(threadIdx.x);
    if (thread == 0) total = 0;
    if (__syncthreads_or(to.is_crowded()) != 0) return;
    std::uint32_t words[words_of_lister];
    few_site places[words_of_lister];
    int mine = 0;
#pragma unroll
    for (int k = 0; k < words_of_lister; ++k) {
        const std::int64_t item = (std::int64_t{blockIdx.x} * words_of_lister + k) * threads_of_block + thread,
                           column = cuda::quotient(item, c.height), y = item - column * c.height,
                           plane = cuda::quotient(column, c.words), w = column - plane * c.words,
                           image = cuda::quotient(plane, c.depth), z = plane - image * c.depth;
        words[k] = image < c.images ? outer_sites(c, image, z, w, y) : 0;
        places[k] = {{static_cast<int>(w) * mark_bits, static_cast<int>(y), static_cast<int>(z)},
                     static_cast<int>(image)};
        mine += __popc(words[k]);
    }
    int place = mine > 0 ? atomicAdd(&total, mine) : 0;
    __syncthreads();
    if (total == 0) return;
    if (thread == 0) {
        start = to.is_crowded() ? to.most : static_cast<int>(atomicAdd(to.count, total));
        if (start + total > to.most) *to.crowded = 1;
    }
    __syncthreads();
    place += start;
#pragma unroll
    for (int k = 0; k < words_of_lister; ++k)
        for (std::uint32_t left = words[k]; left != 0 && place < to.most; left &= left - 1, ++place) {
            few_site one = places[k];
            one.at[0] += __ffs(static_cast<int>(left)) - 1;
            to.sites[place] = one;
        }
}

/// Lists the sites of coarse boxes. A block owns a box.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_block)
    list_near(const __grid_constant__ problem p, const __grid_constant__ columns c, const few_lists lists) {
    cuda::wait_for_kernel_before();
    __shared__ int found;
    if (__syncthreads_or(lists.is_crowded()) != 0) return;
    if (threadIdx.x == 0) found = 0;
    __syncthreads();
    few_site* const to = lists.near + std::int64_t{blockIdx.x} * lists.most_near;
    const few_box b = coarse_box(c, blockIdx.x);
    select_sites<Diagonal>(p, b, lists.sites, static_cast<int>(*lists.count), [&](const few_site& s) {
        const int place = atomicAdd(&found, 1);
        if (place < lists.most_near) to[place] = s;
    });
    if (threadIdx.x != 0) return;
    lists.near_count[blockIdx.x] = found;
    if (found > lists.most_near) *lists.crowded = 1;
}

/// The cells of a lane, and the distances of the sites that are nearest to them so far.
template <bool Diagonal>
struct few_cells {
    int x, y, z;
    int best[few_planes][few_across];

    __device__ explicit few_cells(const few_box& tile) : x(tile.first[0]), y(tile.first[1]), z(tile.first[2]) {
        x += own_lane() % lanes_across * few_across, y += own_lane() / lanes_across;
#pragma unroll
        for (auto& row : best)
            for (int& one : row) one = 0x7fffffff;
    }
    static __device__ int join(int a, int b) { return Diagonal ? max(a, b) : a + b; }

    __device__ void offer(const few_site& s) {
        int across[few_across];
#pragma unroll
        for (int j = 0; j < few_across; ++j) {
            across[j] = join(abs(x + j - s.at[0]), abs(y - s.at[1]));
        }
        const int plane = z - s.at[2];
#pragma unroll
        for (int i = 0; i < few_planes; ++i)
#pragma unroll
            for (int j = 0; j < few_across; ++j) best[i][j] = min(best[i][j], join(across[j], abs(plane + i)));
    }
    /// Compares a warp's cells with all of `count` sites that may be nearest to one of them.
    __device__ void search(const problem& p, const few_box& tile, const few_site* sites, int count) {
        int bound = static_cast<int>(p.limit) + 1, nearest = -1;
        for (int i = own_lane(); i < count; i += cuda::warp) {
            const int most = tile.most<Diagonal>(sites[i]);
            if (most < bound) bound = most, nearest = i;
        }
        const int own = bound;
        bound = __reduce_min_sync(cuda::every_lane, bound);
        const unsigned set = __ballot_sync(cuda::every_lane, nearest >= 0 && own == bound ? 1 : 0);
        nearest = __shfl_sync(cuda::every_lane, nearest, set != 0 ? __ffs(static_cast<int>(set)) - 1 : 0);
        const few_site first = set != 0 ? sites[nearest] : few_site{{}, -1};
        if (set != 0) offer(first);
        for (int start = 0; start < count; start += cuda::warp) {
            const int i = start + own_lane();
            unsigned winners = __ballot_sync(
                cuda::every_lane, i < count && tile.gains<Diagonal>(sites[min(i, count - 1)], first, bound) ? 1 : 0);
            for (; winners != 0; winners &= winners - 1) offer(sites[start + __ffs(static_cast<int>(winners)) - 1]);
        }
    }
    /// Takes marked cells and closed ends, and writes the distances.
    template <class Out>
    __device__ void write(const problem& p, const columns& c, int image, std::uint32_t most) {
        const row_places rows(p, c, p.out_step, image);
        const auto end = [&](int back, std::int64_t size, std::int64_t at) {
            return p.ends[p.rank - back] == border::closed ? static_cast<int>(min(at + 1, size - at)) : 0x7fffffff;
        };
#pragma unroll
        for (int i = 0; i < few_planes; ++i) {
            const int u = z + i;
            if (y >= c.height || u >= c.depth || x >= c.n) continue;
            const std::uint32_t marks = c.marks[c.column(image, u, x / mark_bits) + y] >> x % mark_bits;
            const int beside = min(end(2, c.height, y), end(3, c.depth, u));
            std::uint32_t made[few_across];
#pragma unroll
            for (int j = 0; j < few_across; ++j)
                made[j] = (marks >> j & 1) != 0
                              ? 0
                              : static_cast<std::uint32_t>(min(best[i][j], min(beside, end(1, c.n, x + j))));
            write_four<Out>(p, rows, {u, y, x}, c.n, made, most);
        }
    }
};

/// Compares cells with the sites of their coarse box. A block owns fine boxes one after another, a warp a tile.
template <bool Diagonal>
__global__ void __launch_bounds__(threads_of_block)
    compare_sites(const __grid_constant__ problem p, const __grid_constant__ columns c, const few_lists lists,
                  std::int64_t boxes) {
    cuda::wait_for_kernel_before();
    __shared__ few_site memory[most_found];
    __shared__ int found;
    if (lists.is_crowded()) return;
    for (std::int64_t item = blockIdx.x; item < boxes; item += gridDim.x) {
        const std::int64_t coarse = item / fines_of_coarse;
        const few_box b =
            coarse_box(c, coarse).part(c, static_cast<int>(item % fines_of_coarse), coarse_size(), fine_size());
        if (b.is_empty()) continue;
        __syncthreads();
        if (threadIdx.x == 0) found = 0;
        __syncthreads();
        const few_site* const near = lists.near + coarse * lists.most_near;
        const int count = lists.near_count[coarse];
        select_sites<Diagonal>(p, b, near, count, [&](const few_site& s) {
            const int place = atomicAdd(&found, 1);
            if (place < most_found) memory[place] = s;
        });
        const few_box tile = b.part(c, static_cast<int>(threadIdx.x) / cuda::warp, fine_size(), tile_size());
        if (tile.is_empty()) continue;
        few_cells<Diagonal> cells(tile);
        if (found <= most_found) cells.search(p, tile, memory, found);
        else cells.search(p, tile, near, count);
        with_output(p.out_type,
                    [&]<class Out>(Out, std::uint32_t most) { cells.template write<Out>(p, c, b.image, most); });
    }
}

/// Returns the most sites that are few; 0 if they are not tried: images take sweeps, and the boxes of thin grids would
/// be mostly empty.
inline int few_for(const problem& p, const columns& c) {
    if (p.rank - p.batch != 3 || coarse_boxes(c) > 4 + (p.cells >> 16)) return 0;
    return static_cast<int>(std::min(p.cells / limit_of_ways.cells_a_site, most_few));
}
/// Returns the bytes of the lists.
inline std::int64_t few_bytes(const problem& p, const columns& c) {
    const int most = few_for(p, c);
    if (most == 0) return 0;
    return (most + coarse_boxes(c) * limit_of_ways.sites_of_box) * static_cast<std::int64_t>(sizeof(few_site)) +
           coarse_boxes(c) * static_cast<std::int64_t>(sizeof(std::int32_t));
}
inline few_lists few_lists_for(const problem& p, const columns& c, void* memory) {
    few_lists to;
    to.crowded = c.crowded, to.count = c.crowded + 1, to.most = few_for(p, c),
    to.most_near = limit_of_ways.sites_of_box;
    to.sites = static_cast<few_site*>(memory), to.near = to.sites + to.most;
    to.near_count = reinterpret_cast<std::int32_t*>(to.near + coarse_boxes(c) * limit_of_ways.sites_of_box);
    return to;
}

inline void compare_few(const device& on, const problem& p, const columns& c, const few_lists& lists) {
    if (lists.most == 0) return;
    const std::int64_t coarse = coarse_boxes(c), fine = coarse * fines_of_coarse;
    cuda::launch_overlapped(on, list_sites, cuda::blocks_for(c.count(), words_of_lister * threads_of_block),
                            dim3(threads_of_block), 0, c, lists);
    cuda::launch_overlapped(on, p.diagonal ? list_near<true> : list_near<false>, coarse, dim3(threads_of_block), 0, p,
                            c, lists);
    cuda::launch_overlapped(on, p.diagonal ? compare_sites<true> : compare_sites<false>,
                            std::min<std::int64_t>(fine, 16 * cuda::limits().multiprocessors), dim3(threads_of_block),
                            0, p, c, lists, fine);
}

/// Returns what the device decided; waits.
ways ways_of(const device& on, const columns& c) {
    std::array<std::uint32_t, 8> flags{};
    cuda::fetch(on, flags.data(), c.general, (c.rounds + 2) * static_cast<std::int64_t>(sizeof flags[0]));
    ways of;
    of.few = flags[static_cast<std::size_t>(c.rounds)] == 0;
    of.sets = !of.few && flags[0] == 0;
    if (of.sets) of.rounds = 1 + static_cast<int>(std::count(flags.begin() + 1, flags.begin() + c.rounds, 1U));
    return of;
}

/// Tries few sites, then sets; `memory` has room for lists.
template <int Axes>
void solve_at_once(const device& on, const problem& p, const columns& c, void* memory, bool sweeps) {
    const few_lists lists = few_lists_for(p, c, memory);
    mark<Axes>(on, p, c, lists.most > 0, sweeps);
    compare_few(on, p, c, lists);
    try_sets<Axes>(on, p, c);
    if (watched == nullptr) return;
    *watched = ways_of(on, c);
    watched->swept = sweeps && !watched->few && !watched->sets;
}

}  // namespace
}  // namespace nearfield::chessboard
