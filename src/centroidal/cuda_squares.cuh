// Squares of the map of sites: which of them can have the site nearest to a part, and the search in them.
#pragma once

#include <climits>

#include "base/cuda.cuh"
#include "centroidal/cuda_regions.cuh"

namespace nearfield::centroidal {
namespace {

constexpr int square_side = site_map::side;

/// A site's column in the high 16 bits and its row in the low ones: sites in the order of the tie rule.
__device__ inline std::uint32_t key_of(int x, int y) {
    return static_cast<std::uint32_t>(x) << 16 | static_cast<std::uint32_t>(y);
}
__device__ inline int column_of(std::uint32_t key) { return static_cast<int>(key >> 16); }
__device__ inline int row_of(std::uint32_t key) { return static_cast<int>(key & 0xffffU); }

/// Offers the sites of a square's column, which begins at row `top`, to a part at (x, y). `best` has a squared distance
/// above a site's key.
__device__ inline void offer(std::uint32_t word, int column, int top, int x, int y, cuda::word& best) {
    const auto above = y < top ? 0U : y - top >= square_side - 1 ? ~0U : (2U << (y - top)) - 1;
    const std::int64_t across = column - x, across2 = across * across;
    const auto take = [&](int row) {
        const std::int64_t down = top + row - y;
        best = min(best, static_cast<cuda::word>(across2 + down * down) << 32 | key_of(column, top + row));
    };
    if ((word & above) != 0) take(31 - __clz(static_cast<int>(word & above)));
    if ((word & ~above) != 0) take(__ffs(static_cast<int>(word & ~above)) - 1);
}

/// Offers the sites of a square to a part at (x, y).
__device__ inline void offer(const site_map& map, int square_x, int square_y, int x, int y, cuda::word& best) {
    const int left = square_x * square_side, top = square_y * square_side;
    const std::uint32_t* const words = map.columns + map.square_of(left, top) * square_side;
    for (int column = 0; column < square_side; ++column) offer(words[column], left + column, top, x, y, best);
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
__device__ __noinline__ int list_squares(const site_map& map, int x, int y, int* list, int most) {
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
__device__ __noinline__ cuda::word search(const site_map& map, const int* list, int count, int x, int y, bool wanted) {
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

}  // namespace
}  // namespace nearfield::centroidal
