// Volumes with few sites: all three passes at once, site by site. As lines are packed (cuda_bits.cuh) their sites are also
// listed, for every 32 planes; where they turn out to be too many, the passes go on as ever and nobody reads the lists.
//
// A block takes a brick of 32 x 16 x 32 cells, the first axis last: a warp 32 rows along that axis of 32 neighbouring
// lines, as in cuda_square.cuh. The least bound that some site sets for the whole brick picks the sites that can win in it.
#pragma once

#include "exact/cuda_square.cuh"

namespace nearfield::exact {
namespace {

constexpr int brick_warps = 16;
constexpr int brick_threads = brick_warps * cuda::warp;
constexpr int listed_points = 2048;  // of a block, before they are offered
static_assert(listed_points >= 2 * brick_threads);

/// Finds, for the brick whose block calls it, what can win.
struct brick {
    int x, y, z;      ///< first cell
    int x1, y1, z1;   ///< last cell

    __device__ static std::int32_t outside(std::int32_t at, int first, int last) {
        return max(max(first - at, at - last), 0);
    }
    __device__ static std::int32_t across(std::int32_t at, int first, int last) {
        return max(abs(at - first), abs(at - last));
    }
    __device__ std::int32_t least(const listed_point& p) const {
        const std::int32_t dx = outside(p.x(), x, x1), dy = outside(p.y(), y, y1), dz = outside(p.z, z, z1);
        return dx * dx + dy * dy + dz * dz;
    }
    __device__ std::int32_t most(const listed_point& p) const {
        const std::int32_t dx = across(p.x(), x, x1), dy = across(p.y(), y, y1), dz = across(p.z, z, z1);
        return dx * dx + dy * dy + dz * dz;
    }
};

/// The calling warp's square of a brick: 32 lines at one y, rows along z.
struct brick_square {
    brick cells;  ///< of this warp alone
    square rows;

    /// Offers those of the points that could win.
    template <class Values>
    __device__ void offer(const listed_point* points, int count, std::int32_t& bound, std::int32_t& mine,
                          Values& best) const {
        const int lane = rows.lane;
        for (int at = 0; at < count; at += cuda::warp)
            if (at + lane < count) bound = min(bound, cells.most(points[at + lane]));
        bound = __reduce_min_sync(cuda::every_lane, bound), mine = min(mine, bound + 1);
        offered waiting{};
        bool waits = false;
        int since = 0;
        for (int at = 0; at < count; at += cuda::warp) {
            const std::int32_t least =
                at + lane < count ? cells.least(points[at + lane]) : no_site<std::int32_t>();
            std::uint32_t wanted = __ballot_sync(cuda::every_lane, least <= bound);
            while (wanted != 0) {
                const listed_point p = points[at + __ffs(static_cast<int>(wanted)) - 1];
                wanted &= wanted - 1;
                const std::int32_t dx = cells.x + lane - p.x(), dy = cells.y - p.y(), apart = dx * dx + dy * dy,
                                   gap = rows.rows_to(p.z);
                if (!__any_sync(cuda::every_lane, apart + gap * gap < mine)) continue;
                const offered here{apart, rows.top - p.z};
                waits = !waits;
                if (waits) waiting = here;
                else best.offer(waiting, here);
                if (waits || ++since < pairs_a_bound) continue;
                since = 0;
                mine = min(mine, best.largest());
                bound = min(bound, __reduce_max_sync(cuda::every_lane, mine));
                wanted &= __ballot_sync(cuda::every_lane, least <= bound);
            }
        }
        if (waits) best.offer(waiting, waiting);
    }
};

/// Shared memory of a block of search_points.
struct brick_memory {
    listed_point points[listed_points];
    int count;
    std::int32_t bound;
};

/// The lists of one image, as a brick looks through them: the planes of its own z first, then those beside them.
struct plane_lists {
    const point_lists& lists;
    std::int64_t first;  ///< list of the image
    int count;           ///< lists of the image

    /// Rows between a brick and the planes of a list.
    __device__ static std::int32_t gap(const brick& b, int nth) {
        return max(max(b.z - (nth * list_planes + list_planes - 1), nth * list_planes - b.z1), 0);
    }
    /// visit(list) for all that are no farther than the root of bound(), which may fall on the way.
    template <class Bound, class Visit>
    __device__ void outward(const brick& b, const Bound& bound, const Visit& visit) const {
        const int middle = b.z / list_planes;
        for (int apart = 0; apart < count; ++apart)
            for (int side = 0; side < (apart == 0 ? 1 : 2); ++side) {
                const int nth = side == 0 ? middle + apart : middle - apart;
                if (nth < 0 || nth >= count) continue;
                const std::int32_t rows = gap(b, nth);
                if (rows * rows <= bound()) visit(first + nth);
            }
    }
};

/// All the block's points to its squares: lists them, and offers them each time that no more fit.
template <class Values, bool Last>
__device__ void finish_brick(brick_memory& memory, const plane_lists& planes, const brick& b, std::int32_t bound,
                             const brick_square& mine, const tile_target<Last>& target) {
    Values best;
    std::int32_t least_bound = bound, own = bound + 1;
    const bool within = mine.rows.top <= mine.rows.bottom;
    const auto offer = [&] {
        __syncthreads();
        if (within) mine.offer(memory.points, memory.count, least_bound, own, best);
        __syncthreads();
        if (threadIdx.x == 0) memory.count = 0;
        __syncthreads();
    };
    planes.outward(
        b, [&] { return bound; },
        [&](std::int64_t list) {
            const int count = planes.lists.counts[list];
            const listed_point* const points = planes.lists.points + list * planes.lists.capacity;
            for (int at = 0; at < count; at += brick_threads) {
                const int nth = at + static_cast<int>(threadIdx.x);
                const listed_point p = nth < count ? points[nth] : listed_point{};
                const bool wins = nth < count && b.least(p) <= bound;
                const std::uint32_t winners = __ballot_sync(cuda::every_lane, wins);
                int place = 0;
                if (mine.rows.lane == 0 && winners != 0) place = atomicAdd(&memory.count, __popc(winners));
                place = __shfl_sync(cuda::every_lane, place, 0) + __popc(winners & ((1u << mine.rows.lane) - 1));
                if (wins) memory.points[place] = p;
                __syncthreads();
                const bool full = memory.count > listed_points - brick_threads;
                __syncthreads();  // all have read the count
                if (full) offer();
            }
        });
    offer();
    if (within)
        write_square(mine.rows, bound, target, best, std::make_integer_sequence<int, square_rows>{});
}

/// A block one brick after another of `size` cells, when sites are few.
template <bool Last>
__global__ void __launch_bounds__(brick_threads, 2)
    search_points(const point_lists lists, const metric<std::int32_t> m, std::int64_t images,
                  const sink<std::int32_t, std::int32_t, false, Last> to) {
    if (*lists.many != 0) return;
    __shared__ brick_memory memory;
    const int lane = static_cast<int>(threadIdx.x) % cuda::warp, warp = static_cast<int>(threadIdx.x) / cuda::warp;
    const auto depth = static_cast<int>(m.size[m.rank - 3]), height = static_cast<int>(m.size[m.rank - 2]),
               length = static_cast<int>(m.size[m.rank - 1]);
    const int across = (length + 31) / 32, down = (height + brick_warps - 1) / brick_warps, deep = lists.lists_an_image;
    const std::int64_t bricks = images * deep * down * across;
    for (std::int64_t nth = blockIdx.x; nth < bricks; nth += gridDim.x) {
        const std::int64_t row = quotient(nth, across), plane = quotient(row, down), image = quotient(plane, deep);
        brick b;
        b.x = static_cast<int>(nth - row * across) * 32, b.y = static_cast<int>(row - plane * down) * brick_warps;
        b.z = static_cast<int>(plane - image * deep) * list_planes;
        b.x1 = min(b.x + 31, length - 1), b.y1 = min(b.y + brick_warps, height) - 1;
        b.z1 = min(b.z + list_planes, depth) - 1;
        const plane_lists planes{lists, image * deep, deep};
        if (threadIdx.x == 0) memory.bound = no_site<std::int32_t>(), memory.count = 0;
        __syncthreads();
        const auto bound = [&] { return *static_cast<volatile std::int32_t*>(&memory.bound); };
        planes.outward(b, bound, [&](std::int64_t list) {
            const int count = lists.counts[list];
            std::int32_t here = no_site<std::int32_t>();
            for (int at = static_cast<int>(threadIdx.x); at < count; at += brick_threads)
                here = min(here, b.most(lists.points[list * lists.capacity + at]));
            here = __reduce_min_sync(cuda::every_lane, here);
            __syncthreads();  // all have read the bound
            if (lane == 0 && here < no_site<std::int32_t>()) atomicMin(&memory.bound, here);
            __syncthreads();
        });
        const std::int32_t most = bound();
        const int y = b.y + warp;
        brick_square mine{b, {nullptr, nullptr, 0, 0, b.z, y < height ? b.z1 : b.z - 1, lane}};
        mine.cells.y = mine.cells.y1 = y;
        const std::int64_t plane_cells = static_cast<std::int64_t>(height) * length;
        const tile_target<Last> target{m,
                                       to,
                                       image * depth * plane_cells + static_cast<std::int64_t>(y) * length + b.x + lane,
                                       static_cast<std::int32_t>(plane_cells),
                                       min(length - b.x, 32)};
        if (most <= narrow_square::bound) finish_brick<narrow_square>(memory, planes, b, most, mine, target);
        else finish_brick<wide_square>(memory, planes, b, most, mine, target);
        __syncthreads();
    }
}

}  // namespace
}  // namespace nearfield::exact
